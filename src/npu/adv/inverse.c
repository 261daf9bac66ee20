/* Asin, Acos, Atan: Taylor polynomials around several points, of which each element takes the one that is right for
 * it. There is no branch: all are computed, and arithmetic chooses. */
#include "npu/adv/piece.h"

static const double half_pi = 1.5707963267948966192313216916398;
/* 1 / sqrt(2): below it asin x comes from x, above from sqrt(1 - x^2). */
static const double boundary = 0.70710678118654752440084436210485;
/* asin x = x + x^3 / 6 + ...: coefficients of x^15 down to x. */
static const double asin_taylor[] = {0.01396484375,
                                     0.01735276442307692307692307692308,
                                     0.02237215909090909090909090909091,
                                     0.03038194444444444444444444444444,
                                     0.04464285714285714285714285714286,
                                     0.075,
                                     0.16666666666666666666666666666667,
                                     1.0};
enum { TAYLOR = sizeof asin_taylor / sizeof *asin_taylor };

void steps_sign(const struct adv_piece *p, int d, int x, int t)
{
    bool half = p->type == AKGEN_FLOAT16;
    step_muls(p, d, x, half ? 0x1p15 : 0x1p62);
    step_abs(p, t, d);
    step_adds(p, t, t, half ? 0x1p-15 : 0x1p-62);
    step_div(p, d, d, t);
}

/* d = asin x by the polynomial. */
static void asin_of(const struct adv_piece *p, int d, int x, int square)
{
    step_mul(p, d, x, x);
    step_mul(p, square, x, x);
    step_muls(p, d, d, asin_taylor[0]);
    for (int i = 1; i < TAYLOR - 1; i++) {
        step_adds(p, d, d, asin_taylor[i]);
        step_mul(p, d, d, square);
    }
    step_adds(p, d, d, 1);
    step_mul(p, d, d, x);
}

/* d = asin(sqrt(square)); square becomes its root. */
static void asin_of_root(const struct adv_piece *p, int d, int square)
{
    step_muls(p, d, square, 1);
    step_muls(p, d, d, asin_taylor[0]);
    for (int i = 1; i < TAYLOR - 1; i++) {
        step_adds(p, d, d, asin_taylor[i]);
        step_mul(p, d, d, square);
    }
    step_adds(p, d, d, 1);
    step_sqrt(p, square, square);
    step_mul(p, d, d, square);
}

/* d = 1 - x^2 */
static void one_minus_square(const struct adv_piece *p, int d, int x)
{
    step_mul(p, d, x, x);
    step_muls(p, d, d, -1);
    step_adds(p, d, d, 1);
}

static void asin_steps(const struct adv_piece *p)
{
    enum { NEAR = SLOT_DST, SIZE = T(0), FAR = T(1) };
    one_minus_square(p, FAR, SLOT_SRC);
    step_sqrt(p, SLOT_DST, FAR);
    asin_of(p, FAR, SLOT_DST, T(0)); /* acos |x| */
    step_muls(p, FAR, FAR, -1);
    step_adds(p, FAR, FAR, half_pi);
    step_mul(p, SIZE, SLOT_SRC, SLOT_SRC);
    asin_of_root(p, NEAR, SIZE);
    /* floor(min(|x|, boundary) - boundary): -1 below the boundary, else 0. */
    step_mins(p, SIZE, SIZE, boundary);
    step_adds(p, SIZE, SIZE, -boundary);
    step_cast(p, SIZE, AKGEN_INT32, SIZE, AKGEN_FLOAT, ROUND_FLOOR);
    step_cast(p, SIZE, AKGEN_FLOAT, SIZE, AKGEN_INT32, ROUND_NONE);
    step_muls(p, SIZE, SIZE, -1);
    step_mul(p, NEAR, NEAR, SIZE);
    step_muls(p, SIZE, SIZE, -1);
    step_adds(p, SIZE, SIZE, 1);
    step_mul(p, FAR, FAR, SIZE);
    step_add(p, SLOT_DST, NEAR, FAR);
    steps_sign(p, FAR, SLOT_SRC, T(0));
    step_mul(p, SLOT_DST, SLOT_DST, FAR);
}

/* T(0) = asin x in float; near 0 it is computed in half. T(2) is the place of two tensors of half. */
static void asin_in_half(const struct adv_piece *p)
{
    enum { FAR = T(0), WIDE = T(1), SQUARE = T(2), SIZE = T(3) };
    struct adv_piece h = *p;
    uint32_t bytes = p->slot[T(2)].bytes / 2;
    h.type = AKGEN_FLOAT16;
    h.slot[SIZE] = h.slot[SQUARE];
    h.slot[SIZE].addr += bytes;
    h.slot[SQUARE].bytes = h.slot[SIZE].bytes = bytes;
    step_widen(p, WIDE, SLOT_SRC);
    one_minus_square(p, WIDE, WIDE);
    asin_of_root(p, FAR, WIDE);
    step_muls(p, FAR, FAR, -1);
    step_adds(p, FAR, FAR, half_pi);
    step_abs(&h, SIZE, SLOT_SRC);
    asin_of(&h, SLOT_DST, SIZE, SQUARE);
    step_mins(&h, SIZE, SIZE, boundary);
    step_adds(&h, SIZE, SIZE, -boundary);
    step_cast(&h, SQUARE, AKGEN_INT8, SIZE, AKGEN_FLOAT16, ROUND_FLOOR);
    step_cast(&h, SIZE, AKGEN_FLOAT16, SQUARE, AKGEN_INT8, ROUND_NONE);
    step_muls(&h, SIZE, SIZE, -1);
    step_mul(&h, SLOT_DST, SLOT_DST, SIZE);
    step_muls(&h, SIZE, SIZE, -1);
    step_adds(&h, SIZE, SIZE, 1);
    step_cast(&h, WIDE, AKGEN_FLOAT, SIZE, AKGEN_FLOAT16, ROUND_NONE);
    step_mul(p, FAR, FAR, WIDE);
    step_widen(p, WIDE, SLOT_DST);
    step_add(p, FAR, WIDE, FAR);
    steps_sign(&h, SQUARE, SLOT_SRC, SIZE);
    step_widen(&h, WIDE, SQUARE);
    step_mul(p, FAR, FAR, WIDE);
}
static void asin_of_half(const struct adv_piece *p)
{
    asin_in_half(p);
    step_narrow(p, SLOT_DST, T(0));
}
ADV_ROUTINE(asin, .steps = asin_steps, .half = asin_of_half, .bytes = 16, .bytes_half = 12)

static void acos_steps(const struct adv_piece *p)
{
    asin_steps(p);
    step_adds(p, SLOT_DST, SLOT_DST, -half_pi);
    step_muls(p, SLOT_DST, SLOT_DST, -1);
}
static void acos_of_half(const struct adv_piece *p)
{
    asin_of_half(p);
    step_adds(p, T(0), T(0), -half_pi);
    step_muls(p, T(0), T(0), -1);
    step_narrow(p, SLOT_DST, T(0));
}
ADV_ROUTINE(acos, .steps = acos_steps, .half = acos_of_half, .bytes = 16, .bytes_half = 12)

/* d = atan x = x - x^3 / 3 + ..., `terms` of them after the first. */
static void atan_taylor(const struct adv_piece *p, int d, int x, int square, int terms)
{
    step_mul(p, square, x, x);
    step_mul(p, d, x, x);
    for (int i = terms; i > 0; i--) {
        double c = (i % 2 ? -1.0 : 1.0) / (2 * i + 1);
        if (i == terms) {
            step_muls(p, d, d, c);
            continue;
        }
        step_adds(p, d, d, c);
        step_mul(p, d, d, square);
    }
    step_adds(p, d, d, 1);
    step_mul(p, d, d, x);
}

/* d = |(x - c) / (1 + c * x)|: atan x = atan c + atan of this. */
static void atan_shift(const struct adv_piece *p, int d, int x, int t, double c)
{
    step_muls(p, d, x, c);
    step_adds(p, d, d, 1);
    step_adds(p, t, x, -c);
    step_div(p, d, t, d);
    step_abs(p, d, d);
}

/* atan |x| is the least of four estimates, around 0, pi/8, pi/4 and 3 pi/8: each is too large where it is wrong. */
static void atan_steps(const struct adv_piece *p)
{
    enum { A = T(0), CLIP = T(1), SIZE = T(2), B = T(3), SQUARE = T(4) };
    const double tan_pi_8 = 0.4142135623730950, pi_4 = half_pi / 2, pi_8 = half_pi / 4;
    step_mins(p, CLIP, SLOT_SRC, 10000);
    step_maxs(p, CLIP, CLIP, -10000);
    step_abs(p, SIZE, CLIP);
    atan_taylor(p, SLOT_DST, SIZE, SQUARE, 4);
    atan_shift(p, A, SIZE, B, tan_pi_8);
    atan_taylor(p, B, A, SQUARE, 4);
    step_adds(p, B, B, pi_8);
    step_min(p, SLOT_DST, SLOT_DST, B);
    step_adds(p, B, SIZE, 1);
    step_adds(p, A, SIZE, -1);
    step_div(p, A, A, B);
    step_abs(p, A, A);
    atan_taylor(p, B, A, SQUARE, 4);
    step_adds(p, B, B, pi_4);
    step_min(p, SLOT_DST, SLOT_DST, B);
    atan_shift(p, B, A, SQUARE, tan_pi_8);
    atan_taylor(p, A, B, SQUARE, 6);
    step_adds(p, A, A, pi_8);
    step_adds(p, A, A, pi_4);
    step_min(p, SLOT_DST, SLOT_DST, A);
    steps_sign(p, A, CLIP, B);
    step_mul(p, SLOT_DST, SLOT_DST, A);
}
ADV_ROUTINE(atan, .steps = atan_steps, .bytes = 20, .bytes_half = 24, .convert = true)
