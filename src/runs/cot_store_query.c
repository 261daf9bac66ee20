/* Queries over training samples: walks and counts with a filter. */
#include "base/array.h"
#include "base/text.h"
#include "runs/cot_store.h"
#include "runs/store_internal.h"

#include <stdlib.h>
#include <string.h>

/* A statement as it is put together: its text, and the texts that its parameters stand for. */
struct asked {
    struct text sql;
    const char *values[16];
    int count;
};

static void add_value(struct asked *asked, const char *condition, const char *value)
{
    if (!value)
        return;
    text_addf(&asked->sql, " AND %s", condition);
    asked->values[asked->count++] = value;
}

/* "part IN ('kernel','project')". The words are our own. */
static void add_words(struct asked *asked, const char *column, unsigned bits, const struct words *words)
{
    if (!bits)
        return;
    text_addf(&asked->sql, " AND %s IN (", column);
    for (int i = 0, more = 0; i < words->count; i++)
        if (bits >> i & 1)
            text_addf(&asked->sql, "%s'%s'", more++ ? "," : "", words->of[i]);
    text_add(&asked->sql, ")");
}

/* Each word in quotes, so that none is an operator of FTS5's language. */
static const char *quoted_words(struct arena *arena, const char *words)
{
    struct text quoted = {0};
    for (const char *at = words + strspn(words, " \t\n"); *at; at += strspn(at, " \t\n")) {
        text_add(&quoted, quoted.length ? " \"" : "\"");
        for (; *at && !strchr(" \t\n", *at); at++)
            text_append(&quoted, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
        text_add(&quoted, "\"");
    }
    const char *copy = arena_strdup(arena, quoted.bytes ? quoted.bytes : "\"\"");
    text_free(&quoted);
    return copy;
}

/* FROM and WHERE of a filter. */
static void add_filter(struct store *store, struct arena *arena, const struct cot_filter *filter, struct asked *asked)
{
    bool ranked = filter->search && store->has_words;
    text_add(&asked->sql,
             ranked ? " FROM words JOIN samples ON samples.number = words.rowid WHERE 1" : " FROM samples WHERE 1");
    if (ranked)
        add_value(asked, "words MATCH ?", quoted_words(arena, filter->search));
    else
        add_value(asked, "instr(question || ' ' || coalesce(chain, '') || ' ' || answer, ?)", filter->search);
    add_words(asked, "part", filter->parts, &cot_parts);
    add_words(asked, "mode", filter->modes, &cot_modes);
    add_words(asked, "split", filter->splits, &cot_splits);
    add_value(asked, "coalesce(json_extract(verdict, '$.verdict'), 'none') = ?", filter->verdict);
    add_value(asked, "licence = ?", filter->licence);
    if (filter->known_licence)
        text_add(&asked->sql, " AND licence <> '" COT_NO_LICENCE "'");
    add_value(asked, "id >= ?", filter->id);
    add_value(asked, "id < ? || 'g'", filter->id);
    add_value(asked, "step = ?", filter->step);
    add_value(asked, "source = ?", filter->source);
}

/* The statement, with its values; NULL on failure. */
static sqlite3_stmt *prepare(struct store *store, struct asked *asked)
{
    sqlite3_stmt *statement = NULL;
    bool right = sqlite3_prepare_v2(store->db, asked->sql.bytes, -1, &statement, NULL) == SQLITE_OK;
    for (int i = 0; right && i < asked->count; i++)
        right = sqlite3_bind_text(statement, i + 1, asked->values[i], -1, SQLITE_TRANSIENT) == SQLITE_OK;
    text_free(&asked->sql);
    if (right)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

/* A word of a column as a value; what no table has (the file was changed by hand) is the first. */
static int value_of(const struct words *words, const char *text)
{
    int value = words_find(words, text);
    return value < 0 ? 0 : value;
}

struct akgen_error *cot_store_each(struct store *store, const struct cot_filter *filter,
                                   struct akgen_error *(*visit)(void *, const struct cot_sample *), void *closure)
{
    struct arena arena = {0};
    struct asked asked = {0};
    text_add(&asked.sql,
             "SELECT id, part, mode, samples.question, samples.chain, samples.answer, verdict, provenance, licence,"
             " graph, split, bytes, tags");
    add_filter(store, &arena, filter, &asked);
    text_addf(&asked.sql, " ORDER BY %s LIMIT %lld", filter->search && store->has_words ? "rank, number" : "number",
              filter->most ? (long long)filter->most : -1LL);
    sqlite3_stmt *statement = prepare(store, &asked);
    struct akgen_error *error = NULL;
    while (store_next(store, statement, &error))
        error = visit(closure,
                      &(struct cot_sample){
                          .id = store_text(statement, 0),
                          .part = (enum cot_part)value_of(&cot_parts, store_text(statement, 1)), // NOLINT: a table's
                          .mode = (enum cot_mode)value_of(&cot_modes, store_text(statement, 2)), // NOLINT
                          .question = store_text(statement, 3),
                          .chain = store_text(statement, 4),
                          .answer = store_text(statement, 5),
                          .verdict = store_text(statement, 6),
                          .provenance = store_text(statement, 7),
                          .licence = store_text(statement, 8),
                          .graph = store_text(statement, 9),
                          .split = (enum cot_split)value_of(&cot_splits, store_text(statement, 10)), // NOLINT
                          .bytes = sqlite3_column_int64(statement, 11),
                          .tags = store_text(statement, 12)});
    arena_free(&arena);
    return error;
}

/* What a row of counts is named after, and a join that makes more than one name of a sample. */
static const struct {
    const char *name, *join;
} counted_by[] = {
    [COT_BY_PART] = {"part", ""},
    [COT_BY_MODE] = {"mode", ""},
    [COT_BY_VERDICT] = {"coalesce(json_extract(verdict, '$.verdict'), 'none')", ""},
    [COT_BY_LICENCE] = {"licence", ""},
    [COT_BY_STEP] = {"step", ""},
    [COT_BY_TAG] = {"tag.value", ", json_each(samples.tags) AS tag"},
};

/* Rows of words in the order of their table. */
static int by_word(const void *a, const void *b, void *words)
{
    const struct cot_count *left = a, *right = b;
    return words_find(words, left->name) - words_find(words, right->name);
}

static void ask_for_drops(const struct cot_filter *filter, struct asked *asked)
{
    text_add(&asked->sql, "SELECT reason, step, sum(count), 0, 0, 0, 0 FROM dropped WHERE 1");
    add_value(asked, "step = ?", filter->step);
    add_value(asked, "source = ?", filter->source);
    text_add(&asked->sql, " GROUP BY step, reason ORDER BY step, sum(count) DESC, reason");
}

static void ask_for_samples(struct store *store, struct arena *arena, const struct cot_filter *filter, enum cot_by by,
                            struct asked *asked)
{
    text_addf(&asked->sql,
              "SELECT %s AS name, NULL, count(*), sum(bytes), sum(split = 'train'), sum(split = 'valid'), "
              "sum(split = 'test') FROM (SELECT samples.*",
              counted_by[by].name);
    add_filter(store, arena, filter, asked);
    text_addf(&asked->sql, ") AS samples%s GROUP BY name ORDER BY name", counted_by[by].join);
}

struct akgen_error *cot_store_count(struct store *store, const struct cot_filter *filter, enum cot_by by,
                                    struct arena *arena, struct cot_count **rows, int *count)
{
    struct asked asked = {0};
    int capacity = 0;
    *rows = NULL;
    *count = 0;
    if (by == COT_BY_DROP)
        ask_for_drops(filter, &asked);
    else
        ask_for_samples(store, arena, filter, by, &asked);
    sqlite3_stmt *statement = prepare(store, &asked);
    struct akgen_error *error = NULL;
    while (store_next(store, statement, &error)) {
        struct cot_count row = {.name = store_column(arena, statement, 0),
                                .below = store_column(arena, statement, 1),
                                .samples = sqlite3_column_int64(statement, 2),
                                .bytes = sqlite3_column_int64(statement, 3)};
        for (int i = 0; i < cot_splits.count; i++)
            row.splits[i] = sqlite3_column_int64(statement, 4 + i);
        ARRAY_ADD(arena, *rows, *count, capacity, row);
    }
    if (*count && (by == COT_BY_PART || by == COT_BY_MODE))
        qsort_r(*rows, (size_t)*count, sizeof **rows, by_word, (void *)(by == COT_BY_PART ? &cot_parts : &cot_modes));
    return error;
}
