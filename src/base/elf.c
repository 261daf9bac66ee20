/* libelf checks offsets, counts and the ends of names; what it refuses is left out here. */
#include "base/elf.h"
#include "base/files.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct elf_file {
    Elf *elf;
    int fd; /* to be closed with the file; -1: none */
};

static struct elf_file *make(Elf *elf, int owned)
{
    struct elf_file *file = elf && elf_kind(elf) == ELF_K_ELF ? malloc(sizeof *file) : NULL;
    if (!file) {
        elf_end(elf);
        if (owned >= 0)
            close(owned);
        return NULL;
    }
    *file = (struct elf_file){elf, owned};
    return file;
}

struct elf_file *elf_file_open(const char *path)
{
    static const off_t largest = 1LL << 30;
    int fd;
    struct stat status;
    struct akgen_error *error = files_open(path, FILES_FOLLOW_LINKS, &fd, &status); /* /proc/self/fd/N is one */
    const bool fits = !error && status.st_size <= largest;
    error_free(error);
    elf_version(EV_CURRENT);
    return make(fits ? elf_begin(fd, ELF_C_READ, NULL) : NULL, fd);
}

struct elf_file *elf_file_open_bytes(const void *bytes, size_t length)
{
    elf_version(EV_CURRENT);
    /* It is read only, which libelf's declaration does not say. */
    return make(length ? elf_memory((char *)bytes, length) : NULL, -1);
}

void elf_file_close(struct elf_file *file)
{
    if (!file)
        return;
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file);
}

bool elf_section_next(struct elf_file *file, struct elf_section *section)
{
    GElf_Shdr header;
    size_t names;
    Elf_Scn *scn = section->handle;
    do
        scn = elf_nextscn(file->elf, scn);
    while (scn && !gelf_getshdr(scn, &header));
    if (!scn)
        return false;
    const char *name = elf_getshdrstrndx(file->elf, &names) ? NULL : elf_strptr(file->elf, names, header.sh_name);
    *section = (struct elf_section){.handle = scn,
                                    .name = name ? name : "",
                                    .type = header.sh_type,
                                    .link = header.sh_link,
                                    .address = header.sh_addr,
                                    .bytes = header.sh_size};
    return true;
}

bool elf_section_find(struct elf_file *file, const char *name, struct elf_section *section)
{
    *section = (struct elf_section){0};
    while (elf_section_next(file, section))
        if (strcmp(section->name, name) == 0)
            return true;
    return false;
}

const void *elf_section_contents(const struct elf_section *section, size_t *length)
{
    const Elf_Data *data = elf_rawdata(section->handle, NULL);
    *length = data && data->d_buf ? data->d_size : 0;
    return *length ? data->d_buf : NULL;
}

bool elf_symbol_at(struct elf_file *file, const struct elf_section *section, int index, struct elf_symbol *symbol)
{
    Elf_Data *table = elf_getdata(section->handle, NULL);
    GElf_Sym entry;
    if (!table || !gelf_getsym(table, index, &entry))
        return false;
    const char *name = elf_strptr(file->elf, section->link, entry.st_name);
    *symbol = (struct elf_symbol){name ? name : "", entry.st_shndx != SHN_UNDEF};
    return true;
}

const char *elf_load_error(const char *path)
{
    const char *error = dlerror();
    size_t length = strlen(path);
    return strncmp(error, path, length) == 0 && strncmp(error + length, ": ", 2) == 0 ? error + length + 2 : error;
}
