/* How large the cache of objects becomes: $AKGEN_CACHE_MB (default 4096) megabytes. When it holds more, what was not used for
 * the longest time is removed until a quarter is free, by whichever program notices first. What was used in the last minutes stays,
 * whatever the bound: somebody may be about to load it. An entry of which only a part is left is no entry (cache_load). */
#include "base/array.h"
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_MB = 4096, USED_NOW_SECONDS = 600, LOOK_SECONDS = 60 };

struct object {
    const char *path;
    double used;
    uint64_t bytes;
};
struct objects {
    struct object *items;
    size_t count, capacity;
    uint64_t bytes;
};

static uint64_t bound(void)
{
    const char *given = getenv("AKGEN_CACHE_MB");
    char *end;
    unsigned long long megabytes = given ? strtoull(given, &end, 10) : DEFAULT_MB;
    return (given && (end == given || *end) ? (uint64_t)DEFAULT_MB : megabytes) << 20;
}

static void list_folder(struct arena *arena, const char *folder, struct objects *objects)
{
    struct stat status;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(status.st_mode))
            continue;
        ARRAY_ADD(arena, objects->items, objects->count, objects->capacity,
                  (struct object){.path = arena_printf(arena, "%s/%s", folder, entry->d_name),
                                  .used = (double)status.st_mtim.tv_sec + 1e-9 * (double)status.st_mtim.tv_nsec,
                                  .bytes = (uint64_t)status.st_blocks * 512});
        objects->bytes += (uint64_t)status.st_blocks * 512;
    }
    if (dir)
        closedir(dir);
}

static int by_use(const void *left, const void *right)
{
    const struct object *a = left, *b = right;
    return (a->used > b->used) - (a->used < b->used);
}

static void trim(const char *root, uint64_t most)
{
    struct arena arena = {0};
    struct objects objects = {0};
    DIR *dir = opendir(root);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            list_folder(&arena, arena_printf(&arena, "%s/%s", root, entry->d_name), &objects);
    if (dir)
        closedir(dir);
    if (objects.bytes > most) {
        double now = (double)time(NULL);
        qsort(objects.items, objects.count, sizeof *objects.items, by_use);
        for (size_t i = 0; i < objects.count && objects.bytes > most / 4 * 3; i++) {
            if (objects.items[i].used > now - USED_NOW_SECONDS)
                break;
            if (unlink(objects.items[i].path) == 0)
                objects.bytes -= objects.items[i].bytes;
        }
    }
    arena_free(&arena);
}

void cache_keep_bound(struct arena *arena, const struct clang *clang, uint64_t stored)
{
    static atomic_ullong since_last;
    const char *root = arena_printf(arena, "%s/objects", clang->cache);
    const char *stamp = arena_printf(arena, "%s/.trimmed", root);
    uint64_t most = bound(), so_far = atomic_fetch_add(&since_last, stored) + stored;
    struct stat status;
    bool looked = stat(stamp, &status) == 0 && status.st_mtime > time(NULL) - LOOK_SECONDS;
    if (looked && so_far < most / 8)
        return;
    int lock = open(stamp, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        atomic_store(&since_last, 0);
        trim(root, most);
        futimens(lock, NULL);
    }
    close(lock);
}

void cache_used(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, 0);
}
