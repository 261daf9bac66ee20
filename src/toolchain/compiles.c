/* Running compiles side by side, and what came of each. */
#include "base/workers.h"
#include "toolchain/build_internal.h"

#include <string.h>

struct compile_list {
    struct builder *builder;
    struct compile *compiles;
};

static void run_one(void *closure, int index)
{
    const struct compile_list *list = closure;
    struct compile *compile = &list->compiles[index];
    const struct builder *builder = list->builder;
    struct sandbox_result first;
    clang_run(&compile->arena, &builder->clang, &compile->args, compile->root, builder->work, &compile->result);
    first = compile->result;
    if (!compile->next.count || !first.started || first.exit_code || first.timed_out)
        return;
    clang_run(&compile->arena, &builder->clang, &compile->next, compile->root, builder->work, &compile->result);
    compile->result.seconds += first.seconds;
    compile->result.output = arena_printf(&compile->arena, "%s%s", first.output, compile->result.output);
}

void compiles_run(struct builder *builder, struct compile *compiles, int count)
{
    struct compile_list list = {builder, compiles};
    workers_run(count, builder->options->jobs, run_one, &list);
    for (int i = 0; i < count; i++)
        arena_adopt(builder->arena, &compiles[i].arena);
}

/* A compiler that did not come to its end says much about itself, in words that differ from run to run. */
static bool fell_over(const struct sandbox_result *result)
{
    return result->exit_code != 1 || strstr(result->output, "PLEASE submit a bug report");
}

bool compile_take(struct builder *builder, const struct compile *compile, const char *source,
                  struct diagnostic_list *list)
{
    const struct sandbox_result *result = &compile->result;
    int before = list->count;
    if (!list->broken)
        list->broken = clang_broken(builder->arena, result, builder->work);
    list->late |= result->timed_out;
    if (list->broken)
        return false;
    diagnose(builder->arena, result->output, &builder->places, list);
    if (!result->exit_code)
        return true;
    for (int i = before; i < list->count; i++)
        if (list->items[i].error)
            return false;
    const char *reason = result->timed_out ? "the compiler ran out of time"
                         : fell_over(result)
                             ? "the compiler was stopped: it needed more memory, output or stack than allowed"
                             : diagnose_without_folders(builder->arena, result->output, &builder->places);
    const char *relative = strrchr(source, '/');
    struct diagnostic diagnostic = {.class = DIAG_SYNTAX,
                                    .error = true,
                                    .file = relative ? relative + 1 : source,
                                    .message = arena_strndup(builder->arena, reason, strnlen(reason, 2000))};
    diagnose_add(builder->arena, list, &diagnostic);
    return false;
}
