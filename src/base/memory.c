#include "base/memory.h"
#include "base/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, HUGE_FROM = 1 << 20 };

void (*memory_last_words)(size_t bytes);

_Noreturn void memory_exhausted(size_t bytes)
{
    static const char message[] = "akgen: out of memory\n";
    if (memory_last_words)
        memory_last_words(bytes);
    /* No stream: it would allocate. */
    if (write(STDERR_FILENO, message, strlen(message)) < 0)
        _exit(MEMORY_EXIT); /* unheard */
    _exit(MEMORY_EXIT);
}

void *memory_alloc(size_t bytes)
{
    void *memory = inject_fails(INJECT_MEMORY) ? NULL : calloc(1, bytes ? bytes : 1);
    if (!memory)
        memory_exhausted(bytes);
    return memory;
}

void *memory_vectors(size_t bytes)
{
    size_t size = bytes / LINE * LINE + LINE;
    void *array = NULL;
    if (inject_fails(INJECT_MEMORY) || posix_memalign(&array, bytes >= HUGE_FROM ? HUGE_PAGE : LINE, size) != 0)
        return NULL;
    if (bytes >= HUGE_FROM)
        madvise(array, size, MADV_HUGEPAGE);
    return array;
}

void *memory_grow(void *old, size_t bytes)
{
    void *memory = inject_fails(INJECT_MEMORY) ? NULL : realloc(old, bytes ? bytes : 1);
    if (!memory)
        memory_exhausted(bytes);
    return memory;
}

char *memory_string(const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(memory_alloc(length), text, length);
}

uint64_t memory_of_machine(void)
{
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        FILE *file = fopen(limits[i], "re");
        unsigned long long limit;
        if (file && fscanf(file, "%llu", &limit) == 1 && limit < bytes) /* "max" is no number */
            bytes = limit;
        if (file)
            fclose(file);
    }
    return bytes;
}
