/* Documents in which prompts look things up: the API or the language's reference, and what a user brings along, cut into entries
 * and found by SQLite's full text search. */
#ifndef GEN_LIBRARY_H
#define GEN_LIBRARY_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Read-only once it is open: any number of threads may ask. */
struct gen_library;
/* What goes in. Documents are files (.md, .txt, .html, .htm) and folders of them, at most LIBRARY_LARGEST_FILE bytes each and
 * LIBRARY_LARGEST together; what lies below a folder of `hidden` (real paths, NULL behind the last; NULL: none) is left out. */
struct gen_library_sources {
    const char *api;       /* docs/api.md; NULL: none */
    const char *reference; /* docs/dsl.md; NULL: none */
    const char *const *documents;
    int document_count;
    const char *const *hidden;
};
enum { LIBRARY_LARGEST_FILE = 8 << 20, LIBRARY_LARGEST = 64 << 20, LIBRARY_LARGEST_ENTRY = 2000 };
struct akgen_error *gen_library_open(const struct gen_library_sources *sources, struct gen_library **library);
void gen_library_close(struct gen_library *library);

/* What to look for: names of functions (also as the words that they are made of), and words. */
struct gen_query {
    const char *const *names;
    int name_count;
    const char *const *words;
    int word_count;
};
/* The entries that answer best, one behind the other, best first, until `budget` bytes are full; "" if there are none. Nothing
 * that lies below `hidden` (NULL: nothing). In the arena. */
struct akgen_error *gen_library_find(const struct gen_library *library, struct arena *arena,
                                     const struct gen_query *query, const char *hidden, size_t budget,
                                     const char **text);

#endif
