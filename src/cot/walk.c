/* A walk that nothing ends: what cannot be read is listed with the reason. */
#include "cot/walk.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"

#include <stdbool.h>
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_end(const char *path, const char *const *ends)
{
    size_t length = strlen(path);
    for (; *ends; ends++)
        if (length > strlen(*ends) && strcasecmp(path + length - strlen(*ends), *ends) == 0)
            return true;
    return false;
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Why the entry is listed without being read; NULL: it is a file, or nothing to list: `listed` says which. */
static const char *reason_of(const FTSENT *entry, const char *const *ends, bool *listed)
{
    *listed = has_end(entry->fts_path, ends);
    switch (entry->fts_info) {
    case FTS_F:
        return text_is_utf8(entry->fts_path) ? NULL : "a name that is no UTF-8";
    case FTS_SL:
    case FTS_SLNONE:
        return "a link";
    case FTS_DEFAULT:
        return "neither a file nor a folder";
    case FTS_DNR:
        *listed = true;
        return "a folder that cannot be read";
    case FTS_NS:
    case FTS_ERR:
        return "a file that cannot be read";
    default:
        *listed = false;
        return NULL;
    }
}

struct akgen_error *cot_walk(struct arena *arena, const char *path, const char *const *ends, struct cot_file **files,
                             size_t *count)
{
    char *roots[] = {arena_strdup(arena, path), NULL};
    struct stat status;
    size_t capacity = 0;
    *files = NULL;
    *count = 0;
    for (size_t length = strlen(path); length > 1 && roots[0][length - 1] == '/'; length--)
        roots[0][length - 1] = 0;
    if (stat(path, &status))
        return error_new("%s: %m", path);
    if (!S_ISDIR(status.st_mode)) {
        const char *reason = !S_ISREG(status.st_mode) ? "neither a file nor a folder"
                             : !text_is_utf8(path)    ? "a name that is no UTF-8"
                                                      : NULL;
        ARRAY_ADD(arena, *files, *count, capacity, (struct cot_file){roots[0], reason});
        return NULL;
    }
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    if (!walk)
        return error_new("%s: %m", path);
    for (FTSENT *entry; (entry = fts_read(walk));) {
        bool listed;
        const char *reason = reason_of(entry, ends, &listed);
        if (entry->fts_info == FTS_D && entry->fts_level > 0 && *entry->fts_name == '.')
            fts_set(walk, entry, FTS_SKIP);
        else if (listed)
            ARRAY_ADD(arena, *files, *count, capacity, (struct cot_file){arena_strdup(arena, entry->fts_path), reason});
    }
    fts_close(walk);
    return NULL;
}

const char *cot_read_text(struct arena *arena, const char *path, size_t largest, size_t *length, const char **reason)
{
    struct stat status;
    char *text = NULL;
    *reason = NULL;
    if (lstat(path, &status) || !S_ISREG(status.st_mode))
        *reason = "a file that cannot be read";
    else if ((size_t)status.st_size > largest)
        *reason = "a file that is too large";
    if (*reason)
        return NULL;
    struct akgen_error *error = files_read(arena, path, largest, &text, length);
    if (error)
        *reason = "a file that cannot be read";
    else if (memchr(text, 0, *length))
        *reason = "binary";
    else if (!text_is_utf8(text))
        *reason = "no UTF-8";
    error_free(error);
    return *reason ? NULL : text;
}
