/* Filling and moving inside UB: Duplicate, Brcb, Copy, CreateVecIndex. */
#ifndef ASCENDC_VECTOR_FILL_H
#define ASCENDC_VECTOR_FILL_H

#include "basic/issue.h"

namespace akgen
{
/* dst filled from a scalar; no tensor operand but dst. */
template <npu_op op, typename T> AKGEN_API npu_insn fill(const AscendC::LocalTensor<T> &dst, T scalar)
{
    static_assert(require_type<op, T>::ok);
    npu_insn insn = start<op, T, T>(raw(dst));
    insn.scalar = bits_of<T>(scalar);
    return insn;
}
} // namespace akgen

namespace AscendC
{

#define AKGEN_FILL(mask_parameter)                                                                                     \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, mask_parameter,                          \
                             const uint8_t repeatTime, const uint16_t dstBlockStride, const uint8_t dstRepeatStride)   \
    {                                                                                                                  \
        npu_insn insn = akgen::fill<NPU_OP_DUPLICATE, T>(dst, scalarValue);                                            \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        insn.dst_blk = dstBlockStride;                                                                                 \
        insn.dst_rep = dstRepeatStride;                                                                                \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void CreateVecIndex(LocalTensor<T> &dst, const T &firstValue, mask_parameter, uint8_t repeatTime,        \
                                  uint16_t dstBlkStride, uint8_t dstRepStride)                                         \
    {                                                                                                                  \
        npu_insn insn = akgen::fill<NPU_OP_CREATE_VEC_INDEX, T>(dst, firstValue);                                      \
        akgen::by_mask(insn, mask, repeatTime);                                                                        \
        insn.dst_blk = dstBlkStride;                                                                                   \
        insn.dst_rep = dstRepStride;                                                                                   \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_FILL(uint64_t mask[])
AKGEN_FILL(uint64_t mask)
#undef AKGEN_FILL

template <typename T> AKGEN_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count)
{
    npu_insn insn = akgen::fill<NPU_OP_DUPLICATE, T>(dst, scalarValue);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
template <typename T> AKGEN_API void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count)
{
    npu_insn insn = akgen::fill<NPU_OP_CREATE_VEC_INDEX, T>(dst, firstValue);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}

template <typename T>
AKGEN_API void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint8_t repeatTime,
                    const BrcbRepeatParams &repeatParams)
{
    npu_insn insn = akgen::unary<NPU_OP_BRCB, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = repeatTime;
    insn.dst_blk = repeatParams.dstBlkStride;
    insn.dst_rep = repeatParams.dstRepStride;
    npu_issue(&insn);
}

#define AKGEN_COPY(mask_parameter)                                                                                     \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, mask_parameter,                          \
                        const uint8_t repeatTime, const CopyRepeatParams &repeatParams)                                \
    {                                                                                                                  \
        npu_insn insn = akgen::unary<NPU_OP_COPY, T>(dst, src);                                                        \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        insn.dst_blk = repeatParams.dstStride;                                                                         \
        insn.src0_blk = repeatParams.srcStride;                                                                        \
        insn.dst_rep = repeatParams.dstRepeatSize;                                                                     \
        insn.src0_rep = repeatParams.srcRepeatSize;                                                                    \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_COPY(const uint64_t mask[])
AKGEN_COPY(const uint64_t mask)
#undef AKGEN_COPY

} // namespace AscendC

#endif
