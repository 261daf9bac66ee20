#include "base/files.h"
#include "base/array.h"
#include "base/inject.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX_DEPTH = 24 };

bool files_of_the_file(int reason)
{
    static const int reasons[] = {EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, ENXIO, EOVERFLOW};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reason == reasons[i])
            return true;
    return false;
}

static struct akgen_error *no_access(const char *path, int reason)
{
    struct akgen_error *error = error_new("%s: %s", path, strerror(reason));
    return files_of_the_file(reason) ? error_of_the_file(error) : error;
}

/* How many of `length` bytes there were. */
static size_t read_all(int fd, char *buffer, size_t length)
{
    size_t done = 0;
    while (done < length && !inject_fails(INJECT_READ)) {
        ssize_t n = read(fd, buffer + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

int files_open_at(int folder, const char *name, enum files_links links)
{
    return openat(folder, name,
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == FILES_REFUSE_LINKS ? O_NOFOLLOW : 0));
}

struct akgen_error *files_open(const char *path, enum files_links links, int *fd, struct stat *status)
{
    struct akgen_error *error = NULL;
    *fd = files_open_at(AT_FDCWD, path, links);
    if (*fd < 0 && errno == ELOOP && links == FILES_REFUSE_LINKS)
        error = error_of_the_file(error_new("%s: a link, expected a file of the folder itself", path));
    else if (*fd < 0 || fstat(*fd, status))
        error = no_access(path, errno);
    else if (!S_ISREG(status->st_mode))
        error = error_of_the_file(error_new("%s: not a regular file", path));
    if (error && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return error;
}

static struct akgen_error *files_read_as(struct arena *arena, const char *path, enum files_links links, size_t limit,
                                         char **bytes, size_t *length)
{
    int fd;
    struct stat status;
    struct akgen_error *error = files_open(path, links, &fd, &status);
    if (error)
        return error;
    if ((uint64_t)status.st_size > limit) {
        close(fd);
        return error_of_the_file(
            error_new("%s: %lld bytes, at most %zu are allowed", path, (long long)status.st_size, limit));
    }
    char *buffer = arena_alloc(arena, (size_t)status.st_size + 1);
    size_t done = read_all(fd, buffer, (size_t)status.st_size);
    close(fd);
    if (done < (size_t)status.st_size)
        return error_new("%s: could not be read to its end", path);
    *bytes = buffer;
    if (length)
        *length = done;
    return NULL;
}

struct akgen_error *files_read(struct arena *arena, const char *path, size_t limit, char **bytes, size_t *length)
{
    return files_read_as(arena, path, FILES_FOLLOW_LINKS, limit, bytes, length);
}

struct akgen_error *files_read_inside(struct arena *arena, const char *folder, const char *name, size_t limit,
                                      char **bytes, size_t *length)
{
    return files_read_as(arena, arena_printf(arena, "%s/%s", folder, name), FILES_REFUSE_LINKS, limit, bytes, length);
}

bool files_write_all(int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes; length;) {
        /* A disk that is full takes what there is room for. */
        bool full = inject_fails(INJECT_WRITE);
        ssize_t n = write(fd, at, full ? length / 2 : length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || full) {
            errno = n > 0 || full ? ENOSPC : errno;
            return false;
        }
        at += n;
        length -= (size_t)n;
    }
    return true;
}

struct akgen_error *files_write(const char *path, const void *bytes, size_t length)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return error_new("out of memory");
    int fd = mkostemp(temporary, O_CLOEXEC);
    bool good = fd >= 0 && files_write_all(fd, bytes, length);
    good = good && !fchmod(fd, 0644);
    if (fd >= 0 && close(fd))
        good = false;
    struct akgen_error *error = NULL;
    if (!good || rename(temporary, path)) {
        error = error_new("%s: cannot be written: %s", path, strerror(errno));
        if (fd >= 0)
            unlink(temporary);
    }
    free(temporary);
    return error;
}

bool files_exists(const char *path)
{
    return !access(path, F_OK);
}

struct akgen_error *files_make_directory(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return error_new("out of memory");
    for (char *slash = copy + 1;; slash++) {
        if (*slash && *slash != '/')
            continue;
        char saved = *slash;
        *slash = '\0';
        if (mkdir(copy, 0755) && errno != EEXIST) {
            struct akgen_error *error = error_new("%s: cannot be made: %s", copy, strerror(errno));
            free(copy);
            return error;
        }
        *slash = saved;
        if (!saved)
            break;
    }
    free(copy);
    return NULL;
}

struct akgen_error *files_write_path(const char *path, const void *bytes, size_t length)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    struct akgen_error *error = folder ? files_make_directory(folder) : error_new("out of memory");
    free(folder);
    return error ? error : files_write(path, bytes, length);
}

struct akgen_error *files_begin_directory(struct arena *arena, const char *path, const char **unfinished)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    const char *whole = arena_strndup(arena, path, length);
    const char *name = strrchr(whole, '/') ? strrchr(whole, '/') + 1 : whole;
    const char *parent = name == whole ? "." : arena_strndup(arena, whole, (size_t)(name - whole));
    struct akgen_error *error = files_make_directory(parent);
    if (error)
        return error;
    char *folder = arena_printf(arena, "%s/.%s.XXXXXX", parent, name);
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
        return error_new("%s: cannot be made: %s", folder, strerror(errno));
    *unfinished = folder;
    return NULL;
}

struct akgen_error *files_finish_directory(const char *unfinished, const char *path)
{
    if (rename(unfinished, path) == 0)
        return NULL;
    int reason = errno;
    files_remove_tree(unfinished);
    return reason == ENOTEMPTY || reason == EEXIST ? NULL : error_new("%s: cannot be made: %s", path, strerror(reason));
}

struct file_walk {
    struct arena *arena;
    const char *root;
    const char **paths;
    size_t count, capacity;
};

static struct akgen_error *walk_directory(struct file_walk *walk, const char *relative, int depth)
{
    const char *dir = *relative ? arena_printf(walk->arena, "%s/%s", walk->root, relative) : walk->root;
    DIR *stream = opendir(dir);
    if (!stream)
        return errno == ENOENT && !depth ? NULL : no_access(dir, errno);
    int fd = dirfd(stream);
    assert(fd >= 0);
    struct akgen_error *error = NULL;
    for (struct dirent *entry; !error && (entry = readdir(stream));) {
        if (entry->d_name[0] == '.')
            continue;
        struct stat status;
        if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        const char *path = arena_printf(walk->arena, "%s%s%s", relative, *relative ? "/" : "", entry->d_name);
        if (S_ISREG(status.st_mode))
            ARRAY_ADD(walk->arena, walk->paths, walk->count, walk->capacity, path);
        else if (S_ISDIR(status.st_mode) && depth < FILES_MAX_DEPTH)
            error = walk_directory(walk, path, depth + 1);
        else if (!S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode))
            error = error_of_the_file(error_new("%s/%s: neither a file nor a folder", walk->root, path));
        if (!error && walk->count > FILES_MAX)
            error = error_of_the_file(error_new("%s: more than %d files", walk->root, FILES_MAX));
    }
    closedir(stream);
    return error;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct akgen_error *files_list(struct arena *arena, const char *dir, const char ***paths, size_t *count)
{
    struct file_walk walk = {.arena = arena, .root = dir};
    struct akgen_error *error = walk_directory(&walk, "", 0);
    if (walk.count)
        qsort(walk.paths, walk.count, sizeof *walk.paths, compare_paths);
    *paths = walk.paths;
    *count = walk.count;
    return error;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *where)
{
    (void)status, (void)flag, (void)where;
    return remove(path), 0;
}

void files_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *files_program(struct arena *arena, const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return NULL;
    self[length] = '\0';
    const char *dir = dirname(self);
    static const char *const places[] = {"", "../", "../libexec/akgen/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = arena_printf(arena, "%s/%s%s", dir, places[i], name);
        char *real = access(path, X_OK) ? NULL : realpath(path, NULL);
        if (real) {
            path = arena_strdup(arena, real);
            free(real);
            return path;
        }
    }
    return NULL;
}
