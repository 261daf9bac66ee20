/* Small questions about C++ and Python text, for reading wrappers. */
#include "candidate/wrapper_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wrapper_refuse(struct arena *arena, struct op_wrapper *wrapper, enum op_wrapper_kind kind, const char *variable,
                    int line, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    wrapper->kind = kind;
    wrapper->line = line;
    wrapper->reason = arena_printf(arena, "wrapper (%s, line %d): %s", variable, line, message);
    return false;
}

bool wrapper_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *wrapper_find_word(const char *text, const char *begin, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = begin; (at = strstr(at, word)); at += length)
        if ((at == text || !wrapper_is_word(at[-1])) && !wrapper_is_word(at[length]))
            return at;
    return NULL;
}

int wrapper_line(const char *text, int first_line, const char *at)
{
    for (const char *c = text; c < at; c++)
        first_line += *c == '\n';
    return first_line;
}

static const char *trimmed(struct arena *arena, const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

int wrapper_split(struct arena *arena, const char *open, const char **parts, const char **close)
{
    int depth = 0, count = 0;
    const char *begin = open + 1;
    if (!*open || !strchr("([{", *open))
        return -1;
    for (const char *at = open; *at; at++) {
        if (*at == '"' || *at == '\'') {
            const char *end = strchr(at + 1, *at);
            if (!end)
                return -1;
            at = end;
            continue;
        }
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= *at == ')' || *at == ']' || *at == '}';
        if (depth && !(depth == 1 && *at == ','))
            continue;
        const char *part = trimmed(arena, begin, at);
        if (count == WRAPPER_MAX_ARGUMENTS)
            return -1;
        if (*part || *at == ',')
            parts[count++] = part;
        begin = at + 1;
        if (!depth) {
            *close = at + 1;
            return count;
        }
    }
    return -1;
}

int wrapper_split_parameters(struct arena *arena, const char *open, const char **parts, const char **close)
{
    int count = wrapper_split(arena, open, parts, close), kept = 0, depth = 0;
    for (int i = 0; i < count; i++) {
        if (depth > 0)
            parts[kept - 1] = arena_printf(arena, "%s,%s", parts[kept - 1], parts[i]);
        else
            parts[kept++] = parts[i];
        depth = 0;
        for (const char *at = parts[kept - 1]; *at; at++)
            depth += (*at == '<') - (*at == '>');
    }
    return count < 0 ? count : kept;
}

bool wrapper_is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

bool wrapper_is_literal(const char *text)
{
    static const char *const words[] = {"True", "False", "true", "false"};
    size_t length = strlen(text);
    char *end;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    if (length >= 2 && (*text == '"' || *text == '\'') && text[length - 1] == *text)
        return !memchr(text + 1, *text, length - 2) && !strchr(text, '\\');
    if (!length || (!isdigit((unsigned char)*text) && !strchr("+-.", *text)))
        return false;
    strtod(text, &end);
    return end != text && (!*end || strcmp(end, "f") == 0);
}

const char *wrapper_without_suffix(struct arena *arena, const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    if (length <= tail || strcmp(text + length - tail, suffix) != 0)
        return NULL;
    return arena_strndup(arena, text, length - tail);
}

const char *wrapper_inside(struct arena *arena, const char *text, const char *prefix)
{
    size_t length = strlen(text), head = strlen(prefix);
    if (strncmp(text, prefix, head) != 0 || length <= head || text[length - 1] != ')')
        return NULL;
    return trimmed(arena, text + head, text + length - 1);
}
