/* Which names a text uses: read once, asked often. Names are kept as numbers; two that had the same would make a text mention
 * what it does not, which costs a compile and changes nothing. */
#include "toolchain/tokens.h"
#include "toolchain/toolchain_internal.h"

#include <string.h>

/* FNV-1a; never 0, which is an empty place. */
static uint64_t number_of(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3;
    return hash ? hash : 1;
}

/* Where a number is or belongs. */
static uint64_t *place_of(const struct mentions *mentions, uint64_t number)
{
    size_t at = number & (mentions->capacity - 1);
    while (mentions->places[at] && mentions->places[at] != number)
        at = (at + 1) & (mentions->capacity - 1);
    return &mentions->places[at];
}

void mentions_add(struct arena *arena, struct mentions *mentions, const char *text)
{
    mentions->pastes |= strstr(text, "##") || strstr(text, "%:%:");
    for (struct token token = token_next(text, 0); token.kind != TOKEN_END; token = token_next(text, token.end)) {
        if (token.kind != TOKEN_NAME)
            continue;
        if (2 * mentions->count >= mentions->capacity) {
            enum { FIRST = 1024 };
            struct mentions old = *mentions;
            mentions->capacity = old.capacity ? 2 * old.capacity : FIRST;
            mentions->places = arena_alloc(arena, mentions->capacity * sizeof *mentions->places);
            for (size_t i = 0; i < old.capacity; i++)
                if (old.places[i])
                    *place_of(mentions, old.places[i]) = old.places[i];
        }
        uint64_t number = number_of(text + token.start, token.end - token.start), *place = place_of(mentions, number);
        mentions->count += !*place;
        *place = number;
    }
}

bool mentions_has(const struct mentions *mentions, const char *identifier)
{
    size_t length = strlen(identifier);
    if (!mentions->count)
        return false;
    for (size_t part = mentions->pastes ? 1 : length; part && part <= length; part++)
        if (*place_of(mentions, number_of(identifier, part)))
            return true;
    return false;
}
