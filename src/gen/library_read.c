/* Documents cut into entries: rows of the API's tables, sections of everything else. */
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "gen/library_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { CELLS = 5 };

static void add(struct library_entries *entries, struct library_entry entry)
{
    ARRAY_ADD(entries->arena, entries->items, entries->count, entries->capacity, entry);
}

const char *library_words(struct arena *arena, const char *name)
{
    size_t length = strcspn(name, "(");
    char *words = arena_alloc(arena, 4 * length + 8), *to = words;
    const char *from = strncmp(name, "tl.", 3) == 0 ? name + 3 : name;
    /* vsqrt is sqrt, vadd_row is add row. */
    if (from != name && *from == 'v' && from + 1 < name + length)
        from++;
    for (const char *c = from; c < name + length; c++) {
        bool letter = isalnum((unsigned char)*c) || (*c & 0x80);
        bool begins = isupper((unsigned char)*c) && c > from &&
                      (islower((unsigned char)c[-1]) || (c + 1 < name + length && islower((unsigned char)c[1])));
        if (begins && to > words && to[-1] != ' ')
            *to++ = ' ';
        *to++ = letter ? (char)tolower((unsigned char)*c) : ' ';
    }
    return words;
}

/* Cells of a table's row, in place; their number. */
static int cells_of(char *line, char *cells[CELLS])
{
    int count = 0;
    for (char *at = strchr(line, '|'), *next; at && count < CELLS; at = next) {
        at++;
        next = strstr(at, " |");
        if (!next)
            break;
        *next++ = 0;
        cells[count++] = at + strspn(at, " ");
    }
    return count;
}

/* Without the backquotes around it. */
static char *bare(char *text)
{
    size_t length = strlen(text);
    if (length < 2 || *text != '`')
        return text;
    if (text[length - 1] == '`')
        text[length - 1] = 0;
    return text + 1;
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

/* A function: where it belongs, what it takes, a line for each form. */
static const char *entry_of_row(struct arena *arena, const char *section, const char *name, char *cells[CELLS])
{
    struct text text = {0};
    bool member = strcmp(section, "Functions") != 0;
    text_addf(&text, "`%s%s%s`", member ? section : "", member ? "::" : "", name);
    if (*cells[1] && !member)
        text_addf(&text, " (%s%s%s)", cells[1], *cells[2] ? "; " : "", cells[2]);
    if (*cells[4] && is_ascii(cells[4]) && strncmp(cells[4], name, strlen(name)) != 0)
        text_addf(&text, ": %s", cells[4]);
    text_add(&text, "\n");
    for (char *form = cells[3], *next; form; form = next) {
        next = strstr(form, "<br>");
        if (next) {
            *next = 0;
            next += strlen("<br>");
        }
        if (text.length < LIBRARY_LARGEST_ENTRY)
            text_addf(&text, "- `%s%s`\n", name, bare(form));
    }
    const char *kept = arena_strndup(arena, text.bytes, text.length);
    text_free(&text);
    return kept;
}

/* Intrinsics and the implementations behind functions are for nobody who writes a kernel. */
static bool is_for_kernels(const char *name)
{
    size_t length = strlen(name);
    return isupper((unsigned char)*name) && !(length > 4 && strcmp(name + length - 4, "Impl") == 0);
}

struct akgen_error *library_read_api(struct library_entries *entries, const char *path)
{
    const char *section = "";
    char *text, *cells[CELLS];
    struct akgen_error *error = files_read(entries->arena, path, LIBRARY_LARGEST_FILE, &text, NULL);
    if (error)
        return error;
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "## ", 3) == 0)
            section = line + 3;
        if (strncmp(line, "| `", 3) != 0 || strcmp(section, "Outside the namespace") == 0 ||
            cells_of(line, cells) < CELLS)
            continue;
        char *name = bare(cells[0]);
        if (is_for_kernels(name))
            /* Nearly every word is part of some function's name, so only the whole name finds one. */
            add(entries, (struct library_entry){.name = name,
                                                .words = "",
                                                .text = entry_of_row(entries->arena, section, name, cells),
                                                .by_name = true});
    }
    return NULL;
}

/* Sections. */
/* A document while it is cut: entries begin at headings, and at the end of a paragraph once they are long. */
struct cutter {
    struct library_entries *entries;
    const char *path;
    const char *title; /* of the section */
    struct text part;
};

static void end_part(struct cutter *cutter)
{
    struct text *part = &cutter->part;
    size_t from = 0;
    while (part->length && isspace((unsigned char)part->bytes[part->length - 1]))
        part->length--;
    while (from < part->length && part->bytes[from] == '\n')
        from++;
    if (part->length) {
        struct arena *arena = cutter->entries->arena;
        const char *text = arena_strndup(arena, part->bytes + from, part->length - from);
        add(cutter->entries,
            (struct library_entry){.name = cutter->title,
                                   .words = library_words(arena, cutter->title),
                                   .text = *cutter->title ? arena_printf(arena, "**%s**\n\n%s\n", cutter->title, text)
                                                          : arena_printf(arena, "%s\n", text),
                                   .path = cutter->path});
    }
    text_free(part);
}

/* A line of a document; the longest are cut, so that no entry is larger than it may be. */
static void take_line(struct cutter *cutter, const char *line, size_t length)
{
    enum { ROOM = LIBRARY_LARGEST_ENTRY - 200 };
    for (bool first = true; first || length; first = false) {
        size_t now = length < ROOM ? length : ROOM;
        while (now < length && now && (line[now] & 0xc0) == 0x80)
            now--;
        if (cutter->part.length + now > ROOM || (!now && cutter->part.length > ROOM / 2))
            end_part(cutter);
        text_append(&cutter->part, line, now);
        text_add(&cutter->part, "\n");
        line += now;
        length -= now;
    }
}

/* Markdown and plain text. `programs`: whether code blocks are taken too. */
static void cut(struct cutter *cutter, const char *text, bool programs)
{
    bool fenced = false;
    cutter->title = "";
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), level = strspn(line, "#");
        bool fence = strncmp(line, "```", 3) == 0;
        if (!fenced && level && level <= 6 && line[level] == ' ') {
            end_part(cutter);
            size_t width = length - level - 1 < 150 ? length - level - 1 : 150;
            char *title = arena_strndup(cutter->entries->arena, line + level + 1, width);
            text_make_utf8(title);
            cutter->title = title;
        } else if (programs || (!fenced && !fence)) {
            take_line(cutter, line, length);
        }
        fenced ^= fence;
        line += length + (line[length] == '\n');
    }
    end_part(cutter);
}

struct akgen_error *library_read_reference(struct library_entries *entries, const char *path)
{
    char *text, *cells[CELLS];
    struct cutter cutter = {.entries = entries};
    struct akgen_error *error = files_read(entries->arena, path, LIBRARY_LARGEST_FILE, &text, NULL);
    if (error)
        return error;
    const char *end = strstr(text, "\n## What of the machine"); /* what follows is about AKGen, not about programs */
    cut(&cutter, end ? arena_strndup(entries->arena, text, (size_t)(end - text)) : text, false);
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "| `tl.", 6) == 0 && cells_of(line, cells) == 3) {
            const char *name = bare(cells[0]);
            add(entries,
                (struct library_entry){.name = name,
                                       .words = library_words(entries->arena, name),
                                       .text = arena_printf(entries->arena, "- `%s`, in %s%s%s\n", name, cells[2],
                                                            *cells[1] ? ", yields " : "", cells[1])});
        }
    return NULL;
}

/* A user's documents. */
static bool has_end(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcasecmp(path + length - tail, end) == 0;
}

static bool is_document(const char *path)
{
    static const char *const ends[] = {".md", ".markdown", ".txt", ".html", ".htm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (has_end(path, ends[i]))
            return true;
    return false;
}

static struct akgen_error *read_file(struct library_entries *entries, const char *path)
{
    char *text;
    size_t length;
    struct akgen_error *error = files_read(entries->arena, path, LIBRARY_LARGEST_FILE, &text, &length);
    if (error)
        return error;
    entries->bytes += length;
    if (entries->bytes > LIBRARY_LARGEST)
        return error_new("%s: the documents have more than %d MiB together", path, LIBRARY_LARGEST >> 20);
    for (size_t i = 0; i < length; i++)
        if (!text[i])
            text[i] = ' ';
    text_make_utf8(text);
    struct cutter cutter = {.entries = entries, .path = path};
    bool html = has_end(path, ".html") || has_end(path, ".htm");
    cut(&cutter, html ? library_text_of_html(entries->arena, text, length) : text, true);
    return NULL;
}

static bool is_hidden(const char *path, const char *const *hidden)
{
    for (; hidden && *hidden; hidden++) {
        size_t length = strlen(*hidden);
        if (strncmp(path, *hidden, length) == 0 && (path[length] == '/' || !path[length]))
            return true;
    }
    return false;
}

/* A link may lead anywhere, so what counts is where a file really is. */
static struct akgen_error *read_where_it_is(struct library_entries *entries, const char *path,
                                            const char *const *hidden)
{
    char *real = realpath(path, NULL);
    if (!real)
        return error_new("%s: it cannot be read", path);
    const char *kept = arena_strdup(entries->arena, real);
    free(real);
    return is_hidden(kept, hidden) ? NULL : read_file(entries, kept);
}

struct akgen_error *library_read_document(struct library_entries *entries, const char *path, const char *const *hidden)
{
    struct stat status;
    const char **paths;
    size_t count, taken = 0;
    if (stat(path, &status) != 0)
        return error_new("--documents %s: there is no such file or folder", path);
    if (!S_ISDIR(status.st_mode))
        return is_document(path) ? read_where_it_is(entries, path, hidden)
                                 : error_new("--documents %s: documents are .md, .txt and .html files", path);
    struct akgen_error *error = files_list(entries->arena, path, &paths, &count);
    for (size_t i = 0; i < count && !error; i++)
        if (is_document(paths[i])) {
            taken++;
            error = read_where_it_is(entries, arena_printf(entries->arena, "%s/%s", path, paths[i]), hidden);
        }
    if (!error && !taken)
        error = error_new("--documents %s: it holds no .md, .txt or .html file", path);
    return error;
}
