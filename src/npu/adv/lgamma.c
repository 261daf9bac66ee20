/* Lgamma, the logarithm of |gamma(x)|: polynomials in five ranges of |x|, and for negative x the reflection
 * ln(pi / (|sin(pi x)| * |x|)) - lgamma(|x|). Every element is computed in every way; masks add up what is right for
 * it. half is computed in float by Stirling's formula. */
#include "npu/adv/piece.h"

#include <math.h>

enum { A = T(0), B = T(1), C = T(2), D = T(3), POSITIVE = T(4), SIZE = T(5) };
static const double infinity = (double)INFINITY;

/* mask = x compared with a value, which t holds */
#define COMPARE_WITH(mask, x, mode, value, t) FILL(t, value), COMPARE_SLOTS(mask, x, mode, t)
/* d += mask ? x : 0 */
#define ADD_WHERE(d, x, mask, t) SELECT(t, mask, x, 0), ADD(d, t, d)
/* d = x * (c[0] * x^(n-1) + ... + c[n-1]) */
#define SERIES(d, x, c) HORNER(d, x, c), MUL(d, d, x)

/* float: |x| in SIZE, the result in A, B or C. */
static void below_07(const struct adv_piece *p)
{
    static const double c[] = {0.00358751555905, -0.00547128543258, -0.0446271263063, 0.167317703366,
                               -0.0421359799802, -0.655867278576,   0.577215373516};
    RUN(p, SERIES(A, SIZE, c), MUL(A, A, SIZE), ADD(A, A, SIZE), LN(A, A), MULS(A, A, -1));
}

static void below_15(const struct adv_piece *p)
{
    static const double c[] = {0.0458826646209, 0.103739671409, 0.122803635895, 0.127524212003,
                               0.143216684461,  0.169343575835, 0.207407936454, 0.27058750391,
                               0.400685429573,  0.82246696949,  0.577215671539};
    RUN(p, MULS(A, SIZE, -1), ADDS(A, A, 1), SERIES(B, A, c));
}

static void below_3(const struct adv_piece *p)
{
    static const double c[] = {4.95984932058e-05, -0.000220894842641, 0.000541314249858, -0.00120451697148,
                               0.00288425176404,  -0.00738275796175,  0.0205813199282,   -0.067352488637,
                               0.322467029095,    0.422784328461};
    RUN(p, ADDS(A, SIZE, -2), SERIES(B, A, c));
}

static void below_58(const struct adv_piece *p)
{
    static const double numerator[] = {-748.890319824, -12349.7421875, -41061.375, -48310.6640625};
    static const double denominator[] = {-259.250976562, -10777.1796875, -92685.046875};
    RUN(p, ADDS(A, SIZE, -3), SERIES(B, A, numerator), ADDS(B, B, -143033.40625), SERIES(C, A, denominator),
        ADDS(C, C, -206353.578125), DIV(C, B, C), ADD(C, C, A));
}

/* (x - 1/2) * ln x - x + ln(2 pi) / 2 + 1/(12 x) ...; (x - 1/2) * ln x is added in halves, against overflow. */
static void above_58(const struct adv_piece *p)
{
    static const double c[] = {0.000777830660809, -0.00277765537612};
    RUN(p, LN(A, SIZE), MULS(A, A, 0.5), ADDS(B, SIZE, -0.5), MUL(B, B, A), RECIPROCAL(C, SIZE), MUL(D, C, C),
        SERIES(A, D, c), ADDS(A, A, 0.0833332762122), MUL(A, A, C), ADDS(A, A, 0.91893851757), ADD(A, A, B),
        ADD(A, A, B), SUB(A, A, SIZE));
}

/* POSITIVE = lgamma(|x|) */
static void of_positive(const struct adv_piece *p)
{
    static const struct {
        double low, high;
        adv_body *steps;
        int result;
    } ranges[] = {{0.7, 1.5, below_15, B}, {1.5, 3, below_3, B}, {3, 5.8, below_58, C}, {5.8, infinity, above_58, A}};
    RUN(p, FILL(POSITIVE, 0), COMPARE_WITH(M(0), SIZE, LT, 0.7, A));
    below_07(p);
    RUN(p, ADD_WHERE(POSITIVE, A, M(0), A));
    for (int i = 0; i < 4; i++) {
        RUN(p, COMPARE_WITH(M(0), SIZE, LT, ranges[i].high, A), COMPARE_WITH(M(1), SIZE, GE, ranges[i].low, A),
            MASK_AND(M(0), M(1), M(0)));
        ranges[i].steps(p);
        RUN(p, ADD_WHERE(POSITIVE, ranges[i].result, M(0), A));
    }
    RUN(p, COMPARE_WITH(M(0), SIZE, GE, infinity, A), ADD_WHERE(POSITIVE, SIZE, M(0), A));
}

/* B = sin(pi * |x|) up to its sign: |x| less the nearest multiple k of 1/2, then a sine or a cosine by k's parity. */
static void sine(const struct adv_piece *p)
{
    static const double even[] = {-0.000195746586541645228862762451171875, 0.0083327032625675201416015625,
                                  -0.16666662693023681640625};
    static const double odd[] = {0.00002427957952022552490234375, -0.001388786011375486850738525390625,
                                 0.0416667275130748748779296875, -0.4999999701976776123046875};
    RUN(p, ADD(B, SIZE, SIZE), ADDS(B, B, 0.5), ROUND(B, B, FLOOR), MULS(C, B, 0.5), ROUND(C, C, FLOOR), MULS(C, C, 2),
        SUB(C, B, C), COMPARE_WITH(M(0), C, GE, 0.5, A), MASK_NOT(M(1), M(0)), MULS(B, B, -0.5), ADD(B, B, SIZE),
        MULS(B, B, 3.1415927410125732421875), MUL(C, B, B), SERIES(A, C, even), MUL(A, A, B), ADD(A, A, B), FILL(B, 0),
        ADD_WHERE(B, A, M(1), A), SERIES(A, C, odd), ADDS(A, A, 1), ADD_WHERE(B, A, M(0), A));
}

/* D = lgamma(-|x|): -ln |x| for tiny |x|, the reflection else, infinity for integers. */
static void of_negative(const struct adv_piece *p)
{
    const double tiny = 9.99999968266e-20, ln_pi = 1.1447298526763916015625;
    RUN(p, FILL(D, 0), COMPARE_WITH(M(0), SIZE, LT, tiny, A), LN(A, SIZE), MULS(A, A, -1), ADD_WHERE(D, A, M(0), A));
    sine(p);
    RUN(p, ABS(A, B), MUL(C, A, SIZE), LN(A, C), MULS(A, A, -1), ADDS(A, A, ln_pi), MULS(B, POSITIVE, -1),
        ADD(B, A, B));
    /* M(0): no integer, finite, not tiny. */
    RUN(p, ROUND(A, SIZE, FLOOR), COMPARE_SLOTS(M(0), A, NE, SIZE), COMPARE_WITH(M(1), C, LT, infinity, A),
        MASK_AND(M(0), M(1), M(0)), COMPARE_WITH(M(1), SIZE, GE, tiny, A), MASK_AND(M(0), M(1), M(0)),
        ADD_WHERE(D, B, M(0), A), MASK_NOT(M(1), M(0)), COMPARE_WITH(M(0), SIZE, GE, tiny, A),
        MASK_AND(M(1), M(1), M(0)), FILL(B, infinity), ADD_WHERE(D, B, M(1), A));
}

static void lgamma_steps(const struct adv_piece *p)
{
    int zero = p->reuse ? SRC : T(6);
    RUN(p, COMPARE_WITH(M(2), SRC, GE, 0, A), COMPARE_WITH(M(3), SRC, LT, 0, A), ABS(SIZE, SRC),
        FILL(zero, 0) /* where CMPMASK takes the scalar of the selections from */);
    of_positive(p);
    RUN(p, FILL(DST, 0), ADD_WHERE(DST, POSITIVE, M(2), A));
    of_negative(p);
    RUN(p, ADD_WHERE(DST, D, M(3), A));
    /* Neither: a NaN. */
    RUN(p, MASK_NOT(M(0), M(2)), MASK_NOT(M(1), M(3)), MASK_AND(M(0), M(1), M(0)), ADD_WHERE(DST, SIZE, M(0), A));
}

/* half. */
static const double pi = 3.14159265358979323846264338327950288;

/* d = y * (ln(y + 1 / (12 y - 1/(10 y))) - 1) + ln(2 pi / y) / 2 with y = x + 4, less ln of x, x + 1, x + 2, x + 3;
 * t and the three slots behind it are overwritten. */
static void stirling(const struct adv_piece *p, int d, int x, int t)
{
    RUN(p, ADDS(t, x, 4), FILL(d, 1), DIV(d, d, t), MULS(t + 1, d, pi), MULS(t + 1, t + 1, 2), LN(t + 1, t + 1),
        MULS(t + 1, t + 1, 0.5), MULS(t + 2, d, -0.1F), MULS(t + 3, t, 12), ADD(t + 3, t + 3, t + 2), FILL(d, 1),
        DIV(t + 3, d, t + 3), ADD(t + 3, t + 3, t), LN(t + 3, t + 3), ADDS(t + 3, t + 3, -1), MUL(t + 3, t + 3, t),
        ADD(d, t + 3, t + 1), LN(t + 2, x));
    for (int i = 1; i < 4; i++)
        RUN(p, ADDS(t + 1, x, i), LN(t + 1, t + 1), ADD(t + 2, t + 2, t + 1));
    RUN(p, SUB(d, d, t + 2));
}

/* d = ln(pi / |sin(pi x)|) - lgamma(1 - x); six slots from T(6) on are overwritten. */
static void reflection(const struct adv_piece *p, int d, int x)
{
    enum { E = T(6), F = T(7), G = T(8), H = T(9), I = T(10) };
    RUN(p, MULS(E, x, -1), ADDS(E, E, 1));
    stirling(p, d, E, G);
    RUN(p, MULS(d, d, -1), ROUND(E, x, FLOOR), SUB(E, x, E), MULS(E, E, pi));
    steps_sin(p, F, E, G, H, I);
    RUN(p, ABS(F, F), FILL(G, pi), DIV(F, G, F), LN(F, F), ADD(d, d, F));
}

static void lgamma_of_half(const struct adv_piece *p)
{
    enum { SUM = T(0), X = T(1), PLUS = T(2), MINUS = T(3), E = T(4), SCALAR = T(5) };
    RUN(p, FILL(SUM, 0), WIDEN(X, SRC), FILL(SCALAR, 0));
    stirling(p, PLUS, X, T(6));
    RUN(p, COMPARE_WITH(M(0), X, GE, 0, E), ADD_WHERE(SUM, PLUS, M(0), E));
    reflection(p, MINUS, X);
    RUN(p, COMPARE_WITH(M(1), X, LT, 0, E), ADD_WHERE(SUM, MINUS, M(1), E));
    /* Neither: a NaN. */
    RUN(p, MASK_NOT(M(2), M(0)), MASK_NOT(M(3), M(1)), MASK_AND(M(2), M(2), M(3)), ADD_WHERE(SUM, X, M(2), D));
    /* More than half can hold for the largest arguments, +-65504 and infinity. */
    RUN(p, ABS(X, X), COMPARE_WITH(M(2), X, GE, 65504, D), MASK_NOT(M(3), M(2)), FILL(SCALAR, 655040),
        SELECT(SUM, M(3), SUM, 655040), NARROW(DST, SUM));
}
ADV_ROUTINE(lgamma, .body = lgamma_steps, .half_body = lgamma_of_half, .bytes = 32, .bytes_reuse = 28, .bytes_half = 52,
            .masks = 4)
