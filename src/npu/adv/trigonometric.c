/* Sin, Cos, Tan: the argument less a multiple of pi, then a polynomial in its square.
 *
 * k = round(x / pi) is subtracted as k * pi with pi in pieces, each so short that its product with k is exact for
 * |x| up to 65504, the documented domain. */
#include "npu/adv/piece.h"

static const double pi_inverse = 0.3183098733425140380859375;
/* pi = 3.140625 + ... ; the fifth piece is used by Cos, and by Tan with a value of its own. */
static const double pi_pieces[] = {3.140625, 0.0009670257568359375, 6.2771141529083251953125e-7,
                                   1.21644916362129151821136474609375e-10};
static const double pi_fifth_cos = -1.0290623200529979163359041220560e-13;
static const double pi_fifth_tan = -1.0291767438275201129727065563201904296875e-13;
/* pi / 2 in two pieces. */
static const double half_pi = 1.57079637050628662109375, half_pi_rest = -0.00000004371139000189375;

/* d -= k * piece */
#define SUBTRACT(d, from, k, part, piece) MULS(part, k, piece), SUB(d, from, part)

/* d = (-1)^k * sin(x), x in [-pi/2, pi/2]; k and square are overwritten. (-1)^k = 4 * floor(k / 2) - 2 * k + 1. */
static void polynomial(const struct adv_piece *p, int d, int x, int k, int square)
{
    static const double c[] = {2.604926501e-6, -0.0001980894471, 0.008333049340, -0.1666665792, 1.0};
    RUN(p, MUL(square, x, x), MULS(d, k, 0.5), ROUND(d, d, FLOOR), MULS(d, d, 4), MULS(k, k, -2), ADD(d, d, k),
        ADDS(d, d, 1), HORNER(k, square, c), MUL(k, k, x), MUL(d, k, d));
}

void steps_sin(const struct adv_piece *p, int d, int x, int k, int part, int reduced)
{
    RUN(p, MULS(k, x, pi_inverse), ROUND(k, k, ROUND), SUBTRACT(reduced, x, k, part, pi_pieces[0]));
    for (int i = 1; i < 4; i++)
        RUN(p, SUBTRACT(reduced, reduced, k, part, pi_pieces[i]));
    polynomial(p, d, reduced, k, part);
}

/* cos(x) = (-1)^k * sin(x - k * pi + pi / 2) with k = round(x / pi + 1 / 2). */
void steps_cos(const struct adv_piece *p, int d, int x, int k, int part, int reduced)
{
    RUN(p, MULS(k, x, pi_inverse), ADDS(k, k, 0.5), ROUND(k, k, RINT), SUBTRACT(reduced, x, k, part, pi_pieces[0]),
        SUBTRACT(reduced, reduced, k, part, pi_pieces[1]), ADDS(reduced, reduced, half_pi),
        SUBTRACT(reduced, reduced, k, part, pi_pieces[2]), SUBTRACT(reduced, reduced, k, part, pi_pieces[3]),
        SUBTRACT(reduced, reduced, k, part, pi_fifth_cos), ADDS(reduced, reduced, half_pi_rest));
    polynomial(p, d, reduced, k, part);
    RUN(p, MINS(d, d, 1), MAXS(d, d, -1));
}

/* tan(x) = x * P(x^2) / ((pi/2 - x) * (pi/2 + x) * (x^2 - c)): the poles are factors of their own, in `above` and
 * `below`, which lose the same pieces of k * pi as x does. */
void steps_tan(const struct adv_piece *p, int d, int x, int k, int above, int below)
{
    static const double numerator[] = {0.0698520831551998762793, -6.8711573651634203789, 61.20362572811089435388};
    const double pole = -24.8048928861126769186219;
    RUN(p, MULS(k, x, pi_inverse), ROUND(k, k, RINT), SUBTRACT(x, x, k, d, pi_pieces[0]),
        SUBTRACT(x, x, k, d, pi_pieces[1]), ADDS(above, x, half_pi), ADDS(below, x, -half_pi));
    for (int i = 2; i < 5; i++) {
        RUN(p, SUBTRACT(x, x, k, d, i < 4 ? pi_pieces[i] : pi_fifth_tan), SUB(above, above, d), SUB(below, below, d));
        if (i == 2)
            RUN(p, ADDS(above, above, half_pi_rest), ADDS(below, below, -half_pi_rest));
    }
    RUN(p, MUL(k, x, x), HORNER(d, k, numerator), MUL(d, d, x), ADDS(k, k, pole), MUL(k, k, above), MUL(k, k, below),
        DIV(d, d, k));
}

static void sin_steps(const struct adv_piece *p)
{
    steps_sin(p, DST, SRC, T(0), T(1), p->reuse ? SRC : T(2));
}
ADV_ROUTINE(sin, .body = sin_steps, .bytes = 12, .bytes_reuse = 8, .bytes_half = 16, .convert = true)

static void cos_steps(const struct adv_piece *p)
{
    steps_cos(p, DST, SRC, T(0), T(1), p->reuse ? SRC : T(2));
}
ADV_ROUTINE(cos, .body = cos_steps, .bytes = 12, .bytes_reuse = 8, .bytes_half = 16, .convert = true)

static void tan_steps(const struct adv_piece *p)
{
    RUN(p, ADDS(T(3), SRC, 0));
    steps_tan(p, DST, T(3), T(0), T(1), T(2));
}
static void tan_of_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(3), SRC));
    steps_tan(p, T(4), T(3), T(0), T(1), T(2));
    RUN(p, NARROW(DST, T(4)));
}
ADV_ROUTINE(tan, .body = tan_steps, .half_body = tan_of_half, .bytes = 16, .bytes_half = 20)
