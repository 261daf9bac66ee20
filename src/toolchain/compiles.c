/* Running compiles side by side, and what came of each.
 *
 * A kernel is checked for each of its data types, most of which need no code. Their texts are the same up to the first use
 * of a macro that tells a type, so a server of the pool begins them as one (clang_server.cpp). */
#include "base/files.h"
#include "base/text.h"
#include "base/workers.h"
#include "toolchain/build_internal.h"

#include <ctype.h>
#include <string.h>

struct compile_list {
    struct builder *builder;
    struct compile **compiles;
};

/* The compiler as a process of its own, or a copy of a server, for this one alone. */
static void run_alone(void *closure, int index)
{
    const struct compile_list *list = closure;
    struct compile *compile = list->compiles[index];
    struct builder *builder = list->builder;
    struct sandbox_result first;
    struct akgen_error *error =
        compile->config ? files_write(compile->config_path, compile->config, strlen(compile->config)) : NULL;
    if (error) {
        compile->result = (struct sandbox_result){.error = arena_strdup(&compile->arena, error->message)};
        error_free(error);
        return;
    }
    clang_run(&compile->arena, &builder->clang, &compile->args, &builder->view, builder->work, &compile->result);
    first = compile->result;
    if (!compile->next.count || !first.started || first.exit_code || first.timed_out)
        return;
    clang_run(&compile->arena, &builder->clang, &compile->next, NULL, builder->work, &compile->result);
    compile->result.seconds += first.seconds;
    compile->result.output = arena_printf(&compile->arena, "%s%s", first.output, compile->result.output);
}

/* One that leads, and then those that it led and could not answer for. */
static void run_leader(void *closure, int index)
{
    const struct compile_list *list = closure;
    struct compile *leader = list->compiles[index];
    struct clang_args *args = &leader->args;
    int count = 0, left = 0;
    for (struct compile *other = leader->also; other; other = other->also)
        count++;
    args->jobs = list->builder->options->jobs;
    args->others = arena_alloc(&leader->arena, ((size_t)count + 1) * sizeof *args->others);
    for (struct compile *other = leader->also; other; other = other->also)
        args->others[args->other_count++].config = other->defines;
    run_alone(closure, index);
    struct compile **open = arena_alloc(&leader->arena, ((size_t)count + 1) * sizeof(struct compile *));
    const struct clang_other *answer = args->others;
    for (struct compile *other = leader->also; other; other = other->also, answer++)
        if (answer->answered) {
            /* What the leader's server says of another one, with the name of the file that this one would have included. */
            struct text output = {0};
            const char *at = answer->output, *found;
            for (; (found = strstr(at, leader->config_path)); at = found + strlen(leader->config_path)) {
                text_append(&output, at, (size_t)(found - at));
                text_add(&output, other->config_path);
            }
            text_add(&output, at);
            other->result = (struct sandbox_result){.started = true,
                                                    .timed_out = answer->timed_out,
                                                    .exit_code = answer->exit_code,
                                                    .output = arena_strdup(&other->arena, output.bytes),
                                                    .output_length = output.length};
            text_free(&output);
        } else
            open[left++] = other;
    struct compile_list rest = {list->builder, open};
    workers_run(left, list->builder->options->jobs, run_alone, &rest);
}

/* The length of a line that defines a macro as one word, and of its beginning up to the word; 0: it is none. */
static size_t define_length(const char *line, size_t *name)
{
    static const char begin[] = "#define ";
    size_t length = strcspn(line, "\n");
    if (strncmp(line, begin, sizeof begin - 1) != 0 || !line[length])
        return 0;
    *name = sizeof begin + strcspn(line + sizeof begin - 1, " \n");
    if (*name > length || isdigit((unsigned char)line[*name]))
        return 0;
    for (size_t i = *name; i < length; i++)
        if (!isalnum((unsigned char)line[i]) && line[i] != '_')
            return 0;
    return length + 1;
}

/* Do both define the same macros, each as one identifier? */
static bool same_names(const char *one, const char *other)
{
    size_t length, name, other_name, other_length;
    for (; *one && *other; one += length, other += other_length) {
        length = define_length(one, &name);
        other_length = define_length(other, &other_name);
        if (!length || !other_length || name != other_name || memcmp(one, other, name) != 0)
            return false;
    }
    return !*one && !*other;
}

static bool may_lead(const struct compile *leader, const struct compile *compile)
{
    return !leader->led && leader->defines && leader->args.side == compile->args.side &&
           strcmp(leader->args.header, compile->args.header) == 0 && same_names(leader->defines, compile->defines);
}

static void join(struct compile *leader, struct compile *compile)
{
    while (leader->also)
        leader = leader->also;
    leader->also = compile;
    compile->led = true;
}

/* A check is led by a compile that makes code, where there is one, else by the first check. NULL: it leads. */
static struct compile *leader_of(struct compile *compiles, int count, int index)
{
    const struct compile *check = &compiles[index];
    if (!check->defines || check->next.count)
        return NULL;
    for (int i = 0; i < count; i++)
        if (compiles[i].next.count && may_lead(&compiles[i], check))
            return &compiles[i];
    for (int i = 0; i < index; i++)
        if (may_lead(&compiles[i], check))
            return &compiles[i];
    return NULL;
}

void compiles_run(struct builder *builder, struct compile *compiles, int count)
{
    struct compile_list list = {builder, arena_alloc(builder->arena, ((size_t)count + 1) * sizeof(struct compile *))};
    int leaders = 0;
    bool served = !builder->clang.plain && !builder->clang.debug;
    for (int i = 0; i < count; i++) {
        struct compile *leader = served ? leader_of(compiles, count, i) : NULL;
        if (leader)
            join(leader, &compiles[i]);
        else
            list.compiles[leaders++] = &compiles[i];
    }
    workers_run(leaders, builder->options->jobs, run_leader, &list);
    for (int i = 0; i < count; i++)
        arena_adopt(builder->arena, &compiles[i].arena);
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
    /* A compiler that did not come to its end says much about itself, in words that differ from run to run. */
    const char *reason = result->timed_out ? "the compiler ran out of time"
                         : result->exit_code != 1 || strstr(result->output, "PLEASE submit a bug report")
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
