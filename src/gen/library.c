/* A table in memory with a full text index over names, the words they are made of, and texts. */
#include "gen/library.h"
#include "base/memory.h"
#include "base/text.h"
#include "gen/library_internal.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct gen_library {
    sqlite3 *database;
};

static struct akgen_error *failure(sqlite3 *database)
{
    return error_new("the index of documents: %s", database ? sqlite3_errmsg(database) : "no memory");
}

static struct akgen_error *fill(sqlite3 *database, const struct library_entries *entries)
{
    sqlite3_stmt *insert = NULL;
    bool good =
        sqlite3_exec(database,
                     "CREATE VIRTUAL TABLE entries USING fts5(name, words, text, shown UNINDEXED, path UNINDEXED, "
                     "tokenize = 'unicode61'); BEGIN",
                     NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "INSERT INTO entries VALUES (?, ?, ?, ?, ?)", -1, &insert, NULL) == SQLITE_OK;
    for (size_t i = 0; good && i < entries->count; i++) {
        const struct library_entry *entry = &entries->items[i];
        const char *columns[] = {entry->name, entry->words, entry->by_name ? "" : entry->text, entry->text,
                                 entry->path};
        for (int c = 0; c < 5; c++)
            sqlite3_bind_text(insert, c + 1, columns[c], -1, SQLITE_STATIC);
        good = sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    good = good && sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    return good ? NULL : failure(database);
}

struct akgen_error *gen_library_open(const struct gen_library_sources *sources, struct gen_library **library)
{
    struct arena arena = {0};
    struct library_entries entries = {.arena = &arena};
    struct akgen_error *error = NULL;
    *library = memory_alloc(sizeof **library);
    if (sources->api)
        error = library_read_api(&entries, sources->api);
    if (!error && sources->reference)
        error = library_read_reference(&entries, sources->reference);
    for (int i = 0; i < sources->document_count && !error; i++)
        error = library_read_document(&entries, sources->documents[i], sources->hidden);
    if (!error && sqlite3_open_v2(":memory:", &(*library)->database,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL))
        error = failure((*library)->database);
    if (!error)
        error = fill((*library)->database, &entries);
    arena_free(&arena);
    if (error) {
        gen_library_close(*library);
        *library = NULL;
    }
    return error;
}

void gen_library_close(struct gen_library *library)
{
    if (!library)
        return;
    sqlite3_close(library->database);
    free(library);
}

/* `column : ("a" OR "b c")` of terms; nothing but letters, digits and underscores gets into the quotes. */
static void add_terms(struct text *match, const char *column, const char *const *terms, int count, bool split,
                      struct arena *arena)
{
    for (int i = 0; i < count; i++) {
        const char *term = split ? library_words(arena, terms[i]) : terms[i];
        bool any = false;
        for (const char *c = term; *c; c++)
            any |= isalnum((unsigned char)*c) || (*c & 0x80);
        if (!any)
            continue;
        text_addf(match, "%s%s : \"", match->length ? " OR " : "", column);
        for (const char *c = term; *c; c++)
            text_append(match, isalnum((unsigned char)*c) || *c == '_' || (*c & 0x80) ? c : " ", 1);
        text_add(match, "\"");
    }
}

static bool lies_below(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    return path && length && strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* Names count most, then the words they are made of, then what is in the text. */
static const char question[] =
    "SELECT shown, path FROM entries WHERE entries MATCH ? ORDER BY bm25(entries, 20, 8, 1), rowid";

struct akgen_error *gen_library_find(const struct gen_library *library, struct arena *arena,
                                     const struct gen_query *query, const char *hidden, size_t budget,
                                     const char **text)
{
    struct text match = {0}, found = {0};
    sqlite3_stmt *select = NULL;
    struct akgen_error *error = NULL;
    *text = "";
    add_terms(&match, "name", query->names, query->name_count, false, arena);
    add_terms(&match, "words", query->names, query->name_count, true, arena);
    add_terms(&match, "name", query->words, query->word_count, false, arena);
    add_terms(&match, "words", query->words, query->word_count, false, arena);
    add_terms(&match, "text", query->words, query->word_count, false, arena);
    if (!match.length)
        return NULL;
    int step = sqlite3_prepare_v2(library->database, question, -1, &select, NULL);
    if (step == SQLITE_OK)
        sqlite3_bind_text(select, 1, match.bytes, (int)match.length, SQLITE_STATIC);
    while (select && (step = sqlite3_step(select)) == SQLITE_ROW) {
        const char *entry = (const char *)sqlite3_column_text(select, 0);
        if (lies_below((const char *)sqlite3_column_text(select, 1), hidden))
            continue;
        if (found.length + strlen(entry) + 1 <= budget) /* a shorter one may still fit */
            text_addf(&found, "%s\n", entry);
    }
    if (step != SQLITE_DONE)
        error = failure(library->database);
    sqlite3_finalize(select);
    while (found.length && found.bytes[found.length - 1] == '\n')
        found.length--;
    if (found.length)
        *text = arena_strndup(arena, found.bytes, found.length);
    text_free(&match);
    text_free(&found);
    return error;
}
