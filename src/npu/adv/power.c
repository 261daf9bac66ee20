/* Power: base ^ exponent, each of which may be a scalar (SRC is the base, SRC1 the exponent).
 *
 * Floats: exp(exponent * ln |base|) and corrections by masks. int32: square and multiply, as often as the largest
 * exponent of the piece needs. */
#include "npu/adv/piece.h"
#include "npu/scalar/access.h"

#include <math.h>
#include <string.h>

/* 1 - 2 * (|y| mod 2): the sign of (-1)^y for integral y. */
static void parity(const struct adv_piece *p, int d, int y, int t)
{
    RUN(p, ABS(d, y), ROUND(d, d, RINT), MULS(t, d, 0.5), ROUND(t, t, FLOOR), MULS(t, t, 2), SUB(d, d, t),
        MULS(d, d, -2), ADDS(d, d, 1), ROUND(d, d, RINT));
}

/* T(i0..i0+2) and four masks; base and exponent are floats. */
static void power_of(const struct adv_piece *p, int d, int base, int exponent, int t0)
{
    int a = t0, b = t0 + 1, c = t0 + 2;
    enum { INTEGRAL = M(3) };
    struct adv_piece bits = *p;
    bits.type = AKGEN_INT32;
    RUN(p, ABS(d, base), LN(d, d), MUL(d, exponent, d), EXP(d, d));
    /* A base with a sign bit and an integral exponent: the sign of (-1)^exponent. */
    parity(p, a, exponent, b);
    adv_scalar_op(p->core, NPU_OP_SHIFT_RIGHT, p->slot[b], p->slot[base], 31, AKGEN_UINT32, p->count);
    RUN(&bits, COMPARE(M(0), b, EQ, 1));
    RUN(p, ABS(b, exponent), ROUND(c, b, RINT), SUB(c, b, c), ABS(c, c), COMPARE(INTEGRAL, c, LT, 0.00000001F),
        MASK_AND(M(0), M(0), INTEGRAL), SELECT(b, M(0), a, 1), MUL(d, b, d));
    /* 1: exponent 0, base 1, or base -1 with an infinite exponent. */
    RUN(p, ABS(a, exponent), COMPARE(M(0), a, NE, 0), COMPARE(M(1), base, NE, 1), MASK_AND(M(0), M(1), M(0)),
        COMPARE(M(1), base, NE, -1), COMPARE(M(2), a, NE, (double)INFINITY), MASK_OR(M(1), M(2), M(1)),
        MASK_AND(M(0), M(1), M(0)), SELECT(d, M(0), d, 1));
    /* NaN: a finite negative base with a fractional exponent. */
    RUN(p, ABS(a, exponent), COMPARE(M(0), a, EQ, (double)INFINITY), MASK_OR(M(0), INTEGRAL, M(0)),
        COMPARE(M(1), base, GE, 0), COMPARE(M(2), base, EQ, (double)-INFINITY), MASK_OR(M(1), M(2), M(1)),
        MASK_OR(M(0), M(1), M(0)), SELECT(d, M(0), d, (double)NAN));
}

/* Three forms: tensor and tensor, tensor and scalar, scalar and tensor. The scalar fills a tensor once, before the
 * first piece. */
enum { BOTH, SCALAR_EXPONENT, SCALAR_BASE };
static int form_of(const struct npu_adv *call)
{
    return !call->src[0].addr ? SCALAR_BASE : !call->src[1].addr ? SCALAR_EXPONENT : BOTH;
}
static bool is_first(const struct adv_piece *p)
{
    return p->slot[DST].addr == p->call->dst[0].addr;
}
/* Fills as much as any piece needs. */
static void fill_scalar(const struct adv_piece *p, int slot)
{
    if (!is_first(p))
        return;
    struct adv_piece all = *p;
    all.count = p->slot[slot].bytes / 4;
    RUN(&all, FILL(slot, adv_number(p->call->type, p->call->scalar[0])));
}

static void power_steps(const struct adv_piece *p)
{
    power_of(p, DST, SRC, SRC1, T(0));
}
static void power_with_scalar(const struct adv_piece *p)
{
    fill_scalar(p, T(0));
    if (form_of(p->call) == SCALAR_BASE)
        power_of(p, DST, T(0), SRC1, T(1));
    else
        power_of(p, DST, SRC, T(0), T(1));
}
static void power_of_half(const struct adv_piece *p)
{
    int form = form_of(p->call);
    if (form == BOTH) {
        RUN(p, WIDEN(T(0), SRC), WIDEN(T(1), SRC1));
    } else if (form == SCALAR_BASE) {
        fill_scalar(p, T(0));
        RUN(p, WIDEN(T(1), SRC1));
    } else {
        fill_scalar(p, T(1));
        RUN(p, WIDEN(T(0), SRC));
    }
    power_of(p, T(2), T(0), T(1), T(3));
    RUN(p, NARROW(DST, T(2)));
}

/* int32. */
/* The sum of a tensor as float, read by the scalar unit: 0 when all are. `t` is a scratch tensor. */
static float sum_of(const struct adv_piece *p, int values, int t, int result)
{
    RUN(p, CAST(t, FLOAT, values, INT32, NONE));
    struct npu_insn insn = ADV_INSN(NPU_OP_REDUCE_SUM, COUNT, AKGEN_FLOAT, .count = p->count, .dst = p->slot[result],
                                    .src0 = p->slot[t], .aux = p->slot[t]);
    adv_issue(p->core, &insn);
    npu_scalar_access(p->core, p->slot[result].addr, sizeof(float), false, false);
    float sum;
    memcpy(&sum, (const void *)p->slot[result].addr, sizeof sum);
    return sum;
}

enum { LEFT, EXPONENT, DONE, A, B, NEGATIVE = M(0), MASK = M(1), SUM = M(2) };

/* Squares d while the exponent has bits left: T(DONE) is the power that d has reached. */
static void square(const struct adv_piece *p, int d, int t0)
{
    int left = t0 + LEFT, done = t0 + DONE, a = t0 + A, b = t0 + B;
    while (sum_of(p, left, a, SUM) != 0)
        RUN(p, MUL(a, d, d), MULS(b, done, 2), SELECT_SLOTS(d, MASK, d, a), SELECT_SLOTS(done, MASK, done, b),
            SHIFT_RIGHT(left, left, 1), COMPARE(MASK, left, EQ, 0));
}

/* Multiplies by the base until all of the exponent is used. */
static void multiply(const struct adv_piece *p, int d, int base, int t0)
{
    int exponent = t0 + EXPONENT, done = t0 + DONE, a = t0 + A, b = t0 + B;
    RUN(p, SUB(done, exponent, done), COMPARE(MASK, done, EQ, 0));
    while (sum_of(p, done, a, SUM) != 0)
        RUN(p, MUL(a, d, base), ADDS(b, done, -1), SELECT_SLOTS(d, MASK, d, a), SELECT_SLOTS(done, MASK, done, b),
            COMPARE(MASK, done, EQ, 0));
}

/* 1 / d, truncated, where the exponent is negative, and 0 where d is 0. */
static void invert(const struct adv_piece *p, int d, int t0)
{
    struct adv_piece floats = *p;
    floats.type = AKGEN_FLOAT;
    RUN(p, COMPARE(MASK, d, EQ, 0), CAST(t0 + EXPONENT, FLOAT, d, INT32, NONE));
    RUN(&floats, FILL(t0 + LEFT, 1), DIV(t0 + EXPONENT, t0 + LEFT, t0 + EXPONENT));
    RUN(p, CAST(t0 + A, INT32, t0 + EXPONENT, FLOAT, TRUNC), SELECT_SLOTS(d, NEGATIVE, t0 + A, d), FILL(t0 + B, 0),
        SELECT_SLOTS(d, MASK, t0 + B, d));
}

static void power_of_int(const struct adv_piece *p, int base, int exponent, int t0)
{
    int left = t0 + LEFT, size = t0 + EXPONENT, done = t0 + DONE, a = t0 + A, b = t0 + B, d = DST;
    struct adv_piece floats = *p;
    floats.type = AKGEN_FLOAT;
    RUN(p, CAST(a, FLOAT, exponent, INT32, NONE));
    RUN(&floats, COMPARE(NEGATIVE, a, LT, 0));
    RUN(p, MULS(a, exponent, -1), SELECT_SLOTS(left, NEGATIVE, a, exponent), MULS(size, left, 1),
        COMPARE(MASK, size, EQ, 0));
    /* d = base ^ done with done = 0 or 1 */
    RUN(p, FILL(done, 0), FILL(b, 1), SELECT_SLOTS(done, MASK, done, b), SELECT_SLOTS(d, MASK, b, base),
        SHIFT_RIGHT(left, left, 1), COMPARE(MASK, left, EQ, 0));
    square(p, d, t0);
    multiply(p, d, base, t0);
    invert(p, d, t0);
}
static void power_int_steps(const struct adv_piece *p)
{
    power_of_int(p, SRC, SRC1, T(0));
}
static void power_int_with_scalar(const struct adv_piece *p)
{
    fill_scalar(p, T(0));
    if (form_of(p->call) == SCALAR_BASE)
        power_of_int(p, T(0), SRC1, T(1));
    else
        power_of_int(p, SRC, T(0), T(1));
}

void adv_power(struct npu_core *core, const struct npu_adv *call)
{
    /* The first 256 bytes hold the scalars of the selections. */
    static const struct adv_plan floats[] = {{.body = power_steps, .bytes = 16, .masks = 4, .head = NPU_REPEAT},
                                             {.body = power_with_scalar, .bytes = 20, .masks = 4, .head = NPU_REPEAT}};
    static const struct adv_plan halves = {
        .half_body = power_of_half, .bytes_half = 28, .masks = 4, .head = NPU_REPEAT};
    static const struct adv_plan ints[] = {{.body = power_int_steps, .bytes = 24, .masks = 3},
                                           {.body = power_int_with_scalar, .bytes = 28, .masks = 3}};
    bool scalar = form_of(call) != BOTH;
    adv_run(core, call,
            call->type == AKGEN_FLOAT16 ? &halves
            : call->type == AKGEN_INT32 ? &ints[scalar]
                                        : &floats[scalar]);
}
