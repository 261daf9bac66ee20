/* Sections and symbols of an ELF file, whatever the file says about itself: sizes and offsets that lead outside of it,
 * names without an end and tables that are none yield nothing. */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
/* NULL if there is no such file, or it is no regular one, has more than 1 GiB or is no ELF object. */
struct elf_file *elf_file_open(const char *path);
/* The bytes stay the caller's and must outlive the file. */
struct elf_file *elf_file_open_bytes(const void *bytes, size_t length);
/* NULL is allowed. */
void elf_file_close(struct elf_file *file);

/* dlerror(), which there must be, without the path of the object that could not be loaded. */
const char *elf_load_error(const char *path);

struct elf_section {
    struct Elf_Scn *handle;
    const char *name; /* "" if it has none; lives as long as the file */
    uint32_t type;    /* SHT_DYNSYM, ... */
    uint32_t link;    /* index of the section that this one's numbers refer to */
    uint64_t address, bytes;
};
/* The section behind `section`; the first one if its handle is NULL. False: there is none. */
bool elf_section_next(struct elf_file *file, struct elf_section *section);
/* The first section of this name. */
bool elf_section_find(struct elf_file *file, const char *name, struct elf_section *section);
/* Its bytes in the file, which may be fewer than it says; NULL if it has none. They live as long as the file. */
const void *elf_section_contents(const struct elf_section *section, size_t *length);

struct elf_symbol {
    const char *name; /* never NULL; lives as long as the file */
    bool defined;
};
/* Symbol `index` (from 1) of a section of type SHT_SYMTAB or SHT_DYNSYM. False: there are no more. */
bool elf_symbol_at(struct elf_file *file, const struct elf_section *section, int index, struct elf_symbol *symbol);

#endif
