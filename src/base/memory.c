#include "base/memory.h"
#include "base/inject.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void memory_exhausted(void)
{
    static const char message[] = "akgen: out of memory\n";
    /* No stream: it would allocate. */
    _exit(write(STDERR_FILENO, message, strlen(message)) < 0 ? MEMORY_EXIT : MEMORY_EXIT);
}

void *memory_alloc(size_t bytes)
{
    void *memory = inject_fails(INJECT_MEMORY) ? NULL : calloc(1, bytes ? bytes : 1);
    if (!memory)
        memory_exhausted();
    return memory;
}

void *memory_grow(void *old, size_t bytes)
{
    void *memory = inject_fails(INJECT_MEMORY) ? NULL : realloc(old, bytes ? bytes : 1);
    if (!memory)
        memory_exhausted();
    return memory;
}
