/* ELF files that lie: a small object is made here, and then each of its numbers is changed. */
#include "base/elf.h"
#include "unit/base/small_object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_sections_and_symbols(void **state)
{
    (void)state;
    const struct small_object object = small_object();
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
    unsigned char *bytes = malloc(sizeof(struct small_object));
    for (size_t at = 0; at < sizeof(struct small_object); at++)
        for (size_t v = 0; v < sizeof values; v++) {
            const struct small_object object = small_object();
            memcpy(bytes, &object, sizeof object);
            memset(bytes + at, values[v], at + 4 <= sizeof object && v == 4 ? 4 : 1);
            read_all(bytes, sizeof object);
        }
    free(bytes);
    for (size_t size = 0; size < sizeof(struct small_object); size += 7) {
        const struct small_object object = small_object();
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
