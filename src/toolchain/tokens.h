/* C++ text as tokens: names, literals, marks of one character. Comments and white space are between them. */
#ifndef TOOLCHAIN_TOKENS_H
#define TOOLCHAIN_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_LITERAL, TOKEN_MARK };
struct token {
    enum token_kind kind;
    size_t start, end;
};
bool token_name_char(char c);
/* Behind the comment that begins at `at`. */
size_t token_skip_comment(const char *text, size_t at);
/* Behind white space, comments and joined lines. */
size_t token_skip_space(const char *text, size_t at);
/* The first token at or behind `at`; TOKEN_END at the end of the text. */
struct token token_next(const char *text, size_t at);
bool token_is(const char *text, const struct token *token, const char *word);

#endif
