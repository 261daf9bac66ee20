/* The line of a file that a compiler or a line table names. What it names may be the candidate's choice (#line): only what the
 * compiler could have read as a source is read, the project's own files and AKGen's headers. */
#include "base/files.h"
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <string.h>

/* A relative path without `.` and `..`; "" if it leads out. No folder is a link, so each `..` takes back the name before it. */
static const char *path_clean(struct arena *arena, const char *path)
{
    char *clean = arena_strdup(arena, path), *words = arena_strdup(arena, clean), *rest, *end = clean;
    for (char *word = strtok_r(words, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
        if (strcmp(word, ".") == 0)
            continue;
        if (strcmp(word, "..") == 0) {
            if (end == clean)
                return "";
            while (end > clean && *--end != '/')
                ;
            continue;
        }
        if (end > clean)
            *end++ = '/';
        end = stpcpy(end, word);
    }
    *end = '\0';
    return clean;
}

const char *source_inside(struct arena *arena, const char *path, const char *directory)
{
    size_t length = directory ? strlen(directory) : 0;
    if (!length || strncmp(path, directory, length) != 0 || path[length] != '/')
        return NULL;
    const char *clean = path_clean(arena, path + length + 1);
    return *clean ? clean : NULL;
}

/* Line `number` of a text, cut to what is shown of one. */
static const char *line_of(struct arena *arena, const char *text, int number)
{
    enum { MAX_LINE = 1000 };
    for (int i = 1; text && i < number; i++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || number < 1)
        return NULL;
    size_t length = strcspn(text, "\r\n");
    char *copy = arena_strndup(arena, text, length < MAX_LINE ? length : MAX_LINE);
    text_make_utf8(copy);
    return copy;
}

const char *toolchain_source_line(struct arena *arena, const struct op_files *files, const char *path, int number)
{
    struct arena scratch = {0};
    const char *headers = arena_printf(&scratch, "%s/include", toolchain_home()), *line = NULL;
    const char *inside = *path == '/' ? source_inside(&scratch, path, headers) : NULL;
    const struct op_file *file = *path == '/' ? NULL : op_files_find(files, path_clean(&scratch, path));
    char *bytes;
    struct akgen_error *error =
        inside ? files_read(&scratch, arena_printf(&scratch, "%s/%s", headers, inside), SOURCE_LIMIT, &bytes, NULL)
               : NULL;
    if (file || (inside && !error))
        line = line_of(arena, file ? file->bytes : bytes, number);
    error_free(error);
    arena_free(&scratch);
    return line;
}
