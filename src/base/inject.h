/* Failures on purpose, for tests: the Nth allocation, read or write of the process fails, whoever asks for it. Nobody
 * arms this but a test, or the environment of a program that calls inject_from_environment(). */
#ifndef BASE_INJECT_H
#define BASE_INJECT_H

#include <stdbool.h>

enum inject_point {
    INJECT_MEMORY, /* memory_alloc: arenas, growing texts, JSON */
    INJECT_READ,   /* of files_read: the file ends early */
    INJECT_WRITE,  /* of files_write and of what a jail is given: half of it is written */
    INJECT_KILL,   /* processes that sandbox_spawn starts: as if somebody had killed it */
    INJECT_CRASH,  /* answers that akgen-read reads: as if it had read what is not there */
    INJECT_POINTS
};
/* The `first`th to the `last`th call of inject_fails(point) from now on are true, all others are false. 0: none. */
void inject_arm(enum inject_point point, long first, long last);
/* How often it was asked since. */
long inject_count(enum inject_point point);
/* AKGEN_INJECT=memory:17, read:3, write:2, crash:1, kill:4 or, for several calls, kill:4-6; nothing if it is not set. */
void inject_from_environment(void);

extern bool inject_armed; /* at any point */
bool inject_now(enum inject_point point);
/* True if this call shall fail. */
static inline bool inject_fails(enum inject_point point)
{
    return __builtin_expect(inject_armed, 0) && inject_now(point);
}

#endif
