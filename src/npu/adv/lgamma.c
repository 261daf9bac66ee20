/* Lgamma, the logarithm of |gamma(x)|: polynomials in five ranges of |x|, and for negative x the reflection
 * ln(pi / (|sin(pi x)| * |x|)) - lgamma(|x|). Every element is computed in every way; masks add up what is right for
 * it. half is computed in float by Stirling's formula. */
#include "npu/adv/piece.h"

#include <math.h>

enum { A = T(0), B = T(1), C = T(2), D = T(3), POSITIVE = T(4), SIZE = T(5) };
static const double infinity = (double)INFINITY;
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void compare(const struct adv_piece *p, int mask, int x, int mode, double value, int t)
{
    step_fill(p, t, value);
    step_compare_slots(p, mask, x, mode, t);
}

/* d += mask ? x : 0 */
static void add_where(const struct adv_piece *p, int d, int x, int mask, int t)
{
    step_select(p, t, mask, x, 0);
    step_add(p, d, t, d);
}

/* d = x * (c[0] * x^(n-1) + ... + c[n-1]) */
static void series(const struct adv_piece *p, int d, int x, const double *c, int n)
{
    step_horner(p, d, x, c, n);
    step_mul(p, d, d, x);
}

/* float: |x| in SIZE, the result in A, B or C. */
static void below_07(const struct adv_piece *p)
{
    static const double c[] = {0.00358751555905, -0.00547128543258, -0.0446271263063, 0.167317703366,
                               -0.0421359799802, -0.655867278576,   0.577215373516};
    series(p, A, SIZE, c, COUNT(c));
    step_mul(p, A, A, SIZE);
    step_add(p, A, A, SIZE);
    step_ln(p, A, A);
    step_muls(p, A, A, -1);
}

static void below_15(const struct adv_piece *p)
{
    static const double c[] = {0.0458826646209, 0.103739671409, 0.122803635895, 0.127524212003,
                               0.143216684461,  0.169343575835, 0.207407936454, 0.27058750391,
                               0.400685429573,  0.82246696949,  0.577215671539};
    step_muls(p, A, SIZE, -1);
    step_adds(p, A, A, 1);
    series(p, B, A, c, COUNT(c));
}

static void below_3(const struct adv_piece *p)
{
    static const double c[] = {4.95984932058e-05, -0.000220894842641, 0.000541314249858, -0.00120451697148,
                               0.00288425176404,  -0.00738275796175,  0.0205813199282,   -0.067352488637,
                               0.322467029095,    0.422784328461};
    step_adds(p, A, SIZE, -2);
    series(p, B, A, c, COUNT(c));
}

static void below_58(const struct adv_piece *p)
{
    static const double numerator[] = {-748.890319824, -12349.7421875, -41061.375, -48310.6640625};
    static const double denominator[] = {-259.250976562, -10777.1796875, -92685.046875};
    step_adds(p, A, SIZE, -3);
    series(p, B, A, numerator, COUNT(numerator));
    step_adds(p, B, B, -143033.40625);
    series(p, C, A, denominator, COUNT(denominator));
    step_adds(p, C, C, -206353.578125);
    step_div(p, C, B, C);
    step_add(p, C, C, A);
}

/* (x - 1/2) * ln x - x + ln(2 pi) / 2 + 1/(12 x) ...; (x - 1/2) * ln x is added in halves, against overflow. */
static void above_58(const struct adv_piece *p)
{
    static const double c[] = {0.000777830660809, -0.00277765537612};
    step_ln(p, A, SIZE);
    step_muls(p, A, A, 0.5);
    step_adds(p, B, SIZE, -0.5);
    step_mul(p, B, B, A);
    step_reciprocal(p, C, SIZE);
    step_mul(p, D, C, C);
    series(p, A, D, c, COUNT(c));
    step_adds(p, A, A, 0.0833332762122);
    step_mul(p, A, A, C);
    step_adds(p, A, A, 0.91893851757);
    step_add(p, A, A, B);
    step_add(p, A, A, B);
    step_sub(p, A, A, SIZE);
}

static void in_range(const struct adv_piece *p, double low, double high)
{
    compare(p, M(0), SIZE, COMPARE_LT, high, A);
    compare(p, M(1), SIZE, COMPARE_GE, low, A);
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
}

/* POSITIVE = lgamma(|x|) */
static void of_positive(const struct adv_piece *p)
{
    static const struct {
        double low, high;
        adv_steps *steps;
        int result;
    } ranges[] = {{0.7, 1.5, below_15, B}, {1.5, 3, below_3, B}, {3, 5.8, below_58, C}, {5.8, infinity, above_58, A}};
    step_fill(p, POSITIVE, 0);
    compare(p, M(0), SIZE, COMPARE_LT, 0.7, A);
    below_07(p);
    add_where(p, POSITIVE, A, M(0), A);
    for (int i = 0; i < COUNT(ranges); i++) {
        in_range(p, ranges[i].low, ranges[i].high);
        ranges[i].steps(p);
        add_where(p, POSITIVE, ranges[i].result, M(0), A);
    }
    compare(p, M(0), SIZE, COMPARE_GE, infinity, A);
    add_where(p, POSITIVE, SIZE, M(0), A);
}

/* B = sin(pi * |x|) up to its sign: |x| less the nearest multiple k of 1/2, then a sine or a cosine by k's parity. */
static void sine(const struct adv_piece *p)
{
    static const double even[] = {-0.000195746586541645228862762451171875, 0.0083327032625675201416015625,
                                  -0.16666662693023681640625};
    static const double odd[] = {0.00002427957952022552490234375, -0.001388786011375486850738525390625,
                                 0.0416667275130748748779296875, -0.4999999701976776123046875};
    step_add(p, B, SIZE, SIZE);
    step_adds(p, B, B, 0.5);
    step_round(p, B, B, ROUND_FLOOR);
    step_muls(p, C, B, 0.5);
    step_round(p, C, C, ROUND_FLOOR);
    step_muls(p, C, C, 2);
    step_sub(p, C, B, C);
    compare(p, M(0), C, COMPARE_GE, 0.5, A);
    step_mask(p, NPU_OP_NOT, M(1), M(0), M(0));
    step_muls(p, B, B, -0.5);
    step_add(p, B, B, SIZE);
    step_muls(p, B, B, 3.1415927410125732421875);
    step_mul(p, C, B, B);
    series(p, A, C, even, COUNT(even));
    step_mul(p, A, A, B);
    step_add(p, A, A, B);
    step_fill(p, B, 0);
    add_where(p, B, A, M(1), A);
    series(p, A, C, odd, COUNT(odd));
    step_adds(p, A, A, 1);
    add_where(p, B, A, M(0), A);
}

/* D = lgamma(-|x|): -ln |x| for tiny |x|, the reflection else, infinity for integers. */
static void of_negative(const struct adv_piece *p)
{
    const double tiny = 9.99999968266e-20, ln_pi = 1.1447298526763916015625;
    step_fill(p, D, 0);
    compare(p, M(0), SIZE, COMPARE_LT, tiny, A);
    step_ln(p, A, SIZE);
    step_muls(p, A, A, -1);
    add_where(p, D, A, M(0), A);
    sine(p);
    step_abs(p, A, B);
    step_mul(p, C, A, SIZE);
    step_ln(p, A, C);
    step_muls(p, A, A, -1);
    step_adds(p, A, A, ln_pi);
    step_muls(p, B, POSITIVE, -1);
    step_add(p, B, A, B);
    /* M(0): no integer, finite, not tiny. */
    step_round(p, A, SIZE, ROUND_FLOOR);
    step_compare_slots(p, M(0), A, COMPARE_NE, SIZE);
    compare(p, M(1), C, COMPARE_LT, infinity, A);
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
    compare(p, M(1), SIZE, COMPARE_GE, tiny, A);
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
    add_where(p, D, B, M(0), A);
    step_mask(p, NPU_OP_NOT, M(1), M(0), M(0));
    compare(p, M(0), SIZE, COMPARE_GE, tiny, A);
    step_mask(p, NPU_OP_AND, M(1), M(1), M(0));
    step_fill(p, B, infinity);
    add_where(p, D, B, M(1), A);
}

static void lgamma_steps(const struct adv_piece *p)
{
    int zero = p->reuse ? SLOT_SRC : T(6);
    compare(p, M(2), SLOT_SRC, COMPARE_GE, 0, A);
    compare(p, M(3), SLOT_SRC, COMPARE_LT, 0, A);
    step_abs(p, SIZE, SLOT_SRC);
    step_fill(p, zero, 0); /* where CMPMASK takes the scalar of the selections from */
    of_positive(p);
    step_fill(p, SLOT_DST, 0);
    add_where(p, SLOT_DST, POSITIVE, M(2), A);
    of_negative(p);
    add_where(p, SLOT_DST, D, M(3), A);
    /* Neither: a NaN. */
    step_mask(p, NPU_OP_NOT, M(0), M(2), M(2));
    step_mask(p, NPU_OP_NOT, M(1), M(3), M(3));
    step_mask(p, NPU_OP_AND, M(0), M(1), M(0));
    add_where(p, SLOT_DST, SIZE, M(0), A);
}

/* half. */
static const double pi = 3.14159265358979323846264338327950288;

/* d = y * (ln(y + 1 / (12 y - 1/(10 y))) - 1) + ln(2 pi / y) / 2 with y = x + 4, less ln of x, x + 1, x + 2, x + 3;
 * t and the three slots behind it are overwritten. */
static void stirling(const struct adv_piece *p, int d, int x, int t)
{
    step_adds(p, t, x, 4);
    step_fill(p, d, 1);
    step_div(p, d, d, t);
    step_muls(p, t + 1, d, pi);
    step_muls(p, t + 1, t + 1, 2);
    step_ln(p, t + 1, t + 1);
    step_muls(p, t + 1, t + 1, 0.5);
    step_muls(p, t + 2, d, -0.1F);
    step_muls(p, t + 3, t, 12);
    step_add(p, t + 3, t + 3, t + 2);
    step_fill(p, d, 1);
    step_div(p, t + 3, d, t + 3);
    step_add(p, t + 3, t + 3, t);
    step_ln(p, t + 3, t + 3);
    step_adds(p, t + 3, t + 3, -1);
    step_mul(p, t + 3, t + 3, t);
    step_add(p, d, t + 3, t + 1);
    step_ln(p, t + 2, x);
    for (int i = 1; i < 4; i++) {
        step_adds(p, t + 1, x, i);
        step_ln(p, t + 1, t + 1);
        step_add(p, t + 2, t + 2, t + 1);
    }
    step_sub(p, d, d, t + 2);
}

/* d = ln(pi / |sin(pi x)|) - lgamma(1 - x); six slots from T(6) on are overwritten. */
static void reflection(const struct adv_piece *p, int d, int x)
{
    enum { E = T(6), F = T(7), G = T(8), H = T(9), I = T(10) };
    step_muls(p, E, x, -1);
    step_adds(p, E, E, 1);
    stirling(p, d, E, G);
    step_muls(p, d, d, -1);
    step_round(p, E, x, ROUND_FLOOR);
    step_sub(p, E, x, E);
    step_muls(p, E, E, pi);
    steps_sin(p, F, E, G, H, I);
    step_abs(p, F, F);
    step_fill(p, G, pi);
    step_div(p, F, G, F);
    step_ln(p, F, F);
    step_add(p, d, d, F);
}

static void lgamma_of_half(const struct adv_piece *p)
{
    enum { SUM = T(0), X = T(1), PLUS = T(2), MINUS = T(3), E = T(4), SCALAR = T(5) };
    step_fill(p, SUM, 0);
    step_widen(p, X, SLOT_SRC);
    step_fill(p, SCALAR, 0);
    stirling(p, PLUS, X, T(6));
    compare(p, M(0), X, COMPARE_GE, 0, E);
    add_where(p, SUM, PLUS, M(0), E);
    reflection(p, MINUS, X);
    compare(p, M(1), X, COMPARE_LT, 0, E);
    add_where(p, SUM, MINUS, M(1), E);
    /* Neither: a NaN. */
    step_mask(p, NPU_OP_NOT, M(2), M(0), M(0));
    step_mask(p, NPU_OP_NOT, M(3), M(1), M(1));
    step_mask(p, NPU_OP_AND, M(2), M(2), M(3));
    add_where(p, SUM, X, M(2), D);
    /* More than half can hold for the largest arguments, +-65504 and infinity. */
    step_abs(p, X, X);
    compare(p, M(2), X, COMPARE_GE, 65504, D);
    step_mask(p, NPU_OP_NOT, M(3), M(2), M(2));
    step_fill(p, SCALAR, 655040);
    step_select(p, SUM, M(3), SUM, 655040);
    step_narrow(p, SLOT_DST, SUM);
}
ADV_ROUTINE(lgamma, .steps = lgamma_steps, .half = lgamma_of_half, .bytes = 32, .bytes_reuse = 28, .bytes_half = 52,
            .masks = 4)
