/* akgen compare: two candidates for one task side by side, case by case and pipe by pipe, in modelled time. */
#include "cli/cli.h"
#include "eval/timing.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

enum { SIDES = 2 };

struct compare {
    struct eval_options options;
    const char *task, *dirs[SIDES];
    int dir_count;
    bool json, every_case;
};

#define CLI_OF struct compare
static const struct cli_option rows[] = {
    {"task", 0, "TASK", CLI_TEXT(task), 1, "the task that both are for"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print both verdicts, as {\"a\": .., \"b\": ..}"},
    {"timing", 0, NULL, CLI_FLAG(every_case), 1,
     "pipe by pipe for every case (default: for the one that moves most bytes)"},
    {NULL, 0, "DIR", CLI_LIST(dirs, dir_count, .full = "expected two candidates, and this is one more: %s"), 0, NULL},
};

static void check_arguments(void *arguments, const struct argp_state *state)
{
    const struct compare *compare = arguments;
    if (compare->dir_count < SIDES)
        argp_error(state, "expected two candidates: akgen compare A B --task TASK");
    if (!compare->task)
        argp_error(state, "--task names the task that both are for");
    if (compare->json && compare->every_case)
        argp_error(state, "--timing prints a table; --json has every case's time");
    if (compare->options.no_timing || compare->options.random_order)
        argp_error(state, "time is modelled in program order only, and not with --no-timing");
}

/* The modelled time of a case that was right; NULL: there is none. */
static const struct npu_timing *timing_of(const struct verdict_case *row)
{
    return row->ok && row->run.timing.model.known ? &row->run.timing.model : NULL;
}

static double us(const struct npu_timing *timing, double cycles)
{
    return npu_timing_us(timing, cycles);
}

/* ", A 1.40 times as long", if that can be seen in two digits; `what` is said of the larger. */
static void print_ratio(double a, double b, const char *what)
{
    const double ratio = a >= b ? a / b : b / a;
    if (a > 0 && b > 0 && ratio >= 1.005)
        printf("  %s %.2f times as %s", a >= b ? "A" : "B", ratio, what);
    putchar('\n');
}

/* Two figures of microseconds. */
static void print_pair(const char *name, double a, double b)
{
    printf("    %-22s %12.2f %12.2f", name, a, b);
    print_ratio(a, b, "long");
}

static void print_lanes(const struct npu_timing *a, const struct npu_timing *b, bool aic)
{
    char name[32];
    const struct npu_timing_cores *of[] = {&a->of[aic], &b->of[aic]};
    if (!of[0]->cores && !of[1]->cores)
        return;
    printf("    %-22s %12d %12d\n", aic ? "AICs" : "AIVs", of[0]->cores, of[1]->cores);
    snprintf(name, sizeof name, "longest %s", aic ? "AIC" : "AIV");
    print_pair(name, us(a, of[0]->longest), us(b, of[1]->longest));
    for (int lane = 0; lane < NPU_LANES; lane++) {
        snprintf(name, sizeof name, "%s of an %s", job_lanes[lane], aic ? "AIC" : "AIV");
        if (of[0]->busy[lane] > 0 || of[1]->busy[lane] > 0)
            print_pair(name, us(a, of[0]->busy[lane]), us(b, of[1]->busy[lane]));
    }
}

/* Everything in which the two differ: microseconds with work on a pipe, bytes, bounds. */
static void print_pipes(const struct npu_timing *a, const struct npu_timing *b)
{
    struct arena arena = {0};
    print_pair("launch", us(a, a->launch), us(b, b->launch));
    print_lanes(a, b, false);
    print_lanes(a, b, true);
    printf("    %-22s %12.2f %12.2f\n", "MB read", (double)a->read / 1e6, (double)b->read / 1e6);
    printf("    %-22s %12.2f %12.2f\n", "MB written", (double)a->written / 1e6, (double)b->written / 1e6);
    printf("    %-22s %12s %12s\n", "bound by", timing_bound(&arena, a), timing_bound(&arena, b));
    printf("    %-22s %11.0f%% %11.0f%%\n", "of it", 100 * timing_roofline(a), 100 * timing_roofline(b));
    arena_free(&arena);
}

static const struct verdict_case *find_case(const struct verdict *verdict, int id)
{
    for (int i = 0; i < verdict->case_count; i++)
        if (verdict->cases[i].id == id)
            return &verdict->cases[i];
    return NULL;
}

static void print_row(int id, const struct npu_timing *a, const struct npu_timing *b)
{
    const struct npu_timing *of[] = {a, b};
    printf("  case %-19d", id);
    for (int side = 0; side < SIDES; side++)
        if (of[side])
            printf(" %12.2f", us(of[side], of[side]->cycles));
        else
            printf(" %12s", "not right");
    print_ratio(b ? b->cycles : 0, a ? a->cycles : 0, "fast"); /* the shorter is the faster */
}

static void print_table(const struct compare *compare, const struct verdict verdicts[SIDES])
{
    const struct verdict_case *largest = NULL;
    printf("  %-24s %12s %12s\n", "modelled us", "A", "B");
    for (int i = 0; i < verdicts[0].case_count; i++) {
        const struct verdict_case *row = &verdicts[0].cases[i], *other = find_case(&verdicts[1], row->id);
        const struct npu_timing *a = timing_of(row), *b = other ? timing_of(other) : NULL;
        print_row(row->id, a, b);
        if (!a || !b)
            continue;
        if (compare->every_case)
            print_pipes(a, b);
        else if (!largest || a->read + a->written > largest->run.timing.model.read + largest->run.timing.model.written)
            largest = row;
    }
    if (!largest)
        return;
    printf("  case %d, pipe by pipe\n", largest->id);
    print_pipes(timing_of(largest), timing_of(find_case(&verdicts[1], largest->id)));
}

/* "A: pass: 5 of 5 cases, 0.3 s", and what there is to say of one that is not right. */
static void print_verdicts(const struct compare *compare, const struct verdict verdicts[SIDES])
{
    struct cli_colors colors = cli_colors_for(stdout);
    for (int side = 0; side < SIDES; side++) {
        printf("%c: %s\n", 'A' + side, compare->dirs[side]);
        if (verdicts[side].kind != AKGEN_VERDICT_PASS)
            cli_print_cases(stdout, &verdicts[side], &colors);
        cli_print_conclusion(stdout, &verdicts[side], &colors);
    }
}

static void print_json(const struct verdict verdicts[SIDES])
{
    json_t *both = json_object();
    static const char *const names[] = {"a", "b"};
    for (int side = 0; side < SIDES; side++)
        json_object_set_new(both, names[side], verdict_to_json(&verdicts[side]));
    cli_print_json(both, JSON_INDENT(1) | JSON_ENSURE_ASCII);
}

static struct akgen_error *check(const struct compare *compare, const struct task *task)
{
    struct stat status;
    for (int side = 0; side < SIDES; side++) {
        if (stat(compare->dirs[side], &status) != 0)
            return error_new("%s: %m", compare->dirs[side]);
        if (!S_ISDIR(status.st_mode))
            return error_new("%s: not a directory; a candidate is one that holds op_kernel/", compare->dirs[side]);
    }
    return task_require_case(task, compare->options.only_case);
}

int cli_compare(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(options)}, {&cli_language_table, CLI_AT(options)}},
        .check = check_arguments,
        .args_doc = "A B",
        .doc = "Evaluates two candidates for one task and sets their modelled times side by side, pipe by pipe.\v"
               "Exit code: 0 both pass, 1 one does not, 2 wrong usage, 3 failure of akgen.",
    };
    struct compare compare = {.options = cli_eval_defaults()};
    compare.options.one_set = true;
    cli_parse(&table, argc, argv, &compare);
    struct arena arena = {0};
    struct task task;
    struct akgen_error *error = task_find(&arena, toolchain_home(), compare.task, &task);
    if (!error)
        error = check(&compare, &task);
    if (!error)
        error = cli_set_tolerance(&arena, &compare.options, &task);
    if (error) {
        arena_free(&arena);
        return cli_fail(EXIT_USAGE, error);
    }
    if ((error = eval_check_jail(&compare.options))) {
        arena_free(&arena);
        return cli_fail(EXIT_OWN_FAILURE, error);
    }
    struct verdict verdicts[SIDES];
    int code = EXIT_PASS;
    for (int side = 0; side < SIDES; side++) {
        struct candidate candidate;
        eval_read(&arena, &task, compare.dirs[side], &compare.options, &candidate);
        eval_run(&candidate, &task, &compare.options, &verdicts[side]);
        speedup_add(&task, NULL, &verdicts[side]);
        int own = cli_exit_code(verdicts[side].kind);
        code = own > code ? own : code;
    }
    if (compare.json) {
        print_json(verdicts);
    } else {
        print_verdicts(&compare, verdicts);
        print_table(&compare, verdicts);
    }
    for (int side = 0; side < SIDES; side++)
        verdict_free(&verdicts[side]);
    arena_free(&arena);
    return code;
}
