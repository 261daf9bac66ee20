/* What models answered, in the database (the table `answers`): prompts under their hash, a row a sample. */
#include "runs/samples.h"
#include "runs/store_internal.h"
#include "base/array.h"

#include <string.h>

struct akgen_error *store_add_prompt(struct store *store, const char *hash, const char *messages, int64_t tokens)
{
    struct akgen_error *error = store_begin(store);
    if (!error)
        error = store_run(store, "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?)", "ssi", hash, messages, tokens);
    return store_end(store, error);
}

struct akgen_error *store_add_samples(struct store *store, int64_t run, const struct sample *samples, int count)
{
    struct akgen_error *error = store_begin(store);
    for (int i = 0; i < count && !error; i++)
        error = store_run(
            store, "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "isiiisssssssiiddi", run, samples[i].task, (int64_t)samples[i].sample, (int64_t)samples[i].round,
            (int64_t)samples[i].parent, samples[i].prompt, samples[i].request, samples[i].response, samples[i].answer,
            samples[i].reasoning, samples[i].finish, samples[i].failure, samples[i].prompt_tokens,
            samples[i].completion_tokens, samples[i].cost, samples[i].seconds, (int64_t)samples[i].tries);
    return store_end(store, error);
}

/* Reading. */
static struct sample read_sample(struct arena *arena, sqlite3_stmt *statement)
{
    return (struct sample){
        .task = store_column(arena, statement, 0),
        .sample = sqlite3_column_int(statement, 1),
        .round = sqlite3_column_int(statement, 2),
        .parent = sqlite3_column_int(statement, 3),
        .prompt = store_column(arena, statement, 4),
        .finish = store_column(arena, statement, 5),
        .failure = store_column(arena, statement, 6),
        .prompt_tokens = sqlite3_column_int64(statement, 7),
        .completion_tokens = sqlite3_column_int64(statement, 8),
        .cost = sqlite3_column_double(statement, 9),
        .seconds = sqlite3_column_double(statement, 10),
        .tries = sqlite3_column_int(statement, 11),
        .answer = store_column(arena, statement, 12),
        .reasoning = store_column(arena, statement, 13),
        .request = store_column(arena, statement, 14),
        .response = store_column(arena, statement, 15),
    };
}

#define COLUMNS                                                                                                        \
    "SELECT task, sample, round, parent, prompt, finish, failure, prompt_tokens, completion_tokens, cost, seconds, "   \
    "tries, "
#define ALL_OF_A_RUN " FROM answers WHERE run = ? ORDER BY task, sample"

static struct akgen_error *read_all(struct store *store, const char *sql, int64_t run, struct arena *arena,
                                    struct sample **samples, int *count)
{
    struct akgen_error *error = NULL;
    int capacity = 0;
    *samples = NULL;
    *count = 0;
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = store_query(store, sql, "i", run);
    while (store_next(store, statement, &error))
        ARRAY_ADD(arena, *samples, *count, capacity, read_sample(arena, statement));
    pthread_mutex_unlock(&store->lock);
    return error;
}

struct akgen_error *store_load_samples(struct store *store, int64_t run, struct arena *arena, struct sample **samples,
                                       int *count)
{
    return read_all(store, COLUMNS "answer, reasoning, request, response" ALL_OF_A_RUN, run, arena, samples, count);
}

struct akgen_error *store_list_samples(struct store *store, int64_t run, struct arena *arena, struct sample **samples,
                                       int *count)
{
    return read_all(store, COLUMNS "substr(answer, 1, 0), NULL, NULL, NULL" ALL_OF_A_RUN, run, arena, samples, count);
}

struct akgen_error *store_load_sample(struct store *store, int64_t run, const char *task, int number,
                                      struct arena *arena, struct sample *sample)
{
    static const char sql[] = COLUMNS "answer, reasoning, request, response FROM answers WHERE run = ? AND task = ? AND"
                                      " sample = ?";
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = store_query(store, sql, "isi", run, task, (int64_t)number);
    struct akgen_error *error = NULL;
    bool found = false;
    for (; store_next(store, statement, &error); found = true)
        *sample = read_sample(arena, statement);
    if (!error && !found)
        error = error_new("%s: run %lld has no sample %d of %s", store->path, (long long)run, number, task);
    pthread_mutex_unlock(&store->lock);
    return error;
}

struct akgen_error *store_sample_totals(struct store *store, int64_t run, struct sample_totals *totals)
{
    static const char sql[] = "SELECT prompt_tokens, completion_tokens, cost, answer IS NOT NULL,"
                              " answer IS NOT NULL AND trim(answer, char(9, 10, 11, 12, 13, 32)) = '',"
                              " request IS NOT NULL, finish" ALL_OF_A_RUN;
    struct akgen_error *error = NULL;
    *totals = (struct sample_totals){0};
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = store_query(store, sql, "i", run);
    while (store_next(store, statement, &error)) {
        /* Summed here and in order: the same samples give the same digits. */
        int64_t prompt = sqlite3_column_int64(statement, 0), completion = sqlite3_column_int64(statement, 1);
        const char *finish = (const char *)sqlite3_column_text(statement, 6);
        totals->samples++;
        totals->cost += sqlite3_column_double(statement, 2);
        totals->answered += sqlite3_column_int(statement, 3);
        totals->failed += !sqlite3_column_int(statement, 3);
        totals->empty += sqlite3_column_int(statement, 4);
        totals->cut += finish && strcmp(finish, SAMPLE_CUT) == 0;
        totals->requests += sqlite3_column_int(statement, 5);
        totals->uncounted += sqlite3_column_int(statement, 3) && (prompt < 0 || completion < 0);
        totals->prompt_tokens += prompt > 0 ? prompt : 0;
        totals->completion_tokens += completion > 0 ? completion : 0;
    }
    pthread_mutex_unlock(&store->lock);
    return error;
}
