/* CANN compiles host parts with g++, which takes `int dims[rank] = {};` with a rank that is known at run time; clang says that
 * a variable-sized object may not be initialized. Where it says so, the source pass (prepare_array) turns the initializer
 * into a call that does what g++ does, and what failed is compiled again. */
#include "base/array.h"
#include "base/files.h"
#include "toolchain/build_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 20 }; /* clang stops at its limit of errors (shared_flags), so long files take several */

struct place {
    const char *path;
    int line, column;
};
struct places {
    struct place *items;
    int count, capacity;
};
/* A file that was rewritten. */
struct rewritten {
    const char *path, *text;
};
struct host_arrays {
    struct builder *builder;
    const char **sources; /* every file of the host part; relative to root */
    size_t source_count;
    const char *root;
    struct rewritten *files;
    int count, capacity;
};

/* True if the message is in a file of the author's, whatever #line says. */
static bool is_source(const struct host_arrays *arrays, const char *path)
{
    size_t length = strlen(arrays->root);
    if (strncmp(path, arrays->root, length) != 0 || path[length] != '/')
        return false;
    for (size_t i = 0; i < arrays->source_count; i++)
        if (strcmp(arrays->sources[i], path + length + 1) == 0)
            return true;
    return false;
}

/* "path:line:column: error: variable-sized object may not be initialized", each such line of what clang printed. */
static void read_places(const struct host_arrays *arrays, const char *output, struct places *places)
{
    static const char message[] = ": error: variable-sized object may not be initialized";
    struct arena *arena = arrays->builder->arena;
    for (const char *at = output; (at = strstr(at, message)); at += sizeof message - 1) {
        const char *start = at;
        while (start > output && start[-1] != '\n')
            start--;
        char *line = arena_strndup(arena, start, (size_t)(at - start));
        char *column = strrchr(line, ':'), *row = NULL;
        if (column) {
            *column = '\0';
            row = strrchr(line, ':');
        }
        if (!row)
            continue;
        *row = '\0';
        if (is_source(arrays, line))
            ARRAY_ADD(arena, places->items, places->count, places->capacity,
                      (struct place){.path = line, .line = atoi(row + 1), .column = atoi(column + 1)});
    }
}

/* By file, and in a file from its end, so that a rewrite moves no place that is still to come. */
static int last_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    order = order ? order : y->line - x->line;
    return order ? order : y->column - x->column;
}

static struct rewritten *file_of(struct host_arrays *arrays, const char *path, struct akgen_error **error)
{
    struct arena *arena = arrays->builder->arena;
    for (int i = 0; i < arrays->count; i++)
        if (strcmp(arrays->files[i].path, path) == 0)
            return &arrays->files[i];
    char *text;
    *error = files_read(arena, path, SOURCE_LIMIT, &text, NULL);
    if (*error)
        return NULL;
    ARRAY_ADD(arena, arrays->files, arrays->count, arrays->capacity, (struct rewritten){.path = path, .text = text});
    return &arrays->files[arrays->count - 1];
}

/* Rewrites what the places name; `changed` if any text did. */
static struct akgen_error *rewrite(struct host_arrays *arrays, struct places *places, bool *changed)
{
    struct akgen_error *error = NULL;
    if (places->count)
        qsort(places->items, (size_t)places->count, sizeof *places->items, last_first);
    *changed = false;
    for (int i = 0; i < places->count && !error; i++) {
        const struct place *place = &places->items[i];
        if (i && last_first(place, place - 1) == 0)
            continue; /* a header that several sources include */
        struct rewritten *file = file_of(arrays, place->path, &error);
        const char *text = file ? prepare_array(arrays->builder->arena, file->text, place->line, place->column) : NULL;
        if (text) {
            file->text = text;
            *changed = true;
        }
    }
    return error;
}

static struct akgen_error *write_overlay(struct host_arrays *arrays, const char *path)
{
    struct overlay overlay = {.file = path};
    struct akgen_error *error = NULL;
    for (int i = 0; i < arrays->count && !error; i++)
        error = overlay_add(arrays->builder->arena, &overlay, arrays->files[i].path, arrays->files[i].text);
    return error ? error : overlay_write(arrays->builder->arena, &overlay);
}

struct akgen_error *host_arrays_compile(struct builder *builder, const char *root, struct compile *compiles, int count)
{
    struct host_arrays arrays = {.builder = builder, .root = root};
    const char *overlay = arena_printf(builder->arena, "%s/host-overlay.json", builder->work);
    struct akgen_error *error = NULL;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct places places = {0};
        bool changed;
        for (int i = 0; i < count; i++)
            if (compiles[i].result.exit_code && !arrays.sources && strstr(compiles[i].result.output, "variable-sized"))
                error = files_list(builder->arena, root, &arrays.sources, &arrays.source_count);
        for (int i = 0; i < count && !error && arrays.sources; i++)
            if (compiles[i].result.exit_code)
                read_places(&arrays, compiles[i].result.output, &places);
        if (!error)
            error = rewrite(&arrays, &places, &changed);
        if (!error && changed)
            error = write_overlay(&arrays, overlay);
        if (error || !changed)
            return error;
        /* What compiled has no such array, in its headers neither. */
        for (int i = 0; i < count; i++) {
            if (!compiles[i].result.exit_code)
                continue;
            if (!round) {
                clang_add(builder->arena, &compiles[i].args, "-ivfsoverlay");
                clang_add(builder->arena, &compiles[i].args, overlay);
            }
            compiles_run(builder, &compiles[i], 1);
        }
    }
    return NULL;
}
