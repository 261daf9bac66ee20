/* A candidate's shared object, made fit for loading: nothing in it runs while the dynamic loader has it in hand, so it can be
 * loaded before the process is closed by a filter that knows no exception. Its lists of initialisers are taken out of
 * the loader's sight and called by us afterwards (load.h); an object that could run anything besides, draw in another
 * one, or have the loader write outside of it is refused. */
#ifndef JAIL_INSIDE_STRIP_H
#define JAIL_INSIDE_STRIP_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct initialisers { /* addresses in the file, in the order in which a loader calls them */
    uint64_t init;    /* a function; 0: none */
    uint64_t list;    /* of `count` pointers */
    uint64_t count;
};
/* Edits the bytes of an ELF file in place. NULL, or why the object is refused: "a function chosen when it is loaded
 * ('f')". What is wrong is in the arena. */
const char *strip(struct arena *arena, void *bytes, size_t length, struct initialisers *found);

#endif
