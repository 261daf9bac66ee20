/* A bump allocator for what lives as long as one request: allocate freely, release once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks; /* newest first; zero-initialise the struct before first use */
};

/* Zeroed memory, aligned to 16 bytes, valid until arena_free. Ends the process when the system has
 * none (base/memory.h). */
void *arena_alloc(struct arena *arena, size_t bytes) __attribute__((returns_nonnull));
/* A copy of a string, or of its first `length` bytes. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
/* A copy of `bytes` bytes; not NULL for none. */
void *arena_copy(struct arena *arena, const void *from, size_t bytes);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Moves everything that `from` owns into `arena`; `from` is empty afterwards. For arenas filled by threads. */
void arena_adopt(struct arena *arena, struct arena *from);
/* Releases everything; the arena can be used again. */
void arena_free(struct arena *arena);

#endif
