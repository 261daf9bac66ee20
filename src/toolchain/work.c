/* Folders for the time of one evaluation or build, in the folder `work` of the cache. Whoever makes one holds a lock on it, which
 * ends with the process however that ends: a folder whose lock is free was left by one that was killed, and the next who
 * makes one removes it. */
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_OF_A_DAY = 24 * 60 * 60 };
static const char locked[] = "held-"; /* names of folders that have a lock while they are in use */

/* True if nobody uses the folder. `fd` holds its lock then, where folders can be locked; else nobody works for a day. */
static bool is_left_over(const char *name, int fd)
{
    struct stat status;
    if (strncmp(name, locked, sizeof locked - 1) == 0 && !flock(fd, LOCK_EX | LOCK_NB))
        return true;
    return errno != EWOULDBLOCK && !fstat(fd, &status) && status.st_mtime < time(NULL) - SECONDS_OF_A_DAY;
}

/* Takes the lock of a folder that was just made; -1: somebody who sweeps was faster and has removed it. A system that has no
 * locks for folders gives none. */
static int take_lock(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX) && errno == EINTR)
        ;
    if (!fstat(fd, &status) && status.st_nlink)
        return fd;
    close(fd);
    return -1;
}

struct akgen_error *work_make(struct arena *arena, const char *cache, struct work_directory *work)
{
    enum { ATTEMPTS = 100 };
    const char *parent = arena_printf(arena, "%s/work", cache);
    struct akgen_error *error = files_make_directory(parent);
    *work = (struct work_directory){.lock = -1};
    if (error)
        return error;
    /* Removes what programs that ended left. */
    DIR *dir = opendir(parent);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        errno = 0;
        if (fd >= 0 && is_left_over(entry->d_name, fd))
            files_remove_tree(arena_printf(arena, "%s/%s", parent, entry->d_name));
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    for (int i = 0; i < ATTEMPTS && work->lock < 0; i++) {
        char *name = arena_printf(arena, "%s/%sXXXXXX", parent, locked);
        if (!mkdtemp(name))
            return error_new("%s: %s", name, strerror(errno));
        work->path = name;
        work->lock = take_lock(name);
    }
    return work->lock < 0 ? error_new("%s: %s", work->path, strerror(errno)) : NULL;
}

void work_remove(struct work_directory *work)
{
    if (!work->path)
        return;
    files_remove_tree(work->path);
    if (work->lock >= 0)
        close(work->lock);
    *work = (struct work_directory){.lock = -1};
}
