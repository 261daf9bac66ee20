/* Inside src/cot: the database file as store.c (adding) and store_query.c (asking) use it. */
#ifndef COT_STORE_INTERNAL_H
#define COT_STORE_INTERNAL_H

#include "cot/store.h"

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
/* The split of what has this key, the same for ever. */
enum cot_split cot_split_of(const char *key);

#endif
