/* A scratch folder has a file that its process holds a lock on; the system gives the lock up with the process, however that ended. Who gets the
 * lock of another's folder may remove it. */
#include "base/scratch.h"
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".akgen-scratch"

static const char *base(void)
{
    const char *given = getenv("TMPDIR");
    return given && *given ? given : "/tmp";
}

/* Removes the folder if it is a scratch folder of this user's that no process has. */
static void sweep(struct arena *arena, const char *path)
{
    struct stat status;
    int lock = open(arena_printf(arena, "%s/%s", path, MARK), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock < 0)
        return;
    if (fstat(lock, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(lock, LOCK_EX | LOCK_NB) == 0)
        files_remove_tree(path);
    close(lock);
}

static void sweep_all(const char *name)
{
    DIR *dir = opendir(base());
    size_t length = strlen(name);
    struct arena arena = {0};
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '-' && entry->d_type != DT_LNK)
            sweep(&arena, arena_printf(&arena, "%s/%s", base(), entry->d_name));
    if (dir)
        closedir(dir);
    arena_free(&arena);
}

/* Marks a new folder as one's own. False: another process has found it in the moment before that, and removed it. */
static bool hold(struct arena *arena, struct scratch *scratch)
{
    struct stat status;
    scratch->lock =
        open(arena_printf(arena, "%s/%s", scratch->path, MARK), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (scratch->lock < 0)
        return errno != ENOENT;
    if (flock(scratch->lock, LOCK_EX) != 0 || fstat(scratch->lock, &status) != 0 || status.st_nlink > 0)
        return true; /* where a file system has no locks, nobody else gets one either */
    close(scratch->lock);
    return false;
}

struct akgen_error *scratch_make(struct arena *arena, const char *name, struct scratch *scratch)
{
    sweep_all(name);
    do {
        char *made = arena_printf(arena, "%s/%s-XXXXXX", base(), name);
        *scratch = (struct scratch){.path = mkdtemp(made), .lock = -1};
        if (!scratch->path)
            return error_new("%s: %m", made);
    } while (!hold(arena, scratch));
    return NULL;
}

void scratch_remove(struct scratch *scratch)
{
    if (!scratch->path)
        return;
    files_remove_tree(scratch->path);
    if (scratch->lock >= 0)
        close(scratch->lock);
    *scratch = (struct scratch){.lock = -1};
}
