#include "base/strings.h"
#include "base/array.h"

#include <string.h>
#include <xxhash.h>

static size_t strings_slot(const struct strings *strings, const void *bytes, size_t length)
{
    size_t slot = XXH3_64bits(bytes, length) & strings->mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->mask) {
        const struct string *string = &strings->items[strings->slots[slot] - 1];
        if (string->length == length && memcmp(string->at, bytes, length) == 0)
            break;
    }
    return slot;
}

int strings_number(struct arena *arena, struct strings *strings, const void *bytes, size_t length)
{
    if (2 * (size_t)strings->count >= strings->mask) {
        strings->mask = 4 * strings->mask + 3;
        strings->slots = arena_alloc(arena, (strings->mask + 1) * sizeof *strings->slots);
        for (int i = 0; i < strings->count; i++)
            strings->slots[strings_slot(strings, strings->items[i].at, strings->items[i].length)] = (uint32_t)i + 1;
    }
    size_t slot = strings_slot(strings, bytes, length);
    if (!strings->slots[slot]) {
        char *copy = arena_alloc(arena, length + 1);
        memcpy(copy, bytes, length);
        ARRAY_ADD(arena, strings->items, strings->count, strings->capacity,
                  (struct string){.at = copy, .length = length});
        strings->slots[slot] = (uint32_t)strings->count;
    }
    return (int)strings->slots[slot] - 1;
}

int strings_find(const struct strings *strings, const void *bytes, size_t length)
{
    return strings->slots ? (int)strings->slots[strings_slot(strings, bytes, length)] - 1 : -1;
}
