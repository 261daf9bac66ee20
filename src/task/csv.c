#include "task/csv.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_COLUMNS = 64, LONGEST_FIELD = 64 << 10, MAX_ROWS = 10000 };

struct reader {
    struct arena *arena;
    const char *name, *at;
    int line;
};

static struct akgen_error *too_long(const struct reader *r)
{
    return error_new("%s:%d: a field of more than %d bytes", r->name, r->line, LONGEST_FIELD);
}

/* One field; stops at ';', at the end of the line or at the end of the text. */
static struct akgen_error *read_field(struct reader *r, const char **field)
{
    if (*r->at != '"') {
        size_t length = strcspn(r->at, ";\r\n");
        if (length > LONGEST_FIELD)
            return too_long(r);
        if (memchr(r->at, '"', length))
            return error_new("%s:%d: a quote inside a field that does not start with one", r->name, r->line);
        *field = arena_strndup(r->arena, r->at, length);
        r->at += length;
        return NULL;
    }
    int start = r->line;
    size_t most = 1;
    while (r->at[most] && (r->at[most] != '"' || r->at[most + 1] == '"'))
        most += 1 + (r->at[most] == '"');
    if (most > LONGEST_FIELD)
        return too_long(r);
    char *text = arena_alloc(r->arena, most), *end = text;
    for (r->at++;; r->at++) {
        if (!*r->at)
            return error_new("%s:%d: a quoted field without its closing quote", r->name, start);
        if (*r->at == '"') {
            r->at++; /* the closing quote, or the first of two that stand for one */
            if (*r->at != '"')
                break;
        }
        r->line += *r->at == '\n';
        *end++ = *r->at;
    }
    if (*r->at && !strchr(";\r\n", *r->at))
        return error_new("%s:%d: expected ';' after a closing quote, found '%c'", r->name, r->line, *r->at);
    *field = text;
    return NULL;
}

/* One line of fields. */
static struct akgen_error *read_row(struct reader *r, const char **fields, int *count)
{
    *count = 0;
    for (;;) {
        if (*count == MAX_COLUMNS)
            return error_new("%s:%d: more than %d columns", r->name, r->line, MAX_COLUMNS);
        struct akgen_error *error = read_field(r, &fields[*count]);
        if (error)
            return error;
        ++*count;
        if (*r->at != ';')
            break;
        r->at++;
    }
    r->at += *r->at == '\r';
    if (*r->at == '\n') {
        r->at++;
        r->line++;
    }
    return NULL;
}

static void skip_blank_lines(struct reader *r)
{
    for (; *r->at == '\n' || *r->at == '\r'; r->at++)
        r->line += *r->at == '\n';
}

static const char **keep(struct arena *arena, const char **fields, int count)
{
    const char **copy = arena_alloc(arena, sizeof *copy * (size_t)(count + 1));
    memcpy(copy, fields, sizeof *copy * (size_t)count);
    return copy;
}

static struct akgen_error *check_header(const struct reader *r, const struct csv_table *table)
{
    for (int i = 0; i < table->column_count; i++) {
        if (!*table->columns[i])
            return error_new("%s:1: column %d has no name", r->name, i + 1);
        for (int j = 0; j < i; j++)
            if (strcmp(table->columns[i], table->columns[j]) == 0)
                return error_new("%s:1: column '%s' appears twice", r->name, table->columns[i]);
    }
    return NULL;
}

struct akgen_error *csv_parse(struct arena *arena, const char *name, const char *text, struct csv_table *table)
{
    struct reader r = {.arena = arena, .name = name, .at = text, .line = 1};
    const char *fields[MAX_COLUMNS];
    int count, room = 0;
    *table = (struct csv_table){0};
    skip_blank_lines(&r);
    if (!*r.at)
        return error_new("%s: empty, expected a header line such as 'case_id;shape;dtype'", name);
    struct akgen_error *error = read_row(&r, fields, &count);
    if (error)
        return error;
    table->columns = keep(arena, fields, count);
    table->column_count = count;
    if ((error = check_header(&r, table)))
        return error;
    for (skip_blank_lines(&r); *r.at; skip_blank_lines(&r)) {
        int line = r.line;
        if ((error = read_row(&r, fields, &count)))
            return error;
        if (count != table->column_count)
            return error_new("%s:%d: %d fields, expected %d as in the header", name, line, count, table->column_count);
        if (table->row_count == MAX_ROWS)
            return error_new("%s:%d: more than %d lines below the header", name, line, MAX_ROWS);
        if (table->row_count == room) {
            struct csv_row *rows = arena_alloc(arena, sizeof *rows * (size_t)(room = room ? 2 * room : 16));
            if (table->row_count)
                memcpy(rows, table->rows, sizeof *rows * (size_t)table->row_count);
            table->rows = rows;
        }
        table->rows[table->row_count++] = (struct csv_row){keep(arena, fields, count), line};
    }
    return NULL;
}
