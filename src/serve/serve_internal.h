/* The request of a line, and the tasks in memory. */
#ifndef SERVE_INTERNAL_H
#define SERVE_INTERNAL_H

#include "serve/serve.h"

enum serve_kind { SERVE_EVALUATE, SERVE_CANCEL, SERVE_PING };
/* A request, as its line has it. All strings are the JSON's or the arena's. */
struct serve_request {
    enum serve_kind kind;
    const json_t *id; /* a string or a number; NULL: the line has none */
    const json_t *cancel;
    const char *task;
    const char *path; /* of the candidate; NULL: it is one of the next two, and has this name: */
    const char *name;
    const char *text; /* of an answer; NULL: there are files */
    const struct op_file *files;
    size_t file_count;
    const struct serve_option *options;
    int option_count;
    json_t *json; /* owns them; json_decref */
};
/* Reads a line without its end. An error says what is wrong with it; `request->id` and `json` are set if they could be read. */
struct akgen_error *serve_request_read(struct arena *arena, const char *line, size_t length,
                                       struct serve_request *request);

/* Tasks in memory, the most recently used ones. Thread-safe. */
struct serve_tasks;
struct served_task;
/* `cache`: what it has of a task goes with the task. */
struct serve_tasks *serve_tasks_create(struct eval_cache *cache);
/* Before the cache, and after the last task was released. */
void serve_tasks_destroy(struct serve_tasks *tasks);
/* The task of this name, as task_find() has it, with a tolerance (NULL: its own). It is read anew if its files have changed. Release
 * it with serve_tasks_release. */
struct akgen_error *serve_tasks_take(struct serve_tasks *tasks, const char *name, const char *tolerance,
                                     struct served_task **taken);
const struct task *serve_task(const struct served_task *taken);
void serve_tasks_release(struct serve_tasks *tasks, struct served_task *taken);

#endif
