/* Operator projects of programs in AscendDSL. */
#include "gen/program.h"
#include "base/digest.h"
#include "base/files.h"
#include "dsl/dsl.h"
#include "eval/source_map.h"
#include "toolchain/toolchain.h"

#include <string.h>
#include <unistd.h>

enum { LONGEST_PROGRAM = 1 << 20 };

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

/* Compiles the program at `path` for the task; false: what is wrong was said. */
static bool compile(struct arena *arena, const char *path, const struct task *task, struct dsl_lowered *lowered)
{
    struct dsl_messages messages = {0};
    struct dsl_opdef opdef;
    char *text;
    size_t length;
    struct akgen_error *error = files_read(arena, path, LONGEST_PROGRAM, &text, &length);
    const struct dsl_tree *tree = error ? NULL : dsl_parse(arena, path, text, length, &messages);
    const struct dsl_program *program = tree ? dsl_check(arena, tree, &messages) : NULL;
    if (program)
        error = dsl_opdef_of_task(arena, program, task, &opdef);
    bool compiled =
        program && !error && dsl_lower(arena, (struct dsl_tree *)tree, &opdef, DSL_PASSES_COUNT, lowered, &messages);
    dsl_messages_show(&messages);
    if (error)
        fprintf(stderr, "akgen: %s: %s\n", path, error->message);
    error_free(error);
    return compiled;
}

/* A folder of the cache that is named after what the project holds. */
static struct akgen_error *place_of(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                    const char **dir)
{
    const char *cache;
    struct akgen_error *error = toolchain_cache(arena, NULL, &cache);
    if (error)
        return error;
    struct digest *digest = digest_new();
    for (int i = 0; i < lowered->count; i++) {
        digest_string(digest, lowered->files[i].path);
        digest_string(digest, lowered->files[i].text);
    }
    digest_string(digest, dsl_source_map(arena, lowered));
    *dir = arena_printf(arena, "%s/dsl/%s/%s", cache, digest_finish(digest, arena), task->op);
    return NULL;
}

struct akgen_error *gen_program_keep(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                     const char **dir)
{
    struct akgen_error *error = place_of(arena, task, lowered, dir);
    return error ? error : gen_program_write(arena, *dir, lowered);
}

static const char *candidate(struct arena *arena, const struct task *task)
{
    const char *path = arena_printf(arena, "%s/program.py", task->dir), *dir = path;
    struct dsl_lowered lowered;
    if (access(path, R_OK) != 0)
        return NULL;
    if (!compile(arena, path, task, &lowered))
        return arena_printf(arena, "%s: no project", path);
    struct akgen_error *error = gen_program_keep(arena, task, &lowered, &dir);
    if (error)
        fprintf(stderr, "akgen: %s\n", error->message);
    error_free(error);
    return dir;
}

const struct bench_provider gen_program_provider = {"dsl", candidate};
