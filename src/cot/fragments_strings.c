/* Strings by number. */
#include "base/array.h"
#include "base/memory.h"
#include "cot/fragments_internal.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void cot_strings_free(struct cot_strings *strings)
{
    arena_free(&strings->arena);
    free(strings->slots);
}

static size_t slot_of(const struct cot_strings *strings, const char *bytes, size_t length)
{
    size_t slot = XXH3_64bits(bytes, length) & strings->mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->mask) {
        const struct cot_string *string = &strings->items[strings->slots[slot] - 1];
        if (string->length == length && memcmp(string->at, bytes, length) == 0)
            break;
    }
    return slot;
}

static void make_room(struct cot_strings *strings)
{
    strings->mask = 4 * strings->mask + 3;
    free(strings->slots);
    strings->slots = memory_alloc((strings->mask + 1) * sizeof *strings->slots);
    for (int i = 0; i < strings->count; i++)
        strings->slots[slot_of(strings, strings->items[i].at, strings->items[i].length)] = (uint32_t)i + 1;
}

int cot_strings_number(struct cot_strings *strings, const char *bytes, size_t length)
{
    if (2 * (size_t)strings->count >= strings->mask)
        make_room(strings);
    size_t slot = slot_of(strings, bytes, length);
    if (!strings->slots[slot]) {
        char *copy = arena_alloc(&strings->arena, length + 1);
        memcpy(copy, bytes, length);
        ARRAY_ADD(&strings->arena, strings->items, strings->count, strings->capacity,
                  (struct cot_string){.at = copy, .length = length});
        strings->slots[slot] = (uint32_t)strings->count;
    }
    return (int)strings->slots[slot] - 1;
}

int cot_strings_joined(struct cot_strings *strings, int left, int right)
{
    const struct cot_string a = strings->items[left], b = strings->items[right];
    char *both = memory_alloc(a.length + b.length + 1);
    memcpy(both, a.at, a.length);
    memcpy(both + a.length, b.at, b.length);
    int number = cot_strings_number(strings, both, a.length + b.length);
    free(both);
    return number;
}

void cot_strings_mark(struct cot_strings *strings, int number)
{
    strings->items[number].marked = true;
}
