/* akgen dsl build --verify: the compiler's project runs on the machine, and what each case leaves is compared with what the
 * interpreter computes for the same inputs. The task's own references have no say. */
#include "cli/dsl_verify.h"
#include "base/array.h"
#include "cli/cli.h"
#include "dsl/verify.h"

#include <inttypes.h>
#include <string.h>

/* What came of a case, until the verdict tells the rest. */
struct result {
    int id;
    const char *wrong; /* NULL: the outputs are the interpreter's */
};
struct validation {
    struct arena arena;
    const struct dsl_program *program;
    const struct dsl_binding *bindings;
    struct result *results;
    int count, capacity;
};

static const char *difference_text(struct arena *arena, const struct task_instance *instance,
                                   const struct dsl_difference *difference)
{
    const struct task_param *output = &instance->task->outputs[difference->output];
    const char *which =
        output->kind == TASK_TENSOR_LIST ? arena_printf(arena, " of tensor %d", difference->tensor) : "";
    const char *allowed =
        difference->allowed > 0 ? arena_printf(arena, " (off by at most %.3g)", difference->allowed) : "";
    return arena_printf(arena, "%s: element %" PRId64 "%s is %.9g, the interpreter computes %.9g%s; %" PRIu64 " differ",
                        output->name, difference->index, which, difference->actual, difference->expected, allowed,
                        difference->elements);
}

static const char *message_text(struct arena *arena, const struct dsl_messages *messages)
{
    const struct dsl_message *first = messages->items;
    return arena_printf(arena, "the interpreter stops: line %d: %s [%s]", first->place.line, first->text,
                        dsl_rule_name(first->rule));
}

/* eval_debug.on_run: the kernel has run. */
static void compare(void *closure, const struct task_instance *instance, const struct task_argument *actual,
                    const struct task_argument *reference)
{
    struct validation *validation = closure;
    struct arena arena = {0};
    struct dsl_messages messages = {.arena = &validation->arena};
    struct result result = {.id = instance->task_case->id};
    struct dsl_difference difference;
    for (int nudges = DSL_NUDGES; nudges; nudges = nudges < DSL_NUDGES_MOST ? DSL_NUDGES_MOST : 0) {
        struct dsl_expected expected =
            dsl_expect(&arena, validation->program, validation->bindings, instance, npu_socs, nudges, &messages);
        difference = expected.ran ? dsl_compare(instance, &expected, reference, actual) : (struct dsl_difference){0};
        result.wrong = !expected.ran         ? message_text(&validation->arena, &messages)
                       : difference.elements ? difference_text(&validation->arena, instance, &difference)
                                             : NULL;
        arena_free(&arena);
        if (!expected.approximate || !difference.elements)
            break;
    }
    ARRAY_ADD(&validation->arena, validation->results, validation->count, validation->capacity, result);
}

/* Why a case is not as it should be; NULL: it is. */
static const char *why_not(struct validation *validation, const struct source_map *map, const struct verdict_case *row)
{
    const struct result *result = NULL;
    for (int i = 0; i < validation->count; i++)
        if (validation->results[i].id == row->id)
            result = &validation->results[i];
    bool judged = row->kind == AKGEN_VERDICT_PASS || (row->kind == AKGEN_VERDICT_WRONG && row->compared);
    if (!judged || !result) /* of the outputs nothing can be said */
        return arena_printf(&validation->arena, "%s: %s", akgen_verdict_kind_name(row->kind),
                            row->error ? row->error : "");
    for (size_t i = 0; i < row->run.finding_count && !result->wrong; i++) {
        const struct job_finding *finding = &row->run.findings[i];
        struct source_place from = source_map_of_finding(map, finding, false);
        if (finding->kind == NPU_HAZARD || finding->kind == NPU_UNDEFINED)
            return arena_printf(&validation->arena, "%s: %s:%d: %s", finding->fault,
                                from.program    ? from.program
                                : finding->file ? finding->file
                                                : "?",
                                from.program ? from.line : finding->line, finding->message);
    }
    return result->wrong;
}

static int print_cases(struct validation *validation, const struct verdict *verdict)
{
    int code = EXIT_PASS;
    bool ran = verdict->case_count && verdict->kind != AKGEN_VERDICT_COMPILE_ERROR;
    for (int i = 0; ran && i < verdict->case_count; i++) {
        const char *why = why_not(validation, verdict->candidate.map, &verdict->cases[i]);
        printf("case %d: %s\n", verdict->cases[i].id, why ? why : "as the interpreter computes it");
        code = why ? EXIT_OTHER_VERDICT : code;
    }
    if (ran)
        return code;
    struct cli_colors colors = cli_colors_for(stdout);
    cli_print_verdict(stdout, verdict, &colors);
    return EXIT_OTHER_VERDICT;
}

int dsl_verify(const struct dsl_program *program, const struct task *task, const struct candidate *candidate,
               int only_case, bool kernel_only)
{
    struct validation validation = {.program = program};
    struct dsl_binding *bindings;
    struct akgen_error *error = dsl_bind(&validation.arena, program, task, &bindings);
    if (error)
        return cli_fail(EXIT_OTHER_VERDICT, error);
    validation.bindings = bindings;
    const struct eval_debug debug = {.log_fd = -1, .trace_fd = -1, .on_run = compare, .closure = &validation};
    struct eval_options options = cli_eval_defaults();
    options.only_case = only_case;
    options.scope = kernel_only ? EVAL_KERNEL : options.scope;
    options.mode = kernel_only ? EVAL_STATIC : options.mode;
    options.trials = 1;
    options.jobs = 1; /* `compare` has no lock */
    options.sync_given = true;
    options.sync = NPU_SYNC_MANUAL; /* the project orders everything itself */
    options.debug = &debug;
    struct verdict verdict;
    eval_run(candidate, task, &options, &verdict);
    int code = print_cases(&validation, &verdict);
    code = verdict.kind == AKGEN_VERDICT_INFRA_ERROR ? EXIT_OWN_FAILURE : code;
    verdict_free(&verdict);
    arena_free(&validation.arena);
    return code;
}
