/* Sinh, Cosh, Tanh and their inverses, through Exp and Ln. */
#include "npu/adv/piece.h"

static const double ln2 = 0.69314718055994530941723212145818;

/* (e^2x - 1) / (e^2x + 1); beyond |x| = 8.8 the quotient is 1 in float. */
static void tanh_steps(const struct adv_piece *p)
{
    step_mins(p, T(0), SLOT_SRC, 8.8);
    step_maxs(p, T(0), T(0), -8.8);
    step_muls(p, T(0), T(0), 2);
    step_exp(p, T(0), T(0));
    step_adds(p, SLOT_DST, T(0), -1);
    step_adds(p, T(0), T(0), 1);
    step_div(p, SLOT_DST, SLOT_DST, T(0));
}
ADV_ROUTINE(tanh, .steps = tanh_steps, .bytes = 4, .bytes_half = 8, .convert = true)

/* e^(x - ln 2) - e^(-x - ln 2) */
static void sinh_steps(const struct adv_piece *p)
{
    step_muls(p, T(0), SLOT_SRC, -1);
    step_adds(p, T(0), T(0), -ln2);
    step_exp(p, T(0), T(0));
    step_adds(p, SLOT_DST, SLOT_SRC, -ln2);
    step_exp(p, SLOT_DST, SLOT_DST);
    step_sub(p, SLOT_DST, SLOT_DST, T(0));
}
ADV_ROUTINE(sinh, .steps = sinh_steps, .bytes = 4, .bytes_half = 8, .convert = true)

/* y + 1/4 / y with y = e^(x - ln 2) */
static void cosh_steps(const struct adv_piece *p)
{
    step_adds(p, T(1), SLOT_SRC, -ln2);
    step_exp(p, T(0), T(1));
    step_fill(p, SLOT_DST, 0.25);
    step_div(p, T(1), SLOT_DST, T(0));
    step_add(p, SLOT_DST, T(0), T(1));
}
ADV_ROUTINE(cosh, .steps = cosh_steps, .bytes = 8, .bytes_half = 12, .convert = true)

/* ln((1 + x) / (1 - x)) / 2 */
static void atanh_steps(const struct adv_piece *p)
{
    step_adds(p, T(0), SLOT_SRC, 1);
    step_muls(p, SLOT_DST, SLOT_SRC, -1);
    step_adds(p, SLOT_DST, SLOT_DST, 1);
    step_div(p, SLOT_DST, T(0), SLOT_DST);
    step_ln(p, SLOT_DST, SLOT_DST);
    step_muls(p, SLOT_DST, SLOT_DST, 0.5);
}
ADV_ROUTINE(atanh, .steps = atanh_steps, .bytes = 4, .bytes_half = 8, .convert = true)

/* ln(y) with y = x + sqrt(x^2 - 1); y * (y / y) makes an infinite y a NaN. */
static void acosh_steps(const struct adv_piece *p)
{
    step_mul(p, T(0), SLOT_SRC, SLOT_SRC);
    step_adds(p, T(0), T(0), -1);
    step_sqrt(p, T(0), T(0));
    step_add(p, T(0), SLOT_SRC, T(0));
    step_div(p, SLOT_DST, T(0), T(0));
    step_mul(p, T(0), T(0), SLOT_DST);
    step_ln(p, SLOT_DST, T(0));
}
ADV_ROUTINE(acosh, .steps = acosh_steps, .bytes = 4, .bytes_half = 8, .convert = true)

/* d = ln(|x| + sqrt(x^2 + 1)); a holds |x|. */
static void asinh_of_abs(const struct adv_piece *p, int d, int a)
{
    step_mul(p, d, a, a);
    step_adds(p, d, d, 1);
    step_sqrt(p, d, d);
    step_add(p, d, d, a);
    step_ln(p, d, d);
}
static void asinh_steps(const struct adv_piece *p)
{
    step_abs(p, T(0), SLOT_SRC);
    asinh_of_abs(p, T(2), T(0));
    steps_sign(p, T(0), SLOT_SRC, T(1));
    step_mul(p, SLOT_DST, T(2), T(0));
}
static void asinh_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC);
    step_abs(p, T(0), T(0));
    asinh_of_abs(p, T(2), T(0));
    step_widen(p, T(0), SLOT_SRC);
    steps_sign(p, T(0), T(0), T(1));
    step_mul(p, T(2), T(2), T(0));
    step_narrow(p, SLOT_DST, T(2));
}
ADV_ROUTINE(asinh, .steps = asinh_steps, .half = asinh_of_half, .bytes = 12, .bytes_half = 12)
