/* The words of a program: what lex.c makes of its text, and the parser reads. */
#ifndef DSL_LEX_H
#define DSL_LEX_H

#include "dsl/message.h"

enum dsl_token_kind {
    TOKEN_NAME, /* keywords too: the parser knows them */
    TOKEN_INT,
    TOKEN_REAL,
    TOKEN_TEXT, /* between quotes */
    TOKEN_SIGN, /* an operator or a bracket */
    TOKEN_LINE, /* the end of a line that says something */
    TOKEN_INDENT,
    TOKEN_DEDENT,
    TOKEN_END,
};

struct dsl_token {
    enum dsl_token_kind kind;
    struct dsl_place place;
    const char *text; /* as it stands there, without quotes; of TOKEN_LINE and the like "" */
};

struct dsl_remark {
    struct dsl_comment comment;
    int line, column;
    bool alone; /* nothing stands before it on its line */
    int before; /* the token that it stands before */
};

struct dsl_words {
    struct dsl_token *tokens; /* the last is a TOKEN_END */
    int count, capacity;
    struct dsl_remark *remarks;
    int remark_count, remark_capacity;
    bool *blank; /* by line: whether an empty line stands before it */
};

/* What it cannot read it complains of and leaves out. */
void dsl_lex(struct arena *arena, const char *text, size_t length, struct dsl_messages *messages,
             struct dsl_words *words);

#endif
