/* What a run of many samples says besides rates: pass@k and what is too little for it; the model, what it was asked, what
 * came, and what is in no figure. */
#include "base/text.h"
#include "runs/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_put_name(FILE *out, const char *name, int width)
{
    int length = (int)strlen(name);
    text_put_plain(out, name);
    fprintf(out, "%*s", length < width ? width - length : 0, "");
}

/* pass@k. */
struct pass_table {
    FILE *out;
    const struct metrics_task *tasks;
    size_t count;
    const int *ks;
    int k_count;
};

static void print_pass_row(void *closure, const struct bench_group *group)
{
    const struct pass_table *table = closure;
    report_put_name(table->out, group->name, 24);
    fprintf(table->out, " %5d", group->tasks);
    for (int rate = METRICS_COMPILE; rate <= METRICS_EXECUTE; rate++)
        for (int i = 0; i < table->k_count; i++)
            report_put_percent(table->out,
                               metrics_rate(table->tasks, table->count, (enum metrics_rate)rate, table->ks[i],
                                            group->level, group->category)
                                   .value,
                               8);
    fputc('\n', table->out);
}

void report_write_pass_at_k(FILE *out, struct bench *bench, const struct report_style *style)
{
    struct pass_table table = {.out = out};
    table.ks = bench_ks(bench, &table.k_count);
    table.tasks = bench_tasks(bench, &table.count);
    if (!table.k_count)
        return;
    fprintf(out, "%s%-24s %5s", style->bold, "pass@k", "tasks");
    for (int rate = METRICS_COMPILE; rate <= METRICS_EXECUTE; rate++)
        for (int i = 0; i < table.k_count; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s@%d", rate == METRICS_COMPILE ? "CR" : "ER", table.ks[i]);
            fprintf(out, " %8s", name);
        }
    fprintf(out, "%s\n", style->off);
    bench_visit_groups(bench, print_pass_row, &table);
}

enum { NAMED = 5 };

/* Tasks with answers, but fewer than k. */
static int count_short(const struct metrics_task *tasks, size_t count, int k)
{
    int few = 0;
    for (size_t t = 0; t < count; t++)
        few += !tasks[t].absent && tasks[t].samples + tasks[t].excluded < k;
    return few;
}

void report_write_missing(FILE *out, struct bench *bench, report_put *put, const char *end)
{
    size_t count, absent = 0, named = 0;
    int k_count;
    const int *ks = bench_ks(bench, &k_count);
    const struct metrics_task *tasks = bench_tasks(bench, &count);
    const int most = k_count ? ks[k_count - 1] : 1;
    for (size_t t = 0; t < count; t++)
        absent += tasks[t].absent;
    const size_t all = absent + (size_t)count_short(tasks, count, most);
    if (!all)
        return;
    fprintf(out, "missing      %zu of %zu tasks %s no answer", absent, count, absent == 1 ? "has" : "have");
    for (int i = 0; i < k_count; i++) {
        const int few = count_short(tasks, count, ks[i]);
        if (few)
            fprintf(out, ", %d more %s fewer than %d", few, few == 1 ? "has" : "have", ks[i]);
    }
    fputs("; a missing one counts as wrong", out);
    for (size_t t = 0; t < count && named < NAMED; t++) {
        const int answers = tasks[t].absent ? 0 : tasks[t].samples + tasks[t].excluded;
        if (answers >= most)
            continue;
        fputs(named++ ? ", " : ": ", out);
        put(out, tasks[t].name);
        fprintf(out, " (%d)", answers);
    }
    if (all > named)
        fprintf(out, " and %zu more", all - named);
    fputs(end, out);
}

json_t *report_missing_json(struct bench *bench)
{
    size_t count, absent = 0;
    int k_count;
    const int *ks = bench_ks(bench, &k_count);
    const struct metrics_task *tasks = bench_tasks(bench, &count);
    json_t *fewer = json_array();
    for (size_t t = 0; t < count; t++)
        absent += tasks[t].absent;
    for (int i = 0; i < k_count; i++)
        json_array_append_new(fewer, json_pack("{si si}", "k", ks[i], "tasks", count_short(tasks, count, ks[i])));
    return json_pack("{sI sI so}", "tasks", (json_int_t)count, "no_answer", (json_int_t)absent, "fewer", fewer);
}

void report_write_shortages(FILE *out, struct bench *bench, report_put *put)
{
    size_t count;
    int k_count;
    const int *ks = bench_ks(bench, &k_count);
    const struct metrics_task *tasks = bench_tasks(bench, &count);
    for (int i = 0; i < k_count; i++) {
        size_t few = 0;
        for (size_t t = 0; t < count; t++)
            few += metrics_samples(&tasks[t], ks[i]) < ks[i];
        if (!few)
            continue;
        fprintf(out, "pass@%d: %zu of %zu tasks %s fewer than %d rated samples and %s left out: ", ks[i], few, count,
                few == 1 ? "has" : "have", ks[i], few == 1 ? "is" : "are");
        size_t named = 0;
        for (size_t t = 0; t < count && named < NAMED; t++)
            if (metrics_samples(&tasks[t], ks[i]) < ks[i]) {
                fputs(named++ ? ", " : "", out);
                put(out, tasks[t].name);
                fprintf(out, " (%d)", tasks[t].samples);
            }
        if (few > named)
            fprintf(out, " and %zu more", few - named);
        fputc('\n', out);
    }
}

static json_t *real(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

struct pass_list {
    json_t *list;
    struct pass_table table;
};

static void add_pass_rows(void *closure, const struct bench_group *group)
{
    const struct pass_list *list = closure;
    const struct pass_table *table = &list->table;
    for (int i = 0; i < table->k_count; i++) {
        struct metrics_mean compile = metrics_rate(table->tasks, table->count, METRICS_COMPILE, table->ks[i],
                                                   group->level, group->category),
                            execute = metrics_rate(table->tasks, table->count, METRICS_EXECUTE, table->ks[i],
                                                   group->level, group->category);
        json_array_append_new(list->list,
                              json_pack("{ss si si si so so}", "name", group->name, "k", table->ks[i], "tasks",
                                        compile.tasks, "left_out", group->tasks - compile.tasks, "compile_rate",
                                        real(compile.value), "execution_rate", real(execute.value)));
    }
}

json_t *report_pass_at_k_json(struct bench *bench)
{
    struct pass_list list = {.list = json_array()};
    list.table.ks = bench_ks(bench, &list.table.k_count);
    list.table.tasks = bench_tasks(bench, &list.table.count);
    if (list.table.k_count)
        bench_visit_groups(bench, add_pass_rows, &list);
    return list.list;
}

/* The model. */
static bool has_model(const struct bench *bench)
{
    return bench->settings && *bench->settings;
}

/* "model NAME, url URL, temperature 0.2, ...": the leaves of the settings, but for the model. */
static void put_settings(FILE *out, const json_t *settings, report_put *put, const char **separator)
{
    const char *key;
    json_t *value; /* NOLINT(misc-const-correctness): the macro's */
    json_object_foreach((json_t *)settings, key, value)
    {
        if (strcmp(key, "model") == 0)
            continue;
        if (json_is_object(value)) {
            put_settings(out, value, put, separator);
            continue;
        }
        char *dumped =
            json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
        fputs(*separator, out);
        put(out, key);
        fputc(' ', out);
        put(out, dumped ? dumped : json_string_value(value));
        *separator = ", ";
        free(dumped);
    }
}

/* Why samples have no verdict of theirs, the most frequent reasons first. */
struct reason {
    const char *text;
    int count;
};
enum { REASONS = 64, REASONS_SHOWN = 3 };

static int by_count(const void *left, const void *right)
{
    const struct reason *a = left, *b = right;
    return a->count != b->count ? b->count - a->count : strcmp(a->text, b->text);
}

static int count_reasons(const struct bench *bench, struct reason *reasons)
{
    int count = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        int found = 0;
        if (!row->evaluated || row->kind != AKGEN_VERDICT_INFRA_ERROR || !row->reason)
            continue;
        while (found < count && strcmp(reasons[found].text, row->reason) != 0)
            found++;
        if (found == REASONS)
            continue;
        reasons[found].text = row->reason;
        reasons[found].count++;
        count += found == count;
    }
    qsort(reasons, (size_t)count, sizeof *reasons, by_count);
    return count;
}

void report_write_sampling(FILE *out, const struct bench *bench, report_put *put, const char *end)
{
    const struct sample_totals *totals = &bench->sampled;
    json_t *settings = has_model(bench) ? json_loads(bench->settings, 0, NULL) : NULL;
    const char *model = json_string_value(json_object_get(settings, "model")), *separator = "";
    if (!has_model(bench))
        return;
    if (model) {
        fputs("model ", out);
        put(out, model);
        separator = ", ";
    }
    put_settings(out, settings, put, &separator);
    json_decref(settings);
    fprintf(out,
            "%s%" PRId64 " of %" PRId64 " samples asked for in %" PRId64 " requests: %" PRId64
            " tokens of prompts, %" PRId64 " of answers",
            end, totals->samples, bench->planned ? (int64_t)bench->planned : totals->samples, totals->requests,
            totals->prompt_tokens, totals->completion_tokens);
    if (totals->uncounted)
        fprintf(out, " (without those of %" PRId64 " answers that the server did not count)", totals->uncounted);
    if (totals->cost > 0)
        fprintf(out, ", cost %.4f", totals->cost);
    fputs(end, out);
    if (totals->empty || totals->cut)
        fprintf(out,
                "empty answers: %" PRId64 ", cut at the token limit: %" PRId64 "; the model is to blame, they count%s",
                totals->empty, totals->cut, end);
    struct reason reasons[REASONS] = {0};
    int count = count_reasons(bench, reasons), failed = bench_errors(bench).kinds[AKGEN_VERDICT_INFRA_ERROR];
    if (failed) {
        fprintf(out, "infra_error: %d sample%s of which the model is not to blame, in no figure: ", failed,
                failed == 1 ? "" : "s");
        for (int i = 0; i < count && i < REASONS_SHOWN; i++) {
            char text[200];
            snprintf(text, sizeof text, "%s", reasons[i].text);
            fputs(i ? "; " : "", out);
            put(out, text);
            fprintf(out, " (%d)", reasons[i].count);
        }
        fprintf(out, "%s%s", count > REASONS_SHOWN ? "; and others" : "", end);
    }
    int64_t asked = bench->sampled.samples, lacking = bench->planned - asked, waiting = asked - bench->count;
    if (lacking > 0)
        fprintf(out, "not sampled, and counted as wrong: %" PRId64 " of %d samples%s", lacking, bench->planned, end);
    if (waiting > 0)
        fprintf(out, "not evaluated, and counted as wrong: %" PRId64 " of %d samples%s", waiting, bench->planned, end);
}

json_t *report_sampling_json(const struct bench *bench)
{
    const struct sample_totals *totals = &bench->sampled;
    json_t *settings = has_model(bench) ? json_loads(bench->settings, 0, NULL) : NULL;
    if (!has_model(bench))
        return json_null();
    return json_pack("{so si sI sI sI sI sI sI sI sI sI sf}", "settings", settings ? settings : json_null(), "planned",
                     bench->planned, "asked", (json_int_t)totals->samples, "answered", (json_int_t)totals->answered,
                     "failed", (json_int_t)totals->failed, "empty", (json_int_t)totals->empty, "cut",
                     (json_int_t)totals->cut, "requests", (json_int_t)totals->requests, "uncounted",
                     (json_int_t)totals->uncounted, "prompt_tokens", (json_int_t)totals->prompt_tokens,
                     "completion_tokens", (json_int_t)totals->completion_tokens, "cost", totals->cost);
}
