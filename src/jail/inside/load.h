/* Loading a candidate's object: first the object, of which nothing runs; then, when the process is closed, what would have
 * run. */
#ifndef JAIL_INSIDE_LOAD_H
#define JAIL_INSIDE_LOAD_H

#include "jail/inside/strip.h"

#include <stdbool.h>

struct object_loaded {
    int fd;       /* of what is to be loaded; -1: none */
    void *handle; /* dlopen's */
    uint64_t base;
    struct initialisers initialisers;
};
/* A stripped copy of the file, to be loaded. NULL, or why not: ours if *broken, else the object's. */
const char *load_prepare(struct arena *arena, const char *path, struct object_loaded *loaded, bool *broken);
/* Loads the copy. NULL, or why not. No descriptor of it is left. */
const char *load_object(struct arena *arena, struct object_loaded *loaded);
/* For a debugger, which looks for the file that was loaded: its initialisers run at once. */
const char *load_for_debugger(struct arena *arena, const char *path, struct object_loaded *loaded);
/* Runs them, in a loader's order. */
void load_initialise(const struct object_loaded *loaded);

#endif
