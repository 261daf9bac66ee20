/* Recursive descent over the little Python of py_string.h. Grammar and escapes: the Python language reference,
 * "Lexical analysis". A reader that has met a problem returns false all the way up. */
#include "candidate/py_string.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 256, MAX_DEPTH = 64, MAX_BYTES = 16 << 20 };

struct reader {
    struct arena *arena;
    const char *at;
    int line, depth; /* depth: open parentheses */
    size_t bytes;    /* of all strings so far */
    struct py_strings *strings;
    struct py_problem *problem;
    const char *imported[MAX_NAMES];
    int import_count;
};

static bool fail(struct reader *r, enum py_problem_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct reader *r, enum py_problem_kind kind, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    *r->problem = (struct py_problem){kind, r->line, arena_strdup(r->arena, message)};
    return false;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_name_start(*at) && is_name(at[length]))
        length++;
    return length;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

const struct py_value *py_find(const struct py_strings *strings, const char *name)
{
    for (int i = 0; i < strings->count; i++)
        if (strcmp(strings->values[i].name, name) == 0)
            return &strings->values[i];
    return NULL;
}

/* Spaces, joined lines and, inside parentheses, line ends and comments. */
static void skip_space(struct reader *r)
{
    for (;;)
        if (r->at[0] == '\\' && r->at[1] == '\n') {
            r->at += 2;
            r->line++;
        } else if (*r->at == ' ' || *r->at == '\t' || *r->at == '\f')
            r->at++;
        else if (r->depth && *r->at == '#')
            r->at += strcspn(r->at, "\n");
        else if (r->depth && *r->at == '\n') {
            r->at++;
            r->line++;
        } else
            return;
}

/* String literals. */
struct literal {
    char quote;
    bool triple, raw, formatted, bytes;
};

/* Length of the prefix and the quotes if a string literal starts here, 0 if none does. */
static size_t literal_start(const char *at, struct literal *literal)
{
    size_t length = 0;
    *literal = (struct literal){0};
    for (; length < 2 && strchr("rRuUfFbB", at[length]) && at[length]; length++) {
        char c = (char)tolower((unsigned char)at[length]);
        literal->raw |= c == 'r';
        literal->formatted |= c == 'f';
        literal->bytes |= c == 'b';
    }
    if (at[length] != '"' && at[length] != '\'')
        return 0;
    literal->quote = at[length];
    literal->triple = at[length + 1] == literal->quote && at[length + 2] == literal->quote;
    return length + (literal->triple ? 3 : 1);
}

static void add_utf8(struct text *out, uint32_t code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[length] | code);
    text_append(out, bytes, length);
}

/* The character that exactly `digits` hexadecimal digits stand for. */
static bool read_code(struct reader *r, int digits, struct text *out)
{
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, r->at++) {
        char c = (char)tolower((unsigned char)*r->at);
        if (!isxdigit((unsigned char)c))
            return fail(r, PY_INVALID, "an escape needs %d hexadecimal digits", digits);
        code = code << 4 | (uint32_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    }
    if (!code || code > 0x10ffff)
        return fail(r, PY_INVALID, "an escape stands for character %#x, which no source file can hold", code);
    add_utf8(out, code);
    return true;
}

/* What follows a backslash that is no raw one. */
static bool read_escape(struct reader *r, struct text *out)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    char c = *r->at++;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple)
        text_append(out, &to[simple - from], 1);
    else if (c == '\n')
        r->line++;
    else if (c == 'x' || c == 'u' || c == 'U')
        return read_code(r, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
    else if (c == 'N')
        return fail(r, PY_BEYOND, "an escape by character name");
    else if (c >= '0' && c <= '7') {
        uint32_t code = (uint32_t)(c - '0');
        for (int i = 0; i < 2 && *r->at >= '0' && *r->at <= '7'; i++)
            code = code * 8 + (uint32_t)(*r->at++ - '0');
        if (!code)
            return fail(r, PY_INVALID, "an escape stands for NUL, which no source file can hold");
        add_utf8(out, code);
    } else {
        r->at--; /* an unknown escape keeps its backslash */
        text_append(out, "\\", 1);
    }
    return true;
}

/* Fields of f-strings. */
static bool known_word(const struct reader *r, const char *word)
{
    static const char *const words[] = {"and", "or",  "not", "if",  "else", "in",   "is",    "True", "False", "None",
                                        "str", "int", "len", "min", "max",  "repr", "round", "abs",  "float", "range",
                                        "sum", "pow", "hex", "for", "list", "chr",  "ord",   NULL};
    for (int i = 0; i < r->import_count; i++)
        if (strcmp(r->imported[i], word) == 0)
            return true;
    return is_one_of(word, words) || py_find(r->strings, word);
}

/* Why Python would refuse a field that is neither a name nor a literal, or NULL if it might not. C++ whose braces were
 * not doubled is the usual case. */
static const char *refused_field(const struct reader *r, const char *field)
{
    if (!*field)
        return "an f-string with an empty field {}; a brace is written {{ or }}";
    if (strpbrk(field, ";\n{"))
        return "an f-string whose field is no expression; a brace is written {{ or }}";
    if (strstr(field, " for ") || strchr(field, '"') || strchr(field, '\''))
        return NULL;
    for (const char *at = field; *at; at++) {
        size_t length = name_length(at);
        bool attribute = at > field && (at[-1] == '.' || is_name(at[-1]));
        const char *word = arena_strndup(r->arena, at, length);
        if (length && !attribute && !known_word(r, word))
            return arena_printf(r->arena, "an f-string names '%s', which is not assigned; a brace is written {{ or }}",
                                word);
        at += length ? length - 1 : 0;
    }
    return NULL;
}

static bool is_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return isdigit((unsigned char)*text) && !*end && !strpbrk(text, "xXpP") && isfinite(value);
}

/* A number as Python's str() shows it: integers as they are, reals with as few digits as tell them apart. */
static const char *number_text(struct arena *arena, const char *written)
{
    char digits[64], out[64];
    if (!strpbrk(written, ".eE"))
        return arena_strdup(arena, written);
    double value = strtod(written, NULL);
    for (int precision = 0; precision < 17; precision++) {
        snprintf(digits, sizeof digits, "%.*e", precision, value);
        if (strtod(digits, NULL) == value) {
            int exponent = atoi(strchr(digits, 'e') + 1);
            if (exponent >= -4 && exponent < 16) {
                int decimals = precision - exponent;
                snprintf(out, sizeof out, "%.*f", decimals > 1 ? decimals : 1, value);
                return arena_strdup(arena, out);
            }
            break;
        }
    }
    return arena_strdup(arena, digits);
}

static bool read_field(struct reader *r, struct text *out)
{
    size_t length = strcspn(r->at, "}\n");
    if (r->at[length] != '}') {
        r->at += length;
        return fail(r, PY_INVALID, "an f-string whose field does not end on its line; a brace is written {{ or }}");
    }
    const char *begin = r->at, *end = r->at + length;
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    const char *field = arena_strndup(r->arena, begin, (size_t)(end - begin)), *why;
    size_t inner = strlen(field);
    const struct py_value *value = name_length(field) == inner && inner ? py_find(r->strings, field) : NULL;
    bool quoted = inner >= 2 && (*field == '"' || *field == '\'') && field[inner - 1] == *field &&
                  !memchr(field + 1, *field, inner - 2) && !strchr(field, '\\');
    if (value)
        text_add(out, value->text);
    else if (is_number(field))
        text_add(out, number_text(r->arena, field));
    else if (quoted)
        text_append(out, field + 1, inner - 2);
    else if ((why = refused_field(r, field)))
        return fail(r, PY_INVALID, "%s", why);
    else
        return fail(r, PY_BEYOND, "an f-string field that is more than a name or a literal: {%.80s}", field);
    r->at += length + 1;
    return true;
}

/* Values. */
/* Counts what a string takes: names that double themselves end here. */
static bool charge(struct reader *r, size_t bytes)
{
    r->bytes += bytes;
    return r->bytes <= MAX_BYTES || fail(r, PY_INVALID, "the strings together take more than %d MiB", MAX_BYTES >> 20);
}

static bool at_end(const struct reader *r, const struct literal *literal)
{
    return *r->at == literal->quote && (!literal->triple || (r->at[1] == literal->quote && r->at[2] == literal->quote));
}

static bool read_character(struct reader *r, const struct literal *literal, struct text *out)
{
    if (*r->at == '\\' && r->at[1] && literal->raw) {
        r->line += r->at[1] == '\n';
        text_append(out, r->at, 2);
        r->at += 2;
        return true;
    }
    char c = *r->at++;
    if (c == '\\' && *r->at)
        return read_escape(r, out);
    if (literal->formatted && c == '{' && *r->at != '{')
        return read_field(r, out);
    if (literal->formatted && c == '}' && *r->at != '}')
        return fail(r, PY_INVALID, "a single '}' in an f-string; a brace is written {{ or }}");
    r->at += literal->formatted && (c == '{' || c == '}');
    r->line += c == '\n';
    text_append(out, &c, 1);
    return charge(r, 1);
}

static bool read_literal(struct reader *r, struct text *out)
{
    struct literal literal;
    int begin = r->line;
    r->at += literal_start(r->at, &literal);
    if (literal.bytes)
        return fail(r, PY_INVALID, "bytes (b\"...\") where a string is needed");
    while (!at_end(r, &literal)) {
        if (!*r->at || (*r->at == '\n' && !literal.triple)) {
            r->line = begin;
            return fail(r, PY_INVALID, "a string literal that does not end");
        }
        if (!read_character(r, &literal, out))
            return false;
    }
    r->at += literal.triple ? 3 : 1;
    return charge(r, out->length);
}

static bool read_value(struct reader *r, struct text *out, bool *number, int *text_line);

/* os.system, exec, ...: the start of a name that lets Python do something. */
static bool executes(const char *name)
{
    static const char *const words[] = {"exec",  "eval",     "open",      "compile", "__import__", "os", "subprocess",
                                        "sys",   "shutil",   "importlib", "pathlib", "ctypes",     "io", "socket",
                                        "input", "builtins", "urllib",    "globals", NULL};
    size_t length = name_length(name);
    for (const char *const *word = words; *word; word++)
        if (strlen(*word) == length && strncmp(name, *word, length) == 0)
            return true;
    return false;
}

/* A name that is used as more than a string: `name(...)`, `name.method(...)`. */
static bool fail_call(struct reader *r, const char *name)
{
    const char *end = name;
    while (is_name(*end) || *end == '.')
        end++;
    return fail(r, executes(name) ? PY_EXECUTES : PY_BEYOND, "%s of %.*s", *end == '(' ? "a call" : "a use",
                (int)(end - name < 80 ? end - name : 80), name);
}

static bool read_name(struct reader *r, struct text *out, bool *number)
{
    size_t length = name_length(r->at);
    const char *start = r->at, *name = arena_strndup(r->arena, r->at, length);
    const struct py_value *value = py_find(r->strings, name);
    r->at += length;
    if (!value && (*r->at == '.' || *r->at == '('))
        return fail_call(r, start);
    if (!value && known_word(r, name))
        return fail(r, PY_BEYOND, "a use of %s", name);
    if (!value)
        return fail(r, PY_INVALID, "'%s' is not assigned before this line", name);
    text_add(out, value->text);
    *number = value->number;
    return charge(r, out->length);
}

static bool expect(struct reader *r, char wanted)
{
    skip_space(r);
    if (*r->at != wanted)
        return fail(r, *r->at ? PY_BEYOND : PY_INVALID, "expected '%c', found '%.20s'", wanted, r->at);
    r->at++;
    return true;
}

static bool open_parenthesis(struct reader *r)
{
    r->at++;
    return ++r->depth <= MAX_DEPTH || fail(r, PY_INVALID, "more than %d open parentheses", MAX_DEPTH);
}

static bool close_parenthesis(struct reader *r)
{
    skip_space(r);
    if (*r->at == ',')
        return fail(r, PY_BEYOND, "a tuple");
    if (!expect(r, ')'))
        return false;
    r->depth--;
    return true;
}

static bool replace(struct reader *r, struct text *text, const struct text *from, const struct text *to)
{
    struct text made = {0};
    const char *at = text->bytes ? text->bytes : "", *hit;
    bool fits = true;
    if (!from->length)
        return fail(r, PY_BEYOND, "a replacement of the empty string");
    for (; fits && (hit = strstr(at, from->bytes)); at = hit + from->length) {
        text_append(&made, at, (size_t)(hit - at));
        text_append(&made, to->bytes, to->length);
        fits = charge(r, (size_t)(hit - at) + to->length);
    }
    text_add(&made, at);
    text_free(text);
    *text = made;
    return fits;
}

static bool read_replace(struct reader *r, struct text *text)
{
    struct text from = {0}, to = {0};
    bool number = false, other = false;
    int line = 0;
    bool ok = read_value(r, &from, &number, &line) && expect(r, ',') && read_value(r, &to, &other, &line);
    if (ok && (number || other))
        ok = fail(r, PY_INVALID, "replace() takes two strings");
    ok = ok && replace(r, text, &from, &to);
    text_free(&from);
    text_free(&to);
    return ok;
}

/* .strip() and .replace(a, b) behind a string. */
static bool read_methods(struct reader *r, struct text *text, bool number, int *text_line)
{
    while (*r->at == '.') {
        static const char strip_call[] = ".strip()", replace_call[] = ".replace(";
        const char *start = r->at + 1;
        if (number)
            return fail(r, PY_BEYOND, "a method of a number");
        if (strncmp(r->at, strip_call, strlen(strip_call)) == 0) {
            r->at += strlen(strip_call);
            size_t begin = 0, end = text->length;
            while (begin < end && isspace((unsigned char)text->bytes[begin]))
                begin++;
            while (end > begin && isspace((unsigned char)text->bytes[end - 1]))
                end--;
            if (text->bytes) {
                memmove(text->bytes, text->bytes + begin, end - begin);
                text->length = end - begin;
                text->bytes[text->length] = '\0';
            }
        } else if (strncmp(r->at, replace_call, strlen(replace_call)) == 0) {
            r->at += strlen(replace_call) - 1;
            if (!open_parenthesis(r) || !read_replace(r, text) || !close_parenthesis(r))
                return false;
        } else
            return fail_call(r, start);
        *text_line = 0;
    }
    return true;
}

static bool read_number(struct reader *r, struct text *out)
{
    size_t length = 0;
    while (is_name(r->at[length]) || r->at[length] == '.' ||
           ((r->at[length] == '-' || r->at[length] == '+') && tolower((unsigned char)r->at[length - 1]) == 'e'))
        length++;
    const char *written = arena_strndup(r->arena, r->at, length);
    if (length > 40 || !is_number(written))
        return fail(r, PY_BEYOND, "the number %.40s, which is not a plain decimal one", written);
    r->at += length;
    text_add(out, number_text(r->arena, written));
    return true;
}

/* One operand of `+`. */
static bool read_term(struct reader *r, struct text *out, bool *number, int *text_line)
{
    struct literal literal;
    skip_space(r);
    *number = false;
    *text_line = 0;
    if (literal_start(r->at, &literal)) {
        *text_line = literal.formatted ? 0 : r->line;
        for (int literals = 0; literal_start(r->at, &literal); literals++, skip_space(r)) {
            *text_line = literals ? 0 : *text_line;
            if (!read_literal(r, out))
                return false;
        }
    } else if (is_name_start(*r->at)) {
        if (!read_name(r, out, number))
            return false;
    } else if (isdigit((unsigned char)*r->at)) {
        *number = true;
        if (!read_number(r, out))
            return false;
    } else if (*r->at == '(') {
        if (!open_parenthesis(r) || !read_value(r, out, number, text_line) || !close_parenthesis(r))
            return false;
    } else
        return fail(r, *r->at && *r->at != '\n' ? PY_BEYOND : PY_INVALID, "a value is missing at '%.20s'", r->at);
    return read_methods(r, out, *number, text_line);
}

static bool read_value(struct reader *r, struct text *out, bool *number, int *text_line)
{
    if (!read_term(r, out, number, text_line))
        return false;
    for (skip_space(r); *r->at == '+'; skip_space(r)) {
        struct text term = {0};
        bool other;
        int line;
        r->at++;
        bool ok = read_term(r, &term, &other, &line);
        if (ok && *number != other)
            ok = fail(r, PY_INVALID, "a string and a number cannot be added");
        if (ok && other)
            ok = fail(r, PY_BEYOND, "arithmetic");
        *text_line = 0;
        text_append(out, term.bytes, term.length);
        text_free(&term);
        if (!ok || !charge(r, out->length))
            return false;
    }
    return true;
}

/* Statements. */
static bool keep(struct reader *r, const char *name, const char *text, bool number, int line, int text_line)
{
    struct py_value *slot = (struct py_value *)py_find(r->strings, name);
    if (!slot && r->strings->count == MAX_NAMES)
        return fail(r, PY_INVALID, "more than %d names", MAX_NAMES);
    if (!slot)
        slot = &r->strings->values[r->strings->count++];
    *slot = (struct py_value){name, arena_strdup(r->arena, text ? text : ""), number, line, text_line};
    return true;
}

/* After a name: `= value`, `: str = value`, `+= value`. */
static bool read_assignment(struct reader *r, const char *start, const char *name)
{
    int line = r->line, text_line = 0;
    bool more = r->at[0] == '+' && r->at[1] == '=', number = false;
    const struct py_value *before = py_find(r->strings, name);
    if (*r->at == ':') {
        r->at++;
        skip_space(r);
        r->at += name_length(r->at);
        skip_space(r);
    }
    if (*r->at == '(' || *r->at == '.')
        return fail_call(r, start);
    if (!more && (*r->at != '=' || r->at[1] == '='))
        return fail(r, PY_BEYOND, "the statement '%.*s'", (int)(strcspn(start, "\n") < 60 ? strcspn(start, "\n") : 60),
                    start);
    if (more && !before)
        return fail(r, PY_INVALID, "'%s' is not assigned before this line", name);
    r->at += more ? 2 : 1;
    struct text text = {0};
    if (more)
        text_add(&text, before->text);
    bool ok = read_value(r, &text, &number, &text_line);
    if (ok && more && (number || before->number))
        ok = fail(r, PY_BEYOND, "arithmetic");
    ok = ok && keep(r, name, text.bytes, number, line, more ? 0 : text_line);
    text_free(&text);
    return ok;
}

/* import a, b as c; from d import e. The names are remembered: uses of them are beyond us, not undefined. */
static bool skip_import(struct reader *r)
{
    for (; *r->at && *r->at != '\n' && *r->at != ';' && *r->at != '#'; r->at++) {
        size_t length = name_length(r->at);
        if (!length)
            continue;
        if (r->import_count < MAX_NAMES)
            r->imported[r->import_count++] = arena_strndup(r->arena, r->at, length);
        r->at += length - 1;
    }
    return true;
}

static bool read_statement(struct reader *r)
{
    static const char *const keywords[] = {"def",    "class",  "if",   "for",    "while",  "with",    "try",  "return",
                                           "del",    "global", "from", "assert", "raise",  "async",   "pass", "import",
                                           "lambda", "not",    "elif", "else",   "except", "finally", NULL};
    struct literal literal;
    const char *start = r->at;
    if (literal_start(r->at, &literal)) {
        struct text ignored = {0};
        bool number;
        int line;
        bool ok = read_value(r, &ignored, &number, &line);
        text_free(&ignored);
        return ok;
    }
    size_t length = name_length(r->at);
    const char *name = arena_strndup(r->arena, r->at, length);
    if (!length)
        return fail(r, PY_INVALID, "this is no Python statement: '%.*s'",
                    (int)(strcspn(start, "\n") < 60 ? strcspn(start, "\n") : 60), start);
    if (strcmp(name, "import") == 0 || strcmp(name, "from") == 0)
        return skip_import(r);
    if (is_one_of(name, keywords))
        return fail(r, PY_BEYOND, "a statement '%s'", name);
    r->at += length;
    skip_space(r);
    if (is_name_start(*r->at)) /* two words beside each other: prose or another language */
        return fail(r, PY_INVALID, "this is no Python statement: '%.*s'",
                    (int)(strcspn(start, "\n") < 60 ? strcspn(start, "\n") : 60), start);
    return read_assignment(r, start, name);
}

/* Nothing but a comment may follow a statement on its line. */
static bool end_statement(struct reader *r)
{
    skip_space(r);
    if (*r->at == '#')
        r->at += strcspn(r->at, "\n");
    if (*r->at == ';')
        r->at++;
    else if (*r->at && *r->at != '\n')
        return fail(r, PY_BEYOND, "an operation on strings at '%.*s'",
                    (int)(strcspn(r->at, "\n") < 40 ? strcspn(r->at, "\n") : 40), r->at);
    return true;
}

void py_read(struct arena *arena, const char *source, int first_line, struct py_strings *strings,
             struct py_problem *problem)
{
    *strings = (struct py_strings){.values = arena_alloc(arena, MAX_NAMES * sizeof *strings->values)};
    *problem = (struct py_problem){PY_NONE, 0, NULL};
    struct reader r = {.arena = arena, .at = source, .line = first_line, .strings = strings, .problem = problem};
    while (*r.at) {
        const char *line = r.at;
        skip_space(&r);
        if (*r.at == '#')
            r.at += strcspn(r.at, "\n");
        if (*r.at == '\n') {
            r.at++;
            r.line++;
            continue;
        }
        if (!*r.at)
            break;
        bool indented = line < r.at && (line == source || line[-1] == '\n');
        if (indented) {
            fail(&r, PY_INVALID, "the line is indented");
            return;
        }
        if (!read_statement(&r) || !end_statement(&r))
            return;
    }
}
