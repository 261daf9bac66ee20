/* Findings of runs, for training data. */
#include "runs/store_internal.h"

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
