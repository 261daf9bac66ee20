/* What the two halves of the parser share: parse.c has the statements, parse_expr.c the expressions. */
#ifndef DSL_PARSE_H
#define DSL_PARSE_H

#include "dsl/lex.h"

struct parser {
    struct arena *arena;
    struct dsl_messages *messages;
    const struct dsl_words *words;
    const struct dsl_token *now; /* the token that is read next */
    int remark;                  /* comments before this one have been taken */
    struct dsl_comments orphans; /* comments inside an expression that go to its line */
    int told;                    /* the line of which a mistake was told last: the first is the one that counts */
    int depth;                   /* of the expression that is being read */
};

/* The words of the language, which are no names; NULL behind the last. */
extern const char *const parser_words[];

/* Whether the next token is this sign or word. */
bool parser_is(const struct parser *p, const char *text);
/* Reads it if so. */
bool parser_accept(struct parser *p, const char *text);
/* Tells that something else was expected. */
void parser_expect(struct parser *p, const char *expected);
/* Reads a name that is no word of the language; NULL, and told, if there is none. */
const char *parser_name(struct parser *p, const char *expected);
/* The next comment that nobody has taken and that stands before the next token; NULL: none. */
const struct dsl_remark *parser_remark(const struct parser *p);
/* Takes the comment behind the last token on its line; NULL: none. */
const char *parser_trail(struct parser *p);

/* Comments inside the expression that stand in no list of arguments or items go to the line that it stands on. kept: the
 * expression's own lists keep theirs. */
void parser_hoist(struct parser *p, struct dsl_expr *expr, bool kept);

/* An expression; a list of them with commas between, which is a tuple if there is a comma; what is assigned to. Never
 * NULL: what is missing was told, and None stands in its place. */
struct dsl_expr *parse_choice(struct parser *p);
struct dsl_expr *parse_tuple(struct parser *p);
struct dsl_expr *parse_targets(struct parser *p);

#endif
