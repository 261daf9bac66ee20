/* akgen tune: the values of a program's constants for which its modelled time is shortest. */
#include "base/files.h"
#include "cli/cli.h"
#include "gen/tune.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { OPT_PROGRAM = 500, OPT_BUDGET, BUDGET = 40, MOST = 10000, LONGEST = 1 << 20, CACHED_BYTES = 256 << 20 };

struct tune {
    struct eval_options options;
    const char *task, *program, *output;
    int budget;
};

static const struct argp_option tune_options[] = {
    {"output", 'o', "DIR", 0, "write the tuned program, its project and a trace of before and after below DIR", 1},
    {"program", OPT_PROGRAM, "FILE", 0, "the program to tune (default: the task's own, or what the planner writes)", 1},
    {"budget", OPT_BUDGET, "N", 0, "evaluations at most (default 40)", 1},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct tune *tune = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &tune->options;
        return 0;
    case 'o':
        tune->output = argument;
        return 0;
    case OPT_PROGRAM:
        tune->program = argument;
        return 0;
    case OPT_BUDGET:
        tune->budget = (int)cli_parse_number(state, "budget", argument, 1, MOST);
        return 0;
    case ARGP_KEY_ARG:
        if (tune->task)
            argp_error(state, "too many arguments: '%s'", argument);
        tune->task = argument;
        return 0;
    case ARGP_KEY_END:
        if (!tune->task)
            argp_error(state, "TASK is needed");
        if (tune->options.no_timing || tune->options.random_order)
            argp_error(state, "time is modelled in program order only, and not with --no-timing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_setting(void *closure, const struct gen_setting *setting)
{
    (void)closure;
    for (int i = 0; i < setting->count; i++)
        printf("%s%s = %lld", i ? ", " : "  ", setting->knobs[i].name, (long long)setting->knobs[i].value);
    if (isinf(setting->us))
        printf(": does not compile, or is not right\n");
    else
        printf(": %.2f us\n", setting->us);
    fflush(stdout);
}

/* Evaluates a setting once more, all cases, with a trace of the first where one is wanted. */
static enum akgen_verdict_kind confirm(struct arena *arena, const struct tune *tune, const struct task *task,
                                       const struct gen_setting *setting, const char *trace)
{
    struct eval_options options = tune->options;
    struct dsl_messages messages = {0};
    struct dsl_lowered lowered;
    struct verdict verdict;
    struct akgen_error *error = NULL;
    const char *dir;
    int fd = trace ? open(trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    const struct eval_debug debug = {.log_fd = -1, .trace_fd = fd};
    if (fd >= 0) {
        options.debug = &debug;
        options.only_case = options.only_case < 0 ? task->cases[0].id : options.only_case;
    }
    enum akgen_verdict_kind kind = AKGEN_VERDICT_INFRA_ERROR;
    if (gen_program_compile(arena, &setting->program, task, &lowered, &messages, &error) &&
        !(error = gen_program_keep(arena, task, &lowered, &dir))) {
        eval_run(task, dir, &options, &verdict);
        kind = verdict.kind;
        verdict_free(&verdict);
    }
    error_free(error);
    if (fd >= 0)
        close(fd);
    return kind;
}

static struct akgen_error *write_output(struct arena *arena, const struct tune *tune, const struct task *task,
                                        const struct gen_tuning *tuning)
{
    struct dsl_messages messages = {0};
    struct dsl_lowered lowered;
    struct akgen_error *error = files_make_directory(tune->output);
    const struct gen_program *program = &tuning->after.program;
    if (!error)
        error = files_write(arena_printf(arena, "%s/program.py", tune->output), program->text, program->length);
    if (!error && gen_program_compile(arena, program, task, &lowered, &messages, &error) && !error)
        error = gen_program_write(arena, arena_printf(arena, "%s/project", tune->output), &lowered);
    if (error)
        return error;
    confirm(arena, tune, task, &tuning->before, arena_printf(arena, "%s/before.json", tune->output));
    confirm(arena, tune, task, &tuning->after, arena_printf(arena, "%s/after.json", tune->output));
    return NULL;
}

static struct akgen_error *run(struct arena *arena, struct tune *tune, int *code)
{
    struct task task;
    struct gen_program program;
    struct gen_tuning tuning;
    char *text;
    *code = EXIT_USAGE;
    struct akgen_error *error = task_find(arena, toolchain_home(), tune->task, &task);
    if (!error)
        error = cli_check_case(&task, tune->options.only_case);
    if (!error)
        error = cli_set_tolerance(arena, &tune->options, &task);
    if (!error && tune->program) {
        program = (struct gen_program){.path = tune->program};
        error = files_read(arena, tune->program, LONGEST, &text, &program.length);
        program.text = text;
    } else if (!error) {
        error = gen_program_of_task(arena, &task, &program);
    }
    if (error)
        return error;
    *code = EXIT_OWN_FAILURE;
    if ((error = eval_check_jail(&tune->options)))
        return error;
    printf("%s, modelled on %s: the geometric mean of its cases\n", task.name, tune->options.soc->name);
    *code = EXIT_OTHER_VERDICT;
    tune->options.cache = eval_cache_create(CACHED_BYTES);
    error = gen_tune(arena, &program, &task, &tune->options, tune->budget, 0, print_setting, NULL, &tuning);
    if (!error)
        *code = cli_exit_code(confirm(arena, tune, &task, &tuning.after, NULL));
    if (!error && tune->output)
        error = write_output(arena, tune, &task, &tuning);
    eval_cache_destroy(tune->options.cache);
    if (error)
        return error;
    printf("before %.2f us, after %.2f us, %.2f times as fast; %d settings tried", tuning.before.us, tuning.after.us,
           tuning.before.us / tuning.after.us, tuning.tried);
    for (int i = 0; i < tuning.after.count; i++)
        printf("%s%s = %lld", i ? ", " : "; ", tuning.after.knobs[i].name, (long long)tuning.after.knobs[i].value);
    putchar('\n');
    return NULL;
}

int cli_tune(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_eval_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = tune_options,
        .parser = parse,
        .args_doc = "TASK",
        .doc = "Tunes a program in AscendDSL on the modelled time: tries other values of its host function's "
               "tl.constexpr parameters, and keeps what makes the task's cases faster and leaves them right.\v"
               "Exit code: 0 the tuned program passes, 1 it does not or there is nothing to tune, 2 wrong usage, 3 "
               "failure of akgen.",
        .children = children,
    };
    struct tune tune = {.options = cli_eval_defaults(), .budget = BUDGET};
    argp_parse(&argp, argc, argv, 0, NULL, &tune);
    struct arena arena = {0};
    int code;
    struct akgen_error *error = run(&arena, &tune, &code);
    arena_free(&arena);
    return error ? cli_fail(code, error) : code;
}
