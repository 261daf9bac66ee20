/* Power: base ^ exponent, each of which may be a scalar (SLOT_SRC is the base, SLOT_SRC1 the exponent).
 *
 * Floats: exp(exponent * ln |base|) and corrections by masks. int32: square and multiply, as often as the largest
 * exponent of the piece needs. */
#include "npu/adv/piece.h"
#include "npu/scalar/access.h"

#include <math.h>
#include <string.h>

static double scalar_of(const struct npu_adv *call)
{
    float single;
    _Float16 half;
    if (call->type == AKGEN_INT32)
        return (int32_t)call->scalar[0];
    if (call->type == AKGEN_FLOAT16) {
        memcpy(&half, &call->scalar[0], sizeof half);
        return (double)half;
    }
    memcpy(&single, &call->scalar[0], sizeof single);
    return (double)single;
}

/* 1 - 2 * (|y| mod 2): the sign of (-1)^y for integral y. */
static void parity(const struct adv_piece *p, int d, int y, int t)
{
    step_abs(p, d, y);
    step_round(p, d, d, ROUND_RINT);
    step_muls(p, t, d, 0.5);
    step_round(p, t, t, ROUND_FLOOR);
    step_muls(p, t, t, 2);
    step_sub(p, d, d, t);
    step_muls(p, d, d, -2);
    step_adds(p, d, d, 1);
    step_round(p, d, d, ROUND_RINT);
}

/* T(i0..i0+2) and four masks; base and exponent are floats. */
static void power_of(const struct adv_piece *p, int d, int base, int exponent, int t0)
{
    int a = t0, b = t0 + 1, c = t0 + 2;
    enum { INTEGRAL = M(3) };
    struct adv_piece bits = *p;
    bits.type = AKGEN_INT32;
    step_abs(p, d, base);
    step_ln(p, d, d);
    step_mul(p, d, exponent, d);
    step_exp(p, d, d);
    /* A base with a sign bit and an integral exponent: the sign of (-1)^exponent. */
    parity(p, a, exponent, b);
    adv_scalar_op(p->core, NPU_OP_SHIFT_RIGHT, p->slot[b], p->slot[base], 31, AKGEN_UINT32, p->count);
    step_compare(&bits, M(0), b, COMPARE_EQ, 1);
    step_abs(p, b, exponent);
    step_round(p, c, b, ROUND_RINT);
    step_sub(p, c, b, c);
    step_abs(p, c, c);
    step_compare(p, INTEGRAL, c, COMPARE_LT, 0.00000001F);
    step_mask(p, NPU_OP_AND, M(0), M(0), INTEGRAL);
    step_select(p, b, M(0), a, 1);
    step_mul(p, d, b, d);
    /* 1: exponent 0, base 1, or base -1 with an infinite exponent. */
    step_abs(p, a, exponent);
    step_compare(p, M(0), a, COMPARE_NE, 0);
    step_compare(p, M(1), base, COMPARE_NE, 1);
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
    step_compare(p, M(1), base, COMPARE_NE, -1);
    step_compare(p, M(2), a, COMPARE_NE, (double)INFINITY);
    step_mask(p, NPU_OP_OR, M(1), M(2), M(1));
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
    step_select(p, d, M(0), d, 1);
    /* NaN: a finite negative base with a fractional exponent. */
    step_abs(p, a, exponent);
    step_compare(p, M(0), a, COMPARE_EQ, (double)INFINITY);
    step_mask(p, NPU_OP_OR, M(0), INTEGRAL, M(0));
    step_compare(p, M(1), base, COMPARE_GE, 0);
    step_compare(p, M(2), base, COMPARE_EQ, (double)-INFINITY);
    step_mask(p, NPU_OP_OR, M(1), M(2), M(1));
    step_mask(p, NPU_OP_OR, M(0), M(1), M(0));
    step_select(p, d, M(0), d, (double)NAN);
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
    return p->slot[SLOT_DST].addr == p->call->dst[0].addr;
}
/* Fills as much as any piece needs. */
static void fill_scalar(const struct adv_piece *p, int slot)
{
    if (!is_first(p))
        return;
    struct adv_piece all = *p;
    all.count = p->slot[slot].bytes / 4;
    step_fill(&all, slot, scalar_of(p->call));
}

static void power_steps(const struct adv_piece *p)
{
    power_of(p, SLOT_DST, SLOT_SRC, SLOT_SRC1, T(0));
}
static void power_with_scalar(const struct adv_piece *p)
{
    fill_scalar(p, T(0));
    if (form_of(p->call) == SCALAR_BASE)
        power_of(p, SLOT_DST, T(0), SLOT_SRC1, T(1));
    else
        power_of(p, SLOT_DST, SLOT_SRC, T(0), T(1));
}
static void power_of_half(const struct adv_piece *p)
{
    int form = form_of(p->call);
    if (form == BOTH) {
        step_widen(p, T(0), SLOT_SRC);
        step_widen(p, T(1), SLOT_SRC1);
    } else if (form == SCALAR_BASE) {
        fill_scalar(p, T(0));
        step_widen(p, T(1), SLOT_SRC1);
    } else {
        fill_scalar(p, T(1));
        step_widen(p, T(0), SLOT_SRC);
    }
    power_of(p, T(2), T(0), T(1), T(3));
    step_narrow(p, SLOT_DST, T(2));
}

/* int32. */
/* The sum of a tensor as float, read by the scalar unit: 0 when all are. `t` is a scratch tensor. */
static float sum_of(const struct adv_piece *p, int values, int t, int result)
{
    step_cast(p, t, AKGEN_FLOAT, values, AKGEN_INT32, ROUND_NONE);
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
    while (sum_of(p, left, a, SUM) != 0) {
        step_mul(p, a, d, d);
        step_muls(p, b, done, 2);
        step_select_slots(p, d, MASK, d, a);
        step_select_slots(p, done, MASK, done, b);
        step_scalar(p, NPU_OP_SHIFT_RIGHT, left, left, 1);
        step_compare(p, MASK, left, COMPARE_EQ, 0);
    }
}

/* Multiplies by the base until all of the exponent is used. */
static void multiply(const struct adv_piece *p, int d, int base, int t0)
{
    int exponent = t0 + EXPONENT, done = t0 + DONE, a = t0 + A, b = t0 + B;
    step_sub(p, done, exponent, done);
    step_compare(p, MASK, done, COMPARE_EQ, 0);
    while (sum_of(p, done, a, SUM) != 0) {
        step_mul(p, a, d, base);
        step_adds(p, b, done, -1);
        step_select_slots(p, d, MASK, d, a);
        step_select_slots(p, done, MASK, done, b);
        step_compare(p, MASK, done, COMPARE_EQ, 0);
    }
}

/* 1 / d, truncated, where the exponent is negative, and 0 where d is 0. */
static void invert(const struct adv_piece *p, int d, int t0)
{
    struct adv_piece floats = *p;
    floats.type = AKGEN_FLOAT;
    step_compare(p, MASK, d, COMPARE_EQ, 0);
    step_cast(p, t0 + EXPONENT, AKGEN_FLOAT, d, AKGEN_INT32, ROUND_NONE);
    step_fill(&floats, t0 + LEFT, 1);
    step_div(&floats, t0 + EXPONENT, t0 + LEFT, t0 + EXPONENT);
    step_cast(p, t0 + A, AKGEN_INT32, t0 + EXPONENT, AKGEN_FLOAT, ROUND_TRUNC);
    step_select_slots(p, d, NEGATIVE, t0 + A, d);
    step_fill(p, t0 + B, 0);
    step_select_slots(p, d, MASK, t0 + B, d);
}

static void power_of_int(const struct adv_piece *p, int base, int exponent, int t0)
{
    int left = t0 + LEFT, size = t0 + EXPONENT, done = t0 + DONE, a = t0 + A, b = t0 + B, d = SLOT_DST;
    struct adv_piece floats = *p;
    floats.type = AKGEN_FLOAT;
    step_cast(p, a, AKGEN_FLOAT, exponent, AKGEN_INT32, ROUND_NONE);
    step_compare(&floats, NEGATIVE, a, COMPARE_LT, 0);
    step_muls(p, a, exponent, -1);
    step_select_slots(p, left, NEGATIVE, a, exponent);
    step_muls(p, size, left, 1);
    step_compare(p, MASK, size, COMPARE_EQ, 0);
    /* d = base ^ done with done = 0 or 1 */
    step_fill(p, done, 0);
    step_fill(p, b, 1);
    step_select_slots(p, done, MASK, done, b);
    step_select_slots(p, d, MASK, b, base);
    step_scalar(p, NPU_OP_SHIFT_RIGHT, left, left, 1);
    step_compare(p, MASK, left, COMPARE_EQ, 0);
    square(p, d, t0);
    multiply(p, d, base, t0);
    invert(p, d, t0);
}
static void power_int_steps(const struct adv_piece *p)
{
    power_of_int(p, SLOT_SRC, SLOT_SRC1, T(0));
}
static void power_int_with_scalar(const struct adv_piece *p)
{
    fill_scalar(p, T(0));
    if (form_of(p->call) == SCALAR_BASE)
        power_of_int(p, T(0), SLOT_SRC1, T(1));
    else
        power_of_int(p, SLOT_SRC, T(0), T(1));
}

void adv_power(struct npu_core *core, const struct npu_adv *call)
{
    /* The first 256 bytes hold the scalars of the selections. */
    static const struct adv_plan floats[] = {{.steps = power_steps, .bytes = 16, .masks = 4, .head = NPU_REPEAT},
                                             {.steps = power_with_scalar, .bytes = 20, .masks = 4, .head = NPU_REPEAT}};
    static const struct adv_plan halves = {.half = power_of_half, .bytes_half = 28, .masks = 4, .head = NPU_REPEAT};
    static const struct adv_plan ints[] = {{.steps = power_int_steps, .bytes = 24, .masks = 3},
                                           {.steps = power_int_with_scalar, .bytes = 28, .masks = 3}};
    bool scalar = form_of(call) != BOTH;
    adv_run(core, call,
            call->type == AKGEN_FLOAT16 ? &halves
            : call->type == AKGEN_INT32 ? &ints[scalar]
                                        : &floats[scalar]);
}
