/* Includes, in the place where they stand. */
#include "cot/merge.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

/* A source by its path without "." and "..". */
struct cot_source_path {
    const char *path;
    size_t number;
};
struct merge {
    struct arena *arena;
    const struct cot_sources *sources;
    bool *taken; /* of the sources: it is in, and guards itself */
    struct text text;
    const char *reason;
};

/* "a/b/../c/./d" is "a/c/d". */
static const char *plain_path(struct arena *arena, const char *path)
{
    char *plain = arena_alloc(arena, strlen(path) + 2), *to = plain;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/"), behind = length + (at[length] == '/');
        char *before = to;
        while (before > plain && before[-1] == '/' && before - 1 > plain && before[-2] != '/')
            before--;
        char *part = before;
        while (part > plain && part[-1] != '/')
            part--;
        if (length == 2 && memcmp(at, "..", 2) == 0 && part < before && strncmp(part, "../", 3) != 0)
            to = part;
        else if (!(length == 1 && *at == '.') && (length || at == path)) {
            memcpy(to, at, behind);
            to += behind;
        }
        at += behind;
    }
    *to = 0;
    return plain;
}

static int by_path(const void *one, const void *other)
{
    return strcmp(((const struct cot_source_path *)one)->path, ((const struct cot_source_path *)other)->path);
}

void cot_sources_sort(struct arena *arena, struct cot_sources *sources)
{
    struct cot_source_path *paths = arena_alloc(arena, (sources->count + 1) * sizeof *paths);
    for (size_t i = 0; i < sources->count; i++)
        paths[i] = (struct cot_source_path){plain_path(arena, sources->files[i].path), i};
    qsort(paths, sources->count, sizeof *paths, by_path);
    sources->paths = paths;
}

static int find_path(const struct merge *merge, const char *path)
{
    const struct cot_sources *sources = merge->sources;
    const struct cot_source_path wanted = {.path = plain_path(merge->arena, path)},
                                 *found = bsearch(&wanted, sources->paths, sources->count, sizeof wanted, by_path);
    return found && !sources->files[found->number].reason ? (int)found->number : -1;
}

/* The one file whose path ends so; -1: none, or several. */
static int find_end(const struct merge *merge, const char *name)
{
    const char *end = arena_printf(merge->arena, "/%s", name);
    int found = -1;
    for (size_t i = 0; i < merge->sources->count; i++) {
        const struct cot_file *file = &merge->sources->files[i];
        size_t length = strlen(file->path);
        if (file->reason || length <= strlen(end) || strcmp(file->path + length - strlen(end), end) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* The file that a line of `path` includes; -1: none of these. */
static int find(const struct merge *merge, const char *path, const char *name)
{
    char *folder = arena_strdup(merge->arena, path);
    int found = -1;
    if (*name == '/')
        return -1;
    for (char *slash; found < 0 && (slash = strrchr(folder, '/')); *slash = 0)
        found = find_path(merge, arena_printf(merge->arena, "%.*s/%s", (int)(slash - folder), folder, name));
    return found >= 0 ? found : find_end(merge, name);
}

/* The name between quotes of an #include line; NULL: it is none. */
static const char *included(struct arena *arena, const char *line, size_t length)
{
    const char *at = line + strspn(line, " \t"), *end = line + length;
    if (*at++ != '#')
        return NULL;
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0)
        return NULL;
    at += 7 + strspn(at + 7, " \t");
    const char *quote = at < end && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at - 1)) : NULL;
    return quote ? arena_strndup(arena, at + 1, (size_t)(quote - at - 1)) : NULL;
}

static bool is_pragma_once(const char *line, size_t length)
{
    const char *at = line + strspn(line, " \t");
    if (*at++ != '#')
        return false;
    at += strspn(at, " \t");
    if (strncmp(at, "pragma", 6) != 0)
        return false;
    at += 6 + strspn(at + 6, " \t");
    return at + 4 <= line + length && strncmp(at, "once", 4) == 0;
}

/* Whether a header comes once by its own word: #pragma once, or #ifndef and #define of one name as its first directives. */
static bool guards_itself(const char *text)
{
    char name[128] = "";
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char other[128];
        const char *at = line + strspn(line, " \t");
        if (is_pragma_once(line, length))
            return true;
        if (*at == '#' && *name)
            return sscanf(at, "# define %127s", other) == 1 && strcmp(name, other) == 0;
        if (*at == '#' && sscanf(at, "# ifndef %127s", name) != 1)
            return false;
        line += length + (line[length] == '\n');
    }
    return false;
}

static void take(struct merge *merge, const char *path, int number, int depth)
{
    size_t length;
    const char *text = cot_read_text(merge->arena, path, merge->sources->largest, &length, &merge->reason);
    if (!text)
        return;
    if (depth > DEPTH) {
        merge->reason = "includes that go in circles";
        return;
    }
    if (number >= 0)
        merge->taken[number] = guards_itself(text);
    for (const char *line = text; *line && !merge->reason;) {
        size_t some = strcspn(line, "\n");
        const char *name = included(merge->arena, line, some);
        int other = name ? find(merge, path, name) : -1;
        if (other >= 0 && !merge->taken[other])
            take(merge, merge->sources->files[other].path, other, depth + 1);
        else if (other < 0 && !is_pragma_once(line, some)) {
            text_append(&merge->text, line, some - (some && line[some - 1] == '\r'));
            text_add(&merge->text, "\n");
        }
        if (merge->text.length > merge->sources->largest)
            merge->reason = "a file that is too large";
        line += some + (line[some] == '\n');
    }
}

const char *cot_merge(struct arena *arena, const struct cot_sources *sources, const char *path, const char **reason)
{
    struct merge merge = {.arena = arena, .sources = sources, .taken = arena_alloc(arena, sources->count + 1)};
    take(&merge, path, -1, 0);
    *reason = merge.reason;
    const char *text =
        merge.reason ? NULL : arena_strndup(arena, merge.text.length ? merge.text.bytes : "", merge.text.length);
    text_free(&merge.text);
    return text;
}
