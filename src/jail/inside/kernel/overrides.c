/* A kernel that defines npu_issue() or npu_load() itself would take its own calls and accesses out of the machine's sight.
 * The toolchain makes no such object (src/toolchain/confine); the one that is about to be loaded is looked at all the same. */
#include "jail/inside/kernel/overrides.h"
#include "base/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <string.h>

static bool belongs_to_the_machine(const char *name)
{
    if (strncmp(name, "npu_", 4) != 0)
        return false;
    return dlsym(RTLD_DEFAULT, name) != NULL;
}

static const char *find_in(struct elf_file *file, const struct elf_section *section)
{
    struct elf_symbol symbol;
    for (int i = 1; elf_symbol_at(file, section, i, &symbol); i++)
        if (symbol.defined && belongs_to_the_machine(symbol.name))
            return symbol.name;
    return NULL;
}

int overrides_early(const char *path)
{
    uint64_t bytes = 0;
    struct elf_file *file = elf_file_open(path);
    struct elf_section section = {0};
    while (file && elf_section_next(file, &section))
        if (section.type == SHT_INIT_ARRAY || section.type == SHT_PREINIT_ARRAY)
            bytes += section.bytes;
    elf_file_close(file);
    return (int)(bytes / sizeof(void *));
}

const char *overrides_find(struct arena *arena, const char *path)
{
    const char *found = NULL;
    struct elf_file *file = elf_file_open(path);
    struct elf_section section = {0};
    while (file && !found && elf_section_next(file, &section))
        if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
            found = find_in(file, &section);
    if (found)
        found = arena_strdup(arena, found);
    elf_file_close(file);
    return found;
}
