// Ops::Base::bfloat16: the upper half of a float on the host (opbase, op_common/op_host/util/bfloat16.h). Arithmetic is
// that of float, rounded to nearest with ties to even; every NaN is one.
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_BFLOAT16_H
#define CANN_OP_COMMON_OP_HOST_UTIL_BFLOAT16_H

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>

namespace Ops
{
namespace Base
{
typedef std::complex<float> complex64;
typedef std::complex<double> complex128;

struct bfloat16 {
    struct from_bits_t {
    };
    static constexpr from_bits_t from_bits()
    {
        return {};
    }
    static constexpr uint16_t NAN_VALUE = 0x7fc0;

    uint16_t value = 0;

    bfloat16() = default;
    constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits)
    {
    }
    bfloat16(float number) : value(round_to_bfloat16(number).value)
    {
    }
    // The real part.
    bfloat16(const complex64 &number) : bfloat16(number.real())
    {
    }
    bfloat16(const complex128 &number) : bfloat16(static_cast<float>(number.real()))
    {
    }
    template <typename T> bfloat16(const T &number) : bfloat16(static_cast<float>(number))
    {
    }
    template <typename T> bfloat16 &operator=(T number)
    {
        value = bfloat16(static_cast<float>(number)).value;
        return *this;
    }

    operator float() const
    {
        const uint32_t bits = static_cast<uint32_t>(value) << 16;
        float number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }
    // Not 0 as far as a float's epsilon tells.
    operator bool() const
    {
        return std::fabs(float(*this)) >= std::numeric_limits<float>::epsilon();
    }
#define AKGEN_BFLOAT16_TO(type)                                                                                        \
    operator type() const                                                                                              \
    {                                                                                                                  \
        return static_cast<type>(float(*this));                                                                        \
    }
    AKGEN_BFLOAT16_TO(char)
    AKGEN_BFLOAT16_TO(signed char)
    AKGEN_BFLOAT16_TO(unsigned char)
    AKGEN_BFLOAT16_TO(short)
    AKGEN_BFLOAT16_TO(unsigned short)
    AKGEN_BFLOAT16_TO(int)
    AKGEN_BFLOAT16_TO(unsigned int)
    AKGEN_BFLOAT16_TO(long)
    AKGEN_BFLOAT16_TO(unsigned long)
    AKGEN_BFLOAT16_TO(long long)
    AKGEN_BFLOAT16_TO(unsigned long long)
    AKGEN_BFLOAT16_TO(double)
    AKGEN_BFLOAT16_TO(complex64)
    AKGEN_BFLOAT16_TO(complex128)
#undef AKGEN_BFLOAT16_TO

    static bfloat16 round_to_bfloat16(float number)
    {
        if (std::isnan(number))
            return {NAN_VALUE, from_bits()};
        uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16), from_bits()};
    }
    static constexpr bfloat16 epsilon()
    {
        return {0x3c00, from_bits()};
    }
    static constexpr bfloat16 highest()
    {
        return {0x7f7f, from_bits()};
    }
    static constexpr bfloat16 lowest()
    {
        return {0xff7f, from_bits()};
    }
    static constexpr bfloat16 min_positive_normal()
    {
        return {0x0080, from_bits()};
    }
    bool IsZero() const
    {
        return (value & 0x7fff) == 0;
    }
};

inline std::ostream &operator<<(std::ostream &out, const bfloat16 &number)
{
    return out << static_cast<float>(number);
}

#define AKGEN_BFLOAT16_ARITHMETIC(op)                                                                                  \
    inline bfloat16 operator op(bfloat16 a, bfloat16 b)                                                                \
    {                                                                                                                  \
        return bfloat16(static_cast<float>(a) op static_cast<float>(b));                                               \
    }                                                                                                                  \
    inline bfloat16 &operator op##=(bfloat16 & a, bfloat16 b)                                                          \
    {                                                                                                                  \
        return a = a op b;                                                                                             \
    }
AKGEN_BFLOAT16_ARITHMETIC(+)
AKGEN_BFLOAT16_ARITHMETIC(-)
AKGEN_BFLOAT16_ARITHMETIC(*)
AKGEN_BFLOAT16_ARITHMETIC(/)
#undef AKGEN_BFLOAT16_ARITHMETIC
inline bfloat16 operator+(bfloat16 a, int b)
{
    return bfloat16(static_cast<float>(a) + static_cast<float>(b));
}
inline bfloat16 operator+(int a, bfloat16 b)
{
    return b + a;
}
inline bfloat16 operator-(bfloat16 a)
{
    a.value ^= 0x8000;
    return a;
}
inline bfloat16 operator++(bfloat16 &a)
{
    return a += bfloat16(1);
}
inline bfloat16 operator--(bfloat16 &a)
{
    return a -= bfloat16(1);
}
inline bfloat16 operator++(bfloat16 &a, int)
{
    const bfloat16 before = a;
    a += bfloat16(1);
    return before;
}
inline bfloat16 operator--(bfloat16 &a, int)
{
    const bfloat16 before = a;
    a -= bfloat16(1);
    return before;
}

#define AKGEN_BFLOAT16_ORDER(op)                                                                                       \
    inline bool operator op(bfloat16 a, bfloat16 b)                                                                    \
    {                                                                                                                  \
        return static_cast<float>(a) op static_cast<float>(b);                                                         \
    }
AKGEN_BFLOAT16_ORDER(<)
AKGEN_BFLOAT16_ORDER(<=)
AKGEN_BFLOAT16_ORDER(>)
AKGEN_BFLOAT16_ORDER(>=)
#undef AKGEN_BFLOAT16_ORDER
template <typename T> bool operator<(T a, bfloat16 b)
{
    return static_cast<float>(a) < static_cast<float>(b);
}
template <typename T> bool operator>(T a, bfloat16 b)
{
    return static_cast<float>(a) > static_cast<float>(b);
}
// By their bits: -0 is not 0, a NaN equals itself.
inline bool operator==(bfloat16 a, bfloat16 b)
{
    return a.value == b.value;
}
inline bool operator!=(bfloat16 a, bfloat16 b)
{
    return a.value != b.value;
}
} // namespace Base
} // namespace Ops

namespace std
{
template <> struct hash<Ops::Base::bfloat16> {
    size_t operator()(const Ops::Base::bfloat16 &number) const
    {
        return hash<float>()(static_cast<float>(number));
    }
};

using Ops::Base::bfloat16;
#define AKGEN_BFLOAT16_TEST(name)                                                                                      \
    inline bool name(const bfloat16 &a)                                                                                \
    {                                                                                                                  \
        return std::name(float(a));                                                                                    \
    }
AKGEN_BFLOAT16_TEST(isinf)
AKGEN_BFLOAT16_TEST(isnan)
AKGEN_BFLOAT16_TEST(isfinite)
#undef AKGEN_BFLOAT16_TEST
#define AKGEN_BFLOAT16_MATH(name)                                                                                      \
    inline bfloat16 name(const bfloat16 &a)                                                                            \
    {                                                                                                                  \
        return bfloat16(std::name(float(a)));                                                                          \
    }
AKGEN_BFLOAT16_MATH(abs)
AKGEN_BFLOAT16_MATH(exp)
AKGEN_BFLOAT16_MATH(log)
AKGEN_BFLOAT16_MATH(log10)
AKGEN_BFLOAT16_MATH(sqrt)
AKGEN_BFLOAT16_MATH(sin)
AKGEN_BFLOAT16_MATH(cos)
AKGEN_BFLOAT16_MATH(tan)
AKGEN_BFLOAT16_MATH(tanh)
AKGEN_BFLOAT16_MATH(floor)
AKGEN_BFLOAT16_MATH(ceil)
#undef AKGEN_BFLOAT16_MATH
inline bfloat16 pow(const bfloat16 &a, const bfloat16 &b)
{
    return bfloat16(std::pow(float(a), float(b)));
}

// What a float has, with the limits of the shorter mantissa.
template <> class numeric_limits<Ops::Base::bfloat16> : public numeric_limits<float>
{
    using number = Ops::Base::bfloat16;

  public:
    static constexpr bool is_iec559 = false;
    static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;

    static constexpr number min()
    {
        return number::min_positive_normal();
    }
    static constexpr number lowest()
    {
        return number::lowest();
    }
    static constexpr number max()
    {
        return number::highest();
    }
    static constexpr number epsilon()
    {
        return number::epsilon();
    }
    static constexpr number round_error()
    {
        return {0x3f00, number::from_bits()};
    }
    static constexpr number infinity()
    {
        return {0x7f80, number::from_bits()};
    }
    static constexpr number quiet_NaN()
    {
        return {number::NAN_VALUE, number::from_bits()};
    }
    static constexpr number signaling_NaN()
    {
        return {0x7f80, number::from_bits()};
    }
    static constexpr number denorm_min()
    {
        return {0x0001, number::from_bits()};
    }
};
} // namespace std
#endif
