/* What the two halves of the checker share: check.c has the statements, types.c the expressions. */
#ifndef DSL_CHECK_H
#define DSL_CHECK_H

#include "dsl/program.h"

enum { STAGE_NONE = -1 };

struct checker {
    struct arena *arena;
    struct dsl_messages *messages;
    struct dsl_program *program;
    struct dsl_scope *names; /* of the function that is being read */
    bool kernel;             /* it is the kernel */
    bool changed;            /* a type was found that was not known */
    bool *bound;             /* by number of the symbol: it has a value here, whatever way led here */
    int *order;              /* the numbers of the symbols in `bound`, those bound last at the end */
    int order_count, order_capacity;
    double *first_numbers; /* of the kernel's symbols, by number (find_first_numbers); NULL: not found yet */
    int stage;             /* an enum dsl_operation_place of three, or STAGE_NONE */
    int loops, nesting;    /* loops around; loops and branches around */
};

#define TELL(checker, place, rule, remedy, ...) dsl_complain((checker)->messages, place, rule, remedy, __VA_ARGS__)

/* Adds a symbol of a type yet to be found, or returns the one of that name. */
struct dsl_symbol *scope_add(struct arena *arena, struct dsl_scope *scope, const char *name, struct dsl_place place);

/* A type that both are; UNKNOWN if there is none. */
enum dsl_type type_join(enum dsl_type a, enum dsl_type b);
bool type_is_number(enum dsl_type type);
/* Gives a symbol a type more; told if that is another. */
void type_add(struct checker *checker, struct dsl_symbol *symbol, enum dsl_type type, struct dsl_place place);
/* The type of an expression, which keeps it; NULL yields UNKNOWN. */
enum dsl_type type_of(struct checker *checker, struct dsl_expr *expr);
/* A parameter of an operation, as its row has it. */
struct operation_parameter {
    const char *row;  /* what is left of it */
    const char *name; /* `length` bytes */
    int number, length;
    char what;
    bool optional;
};
/* Steps to the next one, from {.row = operation->parameters, .number = -1} on; false: there is no more. */
bool operation_next_parameter(struct operation_parameter *parameter);
/* The argument that a call gives for it; NULL: none. */
struct dsl_expr *call_argument_for(const struct dsl_expr *call, const struct operation_parameter *parameter);
/* The argument that a call of an operation gives for the parameter of this name; NULL: none. */
struct dsl_expr *call_argument(const struct dsl_expr *call, const char *name);
/* What the launch gives for the kernel's parameter of this number, or its default. */
struct dsl_expr *launch_argument(const struct dsl_program *program, int number);
/* The name that an address begins with: x of x + row * n + arange(0, n); NULL: it is no name. */
const char *address_base(const struct dsl_expr *address);
/* Whether the expression is `module.name`, or `name` alone with module "". */
bool expr_is(const struct dsl_expr *expr, const char *module, const char *name);
/* Puts tl.sync_all() before what loads workspace that was stored before it, with a warning; phases.c. */
void check_phases(struct arena *arena, struct dsl_program *program, struct dsl_messages *messages);

#endif
