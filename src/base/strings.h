/* A set of strings of bytes, each with a number: 0, 1, .. in the order in which they came. */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct string {
    const char *at; /* a NUL stands behind it */
    size_t length;
    bool marked; /* the caller's */
};
/* Zero-initialise it; what it holds lives in the arena that it is filled with. */
struct strings {
    struct string *items;
    int count, capacity;
    uint32_t *slots; /* open addressing: a number + 1, 0 is free */
    size_t mask;
};
/* The number of a string, which is `count` as it was before if the string is new. */
int strings_number(struct arena *arena, struct strings *strings, const void *bytes, size_t length);
/* -1: it is not in the set. */
int strings_find(const struct strings *strings, const void *bytes, size_t length);

#endif
