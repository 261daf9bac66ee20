/* The runs of the database: written, read. Every verdict is a transaction of its own, so that killing a run loses what was in
 * flight and nothing else. The schema is documented in docs/store.md. */
#include "runs/store_internal.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A text of a file that anybody may have made: "" for NULL, and UTF-8 whatever its bytes are. */
static const char *text_column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    char *copy = arena_strdup(arena, text ? text : "");
    text_make_utf8(copy);
    return copy;
}

/* Writing a run. */
struct akgen_error *store_plan(struct store *store, const struct bench *bench)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < bench->plan_count && !error; i++) {
        const struct bench_planned *planned = &bench->plan[i];
        error = store_run(store, "INSERT OR REPLACE INTO planned VALUES (?, ?, ?, ?, ?)", "isisi", bench->run,
                          planned->task, (int64_t)planned->level, planned->category, (int64_t)planned->samples);
    }
    return error;
}

/* Gives a run of the strict profile that has no salt that of the newest one that has, else a new one. */
static struct akgen_error *choose_salt(struct store *store, struct bench *bench)
{
    static const char newest[] = "SELECT salt FROM runs WHERE salt <> '' ORDER BY id DESC LIMIT 1";
    uint64_t bits[2];
    struct akgen_error *error = NULL;
    if (bench->salt || strcmp(bench->profile, eval_profiles.of[TASK_STRICT]) != 0)
        return NULL;
    sqlite3_stmt *row = store_query(store, newest, "");
    while (store_next(store, row, &error))
        bench->salt = text_column(&bench->arena, row, 0);
    if (!error && bench->salt && !eval_is_salt(bench->salt))
        error = error_new("%s: the salt of its newest run is none; --salt gives another", store->path);
    if (error || bench->salt)
        return error;
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return error_new("no random numbers: %m");
    bench->salt = arena_printf(&bench->arena, "%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
    return NULL;
}

struct akgen_error *store_begin_run(struct store *store, struct bench *bench)
{
    static const char sql[] =
        "INSERT INTO runs (started, akgen, suite, provider, soc, mode, scope, profile, protocol, settings, planned,"
        " baseline, language, salt) VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)";
    struct akgen_error *error = store_begin(store);
    if (!error)
        error = choose_salt(store, bench);
    if (!error)
        error =
            store_run(store, sql, "sssssssssisss", bench->akgen, bench->suite, bench->provider, bench->soc, bench->mode,
                      bench->scope, bench->profile, bench->protocol, bench->settings ? bench->settings : "",
                      (int64_t)bench->planned, bench->baseline, bench->language, bench->salt ? bench->salt : "");
    bench->run = sqlite3_last_insert_rowid(store->db);
    if (!error)
        error = store_plan(store, bench);
    error = store_end(store, error);
    return error ? error : store_own(store, bench->run);
}

/* The rows of a verdict's diagnostics; SQLite reads them from the JSON that it stores. */
static struct akgen_error *add_diagnostics(struct store *store, int64_t run_id, const struct bench_row *row)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO diagnostics SELECT ?, ?, ?, key, json_extract(value, '$.severity'),"
        " json_extract(value, '$.class'), json_extract(value, '$.file'), coalesce(json_extract(value, '$.line'), 0),"
        " json_extract(value, '$.message') FROM json_each(?, '$.compile.diagnostics')";
    struct akgen_error *error = store_run(store, "DELETE FROM diagnostics WHERE run = ? AND task = ? AND sample = ?",
                                          "isi", run_id, row->task, (int64_t)row->sample);
    return error ? error : store_run(store, sql, "isis", run_id, row->task, (int64_t)row->sample, row->verdict);
}

struct akgen_error *store_add(struct store *store, const struct bench *bench, const struct bench_row *row)
{
    struct akgen_error *error = store_begin(store);
    if (!error && !row->verdict)
        error = error_new("out of memory");
    if (!error && row->hash)
        error = store_run(store, "INSERT OR IGNORE INTO candidates VALUES (?, ?)", "ss", row->hash, row->source);
    if (!error)
        error =
            store_run(store, "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "isiisssssiids", bench->run, row->task, (int64_t)row->sample, (int64_t)row->level, row->category,
                      row->hash, akgen_verdict_kind_name(row->kind), akgen_verdict_stage_name(row->stage), row->reason,
                      (int64_t)row->cases_passed, (int64_t)row->cases_total, row->seconds, row->verdict);
    if (!error)
        error = add_diagnostics(store, bench->run, row);
    return store_end(store, error);
}

struct akgen_error *store_end_run(struct store *store, const struct bench *bench)
{
    struct akgen_error *error = store_begin(store);
    if (!error)
        error = store_run(store, "UPDATE runs SET seconds = ? WHERE id = ?", "di", bench->seconds, bench->run);
    return store_end(store, error);
}

/* Reading a run. */
/* The index of a name; `otherwise` if it is none of ours. */
static int name_index(const char *name, const char *(*name_of)(int), int count, int otherwise)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(name, name_of(i)) == 0)
            return i;
    return otherwise;
}

static const char *kind_name(int kind)
{
    return akgen_verdict_kind_name((enum akgen_verdict_kind)kind);
}

static const char *stage_name(int stage)
{
    return akgen_verdict_stage_name((enum akgen_verdict_stage)stage);
}

static char *own_column(sqlite3_stmt *statement, int index)
{
    const char *text = store_text(statement, index);
    return text ? memory_string(text) : NULL;
}

static const char rows_sql[] =
    "SELECT task, sample, level, category, verdict, stage, reason, cases_passed, cases_total,"
    " seconds, json, source FROM verdicts LEFT JOIN candidates ON hash = candidate"
    " WHERE run = ? ORDER BY task, sample";

static struct akgen_error *load_rows(struct store *store, struct bench *bench)
{
    struct akgen_error *error = NULL;
    sqlite3_stmt *statement = store_query(store, rows_sql, "i", bench->run);
    bench->capacity = ARRAY_FIRST; /* from the start: bsearch and qsort take no NULL */
    bench->rows = arena_alloc(&bench->arena, sizeof *bench->rows * ARRAY_FIRST);
    while (store_next(store, statement, &error)) {
        struct bench_row row = {
            .task = text_column(&bench->arena, statement, 0),
            .sample = sqlite3_column_int(statement, 1),
            .level = sqlite3_column_int(statement, 2),
            .category = text_column(&bench->arena, statement, 3),
            .evaluated = true,
            .kind = (enum akgen_verdict_kind)name_index((const char *)sqlite3_column_text(statement, 4), kind_name,
                                                        AKGEN_VERDICT_INFRA_ERROR + 1, AKGEN_VERDICT_INFRA_ERROR),
            .stage = (enum akgen_verdict_stage)name_index((const char *)sqlite3_column_text(statement, 5), stage_name,
                                                          AKGEN_STAGE_COMPARE + 1, AKGEN_STAGE_PARSE),
            .reason = store_column(&bench->arena, statement, 6),
            .cases_passed = sqlite3_column_int(statement, 7),
            .cases_total = sqlite3_column_int(statement, 8),
            .seconds = sqlite3_column_double(statement, 9),
            .source = own_column(statement, 11),
        };
        bench_row_open(&bench->arena, &row, own_column(statement, 10));
        ARRAY_ADD(&bench->arena, bench->rows, bench->count, bench->capacity, row);
        bench_row_bound(bench, &bench->rows[bench->count - 1]);
    }
    return error;
}

static struct akgen_error *load_plan(struct store *store, struct bench *bench)
{
    struct bench_planned *plan = NULL;
    struct akgen_error *error = NULL;
    int capacity = 0;
    sqlite3_stmt *statement = store_query(
        store, "SELECT task, level, category, samples FROM planned WHERE run = ? ORDER BY task", "i", bench->run);
    while (store_next(store, statement, &error)) {
        const struct bench_planned planned = {.task = text_column(&bench->arena, statement, 0),
                                              .level = sqlite3_column_int(statement, 1),
                                              .category = text_column(&bench->arena, statement, 2),
                                              .samples = sqlite3_column_int(statement, 3)};
        ARRAY_ADD(&bench->arena, plan, bench->plan_count, capacity, planned);
    }
    bench->plan = plan;
    return error;
}

struct akgen_error *store_load(struct store *store, int64_t run_id, struct bench *bench)
{
    static const char sql[] = "SELECT id, suite, provider, soc, mode, scope, profile, akgen, protocol, settings, "
                              "baseline, language, salt, seconds, planned FROM"
                              " runs WHERE id = ? OR ? = 0 ORDER BY id DESC LIMIT 1";
    memset(bench, 0, sizeof *bench);
    struct akgen_error *error = NULL;
    sqlite3_stmt *statement = store_query(store, sql, "ii", run_id, run_id);
    while (store_next(store, statement, &error)) {
        const char **texts[] = {&bench->suite,    &bench->provider, &bench->soc,      &bench->mode,
                                &bench->scope,    &bench->profile,  &bench->akgen,    &bench->protocol,
                                &bench->settings, &bench->baseline, &bench->language, &bench->salt};
        bench->run = sqlite3_column_int64(statement, 0);
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
            *texts[i] = text_column(&bench->arena, statement, i + 1);
        bench->seconds = sqlite3_column_double(statement, 13);
        bench->planned = sqlite3_column_int(statement, 14);
    }
    if (!error && !bench->run)
        error = run_id ? error_new("%s has no run %lld", store->path, (long long)run_id)
                       : error_new("%s holds no run", store->path);
    if (!error)
        error = load_rows(store, bench);
    if (!error)
        error = load_plan(store, bench);
    return error || !*bench->settings ? error : store_sample_totals(store, bench->run, &bench->sampled);
}

/* What runs found, for training data that is made of it. */

/* The columns of struct store_finding, in its order. */
static const char *const questions[] = {
    [STORE_CANDIDATES] =
        "SELECT r.suite, v.task, v.candidate, c.source, r.profile, v.verdict, v.stage, v.json, NULL, NULL, NULL, NULL"
        " FROM verdicts v JOIN runs r ON r.id = v.run JOIN candidates c ON c.hash = v.candidate"
        " WHERE c.source IS NOT NULL AND " BENCH_LANGUAGE_SQL " = 'ascendc' AND (?1 = 0 OR v.run = ?1)"
        " ORDER BY r.suite, v.task, v.candidate, v.run, v.sample",
    [STORE_DIAGNOSTICS] =
        "SELECT NULL, task, v.candidate, c.source, NULL, v.verdict, v.stage, v.json, d.class, d.message, d.file, d.line"
        " FROM diagnostics d JOIN verdicts v USING (run, task, sample)"
        " LEFT JOIN candidates c ON c.hash = v.candidate"
        " WHERE d.severity = 'error' AND d.message IS NOT NULL AND " BENCH_LANGUAGE_SQL " = 'ascendc'"
        " AND (?1 = 0 OR run = ?1) ORDER BY run, task, sample, d.number",
    [STORE_VERDICTS] =
        "SELECT NULL, task, candidate, NULL, NULL, verdict, stage, json, (SELECT class FROM diagnostics d"
        " WHERE d.run = v.run AND d.task = v.task AND d.sample = v.sample AND severity = 'error'"
        " ORDER BY number LIMIT 1), NULL, NULL, NULL FROM verdicts v WHERE ?1 = 0 OR run = ?1",
};

struct akgen_error *store_each_finding(const char *path, enum store_findings what, int64_t run,
                                       void (*take)(void *closure, const struct store_finding *finding), void *closure)
{
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(path, &store);
    if (error)
        return error;
    sqlite3_stmt *row = store_query(store, questions[what], "i", run);
    while (store_next(store, row, &error))
        take(closure, &(struct store_finding){.suite = store_text(row, 0),
                                              .task = store_text(row, 1),
                                              .candidate = store_text(row, 2),
                                              .source = store_text(row, 3),
                                              .profile = store_text(row, 4),
                                              .verdict = store_text(row, 5),
                                              .stage = store_text(row, 6),
                                              .json = store_text(row, 7),
                                              .class = store_text(row, 8),
                                              .message = store_text(row, 9),
                                              .file = store_text(row, 10),
                                              .line = sqlite3_column_int(row, 11)});
    store_close(store);
    return error;
}
