/* Printing a lowered program as an operator project: what its parts share. */
#ifndef DSL_EMIT_H
#define DSL_EMIT_H

#include "base/text.h"
#include "dsl/lower_internal.h"

/* Functions of a few lines that the printed text calls; each is printed where the kernel or the host part needs it. */
#define EMIT_AIDS(X)                                                                                                   \
    X(AID_MIN)                                                                                                         \
    X(AID_MAX)                                                                                                         \
    X(AID_CEIL_DIV)                                                                                                    \
    X(AID_FLOOR_DIV)                                                                                                   \
    X(AID_FLOOR_MOD)                                                                                                   \
    X(AID_REFUSE)                                                                                                      \
    X(AID_DIM)                                                                                                         \
    X(AID_DIMS)                                                                                                        \
    X(AID_SLICE)                                                                                                       \
    X(AID_LIST_OF)                                                                                                     \
    X(AID_IS_FLOAT)                                                                                                    \
    X(AID_LOAD_ROWS)                                                                                                   \
    X(AID_STORE_ROWS)                                                                                                  \
    X(AID_FILL_UP)                                                                                                     \
    X(AID_CLEAR_BUFFER)                                                                                                \
    X(AID_CLEAR_QUEUE)                                                                                                 \
    X(AID_CLEAR_OPEN_QUEUE)                                                                                            \
    X(AID_SHIFT)                                                                                                       \
    X(AID_SHIFT_EACH)                                                                                                  \
    X(AID_SIGN)                                                                                                        \
    X(AID_EXP2)                                                                                                        \
    X(AID_KEEP_NAN)                                                                                                    \
    X(AID_POWER_BY)                                                                                                    \
    X(AID_POWER)                                                                                                       \
    X(AID_SORT)                                                                                                        \
    X(AID_FILL_BYTES)                                                                                                  \
    X(AID_WIDEN_BYTES)                                                                                                 \
    X(AID_WHOLE)                                                                                                       \
    X(AID_COMPARE)                                                                                                     \
    X(AID_NOT_EQUAL)                                                                                                   \
    X(AID_CHOOSE)                                                                                                      \
    X(AID_TO_BITS)                                                                                                     \
    X(AID_FROM_BITS)                                                                                                   \
    X(AID_CAST)                                                                                                        \
    X(AID_CAST_ONCE)                                                                                                   \
    X(AID_EXP_OF)                                                                                                      \
    X(AID_LN_OF)                                                                                                       \
    X(AID_FLOOR_OF)                                                                                                    \
    X(AID_COMPRESS)                                                                                                    \
    X(AID_NUMELS)                                                                                                      \
    X(AID_AWAIT)                                                                                                       \
    X(AID_NUMBER)                                                                                                      \
    X(AID_ROUNDED)                                                                                                     \
    X(AID_SAME_BITS)                                                                                                   \
    X(AID_CONVERT)                                                                                                     \
    X(AID_WIDEN)                                                                                                       \
    X(AID_OVERLAY)                                                                                                     \
    X(AID_NARROW)
enum emit_aid {
#define AID(name) name,
    EMIT_AIDS(AID)
#undef AID
        EMIT_AID_COUNT
};

/* A part of the project while it is printed. */
struct emit {
    struct lowering *lowering;
    const struct dsl_scope *names; /* of the function that is printed */
    bool host;
    struct text *out;
    int indent;
    int line; /* of the program, which what is printed comes from; 0: from none */
    bool aids[EMIT_AID_COUNT];
    const char *rows[32]; /* functions on rows and columns that are called (emit_rows.c) */
    int row_count;
    unsigned int64;                       /* functions on int64 that are called (emit_int64.c): a bit for each */
    bool tiles, products, biased, scales; /* of the cube (emit_tiles.c) */
    const char **constants;               /* of the file, that are named */
    int constant_count, constant_capacity;
    const char **declared; /* variables of the C++ function */
    int declared_count, declared_capacity;
    const bool *needed; /* of the host part, by number of the symbol: variables that somebody needs */
    bool done;          /* of the host part: the launch is printed */
    bool good;
};

/* Notes, at the beginning of a line of the project, which line of the program it comes from. */
void emit_mark(struct text *out, int line);
/* A file of the project from its text with marks (NULL: it could not be printed). */
struct dsl_file emit_file(struct arena *arena, const char *path, const char *marked);
/* Begins a line: the mark, the indentation. */
void emit_indent(struct emit *emit);
void emit_line(struct emit *emit, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Comments of a statement, "# text" as "// text". */
void emit_comments(struct emit *emit, const struct dsl_comments *comments);
/* "rowMax" of "row_max"; "RowMax" of it with `first` large. A word that C++ has gets a '_' behind it. */
const char *emit_camel(struct arena *arena, const char *name, bool first_large);
/* The kernel's class has a member of that name for a parameter or a buffer: "xGm" for "x". */
bool emit_is_belonging(const struct lowering *lowering, const char *name);
/* The text of a comment without what would end or continue its line. */
const char *emit_remark(struct arena *arena, const char *text);
/* How a variable or parameter of a function is called in C++: no two the same, none a word of C++. */
const char *emit_variable(struct lowering *lowering, const struct dsl_scope *scope, const char *name);
/* Whether a name of the function is a constant of the file. */
bool emit_is_constant(const struct emit *emit, const char *name);
/* How a name of the program is written in C++. */
const char *emit_name(struct emit *emit, const char *name);
/* Defines the constants of the file that were named up to now. */
void emit_constants(struct emit *emit, struct text *out);
/* An expression; `level`: of the operator around it, as in dsl_operator_level. */
void emit_expr(struct emit *emit, const struct dsl_expr *expr, int level);
/* The same as text of the arena. */
const char *emit_expr_text(struct emit *emit, const struct dsl_expr *expr);
/* "int64_t", "float", "double", "bool": the type of a variable. */
const char *emit_type(struct emit *emit, const struct dsl_symbol *symbol);
/* "int64_t", "float": the type of the tiling structure's field for a parameter of the kernel. */
const char *emit_field_type(const struct lowering *lowering, const struct lower_parameter *parameter);
/* Statements that the kernel and the host part print in the same way; `other` prints what only one of them has. */
void emit_block(struct emit *emit, const struct dsl_block *block,
                void (*other)(struct emit *emit, const struct dsl_statement *statement));
/* An integer that is certainly not negative. */
bool emit_is_natural(const struct emit *emit, const struct dsl_expr *expr);
/* Prints the aids that were asked for, each with `prefix` before it ("__aicore__ inline", "static"). */
void emit_aids(struct emit *emit, struct text *out);
/* The functions on rows and columns (emit_rows.c): one is called; prints those that are. */
void emit_need_rows(struct emit *emit, const char *name);
void emit_rows_aids(struct emit *emit, struct text *out);
/* The cube: a transfer of a tile between `gm` and `local`, a product; the queues of L0A and L0B; the functions. */
void emit_tile(struct emit *emit, const struct dsl_expr *call, const char *gm, const char *local);
void emit_product(struct emit *emit, const struct dsl_expr *call);
void emit_halves(struct emit *emit, struct text *members);
void emit_tiles_aids(struct emit *emit, struct text *out);
/* The same for int64 (emit_int64.c). */
void emit_need_int64(struct emit *emit, const char *api);
void emit_int64_aids(struct emit *emit, struct text *out);
/* "half", or the class's name for a type that differs by combination. */
const char *emit_element(struct emit *emit, const struct lower_type *type);

/* As tight as anything: a name, a call. */
enum { DSL_PRIMARY_LEVEL = 100 };

/* What emit_expr.c leaves to the part that is printed (emit_host.c, emit_instruction.c). False: that has no such thing. */
bool emit_host_call(struct emit *emit, const struct dsl_expr *call);
bool emit_kernel_call(struct emit *emit, const struct dsl_expr *call);
bool emit_host_part(struct emit *emit, const struct dsl_expr *expr);
bool emit_kernel_part(struct emit *emit, const struct dsl_expr *expr);
/* The branch of a condition in which there is no tiling; whether the tiling function decides the size of a buffer; what it then asks
 * of UB (emit_room.c). */
void emit_refusal(struct emit *emit, const char *why);
bool emit_has_open_size(const struct lowering *lowering);
void emit_room_check(struct emit *emit);
/* Whether a condition is decided when the kernel is compiled: it compares data types. */
bool emit_is_constexpr(const struct emit *emit, const struct dsl_expr *condition);

/* "float", "int64_t", or by the combination: what the kernel computes with an element of this type as a number. */
const char *emit_number_type(struct emit *emit, const struct lower_type *type);

/* The parts of the project. */
const char *emit_tiling_header(struct lowering *lowering);
const char *emit_host(struct lowering *lowering);
const char *emit_kernel(struct lowering *lowering);

/* What the tiling structure has, in its order. */
#define EMIT_DEPTH "queueDepth" /* the field for how many tensors queues have, where the tiling function decides that */
enum { EMIT_LIST_MAX = 256 };   /* elements of a list that the kernel gets */
struct emit_field {
    const char *type, *name; /* "int64_t", "perCore" */
    bool list;               /* an array of EMIT_LIST_MAX; its length is another field */
    const char *meaning;     /* the comment behind it */
    const struct lower_parameter *parameter;
};
/* The fields; `blocks` is the first if the host function may return without a launch. */
int emit_fields(struct lowering *lowering, struct emit_field **fields);
/* The line of a parameter in the kernel's definition. */
int emit_parameter_line(const struct lowering *lowering, const struct lower_parameter *parameter);
bool emit_may_skip(const struct lowering *lowering);
/* "SqrtTilingData". */
const char *emit_struct_name(struct lowering *lowering);

#endif
