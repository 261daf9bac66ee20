/* A copy of the candidate that nobody else writes, taken before anything else looks at it.
 *
 * What the caller names is the caller's and may be reached through links; everything below is the candidate's. Each folder and
 * file is opened by a single name in the folder above it, which is open already, and never through a link, so nothing that the
 * candidate is made of leads out of it, whatever is changed meanwhile. Folders and regular files are copied; hidden ones are
 * left out, anything else is refused, and so is what is too much. A file that changes while it is read is what was read.
 *
 * The digest is of every name and byte of the copy, in an order that does not depend on the file system. */
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/inject.h"
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 24, MAX_PATH = 1024, MAX_SHOWN = 120, READ_AT_ONCE = 1 << 16 };
static const uint64_t all_bytes = 32ULL << 20;

/* A candidate on its way. */
struct copying {
    struct arena *arena;
    struct digest *digest;
    bool copies; /* else it is only digested */
    int entries;
    uint64_t bytes;
    const char *subject; /* what is too large as a whole */
};

struct entries {
    const char **names;
    size_t count, capacity;
};

/* A name for people: no control characters, not endless. */
static const char *shown(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    const char *end = length > MAX_SHOWN ? name + length - MAX_SHOWN : name;
    char *copy = arena_printf(arena, "%s%s", end == name ? "" : "...", end);
    text_make_utf8(copy);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return copy;
}

static struct akgen_error *refuse(struct arena *arena, const char *path, const char *why)
{
    return error_of_the_file(error_new("%s: %s", shown(arena, path), why));
}

/* Why a system call on a file failed: because of the file, or of this machine. */
static struct akgen_error *failed(struct arena *arena, const char *path, int reason)
{
    struct akgen_error *error = error_new("%s: %s", shown(arena, path), strerror(reason));
    return files_of_the_file(reason) ? error_of_the_file(error) : error;
}

/* Copies what the open file holds now, at most SOURCE_LIMIT bytes; `to` is -1 if it is only digested. */
static struct akgen_error *copy_bytes(struct copying *copying, int from, int to, const char *path)
{
    static const uint8_t nothing[1];
    uint8_t buffer[READ_AT_ONCE];
    uint64_t length = 0;
    for (;;) {
        ssize_t n = inject_fails(INJECT_READ) ? -1 : read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_new("%s: could not be read to its end", shown(copying->arena, path));
        if (!n)
            break;
        length += (uint64_t)n;
        copying->bytes += (uint64_t)n;
        if (length > SOURCE_LIMIT)
            return refuse(copying->arena, path, arena_printf(copying->arena, "more than %d bytes", SOURCE_LIMIT));
        if (copying->bytes > all_bytes)
            return refuse(copying->arena, "the candidate",
                          arena_printf(copying->arena, "more than %llu bytes in all", (unsigned long long)all_bytes));
        digest_bytes(copying->digest, buffer, (size_t)n);
        if (to >= 0 && !files_write_all(to, buffer, (size_t)n))
            return error_new("the copy of %s: %s", shown(copying->arena, path), strerror(errno));
    }
    digest_bytes(copying->digest, nothing, 1);
    digest_bytes(copying->digest, &length, sizeof length);
    return NULL;
}

/* Opens what is known to be a folder or a regular file, without waiting and without following. */
static int open_inside(int folder, const char *name, int flags)
{
    return openat(folder, name, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static struct akgen_error *copy_file(struct copying *copying, int from, int to, const char *name, const char *path)
{
    struct stat status;
    int source = open_inside(from, name, 0), copy = -1;
    struct akgen_error *error = NULL;
    if (source < 0 || fstat(source, &status))
        error = failed(copying->arena, path, errno);
    else if (!S_ISREG(status.st_mode))
        error = refuse(copying->arena, path, "neither a file nor a folder");
    else if ((uint64_t)status.st_size > SOURCE_LIMIT) /* without reading the holes of a sparse one */
        error = refuse(copying->arena, path, arena_printf(copying->arena, "more than %d bytes", SOURCE_LIMIT));
    if (!error && copying->copies && (copy = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
        error = error_new("the copy of %s: %s", shown(copying->arena, path), strerror(errno));
    if (!error) {
        digest_string(copying->digest, path);
        error = copy_bytes(copying, source, copy, path);
    }
    if (source >= 0)
        close(source);
    if (copy >= 0)
        close(copy);
    return error;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in an open folder, sorted, hidden ones left out. */
static struct akgen_error *list_folder(struct copying *copying, int folder, struct entries *entries)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    struct akgen_error *error = NULL;
    if (!stream) {
        error = error_new("%s: %s", copying->subject, strerror(errno));
        if (again >= 0)
            close(again);
        return error;
    }
    for (struct dirent *entry; !error && (entry = readdir(stream));) {
        if (++copying->entries > FILES_MAX)
            error =
                refuse(copying->arena, "the candidate", arena_printf(copying->arena, "more than %d files", FILES_MAX));
        else if (entry->d_name[0] != '.')
            ARRAY_ADD(copying->arena, entries->names, entries->count, entries->capacity,
                      arena_strdup(copying->arena, entry->d_name));
    }
    closedir(stream);
    if (entries->count)
        qsort(entries->names, entries->count, sizeof *entries->names, by_name);
    return error;
}

/* A name that a message, a line of the compiler's output and JSON can hold. */
static bool is_plain(struct arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name);
    text_make_utf8(copy);
    bool plain = strcmp(copy, name) == 0;
    for (const char *c = name; *c; c++)
        plain &= (unsigned char)*c >= ' ' && *c != 0x7f;
    return plain;
}

static struct akgen_error *copy_folder(struct copying *copying, int from, int to, const char *path, int depth);

static struct akgen_error *copy_subfolder(struct copying *copying, int from, int to, const char *name, const char *path,
                                          int depth)
{
    if (depth == MAX_DEPTH)
        return refuse(copying->arena, path, arena_printf(copying->arena, "more than %d folders deep", MAX_DEPTH));
    int source = open_inside(from, name, O_DIRECTORY), copy = -1;
    struct akgen_error *error = NULL;
    if (source < 0)
        return failed(copying->arena, path, errno);
    if (copying->copies &&
        (mkdirat(to, name, 0700) || (copy = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0))
        error = error_new("the copy of %s: %s", shown(copying->arena, path), strerror(errno));
    if (!error) {
        digest_string(copying->digest, arena_printf(copying->arena, "%s/", path));
        error = copy_folder(copying, source, copy, path, depth + 1);
    }
    close(source);
    if (copy >= 0)
        close(copy);
    return error;
}

static struct akgen_error *copy_entry(struct copying *copying, int from, int to, const char *name, const char *path,
                                      int depth)
{
    struct stat status;
    if (!is_plain(copying->arena, name))
        return refuse(copying->arena, path, "the name holds a control character or is no UTF-8");
    if (strlen(path) > MAX_PATH)
        return refuse(copying->arena, path, arena_printf(copying->arena, "a path of more than %d bytes", MAX_PATH));
    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? NULL /* it was there a moment ago */ : failed(copying->arena, path, errno);
    if (S_ISDIR(status.st_mode))
        return copy_subfolder(copying, from, to, name, path, depth);
    if (S_ISREG(status.st_mode))
        return copy_file(copying, from, to, name, path);
    return refuse(copying->arena, path,
                  S_ISLNK(status.st_mode) ? "a link; a candidate's files and folders are its own"
                                          : "neither a file nor a folder");
}

static struct akgen_error *copy_folder(struct copying *copying, int from, int to, const char *path, int depth)
{
    struct entries entries = {0};
    struct akgen_error *error = list_folder(copying, from, &entries);
    for (size_t i = 0; i < entries.count && !error; i++) {
        const char *name = entries.names[i];
        error = copy_entry(copying, from, to, name,
                           arena_printf(copying->arena, "%s%s%s", path, *path ? "/" : "", name), depth);
    }
    return error;
}

/* The candidate at `path`: what the caller named, or below the folder `tree` that the caller named; -1 with errno. */
static int open_candidate(struct arena *arena, const char *tree, const char *path)
{
    size_t length = tree ? strlen(tree) : 0;
    if (!length || strncmp(path, tree, length) != 0)
        return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *rest = arena_strdup(arena, path + length), *more;
    int at = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (char *name = strtok_r(rest, "/", &more); name && at >= 0; name = strtok_r(NULL, "/", &more)) {
        int next = open_inside(at, name, 0), reason = errno;
        close(at);
        at = next;
        errno = reason;
    }
    return at;
}

/* The text of an answer's file. */
static struct akgen_error *take_answer(struct copying *copying, int from, struct snapshot *snapshot)
{
    struct text text = {0};
    char buffer[READ_AT_ONCE];
    ssize_t n;
    while (text.length <= SOURCE_LIMIT &&
           (n = inject_fails(INJECT_READ) ? -1 : read(from, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            text_free(&text);
            return error_new("%s: could not be read to its end", shown(copying->arena, copying->subject));
        }
        text_append(&text, buffer, (size_t)n);
    }
    digest_bytes(copying->digest, text.bytes, text.length);
    snapshot->answer = arena_strndup(copying->arena, text.bytes ? text.bytes : "", text.length);
    snapshot->answer_bytes = text.length;
    text_free(&text);
    return snapshot->answer_bytes <= SOURCE_LIMIT
               ? NULL
               : refuse(copying->arena, copying->subject,
                        arena_printf(copying->arena, "more than %d bytes", SOURCE_LIMIT));
}

static struct akgen_error *take_folder(struct copying *copying, int from, const char *dir)
{
    int to = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return error_new("%s: %s", dir, strerror(errno));
    struct akgen_error *error = copy_folder(copying, from, to, "", 0);
    close(to);
    return error;
}

static struct akgen_error *take(struct copying *copying, int from, struct snapshot *snapshot)
{
    struct stat status;
    const char *name = strrchr(copying->subject, '/');
    if (fstat(from, &status))
        return failed(copying->arena, copying->subject, errno);
    if (S_ISDIR(status.st_mode))
        return take_folder(copying, from, snapshot->dir);
    copying->subject = name && name[1] ? name + 1 : copying->subject;
    if (!S_ISREG(status.st_mode))
        return refuse(copying->arena, copying->subject, "neither a file nor a folder");
    if (status.st_size > SOURCE_LIMIT)
        return refuse(copying->arena, copying->subject,
                      arena_printf(copying->arena, "more than %d bytes", SOURCE_LIMIT));
    return take_answer(copying, from, snapshot);
}

struct akgen_error *snapshot_take(struct arena *arena, const char *cache_dir, const char *tree, const char *path,
                                  struct snapshot *snapshot)
{
    struct arena scratch = {0};
    struct copying copying = {.arena = &scratch, .copies = true, .subject = path};
    const char *cache;
    *snapshot = (struct snapshot){.work = {.lock = -1}};
    int from = open_candidate(&scratch, tree, path);
    struct akgen_error *error = from >= 0         ? NULL
                                : errno == ENOENT ? error_of_the_file(error_new("%s: no such directory", path))
                                : errno == ELOOP  ? refuse(&scratch, path, "reached through a link")
                                                  : failed(&scratch, path, errno);
    if (!error)
        error = toolchain_cache(&scratch, cache_dir, &cache);
    if (!error)
        error = work_make(&scratch, cache, &snapshot->work);
    if (!error) {
        snapshot->work.path = snapshot->dir = arena_strdup(arena, snapshot->work.path);
        copying.digest = digest_new_unforgeable();
        error = take(&copying, from, snapshot);
        snapshot->digest = digest_finish(copying.digest, arena);
        if (snapshot->answer)
            snapshot->answer = arena_copy(arena, snapshot->answer, snapshot->answer_bytes + 1);
    }
    if (from >= 0)
        close(from);
    arena_free(&scratch);
    return error;
}

void snapshot_remove(struct snapshot *snapshot)
{
    work_remove(&snapshot->work);
}

struct akgen_error *snapshot_digest(struct arena *arena, const char *dir, const char **digest)
{
    struct arena scratch = {0};
    struct copying copying = {.arena = &scratch, .subject = dir};
    int from = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *digest = "";
    if (from < 0)
        return errno == ENOENT ? NULL : failed(arena, dir, errno);
    copying.digest = digest_new_unforgeable();
    struct akgen_error *error = copy_folder(&copying, from, -1, "", 0);
    *digest = digest_finish(copying.digest, arena);
    close(from);
    arena_free(&scratch);
    return error;
}
