/* Our kernels beside the vendor's. benchmarks/vendor/published.tsv lists kernels of the vendor that were measured on a 910B2, with
 * shape, data type and microseconds (CANN Bench's baselines). Where a row names a task, its program is compiled and run at the row's
 * shape and data type on the machine, judged, and its modelled time set beside the vendor's; where it names none, the remark says why.
 *
 * A task is one of tasks/, or a folder of benchmarks/vendor/ for operators that those lack. The row's `case` is a line of its cases.csv:
 * "shape=[2,3];dtype=float16".
 *
 * Usage: vendor [--markdown] [--summary] [--list] [OPERATOR | ID]...
 * --summary: without the rows. --list: what is compared with which task, and what is not; nothing runs. */
#include "base/files.h"
#include "base/text.h"
#include "candidate/program.h"
#include "eval/eval.h"
#include "npu/npu.h"
#include "toolchain/toolchain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROWS = 512, TEXT_LIMIT = 1 << 20, MOST_SECONDS = 900 };
/* A ratio below this is slow: the row has to have a remark. */
#define SLOW 0.5

enum column { ID, KERNEL, SHAPE, DTYPE, ATTRIBUTES, US, TASK, CASE, REMARK, COLUMNS };
static struct row {
    const char *text[COLUMNS];
    double vendor, ours; /* microseconds; ours 0: not run, or not right */
    bool asked;
    const char *failed; /* why there is no time although it ran */
} rows[MOST_ROWS];
static int row_count;
static bool markdown, summary, list;
static struct arena arena;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "vendor: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void check(struct akgen_error *error)
{
    if (error)
        fail("%s", error->message);
}

static void read_rows(void)
{
    char *text, *line;
    const char *path = arena_printf(&arena, "%s/benchmarks/vendor/published.tsv", toolchain_home());
    check(files_read(&arena, path, TEXT_LIMIT, &text, NULL));
    strsep(&text, "\n"); /* the columns' names */
    while ((line = strsep(&text, "\n")) && *line) {
        if (row_count == MOST_ROWS)
            fail("%s has more than %d rows", path, MOST_ROWS);
        struct row *row = &rows[row_count++];
        for (int i = 0; i < COLUMNS; i++) {
            row->text[i] = strsep(&line, "\t");
            if (!row->text[i])
                fail("%s:%d: %d columns, expected %d", path, row_count + 1, i, COLUMNS);
        }
        row->vendor = strtod(row->text[US], NULL);
        if (!*row->text[TASK] && !*row->text[REMARK])
            fail("%s:%d: neither a task nor a reason why there is none", path, row_count + 1);
    }
}

/* "cb-rms_norm-7" is of the operator "rms_norm". */
static const char *operator_of(const struct row *row)
{
    const char *name = row->text[ID] + strlen("cb-");
    return arena_printf(&arena, "%.*s", (int)(strrchr(name, '-') - name), name);
}

static bool is_asked_for(const struct row *row, char *const *names)
{
    bool asked = !*names;
    for (; *names && !asked; names++)
        asked = strcmp(row->text[ID], *names) == 0 || strcmp(operator_of(row), *names) == 0;
    return asked;
}

/* The names or the values of a row's case, as a line of cases.csv. */
static void add_line(struct text *csv, const char *first, const char *fields, bool names)
{
    text_add(csv, first);
    for (char *rest = arena_strdup(&arena, fields), *field; (field = strsep(&rest, ";"));) {
        const char *value = strchr(field, '=');
        if (!value)
            fail("'%s' is not a column and its value", field);
        text_add(csv, ";");
        if (names)
            text_append(csv, field, (size_t)(value - field));
        else
            text_add(csv, value + 1);
    }
    text_add(csv, "\n");
}

/* Case number i of the rows' common task is that of the i-th of `group`. */
static const char *cases_of(struct row *const *group, int count)
{
    struct text csv = {0};
    add_line(&csv, "case_id", group[0]->text[CASE], true);
    for (int i = 0; i < count; i++)
        add_line(&csv, arena_printf(&arena, "%d", i), group[i]->text[CASE], false);
    const char *copy = arena_strdup(&arena, csv.bytes);
    text_free(&csv);
    return copy;
}

static const char *folder_of_task(const char *name)
{
    const char *own = arena_printf(&arena, "%s/benchmarks/vendor/%s", toolchain_home(), name);
    const char *suite = arena_printf(&arena, "%s/tasks/%s", toolchain_home(), name);
    if (!files_exists(own) && !files_exists(suite))
        fail("there is no task '%s' in benchmarks/vendor and in tasks", name);
    return files_exists(own) ? own : suite;
}

/* The task with the rows' cases in the place of its own, in a folder of its own. */
static void make_task(const char *dir, struct row *const *group, int count, struct task *task)
{
    static const char *const files[] = {"task.yaml", "program.py"};
    const char *from = folder_of_task(group[0]->text[TASK]), *csv = cases_of(group, count);
    check(files_make_directory(dir));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *bytes;
        size_t length;
        const char *path = arena_printf(&arena, "%s/%s", from, files[i]);
        if (i && !files_exists(path))
            continue; /* the planner writes the program */
        check(files_read(&arena, path, TEXT_LIMIT, &bytes, &length));
        check(files_write(arena_printf(&arena, "%s/%s", dir, files[i]), bytes, length));
    }
    check(files_write(arena_printf(&arena, "%s/cases.csv", dir), csv, strlen(csv)));
    check(task_load(&arena, dir, task));
}

/* The operator project that the task's program becomes. */
static struct candidate build_program(const struct task *task)
{
    struct candidate_program program;
    struct dsl_messages messages = {0};
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    struct candidate candidate;
    check(candidate_program_of_task(&arena, task, &program));
    bool compiled = candidate_program_compile(&arena, &program, task, &lowered, &messages, &error);
    check(error);
    dsl_messages_show(&messages);
    if (!compiled)
        fail("%s: the program does not compile", task->dir);
    candidate_of_program(&arena, &lowered, &candidate);
    return candidate;
}

/* Runs a case and judges it by a profile; true: it is right, and row->ours is its time. */
static bool try_row(struct row *row, const struct task *task, const struct candidate *candidate, int number,
                    enum task_profile profile)
{
    struct eval_options options = {.soc = npu_soc_find("Ascend910B2"),
                                   .mode = EVAL_DYNAMIC,
                                   .scope = EVAL_PROJECT,
                                   .profile = profile,
                                   .only_case = number,
                                   .full = true,
                                   .trials = 1,
                                   .jobs = 1,
                                   .case_seconds = MOST_SECONDS,
                                   .candidate_seconds = MOST_SECONDS};
    struct verdict verdict;
    eval_run(candidate, task, &options, &verdict);
    const struct npu_timing *timing = verdict.case_count ? &verdict.cases[0].run.timing.model : NULL;
    row->failed = NULL;
    if (!timing || verdict.kind != AKGEN_VERDICT_PASS)
        row->failed = arena_strdup(&arena, verdict.reason ? verdict.reason : "it does not pass");
    else if (!timing->known)
        row->failed = "it has no modelled time";
    else
        row->ours = npu_timing_us(timing, timing->cycles);
    bool wrong = verdict.kind == AKGEN_VERDICT_WRONG;
    verdict_free(&verdict);
    return !wrong;
}

/* Float64's limits are those of the whole tensor's scale. Where rows differ in it, as those of causal attention, whose weights are
 * bfloat16, the task's own check decides. */
static void run_row(struct row *row, const struct task *task, const struct candidate *candidate, int number)
{
    if (!try_row(row, task, candidate, number, TASK_STRICT))
        try_row(row, task, candidate, number, TASK_UPSTREAM);
}

static double ratio(const struct row *row)
{
    return row->ours > 0 ? row->vendor / row->ours : 0;
}

static void print_row(const struct row *row)
{
    const char *format = markdown ? "| %s | %s | %s | %s | %s | %s | %s |\n" : "%-28s %-18s %9s %9s %6s  %s  %s\n";
    const char *ours = row->ours > 0 ? arena_printf(&arena, "%.2f", row->ours) : "";
    const char *times = row->ours > 0 ? arena_printf(&arena, "%.2f", ratio(row)) : "";
    const char *remark = row->failed ? row->failed : row->text[REMARK];
    printf(format, row->text[ID], row->text[KERNEL], row->text[US], ours, times, row->text[SHAPE], remark);
    fflush(stdout);
}

/* Runs all asked rows of the task of rows[first] whose cases have the same columns. */
static void run_group(int first, const char *scratch)
{
    struct row *group[MOST_ROWS] = {&rows[first]};
    struct task task;
    int count = 1;
    for (int i = first + 1; i < row_count; i++)
        if (rows[i].asked && strcmp(rows[i].text[TASK], rows[first].text[TASK]) == 0)
            group[count++] = &rows[i];
    const char *dir = arena_printf(&arena, "%s/%d", scratch, first);
    make_task(dir, group, count, &task);
    const struct candidate candidate = build_program(&task);
    for (int i = 0; i < count; i++) {
        run_row(group[i], &task, &candidate, i);
        if (!summary)
            print_row(group[i]);
    }
}

static void run_all(void)
{
    char scratch[] = "/tmp/akgen-vendor-XXXXXX";
    if (!mkdtemp(scratch))
        fail("there is no room in /tmp");
    for (int i = 0; i < row_count; i++) {
        bool first = rows[i].asked && *rows[i].text[TASK];
        for (int k = 0; first && k < i; k++)
            first = !rows[k].asked || strcmp(rows[k].text[TASK], rows[i].text[TASK]) != 0;
        if (first)
            run_group(i, scratch);
    }
    files_remove_tree(scratch);
}

/* Whether the vendor's time is a sum over several kernels: "Slice + SwiGlu", "LpNormV2x3". */
static bool has_several_kernels(const struct row *row)
{
    const char *kernel = row->text[KERNEL], *last = strrchr(kernel, 'x');
    return strstr(kernel, " + ") || (last && last > kernel && last[1] >= '2' && last[1] <= '9' && !last[2]);
}

enum group { OF_OPERATOR, ONE_KERNEL, SEVERAL_KERNELS, ALL };
static bool is_in_group(const struct row *row, enum group group, const char *name)
{
    return group == ALL || (group == OF_OPERATOR ? strcmp(operator_of(row), name) == 0
                                                 : has_several_kernels(row) == (group == SEVERAL_KERNELS));
}

/* Geometric means of the rows of an operator, or of another group, which is called `name`. */
static void print_group(enum group group, const char *name)
{
    double logs = 0, vendor = 0, ours = 0, worst = INFINITY;
    int count = 0, slow = 0;
    for (int i = 0; i < row_count; i++) {
        if (ratio(&rows[i]) <= 0 || !is_in_group(&rows[i], group, name))
            continue;
        count++;
        logs += log(ratio(&rows[i]));
        vendor += log(rows[i].vendor);
        ours += log(rows[i].ours);
        worst = fmin(worst, ratio(&rows[i]));
        slow += ratio(&rows[i]) < SLOW;
    }
    const char *format =
        markdown ? "| %s | %d | %.1f | %.1f | %.2f | %.2f | %d |\n" : "%-30s %4d %9.1f %9.1f %6.2f %6.2f %4d\n";
    if (count)
        printf(format, name, count, exp(vendor / count), exp(ours / count), exp(logs / count), worst, slow);
}

static void print_operators(void)
{
    printf(markdown ? "\n| %s | %s | %s | %s | %s | %s | %s |\n" : "\n%-30s %4s %9s %9s %6s %6s %4s\n", "operator",
           "rows", "vendor", "ours", "ratio", "worst", "slow");
    if (markdown)
        printf("|---|--:|--:|--:|--:|--:|--:|\n");
    for (int i = 0; i < row_count; i++)
        if (!i || strcmp(operator_of(&rows[i]), operator_of(&rows[i - 1])) != 0)
            print_group(OF_OPERATOR, operator_of(&rows[i]));
    print_group(ONE_KERNEL, "of one kernel");
    print_group(SEVERAL_KERNELS, "of several kernels");
    print_group(ALL, "all");
}

static void print_omitted(void)
{
    const char *last = "";
    printf("\nNot compared:\n");
    for (int i = 0; i < row_count; i++)
        if (!*rows[i].text[TASK] && strcmp(last, rows[i].text[REMARK]) != 0) {
            int count = 0;
            last = rows[i].text[REMARK];
            for (int k = i; k < row_count && strcmp(rows[k].text[REMARK], last) == 0; k++)
                count += !*rows[k].text[TASK];
            printf("%s%s (%d rows): %s\n", markdown ? "- " : "  ", operator_of(&rows[i]), count, last);
        }
}

static void print_list(void)
{
    for (int i = 0; i < row_count; i++)
        printf("%-30s %-50s %s\n", rows[i].text[ID], *rows[i].text[TASK] ? rows[i].text[TASK] : "-",
               *rows[i].text[TASK] ? rows[i].text[CASE] : rows[i].text[REMARK]);
}

static void take_option(const char *option)
{
    static const struct {
        const char *name;
        bool *set;
    } options[] = {{"--markdown", &markdown}, {"--summary", &summary}, {"--list", &list}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, option) == 0) {
            *options[i].set = true;
            return;
        }
    fail("usage: vendor [--markdown] [--summary] [--list] [OPERATOR | ID]...");
}

/* 1 if a row that ran has no time. */
static int finish(void)
{
    int failed = 0;
    for (int i = 0; i < row_count; i++)
        failed += rows[i].failed != NULL;
    if (failed)
        fprintf(stderr, "vendor: %d rows have no time\n", failed);
    arena_free(&arena);
    return failed > 0;
}

int main(int argc, char **argv)
{
    char **names = argv + 1;
    int asked = 0;
    (void)argc;
    for (; *names && strncmp(*names, "--", 2) == 0; names++)
        take_option(*names);
    read_rows();
    for (int i = 0; i < row_count; i++)
        asked += rows[i].asked = is_asked_for(&rows[i], names);
    if (!asked)
        fail("there is no operator and no row '%s'", *names);
    if (list) {
        print_list();
        return finish();
    }
    if (markdown && !summary)
        printf("| row | vendor's kernels | vendor us | ours, modelled us | ratio | shape | "
               "|\n|---|---|--:|--:|--:|---|---|\n");
    run_all();
    print_operators();
    if (asked == row_count)
        print_omitted();
    return finish();
}
