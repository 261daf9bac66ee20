/* Whatever bytes a candidate's object holds: looking through it before it is loaded reads and writes nothing outside, and what
 * is left of its dynamic section has no initialisers. */
#include "fuzz.h"
#include "unit/base/small_object.h"

#include "jail/inside/strip.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

/* An object as small as a linker would not make it, with a list of initialisers. */
struct tiny {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[12];
    uint32_t hash[2];
    Elf64_Sym symbol;
    Elf64_Rela relocation;
    uint64_t list[2];
    char names[8];
};

static struct tiny tiny(void)
{
    enum { SYMBOLS = 1 };
    struct tiny made = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_type = ET_DYN,
                   .e_machine = MACHINE,
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phoff = offsetof(struct tiny, segments),
                   .e_phnum = 3},
        .segments = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_filesz = sizeof made, .p_memsz = sizeof made},
                     {.p_type = PT_DYNAMIC,
                      .p_offset = offsetof(struct tiny, dynamic),
                      .p_vaddr = offsetof(struct tiny, dynamic),
                      .p_filesz = sizeof made.dynamic,
                      .p_memsz = sizeof made.dynamic},
                     {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W}},
        .dynamic = {{DT_HASH, {offsetof(struct tiny, hash)}},
                    {DT_SYMTAB, {offsetof(struct tiny, symbol)}},
                    {DT_SYMENT, {sizeof(Elf64_Sym)}},
                    {DT_STRTAB, {offsetof(struct tiny, names)}},
                    {DT_STRSZ, {sizeof made.names}},
                    {DT_RELA, {offsetof(struct tiny, relocation)}},
                    {DT_RELASZ, {sizeof made.relocation}},
                    {DT_INIT_ARRAY, {offsetof(struct tiny, list)}},
                    {DT_INIT_ARRAYSZ, {sizeof made.list}},
                    {DT_FLAGS, {DF_SYMBOLIC}}},
        .hash = {1, SYMBOLS},
        .relocation = {.r_offset = offsetof(struct tiny, list)}};
    return made;
}

void fuzz_seeds(void)
{
    const struct small_object object = small_object();
    const struct tiny good = tiny();
    fuzz_seed(&object, sizeof object);
    fuzz_seed(&good, sizeof good);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct initialisers found;
    struct tiny *copy = aligned_alloc(4096, (length + 4096) / 4096 * 4096); /* as a mapping of the file */
    if (!copy)
        abort();
    memset(copy, 0, (length + 4096) / 4096 * 4096);
    memcpy(copy, bytes, length);
    const char *problem = strip(&arena, copy, length, &found);
    struct tiny good = tiny();
    if (length == sizeof good && memcmp(bytes, &good, sizeof good) == 0) {
        if (problem || found.count != 2)
            abort();
        for (int i = 0; i < 10; i++)
            if (copy->dynamic[i].d_tag == DT_INIT_ARRAY || copy->dynamic[i].d_tag == DT_INIT_ARRAYSZ)
                abort();
    }
    free(copy);
    arena_free(&arena);
    return 0;
}
