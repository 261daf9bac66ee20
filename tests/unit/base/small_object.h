/* An object file of three sections, made by hand: for tests of what reads such files. */
#ifndef TESTS_BASE_SMALL_OBJECT_H
#define TESTS_BASE_SMALL_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NAMES = 1, SYMBOLS, WORDS, SECTIONS };

/* Section names, symbol names and the bytes of .words in front; then symbols; then the table of sections. */
struct small_object {
    Elf64_Ehdr header;
    char names[64];
    uint32_t words[4];
    Elf64_Sym symbols[4];
    Elf64_Shdr sections[SECTIONS];
};

static inline struct small_object small_object(void)
{
    struct small_object object = {.header = {.e_type = ET_DYN,
                                             .e_machine = EM_X86_64,
                                             .e_version = EV_CURRENT,
                                             .e_ehsize = sizeof(Elf64_Ehdr),
                                             .e_shoff = offsetof(struct small_object, sections),
                                             .e_shentsize = sizeof(Elf64_Shdr),
                                             .e_shnum = SECTIONS,
                                             .e_shstrndx = NAMES},
                                  .words = {7, 8, 9, 10}};
    static const char names[] = "\0.names\0.symbols\0.words\0needed\0given";
    memcpy(object.header.e_ident, ELFMAG, SELFMAG);
    object.header.e_ident[EI_CLASS] = ELFCLASS64;
    object.header.e_ident[EI_DATA] = ELFDATA2LSB;
    object.header.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(object.names, names, sizeof names);
    object.symbols[1] = (Elf64_Sym){.st_name = 24, .st_shndx = SHN_UNDEF};
    object.symbols[2] = (Elf64_Sym){.st_name = 31, .st_shndx = WORDS};
    object.symbols[3] = (Elf64_Sym){.st_name = 1u << 30, .st_shndx = WORDS};
    object.sections[NAMES] = (Elf64_Shdr){.sh_name = 1,
                                          .sh_type = SHT_STRTAB,
                                          .sh_offset = offsetof(struct small_object, names),
                                          .sh_size = sizeof object.names,
                                          .sh_addralign = 1};
    object.sections[SYMBOLS] = (Elf64_Shdr){.sh_name = 8,
                                            .sh_type = SHT_DYNSYM,
                                            .sh_offset = offsetof(struct small_object, symbols),
                                            .sh_size = sizeof object.symbols,
                                            .sh_entsize = sizeof(Elf64_Sym),
                                            .sh_link = NAMES,
                                            .sh_addralign = 8};
    object.sections[WORDS] = (Elf64_Shdr){.sh_name = 17,
                                          .sh_type = SHT_PROGBITS,
                                          .sh_addr = 4096,
                                          .sh_offset = offsetof(struct small_object, words),
                                          .sh_size = sizeof object.words,
                                          .sh_addralign = 4};
    return object;
}

#endif
