#include "base/memory.h"
#include "base/inject.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

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

/* Large blocks are made of large pages, where the system has them: a copy of the process, which every process in the jail
 * begins with, copies an entry for each page. */
static void ask_for_huge_pages(void *memory, size_t bytes)
{
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE;
    uintptr_t end = ((uintptr_t)memory + bytes) & -(uintptr_t)HUGE_PAGE;
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
}

void *memory_alloc(size_t bytes)
{
    void *memory = inject_fails(INJECT_MEMORY) ? NULL : calloc(1, bytes ? bytes : 1);
    if (!memory)
        memory_exhausted(bytes);
    if (bytes >= HUGE_PAGE)
        ask_for_huge_pages(memory, bytes);
    return memory;
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
