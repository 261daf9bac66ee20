#include "base/arena.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

enum { ARENA_FIRST = 4 * 1024, ARENA_CHUNK = 64 * 1024 }; /* each chunk is twice the last; most arenas stay small */

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - ARENA_CHUNK)
        memory_exhausted(bytes);
    bytes = (bytes + 15) & ~(size_t)15;
    struct arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t size = chunk ? 2 * chunk->size : ARENA_FIRST;
        if (size > ARENA_CHUNK)
            size = ARENA_CHUNK;
        if (size < bytes)
            size = bytes;
        chunk = memory_alloc(sizeof *chunk + size);
        chunk->size = size;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *result = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return result;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void *arena_copy(struct arena *arena, const void *from, size_t bytes)
{
    void *copy = arena_alloc(arena, bytes ? bytes : 1);
    if (bytes)
        memcpy(copy, from, bytes);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    char line[256]; /* most are shorter */
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    char *text = arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1);
    if (length >= (int)sizeof line)
        vsnprintf(text, (size_t)length + 1, format, again);
    else if (length > 0)
        memcpy(text, line, (size_t)length);
    va_end(again);
    return text;
}

void arena_adopt(struct arena *arena, struct arena *from)
{
    struct arena_chunk **end = &arena->chunks;
    while (*end)
        end = &(*end)->next;
    *end = from->chunks;
    from->chunks = NULL;
}

void arena_free(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
