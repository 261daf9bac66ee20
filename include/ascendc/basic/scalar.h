/* What the scalar unit computes itself: conversions, bit counts, square roots. */
#ifndef ASCENDC_SCALAR_H
#define ASCENDC_SCALAR_H

#include "basic/vector_cast.h"

/* What CANN's compiler provides for scalars (__clang_cce_aicore_functions.h, CANN 8.1), one type at a time; no
 * templates, so that a kernel's own are free to be. Roots of integers are rounded down. */
AKGEN_API float sqrt(float value)
{
    return __builtin_sqrtf(value);
}
AKGEN_API half sqrt(half value)
{
    return half(__builtin_sqrtf(float(value)));
}
namespace akgen
{
AKGEN_API int64_t root(int64_t value)
{
    int64_t guess = int64_t(__builtin_sqrt(double(value)));
    guess -= guess > 0 && guess > value / guess; /* the double may have been rounded up */
    return guess;
}
} // namespace akgen
#define AKGEN_SCALAR_ROOT(type)                                                                                        \
    AKGEN_API int64_t sqrt(type value)                                                                                 \
    {                                                                                                                  \
        return akgen::root(value);                                                                                     \
    }
AKGEN_SCALAR_ROOT(long long)
AKGEN_SCALAR_ROOT(long)
AKGEN_SCALAR_ROOT(int)
AKGEN_SCALAR_ROOT(short)
AKGEN_SCALAR_ROOT(char)
#undef AKGEN_SCALAR_ROOT

#define AKGEN_SCALAR_ABS(type)                                                                                         \
    AKGEN_API constexpr type abs(type value)                                                                           \
    {                                                                                                                  \
        return value < 0 ? static_cast<type>(-value) : value;                                                          \
    }
AKGEN_SCALAR_ABS(long long)
AKGEN_SCALAR_ABS(long)
AKGEN_SCALAR_ABS(int)
AKGEN_SCALAR_ABS(short)
AKGEN_SCALAR_ABS(char)
#undef AKGEN_SCALAR_ABS
AKGEN_API float abs(float value)
{
    return __builtin_fabsf(value);
}

#define AKGEN_MIN_MAX(type)                                                                                            \
    AKGEN_API constexpr type min(type a, type b)                                                                       \
    {                                                                                                                  \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    AKGEN_API constexpr type max(type a, type b)                                                                       \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }
AKGEN_MIN_MAX(long long)
AKGEN_MIN_MAX(long)
AKGEN_MIN_MAX(int)
AKGEN_MIN_MAX(short)
AKGEN_MIN_MAX(char)
AKGEN_MIN_MAX(unsigned long long)
AKGEN_MIN_MAX(unsigned long)
AKGEN_MIN_MAX(unsigned int)
AKGEN_MIN_MAX(unsigned short)
AKGEN_MIN_MAX(unsigned char)
AKGEN_MIN_MAX(float)
AKGEN_MIN_MAX(half)
#undef AKGEN_MIN_MAX

namespace AscendC
{

/* The value's bits as another type; CANN leaves the upper bits of a wider one open, here they are 0. */
template <typename T, typename U> AKGEN_API U GetScalarBitcodeValue(T scalarValue)
{
    return akgen::from_bits<U>(akgen::bits_of<T>(scalarValue));
}
template <typename T> AKGEN_API uint64_t GetScalarBitcodeValue(T scalarValue)
{
    return akgen::bits_of<T>(scalarValue);
}
template <typename T> AKGEN_API half GetScalarBitcodeToHalf(T scalarValue)
{
    return GetScalarBitcodeValue<T, half>(scalarValue);
}

AKGEN_API constexpr uint32_t DivCeil(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}
/* Of two numbers; with tensors Ceil rounds elements (adv/elementwise.h). */
AKGEN_API uint32_t Ceil(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}
AKGEN_API constexpr uint32_t AlignUp(uint32_t a, uint32_t b)
{
    return DivCeil(a, b) * b;
}

/* Bits of `valueIn` that are countValue. */
template <int countValue> AKGEN_API int64_t ScalarGetCountOfValue(uint64_t valueIn)
{
    static_assert(countValue == 0 || countValue == 1, "ScalarGetCountOfValue counts zeros or ones");
    return __builtin_popcountll(countValue ? valueIn : ~valueIn);
}
template <int countValue> AKGEN_API int64_t GetBitCount(uint64_t valueIn)
{
    return ScalarGetCountOfValue<countValue>(valueIn);
}
AKGEN_API int64_t ScalarCountLeadingZero(uint64_t valueIn)
{
    return valueIn ? __builtin_clzll(valueIn) : 64;
}
AKGEN_API int64_t CountLeadingZero(uint64_t valueIn)
{
    return ScalarCountLeadingZero(valueIn);
}
/* Bits below the sign bit that equal it; -1 for 0 and -1, as documented. */
AKGEN_API int64_t CountBitsCntSameAsSignBit(int64_t valueIn)
{
    return valueIn == 0 || valueIn == -1 ? -1 : __builtin_clrsbll(valueIn);
}
/* Position of the lowest bit that is countValue; -1 if there is none. */
template <int countValue> AKGEN_API int64_t ScalarGetSFFValue(uint64_t valueIn)
{
    static_assert(countValue == 0 || countValue == 1, "ScalarGetSFFValue looks for a zero or a one");
    return __builtin_ffsll((long long)(countValue ? valueIn : ~valueIn)) - 1;
}
template <int countValue> AKGEN_API int64_t GetSFFValue(uint64_t valueIn)
{
    return ScalarGetSFFValue<countValue>(valueIn);
}

} // namespace AscendC

namespace akgen
{
template <AscendC::RoundMode mode> AKGEN_API float rounded(float value)
{
    using AscendC::RoundMode;
    if constexpr (mode == RoundMode::CAST_FLOOR)
        return __builtin_floorf(value);
    else if constexpr (mode == RoundMode::CAST_CEIL)
        return __builtin_ceilf(value);
    else if constexpr (mode == RoundMode::CAST_ROUND)
        return __builtin_roundf(value);
    else if constexpr (mode == RoundMode::CAST_TRUNC)
        return __builtin_truncf(value);
    else
        return __builtin_rintf(value);
}
} // namespace akgen

namespace AscendC
{
/* Scalar conversions of NPU_ARCH 2201: float to half (CAST_ODD), float to int32 and half to int32. */
template <typename T, typename U, RoundMode roundMode> AKGEN_API U ScalarCast(T valueIn)
{
    static_assert(
        std::is_same_v<T, float> && (std::is_same_v<U, half> || std::is_same_v<U, int32_t>),
        "ScalarCast: this pair of data types is not supported on Ascend910B; supported: float to half | int32_t");
    if constexpr (std::is_same_v<U, int32_t>) {
        float whole = akgen::rounded<roundMode>(valueIn);
        return whole >= 2147483648.0f ? INT32_MAX : whole < -2147483648.0f ? INT32_MIN : int32_t(whole);
    } else {
        static_assert(roundMode == RoundMode::CAST_ODD, "ScalarCast: float to half rounds to odd (CAST_ODD)");
        half nearest = half(valueIn);
        uint16_t bits = __builtin_bit_cast(uint16_t, nearest);
        if (float(nearest) == valueIn || valueIn != valueIn || (bits & 1))
            return nearest;
        bool away = __builtin_fabsf(float(nearest)) > __builtin_fabsf(valueIn);
        return __builtin_bit_cast(half, uint16_t(away ? bits - 1 : bits + 1));
    }
}
} // namespace AscendC

#endif
