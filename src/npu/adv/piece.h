/* How the APIs that compute element by element are written: as steps on pieces.
 *
 * A call is cut into pieces of as many elements as the temporary space has room for. The operands of a piece and its
 * share of the temporary space are numbered slots, and a step is one basic instruction on slots: step_mul(p, a, b, c)
 * is a = b * c for all elements of the piece. So the body of sin reads like its formula.
 *
 * The steps, constants and sizes of temporary space are those of CANN's own implementation (asc-devkit
 * impl/adv_api/detail, the folder of each API), which decide accuracy and time on the chip as well. */
#ifndef NPU_ADV_PIECE_H
#define NPU_ADV_PIECE_H

#include "npu/adv/adv.h"

/* Slots. T(i): temporary, elements of the piece's type. M(i): temporary, a bit mask of the piece's elements. */
enum { SLOT_DST, SLOT_SRC, SLOT_SRC1, SLOT_T0, SLOT_M0 = SLOT_T0 + 12, SLOTS = SLOT_M0 + 4 };
#define T(i) (SLOT_T0 + (i))
#define M(i) (SLOT_M0 + (i))

struct adv_piece {
    struct npu_core *core;
    const struct npu_adv *call;
    uint8_t type;   /* of the elements that the steps compute on */
    bool reuse;     /* isReuseSource: SLOT_SRC may be written */
    uint32_t count; /* elements */
    struct npu_tensor slot[SLOTS];
};
typedef void adv_steps(const struct adv_piece *piece);

/* How an API uses its temporary space. Sizes are bytes per element; 0: none, the call is one piece. */
struct adv_plan {
    adv_steps *steps;
    uint8_t bytes;       /* of float and integers */
    uint8_t bytes_reuse; /* of float with isReuseSource, where that makes a difference */
    uint8_t bytes_half;  /* of half and bfloat16 */
    bool convert;        /* half: steps on floats; the last temporary slot holds the source and then the result */
    adv_steps *half;     /* half: these steps instead, T(i) are floats */
    uint8_t masks;       /* slots M(i), one byte per element each, at the end */
    uint8_t tail;        /* the last piece is rounded up to a multiple of so many elements; 0: it is not */
    uint16_t head;       /* bytes at the start of the temporary space that have another use */
    uint8_t block;       /* elements that a piece is a multiple of; 0: 32 */
};
/* Computes the call. A trap (adv_tmp_too_small) if the temporary space has no room for the smallest piece. */
void adv_run(struct npu_core *core, const struct npu_adv *call, const struct adv_plan *plan);
/* The routine adv_<name>() that does nothing but follow its plan. */
#define ADV_ROUTINE(name, ...)                                                                                         \
    void adv_##name(struct npu_core *core, const struct npu_adv *call)                                                 \
    {                                                                                                                  \
        static const struct adv_plan plan = {__VA_ARGS__};                                                             \
        adv_run(core, call, &plan);                                                                                    \
    }

/* Steps. The first slot is the destination. */
void step_unary(const struct adv_piece *p, enum npu_op op, int d, int a);
void step_binary(const struct adv_piece *p, enum npu_op op, int d, int a, int b);
void step_scalar(const struct adv_piece *p, enum npu_op op, int d, int a, double value);
void step_fill(const struct adv_piece *p, int d, double value);
/* Rounds floats to integral values, one of enum round_mode. */
void step_round(const struct adv_piece *p, int d, int a, int mode);
/* half (or bfloat16, the call's type) to float and back; the slots hold one of each. */
void step_widen(const struct adv_piece *p, int d, int a);
void step_narrow(const struct adv_piece *p, int d, int a);
void step_cast(const struct adv_piece *p, int d, uint8_t dst_type, int a, uint8_t src_type, int mode);
/* Comparison to a mask; mode: enum compare_mode. */
void step_compare(const struct adv_piece *p, int mask, int a, int mode, double value);
void step_compare_slots(const struct adv_piece *p, int mask, int a, int mode, int b);
/* d = mask ? a : value, and d = mask ? a : b. */
void step_select(const struct adv_piece *p, int d, int mask, int a, double value);
void step_select_slots(const struct adv_piece *p, int d, int mask, int a, int b);
/* And, Or, Not of masks. */
void step_mask(const struct adv_piece *p, enum npu_op op, int d, int a, int b);
/* d = (((c[0] * x + c[1]) * x + ...) * x + c[n-1]; d is not x. */
void step_horner(const struct adv_piece *p, int d, int x, const double *c, int n);

/* RoundMode and CMPMODE as Cast and Compare take them. */
enum round_mode { ROUND_NONE, ROUND_RINT, ROUND_FLOOR, ROUND_CEIL, ROUND_ROUND, ROUND_TRUNC };
enum compare_mode { COMPARE_LT, COMPARE_GT, COMPARE_EQ, COMPARE_LE, COMPARE_GE, COMPARE_NE };

#define STEP_UNARY(name, OP)                                                                                           \
    static inline void step_##name(const struct adv_piece *p, int d, int a)                                            \
    {                                                                                                                  \
        step_unary(p, NPU_OP_##OP, d, a);                                                                              \
    }
#define STEP_BINARY(name, OP)                                                                                          \
    static inline void step_##name(const struct adv_piece *p, int d, int a, int b)                                     \
    {                                                                                                                  \
        step_binary(p, NPU_OP_##OP, d, a, b);                                                                          \
    }
#define STEP_SCALAR(name, OP)                                                                                          \
    static inline void step_##name(const struct adv_piece *p, int d, int a, double value)                              \
    {                                                                                                                  \
        step_scalar(p, NPU_OP_##OP, d, a, value);                                                                      \
    }
STEP_UNARY(abs, ABS)
STEP_UNARY(exp, EXP)
STEP_UNARY(ln, LN)
STEP_UNARY(sqrt, SQRT)
STEP_UNARY(reciprocal, RECIPROCAL)
STEP_BINARY(add, ADD)
STEP_BINARY(sub, SUB)
STEP_BINARY(mul, MUL)
STEP_BINARY(div, DIV)
STEP_BINARY(min, MIN)
STEP_SCALAR(adds, ADDS)
STEP_SCALAR(muls, MULS)
STEP_SCALAR(mins, MINS)
STEP_SCALAR(maxs, MAXS)

/* Steps that several APIs share. */
/* d = sin x or cos x; x may be `reduced`, else it is kept. (trigonometric.c) */
void steps_sin(const struct adv_piece *p, int d, int x, int k, int part, int reduced);
void steps_cos(const struct adv_piece *p, int d, int x, int k, int part, int reduced);
/* d = tan x; x is overwritten. */
void steps_tan(const struct adv_piece *p, int d, int x, int t0, int t1, int t2);
/* d = -1, 0 or 1 by the sign of x, in arithmetic only: x * large / (|x * large| + small); d may be x. (inverse.c) */
void steps_sign(const struct adv_piece *p, int d, int x, int t);

#endif
