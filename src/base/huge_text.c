#include "base/huge_text.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

static const uintptr_t huge_page = 2UL << 20, large = 16UL << 20;

/* Memory for `size` bytes from a huge page's beginning; NULL: there is none. */
static char *take_pages(uintptr_t size)
{
    char *memory = mmap(NULL, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    uintptr_t head = -(uintptr_t)memory % huge_page;
    if (head)
        munmap(memory, head);
    munmap(memory + head + size, huge_page - head);
    return memory + head;
}

/* Puts a copy of the code at [from, from + size) in its place, in one step for whoever runs it; false: nothing has changed. */
static bool move_code(char *from, uintptr_t size)
{
    char *copy = take_pages(size);
    if (!copy)
        return false;
    bool good = madvise(copy, size, MADV_HUGEPAGE) == 0;
    if (good)
        memcpy(copy, from, size);
    /* Fails if any of it could not be had on huge pages; on small ones it were worse than the file. */
    good = good && madvise(copy, size, MADV_COLLAPSE) == 0 && mprotect(copy, size, PROT_READ | PROT_EXEC) == 0 &&
           mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from) == from;
    if (good)
        __builtin___clear_cache(from, from + size);
    else
        munmap(copy, size);
    return good;
}

static int move_library(struct dl_phdr_info *library, size_t bytes, void *moved)
{
    (void)bytes;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags != (PF_R | PF_X) || part->p_memsz < large)
            continue;
        uintptr_t start = library->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        start += -start % huge_page;
        end -= end % huge_page;
        if (move_code((char *)start, end - start))
            *(unsigned long *)moved += end - start;
    }
    return 0;
}

unsigned long huge_text(void)
{
    unsigned long moved = 0;
    dl_iterate_phdr(move_library, &moved);
    return moved;
}
