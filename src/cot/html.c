/* HTML as Markdown: enough of it to cut a page at its headings and to find its tables and code. */
#include "base/text.h"
#include "cot/sections.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

struct page {
    struct text text;
    int pre;          /* in so many <pre> */
    bool cell;        /* in a cell of a table, which is one line */
    int cells, heads; /* of the row that is open; rows of the table that were ended */
    bool quiet;       /* the last byte was a space */
};

static void begin_line(struct page *page)
{
    struct text *text = &page->text;
    if (page->cell) {
        text_add(text, " ");
        return;
    }
    while (text->length && text->bytes[text->length - 1] == ' ')
        text->length--;
    if (text->length && text->bytes[text->length - 1] != '\n')
        text_add(text, "\n");
    page->quiet = true;
}

static void begin_paragraph(struct page *page)
{
    begin_line(page);
    if (!page->cell)
        text_add(&page->text, "\n");
}

static void add_byte(struct page *page, char c)
{
    bool space = isspace((unsigned char)c);
    if (page->pre) {
        text_append(&page->text, &c, 1);
        return;
    }
    if (space && page->quiet)
        return;
    if (page->cell && c == '|')
        text_add(&page->text, "\\");
    text_append(&page->text, space ? " " : &c, 1);
    page->quiet = space;
}

/* The character behind '&'; returns what it takes of the text, 0: it is none. */
static size_t entity_at(struct page *page, const char *at)
{
    static const struct {
        const char *name, *text;
    } entities[] = {{"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", " "}};
    enum { LONGEST = 10 };
    size_t length = strcspn(at, ";<& \n");
    if (length > LONGEST || at[length] != ';')
        return 0;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (strlen(entities[i].name) == length && strncmp(at, entities[i].name, length) == 0) {
            for (const char *c = entities[i].text; *c; c++)
                add_byte(page, *c);
            return length + 1;
        }
    long code = *at != '#' ? 0 : at[1] == 'x' ? strtol(at + 2, NULL, 16) : strtol(at + 1, NULL, 10);
    utf8proc_uint8_t bytes[4];
    if (code <= 0 || !utf8proc_codepoint_valid((utf8proc_int32_t)code))
        return 0;
    utf8proc_ssize_t some = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    for (utf8proc_ssize_t i = 0; i < some; i++)
        add_byte(page, (char)bytes[i]);
    return length + 1;
}

static bool is_tag(const char *tag, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(tag, name, length) == 0;
}

/* Behind an element whose text is none of the page's: </script>. */
static const char *behind_element(const char *at, const char *name, size_t length)
{
    for (const char *close = at; (close = strstr(close, "</")); close += 2)
        if (strncasecmp(close + 2, name, length) == 0)
            return close;
    return at + strlen(at);
}

static void take_table_tag(struct page *page, const char *tag, size_t length, bool ends)
{
    if (is_tag(tag, length, "table")) {
        page->cell = false;
        page->heads = 0;
        begin_paragraph(page);
    } else if (is_tag(tag, length, "tr")) {
        page->cell = false;
        if (ends && page->cells && !page->heads++) {
            text_add(&page->text, "\n|");
            for (int i = 0; i < page->cells; i++)
                text_add(&page->text, "---|");
        }
        begin_line(page);
        page->cells = 0;
    } else if (!ends) { /* a cell */
        text_add(&page->text, page->cells++ ? "" : "| ");
        page->cell = page->quiet = true;
    } else {
        text_add(&page->text, " |");
        page->cell = false;
    }
}

/* A tag at `at`, behind its '<'; returns what is behind it. */
static const char *take_tag(struct page *page, const char *at)
{
    static const char *const paragraphs[] = {"p", "div", "section", "ul", "ol", "dl"},
                             *const lines[] = {"br", "dt", "dd"}, *const tables[] = {"table", "tr", "td", "th"};
    const char *behind = strncmp(at, "!--", 3) == 0 ? strstr(at, "-->") : strchr(at, '>');
    if (!behind)
        return at + strlen(at);
    behind += *behind == '-' ? 3 : 1;
    bool ends = *at == '/';
    at += ends;
    size_t length = strcspn(at, " \t\r\n/>");
    if (length == 2 && tolower((unsigned char)*at) == 'h' && at[1] >= '1' && at[1] <= '6') {
        page->cell = false;
        begin_paragraph(page);
        if (!ends)
            text_addf(&page->text, "%.*s ", at[1] - '0', "######");
        return behind;
    }
    if (!ends && (is_tag(at, length, "script") || is_tag(at, length, "style") || is_tag(at, length, "head")))
        return behind_element(behind, at, length);
    if (is_tag(at, length, "pre") && !page->cell) {
        page->pre += ends ? -(page->pre > 0) : 1;
        begin_line(page);
        text_add(&page->text, ends ? "```\n" : "\n```\n");
        return !ends && *behind == '\n' ? behind + 1 : behind;
    }
    if (page->pre)
        return behind;
    if (is_tag(at, length, "code"))
        text_add(&page->text, "`");
    if (is_tag(at, length, "li") && !ends) {
        begin_line(page);
        text_add(&page->text, "- ");
    }
    for (size_t i = 0; i < sizeof paragraphs / sizeof *paragraphs; i++)
        if (is_tag(at, length, paragraphs[i]))
            begin_paragraph(page);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (is_tag(at, length, lines[i]))
            begin_line(page);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (is_tag(at, length, tables[i]))
            take_table_tag(page, at, length, ends);
    return behind;
}

const char *cot_markdown_of_html(struct arena *arena, const char *html)
{
    struct page page = {.quiet = true};
    for (const char *at = html; *at;) {
        size_t taken;
        if (*at == '<' && (isalpha((unsigned char)at[1]) || at[1] == '/' || at[1] == '!'))
            at = take_tag(&page, at + 1);
        else if (*at == '&' && (taken = entity_at(&page, at + 1)))
            at += taken + 1;
        else
            add_byte(&page, *at++);
    }
    return text_keep(&page.text, arena);
}
