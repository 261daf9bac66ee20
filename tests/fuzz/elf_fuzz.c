/* Whatever bytes an object file holds: its sections and symbols come to an end, and what they name lies inside. */
#include "fuzz.h"
#include "unit/base/small_object.h"

#include "base/elf.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    const struct small_object object = small_object();
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
