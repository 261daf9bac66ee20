/* Which line of the program a line of the project comes from. While the project is printed in parts that are put together later,
 * a mark stands before each line: the program's line between two characters that no text of a program can have. emit_file() takes
 * the marks off and keeps what they say. */
#include "base/array.h"
#include "dsl/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = '\001' };

void emit_mark(struct text *out, int line)
{
    if (line > 0)
        text_addf(out, "%c%d%c", MARK, line, MARK);
}

struct dsl_file emit_file(struct arena *arena, const char *path, const char *marked)
{
    struct dsl_file file = {.path = path};
    struct text text = {0};
    int capacity = 0;
    if (!marked)
        return file;
    for (const char *at = marked; *at;) {
        int line = 0;
        while (*at == MARK) {
            line = (int)strtol(at + 1, (char **)&at, 10);
            at++;
        }
        size_t length = strcspn(at, "\n");
        text_append(&text, at, length + (at[length] == '\n'));
        at += length + (at[length] == '\n');
        ARRAY_ADD(arena, file.lines, file.line_count, capacity, line);
    }
    file.text = arena_strdup(arena, text.bytes ? text.bytes : "");
    text_free(&text);
    return file;
}

/* A path as a directive holds it. */
static const char *quoted(struct arena *arena, const char *path)
{
    struct text text = {0};
    for (const char *at = path; *at; at++)
        text_addf(&text, strchr("\\\"?", *at) || (unsigned char)*at < ' ' ? "\\%03o" : "%c", (unsigned char)*at);
    return text_keep(&text, arena);
}

/* A directive stands where the line is not the one behind that before it. Empty lines have no place to tell. */
static struct dsl_file with_directives(struct arena *arena, const struct dsl_file *file, const char *program)
{
    struct dsl_file directed = {.path = file->path};
    struct text text = {0};
    int capacity = 0, next = 0; /* what a compiler takes the line for; 0: the file's own */
    const char *at = file->text;
    for (int i = 0; i < file->line_count; i++) {
        size_t length = strcspn(at, "\n");
        int line = file->lines[i];
        if (length && line != next) {
            if (line)
                text_addf(&text, "#line %d \"%s\"\n", line, program);
            else
                text_addf(&text, "#line %d \"%s\"\n", directed.line_count + 2, file->path);
            ARRAY_ADD(arena, directed.lines, directed.line_count, capacity, line);
            next = line;
        }
        text_append(&text, at, length + (at[length] == '\n'));
        ARRAY_ADD(arena, directed.lines, directed.line_count, capacity, line);
        next += next > 0;
        at += length + (at[length] == '\n');
    }
    directed.text = arena_strdup(arena, text.bytes ? text.bytes : "");
    text_free(&text);
    return directed;
}

void dsl_line_directives(struct arena *arena, struct dsl_lowered *lowered)
{
    const char *program = quoted(arena, lowered->tree->path);
    for (int i = 0; i < lowered->count; i++)
        lowered->files[i] = with_directives(arena, &lowered->files[i], program);
}

/* A function that the compiler gave the project. What only one line of the program calls, by itself or through others, comes from
 * that line: C++ compilers need not inline it, and then the call is not known. */
struct function {
    const char *name;
    size_t length;
    int first, last; /* its lines */
    int line;        /* of the program; 0: nothing calls it yet, SEVERAL */
};
struct functions {
    struct function *items;
    int count, capacity;
};
enum { SEVERAL = -1 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct functions find_functions(struct arena *arena, const struct dsl_file *file)
{
    static const char start[] = "__aicore__ inline ";
    struct functions found = {0};
    const char *at = file->text;
    bool inside = false;
    for (int i = 1; i <= file->line_count; i++) {
        size_t length = strcspn(at, "\n"), to = strcspn(at, "(\n");
        if (strncmp(at, start, sizeof start - 1) == 0) {
            size_t from = to;
            while (is_word(at[from - 1]))
                from--;
            ARRAY_ADD(arena, found.items, found.count, found.capacity,
                      (struct function){.name = at + from, .length = to - from, .first = i, .last = i});
            inside = true;
        }
        if (inside)
            found.items[found.count - 1].last = i;
        inside = inside && *at != '}';
        at += length + 1;
    }
    return found;
}

/* The line of the program that a line of the project comes from. */
static int line_in(const struct functions *functions, const struct dsl_file *file, int number)
{
    int line = file->lines[number - 1];
    for (int f = 0; !line && f < functions->count; f++)
        if (functions->items[f].first <= number && number <= functions->items[f].last)
            line = functions->items[f].line;
    return line;
}

/* What is called from one more line; true if that was not known. */
static bool note_calls(struct functions *functions, const char *text, int line)
{
    bool more = false;
    for (size_t length = 0; *text && *text != '\n'; text += length ? length : 1) {
        for (length = 0; is_word(text[length]); length++)
            ;
        for (int f = 0; length && f < functions->count; f++) {
            struct function *function = &functions->items[f];
            if (function->length != length || strncmp(function->name, text, length) != 0 || function->line == line ||
                function->line == SEVERAL)
                continue;
            function->line = function->line ? SEVERAL : line;
            more = true;
        }
    }
    return more;
}

static struct functions lines_of_functions(struct arena *arena, const struct dsl_file *file)
{
    struct functions functions = find_functions(arena, file);
    for (bool more = functions.count > 0; more;) {
        const char *at = file->text;
        more = false;
        for (int i = 1; i <= file->line_count; i++) {
            int line = line_in(&functions, file, i);
            more |= line && note_calls(&functions, at, line);
            at += strcspn(at, "\n") + 1;
        }
    }
    return functions;
}

const int *dsl_file_lines(struct arena *arena, const struct dsl_file *file)
{
    const struct functions functions = lines_of_functions(arena, file);
    int *lines = arena_alloc(arena, (size_t)(file->line_count + 1) * sizeof *lines);
    for (int i = 1; i <= file->line_count; i++) {
        const int line = line_in(&functions, file, i);
        lines[i] = line == SEVERAL ? 0 : line;
    }
    return lines;
}
