// Ops::Base::fp16_t: half precision on the host (opbase, op_common/op_host/util/fp16.h). It has no infinities: what is too
// large becomes the largest number, and the patterns of infinity and NaN count as numbers from 2^16 up. Everything rounds
// to nearest, ties to even.
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_FP16_H
#define CANN_OP_COMMON_OP_HOST_UTIL_FP16_H

#include "op_common/op_host/util/opbase_export.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace Ops
{
namespace Base
{
struct tagFp16 {
    uint16_t val;

    tagFp16() : val(0)
    {
    }
    template <typename T> tagFp16(const T &value) : val(AkgenRounded(static_cast<double>(value)))
    {
    }
    // A number of this type is the pattern of bits; an assignment takes it as a value.
    tagFp16(const uint16_t &bits) : val(bits)
    {
    }
    tagFp16(const tagFp16 &) = default;
    tagFp16 &operator=(const tagFp16 &) = default;

    tagFp16 operator+(const tagFp16 other) const
    {
        return AkgenFrom(toDouble() + other.toDouble());
    }
    tagFp16 operator-(const tagFp16 other) const
    {
        return AkgenFrom(toDouble() - other.toDouble());
    }
    tagFp16 operator*(const tagFp16 other) const
    {
        return AkgenFrom(toDouble() * other.toDouble());
    }
    tagFp16 operator/(const tagFp16 other) const
    {
        // 0 / 0 is infinite with the sign of any other quotient, 0 by a number is +0.
        const double sign = (val ^ other.val) & 0x8000 && (toDouble() != 0 || other.toDouble() == 0) ? -1 : 1;
        return AkgenFrom(std::copysign(toDouble() / other.toDouble(), sign));
    }
    tagFp16 operator+=(const tagFp16 other)
    {
        return *this = *this + other;
    }
    tagFp16 operator-=(const tagFp16 other)
    {
        return *this = *this - other;
    }
    tagFp16 operator*=(const tagFp16 other)
    {
        return *this = *this * other;
    }
    tagFp16 operator/=(const tagFp16 other)
    {
        return *this = *this / other;
    }
    bool operator==(const tagFp16 &other) const
    {
        return toDouble() == other.toDouble();
    }
    bool operator!=(const tagFp16 &other) const
    {
        return toDouble() != other.toDouble();
    }
    bool operator>(const tagFp16 &other) const
    {
        return toDouble() > other.toDouble();
    }
    bool operator>=(const tagFp16 &other) const
    {
        return toDouble() >= other.toDouble();
    }
    bool operator<(const tagFp16 &other) const
    {
        return toDouble() < other.toDouble();
    }
    bool operator<=(const tagFp16 &other) const
    {
        return toDouble() <= other.toDouble();
    }

#define AKGEN_FP16_TYPE(type, name)                                                                                    \
    tagFp16 &operator=(const type &value)                                                                              \
    {                                                                                                                  \
        val = AkgenRounded(static_cast<double>(value));                                                                \
        return *this;                                                                                                  \
    }                                                                                                                  \
    operator type() const                                                                                              \
    {                                                                                                                  \
        return AkgenTo<type>();                                                                                        \
    }                                                                                                                  \
    type name() const                                                                                                  \
    {                                                                                                                  \
        return AkgenTo<type>();                                                                                        \
    }
    AKGEN_FP16_TYPE(float, toFloat)
    AKGEN_FP16_TYPE(double, toDouble)
    AKGEN_FP16_TYPE(int8_t, toInt8)
    AKGEN_FP16_TYPE(uint8_t, toUInt8)
    AKGEN_FP16_TYPE(int16_t, toInt16)
    AKGEN_FP16_TYPE(uint16_t, toUInt16)
    AKGEN_FP16_TYPE(int32_t, toInt32)
    AKGEN_FP16_TYPE(uint32_t, toUInt32)
#undef AKGEN_FP16_TYPE

    // 1 and -1 for the patterns of the infinities, else 0.
    int IsInf() const
    {
        return (val & 0x7fff) != 0x7c00 ? 0 : val & 0x8000 ? -1 : 1;
    }

  private:
    static tagFp16 AkgenFrom(double value)
    {
        return tagFp16(AkgenRounded(value));
    }
    static uint16_t AkgenRounded(double value)
    {
        const double largest = 65504;
        const bool nan = std::isnan(value);
        const _Float16 half =
            static_cast<_Float16>(nan ? std::copysign(largest, value) : std::clamp(value, -largest, largest));
        uint16_t bits;
        std::memcpy(&bits, &half, sizeof bits);
        return bits;
    }
    // An integer is rounded and brought into the type's range. From 2^16 up int32_t and the types without sign get their
    // largest number, whatever the sign; only uint32_t gets 0 for a negative one.
    template <typename T> T AkgenTo() const
    {
        const int exponent = val >> 10 & 31, mantissa = val & 1023;
        const double size = std::ldexp(exponent ? 1024 + mantissa : mantissa, (exponent ? exponent : 1) - 25);
        const double value = val & 0x8000 ? -size : size;
        using limits = std::numeric_limits<T>;
        if constexpr (!limits::is_integer)
            return static_cast<T>(value);
        else if (exponent == 31 && (limits::is_signed ? sizeof(T) == 4 : sizeof(T) < 4 || value > 0))
            return limits::max();
        else
            return static_cast<T>(std::clamp<double>(std::nearbyint(value), limits::min(), limits::max()));
    }
};
using fp16_t = tagFp16;
} // namespace Base
} // namespace Ops
#endif
