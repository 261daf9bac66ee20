/* An array that grows in an arena: what it leaves behind when it moves goes with the arena. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/arena.h"

#include <string.h>

enum { ARRAY_FIRST = 16 };

/* Items for which there is room once `capacity` is not enough. */
static inline size_t array_more(size_t capacity)
{
    return capacity ? capacity * 2 : ARRAY_FIRST;
}

/* A copy of `count` items of `size` bytes each, with room for array_more(capacity). */
static inline void *array_move(struct arena *arena, const void *items, size_t count, size_t capacity, size_t size)
{
    void *grown = arena_alloc(arena, array_more(capacity) * size);
    if (count)
        memcpy(grown, items, count * size);
    return grown;
}

/* Appends an item: ARRAY_ADD(arena, list->items, list->count, list->capacity, item). Each argument but the item is
 * evaluated several times; what lies behind the last item is zero. */
#define ARRAY_ADD(arena, items, count, capacity, ...)                                                                  \
    do {                                                                                                               \
        if ((count) == (capacity)) {                                                                                   \
            (items) = array_move(arena, items, (size_t)(count), (size_t)(capacity), sizeof *(items));                  \
            (capacity) = (__typeof__(capacity))array_more((size_t)(capacity));                                         \
        }                                                                                                              \
        (items)[(count)++] = (__VA_ARGS__);                                                                            \
    } while (0)

#endif
