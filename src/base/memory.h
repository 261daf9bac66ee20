/* Memory, or the end: nothing that AKGen does goes on without it. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MEMORY_EXIT = 3 }; /* the exit code of our own failures */

/* Zeroed memory, released with free(). Where the system has none the process says so and ends with MEMORY_EXIT, at
 * once: what is half written stays under its temporary name, and a transaction that is open is none. */
void *memory_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
/* As realloc and strdup, likewise. */
void *memory_grow(void *old, size_t bytes) __attribute__((returns_nonnull));
char *memory_string(const char *text) __attribute__((malloc, returns_nonnull));
/* For arrays that vectors run through: from the begin of a cache line, large ones on huge pages, for which the system has to look up
 * fewer. What they hold is anything. NULL: the system has no memory. Released with free(). */
void *memory_vectors(size_t bytes) __attribute__((malloc));
_Noreturn void memory_exhausted(size_t bytes);
/* Called first, if the program has set it, with what was asked for (0: not known). Makes system calls only. */
extern void (*memory_last_words)(size_t bytes);

/* Bytes of memory that the programs of this machine have together, or those of its container (a cgroup) where that has fewer. */
uint64_t memory_of_machine(void);

#endif
