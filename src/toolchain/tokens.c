#include "toolchain/tokens.h"

#include <ctype.h>
#include <string.h>

bool token_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of a literal that starts at `at` with a quote; an unterminated one ends with its line. */
static size_t skip_quoted(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] && text[at] != quote && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] ? 2 : 1;
    return text[at] == quote ? at + 1 : at;
}

/* R"delimiter( ... )delimiter": `at` is the quote. */
static size_t skip_raw(const char *text, size_t at)
{
    size_t open = at + 1 + strcspn(text + at + 1, "(\n");
    if (text[open] != '(' || open - at > 17)
        return skip_quoted(text, at);
    char closing[20];
    size_t n = open - at - 1;
    closing[0] = ')';
    memcpy(closing + 1, text + at + 1, n);
    closing[n + 1] = '"';
    closing[n + 2] = '\0';
    const char *end = strstr(text + open, closing);
    return end ? (size_t)(end - text) + n + 2 : strlen(text);
}

size_t token_skip_comment(const char *text, size_t at)
{
    const char *end = strstr(text + at + 2, "*/");
    return end ? (size_t)(end - text) + 2 : strlen(text);
}

size_t token_skip_space(const char *text, size_t at)
{
    for (;;) {
        if (isspace((unsigned char)text[at])) {
            at++;
        } else if (text[at] == '\\' && text[at + 1] == '\n') {
            at += 2;
        } else if (text[at] == '/' && text[at + 1] == '/') {
            while (text[at] && text[at] != '\n')
                at += text[at] == '\\' && text[at + 1] ? 2 : 1;
        } else if (text[at] == '/' && text[at + 1] == '*') {
            at = token_skip_comment(text, at);
        } else {
            return at;
        }
    }
}

/* The prefixes of a raw string. */
static bool begins_raw(const char *name, size_t length)
{
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == length && memcmp(name, prefixes[i], length) == 0)
            return true;
    return false;
}

struct token token_next(const char *text, size_t at)
{
    at = token_skip_space(text, at);
    struct token token = {.start = at, .end = at + 1, .kind = TOKEN_MARK};
    if (!text[at]) {
        token.kind = TOKEN_END;
        token.end = at;
    } else if (token_name_char(text[at])) {
        bool number = isdigit((unsigned char)text[at]);
        /* A digit separator (1'000) belongs to its number. */
        while (token_name_char(text[token.end]) ||
               (number && text[token.end] == '\'' && token_name_char(text[token.end + 1])))
            token.end++;
        token.kind = number ? TOKEN_LITERAL : TOKEN_NAME;
        if (!number && text[token.end] == '"' && begins_raw(text + at, token.end - at)) {
            token.end = skip_raw(text, token.end);
            token.kind = TOKEN_LITERAL;
        }
    } else if (text[at] == '"' || text[at] == '\'') {
        token.end = skip_quoted(text, at);
        token.kind = TOKEN_LITERAL;
    }
    return token;
}

bool token_is(const char *text, const struct token *token, const char *word)
{
    size_t length = strlen(word);
    return token->end - token->start == length && memcmp(text + token->start, word, length) == 0;
}
