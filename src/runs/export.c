/* Exports of runs as queries over the database (docs/store.md), which is read alone.
 *
 * First a temporary table of the answers that were asked for: what each is worth (its grade), or why it is left out. Then one
 * statement chooses the rows. The answers of a task to the same question that deserve the same grade stand in an order that
 * the seed decides, as places 0, 1, .. of two sides; c right answers and r worse ones make c r pairs, in blocks of max(c, r)
 * in each of which every answer of the larger side occurs once and those of the smaller one about equally often. So the first
 * K pairs of a task use as many different answers as there are. Kinds of pairs and questions take turns. */
#include "runs/export.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/arena.h"
#include "runs/store_internal.h"
#include "candidate/answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- One row of an export in each loader's format. Every row of a file has the same keys with values of the same type: the
 * loaders take the columns of a file from its first rows.
 *
 * TRL (docs, "Dataset formats and types"): prompt, completion or chosen and rejected, each a text or a list of messages; or
 * `messages`, all of them. LLaMA-Factory (data/README.md there): alpaca's instruction, input, output, system, of a single
 * question; sharegpt's conversations of human and gpt, system apart. */

/* One answer of a row, as the database has it. */
struct export_answer {
    const char *text, *reasoning; /* reasoning: NULL if the server kept none apart */
    int64_t run, sample;
    const char *verdict, *stage, *model, *akgen;
};
/* A row: a question and one answer, or two of which the first is better. */
struct export_row {
    const char *task, *prompt_hash;
    const json_t *messages; /* the question */
    struct export_answer answers[2];
};

const struct words export_kinds = WORDS(EXPORT_KINDS), export_strategies = WORDS(EXPORT_STRATEGIES),
                   export_formats = WORDS(EXPORT_FORMATS);

/* An answer without what the model thought in it; "" if that never came to an end. */
static const char *export_spoken(struct arena *arena, const char *answer)
{
    int open = 0;
    char *text = arena_strdup(arena, answer);
    return answer_take_thinking(arena, text, &open) ? text + strspn(text, " \t\r\n") : answer;
}

/* What the model is to say. */
static const char *completion(struct arena *arena, const struct export_answer *answer,
                              const struct export_options *options)
{
    if (!options->reasoning)
        return export_spoken(arena, answer->text);
    if (!answer->reasoning || !*answer->reasoning)
        return answer->text;
    /* The form of Qwen3's chat template. */
    return arena_printf(arena, "<think>\n%s\n</think>\n\n%s", answer->reasoning, answer->text);
}

static const char *role_of(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    return role ? role : "";
}

static json_t *content_of(const json_t *message)
{
    json_t *content = json_object_get(message, "content");
    return json_is_string(content) ? json_incref(content) : json_string("");
}

/* The contents of the messages of a role, with empty lines between them. */
static json_t *contents(const json_t *messages, const char *role)
{
    struct text text = {0};
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        const char *content = json_string_value(json_object_get(message, "content"));
        if (content && strcmp(role_of(message), role) == 0)
            text_addf(&text, "%s%s", text.length ? "\n\n" : "", content);
    }
    json_t *result = json_string(text.bytes ? text.bytes : "");
    text_free(&text);
    return result;
}

/* Messages of the keys and roles that a loader has; the system's are left out of sharegpt's, which has a column for them. */
static json_t *renamed(const json_t *messages, bool sharegpt)
{
    json_t *result = json_array();
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        const char *role = role_of(message);
        if (!sharegpt)
            json_array_append_new(result, json_pack("{s:s, s:o}", "role", role, "content", content_of(message)));
        else if (strcmp(role, "system") != 0)
            json_array_append_new(result,
                                  json_pack("{s:s, s:o}", "from", strcmp(role, "assistant") == 0 ? "gpt" : "human",
                                            "value", content_of(message)));
    }
    return result;
}

/* NULL, or why such messages do not fit the format. */
static const char *export_misfit(const json_t *messages, enum export_format format)
{
    int spoken = 0;
    const char *last = "";
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        last = role_of(message);
        if (!*last || !json_is_string(json_object_get(message, "content")))
            return "the prompt is no list of messages";
        spoken += strcmp(last, "system") != 0;
    }
    if (strcmp(last, "user") != 0)
        return "the prompt does not end with a question";
    return format == EXPORT_ALPACA && spoken > 1 ? "alpaca's rows have one question, a repair's prompt has several"
                                                 : NULL;
}

static json_t *plain(const json_t *messages, const struct export_options *options)
{
    char *text = options->plain(messages);
    json_t *result = json_string(text);
    free(text);
    return result;
}

/* The columns of the question. */
static json_t *question(const json_t *messages, const struct export_options *options)
{
    switch (options->format) {
    case EXPORT_TRL:
        return json_pack("{s:o}", "prompt", renamed(messages, false));
    case EXPORT_TRL_TEXT:
        return json_pack("{s:o}", "prompt", plain(messages, options));
    case EXPORT_TRL_MESSAGES:
        return json_pack("{s:o}", "messages", renamed(messages, false));
    case EXPORT_ALPACA:
        return json_pack("{s:o, s:s, s:o}", "instruction", contents(messages, "user"), "input", "", "system",
                         contents(messages, "system"));
    default:
        return json_pack("{s:o, s:o}", "conversations", renamed(messages, true), "system",
                         contents(messages, "system"));
    }
}

/* An answer as the format has it beside the question. */
static json_t *answer_value(const char *text, enum export_format format, bool pair)
{
    if (format == EXPORT_TRL)
        return json_pack("[{s:s, s:s}]", "role", "assistant", "content", text);
    if (format == EXPORT_SHAREGPT && pair)
        return json_pack("{s:s, s:s}", "from", "gpt", "value", text);
    return json_string(text);
}

/* The row as the format has it; owned by the caller. */
static json_t *export_row_json(const struct export_row *row, const struct export_options *options)
{
    static const char *const places[] = {"chosen", "rejected"};
    bool pair = options->what == EXPORT_PREFERENCES;
    struct arena arena = {0};
    json_t *json = question(row->messages, options);
    json_t *provenance = json_pack("{s:s, s:s}", "task", row->task, "prompt", row->prompt_hash);
    for (int i = 0; i <= pair; i++) {
        const char *text = completion(&arena, &row->answers[i], options);
        if (pair)
            json_object_set_new(json, places[i], answer_value(text, options->format, true));
        else {
            /* Puts the only answer of a row in its place. */
            if (options->format == EXPORT_TRL_MESSAGES)
                json_array_append_new(json_object_get(json, "messages"),
                                      json_pack("{s:s, s:s}", "role", "assistant", "content", text));
            else if (options->format == EXPORT_SHAREGPT)
                json_array_append_new(json_object_get(json, "conversations"),
                                      json_pack("{s:s, s:s}", "from", "gpt", "value", text));
            else
                json_object_set_new(json, options->format == EXPORT_ALPACA ? "output" : "completion",
                                    answer_value(text, options->format, false));
        }
        json_object_set_new(provenance, pair ? places[i] : "answer",
                            json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "run", (json_int_t)row->answers[i].run,
                                      "sample", (json_int_t)row->answers[i].sample, "verdict", row->answers[i].verdict,
                                      "stage", row->answers[i].stage, "model", row->answers[i].model, "akgen",
                                      row->answers[i].akgen));
    }
    if (options->provenance)
        json_object_set(json, "provenance", provenance);
    json_decref(provenance);
    arena_free(&arena);
    return json;
}

/* What is left out, in the order in which it is said. */
#define REASONS                                                                                                        \
    "CASE WHEN v.language <> coalesce(:language, v.language) OR (:language IS NULL AND v.language = "                  \
    "'" BENCH_UNKNOWN_LANGUAGE "') THEN 'language ' || v.language || CASE v.language WHEN '" BENCH_UNKNOWN_LANGUAGE    \
    "' THEN ', as an earlier akgen wrote no language (--language " BENCH_UNKNOWN_LANGUAGE " takes them)' ELSE '' END"  \
    " WHEN v.verdict IN ('unsupported', 'infra_error', 'rejected') THEN 'verdict ' || v.verdict"                       \
    " WHEN s.prompt IS NULL THEN 'no prompt and answer are kept (dir:, reference, dsl)'"                               \
    " WHEN s.answer IS NULL THEN 'no answer came'"                                                                     \
    " WHEN NOT is_text(s.answer) OR NOT is_text(s.reasoning) THEN 'the answer is no text (NUL or no UTF-8)'"           \
    " WHEN trim(spoken(s.answer), char(32, 9, 10, 13)) = '' THEN 'the answer is empty'"                                \
    " WHEN NOT json_valid(p.messages) THEN 'the prompt is no list of messages'"                                        \
    " WHEN :first_round AND s.round > 0 THEN 'answers a repair'"                                                       \
    " ELSE misfit(p.messages, :format) END"

/* The grade of an answer is the worst that any of the runs says of its candidate: 2 right, 1 compiles, 0 does not. Its speedup is
 * that over eager, whatever baseline a run has. Texts are looked at in the first part alone, so that none are sorted. */
static const char judged_sql[] =
    "CREATE TEMP TABLE judged AS WITH asked AS MATERIALIZED ("
    " SELECT v.run, v.task, v.sample, s.parent, r.suite || '/' || v.task AS name, v.verdict, v.stage,"
    "  coalesce(v.candidate, digest(s.answer)) AS candidate, s.prompt, v.language, CASE WHEN json_valid(v.json) THEN"
    "  coalesce(json_extract(v.json, '$.eager_speedup'), json_extract(v.json, '$.speedup')) END AS speedup,"
    " " REASONS " AS reason"
    " FROM runs r JOIN (SELECT *, " BENCH_LANGUAGE_SQL
    " AS language FROM verdicts v) v ON v.run = r.id LEFT JOIN answers s ON s.run = v.run AND s.task = v.task AND"
    "  s.sample = v.sample LEFT JOIN prompts p ON p.hash = s.prompt"
    " WHERE (:runs IS NULL OR r.id IN (SELECT value FROM json_each(:runs)))"
    "  AND (:only IS NULL OR EXISTS (SELECT 1 FROM json_each(:only) WHERE v.task GLOB value OR"
    "   r.suite || '/' || v.task GLOB value))"
    "  AND NOT EXISTS (SELECT 1 FROM json_each(:except) WHERE v.task GLOB value OR r.suite || '/' || v.task GLOB "
    "value)),"
    " reasoned AS (SELECT *, CASE WHEN reason IS NULL AND max(verdict = 'rejected') OVER (PARTITION BY name, candidate)"
    "   THEN 'verdict rejected of the same candidate' ELSE reason END AS left_out FROM asked)"
    " SELECT run, task, sample, parent, name, prompt, language, left_out, candidate,"
    "  CASE WHEN left_out IS NULL THEN min(CASE WHEN verdict = 'pass' THEN 2 WHEN stage IN ('tiling', 'run', 'compare')"
    "   THEN 1 ELSE 0 END) OVER (PARTITION BY name, candidate, left_out IS NULL) END AS grade,"
    "  min(speedup) OVER (PARTITION BY name, candidate, left_out IS NULL) AS speedup FROM reasoned";

#define SIDES                                                                                                          \
    "WITH once AS (SELECT *, row_number() OVER (PARTITION BY name, prompt, candidate ORDER BY run, sample) AS copy"    \
    " FROM judged WHERE left_out IS NULL),"                                                                            \
    " sides AS (SELECT *, row_number() OVER (PARTITION BY name, prompt, grade ORDER BY digest(:seed || candidate)) - " \
    "1"                                                                                                                \
    "  AS place, count(*) OVER (PARTITION BY name, prompt, grade) AS size FROM once WHERE copy = 1)"

/* So many times as fast a right answer has to be as another to be better. */
#define FASTER "1.2"

/* Of each answer those that it was made of, directly or through others, which may be wrong ones between. */
#define LINES                                                                                                          \
    ", lines(run, task, sample, made_of) AS ("                                                                         \
    "SELECT run, task, sample, parent FROM judged WHERE :faster AND parent >= 0 UNION"                                 \
    " SELECT l.run, l.task, l.sample, s.parent FROM lines l JOIN answers s ON s.run = l.run AND s.task = l.task AND"   \
    "  s.sample = l.made_of WHERE s.parent >= 0),"                                                                     \
    " made AS (SELECT b.name, w.prompt, b.run AS run0, b.task, b.sample AS sample0, w.run AS run1, w.sample AS"        \
    "  sample1, b.grade AS better, w.grade AS worse, row_number() OVER (PARTITION BY b.name, w.prompt, b.candidate,"   \
    "   w.candidate ORDER BY b.run, b.sample, w.sample) AS copy, digest(:seed || b.candidate || w.candidate) AS "      \
    "chance"                                                                                                           \
    "  FROM lines l JOIN judged b ON b.run = l.run AND b.task = l.task AND b.sample = l.sample"                        \
    "  JOIN judged w ON w.run = l.run AND w.task = l.task AND w.sample = l.made_of"                                    \
    "  WHERE b.left_out IS NULL AND w.left_out IS NULL AND b.grade = 2 AND w.grade = 2 AND"                            \
    "   b.speedup >= " FASTER " * w.speedup AND NOT EXISTS (SELECT 1 FROM sides o WHERE o.name = b.name AND"           \
    "   o.prompt = w.prompt AND o.candidate = b.candidate))"

static const char pairs_sql[] = SIDES LINES
    ", pairs AS (SELECT b.name, b.prompt, b.run AS run0, b.task, b.sample AS sample0, w.run AS run1, w.sample AS "
    "sample1,"
    "  b.grade AS better, w.grade AS worse,"
    "  CASE WHEN b.size <= w.size THEN w.place ELSE b.place END AS turn,"
    "  CASE WHEN b.size <= w.size THEN (b.place - w.place % b.size + b.size) % b.size"
    "   ELSE (w.place - b.place % w.size + w.size) % w.size END * max(b.size, w.size) AS block"
    "  FROM sides b JOIN sides w ON w.name = b.name AND w.prompt = b.prompt AND"
    "  CASE WHEN :faster THEN w.grade = 2 AND b.grade = 2 AND b.speedup >= " FASTER " * w.speedup ELSE"
    "   w.grade < b.grade END"
    "  WHERE :faster OR"
    "   (b.grade = 2 OR :ordered) AND (w.grade = 1 AND :compiled OR w.grade = 0 AND :uncompiled)"
    "  UNION ALL SELECT name, prompt, run0, task, sample0, run1, sample1, better, worse,"
    "   row_number() OVER (PARTITION BY name, prompt ORDER BY chance) - 1, 0 FROM made WHERE copy = 1),"
    " ranked AS (SELECT *, row_number() OVER (PARTITION BY name, prompt, better, worse ORDER BY block + turn) AS rank"
    "  FROM pairs WHERE :per_task = 0 OR block + turn < :per_task),"
    " numbered AS (SELECT *, row_number() OVER (PARTITION BY name ORDER BY rank, better DESC, worse DESC,"
    "  digest(:seed || prompt)) AS number FROM ranked)"
    " SELECT * FROM numbered WHERE :per_task = 0 OR number <= :per_task ORDER BY name, number";

static const char demonstrations_sql[] = SIDES
    ", best AS (SELECT *, row_number() OVER (PARTITION BY name, candidate ORDER BY run, sample) AS again FROM sides"
    "  WHERE grade = 2),"
    " numbered AS (SELECT name, prompt, run AS run0, task, sample AS sample0, run AS run1, sample AS sample1, 2 AS "
    "better,"
    "  2 AS worse, row_number() OVER (PARTITION BY name ORDER BY place, digest(:seed || prompt)) AS number"
    "  FROM best WHERE again = 1)"
    " SELECT * FROM numbered WHERE :per_task = 0 OR number <= :per_task ORDER BY name, number";

/* The texts of the rows, looked up one by one (a CROSS JOIN keeps its order): what was sorted before are keys. A batch at a
 * time, because who writes to the database waits for whoever reads. */
#define ANSWER(n)                                                                                                      \
    ", s" n ".answer, s" n ".reasoning, c.run" n ", c.sample" n ", v" n ".verdict, v" n ".stage, CASE WHEN"            \
    " json_valid(r" n ".settings) THEN json_extract(r" n ".settings, '$.model') END, r" n ".provider, r" n ".akgen"
#define FROM_ANSWER(n)                                                                                                 \
    " CROSS JOIN answers s" n " ON s" n ".run = c.run" n " AND s" n ".task = c.task AND s" n ".sample = c.sample" n    \
    " CROSS JOIN verdicts v" n " ON v" n ".run = c.run" n " AND v" n ".task = c.task AND v" n ".sample = c.sample" n   \
    " CROSS JOIN runs r" n " ON r" n ".id = c.run" n
static const char rows_sql[] = "SELECT c.name, c.prompt, p.messages, c.better, c.worse" ANSWER("0")
    ANSWER("1") " FROM chosen c CROSS JOIN prompts p ON p.hash = c.prompt" FROM_ANSWER("0")
        FROM_ANSWER("1") " WHERE c.rowid > :after AND c.rowid <= :after + 256 ORDER BY c.rowid";

enum { ANSWER_COLUMNS = 9, FIRST_ANSWER = 5, BATCH = 256 };

/* Functions of the statements. */
static const char *argument(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

static void is_text_function(sqlite3_context *call, int count, sqlite3_value **values)
{
    (void)count;
    const char *text = argument(values[0]);
    size_t length = strlen(text);
    json_t *string = json_stringn(text, length); /* NULL where it is no UTF-8 */
    sqlite3_result_int(call, string && (size_t)sqlite3_value_bytes(values[0]) == length);
    json_decref(string);
}

static void spoken_function(sqlite3_context *call, int count, sqlite3_value **values)
{
    (void)count;
    struct arena arena = {0};
    sqlite3_result_text(call, export_spoken(&arena, argument(values[0])), -1, SQLITE_TRANSIENT);
    arena_free(&arena);
}

static void digest_function(sqlite3_context *call, int count, sqlite3_value **values)
{
    (void)count;
    struct arena arena = {0};
    struct digest *digest = digest_new();
    digest_string(digest, argument(values[0]));
    sqlite3_result_text(call, digest_finish(digest, &arena), -1, SQLITE_TRANSIENT);
    arena_free(&arena);
}

static void misfit_function(sqlite3_context *call, int count, sqlite3_value **values)
{
    (void)count;
    json_t *messages = json_loads(argument(values[0]), 0, NULL);
    const char *why = json_is_array(messages)
                          ? export_misfit(messages, (enum export_format)sqlite3_value_int(values[1]))
                          : "the prompt is no list of messages";
    if (why)
        sqlite3_result_text(call, why, -1, SQLITE_STATIC);
    json_decref(messages);
}

static const struct {
    const char *name;
    int arguments;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
    {"is_text", 1, is_text_function},
    {"spoken", 1, spoken_function},
    {"digest", 1, digest_function},
    {"misfit", 2, misfit_function},
};

/* Statements. */
struct export
{
    const struct export_options *options;
    struct store *store;
    FILE *out, *notes;
    struct text batch;     /* rows that are not written yet */
    int64_t chosen, after; /* rows of the table of that name, and how many of them have been looked up */
    int64_t rows;
    int64_t kinds[4]; /* pairs whose worse answer has this grade, of a right one; [3]: those of two that are wrong */
};

/* A JSON array of the globs or runs that an option names; NULL: none. */
static char *list_of(const char *const *texts, const int64_t *numbers, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, texts ? json_string(texts[i]) : json_integer((json_int_t)numbers[i]));
    char *text = count ? json_dumps(list, JSON_COMPACT) : NULL;
    json_decref(list);
    return text;
}

static void bind_number(sqlite3_stmt *statement, const char *name, int64_t value)
{
    int at = sqlite3_bind_parameter_index(statement, name);
    if (at)
        sqlite3_bind_int64(statement, at, value);
}

static void bind_text(sqlite3_stmt *statement, const char *name, const char *text)
{
    int at = sqlite3_bind_parameter_index(statement, name);
    if (at && text)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_list(sqlite3_stmt *statement, const char *name, char *list)
{
    bind_text(statement, name, list);
    free(list);
}

/* A statement with all of the options that it names. NULL: sqlite3_errmsg says why. */
static sqlite3_stmt *prepare(const struct export *export, const char *sql)
{
    const struct export_options *options = export->options;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(export->store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    bind_list(statement, ":runs", list_of(NULL, options->runs, options->run_count));
    bind_list(statement, ":only", list_of(options->only, NULL, options->only_count));
    bind_list(statement, ":except", list_of(options->except, NULL, options->except_count));
    bind_text(statement, ":language", options->language);
    bind_number(statement, ":first_round", options->first_round);
    bind_number(statement, ":format", options->format);
    bind_number(statement, ":after", export->after);
    bind_number(statement, ":seed", options->seed);
    bind_number(statement, ":per_task", options->per_task);
    bind_number(statement, ":ordered", options->strategy == EXPORT_ORDERED);
    bind_number(statement, ":faster", options->what == EXPORT_PREFERENCES && options->strategy == EXPORT_FASTER);
    bind_number(statement, ":compiled", options->strategy != EXPORT_UNCOMPILED);
    bind_number(statement, ":uncompiled", options->strategy != EXPORT_COMPILED);
    return statement;
}

/* Runs a statement; `row` is called for each of its rows until it returns an error. */
static struct akgen_error *each_row(struct export *export, const char *sql,
                                    struct akgen_error *(*row)(struct export *, sqlite3_stmt *))
{
    struct akgen_error *error = NULL;
    sqlite3_stmt *statement = prepare(export, sql);
    while (store_next(export->store, statement, &error))
        error = row ? row(export, statement) : NULL;
    return error;
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = store_text(statement, column);
    return text ? text : "";
}

static struct akgen_error *add_row(struct export *export, sqlite3_stmt *statement)
{
    json_t *messages = json_loads(text_at(statement, 2), 0, NULL);
    struct export_row row = {.task = text_at(statement, 0), .prompt_hash = text_at(statement, 1), .messages = messages};
    int better = sqlite3_column_int(statement, 3), worse = sqlite3_column_int(statement, 4);
    for (int i = 0; i < 2; i++) {
        /* Rows. */
        int from = FIRST_ANSWER + i * ANSWER_COLUMNS;
        const char *model = store_text(statement, from + 6);
        row.answers[i] = (struct export_answer){
            .text = text_at(statement, from),
            .reasoning = store_text(statement, from + 1),
            .run = sqlite3_column_int64(statement, from + 2),
            .sample = sqlite3_column_int64(statement, from + 3),
            .verdict = text_at(statement, from + 4),
            .stage = text_at(statement, from + 5),
            .model = model ? model : text_at(statement, from + 7),
            .akgen = text_at(statement, from + 8),
        };
    }
    json_t *json = export_row_json(&row, export->options);
    char *text = json_dumps(json, JSON_COMPACT);
    if (text)
        text_addf(&export->batch, "%s\n", text);
    struct akgen_error *error = text ? NULL : error_new("a row of %s cannot be written as JSON", row.task);
    free(text);
    json_decref(json);
    json_decref(messages);
    export->rows++;
    export->kinds[better == 2 ? worse : 3]++;
    return error;
}

/* Notes: what became of tasks and samples. */
static struct akgen_error *note_run(struct export *export, sqlite3_stmt *statement)
{
    fprintf(export->notes, "run %lld: %s, %s%s\n", (long long)sqlite3_column_int64(statement, 0), text_at(statement, 1),
            text_at(statement, 2),
            sqlite3_column_type(statement, 3) == SQLITE_NULL ? "; it has no end yet: what is there is taken" : "");
    return NULL;
}

static struct akgen_error *note_left_out(struct export *export, sqlite3_stmt *statement)
{
    fprintf(export->notes, "left out %lld: %s\n", (long long)sqlite3_column_int64(statement, 1), text_at(statement, 0));
    return NULL;
}

static struct akgen_error *note_without(struct export *export, sqlite3_stmt *statement)
{
    fprintf(export->notes, "%lld tasks without rows, %s: %s\n", (long long)sqlite3_column_int64(statement, 1),
            text_at(statement, 0), text_at(statement, 2));
    return NULL;
}

static struct akgen_error *note_sums(struct export *export, sqlite3_stmt *statement)
{
    long long tasks = sqlite3_column_int64(statement, 0), with = sqlite3_column_int64(statement, 1);
    fprintf(export->notes, "%lld rows of %lld tasks, of %lld that were asked for", (long long)export->rows, with,
            tasks);
    if (export->options->what == EXPORT_PREFERENCES)
        fprintf(export->notes, "; the worse answer compiles in %lld, does not in %lld, both are wrong in %lld",
                (long long)export->kinds[1], (long long)export->kinds[0], (long long)export->kinds[3]);
    if (export->options->what == EXPORT_PREFERENCES && export->options->strategy == EXPORT_FASTER)
        fprintf(export->notes, ", is right and slower in %lld", (long long)export->kinds[2]);
    fputc('\n', export->notes);
    return tasks ? NULL : error_new("%s has no verdict of such runs and tasks", export->store->path);
}

/* Why a task has no row: it has no usable answer, no right one, nothing but right ones, or none to the same question. */
static const char without_sql[] =
    "SELECT CASE WHEN NOT sum(left_out IS NULL) THEN 'no answer is left'"
    "  WHEN NOT sum(grade IS 2) THEN 'no answer is right'"
    "  WHEN :faster THEN 'no right answer is " FASTER " times as fast as another to the same question'"
    "  WHEN NOT sum(grade IS 0 OR grade IS 1) THEN 'every answer is right'"
    "  ELSE 'no worse answer of this kind to the same question' END AS why, name"
    " FROM judged WHERE name NOT IN (SELECT name FROM chosen) GROUP BY name";

static struct akgen_error *write_notes(struct export *export)
{
    struct akgen_error *error = each_row(export,
                                         "SELECT id, provider, started, seconds FROM runs WHERE id IN (SELECT run FROM"
                                         " judged) ORDER BY id",
                                         note_run);
    if (!error)
        error = each_row(
            export, "SELECT left_out, count(*) FROM judged WHERE left_out IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
            note_left_out);
    struct text sql = {0};
    text_addf(&sql,
              "SELECT why, count(*), group_concat(name, ' ') FROM (%s ORDER BY name) GROUP BY 1 ORDER BY 2 DESC, 1",
              without_sql);
    if (!error)
        error = each_row(export, sql.bytes, note_without);
    text_free(&sql);
    if (!error)
        error = each_row(export, "SELECT count(DISTINCT name), (SELECT count(DISTINCT name) FROM chosen) FROM judged",
                         note_sums);
    return error;
}

/* Gives the store the functions of the statements. */
static struct akgen_error *add_functions(struct export *export)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (sqlite3_create_function(export->store->db, functions[i].name, functions[i].arguments,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, functions[i].call, NULL,
                                    NULL) != SQLITE_OK)
            return store_error(export->store);
    return store_run(export->store, "PRAGMA temp_store = MEMORY", "");
}

/* An error that names the first run that is asked for and not there. */
static struct akgen_error *check_runs(const struct export *export)
{
    for (int i = 0; i < export->options->run_count; i++)
        if (!store_number(export->store, 0, "SELECT 1 FROM runs WHERE id = ?", "i", export->options->runs[i]))
            return error_new("%s has no run %lld", export->store->path, (long long)export->options->runs[i]);
    return NULL;
}

/* An error if the rows are of several languages. */
static struct akgen_error *check_languages(struct export *export, sqlite3_stmt *statement)
{
    if (sqlite3_column_int(statement, 0) < 2)
        return NULL;
    return error_new("%s holds answers in several languages (%s), and an export is of one: --language names it",
                     export->store->path, text_at(statement, 1));
}

struct akgen_error *export_write(struct store *store, const struct export_options *options, FILE *out, FILE *notes)
{
    struct export export = {.options = options, .store = store, .out = out, .notes = notes};
    struct text chosen = {0};
    text_addf(&chosen, "CREATE TEMP TABLE chosen AS %s",
              options->what == EXPORT_PREFERENCES ? pairs_sql : demonstrations_sql);
    struct akgen_error *error = add_functions(&export);
    if (!error)
        error = check_runs(&export);
    if (!error)
        error = each_row(&export, judged_sql, NULL);
    if (!error)
        error =
            each_row(&export,
                     "SELECT count(*), group_concat(language, ', ') FROM (SELECT DISTINCT language FROM judged WHERE"
                     " left_out IS NULL ORDER BY 1)",
                     check_languages);
    if (!error)
        error = each_row(&export, chosen.bytes, NULL);
    if (!error) {
        export.chosen = store_number(export.store, -1, "SELECT count(*) FROM chosen", "");
        error = export.chosen < 0 ? store_error(export.store) : NULL;
        for (; !error && export.after < export.chosen; export.after += BATCH) {
            error = each_row(&export, rows_sql, add_row);
            if (!error && fwrite(export.batch.bytes, 1, export.batch.length, export.out) != export.batch.length)
                error = error_new("cannot write the rows: %m");
            text_free(&export.batch);
        }
    }
    if (!error)
        error = write_notes(&export);
    text_free(&chosen);
    return error;
}
