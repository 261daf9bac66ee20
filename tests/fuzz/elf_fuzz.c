/* Whatever bytes an object file holds: its sections and symbols come to an end, and what they name lies inside. */
#include "fuzz.h"

#include "base/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A small object: two symbols, their names, and the names of the sections. */
struct small_object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    Elf64_Sym symbols[3];
    char names[16], section_names[32];
};
enum { SYMBOLS = 1, NAMES, SECTION_NAMES };

static Elf64_Shdr section_of(uint32_t name, uint32_t type, size_t offset, size_t bytes)
{
    return (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = bytes, .sh_addralign = 1};
}

void fuzz_seeds(void)
{
    struct small_object object = {
        .header = {.e_ident = ELFMAG,
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_shoff = offsetof(struct small_object, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 4,
                   .e_shstrndx = SECTION_NAMES},
        .symbols = {{0}, {.st_name = 1, .st_shndx = SYMBOLS}, {.st_name = 7}},
        .names = "\0kernel\0npu_add",
        .section_names = "\0.symtab\0.strtab\0.shstrtab",
    };
    object.header.e_ident[EI_CLASS] = ELFCLASS64;
    object.header.e_ident[EI_DATA] = ELFDATA2LSB;
    object.header.e_ident[EI_VERSION] = EV_CURRENT;
    object.sections[SYMBOLS] = section_of(1, SHT_SYMTAB, offsetof(struct small_object, symbols), sizeof object.symbols);
    object.sections[SYMBOLS].sh_link = NAMES;
    object.sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    object.sections[NAMES] = section_of(9, SHT_STRTAB, offsetof(struct small_object, names), sizeof object.names);
    object.sections[SECTION_NAMES] =
        section_of(17, SHT_STRTAB, offsetof(struct small_object, section_names), sizeof object.section_names);
    fuzz_seed(&object, sizeof object);
}

/* Reads every byte that the section has. */
static unsigned sum(const struct elf_section *section)
{
    size_t count;
    const unsigned char *contents = elf_section_contents(section, &count);
    unsigned total = 0;
    for (size_t i = 0; i < count; i++)
        total += contents[i];
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct elf_file *file = elf_file_open_bytes(bytes, length);
    struct elf_section section = {0}, found;
    struct elf_symbol symbol;
    volatile size_t seen = 0;
    if (!file)
        return 0;
    while (elf_section_next(file, &section)) {
        if (*section.name && !elf_section_find(file, section.name, &found))
            abort();
        seen += strlen(section.name) + sum(&section);
        for (int i = 1; elf_symbol_at(file, &section, i, &symbol); i++)
            seen += strlen(symbol.name);
    }
    elf_file_close(file);
    return 0;
}
