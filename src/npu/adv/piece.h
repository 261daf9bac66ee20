/* How the APIs that compute element by element are written: as steps on pieces.
 *
 * A call is cut into pieces of as many elements as the temporary space has room for. The operands of a piece and its
 * share of the temporary space are numbered slots, and a step is one basic instruction on slots: MUL(a, b, c) is
 * a = b * c for all elements of the piece. So the table of sin reads like its formula.
 *
 * The steps, constants and sizes of temporary space are those of CANN's own implementation (asc-devkit
 * impl/adv_api/detail, the folder of each API), which decide accuracy and time on the chip as well. */
#ifndef NPU_ADV_PIECE_H
#define NPU_ADV_PIECE_H

#include "npu/adv/adv.h"

/* Slots. T(i): temporary, elements of the piece's type. M(i): temporary, a bit mask of the piece's elements. */
enum { DST, SRC, SRC1, SLOT_T0, SLOT_M0 = SLOT_T0 + 12, SLOTS = SLOT_M0 + 4 };
#define T(i) (SLOT_T0 + (i))
#define M(i) (SLOT_M0 + (i))

struct adv_piece {
    struct npu_core *core;
    const struct npu_adv *call;
    uint8_t type;   /* of the elements that the steps compute on */
    bool reuse;     /* isReuseSource: SRC may be written */
    uint32_t count; /* elements */
    struct npu_tensor slot[SLOTS];
};

/* One basic instruction on slots. The macros below, named after the instructions, are its initialisers. */
struct adv_step {
    enum {
        STEP_END,
        STEP_UNARY,
        STEP_BINARY,
        STEP_SCALAR,
        STEP_FILL,
        STEP_CAST,
        STEP_WIDEN,
        STEP_NARROW,
        STEP_COMPARE,
        STEP_COMPARE_SLOTS,
        STEP_SELECT,
        STEP_SELECT_SLOTS,
        STEP_MASK,
        STEP_HORNER
    } kind;
    enum npu_op op;
    int to, a, b, mask; /* slots */
    double value;
    uint8_t mode, dst_type, src_type;
    const double *series;
    int terms;
};
#define STEPS(...) ((const struct adv_step[]){__VA_ARGS__, {0}})
/* Takes steps on a piece. */
void adv_take(const struct adv_piece *p, const struct adv_step *steps);
#define RUN(p, ...) adv_take(p, STEPS(__VA_ARGS__))
/* Steps that depend on more than their slots. */
typedef void adv_body(const struct adv_piece *piece);

/* How an API uses its temporary space. Sizes are bytes per element; 0: none, the call is one piece. */
struct adv_plan {
    const struct adv_step *steps; /* or: */
    adv_body *body;
    uint8_t bytes;       /* of float and integers */
    uint8_t bytes_reuse; /* of float with isReuseSource, where that makes a difference */
    uint8_t bytes_half;  /* of half and bfloat16 */
    bool convert;        /* half: steps on floats; the last temporary slot holds the source and then the result */
    const struct adv_step *half; /* half: these steps instead, T(i) are floats; or: */
    adv_body *half_body;
    uint8_t masks; /* slots M(i), one byte per element each, at the end */
    uint8_t tail;  /* the last piece is rounded up to a multiple of so many elements; 0: it is not */
    uint16_t head; /* bytes at the start of the temporary space that have another use */
    uint8_t block; /* elements that a piece is a multiple of; 0: 32 */
};
/* Computes the call. A trap (adv_tmp_too_small) if the temporary space has no room for the smallest piece. */
void adv_run(struct npu_core *core, const struct npu_adv *call, const struct adv_plan *plan);
/* The routine adv_<name>() that does nothing but follow its plan. */
#define ADV_ROUTINE(name, ...)                                                                                         \
    static const struct adv_plan plan_of_##name = {__VA_ARGS__};                                                       \
    void adv_##name(struct npu_core *core, const struct npu_adv *call)                                                 \
    {                                                                                                                  \
        adv_run(core, call, &plan_of_##name);                                                                          \
    }

/* RoundMode and CMPMODE as Cast and Compare take them. */
enum round_mode { ROUND_NONE, ROUND_RINT, ROUND_FLOOR, ROUND_CEIL, ROUND_ROUND, ROUND_TRUNC };
enum compare_mode { COMPARE_LT, COMPARE_GT, COMPARE_EQ, COMPARE_LE, COMPARE_GE, COMPARE_NE };

#define UNARY_STEP(operation, d, x)     {.kind = STEP_UNARY, .op = NPU_OP_##operation, .to = (d), .a = (x)}
#define BINARY_STEP(operation, d, x, y) {.kind = STEP_BINARY, .op = NPU_OP_##operation, .to = (d), .a = (x), .b = (y)}
#define SCALAR_STEP(operation, d, x, scalar)                                                                           \
    {.kind = STEP_SCALAR, .op = NPU_OP_##operation, .to = (d), .a = (x), .value = (scalar)}
#define MASK_STEP(operation, d, x, y) {.kind = STEP_MASK, .op = NPU_OP_##operation, .to = (d), .a = (x), .b = (y)}

/* The first slot is the destination. */
#define ABS(d, x)                 UNARY_STEP(ABS, d, x)
#define EXP(d, x)                 UNARY_STEP(EXP, d, x)
#define LN(d, x)                  UNARY_STEP(LN, d, x)
#define SQRT(d, x)                UNARY_STEP(SQRT, d, x)
#define RECIPROCAL(d, x)          UNARY_STEP(RECIPROCAL, d, x)
#define NOT(d, x)                 UNARY_STEP(NOT, d, x)
#define ADD(d, x, y)              BINARY_STEP(ADD, d, x, y)
#define SUB(d, x, y)              BINARY_STEP(SUB, d, x, y)
#define MUL(d, x, y)              BINARY_STEP(MUL, d, x, y)
#define DIV(d, x, y)              BINARY_STEP(DIV, d, x, y)
#define MIN(d, x, y)              BINARY_STEP(MIN, d, x, y)
#define AND(d, x, y)              BINARY_STEP(AND, d, x, y)
#define OR(d, x, y)               BINARY_STEP(OR, d, x, y)
#define ADDS(d, x, scalar)        SCALAR_STEP(ADDS, d, x, scalar)
#define MULS(d, x, scalar)        SCALAR_STEP(MULS, d, x, scalar)
#define MINS(d, x, scalar)        SCALAR_STEP(MINS, d, x, scalar)
#define MAXS(d, x, scalar)        SCALAR_STEP(MAXS, d, x, scalar)
#define SHIFT_RIGHT(d, x, scalar) SCALAR_STEP(SHIFT_RIGHT, d, x, scalar)
#define FILL(d, scalar)           {.kind = STEP_FILL, .to = (d), .value = (scalar)}
#define CAST(d, to_type, x, from_type, rounding)                                                                       \
    {.kind = STEP_CAST,                                                                                                \
     .to = (d),                                                                                                        \
     .a = (x),                                                                                                         \
     .mode = ROUND_##rounding,                                                                                         \
     .dst_type = AKGEN_##to_type,                                                                                      \
     .src_type = AKGEN_##from_type}
/* Rounds floats to integral values. */
#define ROUND(d, x, rounding) CAST(d, FLOAT, x, FLOAT, rounding)
/* half (or bfloat16, the call's type) to float and back; the slots hold one of each. */
#define WIDEN(d, x)  {.kind = STEP_WIDEN, .to = (d), .a = (x)}
#define NARROW(d, x) {.kind = STEP_NARROW, .to = (d), .a = (x)}
/* Comparison to a mask, of a slot with a number or with another slot. */
#define COMPARE(result, x, comparison, scalar)                                                                         \
    {.kind = STEP_COMPARE, .mask = (result), .a = (x), .mode = COMPARE_##comparison, .value = (scalar)}
#define COMPARE_SLOTS(result, x, comparison, y)                                                                        \
    {.kind = STEP_COMPARE_SLOTS, .mask = (result), .a = (x), .b = (y), .mode = COMPARE_##comparison}
/* d = mask ? x : scalar, and d = mask ? x : y. */
#define SELECT(d, chosen, x, scalar)  {.kind = STEP_SELECT, .to = (d), .mask = (chosen), .a = (x), .value = (scalar)}
#define SELECT_SLOTS(d, chosen, x, y) {.kind = STEP_SELECT_SLOTS, .to = (d), .mask = (chosen), .a = (x), .b = (y)}
#define MASK_AND(d, x, y)             MASK_STEP(AND, d, x, y)
#define MASK_OR(d, x, y)              MASK_STEP(OR, d, x, y)
#define MASK_NOT(d, x)                MASK_STEP(NOT, d, x, x)
/* d = (((c[0] * x + c[1]) * x + ...) * x + c[n-1] with an array c; d is not x. */
#define HORNER(d, x, c) {.kind = STEP_HORNER, .to = (d), .a = (x), .series = (c), .terms = sizeof(c) / sizeof *(c)}

/* Steps that several APIs share. */
/* d = sin x or cos x; x may be `reduced`, else it is kept. (trigonometric.c) */
void steps_sin(const struct adv_piece *p, int d, int x, int k, int part, int reduced);
void steps_cos(const struct adv_piece *p, int d, int x, int k, int part, int reduced);
/* d = tan x; x is overwritten. */
void steps_tan(const struct adv_piece *p, int d, int x, int t0, int t1, int t2);
/* d = -1, 0 or 1 by the sign of x, in arithmetic only: x * large / (|x * large| + small); d may be x. (inverse.c) */
void steps_sign(const struct adv_piece *p, int d, int x, int t);

#endif
