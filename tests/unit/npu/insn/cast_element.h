/* Cast's specification in long double: scale to the unit of the destination, round there in the mode, scale back. */
#ifndef TESTS_NPU_CAST_ELEMENT_H
#define TESTS_NPU_CAST_ELEMENT_H

#include "abi/dtype.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD, MODES };
/* To an integral value, from the definition of each mode. */
static long double integral(long double x, int mode)
{
    static const int rounding[MODES] = {[NONE] = FE_TONEAREST,
                                        [RINT] = FE_TONEAREST,
                                        [FLOOR] = FE_DOWNWARD,
                                        [CEIL] = FE_UPWARD,
                                        [TRUNC] = FE_TOWARDZERO};
    if (mode == ROUND)
        return roundl(x);
    if (mode == ODD) {
        long double t = truncl(x);
        return t == x || fmodl(t, 2) != 0 ? t : t + copysignl(1, x);
    }
    if (rounding[mode] == FE_TONEAREST)
        return nearbyintl(x);
    fesetround(rounding[mode]);
    volatile long double value = x;
    long double result = nearbyintl(value);
    fesetround(FE_TONEAREST);
    return result;
}

/* To a binary format with `digits` digits, smallest exponent `low` and largest value `max`. */
static long double to_format(long double x, int mode, int digits, int low, long double max)
{
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    int exponent;
    frexpl(x, &exponent); /* |x| is in [2^(exponent-1), 2^exponent) */
    int unit = (exponent > low ? exponent : low) - digits;
    long double y = ldexpl(integral(ldexpl(x, -unit), mode), unit);
    if (fabsl(y) <= max)
        return copysignl(y, x);
    bool to_max = mode == TRUNC || mode == ODD || (mode == FLOOR && x > 0) || (mode == CEIL && x < 0);
    return copysignl(to_max ? max : (long double)INFINITY, x);
}

static long double to_integer(long double x, int mode, long double low, long double high)
{
    if (isnan(x))
        return 0;
    long double y = isinf(x) ? x : integral(x, mode);
    return y < low ? low : y > high ? high : y;
}

/* What x of type src becomes in type dst; scale: SetDeqScale's, for int32 to half. */
static long double cast_element(uint8_t dst, uint8_t src, int mode, long double x, long double scale)
{
    if (mode == NONE)
        mode = RINT;
    if (src == AKGEN_INT32 && dst == AKGEN_FLOAT16) {
        x *= scale;
        mode = RINT;
    }
    switch (dst) {
    case AKGEN_FLOAT:
        if (src == AKGEN_FLOAT)
            return isfinite(x) ? integral(x, mode) + 0.0L : x; /* no -0 */
        return to_format(x, mode, 24, -125, 0x1.fffffep127L);
    case AKGEN_FLOAT16:
        return to_format(x, mode, 11, -13, 65504);
    case AKGEN_BF16:
        return to_format(x, mode, 8, -125, 0x1.fep127L);
    case AKGEN_INT4:
        return to_integer(x, mode, -8, 7);
    case AKGEN_INT8:
        return to_integer(x, mode, INT8_MIN, INT8_MAX);
    case AKGEN_UINT8:
        return to_integer(x, mode, 0, UINT8_MAX);
    case AKGEN_INT16:
        return to_integer(x, mode, INT16_MIN, INT16_MAX);
    case AKGEN_INT32:
        return to_integer(x, mode, INT32_MIN, INT32_MAX);
    default:
        return to_integer(x, mode, (long double)INT64_MIN, (long double)INT64_MAX);
    }
}

#endif
