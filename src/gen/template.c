/* A template is cut into pieces once: plain text, values, beginnings and ends of sections, other templates. Sections nest
 * properly in each file, so filling in is one walk over the pieces that skips what is not shown. */
#include "gen/template.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_TEMPLATE = 1 << 20, DEEPEST = 16 };

enum piece_kind { PIECE_TEXT, PIECE_VALUE, PIECE_IF, PIECE_UNLESS, PIECE_END, PIECE_INCLUDE };
struct piece {
    enum piece_kind kind;
    const char *text; /* PIECE_TEXT */
    size_t length;
    int value;                           /* PIECE_VALUE, PIECE_IF, PIECE_UNLESS: number in `known` */
    int end;                             /* PIECE_IF, PIECE_UNLESS: the piece that ends it */
    const struct gen_template *included; /* PIECE_INCLUDE */
};
struct gen_template {
    const char *name, *path;
    struct piece *pieces;
    int count, capacity;
    bool reading; /* it is being read: one that includes it again would never end */
};
struct gen_templates {
    struct arena *arena;
    const struct gen_template_folders *folders;
    const char *const *known;
    bool *asked; /* per name of `known` */
    struct gen_template **items;
    int count, capacity;
};
/* A template on its way into pieces. */
struct reader {
    struct gen_templates *templates;
    struct gen_template *template;
    const char *text, *at;
    int open[DEEPEST], depth; /* sections that are not ended yet: their pieces */
    int open_lines[DEEPEST];
};
struct tag {
    char sigil; /* '#', '^', '/', '>', '!', or 0 */
    const char *name;
    const char *from, *behind; /* in the text, what is taken out of it */
    int line;
};

static int line_of(const struct reader *reader, const char *at)
{
    int line = 1;
    for (const char *c = reader->text; c < at; c++)
        line += *c == '\n';
    return line;
}

/* A tag that changes nothing but what is shown, alone on its line, takes the line with it. */
static void take_line(const struct reader *reader, struct tag *tag)
{
    const char *from = tag->from, *behind = tag->behind;
    if (!tag->sigil)
        return;
    while (from > reader->text && (from[-1] == ' ' || from[-1] == '\t'))
        from--;
    while (*behind == ' ' || *behind == '\t' || *behind == '\r')
        behind++;
    if ((from > reader->text && from[-1] != '\n') || (*behind && *behind != '\n'))
        return;
    tag->from = from;
    tag->behind = behind + (*behind == '\n');
}

/* The tag whose braces begin at `at`. */
static struct akgen_error *read_tag(const struct reader *reader, const char *at, struct tag *tag)
{
    struct arena *arena = reader->templates->arena;
    const char *path = reader->template->path;
    const char *end = strstr(at, "}}");
    *tag = (struct tag){.from = at, .line = line_of(reader, at)};
    if (!end || (memchr(at, '\n', (size_t)(end - at)) && at[2] != '!'))
        return error_new(
            "%s:%d: '{{' is not closed by '}}' on its line; two braces that belong to the text are written "
            "with a space between them",
            path, tag->line);
    tag->behind = end + 2;
    at += 2;
    if (*at && strchr("#^/>!", *at))
        tag->sigil = *at++;
    while (isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    tag->name = arena_strndup(arena, at, (size_t)(end - at));
    if (tag->sigil != '!' && (!*tag->name || tag->name[strspn(tag->name, "abcdefghijklmnopqrstuvwxyz0123456789_-")]))
        return error_new("%s:%d: '%s' is no name of a placeholder; names are small letters, digits and _", path,
                         tag->line, tag->name);
    take_line(reader, tag);
    return NULL;
}

static struct piece *add(struct reader *reader, struct piece piece)
{
    struct gen_template *template = reader->template;
    ARRAY_ADD(reader->templates->arena, template->pieces, template->count, template->capacity, piece);
    return &template->pieces[template->count - 1];
}

static struct akgen_error *find_value(const struct reader *reader, const struct tag *tag, int *value)
{
    const char *const *known = reader->templates->known;
    for (int i = 0; known[i]; i++)
        if (strcmp(known[i], tag->name) == 0) {
            reader->templates->asked[ *value = i] = true;
            return NULL;
        }
    const char *const *names = known;
    const char *list = "";
    for (; *names; names++)
        list = arena_printf(reader->templates->arena, "%s%s%s", list, *list ? ", " : "", *names);
    return error_new("%s:%d: there is no placeholder '%s'; there are %s", reader->template->path, tag->line, tag->name,
                     list);
}

static struct akgen_error *begin_section(struct reader *reader, const struct tag *tag)
{
    struct piece piece = {.kind = tag->sigil == '#' ? PIECE_IF : PIECE_UNLESS};
    struct akgen_error *error = find_value(reader, tag, &piece.value);
    if (error)
        return error;
    if (reader->depth == DEEPEST)
        return error_new("%s:%d: more than %d sections in each other", reader->template->path, tag->line, DEEPEST);
    reader->open_lines[reader->depth] = tag->line;
    reader->open[reader->depth++] = reader->template->count;
    add(reader, piece);
    return NULL;
}

static struct akgen_error *end_section(struct reader *reader, const struct tag *tag)
{
    const char *path = reader->template->path;
    if (!reader->depth)
        return error_new("%s:%d: {{/%s}} ends a section that was not begun", path, tag->line, tag->name);
    struct piece *begun = &reader->template->pieces[reader->open[--reader->depth]];
    const char *name = reader->templates->known[begun->value];
    if (strcmp(name, tag->name) != 0)
        return error_new("%s:%d: {{/%s}} stands where {{/%s}} is to end the section of line %d", path, tag->line,
                         tag->name, name, reader->open_lines[reader->depth]);
    begun->end = reader->template->count;
    add(reader, (struct piece){.kind = PIECE_END});
    return NULL;
}

static struct akgen_error *read_template(struct gen_templates *templates, const char *name,
                                         const struct gen_template **template);

static struct akgen_error *include(struct reader *reader, const struct tag *tag)
{
    struct piece piece = {.kind = PIECE_INCLUDE};
    struct akgen_error *error = read_template(reader->templates, tag->name, &piece.included);
    if (error)
        return error_prefix(error, "%s:%d", reader->template->path, tag->line);
    if (piece.included->reading)
        return error_new("%s:%d: {{>%s}} includes the file that it stands in", reader->template->path, tag->line,
                         tag->name);
    add(reader, piece);
    return NULL;
}

static struct akgen_error *read_piece(struct reader *reader, const struct tag *tag)
{
    struct piece piece = {.kind = PIECE_VALUE};
    struct akgen_error *error = NULL;
    switch (tag->sigil) {
    case '#':
    case '^':
        return begin_section(reader, tag);
    case '/':
        return end_section(reader, tag);
    case '>':
        return include(reader, tag);
    case '!':
        return NULL;
    default:
        error = find_value(reader, tag, &piece.value);
        if (!error)
            add(reader, piece);
        return error;
    }
}

static struct akgen_error *read_pieces(struct reader *reader)
{
    const char *braces;
    for (reader->at = reader->text; (braces = strstr(reader->at, "{{"));) {
        struct tag tag;
        struct akgen_error *error = read_tag(reader, braces, &tag);
        if (error)
            return error;
        if (tag.from < reader->at) /* the line's beginning went with another tag */
            tag.from = reader->at;
        add(reader, (struct piece){.kind = PIECE_TEXT, .text = reader->at, .length = (size_t)(tag.from - reader->at)});
        if ((error = read_piece(reader, &tag)))
            return error;
        reader->at = tag.behind;
    }
    add(reader, (struct piece){.kind = PIECE_TEXT, .text = reader->at, .length = strlen(reader->at)});
    if (reader->depth)
        return error_new("%s:%d: the section '%s' is not ended by {{/%s}}", reader->template->path,
                         reader->open_lines[reader->depth - 1],
                         reader->templates->known[reader->template->pieces[reader->open[reader->depth - 1]].value],
                         reader->templates->known[reader->template->pieces[reader->open[reader->depth - 1]].value]);
    return NULL;
}

/* The user's copy if there is one, else AKGen's own. */
static const char *path_of(const struct gen_templates *templates, const char *name)
{
    const struct gen_template_folders *folders = templates->folders;
    const char *copy = folders->copies ? arena_printf(templates->arena, "%s/%s.md", folders->copies, name) : NULL;
    return copy && files_exists(copy) ? copy : arena_printf(templates->arena, "%s/%s.md", folders->own, name);
}

static struct akgen_error *read_template(struct gen_templates *templates, const char *name,
                                         const struct gen_template **template)
{
    for (int i = 0; i < templates->count; i++)
        if (strcmp(templates->items[i]->name, name) == 0) {
            *template = templates->items[i];
            return NULL;
        }
    struct gen_template *read = arena_alloc(templates->arena, sizeof *read);
    struct reader reader = {.templates = templates, .template = read};
    char *text;
    size_t length;
    *read = (struct gen_template){.name = name, .path = path_of(templates, name), .reading = true};
    *template = read;
    ARRAY_ADD(templates->arena, templates->items, templates->count, templates->capacity, read);
    struct akgen_error *error = files_read(templates->arena, read->path, LONGEST_TEMPLATE, &text, &length);
    if (!error && strlen(text) != length)
        error = error_new("%s: it holds a byte 0; a template is text", read->path);
    if (error)
        return error;
    reader.text = text;
    error = read_pieces(&reader);
    read->reading = false;
    return error;
}

/* A file beside the copies that nothing includes: most likely its name is wrong. */
static struct akgen_error *check_copies(const struct gen_templates *templates)
{
    const char **paths;
    size_t count;
    struct arena *arena = templates->arena;
    const char *names = "";
    struct akgen_error *error =
        templates->folders->copies ? files_list(arena, templates->folders->copies, &paths, &count) : NULL;
    if (error || !templates->folders->copies)
        return error;
    for (int i = 0; i < templates->count; i++)
        names = arena_printf(arena, "%s%s%s.md", names, *names ? ", " : "", templates->items[i]->name);
    for (size_t p = 0; p < count; p++) {
        bool read = false;
        for (int i = 0; i < templates->count; i++)
            read |= strcmp(arena_printf(arena, "%s.md", templates->items[i]->name), paths[p]) == 0;
        if (!read)
            return error_new("%s/%s: no template includes this file; those that are read are %s",
                             templates->folders->copies, paths[p], names);
    }
    return NULL;
}

struct akgen_error *gen_templates_read(struct arena *arena, const struct gen_template_folders *folders,
                                       const char *const *names, const char *const *known,
                                       struct gen_templates **templates)
{
    struct akgen_error *error = NULL;
    int count = 0;
    while (known[count])
        count++;
    *templates = arena_alloc(arena, sizeof **templates);
    **templates = (struct gen_templates){.arena = arena,
                                         .folders = arena_copy(arena, folders, sizeof *folders),
                                         .known = known,
                                         .asked = arena_alloc(arena, (size_t)count + 1)};
    for (; *names && !error; names++) {
        const struct gen_template *template;
        error = read_template(*templates, *names, &template);
    }
    return error ? error : check_copies(*templates);
}

bool gen_templates_ask(const struct gen_templates *templates, const char *placeholder)
{
    for (int i = 0; templates->known[i]; i++)
        if (strcmp(templates->known[i], placeholder) == 0)
            return templates->asked[i];
    return false;
}

static void fill(struct text *text, const struct gen_template *template, const char *const *values)
{
    for (int i = 0; i < template->count; i++) {
        const struct piece *piece = &template->pieces[i];
        const char *value = piece->kind == PIECE_TEXT || !values[piece->value] ? "" : values[piece->value];
        switch (piece->kind) {
        case PIECE_TEXT:
            text_append(text, piece->text, piece->length);
            break;
        case PIECE_VALUE:
            text_add(text, value);
            break;
        case PIECE_IF:
        case PIECE_UNLESS:
            if (!*value == (piece->kind == PIECE_IF))
                i = piece->end;
            break;
        case PIECE_INCLUDE:
            fill(text, piece->included, values);
            break;
        case PIECE_END:
            break;
        }
    }
}

const char *gen_templates_fill(struct arena *arena, const struct gen_templates *templates, const char *name,
                               const char *const *values)
{
    struct text text = {0};
    const char *filled = "";
    for (int i = 0; i < templates->count; i++)
        if (strcmp(templates->items[i]->name, name) == 0)
            fill(&text, templates->items[i], values);
    while (text.length && isspace((unsigned char)text.bytes[text.length - 1]))
        text.length--;
    if (text.length)
        filled = arena_strndup(arena, text.bytes, text.length);
    text_free(&text);
    return filled;
}
