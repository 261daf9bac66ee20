/* Scalar types of the device: half, bfloat16_t, int4b_t, and what the machine calls each of them. */
#ifndef ASCENDC_TYPES_H
#define ASCENDC_TYPES_H

#include "basic/qualifiers.h"

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

typedef _Float16 half;
typedef _Float16 float16_t;
typedef float float32_t;

/* bfloat16 is storage only on NPU_ARCH 2201: it converts to and from float, and has no arithmetic and no comparison.
 * Source: asc-devkit docs/zh/api, "ToBfloat16", "ToFloat". */
struct bfloat16_t {
    AKGEN_API constexpr bfloat16_t() : bits(0)
    {
    }
    bfloat16_t(const bfloat16_t &) = default;
    bfloat16_t &operator=(const bfloat16_t &) = default;
    /* Read through a pointer into GM or UB (templates, so that the type stays trivially copyable); clang has no way to
     * write a class through one. */
    template <class B, class = std::enable_if_t<std::is_same_v<B, bfloat16_t>>>
    AKGEN_API bfloat16_t(const __gm__ B &other) : bits(other.bits)
    {
    }
    template <class B, class = std::enable_if_t<std::is_same_v<B, bfloat16_t>>>
    AKGEN_API bfloat16_t(const __ubuf__ B &other) : bits(other.bits)
    {
    }
    template <class B, class = std::enable_if_t<std::is_same_v<B, bfloat16_t>>>
    AKGEN_API bfloat16_t &operator=(const __gm__ B &other)
    {
        return *this = bfloat16_t(other);
    }
    template <class B, class = std::enable_if_t<std::is_same_v<B, bfloat16_t>>>
    AKGEN_API bfloat16_t &operator=(const __ubuf__ B &other)
    {
        return *this = bfloat16_t(other);
    }
    /* A number, rounded to nearest even. As on the device an implicit conversion exists for what has exactly this type
     * of literal; integers and bool go through float explicitly. */
    AKGEN_API constexpr bfloat16_t(float value) : bits(round(__builtin_bit_cast(uint32_t, value)))
    {
    }
    AKGEN_API constexpr bfloat16_t(double value) : bfloat16_t(static_cast<float>(value))
    {
    }
    AKGEN_API constexpr bfloat16_t(int value) : bfloat16_t(static_cast<float>(value))
    {
    }
    AKGEN_API constexpr bfloat16_t(unsigned value) : bfloat16_t(static_cast<float>(value))
    {
    }
    AKGEN_API constexpr bfloat16_t(long value) : bfloat16_t(static_cast<float>(value))
    {
    }
    AKGEN_API constexpr bfloat16_t(unsigned long value) : bfloat16_t(static_cast<float>(value))
    {
    }
    AKGEN_API constexpr bfloat16_t(half value) : bfloat16_t(static_cast<float>(value))
    {
    }
    bfloat16_t(bool) = delete;

    AKGEN_API constexpr operator float() const
    {
        return __builtin_bit_cast(float, uint32_t(bits) << 16);
    }

    uint16_t bits;

  private:
    AKGEN_API static constexpr uint16_t round(uint32_t f)
    {
        return (f & 0x7fffffffu) > 0x7f800000u ? uint16_t(f >> 16 | 0x40u)
                                               : uint16_t((f + 0x7fffu + (f >> 16 & 1u)) >> 16);
    }
};

#define AKGEN_NO_OPERATOR(symbol)                                                                                      \
    template <class A, class B,                                                                                        \
              class = std::enable_if_t<std::is_same_v<A, bfloat16_t> || std::is_same_v<B, bfloat16_t>>>                \
    AKGEN_DEVICE void operator symbol(A, B) = delete;
AKGEN_NO_OPERATOR(+)
AKGEN_NO_OPERATOR(-)
AKGEN_NO_OPERATOR(*)
AKGEN_NO_OPERATOR(/)
AKGEN_NO_OPERATOR(<)
AKGEN_NO_OPERATOR(>)
AKGEN_NO_OPERATOR(<=)
AKGEN_NO_OPERATOR(>=)
AKGEN_NO_OPERATOR(==)
AKGEN_NO_OPERATOR(!=)
#undef AKGEN_NO_OPERATOR

namespace AscendC
{
/* Two 4-bit integers share a byte; a tensor of int4b_t counts elements, not bytes. */
struct int4b_t {
    uint8_t storage;
};
typedef int32_t TEventID;
/* CANN's own type traits, of kernel_utils_ceil_oom_que.h and kernel_utils_constants.h. */
template <bool b> struct BoolInst {
    using Type = BoolInst<b>;
    static constexpr bool value = b;
};
using TrueType = BoolInst<true>;
using FalseType = BoolInst<false>;
template <typename T, typename U> struct IsSameType : BoolInst<std::is_same_v<T, U>> {
};
template <typename... Arg> struct Tuple {
};
template <typename T, typename U, typename... Args> AKGEN_CONSTANT bool SupportType()
{
    return std::is_same_v<T, U> || (std::is_same_v<T, Args> || ...);
}
template <typename T, int U, int... Args> AKGEN_CONSTANT bool SupportBytes()
{
    return sizeof(T) == U || ((sizeof(T) == Args) || ...);
}
template <typename T> using PrimT = T;
} // namespace AscendC
using AscendC::int4b_t;

namespace akgen
{

template <typename T> struct dtype_of {
    static constexpr uint8_t value = AKGEN_DTYPE_NONE;
};
#define AKGEN_TYPE(type, id)                                                                                           \
    template <> struct dtype_of<type> {                                                                                \
        static constexpr uint8_t value = AKGEN_##id;                                                                   \
    };
AKGEN_TYPE(float, FLOAT)
AKGEN_TYPE(half, FLOAT16)
AKGEN_TYPE(bfloat16_t, BF16)
AKGEN_TYPE(int8_t, INT8)
AKGEN_TYPE(uint8_t, UINT8)
AKGEN_TYPE(int16_t, INT16)
AKGEN_TYPE(uint16_t, UINT16)
AKGEN_TYPE(int32_t, INT32)
AKGEN_TYPE(uint32_t, UINT32)
AKGEN_TYPE(int64_t, INT64)
AKGEN_TYPE(uint64_t, UINT64)
AKGEN_TYPE(long long, INT64)
AKGEN_TYPE(unsigned long long, UINT64)
AKGEN_TYPE(double, DOUBLE)
AKGEN_TYPE(bool, BOOL)
AKGEN_TYPE(char, INT8)
AKGEN_TYPE(int4b_t, INT4)
#undef AKGEN_TYPE

/* The bits of a scalar operand, in the low bytes. */
template <typename T> AKGEN_API uint64_t bits_of(T value)
{
    static_assert(sizeof(T) <= 8, "a scalar operand has at most 64 bits");
    if constexpr (sizeof(T) == 1)
        return __builtin_bit_cast(uint8_t, value);
    else if constexpr (sizeof(T) == 2)
        return __builtin_bit_cast(uint16_t, value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(uint32_t, value);
    else
        return __builtin_bit_cast(uint64_t, value);
}
template <typename T> AKGEN_API T from_bits(uint64_t bits)
{
    if constexpr (sizeof(T) == 1)
        return __builtin_bit_cast(T, uint8_t(bits));
    else if constexpr (sizeof(T) == 2)
        return __builtin_bit_cast(T, uint16_t(bits));
    else if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(T, uint32_t(bits));
    else
        return __builtin_bit_cast(T, bits);
}

} // namespace akgen

#endif
