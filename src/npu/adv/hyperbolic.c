/* Sinh, Cosh, Tanh and their inverses, through Exp and Ln. */
#include "npu/adv/piece.h"

static const double ln2 = 0.69314718055994530941723212145818;

/* (e^2x - 1) / (e^2x + 1); beyond |x| = 8.8 the quotient is 1 in float. */
ADV_ROUTINE(tanh,
            .steps = STEPS(MINS(T(0), SRC, 8.8), MAXS(T(0), T(0), -8.8), MULS(T(0), T(0), 2), EXP(T(0), T(0)),
                           ADDS(DST, T(0), -1), ADDS(T(0), T(0), 1), DIV(DST, DST, T(0))),
            .bytes = 4, .bytes_half = 8, .convert = true)

/* e^(x - ln 2) - e^(-x - ln 2) */
ADV_ROUTINE(sinh,
            .steps = STEPS(MULS(T(0), SRC, -1), ADDS(T(0), T(0), -ln2), EXP(T(0), T(0)), ADDS(DST, SRC, -ln2),
                           EXP(DST, DST), SUB(DST, DST, T(0))),
            .bytes = 4, .bytes_half = 8, .convert = true)

/* y + 1/4 / y with y = e^(x - ln 2) */
ADV_ROUTINE(cosh,
            .steps = STEPS(ADDS(T(1), SRC, -ln2), EXP(T(0), T(1)), FILL(DST, 0.25), DIV(T(1), DST, T(0)),
                           ADD(DST, T(0), T(1))),
            .bytes = 8, .bytes_half = 12, .convert = true)

/* ln((1 + x) / (1 - x)) / 2 */
ADV_ROUTINE(atanh,
            .steps = STEPS(ADDS(T(0), SRC, 1), MULS(DST, SRC, -1), ADDS(DST, DST, 1), DIV(DST, T(0), DST), LN(DST, DST),
                           MULS(DST, DST, 0.5)),
            .bytes = 4, .bytes_half = 8, .convert = true)

/* ln(y) with y = x + sqrt(x^2 - 1); y * (y / y) makes an infinite y a NaN. */
ADV_ROUTINE(acosh,
            .steps = STEPS(MUL(T(0), SRC, SRC), ADDS(T(0), T(0), -1), SQRT(T(0), T(0)), ADD(T(0), SRC, T(0)),
                           DIV(DST, T(0), T(0)), MUL(T(0), T(0), DST), LN(DST, T(0))),
            .bytes = 4, .bytes_half = 8, .convert = true)

/* d = ln(|x| + sqrt(x^2 + 1)); a holds |x|. */
#define ASINH_OF_ABS(d, a) MUL(d, a, a), ADDS(d, d, 1), SQRT(d, d), ADD(d, d, a), LN(d, d)
static void asinh_steps(const struct adv_piece *p)
{
    RUN(p, ABS(T(0), SRC), ASINH_OF_ABS(T(2), T(0)));
    steps_sign(p, T(0), SRC, T(1));
    RUN(p, MUL(DST, T(2), T(0)));
}
static void asinh_of_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(0), SRC), ABS(T(0), T(0)), ASINH_OF_ABS(T(2), T(0)), WIDEN(T(0), SRC));
    steps_sign(p, T(0), T(0), T(1));
    RUN(p, MUL(T(2), T(2), T(0)), NARROW(DST, T(2)));
}
ADV_ROUTINE(asinh, .body = asinh_steps, .half_body = asinh_of_half, .bytes = 12, .bytes_half = 12)
