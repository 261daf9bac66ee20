#include "jail/inside/strip.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64, CHOSEN_BY_A_CALL = R_X86_64_IRELATIVE, COPIED = R_X86_64_COPY };
#else
enum { MACHINE = EM_AARCH64, CHOSEN_BY_A_CALL = R_AARCH64_IRELATIVE, COPIED = R_AARCH64_COPY };
#endif

enum {
    MAX_SEGMENTS = 64,
    MAX_ENTRIES = 256,
    NOBODYS = DT_LOOS /* a tag that loaders skip */
};

/* What may stand in the dynamic section, once each. What a loader would run or open besides is not among it: DT_NEEDED,
 * DT_RPATH, DT_AUDIT, DT_FILTER, DT_TEXTREL, ... */
static const struct {
    int64_t tag;
    enum content { NUMBER, ADDRESS /* in a segment that the file fills */, LIST /* of initialisers */ } content;
} known[] = {
    {DT_RELA, ADDRESS},       {DT_RELASZ, NUMBER},        {DT_RELAENT, NUMBER},
    {DT_RELACOUNT, NUMBER},   {DT_JMPREL, ADDRESS},       {DT_PLTRELSZ, NUMBER},
    {DT_PLTREL, NUMBER},      {DT_PLTGOT, NUMBER},        {DT_SYMTAB, ADDRESS},
    {DT_SYMENT, NUMBER},      {DT_STRTAB, ADDRESS},       {DT_STRSZ, NUMBER},
    {DT_HASH, ADDRESS},       {DT_GNU_HASH, ADDRESS},     {DT_FLAGS, NUMBER},
    {DT_INIT, LIST},          {DT_INIT_ARRAY, LIST},      {DT_INIT_ARRAYSZ, LIST},
    {DT_FINI, LIST},          {DT_FINI_ARRAY, LIST},      {DT_FINI_ARRAYSZ, LIST},
    {DT_PREINIT_ARRAY, LIST}, {DT_PREINIT_ARRAYSZ, LIST},
};
enum { KNOWN = sizeof known / sizeof *known };

struct object {
    struct arena *arena;
    uint8_t *bytes;
    size_t length;
    const Elf64_Phdr *segments;
    int segment_count;
    bool seen[KNOWN];
    uint64_t values[KNOWN];
    const char *problem; /* the first one */
};

static const char *refuse(struct object *object, const char *problem)
{
    if (!object->problem)
        object->problem = problem;
    return object->problem;
}

/* `count` items of `size` bytes at an address of the file's image; NULL if no segment has them from the file, or not where
 * such items may stand. */
static void *at(const struct object *object, uint64_t address, uint64_t count, uint64_t size)
{
    const uint64_t alignment = size % 8 == 0 ? 8 : size;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    for (int i = 0; i < object->segment_count; i++) {
        const Elf64_Phdr *segment = &object->segments[i];
        uint64_t offset = address - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr && offset <= segment->p_filesz &&
            bytes <= segment->p_filesz - offset)
            return (segment->p_offset + offset) % alignment ? NULL : object->bytes + segment->p_offset + offset;
    }
    return NULL;
}

/* True if a word at the address is in memory that the object may write. */
static bool is_writable(const struct object *object, uint64_t address)
{
    for (int i = 0; i < object->segment_count; i++) {
        const Elf64_Phdr *segment = &object->segments[i];
        uint64_t offset = address - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W && address >= segment->p_vaddr &&
            segment->p_memsz >= sizeof(uint64_t) && offset <= segment->p_memsz - sizeof(uint64_t))
            return true;
    }
    return false;
}

static void read_segment(struct object *object, const Elf64_Phdr *segment, int *dynamic, int *stacks)
{
    if (segment->p_offset > object->length || segment->p_filesz > object->length - segment->p_offset ||
        segment->p_filesz > segment->p_memsz || segment->p_vaddr > INT64_MAX ||
        segment->p_memsz > (uint64_t)INT64_MAX - segment->p_vaddr)
        refuse(object, "a segment that lies outside of the file");
    switch (segment->p_type) {
    case PT_LOAD:
        if (segment->p_flags & PF_W && segment->p_flags & PF_X)
            refuse(object, "memory that can be written and executed");
        break;
    case PT_DYNAMIC:
        ++*dynamic;
        break;
    case PT_GNU_STACK:
        ++*stacks;
        if (segment->p_flags & PF_X)
            refuse(object, "a stack that can be executed");
        break;
    case PT_PHDR:
    case PT_GNU_RELRO:
    case PT_GNU_EH_FRAME:
    case PT_GNU_PROPERTY:
    case PT_NOTE:
    case PT_TLS:
        break;
    default: /* PT_INTERP, ... */
        refuse(object, arena_printf(object->arena, "a segment of type 0x%x", segment->p_type));
    }
}

static void read_header(struct object *object)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object->bytes;
    int dynamic = 0, stacks = 0;
    if (object->length < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_type != ET_DYN || header->e_machine != MACHINE || header->e_phentsize != sizeof(Elf64_Phdr) ||
        header->e_phnum > MAX_SEGMENTS || header->e_phoff % 8 || header->e_phoff > object->length ||
        header->e_phnum * sizeof(Elf64_Phdr) > object->length - header->e_phoff) {
        refuse(object, "no shared object of this machine");
        return;
    }
    object->segments = (const Elf64_Phdr *)(object->bytes + header->e_phoff);
    object->segment_count = header->e_phnum;
    for (int i = 0; i < object->segment_count; i++)
        read_segment(object, &object->segments[i], &dynamic, &stacks);
    if (dynamic != 1 || stacks != 1)
        refuse(object, "not one dynamic section and one kind of stack");
}

static int find(int64_t tag)
{
    for (int i = 0; i < KNOWN; i++)
        if (known[i].tag == tag)
            return i;
    return KNOWN;
}

static uint64_t value(const struct object *object, int64_t tag)
{
    return object->values[find(tag)];
}

static void read_entry(struct object *object, Elf64_Dyn *entry)
{
    int i = find(entry->d_tag);
    if (i == KNOWN || object->seen[i]) {
        refuse(object, arena_printf(object->arena, "%s 0x%llx in its dynamic section",
                                    i == KNOWN ? "the tag" : "twice the tag", (unsigned long long)entry->d_tag));
        return;
    }
    object->seen[i] = true;
    object->values[i] = entry->d_un.d_val;
    if (known[i].content == ADDRESS && !at(object, entry->d_un.d_ptr, 1, 1))
        refuse(object, "a table that lies outside of the file");
    if (known[i].content == LIST)
        entry->d_tag = NOBODYS;
}

static void read_dynamic(struct object *object)
{
    const Elf64_Phdr *segment = object->segments;
    while (segment->p_type != PT_DYNAMIC)
        segment++;
    Elf64_Dyn *entries = at(object, segment->p_vaddr, segment->p_filesz / sizeof *entries, sizeof *entries);
    uint64_t count = segment->p_filesz / sizeof *entries, i = 0;
    if (!entries || (uintptr_t)entries % 8) {
        refuse(object, "a dynamic section that lies outside of the file");
        return;
    }
    for (; i < count && i < MAX_ENTRIES && entries[i].d_tag != DT_NULL; i++)
        read_entry(object, &entries[i]);
    if (i == count || i == MAX_ENTRIES)
        refuse(object, "a dynamic section without an end");
    if (value(object, DT_FLAGS) & ~(uint64_t)(DF_SYMBOLIC | DF_BIND_NOW | DF_STATIC_TLS))
        refuse(object, "flags in its dynamic section that no linker of ours writes");
}

/* The table of symbols is as long as the hash table says, by which a loader finds them. */
static void check_symbols(struct object *object)
{
    const uint32_t *hash = at(object, value(object, DT_HASH), 2, sizeof *hash);
    uint64_t count = hash && object->seen[find(DT_HASH)] ? hash[1] : 0, size = value(object, DT_STRSZ);
    const Elf64_Sym *symbols = at(object, value(object, DT_SYMTAB), count, sizeof *symbols);
    const char *names = at(object, value(object, DT_STRTAB), size, 1);
    if (!count || !symbols || !names || !size || names[size - 1] || value(object, DT_SYMENT) != sizeof *symbols) {
        refuse(object, "no table of symbols");
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *name = symbols[i].st_name < size ? names + symbols[i].st_name : "?";
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_GNU_IFUNC)
            refuse(object, arena_printf(object->arena, "a function chosen when it is loaded ('%.100s')", name));
    }
}

/* Relocations write words of the object itself, and call nothing. */
static void check_relocations(struct object *object, int64_t table, int64_t bytes)
{
    uint64_t count = value(object, bytes) / sizeof(Elf64_Rela);
    const Elf64_Rela *rows = at(object, value(object, table), count, sizeof *rows);
    if (!object->seen[find(bytes)])
        return;
    if (!rows) {
        refuse(object, "a table that lies outside of the file");
        return;
    }
    for (uint64_t i = 0; i < count && !object->problem; i++) {
        uint32_t type = (uint32_t)ELF64_R_TYPE(rows[i].r_info);
        if (type == CHOSEN_BY_A_CALL)
            refuse(object, "a function chosen when it is loaded");
        else if (type == COPIED || !is_writable(object, rows[i].r_offset))
            refuse(object, "a relocation outside of its own memory");
    }
}

static void find_initialisers(struct object *object, struct initialisers *found)
{
    *found = (struct initialisers){.init = value(object, DT_INIT),
                                   .list = value(object, DT_INIT_ARRAY),
                                   .count = value(object, DT_INIT_ARRAYSZ) / sizeof(uint64_t)};
    if (found->count && !at(object, found->list, found->count, sizeof(uint64_t)))
        refuse(object, "a list of initialisers that lies outside of the file");
    if (object->seen[find(DT_PREINIT_ARRAY)])
        refuse(object, "a list of functions that run before everything else");
}

const char *strip(struct arena *arena, void *bytes, size_t length, struct initialisers *found)
{
    struct object object = {.arena = arena, .bytes = bytes, .length = length};
    *found = (struct initialisers){0};
    read_header(&object);
    if (!object.problem)
        read_dynamic(&object);
    if (!object.problem)
        check_symbols(&object);
    if (!object.problem)
        check_relocations(&object, DT_RELA, DT_RELASZ);
    if (!object.problem)
        check_relocations(&object, DT_JMPREL, DT_PLTRELSZ);
    if (!object.problem)
        find_initialisers(&object, found);
    return object.problem;
}
