/* CANN compiles host parts with g++, which takes two things that clang refuses:
 *
 *   int dims[rank] = {};       with a rank that is known at run time. Where clang says that a variable-sized object may not be
 *                              initialized, the source pass (prepare_array) turns the initializer into a call that does what
 *                              g++ does.
 *   uint32_t tile[] = {rows};  with an int64_t that is no constant: g++ warns. A constant that does not fit is an error to both.
 *
 * What failed for one of these alone is compiled again. */
#include "base/array.h"
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
/* The path in the project of a message's file, whatever #line says; NULL: it is none of the author's. */
static const char *source_of(const struct source_view *view, const char *path)
{
    size_t length = strlen(view->root);
    const struct op_files files = {view->items, view->count};
    const struct op_file *file =
        strncmp(path, view->root, length) == 0 && path[length] == '/' ? op_files_find(&files, path + length + 1) : NULL;
    return file ? file->path : NULL;
}

/* "path:line:column: error: variable-sized object may not be initialized", each such line of what clang printed. */
static void read_places(struct arena *arena, const struct source_view *view, const char *output, struct places *places)
{
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
        const char *path = source_of(view, line);
        if (path)
            ARRAY_ADD(arena, places->items, places->count, places->capacity,
                      (struct place){.path = path, .line = atoi(row + 1), .column = atoi(column + 1)});
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

/* Rewrites what the places name. True if any text changed. */
static bool rewrite(struct arena *arena, struct source_view *view, struct places *places)
{
    const struct op_files files = {view->items, view->count};
    bool changed = false;
    if (places->count)
        qsort(places->items, (size_t)places->count, sizeof *places->items, last_first);
    for (int i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        if (i && last_first(place, place - 1) == 0)
            continue; /* a header that several sources include */
        const char *before = op_files_find(&files, place->path)->bytes;
        const char *text =
            strlen(before) <= LARGEST_REWRITTEN ? prepare_array(arena, before, place->line, place->column) : NULL;
        if (text)
            source_view_change(view, place->path, text);
        changed |= text != NULL;
    }
    return changed;
}

void host_gnu_compile(struct builder *builder, struct compile *compiles, int count)
{
    bool again = true;
    for (int round = 0; round < ROUNDS_MAX && again; round++) {
        /* Rewrites the arrays that the compilers named. */
        struct places places = {0};
        for (int i = 0; i < count; i++)
            if (compiles[i].result.exit_code)
                read_places(builder->arena, &builder->view, compiles[i].result.output, &places);
        const bool changed = rewrite(builder->arena, &builder->view, &places);
        again = false;
        for (int i = 0; i < count; i++) {
            struct compile *compile = &compiles[i];
            /* What compiled has no such array, in its headers neither. */
            if (!compile->result.exit_code)
                continue;
            /* Whether the compiler stopped at values that it does not know, and at none that it knows. */
            bool narrows = strstr(compile->result.output, "error: non-constant-expression cannot be narrowed") &&
                           !strstr(compile->result.output, "which cannot be narrowed to type");
            if (narrows)
                clang_add(builder->arena, &compile->args, "-Wno-c++11-narrowing");
            if (narrows || changed) {
                compiles_run(builder, compile, 1);
                again = true;
            }
        }
    }
}
