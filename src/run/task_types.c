/* Reads NPU_TASK_TYPES, an array of struct npu_task_type, from an object's section of that name. The records are plain
 * numbers, so the file's bytes are what the loader maps. */
#include "run/task_types.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static Elf_Data *find_section(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

size_t task_types_read(struct arena *arena, const char *path, const struct npu_task_type **types)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t count = 0;
    *types = NULL;
    if (file < 0)
        return 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    const Elf_Data *section = elf ? find_section(elf, NPU_TASK_TYPES) : NULL;
    if (section && section->d_buf) {
        count = section->d_size / sizeof **types;
        struct npu_task_type *copy = arena_alloc(arena, (count + 1) * sizeof *copy);
        memcpy(copy, section->d_buf, count * sizeof *copy);
        *types = copy;
    }
    if (elf)
        elf_end(elf);
    close(file);
    return count;
}
