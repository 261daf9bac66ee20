/* A task's program, and the project that the compiler makes of it. */
#include "gen/program.h"
#include "base/digest.h"
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/sizes.h"
#include "dsl/trials.h"
#include "dsl/write.h"
#include "candidate/source_map.h"
#include "toolchain/toolchain.h"

#include <string.h>
#include <unistd.h>

enum { LONGEST_PROGRAM = 1 << 20, REVIEWED_ELEMENTS = 4 << 20 /* of a case that is tried */ };

static bool formulas_alone(const struct task *task)
{
    for (int i = 0; i < task->output_count; i++)
        if (!task->outputs[i].formula)
            return false;
    return task->output_count > 0;
}

bool gen_program_exists(struct arena *arena, const struct task *task)
{
    return access(arena_printf(arena, "%s/program.py", task->dir), F_OK) == 0 || formulas_alone(task);
}

struct akgen_error *gen_program_write(struct arena *arena, const char *dir, const struct dsl_lowered *lowered)
{
    struct akgen_error *error = NULL;
    const char *map = dsl_source_map(arena, lowered);
    for (int i = 0; i < lowered->count && !error; i++) {
        const char *path = arena_printf(arena, "%s/%s", dir, lowered->files[i].path);
        error = files_make_directory(arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path)));
        if (!error)
            error = files_write(path, lowered->files[i].text, strlen(lowered->files[i].text));
    }
    return error ? error : files_write(arena_printf(arena, "%s/" SOURCE_MAP_FILE, dir), map, strlen(map));
}

struct akgen_error *gen_program_of_task(struct arena *arena, const struct task *task, struct gen_program *program)
{
    struct akgen_error *error;
    char *text;
    *program = (struct gen_program){.path = arena_printf(arena, "%s/program.py", task->dir)};
    if (access(program->path, F_OK) == 0) {
        error = files_read(arena, program->path, LONGEST_PROGRAM, &text, &program->length);
        program->text = error ? NULL : text;
        return error;
    }
    program->path = NULL;
    if (!formulas_alone(task))
        return error_new(
            "%s: neither a program in AscendDSL, %s/program.py, nor a formula for each output says how it is "
            "computed",
            task->name, task->dir);
    error = dsl_write(arena, task, &program->text);
    program->length = error ? 0 : strlen(program->text);
    return error;
}

bool gen_program_compile(struct arena *arena, const struct gen_program *program, const struct task *task,
                         struct dsl_lowered *lowered, struct dsl_messages *messages, struct akgen_error **error)
{
    const char *path = program->path ? program->path : "program.py";
    char *text = arena_copy(arena, program->text, program->length + 1);
    struct dsl_opdef opdef;
    const struct dsl_tree *tree = dsl_parse(arena, path, text, program->length, messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, messages) : NULL;
    *error = checked ? dsl_opdef_of_task(arena, checked, task, &opdef) : NULL;
    return checked && !*error && dsl_lower(arena, (struct dsl_tree *)tree, &opdef, DSL_PASSES_COUNT, lowered, messages);
}

struct akgen_error *gen_program_review(struct arena *arena, const struct gen_program *program, const struct task *task,
                                       int only_case, struct dsl_messages *messages)
{
    const char *path = program->path ? program->path : "program.py";
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    *messages = (struct dsl_messages){.arena = arena};
    const struct dsl_tree *tree =
        dsl_parse(arena, path, arena_copy(arena, program->text, program->length + 1), program->length, messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, messages) : NULL;
    if (checked && !messages->count)
        dsl_try_sizes(arena, checked, npu_socs, messages);
    if (checked && !messages->count)
        error = dsl_trials_try(arena, checked, task, only_case, true, REVIEWED_ELEMENTS, messages);
    struct dsl_messages found = {.arena = arena};
    if (!error && checked && !messages->count && !gen_program_compile(arena, program, task, &lowered, &found, &error) &&
        found.count) {
        const struct dsl_message *message = dsl_messages_error(&found);
        dsl_complain(messages, message->place, message->rule, message->remedy, "%s", message->text);
    }
    return error;
}

/* A folder of the cache that is named after what the project in it holds. */
static struct akgen_error *place_of(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                    const char **place)
{
    const char *cache;
    struct akgen_error *error = toolchain_cache(arena, NULL, &cache);
    if (error)
        return error;
    struct digest *digest = digest_new();
    digest_string(digest, task->op);
    for (int i = 0; i < lowered->count; i++) {
        digest_string(digest, lowered->files[i].path);
        digest_string(digest, lowered->files[i].text);
    }
    digest_string(digest, dsl_source_map(arena, lowered));
    *place = arena_printf(arena, "%s/dsl/%s", cache, digest_finish(digest, arena));
    return NULL;
}

struct akgen_error *gen_program_keep(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                     const char **dir)
{
    const char *place, *unfinished;
    struct akgen_error *error = place_of(arena, task, lowered, &place);
    if (error)
        return error;
    *dir = arena_printf(arena, "%s/%s", place, task->op);
    if (access(*dir, F_OK) == 0)
        return NULL;
    if ((error = files_begin_directory(arena, place, &unfinished)))
        return error;
    error = gen_program_write(arena, arena_printf(arena, "%s/%s", unfinished, task->op), lowered);
    if (!error)
        return files_finish_directory(unfinished, place);
    files_remove_tree(unfinished);
    return error;
}

static const char *candidate(struct arena *arena, const struct task *task)
{
    const char *dir = NULL;
    struct gen_program program;
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    if (access(arena_printf(arena, "%s/program.py", task->dir), R_OK) != 0 && !formulas_alone(task))
        return NULL;
    struct akgen_error *error = gen_program_of_task(arena, task, &program);
    if (!error && gen_program_compile(arena, &program, task, &lowered, &messages, &error))
        error = gen_program_keep(arena, task, &lowered, &dir);
    dsl_messages_show(&messages);
    if (error)
        fprintf(stderr, "akgen: %s: %s\n", task->name, error->message);
    error_free(error);
    return dir ? dir : arena_printf(arena, "%s/program.py: no project", task->dir);
}

const struct bench_provider gen_program_provider = {"dsl", EVAL_DSL, candidate};
