/* Going on with a run of the database: which one it is, what differs where it is none, and what it has already. */
#include "runs/store_internal.h"

#include <stdlib.h>
#include <string.h>

/* Of a run that samples a model the end is no end while samples lack a verdict: limits, interruptions and servers that failed
 * leave such, and so does who now wants more samples (the parameter). */
#define UNFINISHED                                                                                                     \
    "(seconds IS NULL OR (settings <> '' AND max(planned, ?) > (SELECT count(*) FROM verdicts"                         \
    " WHERE run = id AND verdict <> 'infra_error')))"

static int64_t find_unfinished(struct store *store, const struct bench *bench)
{
    static const char sql[] =
        "SELECT id FROM runs WHERE " UNFINISHED " AND suite = ? AND provider = ? AND soc = ? AND"
        " mode = ? AND scope = ? AND profile = ? AND protocol = ? AND settings = ? AND baseline = ?"
        " AND language = ? AND salt = coalesce(?, salt)"
        " ORDER BY id DESC LIMIT 1";
    return store_number(store, 0, sql, "isssssssssss", (int64_t)bench->planned, bench->suite, bench->provider,
                        bench->soc, bench->mode, bench->scope, bench->profile, bench->protocol,
                        bench->settings ? bench->settings : "", bench->baseline, bench->language, bench->salt);
}

/* What differs. */
struct differences {
    struct arena *arena;
    const char *text; /* "soc (Ascend910B1, now Ascend910B2), model ("a", now "b")" */
};

static void add_difference(struct differences *differences, const char *name, const char *was, const char *now)
{
    enum { SHOWN = 80 };
    differences->text =
        arena_printf(differences->arena, "%s%s%s (%.*s, now %.*s)", differences->text, *differences->text ? ", " : "",
                     name, SHOWN, was && *was ? was : "none", SHOWN, now && *now ? now : "none");
}

static const char *value_text(struct arena *arena, const json_t *value)
{
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    const char *text = dumped ? arena_strdup(arena, dumped) : "none";
    free(dumped);
    return text;
}

static void compare_values(struct differences *differences, const char *path, const json_t *was, const json_t *now)
{
    const char *key;
    json_t *value; /* NOLINT(misc-const-correctness): the macro's */
    if (was && now && json_equal(was, now))
        return;
    if (!json_is_object(was) || !json_is_object(now)) {
        add_difference(differences, *path ? path : "settings", value_text(differences->arena, was),
                       value_text(differences->arena, now));
        return;
    }
    const char *dot = *path ? "." : "";
    json_object_foreach((json_t *)was, key, value)
    {
        compare_values(differences, arena_printf(differences->arena, "%s%s%s", path, dot, key), value,
                       json_object_get(now, key));
    }
    json_object_foreach((json_t *)now, key, value)
    {
        if (!json_object_get(was, key))
            compare_values(differences, arena_printf(differences->arena, "%s%s%s", path, dot, key), NULL, value);
    }
}

static void compare_settings(struct differences *differences, const char *was, const char *now)
{
    json_t *before = json_loads(was, 0, NULL), *after = json_loads(now, 0, NULL);
    if (before && after)
        compare_values(differences, "", before, after);
    else if (strcmp(was, now) != 0)
        add_difference(differences, "settings", was, now);
    json_decref(before);
    json_decref(after);
}

/* Fills in what differs from the newest unfinished run, whose number it returns; 0: there is none. */
static int64_t compare_newest(struct store *store, const struct bench *bench, struct differences *differences)
{
    static const char sql[] =
        "SELECT id, suite, provider, soc, mode, scope, profile, protocol, baseline, language, salt, settings FROM"
        " runs WHERE " UNFINISHED " ORDER BY id DESC LIMIT 1";
    static const char *const names[] = {"suite",   "provider", "soc",      "mode",     "scope",
                                        "profile", "protocol", "baseline", "language", "salt"};
    const char *const now[] = {bench->suite,   bench->provider, bench->soc,      bench->mode,     bench->scope,
                               bench->profile, bench->protocol, bench->baseline, bench->language, bench->salt};
    int64_t run = 0;
    sqlite3_stmt *statement = store_query(store, sql, "i", (int64_t)bench->planned);
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
        run = sqlite3_column_int64(statement, 0);
        for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
            const char *was = store_column(differences->arena, statement, i + 1);
            if (was && now[i] && strcmp(was, now[i]) != 0)
                add_difference(differences, names[i], was, now[i]);
        }
        compare_settings(differences, store_column(differences->arena, statement, 11),
                         bench->settings ? bench->settings : "");
    }
    sqlite3_finalize(statement);
    return run;
}

/* Taking what is there. */
static int by_name(const void *left, const void *right)
{
    const struct bench_row *a = left, *b = right;
    int order = strcmp(a->task, b->task);
    return order ? order : (a->sample > b->sample) - (a->sample < b->sample);
}

/* Copies what the database knows of a row; task, definition and path stay. */
static void take_row(struct bench_row *row, struct bench_row *stored)
{
    struct bench_row merged = *stored;
    merged.task = row->task;
    merged.category = row->category;
    merged.definition = row->definition;
    merged.path = row->path;
    *row = merged;
    stored->verdict = stored->source = NULL;
}

struct akgen_error *store_resume(struct store *store, struct bench *bench)
{
    struct bench earlier;
    int64_t found = find_unfinished(store, bench);
    if (!found) {
        struct differences differences = {&bench->arena, ""};
        int64_t run = compare_newest(store, bench, &differences);
        return !run ? error_new("%s has no unfinished run with these settings", store->path)
                    : error_new("%s has no unfinished run with these settings: run %lld differs in %s", store->path,
                                (long long)run, differences.text);
    }
    struct akgen_error *error = store_own(store, found);
    if (error)
        return error;
    error = store_load(store, found, &earlier);
    bench->run = found;
    bench->seconds = earlier.seconds;
    bench->salt = !error && *earlier.salt ? earlier.salt : NULL;
    if (bench->salt && !eval_is_salt(bench->salt))
        error = error_new("%s: the salt of run %lld is none", store->path, (long long)found);
    if (!error) {
        for (int i = 0; i < bench->count; i++) {
            struct bench_row *row = &bench->rows[i], *stored;
            if (row->evaluated ||
                !(stored = bsearch(row, earlier.rows, (size_t)earlier.count, sizeof *stored, by_name)) ||
                (earlier.settings && *earlier.settings && stored->kind == AKGEN_VERDICT_INFRA_ERROR))
                continue;
            take_row(row, stored);
        }
    }
    bench->source_bytes = earlier.source_bytes;
    for (int j = 0; j < earlier.count; j++)
        bench_row_free(&earlier.rows[j]);
    arena_adopt(&bench->arena, &earlier.arena);
    if (error || (error = store_begin(store)))
        return error;
    if (bench->planned > earlier.planned)
        error = store_run(store, "UPDATE runs SET planned = ? WHERE id = ?", "ii", (int64_t)bench->planned, found);
    return store_end(store, error ? error : store_plan(store, bench));
}
