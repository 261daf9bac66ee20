/* Inside src/runs: the database file as cot_store.c (adding) and cot_store_query.c (asking) use it. */
#ifndef RUNS_COT_STORE_INTERNAL_H
#define RUNS_COT_STORE_INTERNAL_H

#include "runs/cot_store.h"

#include <pthread.h>
#include <sqlite3.h>

struct cot_store {
    sqlite3 *db;
    char *path;
    pthread_mutex_t lock; /* a transaction is one thread's */
    bool has_words;       /* the full text index */
};

/* What SQLite says of the last call that failed. */
struct akgen_error *cot_error(const struct cot_store *store);
/* The id that the sample has in the store; in the arena. */
const char *cot_sample_id(struct arena *arena, const struct cot_sample *sample);
/* What models answered, by digests of what they were asked (cot_store_asked.c): the table, a look, and one more. *answer is NULL for what was not
 * asked. From any thread. */
struct akgen_error *cot_store_make_asked(struct cot_store *store);
struct akgen_error *cot_store_asked(struct cot_store *store, struct arena *arena, const char *request,
                                    const char **answer);
struct akgen_error *cot_store_keep_asked(struct cot_store *store, const char *request, const char *model,
                                         const char *answer);
/* The split of what has this key, the same for ever. */
enum cot_split cot_split_of(const char *key);

/* A statement without an answer: sql_run() of the store's database. */
struct akgen_error *cot_store_run(struct cot_store *store, const char *sql, const char *types, ...);

#endif
