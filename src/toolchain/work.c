/* The directory of one build, with what its compilers write. Whoever builds there holds a lock on it: what nobody holds was
 * left by a program that was killed, and the next build removes it. */
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char begins[] = "build-";

/* Opens and locks a directory; -1: somebody else holds it, or it is gone. */
static int hold(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &status) || status.st_nlink == 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void sweep(struct arena *arena, const char *parent)
{
    DIR *dir = opendir(parent);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, begins, sizeof begins - 1) != 0)
            continue;
        const char *path = arena_printf(arena, "%s/%s", parent, entry->d_name);
        int fd = hold(path);
        if (fd < 0)
            continue;
        files_remove_tree(path);
        close(fd);
    }
    if (dir)
        closedir(dir);
}

struct akgen_error *work_open(struct arena *arena, const struct clang *clang, struct work *work)
{
    enum { TRIES = 10 };
    const char *parent = arena_printf(arena, "%s/work", clang->cache);
    struct akgen_error *error = files_make_directory(parent);
    if (error)
        return error;
    sweep(arena, parent);
    /* Between its making and its locking another program may take it for one that was left. */
    for (int i = 0; i < TRIES; i++) {
        char *path = arena_printf(arena, "%s/%sXXXXXX", parent, begins);
        if (!mkdtemp(path))
            return error_new("%s: %s", path, strerror(errno));
        int lock = hold(path);
        if (lock >= 0) {
            *work = (struct work){.path = path, .lock = lock};
            return NULL;
        }
    }
    return error_new("%s: no directory for a build can be locked", parent);
}

void work_close(struct work *work)
{
    if (!work->path)
        return;
    files_remove_tree(work->path);
    close(work->lock);
    work->path = NULL;
}
