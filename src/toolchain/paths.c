/* CANN has many paths for few headers: "adv_api/activation/gelu.h" and 400 others hold what kernel_operator.h holds here.
 * Those paths stand in one list for each side, include/ascendc/paths.txt and include/cann/paths.txt:
 *
 *     # why
 *     kernel_operator.h                  a header beside the list
 *         adv_api/activation/gelu.h      a path that leads to it
 *
 * and become files of one line in the cache, in a folder named by the digest of the lists, behind the headers' own folder
 * on the compiler's search path. Each file is written whole or not at all and always with the same text, so processes may
 * make the folder side by side, and what was interrupted or removed is made by the next one. A process looks at every file
 * once, and again where the folder is another one. */
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const sides[] = {"ascendc", "cann"};
enum { SIDES = sizeof sides / sizeof *sides, LIST_LIMIT = 1 << 20 };

struct akgen_error *paths_read(struct arena *arena, const char *file, struct path_list *list)
{
    char *rest;
    struct akgen_error *error = files_read(arena, file, LIST_LIMIT, &rest, NULL);
    if (error)
        return error;
    const char *header = NULL;
    int number = 1;
    for (char *line; (line = strsep(&rest, "\n")); number++) {
        const char *path = line + strspn(line, " ");
        if (!*path || *path == '#')
            continue;
        if (path == line)
            header = path;
        else if (header)
            ARRAY_ADD(arena, list->items, list->count, list->capacity,
                      (struct cann_path){.path = path, .header = header});
        else
            return error_new("%s:%d: the path '%s' stands above the first header", file, number, path);
    }
    return NULL;
}

/* Writes the file of a path unless it is there in full. */
static struct akgen_error *make_file(struct arena *arena, const char *folder, const struct cann_path *row)
{
    const char *file = arena_printf(arena, "%s/%s", folder, row->path);
    const char *text = arena_printf(arena, "#include <%s>\n", row->header);
    struct stat status;
    if (!stat(file, &status) && (size_t)status.st_size == strlen(text))
        return NULL;
    return files_write_path(file, text, strlen(text));
}

struct akgen_error *paths_make(struct arena *arena, struct clang *clang)
{
    struct path_list lists[SIDES] = {0};
    struct akgen_error *error = NULL;
    struct digest *digest = digest_new();
    for (int side = 0; side < SIDES && !error; side++) {
        error =
            paths_read(arena, arena_printf(arena, "%s/include/%s/paths.txt", clang->home, sides[side]), &lists[side]);
        digest_string(digest, sides[side]);
        for (size_t i = 0; i < lists[side].count; i++) {
            digest_string(digest, lists[side].items[i].header);
            digest_string(digest, lists[side].items[i].path);
        }
    }
    clang->paths = arena_printf(arena, "%s/paths-%.16s", clang->cache, digest_finish(digest, arena));
    for (int side = 0; side < SIDES && !error; side++) {
        const char *folder = arena_printf(arena, "%s/%s", clang->paths, sides[side]);
        for (size_t i = 0; i < lists[side].count && !error; i++)
            error = make_file(arena, folder, &lists[side].items[i]);
    }
    return error;
}

struct akgen_error *paths_find(struct arena *arena, struct clang *clang)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char home[PATH_MAX], cache[PATH_MAX], paths[PATH_MAX];
        struct timespec changed; /* of the folder: another one may have its inode */
    } known;
    struct stat status;
    struct akgen_error *error = NULL;
    pthread_mutex_lock(&lock);
    if (strcmp(known.home, clang->home) == 0 && strcmp(known.cache, clang->cache) == 0 && !stat(known.paths, &status) &&
        status.st_ctim.tv_sec == known.changed.tv_sec && status.st_ctim.tv_nsec == known.changed.tv_nsec) {
        clang->paths = arena_strdup(arena, known.paths);
    } else {
        error = paths_make(arena, clang);
        if (!error && !stat(clang->paths, &status)) {
            snprintf(known.home, sizeof known.home, "%s", clang->home);
            snprintf(known.cache, sizeof known.cache, "%s", clang->cache);
            snprintf(known.paths, sizeof known.paths, "%s", clang->paths);
            known.changed = status.st_ctim;
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}
