/* docs/api.md has a line for each function: | `Muls` | V | half, float | `(form)`<br>`(form)` | notes |. */
#include "gen/feedback_api.h"
#include "base/files.h"
#include "dsl/program.h"
#include "toolchain/toolchain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LARGEST_PAGE = 4 << 20, LONGEST_NAME = 60, LONGEST_FORM = 240 };

/* The text between the bars behind `*at`, which moves to the next one. */
static const char *take_column(struct arena *arena, const char **at)
{
    const char *begin = *at + strspn(*at, "| "), *end = strstr(begin, " | ");
    size_t length = end ? (size_t)(end - begin) : strcspn(begin, "\n");
    *at = begin + length;
    return arena_strndup(arena, begin, length);
}

static int by_length(const void *a, const void *b)
{
    size_t first = strlen(*(const char *const *)a), second = strlen(*(const char *const *)b);
    return first != second ? (first < second ? -1 : 1) : strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void take_forms(struct arena *arena, const char *text, struct feedback_api *api)
{
    const char *forms[64];
    int count = 0;
    for (const char *at = text; (at = strchr(at, '`')) && count < 64;) {
        size_t length = strcspn(++at, "`");
        if (length < LONGEST_FORM)
            forms[count++] = arena_strndup(arena, at, length);
        at += length + (at[length] == '`');
    }
    qsort(forms, (size_t)count, sizeof *forms, by_length);
    api->count = count < FEEDBACK_FORMS ? count : FEEDBACK_FORMS;
    api->more = count - api->count;
    memcpy(api->forms, forms, sizeof *forms * (size_t)api->count);
}

/* The line of a function: of this name, else of one that differs in the case of letters, else in one character. */
static const char *find_line(struct arena *arena, const char *page, const char *name)
{
    size_t length = strlen(name), differing = 2;
    const char *other = NULL, *near = NULL;
    for (const char *line = page; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        if (strncasecmp(line + 3, name, length) != 0 || line[3 + length] != '`') {
            if (dsl_name_is_nearer(name, arena_strndup(arena, line + 3, strcspn(line + 3, "`\n")), &differing))
                near = line;
            continue;
        }
        if (strncmp(line + 3, name, length) == 0)
            return line;
        other = other ? other : line;
    }
    return other ? other : near;
}

struct feedback_api feedback_api_of(struct arena *arena, const char *message)
{
    struct feedback_api api = {0};
    char *page;
    const char *quote = strchr(message, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
    size_t length = end ? (size_t)(end - quote - 1) : 0;
    if (!length || length > LONGEST_NAME)
        return api;
    const char *name = arena_strndup(arena, quote + 1, length);
    struct akgen_error *error =
        files_read(arena, arena_printf(arena, "%s/docs/api.md", toolchain_home()), LARGEST_PAGE, &page, NULL);
    const char *line = error ? NULL : find_line(arena, page, name);
    error_free(error);
    if (!line)
        return api;
    api.name = arena_strndup(arena, line + 3, strcspn(line + 3, "`\n"));
    take_column(arena, &line);
    take_column(arena, &line);
    api.types = take_column(arena, &line);
    take_forms(arena, take_column(arena, &line), &api);
    return api;
}
