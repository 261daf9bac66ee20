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
    RUN(p, MULS(d, x, half ? 0x1p15 : 0x1p62), ABS(t, d), ADDS(t, t, half ? 0x1p-15 : 0x1p-62), DIV(d, d, t));
}

/* d = asin x by the polynomial. */
static void asin_of(const struct adv_piece *p, int d, int x, int square)
{
    RUN(p, MUL(d, x, x), MUL(square, x, x), MULS(d, d, asin_taylor[0]));
    for (int i = 1; i < TAYLOR - 1; i++)
        RUN(p, ADDS(d, d, asin_taylor[i]), MUL(d, d, square));
    RUN(p, ADDS(d, d, 1), MUL(d, d, x));
}

/* d = asin(sqrt(square)); square becomes its root. */
static void asin_of_root(const struct adv_piece *p, int d, int square)
{
    RUN(p, MULS(d, square, 1), MULS(d, d, asin_taylor[0]));
    for (int i = 1; i < TAYLOR - 1; i++)
        RUN(p, ADDS(d, d, asin_taylor[i]), MUL(d, d, square));
    RUN(p, ADDS(d, d, 1), SQRT(square, square), MUL(d, d, square));
}

/* d = 1 - x^2 */
#define ONE_MINUS_SQUARE(d, x) MUL(d, x, x), MULS(d, d, -1), ADDS(d, d, 1)

static void asin_steps(const struct adv_piece *p)
{
    enum { NEAR = DST, SIZE = T(0), FAR = T(1) };
    RUN(p, ONE_MINUS_SQUARE(FAR, SRC), SQRT(DST, FAR));
    asin_of(p, FAR, DST, T(0)); /* acos |x| */
    RUN(p, MULS(FAR, FAR, -1), ADDS(FAR, FAR, half_pi), MUL(SIZE, SRC, SRC));
    asin_of_root(p, NEAR, SIZE);
    /* floor(min(|x|, boundary) - boundary): -1 below the boundary, else 0. */
    RUN(p, MINS(SIZE, SIZE, boundary), ADDS(SIZE, SIZE, -boundary), CAST(SIZE, INT32, SIZE, FLOAT, FLOOR),
        CAST(SIZE, FLOAT, SIZE, INT32, NONE), MULS(SIZE, SIZE, -1), MUL(NEAR, NEAR, SIZE), MULS(SIZE, SIZE, -1),
        ADDS(SIZE, SIZE, 1), MUL(FAR, FAR, SIZE), ADD(DST, NEAR, FAR));
    steps_sign(p, FAR, SRC, T(0));
    RUN(p, MUL(DST, DST, FAR));
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
    RUN(p, WIDEN(WIDE, SRC), ONE_MINUS_SQUARE(WIDE, WIDE));
    asin_of_root(p, FAR, WIDE);
    RUN(p, MULS(FAR, FAR, -1), ADDS(FAR, FAR, half_pi));
    RUN(&h, ABS(SIZE, SRC));
    asin_of(&h, DST, SIZE, SQUARE);
    RUN(&h, MINS(SIZE, SIZE, boundary), ADDS(SIZE, SIZE, -boundary), CAST(SQUARE, INT8, SIZE, FLOAT16, FLOOR),
        CAST(SIZE, FLOAT16, SQUARE, INT8, NONE), MULS(SIZE, SIZE, -1), MUL(DST, DST, SIZE), MULS(SIZE, SIZE, -1),
        ADDS(SIZE, SIZE, 1), CAST(WIDE, FLOAT, SIZE, FLOAT16, NONE));
    RUN(p, MUL(FAR, FAR, WIDE), WIDEN(WIDE, DST), ADD(FAR, WIDE, FAR));
    steps_sign(&h, SQUARE, SRC, SIZE);
    RUN(&h, WIDEN(WIDE, SQUARE));
    RUN(p, MUL(FAR, FAR, WIDE));
}
static void asin_of_half(const struct adv_piece *p)
{
    asin_in_half(p);
    RUN(p, NARROW(DST, T(0)));
}
ADV_ROUTINE(asin, .body = asin_steps, .half_body = asin_of_half, .bytes = 16, .bytes_half = 12)

static void acos_steps(const struct adv_piece *p)
{
    asin_steps(p);
    RUN(p, ADDS(DST, DST, -half_pi), MULS(DST, DST, -1));
}
static void acos_of_half(const struct adv_piece *p)
{
    asin_of_half(p);
    RUN(p, ADDS(T(0), T(0), -half_pi), MULS(T(0), T(0), -1), NARROW(DST, T(0)));
}
ADV_ROUTINE(acos, .body = acos_steps, .half_body = acos_of_half, .bytes = 16, .bytes_half = 12)

/* d = atan x = x - x^3 / 3 + ..., `terms` of them after the first. */
static void atan_taylor(const struct adv_piece *p, int d, int x, int square, int terms)
{
    RUN(p, MUL(square, x, x), MUL(d, x, x));
    for (int i = terms; i > 0; i--) {
        double c = (i % 2 ? -1.0 : 1.0) / (2 * i + 1);
        if (i == terms)
            RUN(p, MULS(d, d, c));
        else
            RUN(p, ADDS(d, d, c), MUL(d, d, square));
    }
    RUN(p, ADDS(d, d, 1), MUL(d, d, x));
}

/* d = |(x - c) / (1 + c * x)|: atan x = atan c + atan of this. */
#define ATAN_SHIFT(d, x, t, c) MULS(d, x, c), ADDS(d, d, 1), ADDS(t, x, -(c)), DIV(d, t, d), ABS(d, d)

/* atan |x| is the least of four estimates, around 0, pi/8, pi/4 and 3 pi/8: each is too large where it is wrong. */
static void atan_steps(const struct adv_piece *p)
{
    enum { A = T(0), CLIP = T(1), SIZE = T(2), B = T(3), SQUARE = T(4) };
    const double tan_pi_8 = 0.4142135623730950, pi_4 = half_pi / 2, pi_8 = half_pi / 4;
    RUN(p, MINS(CLIP, SRC, 10000), MAXS(CLIP, CLIP, -10000), ABS(SIZE, CLIP));
    atan_taylor(p, DST, SIZE, SQUARE, 4);
    RUN(p, ATAN_SHIFT(A, SIZE, B, tan_pi_8));
    atan_taylor(p, B, A, SQUARE, 4);
    RUN(p, ADDS(B, B, pi_8), MIN(DST, DST, B), ADDS(B, SIZE, 1), ADDS(A, SIZE, -1), DIV(A, A, B), ABS(A, A));
    atan_taylor(p, B, A, SQUARE, 4);
    RUN(p, ADDS(B, B, pi_4), MIN(DST, DST, B), ATAN_SHIFT(B, A, SQUARE, tan_pi_8));
    atan_taylor(p, A, B, SQUARE, 6);
    RUN(p, ADDS(A, A, pi_8), ADDS(A, A, pi_4), MIN(DST, DST, A));
    steps_sign(p, A, CLIP, B);
    RUN(p, MUL(DST, DST, A));
}
ADV_ROUTINE(atan, .body = atan_steps, .bytes = 20, .bytes_half = 24, .convert = true)
