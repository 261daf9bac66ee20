/* NumericLimits: the ends of a data type's range, as a value or all over a tensor. asc-devkit,
 * kernel_operator_limits_intf.h, NPU_ARCH 2201. */
#ifndef ASCENDC_LIMITS_H
#define ASCENDC_LIMITS_H

#include "basic/vector_fill.h"

#include <limits>

namespace akgen
{
/* Bits of half and float. */
template <typename T> AKGEN_API constexpr T limit(uint16_t of_half, uint32_t of_float)
{
    if constexpr (std::is_same_v<T, half>)
        return __builtin_bit_cast(half, of_half);
    else
        return __builtin_bit_cast(float, of_float);
}
} // namespace akgen

namespace AscendC
{
template <typename T> struct NumericLimits {
    static constexpr bool akgen_floating = std::is_same_v<T, half> || std::is_same_v<T, float>;
    static_assert(akgen_floating || (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 4),
                  "NumericLimits: current data type is not supported on current device!");

/* The name's value, and the tensor of it. */
#define AKGEN_LIMIT(Name, ...)                                                                                         \
    AKGEN_API static constexpr T Name(){__VA_ARGS__} AKGEN_API static void Name(const LocalTensor<T> &dst,             \
                                                                                uint32_t count)                        \
    {                                                                                                                  \
        Duplicate(dst, Name(), count);                                                                                 \
    }
#define AKGEN_RANGE(Name, end, of_half, of_float)                                                                      \
    AKGEN_LIMIT(Name, if constexpr (akgen_floating) return akgen::limit<T>(of_half, of_float);                         \
                else return std::numeric_limits<T>::end();)
#define AKGEN_SPECIAL(Name, of_half, of_float)                                                                         \
    AKGEN_LIMIT(Name,                                                                                                  \
                static_assert(akgen_floating, "NumericLimits: current data type is not supported on current device!"); \
                return akgen::limit<T>(of_half, of_float);)
    AKGEN_RANGE(Max, max, 0x7bff, 0x7f7fffff)
    AKGEN_RANGE(Lowest, lowest, 0xfbff, 0xff7fffff)
    AKGEN_RANGE(Min, min, 0x0400, 0x00800000)
    AKGEN_SPECIAL(Infinity, 0x7c00, 0x7f800000)
    AKGEN_SPECIAL(NegativeInfinity, 0xfc00, 0xff800000)
    AKGEN_SPECIAL(QuietNaN, 0x7e00, 0x7fc00000)
    AKGEN_SPECIAL(SignalingNaN, 0x7d00, 0x7fa00000)
    AKGEN_SPECIAL(DeNormMin, 0x0001, 0x00000001)
#undef AKGEN_SPECIAL
#undef AKGEN_RANGE
#undef AKGEN_LIMIT
};
} // namespace AscendC

#endif
