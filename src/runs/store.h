/* The database of docs/store.md: one SQLite file of one schema, for runs (bench.h, samples.h) and for samples to train on (cot_store.h). */
#ifndef RUNS_STORE_H
#define RUNS_STORE_H

#include "base/error.h"

#include <stdint.h>

struct store;

/* Opens a file to write to, and makes it if it does not exist; "" is a temporary one that ends with the store. A file of an earlier akgen is
 * migrated: it gets this version's schema in one transaction. Errors: another kind of database, one of a newer akgen. */
struct akgen_error *store_open(const char *path, struct store **store);
/* Opens a file that exists to read it. One of an earlier akgen is migrated as well; if it cannot be written, a temporary copy is. */
struct akgen_error *store_open_to_read(const char *path, struct store **store);
void store_close(struct store *store);

/* The findings of a file's runs, as rows. */
enum store_findings {
    STORE_CANDIDATES,  /* verdicts on candidates in Ascend C whose source is stored, by suite, task and candidate */
    STORE_DIAGNOSTICS, /* compile errors of candidates in Ascend C, by run, task and sample */
    STORE_VERDICTS,    /* verdicts, each with the class of its first compile error */
};
/* NULL (line: 0) for what a row does not have. */
struct store_finding {
    const char *suite, *task, *candidate, *source, *profile;
    const char *verdict, *stage, *json; /* json: the whole verdict, docs/verdict.md */
    const char *class, *message, *file; /* of a diagnostic */
    int line;
};
/* Opens a file to read it and calls `take` for each row of one run, or of all with 0. A row lives until `take` returns. */
struct akgen_error *store_each_finding(const char *path, enum store_findings what, int64_t run,
                                       void (*take)(void *closure, const struct store_finding *finding), void *closure);

#endif
