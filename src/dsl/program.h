/* A program whose names and types are known: the tree with what each name stands for, and what each expression yields. The
 * checker (check.c) makes it; the interpreter and the passes read it. */
#ifndef DSL_PROGRAM_H
#define DSL_PROGRAM_H

#include "abi/dtype.h"
#include "dsl/message.h"
#include "dsl/syntax.h"

/* X(VALUE, how messages name it) */
#define DSL_TYPES(X)                                                                                                   \
    X(DSL_TYPE_NONE, "nothing")                                                                                        \
    X(DSL_TYPE_BOOL, "a truth value")                                                                                  \
    X(DSL_TYPE_INT, "an integer")                                                                                      \
    X(DSL_TYPE_REAL, "a real number")                                                                                  \
    X(DSL_TYPE_NUMBER, "a number") /* of a buffer's elements, whose data type may be a parameter */                    \
    X(DSL_TYPE_TEXT, "a text")                                                                                         \
    X(DSL_TYPE_DTYPE, "a data type")                                                                                   \
    X(DSL_TYPE_DEVICE, "a device")                                                                                     \
    X(DSL_TYPE_INTS, "a list of integers") /* a shape, an attribute, a tuple of sizes */                               \
    X(DSL_TYPE_TENSOR, "a tensor")         /* in global memory */                                                      \
    X(DSL_TYPE_TENSORS, "a list of tensors")                                                                           \
    X(DSL_TYPE_POINTER, "a place in a tensor")                                                                         \
    X(DSL_TYPE_RANGE, "a range of offsets")   /* start + arange(a, b) * stride */                                      \
    X(DSL_TYPE_ADDRESS, "places in a tensor") /* a tensor plus a range */                                              \
    X(DSL_TYPE_MASK, "a mask")                                                                                         \
    X(DSL_TYPE_BUFFER, "a buffer")                                                                                     \
    X(DSL_TYPE_PIECE, "a piece of a buffer")
enum dsl_type {
#define TYPE(value, text) value,
    DSL_TYPES(TYPE)
#undef TYPE
        DSL_TYPE_UNKNOWN, /* an error that was told */
};
/* "an integer". */
const char *dsl_type_text(enum dsl_type type);

/* Rows in a buffer lie a multiple of so many elements apart; of 8-bit types twice as many. 16-bit elements of global memory
 * come into a buffer of 32-bit ones as they are, at the same pitch, and a row of theirs begins at 32 bytes too. */
enum { DSL_PITCH = 16 };
/* Tensors of a queue at most, depth= of tl.alloc_ub and tl.alloc_l1. */
enum { DSL_DEPTH = 4 };

/* X(NAME, function): how tl.cast rounds, round="NAME". */
#define DSL_ROUNDINGS(X) X("even", rint) X("away", round) X("down", floor) X("up", ceil) X("zero", trunc)

/* What a load or a store converts between a tensor of global memory and a buffer. */
bool dsl_transfer_converts(enum akgen_dtype tensor, enum akgen_dtype buffer, bool load);
#define DSL_CONVERTED "use a buffer of the tensor's data type, and tl.cast"

/* Whether the operation takes a number that its integers cannot have for another than was written: the larger or smaller of an
 * int16 and 40000 is not what the chip computes. */
bool dsl_number_misleads(const struct dsl_operation *operation, enum akgen_dtype type, int64_t number);
#define DSL_FITTING "write a number of that type, or compute in a wider one"

/* What a bias of tl.gemm and a scale of tl.store_tile are for, as messages say it. */
/* What tl.gemm multiplies, and what becomes of it, as messages say it. */
#define DSL_PRODUCT_TYPES "float16, bfloat16 and float32 multiply to float32, int8 to int32"
static inline bool dsl_product_is(enum akgen_dtype a, enum akgen_dtype b, enum akgen_dtype product)
{
    const bool floats = a == AKGEN_FLOAT16 || a == AKGEN_BF16 || a == AKGEN_FLOAT;
    return a == b && ((floats && product == AKGEN_FLOAT) || (a == AKGEN_INT8 && product == AKGEN_INT32));
}

#define DSL_BIAS_TYPES   "a bias of float32 or float16 begins a product of float32, one of int32 that of int8"
#define DSL_SCALED_PAIRS "scaled, a product of int32 becomes float16, int8 or uint8, one of float32 int8 or uint8"

/* An operation tl.NAME: a row of operations.def. */
enum dsl_operation_place {
    DSL_PLACE_COPYIN,
    DSL_PLACE_COMPUTE,
    DSL_PLACE_COPYOUT,
    DSL_PLACE_KERNEL,
    DSL_PLACE_HOST,
    DSL_PLACE_ANY,
    DSL_PLACE_TOP
};
struct dsl_operation {
    const char *name;
    enum dsl_type result;
    const char *parameters; /* as the row has them */
    enum dsl_operation_place place;
};
/* NULL: there is no tl.NAME. */
const struct dsl_operation *dsl_operation_find(const char *name);
/* The one that a call's function names, whichever module it is of; NULL: none. */
const struct dsl_operation *dsl_operation_called(const struct dsl_expr *call);
/* The same among what only the compiler's passes write (lowered.def). */
const struct dsl_operation *dsl_operation_find_lowered(const char *name);
/* The name of the operation that is nearest to one that there is not; NULL: none is near. */
const char *dsl_operation_nearest(const char *name);
/* By less than how many characters in one place a name may differ from a wrong one to be what was meant. */
size_t dsl_names_differ_by(const char *name);
/* True if it differs from `name` in one place, by less than `differing` characters; by how many then. */
bool dsl_name_is_nearer(const char *name, const char *other, size_t *differing);

/* A variable or parameter of a function, or a name of the file. */
struct dsl_symbol {
    const char *name;
    enum dsl_type type;
    struct dsl_place place;   /* where it stands first */
    bool parameter, constant; /* constant: of the file, never assigned in a function */
    bool constexpr;           /* a parameter annotated tl.constexpr: no task gives it a value, its default stays */
    int number;               /* in its scope */
    signed char natural;      /* emit_expr.c's: 1: never negative, 0: not asked yet, -1 - n: unknown from depth n on */
    struct dsl_symbol *next;  /* of its bucket */
    uint64_t hash;            /* of its name */
};

struct dsl_scope {
    struct dsl_symbol **items;
    int count, capacity;
    struct dsl_symbol **buckets; /* by the upper `bits` bits of a hash of the name; at least as many as symbols */
    int bits;
    uint64_t seed; /* of the hash: a program's text cannot know which names share a bucket */
};

/* The symbol of this name; NULL: there is none. */
struct dsl_symbol *dsl_scope_find(const struct dsl_scope *scope, const char *name);

struct dsl_program {
    const struct dsl_tree *tree;
    struct dsl_statement *kernel, *host; /* DSL_DEF */
    struct dsl_expr *launch;             /* the call kernel[cores](arguments) in the host function */
    struct dsl_scope file, kernel_names, host_names;
};

/* Looks up names and finds the types. NULL if `messages` say that the program is wrong. The tree is the program's from then
 * on: its expressions get their symbols and types. */
struct dsl_program *dsl_check(struct arena *arena, const struct dsl_tree *tree, struct dsl_messages *messages);
/* Parses a text first, which is not changed. */
struct dsl_program *dsl_check_text(struct arena *arena, const char *text, struct dsl_messages *messages);

#endif
