#include "jail/inside/load.h"
#include "base/elf.h"
#include "base/files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A private mapping of the file, which may be written. */
static void *map_file(const char *path, size_t *length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *bytes = MAP_FAILED;
    if (fd >= 0 && !fstat(fd, &status) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    *length = (size_t)status.st_size;
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* The loader knows an object by the name of its file: each has a number that none had before. */
static int take_number(int fd)
{
    enum { FIRST = 64 };
    static int next = FIRST;
    int number = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, next);
    if (fd >= 0)
        close(fd);
    next = number < 0 ? next : number + 1;
    return number;
}

const char *load_prepare(struct arena *arena, const char *path, struct object_loaded *loaded, bool *broken)
{
    size_t length;
    void *bytes = map_file(path, &length);
    *loaded = (struct object_loaded){.fd = -1};
    *broken = true;
    if (!bytes)
        return arena_printf(arena, "an object of the candidate cannot be read: %s", strerror(errno));
    const char *problem = strip(arena, bytes, length, &loaded->initialisers);
    *broken = false;
    if (problem) {
        problem = arena_printf(arena, "it has %s", problem);
    } else {
        loaded->fd = take_number(memfd_create("akgen-object", MFD_CLOEXEC));
        *broken = loaded->fd < 0 || !files_write_all(loaded->fd, bytes, length);
        if (*broken)
            problem = arena_printf(arena, "no memory for an object: %s", strerror(errno));
    }
    munmap(bytes, length);
    return problem;
}

static const char *open_object(struct arena *arena, const char *path, struct object_loaded *loaded)
{
    struct link_map *map;
    loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->handle)
        return arena_strdup(arena, elf_load_error(path));
    if (!dlinfo(loaded->handle, RTLD_DI_LINKMAP, &map))
        loaded->base = map->l_addr;
    return NULL;
}

const char *load_object(struct arena *arena, struct object_loaded *loaded)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", loaded->fd);
    const char *problem = open_object(arena, path, loaded);
    close(loaded->fd);
    loaded->fd = -1;
    return problem;
}

const char *load_for_debugger(struct arena *arena, const char *path, struct object_loaded *loaded)
{
    *loaded = (struct object_loaded){.fd = -1};
    return open_object(arena, path, loaded);
}

void load_initialise(const struct object_loaded *loaded)
{
    typedef void initialiser(int argc, char **argv, char **environment);
    static char *arguments[] = {NULL};
    const struct initialisers *found = &loaded->initialisers;
    initialiser *const *list = (initialiser *const *)(loaded->base + found->list); // NOLINT: the loader's number
    if (found->init)
        ((initialiser *)(loaded->base + found->init))(0, arguments, environ); // NOLINT
    for (uint64_t i = 0; i < found->count; i++)
        if (list[i] && (uint64_t)list[i] != UINT64_MAX) /* -1: no function, in lists of old */
            list[i](0, arguments, environ);
}
