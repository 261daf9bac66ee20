/* A file is written beside its place and moved there when it is whole: who is killed on the way, and a launch that ends early,
 * leave what was there. A pipe or a device has no such place, and is written at once. */
#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct whole_file *file)
{
    free(file->path);
    free(file->beside);
    *file = (struct whole_file){.fd = -1};
}

/* As open() would give it. */
static void set_mode(int fd)
{
    const mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

struct akgen_error *whole_file_open(struct whole_file *file, const char *path, const char *end)
{
    struct stat status;
    const bool there = stat(path, &status) == 0, ordinary = !there || S_ISREG(status.st_mode);
    *file = (struct whole_file){.fd = -1, .path = there ? realpath(path, NULL) : strdup(path), .end = end};
    if (!file->path || (ordinary && asprintf(&file->beside, "%s.XXXXXX", file->path) < 0))
        return error_new("%s: %m", path);
    if (!*path)
        errno = ENOENT;
    else if (!ordinary)
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
    else if (!there || access(path, W_OK) == 0)
        file->fd = mkostemp(file->beside, O_CLOEXEC);
    if (file->fd < 0) {
        struct akgen_error *error = error_new("%s: %m", path);
        forget(file);
        return error;
    }
    if (ordinary)
        set_mode(file->fd);
    return NULL;
}

/* A disk may be full before the last line. */
static bool has_its_end(const struct whole_file *file)
{
    char end[2] = "";
    const off_t bytes = lseek(file->fd, 0, SEEK_END);
    return bytes >= 2 && pread(file->fd, end, 2, bytes - 2) == 2 && memcmp(end, file->end, 2) == 0;
}

bool whole_file_close(struct whole_file *file, bool whole, int failed)
{
    bool named = true;
    if (file->fd < 0)
        return true;
    const bool ended = !failed && (!file->beside || has_its_end(file));
    if (close(file->fd) != 0 && whole && ended) /* some file systems say only now that there is no room */
        failed = errno;
    if (whole && (failed || !ended)) {
        fprintf(stderr, "akgen: %s is not written: %s\n", file->path, failed ? strerror(failed) : "it has no room");
        whole = named = false;
    }
    if (file->beside && whole && rename(file->beside, file->path) != 0) {
        fprintf(stderr, "akgen: %s: %m\n", file->path);
        named = false;
    }
    if (file->beside && !(whole && named))
        unlink(file->beside);
    forget(file);
    return named;
}
