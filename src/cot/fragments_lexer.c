/* What code is cut by: names of the question, lexemes, and lines whose operands stand alone. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/array.h"
#include "base/memory.h"
#include "cot/fragments_internal.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* Names that the planner gives to values, in AscendDSL and in Ascend C. */
#define VALUE "(?:valueTruth|value_truth|value|column|number|parts|part|row|count)\\d+(?:_ub)?|part_ub"
/* Calls, words, an end of a line with what the next one is indented by, spaces, signs. */
static const char lexeme[] = VALUE "|tl\\.\\w+\\(|\\w+|\\n *| +|.";
static const char alone[] = VALUE "|tl\\.(?:v|row_)\\w+\\(";
/* A line that begins so has operands. */
static const char instruction[] = "\\n? +(?:tl\\.(?:v|row_|load|store|dup|iota)\\w*\\(|[A-Z]\\w*\\()";
/* What a question tells; what is put before and behind names of it. */
static const char told[] = "^(?:in|out|attr) (\\w+)";
#define BEFORE "(?:set_|DTYPE_|)"
#define BEHIND                                                                                                         \
    "_ub|_kernel|_host|_tiling|_TILING_H|Queue|Gm|Buffer|Copy|OutQueue|Out|Kernel|TilingData|Shape|Value|List"

struct cot_lexer {
    pcre2_code *lexeme, *alone, *instruction, *told;
    pcre2_match_data *found;
};

static pcre2_code *compile(const char *pattern, uint32_t options)
{
    int problem;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_UCP | options, &problem, &at, NULL);
    if (code)
        pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* or, where it cannot, is interpreted */
    return code;
}

struct cot_lexer *cot_lexer_new(void)
{
    struct cot_lexer *lexer = memory_alloc(sizeof *lexer);
    lexer->lexeme = compile(lexeme, PCRE2_DOTALL | PCRE2_ANCHORED);
    lexer->alone = compile(alone, PCRE2_ANCHORED);
    lexer->instruction = compile(instruction, PCRE2_ANCHORED);
    lexer->told = compile(told, PCRE2_MULTILINE);
    lexer->found = pcre2_match_data_create(4, NULL);
    if (!lexer->lexeme || !lexer->alone || !lexer->instruction || !lexer->told || !lexer->found)
        memory_exhausted(0);
    return lexer;
}

void cot_lexer_free(struct cot_lexer *lexer)
{
    pcre2_code_free(lexer->lexeme);
    pcre2_code_free(lexer->alone);
    pcre2_code_free(lexer->instruction);
    pcre2_code_free(lexer->told);
    pcre2_match_data_free(lexer->found);
    free(lexer);
}

/* The next match of a pattern in bytes [from, length); NULL: there is none. Begin and end of it and of its group. */
static const PCRE2_SIZE *match(const struct cot_lexer *lexer, const pcre2_code *pattern, const char *text,
                               size_t length, size_t from)
{
    return pcre2_match(pattern, (PCRE2_SPTR)text, length, from, 0, lexer->found, NULL) > 0
               ? pcre2_get_ovector_pointer(lexer->found)
               : NULL;
}

bool cot_lexer_alone(const struct cot_lexer *lexer, const char *text)
{
    return match(lexer, lexer->alone, text, strlen(text), 0);
}

/* ---- Names. */

struct names {
    struct arena arena;
    const char **items;
    int count, capacity;
};

static void add_name(struct names *names, const char *name)
{
    if (*name)
        ARRAY_ADD(&names->arena, names->items, names->count, names->capacity, name);
}

static const char *upper(struct arena *arena, const char *name)
{
    char *made = arena_strdup(arena, name);
    for (char *at = made; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return made;
}

/* ScaleBy: scale_by. */
static const char *snake(struct arena *arena, const char *name)
{
    char *made = arena_alloc(arena, 2 * strlen(name) + 1);
    size_t length = 0;
    for (const char *at = name; *at; at++) {
        if (isupper((unsigned char)*at) && at > name &&
            (islower((unsigned char)at[-1]) || isdigit((unsigned char)at[-1])))
            made[length++] = '_';
        made[length++] = (char)tolower((unsigned char)*at);
    }
    return made;
}

/* first_row: firstRow. */
static const char *camel(struct arena *arena, const char *name)
{
    char *made = arena_alloc(arena, strlen(name) + 1);
    size_t length = 0;
    for (const char *at = name; *at; at++)
        if (*at == '_' && at[strspn(at, "_")]) {
            at += strspn(at, "_");
            made[length++] = (char)toupper((unsigned char)*at);
        } else
            made[length++] = *at;
    return made;
}

static int longest_first(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    size_t length_a = strlen(*a), length_b = strlen(*b);
    return length_a != length_b ? (length_a < length_b) - (length_a > length_b) : strcmp(*a, *b);
}

/* Names that code may have of what a question tells: tensors, attributes and the operator, in the forms of Python, of C++ and of macros. */
static void find_names(const struct cot_lexer *lexer, const char *question, struct names *names)
{
    struct arena *arena = &names->arena;
    const char *operator= arena_strndup(arena, question, strcspn(question, "\n"));
    size_t length = strlen(question);
    const PCRE2_SIZE *found;
    add_name(names, operator);
    add_name(names, snake(arena, operator));
    add_name(names, upper(arena, snake(arena, operator)));
    for (size_t at = 0; (found = match(lexer, lexer->told, question, length, at)); at = found[1]) {
        const char *name = arena_strndup(arena, question + found[2], found[3] - found[2]);
        add_name(names, name);
        add_name(names, camel(arena, name));
        add_name(names, upper(arena, name));
    }
    if (names->count)
        qsort(names->items, (size_t)names->count, sizeof *names->items, longest_first);
}

/* One of the names, as a whole word but for what is put before and behind; NULL: there is none. */
static pcre2_code *pattern_of(const struct names *names)
{
    struct text pattern = {0};
    text_add(&pattern, "(?<!\\w)" BEFORE "(");
    for (int i = 0; i < names->count; i++) {
        text_add(&pattern, i ? "|" : "");
        for (const char *at = names->items[i]; *at; at++)
            text_addf(&pattern, isalnum((unsigned char)*at) || *at == '_' || (unsigned char)*at >= 0x80 ? "%c" : "\\%c",
                      *at);
    }
    text_add(&pattern, ")(?=(?:" BEHIND "|\\d)*(?!\\w))");
    pcre2_code *code = names->count ? compile(pattern.bytes, 0) : NULL;
    text_free(&pattern);
    return code;
}

/* ---- Segments. */

struct cutting {
    const struct cot_lexer *lexer;
    struct arena *kept;
    struct strings *strings;
    cot_on_segment *on_segment;
    void *closure;
    struct arena arena;
    int *segment;
    int count, capacity;
    bool has_operands; /* of the line */
};

static void end_segment(struct cutting *cutting)
{
    if (cutting->count)
        cutting->on_segment(cutting->closure, cutting->segment, cutting->count);
    cutting->count = 0;
}

static bool is_alone(const struct cutting *cutting, const char *text, size_t length)
{
    const PCRE2_SIZE *found = match(cutting->lexer, cutting->lexer->alone, text, length, 0);
    if (found && found[1] == length)
        return true;
    if (!cutting->has_operands)
        return false;
    return isdigit((unsigned char)*text) || (isupper((unsigned char)*text) && cutting->count &&
                                             *cutting->strings->items[cutting->segment[cutting->count - 1]].at == '\n');
}

static void add_lexemes(struct cutting *cutting, const char *text, size_t length)
{
    const PCRE2_SIZE *found;
    for (size_t at = 0, end; at < length; at = end) {
        found = match(cutting->lexer, cutting->lexer->lexeme, text, length, at);
        end = found ? found[1] : at + 1; /* no UTF-8 */
        bool stands_alone = is_alone(cutting, text + at, end - at);
        if (stands_alone)
            end_segment(cutting);
        ARRAY_ADD(&cutting->arena, cutting->segment, cutting->count, cutting->capacity,
                  strings_number(cutting->kept, cutting->strings, text + at, end - at));
        if (stands_alone)
            end_segment(cutting);
    }
}

/* A line, with the end of the one before. */
static void add_line(struct cutting *cutting, const pcre2_code *name, const char *line, size_t length)
{
    size_t at = 0;
    const PCRE2_SIZE *found;
    cutting->has_operands = match(cutting->lexer, cutting->lexer->instruction, line, length, 0);
    for (size_t from = 0; name && (found = match(cutting->lexer, name, line, length, from)); from = at) {
        size_t begin = found[2], end = found[1];
        add_lexemes(cutting, line + at, begin - at);
        end_segment(cutting);
        at = end;
    }
    add_lexemes(cutting, line + at, length - at);
}

void cot_lexer_cut(const struct cot_lexer *lexer, const char *question, const char *answer, struct arena *arena,
                   struct strings *strings, cot_on_segment *on_segment, void *closure)
{
    struct cutting cutting = {
        .lexer = lexer, .kept = arena, .strings = strings, .on_segment = on_segment, .closure = closure};
    struct names names = {0};
    find_names(lexer, question, &names);
    pcre2_code *name = pattern_of(&names);
    const char *text = arena_printf(&names.arena, "\n%s", answer);
    while (*text) {
        size_t length = 1 + strcspn(text + 1, "\n");
        add_line(&cutting, name, text, length);
        text += length;
    }
    end_segment(&cutting);
    pcre2_code_free(name);
    arena_free(&names.arena);
    arena_free(&cutting.arena);
}
