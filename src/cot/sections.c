/* Line by line: a heading begins a section, a fence code, a line with a bar before one of dashes a table. */
#include "cot/sections.h"
#include "base/array.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 16 };

struct cutter {
    struct arena *arena;
    struct cot_sections *sections;
    struct text text, prose, code;
    const char *language; /* of the fence that is open; NULL: none is */
    size_t fence;         /* how long it is, of `mark` */
    char mark;
};

static const char *kept(struct cutter *cutter, struct text *text)
{
    while (text->length && isspace((unsigned char)text->bytes[text->length - 1]))
        text->length--;
    size_t from = 0;
    while (from < text->length && text->bytes[from] == '\n')
        from++;
    const char *copy = arena_strndup(cutter->arena, text->length ? text->bytes + from : "", text->length - from);
    text_free(text);
    return copy;
}

static struct cot_section *last(const struct cutter *cutter)
{
    return &cutter->sections->items[cutter->sections->count - 1];
}

static void end_code(struct cutter *cutter)
{
    struct cot_section *section = last(cutter);
    const char *text = arena_strndup(cutter->arena, cutter->code.length ? cutter->code.bytes : "", cutter->code.length);
    ARRAY_ADD(cutter->arena, section->codes, section->code_count, section->code_capacity,
              (struct cot_code){cutter->language, text});
    text_free(&cutter->code);
    cutter->language = NULL;
}

static void end_section(struct cutter *cutter)
{
    if (cutter->language)
        end_code(cutter);
    last(cutter)->text = kept(cutter, &cutter->text);
    last(cutter)->prose = kept(cutter, &cutter->prose);
}

/* "# `Add`(x) ##" is "Add(x)". */
static const char *title_of(struct arena *arena, const char *line, size_t length)
{
    while (length && (line[length - 1] == '#' || isspace((unsigned char)line[length - 1])))
        length--;
    char *title = arena_strndup(arena, line, length), *to = title;
    for (const char *at = title; *at; at++)
        if (*at != '`' && *at != '*')
            *to++ = *at;
    *to = 0;
    return title;
}

static void begin_section(struct cutter *cutter, const char *title, int level)
{
    struct cot_sections *sections = cutter->sections;
    int parent = sections->count - 1;
    while (parent >= 0 && sections->items[parent].level >= level)
        parent = sections->items[parent].parent;
    ARRAY_ADD(cutter->arena, sections->items, sections->count, sections->capacity,
              (struct cot_section){.title = title, .level = level, .parent = parent, .text = "", .prose = ""});
}

/* The level of a heading; 0: it is none. */
static int heading_level(const char *line)
{
    size_t level = strspn(line, "#");
    return level && level <= 6 && (line[level] == ' ' || line[level] == '\t') ? (int)level : 0;
}

/* Tables. */
static bool is_row(const char *line, size_t length)
{
    line += strspn(line, " ");
    return length && *line == '|';
}

static bool is_rule(const char *line, size_t length)
{
    bool dash = false;
    for (size_t i = 0; i < length; i++) {
        dash |= line[i] == '-';
        if (!strchr("|-: \t\r", line[i]))
            return false;
    }
    return dash && is_row(line, length);
}

static char **cells_of(struct arena *arena, const char *line, size_t length, int *count)
{
    char **cells = arena_alloc(arena, COLUMNS * sizeof *cells);
    size_t end = length, at = strspn(line, " ") + 1;
    while (end && (isspace((unsigned char)line[end - 1])))
        end--;
    end -= end > at && line[end - 1] == '|' && line[end - 2] != '\\';
    for (*count = 0; *count < COLUMNS && at <= end; (*count)++) {
        struct text cell = {0};
        for (; at < end && line[at] != '|'; at++)
            if (line[at] != '\\' || at + 1 >= end || line[at + 1] != '|')
                text_append(&cell, line + at, 1);
            else
                text_append(&cell, line + ++at, 1);
        size_t from = 0;
        while (cell.length && isspace((unsigned char)cell.bytes[cell.length - 1]))
            cell.length--;
        while (from < cell.length && isspace((unsigned char)cell.bytes[from]))
            from++;
        cells[*count] = arena_strndup(arena, cell.length ? cell.bytes + from : "", cell.length - from);
        text_free(&cell);
        at++;
    }
    return cells;
}

static void add_row(struct cutter *cutter, struct cot_table *table, const char *line, size_t length)
{
    int count;
    char **cells = cells_of(cutter->arena, line, length, &count);
    if (!table->count)
        table->columns = count;
    for (int i = count; i < table->columns; i++)
        cells[i] = arena_strdup(cutter->arena, "");
    ARRAY_ADD(cutter->arena, table->rows, table->count, table->capacity, cells);
}

/* The table that begins at `line`, which is a row before a rule; returns what is behind it. */
static const char *take_table(struct cutter *cutter, const char *line)
{
    struct cot_section *section = last(cutter);
    struct cot_table table = {0};
    for (int number = 0; *line; number++) {
        size_t length = strcspn(line, "\n");
        if (!is_row(line, length))
            break;
        if (number != 1)
            add_row(cutter, &table, line, length);
        text_append(&cutter->text, line, length);
        text_add(&cutter->text, "\n");
        line += length + (line[length] == '\n');
    }
    ARRAY_ADD(cutter->arena, section->tables, section->table_count, section->table_capacity, table);
    return line;
}

/* Whether the line is a fence that begins code, or ends what is open. */
static bool take_fence(struct cutter *cutter, const char *line, size_t length)
{
    size_t indent = strspn(line, " \t>"), fence = indent < length ? strspn(line + indent, "`") : 0;
    char mark = '`';
    if (indent < length && !fence) {
        fence = strspn(line + indent, "~");
        mark = '~';
    }
    if (fence < 3)
        return false;
    const char *behind = line + indent + fence;
    size_t left = length - indent - fence;
    while (left && isspace((unsigned char)behind[left - 1]))
        left--;
    while (left && isspace((unsigned char)*behind))
        behind++, left--;
    if (cutter->language) {
        if (mark != cutter->mark || fence < cutter->fence || left)
            return false;
        end_code(cutter);
        return true;
    }
    if (memchr(behind, '`', left))
        return false;
    cutter->language = arena_strndup(cutter->arena, behind, left);
    cutter->fence = fence;
    cutter->mark = mark;
    return true;
}

void cot_sections_cut(struct arena *arena, const char *markdown, struct cot_sections *sections)
{
    struct cutter cutter = {.arena = arena, .sections = sections};
    *sections = (struct cot_sections){0};
    begin_section(&cutter, "", 0);
    for (const char *line = markdown; *line;) {
        size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n');
        int level = cutter.language ? 0 : heading_level(line);
        if (level) {
            end_section(&cutter);
            begin_section(&cutter, title_of(arena, line + level + 1, length - (size_t)level - 1), level);
            line = next;
            continue;
        }
        if (!cutter.language && is_row(line, length) && is_rule(next, strcspn(next, "\n"))) {
            line = take_table(&cutter, line);
            continue;
        }
        bool was_code = cutter.language, fence = take_fence(&cutter, line, length);
        struct text *also = was_code && !fence ? &cutter.code : was_code || fence ? NULL : &cutter.prose;
        text_append(&cutter.text, line, length);
        text_add(&cutter.text, "\n");
        if (also) {
            text_append(also, line, length);
            text_add(also, "\n");
        }
        line = next;
    }
    end_section(&cutter);
}
