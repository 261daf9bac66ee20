/* A kernel that defines npu_issue() or a hook itself would take its own calls and accesses out of the machine's sight.
 * The loader cannot tell (the object is bound to itself), so its symbol table is read. */
#include "run/overrides.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool belongs_to_the_machine(const char *name)
{
    if (strncmp(name, "npu_", 4) != 0 && strncmp(name, "__sanitizer_", 12) != 0)
        return false;
    return dlsym(RTLD_DEFAULT, name) != NULL;
}

static const char *find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *table = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; table && gelf_getsym(table, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (symbol.st_shndx != SHN_UNDEF && name && belongs_to_the_machine(name))
            return name;
    }
    return NULL;
}

int overrides_early(const char *path)
{
    GElf_Xword bytes = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    for (Elf_Scn *section = elf ? elf_nextscn(elf, NULL) : NULL; section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_PREINIT_ARRAY))
            bytes += header.sh_size;
    }
    if (elf)
        elf_end(elf);
    close(file);
    int functions = (int)(bytes / sizeof(void *));
    return functions > 1 ? functions - 1 : 0;
}

const char *overrides_find(struct arena *arena, const char *path)
{
    const char *found = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    for (Elf_Scn *section = elf ? elf_nextscn(elf, NULL) : NULL; section && !found;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            found = find_in(elf, section, &header);
    }
    if (found)
        found = arena_strdup(arena, found);
    if (elf)
        elf_end(elf);
    close(file);
    return found;
}
