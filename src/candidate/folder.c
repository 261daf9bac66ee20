/* Reads a candidate's path once, into memory that only this process writes, before anything else looks at it.
 *
 * What the caller names is the caller's and may be reached through links; everything below is the candidate's. Each folder and
 * file is opened by a single name in the folder above it, which is open already, and never through a link, so nothing that the
 * candidate is made of leads out of it, whatever is changed meanwhile. Folders and regular files are read; hidden ones are
 * left out, anything else is refused, and so is what is too much. A file that changes while it is read is what was read. */
#include "candidate/folder.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/inject.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 24, MAX_PATH = 1024, MAX_SHOWN = 120, READ_AT_ONCE = 1 << 16, SOURCE_LIMIT = 16 << 20 };
static const uint64_t all_bytes = 32ULL << 20;

/* A candidate on its way. */
struct reading {
    struct arena *arena; /* of paths and messages */
    struct arena *kept;  /* of what was read */
    struct op_file *files;
    size_t count, capacity;
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

/* NULL if a message, a line of the compiler's output and JSON can hold the path. */
static struct akgen_error *check_path(struct arena *arena, const char *path)
{
    bool plain = text_is_utf8(path);
    for (const char *c = path; *c; c++)
        plain &= (unsigned char)*c >= ' ' && *c != 0x7f;
    return !plain ? refuse(arena, path, "the name holds a control character or is no UTF-8")
           : strlen(path) > MAX_PATH
               ? refuse(arena, path, arena_printf(arena, "a path of more than %d bytes", MAX_PATH))
               : NULL;
}

static struct akgen_error *too_deep(struct arena *arena, const char *path)
{
    return refuse(arena, path, arena_printf(arena, "more than %d folders deep", MAX_DEPTH));
}

static struct akgen_error *too_large(struct arena *arena, const char *path)
{
    return refuse(arena, path, arena_printf(arena, "more than %d bytes", SOURCE_LIMIT));
}

/* Counts what was read; an error if it is too much in all. */
static struct akgen_error *count_bytes(struct reading *reading, size_t bytes)
{
    reading->bytes += bytes;
    return reading->bytes > all_bytes
               ? refuse(reading->arena, "the candidate",
                        arena_printf(reading->arena, "more than %llu bytes in all", (unsigned long long)all_bytes))
               : NULL;
}

static void keep_file(struct reading *reading, const char *path, const char *bytes, size_t length)
{
    const struct op_file file = {arena_strdup(reading->kept, path),
                                 arena_strndup(reading->kept, bytes ? bytes : "", length), length};
    ARRAY_ADD(reading->kept, reading->files, reading->count, reading->capacity, file);
}

/* Reads what the open file holds now, at most SOURCE_LIMIT bytes. */
static struct akgen_error *read_bytes(struct reading *reading, int from, const char *path, struct text *text)
{
    char buffer[READ_AT_ONCE];
    for (;;) {
        ssize_t n = inject_fails(INJECT_READ) ? -1 : read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_new("%s: could not be read to its end", shown(reading->arena, path));
        if (!n)
            return NULL;
        text_append(text, buffer, (size_t)n);
        struct akgen_error *error =
            text->length > SOURCE_LIMIT ? too_large(reading->arena, path) : count_bytes(reading, (size_t)n);
        if (error)
            return error;
    }
}

static struct akgen_error *read_file(struct reading *reading, int from, const char *name, const char *path)
{
    struct stat status;
    struct text text = {0};
    int source = files_open_at(from, name, FILES_REFUSE_LINKS);
    struct akgen_error *error = NULL;
    if (source < 0 || fstat(source, &status))
        error = failed(reading->arena, path, errno);
    else if (!S_ISREG(status.st_mode))
        error = refuse(reading->arena, path, "neither a file nor a folder");
    else if ((uint64_t)status.st_size > SOURCE_LIMIT) /* without reading the holes of a sparse one */
        error = too_large(reading->arena, path);
    else
        error = read_bytes(reading, source, path, &text);
    if (!error)
        keep_file(reading, path, text.bytes, text.length);
    text_free(&text);
    if (source >= 0)
        close(source);
    return error;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in an open folder, sorted, hidden ones left out. */
static struct akgen_error *list_folder(struct reading *reading, int folder, struct entries *entries)
{
    int again = files_open_at(folder, ".", FILES_REFUSE_LINKS);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    struct akgen_error *error = NULL;
    if (!stream) {
        error = failed(reading->arena, reading->subject, errno);
        if (again >= 0)
            close(again);
        return error;
    }
    for (struct dirent *entry; !error && (entry = readdir(stream));) {
        if (++reading->entries > FILES_MAX)
            error =
                refuse(reading->arena, "the candidate", arena_printf(reading->arena, "more than %d files", FILES_MAX));
        else if (entry->d_name[0] != '.')
            ARRAY_ADD(reading->arena, entries->names, entries->count, entries->capacity,
                      arena_strdup(reading->arena, entry->d_name));
    }
    closedir(stream);
    if (entries->count)
        qsort(entries->names, entries->count, sizeof *entries->names, by_name);
    return error;
}

static struct akgen_error *read_folder(struct reading *reading, int from, const char *path, int depth);

static struct akgen_error *read_entry(struct reading *reading, int from, const char *name, const char *path, int depth)
{
    struct stat status;
    struct akgen_error *error = check_path(reading->arena, path);
    if (error)
        return error;
    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? NULL /* it was there a moment ago */ : failed(reading->arena, path, errno);
    if (S_ISDIR(status.st_mode)) {
        if (depth == MAX_DEPTH)
            return too_deep(reading->arena, path);
        int source = files_open_at(from, name, FILES_REFUSE_LINKS);
        if (source < 0)
            return failed(reading->arena, path, errno);
        keep_file(reading, arena_printf(reading->arena, "%s/", path), NULL, 0);
        error = read_folder(reading, source, path, depth + 1);
        close(source);
        return error;
    }
    if (S_ISREG(status.st_mode))
        return read_file(reading, from, name, path);
    return refuse(reading->arena, path,
                  S_ISLNK(status.st_mode) ? "a link; a candidate's files and folders are its own"
                                          : "neither a file nor a folder");
}

static struct akgen_error *read_folder(struct reading *reading, int from, const char *path, int depth)
{
    struct entries entries = {0};
    struct akgen_error *error = list_folder(reading, from, &entries);
    for (size_t i = 0; i < entries.count && !error; i++) {
        const char *name = entries.names[i];
        error = read_entry(reading, from, name, arena_printf(reading->arena, "%s%s%s", path, *path ? "/" : "", name),
                           depth);
    }
    return error;
}

/* The candidate at `path`: what the caller named, or below the folder `tree` that the caller named; -1 with errno. */
static int open_candidate(struct arena *arena, const char *tree, const char *path)
{
    size_t length = tree ? strlen(tree) : 0;
    if (!length || strncmp(path, tree, length) != 0)
        return files_open_at(AT_FDCWD, path, FILES_FOLLOW_LINKS);
    char *rest = arena_strdup(arena, path + length), *more;
    int at = files_open_at(AT_FDCWD, tree, FILES_FOLLOW_LINKS);
    for (char *name = strtok_r(rest, "/", &more); name && at >= 0; name = strtok_r(NULL, "/", &more)) {
        int next = files_open_at(at, name, FILES_REFUSE_LINKS), reason = errno;
        close(at);
        at = next;
        errno = reason;
    }
    return at;
}

static struct akgen_error *read_open(struct reading *reading, int from, struct candidate_source *source)
{
    struct stat status;
    const char *name = strrchr(reading->subject, '/');
    if (fstat(from, &status))
        return failed(reading->arena, reading->subject, errno);
    if (S_ISDIR(status.st_mode)) {
        struct akgen_error *error = read_folder(reading, from, "", 0);
        source->files = (struct op_files){reading->files, reading->count};
        source->digest = error ? NULL : op_files_digest(reading->kept, &source->files);
        return error;
    }
    reading->subject = name && name[1] ? name + 1 : reading->subject;
    if (!S_ISREG(status.st_mode))
        return refuse(reading->arena, reading->subject, "neither a file nor a folder");
    if (status.st_size > SOURCE_LIMIT)
        return too_large(reading->arena, reading->subject);
    struct text text = {0};
    struct akgen_error *error = read_bytes(reading, from, reading->subject, &text);
    if (!error)
        error = candidate_source_of_text(reading->kept, reading->subject, text.bytes ? text.bytes : "", text.length,
                                         source);
    text_free(&text);
    return error;
}

struct akgen_error *candidate_source_read(struct arena *arena, const char *tree, const char *path,
                                          struct candidate_source *source)
{
    struct arena scratch = {0};
    struct reading reading = {.arena = &scratch, .kept = arena, .subject = path};
    *source = (struct candidate_source){0};
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    int from = open_candidate(&scratch, tree, path);
    struct akgen_error *error = from >= 0         ? read_open(&reading, from, source)
                                : errno == ENOENT ? error_of_the_file(error_new("%s: no such directory", path))
                                : errno == ELOOP  ? refuse(&scratch, name, "reached through a link")
                                                  : failed(&scratch, path, errno);
    if (from >= 0)
        close(from);
    arena_free(&scratch);
    return error;
}

/* The error of a file that comes from elsewhere and that no folder could hold, or NULL. */
static struct akgen_error *check_file(struct reading *reading, const struct op_file *file)
{
    int depth = 0;
    for (const char *slash = file->path; (slash = strchr(slash, '/')); slash++)
        depth++;
    struct akgen_error *error = check_path(reading->arena, file->path);
    if (error)
        return error;
    if (depth > MAX_DEPTH)
        return too_deep(reading->arena, file->path);
    if (file->length > SOURCE_LIMIT)
        return too_large(reading->arena, file->path);
    return count_bytes(reading, file->length);
}

struct akgen_error *candidate_source_of_files(struct arena *arena, const struct op_file *files, size_t count,
                                              struct candidate_source *source)
{
    struct arena scratch = {0};
    struct reading reading = {.arena = &scratch};
    struct akgen_error *error = NULL;
    *source = (struct candidate_source){.files = op_files_of(arena, files, count)};
    const struct op_files *all = &source->files;
    if (all->count > FILES_MAX)
        error = refuse(&scratch, "the candidate", arena_printf(&scratch, "more than %d files", FILES_MAX));
    for (size_t i = 0; i < all->count && !error; i++) {
        const char *path = all->items[i].path;
        size_t length = strlen(path);
        error = check_file(&reading, &all->items[i]);
        /* A folder of a file's name comes right behind it, in the order that files have. */
        if (!error && i + 1 < all->count && strncmp(all->items[i + 1].path, path, length) == 0 &&
            path[length - 1] != '/' && all->items[i + 1].path[length] == '/')
            error = refuse(&scratch, path, "a file, and a folder of other files");
    }
    source->digest = error ? NULL : op_files_digest(arena, all);
    arena_free(&scratch);
    return error;
}

struct akgen_error *candidate_source_of_text(struct arena *arena, const char *name, const char *text, size_t length,
                                             struct candidate_source *source)
{
    struct arena scratch = {0};
    struct digest *digest = digest_new_unforgeable();
    digest_bytes(digest, text, length);
    *source = (struct candidate_source){
        .text = arena_strndup(arena, text, length), .length = length, .digest = digest_finish(digest, arena)};
    struct akgen_error *error = length > SOURCE_LIMIT ? too_large(&scratch, name) : NULL;
    arena_free(&scratch);
    return error;
}
