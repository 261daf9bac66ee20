/* ELF files that lie: a small object is made here, and then each of its numbers is changed. */
#include "base/elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 1, SYMBOLS, WORDS, SECTIONS };

/* Section names, symbol names and the bytes of .words in front; then symbols; then the table of sections. */
struct object {
    Elf64_Ehdr header;
    char names[64];
    uint32_t words[4];
    Elf64_Sym symbols[4];
    Elf64_Shdr sections[SECTIONS];
};

static struct object example(void)
{
    struct object object = {.header = {.e_type = ET_DYN,
                                       .e_machine = EM_X86_64,
                                       .e_version = EV_CURRENT,
                                       .e_ehsize = sizeof(Elf64_Ehdr),
                                       .e_shoff = offsetof(struct object, sections),
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
                                          .sh_offset = offsetof(struct object, names),
                                          .sh_size = sizeof object.names,
                                          .sh_addralign = 1};
    object.sections[SYMBOLS] = (Elf64_Shdr){.sh_name = 8,
                                            .sh_type = SHT_DYNSYM,
                                            .sh_offset = offsetof(struct object, symbols),
                                            .sh_size = sizeof object.symbols,
                                            .sh_entsize = sizeof(Elf64_Sym),
                                            .sh_link = NAMES,
                                            .sh_addralign = 8};
    object.sections[WORDS] = (Elf64_Shdr){.sh_name = 17,
                                          .sh_type = SHT_PROGBITS,
                                          .sh_addr = 4096,
                                          .sh_offset = offsetof(struct object, words),
                                          .sh_size = sizeof object.words,
                                          .sh_addralign = 4};
    return object;
}

static void test_sections_and_symbols(void **state)
{
    (void)state;
    const struct object object = example();
    struct elf_file *file = elf_file_open_bytes(&object, sizeof object);
    struct elf_section section;
    struct elf_symbol symbol;
    size_t length;
    assert_non_null(file);
    assert_true(elf_section_find(file, ".words", &section));
    assert_int_equal(section.address, 4096);
    assert_int_equal(section.bytes, 16);
    assert_memory_equal(elf_section_contents(&section, &length), object.words, 16);
    assert_int_equal(length, 16);
    assert_false(elf_section_find(file, ".word", &section));
    assert_true(elf_section_find(file, ".symbols", &section));
    assert_int_equal(section.type, SHT_DYNSYM);
    assert_true(elf_symbol_at(file, &section, 1, &symbol));
    assert_string_equal(symbol.name, "needed");
    assert_false(symbol.defined);
    assert_true(elf_symbol_at(file, &section, 2, &symbol));
    assert_string_equal(symbol.name, "given");
    assert_true(symbol.defined);
    assert_true(elf_symbol_at(file, &section, 3, &symbol)); /* its name lies outside */
    assert_string_equal(symbol.name, "");
    assert_false(elf_symbol_at(file, &section, 4, &symbol));
    elf_file_close(file);
}

/* Reads all that there is; nothing of it may lie outside of the file. */
static void read_all(const void *bytes, size_t size)
{
    struct elf_file *file = elf_file_open_bytes(bytes, size);
    struct elf_section section = {0};
    struct elf_symbol symbol;
    size_t length, sections = 0;
    while (file && elf_section_next(file, &section)) {
        const char *contents = elf_section_contents(&section, &length);
        assert_true(length <= size);
        assert_true(sections++ < size);
        if (length) /* it is part of the file */
            assert_true(memmem(bytes, size, contents, length) != NULL);
        for (int i = 1; elf_symbol_at(file, &section, i, &symbol); i++)
            assert_true(strlen(symbol.name) < size);
    }
    elf_file_close(file);
}

/* The file ends behind the object, so that AddressSanitizer sees a read beyond it. */
static void test_numbers_that_lie(void **state)
{
    (void)state;
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    unsigned char *bytes = malloc(sizeof(struct object));
    for (size_t at = 0; at < sizeof(struct object); at++)
        for (size_t v = 0; v < sizeof values; v++) {
            const struct object object = example();
            memcpy(bytes, &object, sizeof object);
            memset(bytes + at, values[v], at + 4 <= sizeof object && v == 4 ? 4 : 1);
            read_all(bytes, sizeof object);
        }
    free(bytes);
    for (size_t size = 0; size < sizeof(struct object); size += 7) {
        const struct object object = example();
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, &object, size);
        read_all(cut, size);
        free(cut);
    }
}

static void test_what_is_no_object(void **state)
{
    (void)state;
    assert_null(elf_file_open("/nonexistent"));
    assert_null(elf_file_open("/etc/hostname"));
    assert_null(elf_file_open_descriptor(-1));
    assert_null(elf_file_open_bytes("!<arch>\n", 8));
    assert_null(elf_file_open_bytes("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections_and_symbols),
        cmocka_unit_test(test_numbers_that_lie),
        cmocka_unit_test(test_what_is_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
