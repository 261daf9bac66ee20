/* CANN compiles host parts with g++, which takes two things that clang refuses:
 *
 *   int dims[rank] = {};       with a rank that is known at run time. Where clang says that a variable-sized object may not be
 *                              initialized, the source pass (prepare_array) turns the initializer into a call that does what
 *                              g++ does.
 *   uint32_t tile[] = {rows};  with an int64_t that is no constant: g++ warns. A constant that does not fit is an error to both.
 *
 * What failed for one of these alone is compiled again. */
#include "base/array.h"
#include "base/files.h"
#include "toolchain/build_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_REWRITTEN = 1 << 20 };
enum { ROUNDS_MAX = 20 }; /* clang stops at its limit of errors (shared_flags), so long files take several */

static const char message[] = ": error: variable-sized object may not be initialized";

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
struct gnu_host {
    struct builder *builder;
    const char **sources; /* every file of the host part; relative to root */
    size_t source_count;
    const char *root;
    struct rewritten *files;
    int count, capacity;
};

/* True if the message is in a file of the author's, whatever #line says. */
static bool is_source(const struct gnu_host *host, const char *path)
{
    size_t length = strlen(host->root);
    if (strncmp(path, host->root, length) != 0 || path[length] != '/')
        return false;
    for (size_t i = 0; i < host->source_count; i++)
        if (strcmp(host->sources[i], path + length + 1) == 0)
            return true;
    return false;
}

/* "path:line:column: error: variable-sized object may not be initialized", each such line of what clang printed. */
static void read_places(const struct gnu_host *host, const char *output, struct places *places)
{
    struct arena *arena = host->builder->arena;
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
        if (is_source(host, line))
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

static struct rewritten *file_of(struct gnu_host *host, const char *path, struct akgen_error **error)
{
    struct arena *arena = host->builder->arena;
    for (int i = 0; i < host->count; i++)
        if (strcmp(host->files[i].path, path) == 0)
            return &host->files[i];
    char *text;
    *error = files_read(arena, path, SOURCE_LIMIT, &text, NULL);
    if (*error)
        return NULL;
    ARRAY_ADD(arena, host->files, host->count, host->capacity, (struct rewritten){.path = path, .text = text});
    return &host->files[host->count - 1];
}

/* Rewrites what the places name; `changed` if any text did. */
static struct akgen_error *rewrite(struct gnu_host *host, struct places *places, bool *changed)
{
    struct akgen_error *error = NULL;
    if (places->count)
        qsort(places->items, (size_t)places->count, sizeof *places->items, last_first);
    *changed = false;
    for (int i = 0; i < places->count && !error; i++) {
        const struct place *place = &places->items[i];
        if (i && last_first(place, place - 1) == 0)
            continue; /* a header that several sources include */
        struct rewritten *file = file_of(host, place->path, &error);
        bool short_enough = file && strlen(file->text) <= LARGEST_REWRITTEN;
        const char *text =
            short_enough ? prepare_array(host->builder->arena, file->text, place->line, place->column) : NULL;
        if (text) {
            file->text = text;
            *changed = true;
        }
    }
    return error;
}

static struct akgen_error *write_overlay(struct gnu_host *host, const char *path)
{
    struct overlay overlay = {.file = path};
    struct akgen_error *error = NULL;
    for (int i = 0; i < host->count && !error; i++)
        error = overlay_add(host->builder->arena, &overlay, host->files[i].path, host->files[i].text);
    return error ? error : overlay_write(host->builder->arena, &overlay);
}

/* Whether the compiler stopped at values that it does not know, and at none that it knows. */
static bool only_narrows(const char *output)
{
    return strstr(output, "error: non-constant-expression cannot be narrowed") &&
           !strstr(output, "which cannot be narrowed to type");
}

/* Rewrites the arrays that the compilers named. */
static struct akgen_error *rewrite_arrays(struct gnu_host *host, const struct compile *compiles, int count,
                                          bool *changed)
{
    struct places places = {0};
    struct akgen_error *error = NULL;
    for (int i = 0; i < count && !error; i++) {
        const struct sandbox_result *result = &compiles[i].result;
        if (!result->exit_code || !strstr(result->output, message))
            continue;
        if (!host->sources)
            error = files_list(host->builder->arena, host->root, &host->sources, &host->source_count);
        if (!error)
            read_places(host, result->output, &places);
    }
    return error ? error : rewrite(host, &places, changed);
}

struct akgen_error *host_gnu_compile(struct builder *builder, const char *root, struct compile *compiles, int count)
{
    struct gnu_host host = {.builder = builder, .root = root};
    const char *overlay = arena_printf(builder->arena, "%s/host-overlay.json", builder->work);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool had_arrays = host.count, changed = false, again = false;
        struct akgen_error *error = rewrite_arrays(&host, compiles, count, &changed);
        if (!error && changed)
            error = write_overlay(&host, overlay);
        if (error)
            return error;
        for (int i = 0; i < count; i++) {
            struct compile *compile = &compiles[i];
            /* What compiled has no such array, in its headers neither. */
            if (!compile->result.exit_code)
                continue;
            bool narrows = only_narrows(compile->result.output);
            if (narrows)
                clang_add(builder->arena, &compile->args, "-Wno-c++11-narrowing");
            if (changed && !had_arrays) {
                clang_add(builder->arena, &compile->args, "-ivfsoverlay");
                clang_add(builder->arena, &compile->args, overlay);
            }
            if (narrows || changed) {
                compiles_run(builder, compile, 1);
                again = true;
            }
        }
        if (!again)
            break;
    }
    return NULL;
}
