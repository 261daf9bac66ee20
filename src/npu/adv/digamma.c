/* Digamma: an asymptotic series for large positive arguments, reached by psi(x) = psi(x + n) - 1/x - ... - 1/(x+n-1),
 * and psi(x) = psi(1 - x) - pi * cot(pi * x) for negative ones. Every element is computed in every way; masks add up
 * what is right for it.
 *
 * half is computed in float with fewer terms. The last piece is rounded up to 8 elements. */
#include "npu/adv/piece.h"

#include <math.h>

enum { RESULT = T(0), A = T(1), B = T(2), C = T(3), TAIL = 8 };
static const double pi = 3.141592653589793238F, least = -8388608; /* below it every float is an integer */

/* Where the slots are that depend on type and isReuseSource. */
static int fourth(const struct adv_piece *p)
{
    return p->reuse ? SLOT_SRC : T(4);
}
static int scratch(const struct adv_piece *p)
{
    bool half = p->call->type == AKGEN_FLOAT16;
    return half ? T(6) : p->reuse ? T(4) : T(5);
}

static void compare(const struct adv_piece *p, int mask, int x, int mode, double value)
{
    step_fill(p, scratch(p), value);
    step_compare_slots(p, mask, x, mode, scratch(p));
}

/* d += mask ? x : 0 */
static void add_where(const struct adv_piece *p, int d, int x, int mask, int t)
{
    step_fill(p, scratch(p), 0);
    step_select(p, t, mask, x, 0);
    step_add(p, d, t, d);
}

/* M(1) = x is a negative integer above `least`. */
static void negative_integers(const struct adv_piece *p, int x)
{
    compare(p, M(1), x, COMPARE_LT, 0);
    compare(p, M(2), x, COMPARE_GT, least);
    step_mask(p, NPU_OP_AND, M(1), M(1), M(2));
    step_round(p, A, x, ROUND_ROUND);
    step_compare_slots(p, M(2), x, COMPARE_EQ, A);
    step_mask(p, NPU_OP_AND, M(1), M(1), M(2));
}

/* M(0) = x is neither below 0 nor at least 0: a NaN. */
static void not_a_number(const struct adv_piece *p, int x)
{
    compare(p, M(1), x, COMPARE_LT, 0);
    compare(p, M(2), x, COMPARE_GE, 0);
    step_mask(p, NPU_OP_NOT, M(1), M(1), M(1));
    step_mask(p, NPU_OP_NOT, M(2), M(2), M(2));
    step_mask(p, NPU_OP_AND, M(0), M(1), M(2));
}

/* What is the same for both types: NaN for what has no value. */
static void start(const struct adv_piece *p, int d, int x, int t)
{
    step_fill(p, d, 0);
    step_fill(p, RESULT, (double)NAN);
    compare(p, M(0), x, COMPARE_LE, least);
    add_where(p, d, RESULT, M(0), t);
    negative_integers(p, x);
    add_where(p, d, RESULT, M(1), t);
    not_a_number(p, x);
    add_where(p, d, x, M(0), t);
}

/* float. */
/* d = ln(y) - 1/(2y) - sum of Bernoulli terms with y = x + 10, less 1/x + ... + 1/(x + 9). */
static void positive(const struct adv_piece *p, int d, int x)
{
    static const double series[] = {2.10927960927960927961e-2, 7.57575757575757575758e-3, 4.16666666666666666667e-3,
                                    3.96825396825396825397e-3, 8.33333333333333333333e-3, 8.33333333333333333333e-2};
    int one = scratch(p);
    step_adds(p, A, x, 10);
    step_ln(p, d, A);
    step_fill(p, one, 1);
    step_div(p, A, one, A);
    step_muls(p, B, A, 0.5);
    step_sub(p, d, d, B);
    step_mul(p, A, A, A);
    step_fill(p, B, 8.33333333333333333333e-2);
    for (int i = 0; i < 6; i++) {
        step_fill(p, one, series[i]);
        step_mul(p, B, A, B);
        step_sub(p, B, one, B);
    }
    step_mul(p, B, A, B);
    step_sub(p, d, d, B);
    step_fill(p, one, 1);
    step_div(p, A, one, x);
    for (int i = 1; i < 10; i++) {
        step_adds(p, B, x, i);
        step_div(p, B, one, B);
        step_add(p, A, A, B);
    }
    step_sub(p, d, d, A);
}

/* d = -pi * cot(pi * x): 2x less the nearest integer k, a polynomial for the tangent, and its reciprocal if k is
 * even. */
static void minus_pi_cot(const struct adv_piece *p, int d, int x)
{
    static const double tangent[] = {0.00326538085938F, 0.0242919921875F, 0.053466796875F, 0.133377909660F,
                                     0.333332300186F};
    struct adv_piece ints = *p;
    ints.type = AKGEN_INT32;
    step_add(p, A, x, x);
    step_round(p, B, A, ROUND_ROUND);
    step_sub(p, A, A, B);
    step_muls(p, A, A, 1.5707963267948966192);
    step_cast(p, B, AKGEN_INT32, B, AKGEN_FLOAT, ROUND_ROUND);
    step_fill(&ints, C, 1);
    adv_binary(p->core, NPU_OP_AND, p->slot[B], p->slot[B], p->slot[C], AKGEN_UINT16, p->count * 2);
    step_cast(p, B, AKGEN_FLOAT, B, AKGEN_INT32, ROUND_NONE);
    compare(p, M(1), B, COMPARE_LT, 0.5);
    compare(p, M(2), B, COMPARE_GE, 0.5);
    step_mul(p, B, A, A);
    step_fill(p, d, 0.0093383789065F);
    for (int i = 0; i < 5; i++) {
        step_mul(p, d, d, B);
        step_adds(p, d, d, tangent[i]);
    }
    step_mul(p, d, d, B);
    step_mul(p, d, d, A);
    step_add(p, A, d, A);
    step_fill(p, d, 0);
    add_where(p, d, A, M(2), C);
    step_fill(p, scratch(p), -1);
    step_div(p, A, scratch(p), A);
    add_where(p, d, A, M(1), C);
    step_muls(p, d, d, pi);
}

static void digamma_steps(const struct adv_piece *p)
{
    start(p, SLOT_DST, SLOT_SRC, C);
    compare(p, M(0), SLOT_SRC, COMPARE_GE, 0);
    positive(p, RESULT, SLOT_SRC);
    add_where(p, SLOT_DST, RESULT, M(0), C);
    compare(p, M(0), SLOT_SRC, COMPARE_LT, 0);
    step_muls(p, C, SLOT_SRC, -1);
    step_adds(p, C, C, 1);
    positive(p, RESULT, C);
    minus_pi_cot(p, fourth(p), SLOT_SRC);
    step_add(p, RESULT, RESULT, fourth(p));
    add_where(p, SLOT_DST, RESULT, M(0), C);
}

/* half. */
enum { SUM = T(4), X = T(5), SCRATCH = T(6) };

/* As positive() with y = x + 3. */
static void positive_half(const struct adv_piece *p, int d, int x)
{
    static const double series[] = {0.0083333333333333F, 0.003968253968254F};
    step_adds(p, A, x, 3);
    step_ln(p, d, A);
    step_fill(p, SCRATCH, 1);
    step_div(p, A, SCRATCH, A);
    step_muls(p, SCRATCH, A, 0.5);
    step_sub(p, d, d, SCRATCH);
    step_mul(p, A, A, A);
    step_muls(p, SCRATCH, A, 0.0833333333333333F);
    step_sub(p, d, d, SCRATCH);
    for (int i = 0; i < 2; i++) {
        step_mul(p, B, i ? B : A, A);
        step_muls(p, SCRATCH, B, series[i]);
        step_sub(p, d, d, SCRATCH);
    }
    step_fill(p, SCRATCH, 1);
    step_div(p, A, SCRATCH, x);
    for (int i = 1; i < 3; i++) {
        step_adds(p, B, x, i);
        step_div(p, B, SCRATCH, B);
        step_add(p, A, A, B);
    }
    step_sub(p, d, d, A);
}

/* Just below 0, where the tangent has no digits left: psi(1 - x), which is in B, less pi * cos / sin. */
static void near_zero(const struct adv_piece *p)
{
    step_round(p, SCRATCH, X, ROUND_FLOOR);
    step_sub(p, SCRATCH, X, SCRATCH);
    step_muls(p, SCRATCH, SCRATCH, pi);
    steps_cos(p, C, SCRATCH, RESULT, A, SCRATCH);
    step_muls(p, X, X, -pi);
    steps_sin(p, SCRATCH, X, RESULT, A, X);
    step_muls(p, C, C, pi);
    step_div(p, C, C, SCRATCH);
    step_sub(p, RESULT, B, C);
}

static void digamma_of_half(const struct adv_piece *p)
{
    step_widen(p, X, SLOT_SRC);
    /* C = pi / tan(pi * (x - floor x)) */
    step_round(p, SUM, X, ROUND_FLOOR);
    step_sub(p, SUM, X, SUM);
    step_muls(p, SUM, SUM, pi);
    step_adds(p, T(3), SUM, 0);
    steps_tan(p, SCRATCH, T(3), T(0), T(1), T(2));
    step_fill(p, A, pi);
    step_div(p, C, A, SCRATCH);
    start(p, SUM, X, A);
    compare(p, M(0), X, COMPARE_GE, 0);
    positive_half(p, RESULT, X);
    add_where(p, SUM, RESULT, M(0), A);
    compare(p, M(0), X, COMPARE_LT, -0.0001F);
    step_fill(p, SCRATCH, 1);
    step_sub(p, X, SCRATCH, X);
    positive_half(p, RESULT, X);
    step_adds(p, B, RESULT, 0);
    step_sub(p, RESULT, RESULT, C);
    add_where(p, SUM, RESULT, M(0), A);
    step_widen(p, X, SLOT_SRC);
    compare(p, M(1), X, COMPARE_LT, 0);
    compare(p, M(2), X, COMPARE_GE, -0.0001F);
    step_mask(p, NPU_OP_AND, M(0), M(1), M(2));
    near_zero(p);
    add_where(p, SUM, RESULT, M(0), A);
    step_narrow(p, SLOT_DST, SUM);
}
ADV_ROUTINE(digamma, .steps = digamma_steps, .half = digamma_of_half, .bytes = 28, .bytes_reuse = 24, .bytes_half = 32,
            .masks = 3, .tail = TAIL)
