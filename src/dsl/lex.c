/* Text to words. Python's rules: a line ends where no bracket is open and no backslash stands at its end; the blanks at the
 * beginning of a line open and close blocks. */
#include "base/array.h"
#include "dsl/lex.h"

#include <ctype.h>
#include <string.h>

enum { BLOCKS_MAX = 32, TEXT_MAX = 1 << 20, TAB = 8 };

struct lexer {
    struct arena *arena;
    struct dsl_messages *messages;
    struct dsl_words *words;
    const char *at, *end, *line_start;
    int line;
    const char *counted; /* characters of the line before it: */
    int columns;
    int brackets;                        /* that are open */
    int indents[BLOCKS_MAX + 1], blocks; /* columns at which the open blocks begin */
    bool blank;                          /* the line before is empty */
};

static int columns_between(const char *from, const char *to)
{
    int columns = 0;
    for (; from < to; from++)
        columns += ((unsigned char)*from & 0xc0) != 0x80; /* not inside a character */
    return columns;
}

/* The column of a character of the line, of which those are asked that follow each other. */
static int column_of(struct lexer *lexer, const char *at)
{
    if (lexer->counted < lexer->line_start || lexer->counted > at) {
        lexer->counted = lexer->line_start;
        lexer->columns = 0;
    }
    lexer->columns += columns_between(lexer->counted, at);
    lexer->counted = at;
    return lexer->columns + 1;
}

static struct dsl_place place_from(struct lexer *lexer, const char *from)
{
    int length = columns_between(from, lexer->at);
    return (struct dsl_place){lexer->line, column_of(lexer, from), length ? length : 1};
}

static void add(struct lexer *lexer, enum dsl_token_kind kind, struct dsl_place place, const char *text, size_t length)
{
    struct dsl_words *words = lexer->words;
    ARRAY_ADD(lexer->arena, words->tokens, words->count, words->capacity,
              (struct dsl_token){kind, place, length ? arena_strndup(lexer->arena, text, length) : ""});
}

/* A token of the characters from `from` on. */
static void add_from(struct lexer *lexer, enum dsl_token_kind kind, const char *from)
{
    add(lexer, kind, place_from(lexer, from), from, (size_t)(lexer->at - from));
}

/* Behind the end of a line. */
static void next_line(struct lexer *lexer)
{
    lexer->at += lexer->at[0] == '\r' && lexer->at + 1 < lexer->end && lexer->at[1] == '\n' ? 2 : 1;
    lexer->line++;
    lexer->line_start = lexer->at;
}

static bool at_line_end(const struct lexer *lexer)
{
    return lexer->at == lexer->end || *lexer->at == '\n' || *lexer->at == '\r';
}

static void lex_comment(struct lexer *lexer, bool alone)
{
    const char *from = lexer->at, *end;
    while (!at_line_end(lexer))
        lexer->at++;
    for (end = lexer->at; end > from && (end[-1] == ' ' || end[-1] == '\t'); end--)
        ;
    struct dsl_words *words = lexer->words;
    struct dsl_remark remark = {
        {arena_strndup(lexer->arena, from, (size_t)(end - from)), alone && words->blank[lexer->line]},
        lexer->line,
        column_of(lexer, from),
        alone,
        words->count};
    ARRAY_ADD(lexer->arena, words->remarks, words->remark_count, words->remark_capacity, remark);
}

/* Opens and closes blocks for a line that begins at `column`. */
static void lex_indent(struct lexer *lexer, int column)
{
    struct dsl_place place = {lexer->line, 1, column ? column : 1};
    if (column > lexer->indents[lexer->blocks]) {
        if (lexer->blocks == BLOCKS_MAX) {
            dsl_complain(lexer->messages, place, DSL_RULE_depth, NULL, "more than %d blocks in each other", BLOCKS_MAX);
            return;
        }
        lexer->indents[++lexer->blocks] = column;
        add(lexer, TOKEN_INDENT, place, "", 0);
        return;
    }
    for (; column < lexer->indents[lexer->blocks]; lexer->blocks--)
        add(lexer, TOKEN_DEDENT, place, "", 0);
    if (column != lexer->indents[lexer->blocks])
        dsl_complain(lexer->messages, place, DSL_RULE_indentation,
                     "indent the line as the statements are that it belongs to",
                     "the line is indented by %d, no block that is open is", column);
}

/* The blanks at the beginning of a line; false if the line says nothing. */
static bool lex_line_start(struct lexer *lexer)
{
    int column = 0;
    bool tab = false;
    for (; lexer->at < lexer->end && (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\f'); lexer->at++) {
        tab |= *lexer->at == '\t';
        column = *lexer->at == '\t' ? (column / TAB + 1) * TAB : *lexer->at == '\f' ? 0 : column + 1;
    }
    lexer->words->blank[lexer->line] = lexer->blank;
    lexer->blank = at_line_end(lexer);
    if (lexer->blank)
        return false;
    if (*lexer->at == '#') {
        lex_comment(lexer, true);
        return false;
    }
    if (tab)
        dsl_complain(lexer->messages, (struct dsl_place){lexer->line, 1, 1}, DSL_RULE_indentation,
                     "'akgen dsl fmt' indents by four spaces a level", "the line is indented by tabs");
    lex_indent(lexer, column);
    return true;
}

static bool part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void lex_number(struct lexer *lexer)
{
    const char *from = lexer->at;
    bool real = false, hexadecimal = from[0] == '0' && from + 1 < lexer->end && (from[1] == 'x' || from[1] == 'X');
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        bool exponent = !hexadecimal && (c == 'e' || c == 'E');
        real |= c == '.' || exponent;
        if (!part_of_name(c) && c != '.')
            break;
        if (exponent && lexer->at + 1 < lexer->end && (lexer->at[1] == '+' || lexer->at[1] == '-'))
            lexer->at++;
    }
    add_from(lexer, real ? TOKEN_REAL : TOKEN_INT, from);
}

/* A text in single or double quotes, or three of them over several lines. */
static void lex_text(struct lexer *lexer)
{
    const char *from = lexer->at;
    char quote = *from;
    bool tripled = lexer->end - from >= 3 && from[1] == quote && from[2] == quote;
    struct dsl_place place = place_from(lexer, from);
    lexer->at += tripled ? 3 : 1;
    const char *text = lexer->at;
    for (;; lexer->at++) {
        if (lexer->at == lexer->end || (!tripled && at_line_end(lexer))) {
            dsl_complain(lexer->messages, place, DSL_RULE_syntax, NULL, "the text that begins here has no end");
            add(lexer, TOKEN_TEXT, place, text, (size_t)(lexer->at - text));
            return;
        }
        if (at_line_end(lexer)) {
            next_line(lexer);
            lexer->at--;
        } else if (*lexer->at == quote &&
                   (!tripled || (lexer->end - lexer->at >= 3 && lexer->at[1] == quote && lexer->at[2] == quote))) {
            break;
        } else if (*lexer->at == '\\' && lexer->at + 1 < lexer->end && lexer->at[1] != '\n' && lexer->at[1] != '\r') {
            lexer->at++;
        }
    }
    const char *end = lexer->at;
    lexer->at += tripled ? 3 : 1;
    if (place.line == lexer->line)
        place.length = columns_between(from, lexer->at);
    add(lexer, TOKEN_TEXT, place, text, (size_t)(end - text));
}

/* Names become names of C++, which not every compiler reads in other alphabets. */
static void lex_foreign(struct lexer *lexer)
{
    const char *from = lexer->at++;
    while (lexer->at < lexer->end && ((unsigned char)*lexer->at & 0xc0) == 0x80)
        lexer->at++;
    dsl_complain(lexer->messages, place_from(lexer, from), DSL_RULE_syntax,
                 "names are of letters of the English alphabet, digits and '_'",
                 "'%.*s' stands outside of comments and texts", (int)(lexer->at - from), from);
}

static void lex_sign(struct lexer *lexer)
{
    static const char *const signs[] = {"**=", "//=", ">>=", "<<=", "**", "//", "==", "!=", "<=", ">=", "<<",
                                        ">>",  "->",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ":="};
    const char *from = lexer->at;
    size_t length = 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && length == 1; i++) {
        size_t signs_length = strlen(signs[i]);
        if ((size_t)(lexer->end - from) >= signs_length && strncmp(from, signs[i], signs_length) == 0)
            length = signs_length;
    }
    lexer->at += length;
    if (length == 1 && !strchr("+-*/%&|^~<>=()[]{}.,:;@!", *from)) {
        dsl_complain(lexer->messages, place_from(lexer, from), DSL_RULE_syntax,
                     *from == '`' ? "give the program alone: no text around it, no line of ```" : NULL,
                     isprint((unsigned char)*from) ? "the character '%c' has no meaning here"
                                                   : "a character with the code %d has no meaning here",
                     *from);
        return;
    }
    lexer->brackets += length == 1 && strchr("([{", *from);
    lexer->brackets -= length == 1 && strchr(")]}", *from) && lexer->brackets > 0;
    add_from(lexer, TOKEN_SIGN, from);
}

/* One word, or what stands between words. */
static void lex_word(struct lexer *lexer)
{
    const char *from = lexer->at;
    char next = lexer->at + 1 < lexer->end ? lexer->at[1] : '\n';
    if (*from == ' ' || *from == '\t' || *from == '\f') {
        lexer->at++;
    } else if (*from == '#') {
        lex_comment(lexer, lexer->brackets && lexer->line_start + strspn(lexer->line_start, " \t") == from);
    } else if (*from == '\\' && (next == '\n' || next == '\r')) {
        lexer->at++;
        if (lexer->at < lexer->end)
            next_line(lexer);
    } else if (isdigit((unsigned char)*from) || (*from == '.' && isdigit((unsigned char)next))) {
        lex_number(lexer);
    } else if (part_of_name(*from)) {
        while (lexer->at < lexer->end && part_of_name(*lexer->at))
            lexer->at++;
        add_from(lexer, TOKEN_NAME, from);
    } else if ((unsigned char)*from >= 0x80) {
        lex_foreign(lexer);
    } else if (*from == '"' || *from == '\'') {
        lex_text(lexer);
    } else {
        lex_sign(lexer);
    }
}

/* A line that says something, with those that a bracket or a backslash adds to it. */
static void lex_line(struct lexer *lexer)
{
    for (;;) {
        if (!at_line_end(lexer)) {
            lex_word(lexer);
        } else if (lexer->brackets && lexer->at < lexer->end) {
            next_line(lexer);
        } else {
            lexer->brackets = 0; /* what is open at the end of the text the parser tells */
            add(lexer, TOKEN_LINE, place_from(lexer, lexer->at), "", 0);
            return;
        }
    }
}

/* False: it is no text, which was told. */
static bool check_text(struct lexer *lexer)
{
    const char *start = lexer->at;
    if (lexer->end - start > TEXT_MAX) {
        dsl_complain(lexer->messages, (struct dsl_place){1, 1, 1}, DSL_RULE_text, NULL,
                     "the program has %td bytes, more than %d", lexer->end - start, TEXT_MAX);
        return false;
    }
    char *copy = arena_strndup(lexer->arena, start, (size_t)(lexer->end - start));
    text_make_utf8(copy);
    int line = 1;
    for (const char *at = start; at < lexer->end; at++) {
        unsigned char c = (unsigned char)*at;
        bool ends_line = c == '\n' || (c == '\r' && at + 1 < lexer->end && at[1] == '\n');
        if ((c < ' ' && c != '\t' && c != '\f' && !ends_line) || c == 0x7f || copy[at - start] != *at) {
            dsl_complain(lexer->messages, (struct dsl_place){line, 1, 1}, DSL_RULE_text, NULL,
                         c >= 0x80 ? "the line is no UTF-8: byte 0x%02x" : "the line has a control character: 0x%02x",
                         c);
            return false;
        }
        line += c == '\n';
    }
    return true;
}

static int count_lines(const char *at, const char *end)
{
    int lines = 1;
    for (; at < end; at++)
        lines += *at == '\n' || *at == '\r';
    return lines;
}

void dsl_lex(struct arena *arena, const char *text, size_t length, struct dsl_messages *messages,
             struct dsl_words *words)
{
    struct lexer lexer = {.arena = arena,
                          .messages = messages,
                          .words = words,
                          .at = text,
                          .end = text + length,
                          .line_start = text,
                          .line = 1,
                          .counted = text};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* the mark that some editors put first */
        lexer.at = lexer.line_start = text + 3;
    words->blank = arena_alloc(arena, (size_t)count_lines(text, text + length) + 2);
    if (!check_text(&lexer))
        lexer.at = lexer.end;
    while (lexer.at < lexer.end) {
        if (lex_line_start(&lexer))
            lex_line(&lexer);
        if (lexer.at < lexer.end)
            next_line(&lexer);
    }
    lexer.at = lexer.end;
    struct dsl_place last = place_from(&lexer, lexer.at);
    for (; lexer.blocks > 0; lexer.blocks--)
        add(&lexer, TOKEN_DEDENT, last, "", 0);
    add(&lexer, TOKEN_END, last, "", 0);
}
