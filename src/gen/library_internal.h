/* How documents become entries. */
#ifndef GEN_LIBRARY_INTERNAL_H
#define GEN_LIBRARY_INTERNAL_H

#include "gen/library.h"

/* An entry: what it is called, the words that its name is made of, its text, and the file that it is of (NULL: AKGen's own). */
struct library_entry {
    const char *name, *words, *text, *path;
    bool by_name; /* nothing but its name finds it */
};
struct library_entries {
    struct arena *arena;
    struct library_entry *items;
    size_t count, capacity;
    size_t bytes; /* of documents that were read */
};
/* Rows of the tables of docs/api.md: a function each, without the intrinsics behind them. */
struct akgen_error *library_read_api(struct library_entries *entries, const char *path);
/* Rows and sections of docs/dsl.md, without programs. */
struct akgen_error *library_read_reference(struct library_entries *entries, const char *path);
/* A user's file or folder. */
struct akgen_error *library_read_document(struct library_entries *entries, const char *path, const char *const *hidden);
/* "reduce sum" of "ReduceSum", "vsqrt sqrt" of "tl.vsqrt(dst, src)". */
const char *library_words(struct arena *arena, const char *name);
/* The text of a page in HTML: without tags, headings as in Markdown. */
const char *library_text_of_html(struct arena *arena, const char *html, size_t length);

#endif
