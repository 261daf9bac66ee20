/* Digamma: an asymptotic series for large positive arguments, reached by psi(x) = psi(x + n) - 1/x - ... - 1/(x+n-1),
 * and psi(x) = psi(1 - x) - pi * cot(pi * x) for negative ones. Every element is computed in every way; masks add up
 * what is right for it.
 *
 * half is computed in float with fewer terms. The last piece is rounded up to 8 elements. */
#include "npu/adv/piece.h"

#include <math.h>

enum { RESULT = T(0), A = T(1), B = T(2), C = T(3), TAIL = 8 };
static const double pi = 3.141592653589793238F, least = -8388608; /* below it every float is an integer */

/* mask = x compared with a value; `scratch` is the slot that holds it. */
#define COMPARE_WITH(mask, x, mode, value) FILL(scratch, value), COMPARE_SLOTS(mask, x, mode, scratch)
/* d += mask ? x : 0 */
#define ADD_WHERE(d, x, mask, t) FILL(scratch, 0), SELECT(t, mask, x, 0), ADD(d, t, d)

/* Both types: NaN where there is no value. M(1) = x is a negative integer above `least`; M(0) = x is neither below 0
 * nor at least 0: a NaN. */
static void start(const struct adv_piece *p, int d, int x, int t, int scratch)
{
    RUN(p, FILL(d, 0), FILL(RESULT, (double)NAN), COMPARE_WITH(M(0), x, LE, least), ADD_WHERE(d, RESULT, M(0), t),
        COMPARE_WITH(M(1), x, LT, 0), COMPARE_WITH(M(2), x, GT, least), MASK_AND(M(1), M(1), M(2)), ROUND(A, x, ROUND),
        COMPARE_SLOTS(M(2), x, EQ, A), MASK_AND(M(1), M(1), M(2)), ADD_WHERE(d, RESULT, M(1), t),
        COMPARE_WITH(M(1), x, LT, 0), COMPARE_WITH(M(2), x, GE, 0), MASK_NOT(M(1), M(1)), MASK_NOT(M(2), M(2)),
        MASK_AND(M(0), M(1), M(2)), ADD_WHERE(d, x, M(0), t));
}

/* float. */
/* d = ln(y) - 1/(2y) - sum of Bernoulli terms with y = x + 10, less 1/x + ... + 1/(x + 9). */
static void positive(const struct adv_piece *p, int d, int x, int one)
{
    static const double series[] = {2.10927960927960927961e-2, 7.57575757575757575758e-3, 4.16666666666666666667e-3,
                                    3.96825396825396825397e-3, 8.33333333333333333333e-3, 8.33333333333333333333e-2};
    RUN(p, ADDS(A, x, 10), LN(d, A), FILL(one, 1), DIV(A, one, A), MULS(B, A, 0.5), SUB(d, d, B), MUL(A, A, A),
        FILL(B, 8.33333333333333333333e-2));
    for (int i = 0; i < 6; i++)
        RUN(p, FILL(one, series[i]), MUL(B, A, B), SUB(B, one, B));
    RUN(p, MUL(B, A, B), SUB(d, d, B), FILL(one, 1), DIV(A, one, x));
    for (int i = 1; i < 10; i++)
        RUN(p, ADDS(B, x, i), DIV(B, one, B), ADD(A, A, B));
    RUN(p, SUB(d, d, A));
}

/* d = -pi * cot(pi * x): 2x less the nearest integer k, a polynomial for the tangent, and its reciprocal if k is
 * even. */
static void minus_pi_cot(const struct adv_piece *p, int d, int x, int scratch)
{
    static const double tangent[] = {0.00326538085938F, 0.0242919921875F, 0.053466796875F, 0.133377909660F,
                                     0.333332300186F};
    struct adv_piece ints = *p;
    ints.type = AKGEN_INT32;
    RUN(p, ADD(A, x, x), ROUND(B, A, ROUND), SUB(A, A, B), MULS(A, A, 1.5707963267948966192),
        CAST(B, INT32, B, FLOAT, ROUND));
    RUN(&ints, FILL(C, 1));
    adv_binary(p->core, NPU_OP_AND, p->slot[B], p->slot[B], p->slot[C], AKGEN_UINT16, p->count * 2);
    RUN(p, CAST(B, FLOAT, B, INT32, NONE), COMPARE_WITH(M(1), B, LT, 0.5), COMPARE_WITH(M(2), B, GE, 0.5), MUL(B, A, A),
        FILL(d, 0.0093383789065F));
    for (int i = 0; i < 5; i++)
        RUN(p, MUL(d, d, B), ADDS(d, d, tangent[i]));
    RUN(p, MUL(d, d, B), MUL(d, d, A), ADD(A, d, A), FILL(d, 0), ADD_WHERE(d, A, M(2), C), FILL(scratch, -1),
        DIV(A, scratch, A), ADD_WHERE(d, A, M(1), C), MULS(d, d, pi));
}

static void digamma_steps(const struct adv_piece *p)
{
    int scratch = p->reuse ? T(4) : T(5), fourth = p->reuse ? SRC : T(4);
    start(p, DST, SRC, C, scratch);
    RUN(p, COMPARE_WITH(M(0), SRC, GE, 0));
    positive(p, RESULT, SRC, scratch);
    RUN(p, ADD_WHERE(DST, RESULT, M(0), C), COMPARE_WITH(M(0), SRC, LT, 0), MULS(C, SRC, -1), ADDS(C, C, 1));
    positive(p, RESULT, C, scratch);
    minus_pi_cot(p, fourth, SRC, scratch);
    RUN(p, ADD(RESULT, RESULT, fourth), ADD_WHERE(DST, RESULT, M(0), C));
}

/* half. */
enum { SUM = T(4), X = T(5), SCRATCH = T(6) };

/* As positive() with y = x + 3. */
static void positive_half(const struct adv_piece *p, int d, int x)
{
    static const double series[] = {0.0083333333333333F, 0.003968253968254F};
    RUN(p, ADDS(A, x, 3), LN(d, A), FILL(SCRATCH, 1), DIV(A, SCRATCH, A), MULS(SCRATCH, A, 0.5), SUB(d, d, SCRATCH),
        MUL(A, A, A), MULS(SCRATCH, A, 0.0833333333333333F), SUB(d, d, SCRATCH));
    for (int i = 0; i < 2; i++)
        RUN(p, MUL(B, i ? B : A, A), MULS(SCRATCH, B, series[i]), SUB(d, d, SCRATCH));
    RUN(p, FILL(SCRATCH, 1), DIV(A, SCRATCH, x));
    for (int i = 1; i < 3; i++)
        RUN(p, ADDS(B, x, i), DIV(B, SCRATCH, B), ADD(A, A, B));
    RUN(p, SUB(d, d, A));
}

/* Just below 0, where the tangent has no digits left: psi(1 - x), which is in B, less pi * cos / sin. */
static void near_zero(const struct adv_piece *p)
{
    RUN(p, ROUND(SCRATCH, X, FLOOR), SUB(SCRATCH, X, SCRATCH), MULS(SCRATCH, SCRATCH, pi));
    steps_cos(p, C, SCRATCH, RESULT, A, SCRATCH);
    RUN(p, MULS(X, X, -pi));
    steps_sin(p, SCRATCH, X, RESULT, A, X);
    RUN(p, MULS(C, C, pi), DIV(C, C, SCRATCH), SUB(RESULT, B, C));
}

static void digamma_of_half(const struct adv_piece *p)
{
    int scratch = SCRATCH;
    RUN(p, WIDEN(X, SRC));
    /* C = pi / tan(pi * (x - floor x)) */
    RUN(p, ROUND(SUM, X, FLOOR), SUB(SUM, X, SUM), MULS(SUM, SUM, pi), ADDS(T(3), SUM, 0));
    steps_tan(p, SCRATCH, T(3), T(0), T(1), T(2));
    RUN(p, FILL(A, pi), DIV(C, A, SCRATCH));
    start(p, SUM, X, A, SCRATCH);
    RUN(p, COMPARE_WITH(M(0), X, GE, 0));
    positive_half(p, RESULT, X);
    RUN(p, ADD_WHERE(SUM, RESULT, M(0), A), COMPARE_WITH(M(0), X, LT, -0.0001F), FILL(SCRATCH, 1), SUB(X, SCRATCH, X));
    positive_half(p, RESULT, X);
    RUN(p, ADDS(B, RESULT, 0), SUB(RESULT, RESULT, C), ADD_WHERE(SUM, RESULT, M(0), A), WIDEN(X, SRC),
        COMPARE_WITH(M(1), X, LT, 0), COMPARE_WITH(M(2), X, GE, -0.0001F), MASK_AND(M(0), M(1), M(2)));
    near_zero(p);
    RUN(p, ADD_WHERE(SUM, RESULT, M(0), A), NARROW(DST, SUM));
}
ADV_ROUTINE(digamma, .body = digamma_steps, .half_body = digamma_of_half, .bytes = 28, .bytes_reuse = 24,
            .bytes_half = 32, .masks = 3, .tail = TAIL)
