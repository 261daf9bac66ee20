/* AscendDSL as a tree: what the parser (parse.c) makes of a program's text and everything after it reads. It says how the
 * text is built, not what it means: that is the checker's.
 *
 * The language is a part of Python's grammar (docs/dsl.md, Grammar). Comments belong to the program: they stand in the tree,
 * and a project that is made from it carries them. */
#ifndef DSL_SYNTAX_H
#define DSL_SYNTAX_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether two names are one: most differ in their first two characters. */
static inline bool same_name(const char *a, const char *b)
{
    return *a == *b && (!*a || a[1] == b[1]) && strcmp(a, b) == 0;
}

/* Where something stands in the text. */
struct dsl_place {
    int line, column; /* from 1; columns count characters */
    int length;       /* characters, at least 1; what does not end on its line ends there */
};

struct dsl_comment {
    const char *text; /* with its '#' */
    bool after_blank; /* an empty line stands before it */
};
struct dsl_comments {
    struct dsl_comment *items;
    int count, capacity;
};

enum dsl_expr_kind {
    DSL_NAME,      /* name */
    DSL_INT,       /* integer */
    DSL_REAL,      /* real */
    DSL_TEXT,      /* name: the text between the quotes */
    DSL_TRUE,      /* True */
    DSL_FALSE,     /* False */
    DSL_NONE,      /* None */
    DSL_TUPLE,     /* items; (a,), (), and a, b without parentheses */
    DSL_LIST,      /* items */
    DSL_UNARY,     /* op items[0] */
    DSL_BINARY,    /* items[0] op items[1]; comparisons and and/or too: a < b < c is (a < b) and (b < c) */
    DSL_CHOICE,    /* items[0] if items[1] else items[2] */
    DSL_CALL,      /* items[0](items[1], ..), the named arguments last */
    DSL_ATTRIBUTE, /* items[0].name */
    DSL_INDEX,     /* items[0][items[1]] */
    DSL_SLICE,     /* items[0]:items[1], inside an index; either may be NULL */
    DSL_NAMED,     /* name=items[0], inside a call */
};

#define DSL_OPERATORS(X)                                                                                               \
    X(DSL_OR, "or", 1)                                                                                                 \
    X(DSL_AND, "and", 2)                                                                                               \
    X(DSL_NOT, "not", 3) /* unary */                                                                                   \
    X(DSL_EQUAL, "==", 4)                                                                                              \
    X(DSL_NOT_EQUAL, "!=", 4)                                                                                          \
    X(DSL_LESS, "<", 4)                                                                                                \
    X(DSL_LESS_EQUAL, "<=", 4)                                                                                         \
    X(DSL_GREATER, ">", 4)                                                                                             \
    X(DSL_GREATER_EQUAL, ">=", 4)                                                                                      \
    X(DSL_IS, "is", 4)                                                                                                 \
    X(DSL_IS_NOT, "is not", 4)                                                                                         \
    X(DSL_BIT_OR, "|", 5)                                                                                              \
    X(DSL_BIT_XOR, "^", 6)                                                                                             \
    X(DSL_BIT_AND, "&", 7)                                                                                             \
    X(DSL_SHIFT_LEFT, "<<", 8)                                                                                         \
    X(DSL_SHIFT_RIGHT, ">>", 8)                                                                                        \
    X(DSL_ADD, "+", 9)                                                                                                 \
    X(DSL_SUBTRACT, "-", 9)                                                                                            \
    X(DSL_MULTIPLY, "*", 10)                                                                                           \
    X(DSL_DIVIDE, "/", 10)                                                                                             \
    X(DSL_FLOOR_DIVIDE, "//", 10)                                                                                      \
    X(DSL_REMAINDER, "%", 10)                                                                                          \
    X(DSL_NEGATE, "-", 11) /* unary */                                                                                 \
    X(DSL_POWER, "**", 12)
enum dsl_operator {
#define OPERATOR(value, text, level) value,
    DSL_OPERATORS(OPERATOR)
#undef OPERATOR
        DSL_NO_OPERATOR
};
/* How tightly an operator binds; a choice binds at 0. */
int dsl_operator_level(enum dsl_operator op);
const char *dsl_operator_text(enum dsl_operator op);

struct dsl_expr {
    enum dsl_expr_kind kind;
    struct dsl_place place; /* a call's is its name, an operation's its operator: what a message points at */
    const char *name;
    int64_t integer;
    double real;
    const char *digits; /* of a number: as it was written */
    enum dsl_operator op;
    struct dsl_expr **items;
    int count, capacity;
    int height;               /* parts in each other below it */
    struct dsl_comments lead; /* of an argument, a parameter or an item: lines of their own before it */
    const char *trail;        /* the comment behind it on its line; NULL: none */

    /* The checker's (program.h): */
    struct dsl_symbol *symbol;             /* of a name */
    const struct dsl_operation *operation; /* of a call tl.NAME(..) */
    int type;                              /* enum dsl_type */
    bool inferred;                         /* of a tl.sync_all() that the text does not have */
};

enum dsl_statement_kind {
    DSL_EXPRESSION, /* value: a call, or a text, which is a comment of its own */
    DSL_ASSIGN,     /* target [: note] = value; target [op]= value where op is not DSL_NO_OPERATOR */
    DSL_FOR,        /* for target in value: body */
    DSL_WHILE,      /* while value: body */
    DSL_IF,         /* if value: body, otherwise: orelse */
    DSL_WITH,       /* with value: body */
    DSL_RETURN,     /* return [value] */
    DSL_BREAK,
    DSL_CONTINUE,
    DSL_PASS,
    DSL_ASSERT,  /* assert value[, note] */
    DSL_IMPORT,  /* name: the line; its names are not looked up */
    DSL_DEF,     /* function */
    DSL_REMARKS, /* comments at the end of a block, which stand before nothing */
};

struct dsl_block {
    struct dsl_statement **items;
    int count, capacity;
};

struct dsl_parameter {
    const char *name;
    struct dsl_place place;
    struct dsl_expr *annotation, *value; /* NULL: none; value: the default */
    struct dsl_comments lead;
    const char *trail;
};

struct dsl_function {
    const char *name;
    struct dsl_expr **decorators;
    int decorator_count, decorator_capacity;
    struct dsl_parameter *parameters;
    int count, capacity;
};

struct dsl_statement {
    enum dsl_statement_kind kind;
    struct dsl_place place;
    struct dsl_comments lead;
    const char *trail;
    bool after_blank; /* an empty line stands before it and its comments */
    bool apart;       /* an empty line stands between its comments and it */
    struct dsl_expr *target, *note, *value;
    enum dsl_operator op;
    const char *name;
    struct dsl_function *function;
    struct dsl_block body, orelse;
    struct dsl_comments orelse_lead; /* before the line "else:" */
    const char *orelse_trail;        /* behind it */
    bool elif;                       /* orelse is one DSL_IF that was written as elif */

    /* share.c's: */
    uint64_t buffers; /* that it uses, or those below it do: bit by bit, the 65th with the first */
    int all;          /* statements that it has, itself included */
};

/* A program: the file's statements. */
struct dsl_tree {
    const char *path; /* as messages name it */
    const char *text;
    struct dsl_block body;
    bool lowered; /* a pass of the compiler has changed it: it may hold what no program may */
};

#endif
