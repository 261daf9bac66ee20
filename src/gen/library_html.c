/* Pages in HTML as plain text: what stands between tags, headings as in Markdown, rows and paragraphs as lines. Not a parser of
 * HTML: what it gets wrong is found less well, and that is all. */
#include "base/text.h"
#include "gen/library_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct entity {
    const char *name, *text;
} entities[] = {{"lt", "<"},   {"gt", ">"},    {"amp", "&"},   {"quot", "\""}, {"apos", "'"},
                {"nbsp", " "}, {"times", "×"}, {"minus", "−"}, {"ndash", "–"}, {"mdash", "—"}};

/* The character that stands behind '&'; returns what it takes of the text, 0: it is none. */
static size_t entity_at(const char *at, const char *end, struct text *text)
{
    enum { LONGEST = 10 };
    const char *close = memchr(at, ';', (size_t)(end - at) < LONGEST ? (size_t)(end - at) : LONGEST);
    if (!close)
        return 0;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (strlen(entities[i].name) == (size_t)(close - at) &&
            strncmp(at, entities[i].name, (size_t)(close - at)) == 0) {
            text_add(text, entities[i].text);
            return (size_t)(close - at) + 1;
        }
    if (*at != '#')
        return 0;
    long code = at[1] == 'x' ? strtol(at + 2, NULL, 16) : strtol(at + 1, NULL, 10);
    if (code > 0 && code < 0x80) {
        text_append(text, &(char){(char)code}, 1);
        return (size_t)(close - at) + 1;
    }
    return 0;
}

static bool is_tag(const char *tag, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(tag, name, length) == 0;
}

static void begin_line(struct text *text)
{
    while (text->length && text->bytes[text->length - 1] == ' ')
        text->length--;
    if (text->length && text->bytes[text->length - 1] != '\n')
        text_add(text, "\n");
}

/* A tag at `at`, behind its '<'; returns what is behind it. */
static const char *take_tag(const char *at, struct text *text)
{
    static const char *const lines[] = {"p",     "div",     "br", "tr", "li", "pre",
                                        "table", "section", "ul", "ol", "dt", "dd"};
    const char *behind = strncmp(at, "!--", 3) == 0 ? strstr(at, "-->") : strchr(at, '>');
    bool ends = *at == '/';
    at += ends;
    size_t length = strcspn(at, " \t\r\n/>");
    if (!behind)
        return at + strlen(at);
    behind += *behind == '-' ? 3 : 1;
    if (length == 2 && tolower((unsigned char)*at) == 'h' && at[1] >= '1' && at[1] <= '6') {
        begin_line(text);
        if (!ends)
            text_addf(text, "\n%.*s ", at[1] - '0', "######");
        return behind;
    }
    if (!ends && (is_tag(at, length, "script") || is_tag(at, length, "style"))) {
        /* Behind an element whose text is none of the page's: </script>. */
        for (const char *close = behind; (close = strstr(close, "</")); close += 2)
            if (strncasecmp(close + 2, at, length) == 0)
                return close;
        return behind + strlen(behind);
    }
    if (is_tag(at, length, "td") || is_tag(at, length, "th"))
        text_add(text, ends ? " | " : "");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (is_tag(at, length, lines[i]))
            begin_line(text);
    return behind;
}

const char *library_text_of_html(struct arena *arena, const char *html, size_t length)
{
    struct text text = {0};
    const char *end = html + length;
    for (const char *at = html; at < end && *at;) {
        size_t taken;
        if (*at == '<' && (isalpha((unsigned char)at[1]) || at[1] == '/' || at[1] == '!')) {
            at = take_tag(at + 1, &text);
        } else if (*at == '&' && (taken = entity_at(at + 1, end, &text))) {
            at += taken + 1;
        } else {
            bool space = isspace((unsigned char)*at);
            if (!space || (text.length && !isspace((unsigned char)text.bytes[text.length - 1])))
                text_append(&text, space && *at != '\n' ? " " : at, 1);
            at++;
        }
    }
    return text_keep(&text, arena);
}
