/* Reads NPU_TASK_TYPES, an array of struct npu_task_type, from an object's section of that name. The records are plain
 * numbers, so the file's bytes are what the loader maps. */
#include "npu/task_types.h"
#include "base/elf.h"

#include <string.h>

size_t task_types_read(struct arena *arena, const char *path, const struct npu_task_type **types)
{
    struct elf_file *file = elf_file_open(path);
    struct elf_section section;
    size_t length = 0;
    const void *records =
        file && elf_section_find(file, NPU_TASK_TYPES, &section) ? elf_section_contents(&section, &length) : NULL;
    size_t count = length / sizeof **types;
    *types = records ? arena_copy(arena, records, count * sizeof **types) : NULL;
    elf_file_close(file);
    return count;
}
