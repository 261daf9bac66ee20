/* Cast between element types; the pairs that NPU_ARCH 2201 has. */
#ifndef ASCENDC_VECTOR_CAST_H
#define ASCENDC_VECTOR_CAST_H

#include "basic/issue.h"

namespace akgen
{

struct cast_pair {
    uint8_t dst, src;
};
constexpr cast_pair cast_pairs[] = {
#define NPU_CAST(dst, src, modes, rate) {AKGEN_##dst, AKGEN_##src},
#include "abi/cast.def"
#undef NPU_CAST
};

constexpr bool can_cast(uint8_t dst, uint8_t src)
{
    for (const cast_pair &pair : cast_pairs)
        if (pair.dst == dst && pair.src == src)
            return true;
    return false;
}
template <typename D, typename S> struct require_cast {
    static_assert(can_cast(dtype_of<D>::value, dtype_of<S>::value),
                  "Cast: this pair of data types is not supported on Ascend910B; Cast.md has the table");
    static constexpr bool ok = true;
};
template <typename D, typename S>
AKGEN_API npu_insn cast(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src, AscendC::RoundMode mode)
{
    static_assert(require_cast<D, S>::ok);
    npu_insn insn = start<NPU_OP_CAST, D, S>(raw(dst));
    insn.src0 = raw(src);
    insn.mode = uint8_t(mode);
    return insn;
}

} // namespace akgen

namespace AscendC
{

template <typename T, typename U, bool isSetMask = true>
AKGEN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                    const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)
{
    npu_insn insn = akgen::cast<T, U>(dst, src, roundMode);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}
template <typename T, typename U, bool isSetMask = true>
AKGEN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                    const uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)
{
    npu_insn insn = akgen::cast<T, U>(dst, src, roundMode);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}
template <typename T, typename U>
AKGEN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode,
                    const uint32_t count)
{
    npu_insn insn = akgen::cast<T, U>(dst, src, roundMode);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
/* The scale of int32 -> half casts. */
AKGEN_API void SetDeqScale(half scale)
{
    npu_set_deq_scale(akgen::bits_of<half>(scale));
}

/* Scalar conversions of bfloat16_t, which has no arithmetic. */
AKGEN_API float ToFloat(const bfloat16_t &value)
{
    return __builtin_bit_cast(float, uint32_t(value.bits) << 16);
}
AKGEN_API bfloat16_t ToBfloat16(const float &value)
{
    return bfloat16_t(value);
}
/* The newer names of these two, and of ScalarCast. */
AKGEN_API float Cast(const bfloat16_t &bVal)
{
    return ToFloat(bVal);
}
AKGEN_API bfloat16_t Cast(const float &fVal)
{
    return ToBfloat16(fVal);
}
template <typename T, typename U, RoundMode roundMode> AKGEN_API U ScalarCast(T valueIn);
template <typename T, typename U, RoundMode roundMode> AKGEN_API U Cast(T valueIn)
{
    return ScalarCast<T, U, roundMode>(valueIn);
}

} // namespace AscendC

#endif
