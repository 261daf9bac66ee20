/* Vector instructions with a tensor and a scalar. The scalar has exactly the tensor's type: T is deduced from both. */
#ifndef ASCENDC_VECTOR_SCALAR_H
#define ASCENDC_VECTOR_SCALAR_H

#include "basic/issue.h"

namespace AscendC
{

#define AKGEN_SCALAR(Name, op)                                                                                         \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask[],   \
                        const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)                               \
    {                                                                                                                  \
        npu_insn insn = akgen::with_scalar<op, T>(dst, src, scalarValue);                                              \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,     \
                        const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)                               \
    {                                                                                                                  \
        npu_insn insn = akgen::with_scalar<op, T>(dst, src, scalarValue);                                              \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue,                    \
                        const int32_t &count)                                                                          \
    {                                                                                                                  \
        npu_insn insn = akgen::with_scalar<op, T>(dst, src, scalarValue);                                              \
        akgen::by_count_or_registers<isSetMask>(insn, count);                                                          \
        npu_issue(&insn);                                                                                              \
    }

AKGEN_SCALAR(Adds, NPU_OP_ADDS)
AKGEN_SCALAR(Muls, NPU_OP_MULS)
AKGEN_SCALAR(Maxs, NPU_OP_MAXS)
AKGEN_SCALAR(Mins, NPU_OP_MINS)
AKGEN_SCALAR(LeakyRelu, NPU_OP_LEAKY_RELU)
AKGEN_SCALAR(ShiftLeft, NPU_OP_SHIFT_LEFT)
#undef AKGEN_SCALAR

/* roundEn: round to nearest instead of down (mode = 1); signed types only have an effect. */
template <typename T, bool isSetMask = true>
AKGEN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask[],
                          const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn = false)
{
    npu_insn insn = akgen::with_scalar<NPU_OP_SHIFT_RIGHT, T>(dst, src, scalarValue);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    insn.mode = roundEn;
    npu_issue(&insn);
}
template <typename T, bool isSetMask = true>
AKGEN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,
                          const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn = false)
{
    npu_insn insn = akgen::with_scalar<NPU_OP_SHIFT_RIGHT, T>(dst, src, scalarValue);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    insn.mode = roundEn;
    npu_issue(&insn);
}
template <typename T, bool isSetMask = true>
AKGEN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue,
                          const int32_t &count)
{
    npu_insn insn = akgen::with_scalar<NPU_OP_SHIFT_RIGHT, T>(dst, src, scalarValue);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}

/* The forms whose scalar has a template parameter of its own, which must be the tensor's type all the same. */
#define AKGEN_SCALAR_TYPED(Name, Mask, ...)                                                                            \
    template <typename T, typename U, bool isSetMask = true, std::enable_if_t<std::is_same_v<T, U>, bool> = true>      \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalarValue, Mask,              \
                        const uint8_t repeatTime,                                                                      \
                        const UnaryRepeatParams &repeatParams __VA_OPT__(, bool) __VA_ARGS__)                          \
    {                                                                                                                  \
        Name<T, isSetMask>(dst, src, scalarValue, mask, repeatTime, repeatParams __VA_OPT__(, ) __VA_ARGS__);          \
    }
#define AKGEN_SCALAR_TYPED_ALL(Name, ...)                                                                              \
    AKGEN_SCALAR_TYPED(Name, uint64_t mask[], __VA_ARGS__)                                                             \
    AKGEN_SCALAR_TYPED(Name, uint64_t mask, __VA_ARGS__)                                                               \
    template <typename T, typename U, bool isSetMask = true, std::enable_if_t<std::is_same_v<T, U>, bool> = true>      \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalarValue,                    \
                        const int32_t &count)                                                                          \
    {                                                                                                                  \
        Name<T, isSetMask>(dst, src, scalarValue, count);                                                              \
    }
AKGEN_SCALAR_TYPED_ALL(Adds)
AKGEN_SCALAR_TYPED_ALL(Muls)
AKGEN_SCALAR_TYPED_ALL(Maxs)
AKGEN_SCALAR_TYPED_ALL(Mins)
AKGEN_SCALAR_TYPED_ALL(LeakyRelu)
AKGEN_SCALAR_TYPED_ALL(ShiftLeft)
AKGEN_SCALAR_TYPED_ALL(ShiftRight, roundEn)
#undef AKGEN_SCALAR_TYPED_ALL
#undef AKGEN_SCALAR_TYPED

/* dst += src * scalar, where dst may be wider than src: (half, half), (float, float), (float, half). */
} // namespace AscendC
namespace akgen
{
template <typename T, typename U> struct axpy_types {
    static_assert(akgen::require_type<NPU_OP_AXPY, U>::ok);
    static_assert(std::is_same_v<T, U> || (std::is_same_v<T, float> && std::is_same_v<U, half>),
                  "Axpy: dst and src have one type, or dst is float and src half");
    static constexpr bool ok = true;
};
template <typename T, typename U>
AKGEN_API npu_insn axpy_insn(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src, U scalar)
{
    static_assert(axpy_types<T, U>::ok);
    npu_insn insn = akgen::start<NPU_OP_AXPY, T, U>(akgen::raw(dst));
    insn.src0 = akgen::raw(src);
    insn.scalar = akgen::bits_of<U>(scalar);
    return insn;
}
} // namespace akgen
namespace AscendC
{
template <typename T, typename U, bool isSetMask = true>
AKGEN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask,
                    const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)
{
    npu_insn insn = akgen::axpy_insn<T, U>(dst, src, scalarValue);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}
template <typename T, typename U, bool isSetMask = true>
AKGEN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask[],
                    const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)
{
    npu_insn insn = akgen::axpy_insn<T, U>(dst, src, scalarValue);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}
template <typename T, typename U>
AKGEN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count)
{
    npu_insn insn = akgen::axpy_insn<T, U>(dst, src, scalarValue);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}

} // namespace AscendC

#endif
