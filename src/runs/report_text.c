/* A run as text: tables for a terminal, CSV, JSON, and two runs side by side. */
#include "base/text.h"
#include "runs/report_internal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void report_put_percent(FILE *out, double value, int width)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.1f%%", width - 1, 100 * value);
}

struct group_table {
    FILE *out;
    bool speed; /* it has columns of speed */
};

static void print_group(void *closure, const struct bench_group *group)
{
    const struct group_table *table = closure;
    FILE *out = table->out;
    report_put_name(out, group->name, 24);
    fprintf(out, " %5d %9d", group->tasks, group->compiled);
    report_put_percent(out, group->compile_rate.value, 8);
    fprintf(out, " %7d", group->passed);
    report_put_percent(out, group->execution_rate.value, 8);
    fprintf(out, table->speed ? " %6d/%-6d" : " %6d/%d", group->cases_passed, group->cases);
    if (table->speed)
        report_put_speed_cells(out, &group->speed);
    if (group->excluded)
        fprintf(out, "  (%d excluded)", group->excluded);
    fputc('\n', out);
}

static void print_interval(FILE *out, const char *name, struct metrics_mean mean, double weighted)
{
    fprintf(out, "%-12s", name);
    report_put_percent(out, mean.value, 8);
    fprintf(out, "  [%.1f, %.1f]  ", 100 * mean.low, 100 * mean.high);
    fprintf(out, "%d tasks; weighted 36:12:6", mean.tasks);
    report_put_percent(out, weighted, 8);
    fputc('\n', out);
}

static void print_shares_at(FILE *out, struct bench *bench, int k)
{
    const struct bench_shares shares = bench_shares_at(bench, k);
    fprintf(out, "of their first %d   Comp@%d", k, k);
    report_put_percent(out, shares.compiled, 6);
    fprintf(out, "  Pass@%d", k);
    report_put_percent(out, shares.passed, 6);
    report_write_speed_at(out, bench, &shares);
    fputc('\n', out);
}

/* A word of ours, and a text of the run's. */
static void print_text(FILE *out, const char *word, const char *text)
{
    fputs(word, out);
    text_put_plain(out, text);
}

/* ", baseline eager; protocol: shapes v1, ..." */
static void print_baseline(FILE *out, const struct bench *bench)
{
    print_text(out, ", baseline ", bench->baseline);
    if (*bench->protocol)
        print_text(out, "; protocol: ", bench->protocol);
}

void report_write_table(FILE *out, struct bench *bench, const struct report_style *style)
{
    size_t count;
    struct metrics_task *tasks = bench_tasks(bench, &count);
    /* Rates and speeds by category, level and all, as MultiKernelBench and AscendCraft have them by category. */
    struct group_table table = {out, report_has_speed(bench)};
    fprintf(out, "%s%-24s %5s %9s %8s %7s %8s %s", style->bold, "level / category", "tasks", "compiled", "CR", "passed",
            "ER", " cases");
    if (table.speed) {
        fprintf(out, "%*s", 7, "");
        report_put_speed_head(out, bench_shares(bench).k);
    }
    fprintf(out, "%s\n", style->off);
    bench_visit_groups(bench, print_group, &table);
    report_write_pass_at_k(out, bench, style);
    /* Means over all tasks, with what they are worth. */
    int k_count;
    const int *ks = bench_ks(bench, &k_count);
    for (int i = 0; i < k_count; i++) {
        struct metrics_mean compile = metrics_rate(tasks, count, METRICS_COMPILE, ks[i], 0, NULL);
        struct metrics_mean execute = metrics_rate(tasks, count, METRICS_EXECUTE, ks[i], 0, NULL);
        char name[32];
        if (!compile.tasks)
            continue;
        snprintf(name, sizeof name, "CR pass@%d", ks[i]);
        print_interval(out, name, compile, metrics_weighted(tasks, count, METRICS_COMPILE, ks[i]));
        snprintf(name, sizeof name, "ER pass@%d", ks[i]);
        print_interval(out, name, execute, metrics_weighted(tasks, count, METRICS_EXECUTE, ks[i]));
    }
    report_write_missing(out, bench, text_put_plain, "\n");
    report_write_shortages(out, bench, text_put_plain);
    /* Shares of all tasks, as MultiKernelBench and AscendCraft print them. */
    struct bench_shares shares = bench_shares(bench);
    fprintf(out, "of %d tasks   Comp@%d", shares.tasks, shares.k);
    report_put_percent(out, shares.compiled, 6);
    fprintf(out, "  Pass@%d", shares.k);
    report_put_percent(out, shares.passed, 6);
    fputc('\n', out);
    report_write_speed(out, bench, &shares);
    const int most = bench_shares(bench).k;
    for (int i = 0; i < bench->k_count; i++)
        if (bench->ks[i] < most)
            print_shares_at(out, bench, bench->ks[i]);
    report_write_lacking(out, bench, text_put_plain, "\n");
    struct bench_errors errors = bench_errors(bench);
    fputs("verdicts   ", out);
    for (int kind = AKGEN_VERDICT_PASS; kind <= AKGEN_VERDICT_INFRA_ERROR; kind++)
        if (errors.kinds[kind])
            fprintf(out, "  %s %d", akgen_verdict_kind_name((enum akgen_verdict_kind)kind), errors.kinds[kind]);
    if (errors.wrappers)
        fprintf(out, "  (of the unsupported, %d wrapper%s that %s more than one plain call)", errors.wrappers,
                errors.wrappers == 1 ? "" : "s", errors.wrappers == 1 ? "does" : "do");
    if (errors.kinds[AKGEN_VERDICT_COMPILE_ERROR])
        fputs("\nfirst error", out);
    for (int class = DIAG_API; class <= DIAG_MACRO && errors.kinds[AKGEN_VERDICT_COMPILE_ERROR]; class ++)
        fprintf(out, "  %s %d", diagnostic_class_name((enum diagnostic_class) class), errors.classes[class]);
    fputc('\n', out);
    if (strcmp(bench->suite, "npukernelbench") == 0)
        fprintf(out, "NPUKernelBench score: %.2f as documented, %.2f as coded (levels weigh 0.2, 0.3, 0.5)\n",
                metrics_score_documented(tasks, count), metrics_score_coded(tasks, count));
    fprintf(out, "%zu tasks in %.1f s", count, bench->seconds);
    print_text(out, " (", bench->soc);
    print_text(out, ", ", bench->profile);
    print_text(out, " profile, mode ", bench->mode);
    print_text(out, ", scope ", bench->scope);
    print_text(out, ", language ", bench->language);
    print_text(out, ", provider ", bench->provider);
    print_baseline(out, bench);
    fputs(")\n", out);
    report_write_sampling(out, bench, text_put_plain, "\n");
}

/* Two runs. */
static const struct metrics_task *find_task(const struct metrics_task *tasks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tasks[i].name, name) == 0)
            return &tasks[i];
    return NULL;
}

static void print_change(FILE *out, const char *name, double before, double after)
{
    fprintf(out, "%-12s", name);
    report_put_percent(out, before, 8);
    fputs(" ->", out);
    report_put_percent(out, after, 8);
    fprintf(out, "  (%+.1f)\n", 100 * (after - before));
}

void report_write_comparison(FILE *out, struct bench *before, struct bench *after)
{
    size_t count_before, count_after;
    struct metrics_task *old = bench_tasks(before, &count_before), *new = bench_tasks(after, &count_after);
    fprintf(out, "run %lld", (long long)before->run);
    print_text(out, " (", before->provider);
    print_baseline(out, before);
    fprintf(out, ") -> run %lld", (long long)after->run);
    print_text(out, " (", after->provider);
    print_baseline(out, after);
    fputs(")\n", out);
    if (strcmp(before->protocol, after->protocol) != 0 || strcmp(before->profile, after->profile) != 0) {
        print_text(out, "the runs do not compare: ", before->profile);
        print_text(out, *before->protocol ? ": " : "", before->protocol);
        print_text(out, ", ", after->profile);
        print_text(out, *after->protocol ? ": " : "", after->protocol);
        fputc('\n', out);
    }
    if (strcmp(before->language, after->language) != 0) {
        print_text(out, "the runs do not compare: language ", before->language);
        print_text(out, ", language ", after->language);
        fputc('\n', out);
    }
    report_write_missing(out, before, text_put_plain, ", in the earlier run\n");
    report_write_missing(out, after, text_put_plain, ", in the later run\n");
    print_change(out, "CR pass@1", metrics_rate(old, count_before, METRICS_COMPILE, 1, 0, NULL).value,
                 metrics_rate(new, count_after, METRICS_COMPILE, 1, 0, NULL).value);
    print_change(out, "ER pass@1", metrics_rate(old, count_before, METRICS_EXECUTE, 1, 0, NULL).value,
                 metrics_rate(new, count_after, METRICS_EXECUTE, 1, 0, NULL).value);
    report_write_speed_change(out, before, after);
    for (size_t i = 0; i < count_after; i++) {
        const struct metrics_task *was = find_task(old, count_before, new[i].name);
        if (!was) {
            print_text(out, "  new      ", new[i].name);
            fprintf(out, ": %d of %d samples pass\n", new[i].passed, new[i].samples);
        } else if (was->passed != new[i].passed || was->compiled != new[i].compiled || was->samples != new[i].samples) {
            print_text(out,
                       new[i].passed > was->passed   ? "  better   "
                       : new[i].passed < was->passed ? "  worse    "
                                                     : "  changed  ",
                       new[i].name);
            fprintf(out, ": compiled %d of %d -> %d of %d, passed %d -> %d\n", was->compiled, was->samples,
                    new[i].compiled, new[i].samples, was->passed, new[i].passed);
        }
    }
    for (size_t i = 0; i < count_before; i++)
        if (!find_task(new, count_after, old[i].name)) {
            print_text(out, "  gone     ", old[i].name);
            fputc('\n', out);
        }
}

/* For other programs. */
/* One field, quoted as RFC 4180 wants it, with no control character. A quote stands before what a spreadsheet would take for a
 * formula. */
static void put_field(FILE *out, const char *text)
{
    fputs(text && *text && strchr("=+-@", *text) ? "\"'" : "\"", out);
    bool plain;
    for (size_t length; text && *text; text += length) {
        length = text_character(text, &plain);
        if (*text == '"')
            fputc('"', out);
        if (plain)
            fwrite(text, 1, length, out);
        else
            fputc(isspace((unsigned char)*text) ? ' ' : '?', out);
    }
    fputc('"', out);
}

/* A name, quoted where it is none. */
static void put_name(FILE *out, const char *name)
{
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.")])
        put_field(out, name);
    else
        fputs(name, out);
}

void report_write_csv(FILE *out, const struct bench *bench)
{
    fputs("task,level,category,sample,verdict,stage,cases_passed,cases_total,seconds,profile,protocol,reason,modelled_"
          "speedup,baseline,language\n",
          out);
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        put_name(out, row->task);
        fprintf(out, ",%d,", row->level);
        put_name(out, row->category);
        fprintf(out, ",%d,%s,%s,%d,%d,%.3f,", row->sample, akgen_verdict_kind_name(row->kind),
                akgen_verdict_stage_name(row->stage), row->cases_passed, row->cases_total, row->seconds);
        put_name(out, bench->profile);
        fputc(',', out);
        put_field(out, bench->protocol);
        fputc(',', out);
        put_field(out, row->reason);
        fputc(',', out);
        if (row->kind == AKGEN_VERDICT_PASS && row->speedup[SPEEDUP_ONE_LAUNCH] > 0)
            fprintf(out, "%.3f", row->speedup[SPEEDUP_ONE_LAUNCH]);
        fputc(',', out);
        put_field(out, bench->baseline);
        fputc(',', out);
        put_field(out, bench->language);
        fputc('\n', out);
    }
}

static json_t *share(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

struct group_list {
    json_t *list;
    const struct bench *bench;
};

static void add_group(void *closure, const struct bench_group *group)
{
    const struct group_list *groups = closure;
    json_t *json =
        json_pack("{ss si si si si si si si so so}", "name", group->name, "tasks", group->tasks, "samples",
                  group->samples, "compiled", group->compiled, "passed", group->passed, "excluded", group->excluded,
                  "cases", group->cases, "cases_passed", group->cases_passed, "compile_rate",
                  share(group->compile_rate.value), "execution_rate", share(group->execution_rate.value));
    report_add_speed(json, groups->bench, &group->speed);
    json_array_append_new(groups->list, json);
}

json_t *report_to_json(struct bench *bench)
{
    json_t *groups = json_array(), *verdicts = json_array();
    struct group_list list = {groups, bench};
    bench_visit_groups(bench, add_group, &list);
    for (int i = 0; i < bench->count; i++)
        json_array_append_new(verdicts, bench_row_verdict(&bench->rows[i]));
    const struct bench_shares shares = bench_shares(bench);
    json_t *json = json_pack("{si si so so}", "tasks", shares.tasks, "k", shares.k, "comp", share(shares.compiled),
                             "pass", share(shares.passed));
    report_add_speed(json, bench, &shares.speed);
    return json_pack("{sI ss ss ss ss ss ss ss ss ss ss so sf so so so so so}", "run", (json_int_t)bench->run, "suite",
                     bench->suite, "provider", bench->provider, "soc", bench->soc, "mode", bench->mode, "scope",
                     bench->scope, "profile", bench->profile, "protocol", bench->protocol, "akgen", bench->akgen,
                     "baseline", bench->baseline, "language", bench->language, "shares", json, "seconds",
                     bench->seconds, "missing", report_missing_json(bench), "pass_at_k", report_pass_at_k_json(bench),
                     "sampling", report_sampling_json(bench), "groups", groups, "verdicts", verdicts);
}
