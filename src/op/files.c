/* The files of a project in memory, in the order of a walk: a folder, then what is in it by name, then what follows. */
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "op/op.h"

#include <stdlib.h>
#include <string.h>

/* Compares paths part by part: a slash comes before every other character. */
static int by_part(const void *left, const void *right)
{
    const char *a = ((const struct op_file *)left)->path, *b = ((const struct op_file *)right)->path;
    while (*a && *a == *b)
        a++, b++;
    int x = *a == '/' ? 1 : (unsigned char)*a, y = *b == '/' ? 1 : (unsigned char)*b;
    return x - y;
}

struct op_files op_files_of(struct arena *arena, const struct op_file *files, size_t count)
{
    struct op_file *items = NULL;
    size_t all = 0, capacity = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *slash = files[i].path; (slash = strchr(slash, '/')) && slash[1]; slash++) {
            const char *folder = arena_strndup(arena, files[i].path, (size_t)(slash + 1 - files[i].path));
            ARRAY_ADD(arena, items, all, capacity, (struct op_file){.path = folder, .bytes = ""});
        }
        ARRAY_ADD(arena, items, all, capacity, files[i]);
    }
    if (all)
        qsort(items, all, sizeof *items, by_part);
    for (size_t i = 0; i < all; i++)
        if (!i || by_part(&items[i], &items[i - 1]) != 0)
            items[kept++] = items[i];
    return (struct op_files){items, kept};
}

const struct op_file *op_files_find(const struct op_files *files, const char *path)
{
    for (size_t i = 0; files && i < files->count; i++)
        if (strcmp(files->items[i].path, path) == 0)
            return &files->items[i];
    return NULL;
}

bool op_file_is_folder(const struct op_file *file)
{
    return file->path[strlen(file->path) - 1] == '/';
}

const char *op_files_digest(struct arena *arena, const struct op_files *files)
{
    static const char end[1];
    struct digest *digest = digest_new_unforgeable();
    for (size_t i = 0; i < files->count; i++) {
        const struct op_file *file = &files->items[i];
        const uint64_t length = file->length;
        digest_string(digest, file->path);
        if (op_file_is_folder(file))
            continue;
        digest_bytes(digest, file->bytes, file->length);
        digest_bytes(digest, end, sizeof end);
        digest_bytes(digest, &length, sizeof length);
    }
    return digest_finish(digest, arena);
}

struct akgen_error *op_files_write(const char *dir, const struct op_files *files)
{
    struct arena scratch = {0};
    struct akgen_error *error = files_make_directory(dir);
    for (size_t i = 0; i < files->count && !error; i++) {
        const struct op_file *file = &files->items[i];
        const char *path = arena_printf(&scratch, "%s/%s", dir, file->path);
        error = op_file_is_folder(file) ? files_make_directory(path) : files_write(path, file->bytes, file->length);
    }
    arena_free(&scratch);
    return error;
}
