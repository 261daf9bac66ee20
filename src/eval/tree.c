/* Where the candidates of a task lie in a tree. */
#include "eval/tree.h"
#include "op/op.h"
#include "candidate/response.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const answer_ends[] = {".txt", ".md", ".py"};
enum { ANSWER_ENDS = sizeof answer_ends / sizeof *answer_ends };

bool tree_is_answer(const char *end)
{
    for (int i = 0; end && i < ANSWER_ENDS; i++)
        if (strcmp(end, answer_ends[i]) == 0)
            return true;
    return false;
}

struct akgen_error *tree_check_candidate(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return error_new("%s: %m", path);
    bool answer = S_ISREG(status.st_mode) && tree_is_answer(strrchr(path, '.'));
    if (!S_ISDIR(status.st_mode) && !answer)
        return error_new(
            "%s: not a directory; a candidate is one that holds op_kernel/, or a model's answer in a .txt, "
            ".md or .py file",
            path);
    return access(path, answer ? R_OK : R_OK | X_OK) != 0 ? error_new("%s: %m", path) : NULL;
}

static int by_number(const void *left, const void *right)
{
    const struct tree_answer *a = left, *b = right;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number) : strcmp(a->path, b->path);
}

/* `7`, `7.txt` and the like. */
static bool is_numbered(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    const char *rest = name + digits;
    return digits && digits <= 6 && (!*rest || tree_is_answer(rest));
}

/* The numbered answers in `dir`, sorted. */
static int list_numbered(struct arena *arena, const char *dir, struct tree_answer **answers)
{
    enum { MOST = 100000 };
    int count = 0;
    DIR *stream = opendir(dir);
    *answers = NULL;
    if (!stream)
        return 0;
    for (int pass = 0; pass < 2; pass++) {
        const struct dirent *entry;
        int found = 0;
        rewinddir(stream);
        while ((entry = readdir(stream)) && found < MOST && (!pass || found < count)) {
            if (!is_numbered(entry->d_name))
                continue;
            if (pass)
                (*answers)[found] =
                    (struct tree_answer){atoi(entry->d_name), arena_printf(arena, "%s/%s", dir, entry->d_name)};
            found++;
        }
        count = found;
        if (!pass)
            *answers = arena_alloc(arena, sizeof **answers * (size_t)(count + 1));
    }
    closedir(stream);
    qsort(*answers, (size_t)count, sizeof **answers, by_number);
    return count;
}

/* The only answer of a task: <task>/, <task>.txt, .md or .py, or as MultiKernelBench leaves them <op>.txt. */
static const char *single_answer(struct arena *arena, const char *tree, const struct task *task)
{
    const char *op = op_snake_case(arena, task->op);
    const char *names[ANSWER_ENDS + 2] = {[ANSWER_ENDS] = arena_printf(arena, "%s/%s.txt", tree, op),
                                          arena_printf(arena, "%s/%s.txt", tree, op_response_name(arena, op))};
    for (int i = 0; i < ANSWER_ENDS; i++)
        names[i] = arena_printf(arena, "%s/%s%s", tree, task->name, answer_ends[i]);
    const char *dir = arena_printf(arena, "%s/%s", tree, task->name);
    for (size_t i = 0; i < sizeof names / sizeof *names && access(dir, F_OK) != 0; i++)
        if (access(names[i], F_OK) == 0)
            return names[i];
    return dir;
}

int tree_answers(struct arena *arena, const char *tree, const struct task *task, struct tree_answer **answers)
{
    int count = list_numbered(arena, arena_printf(arena, "%s/%s/answer", tree, task->name), answers);
    if (count)
        return count;
    *answers = arena_alloc(arena, sizeof **answers);
    **answers = (struct tree_answer){0, single_answer(arena, tree, task)};
    return 1;
}
