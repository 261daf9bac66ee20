/* Gather by byte offsets and GatherMask by pattern. */
#ifndef ASCENDC_VECTOR_GATHER_H
#define ASCENDC_VECTOR_GATHER_H

#include "basic/issue.h"

namespace akgen
{
template <typename T>
AKGEN_API npu_insn gather(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                          const AscendC::LocalTensor<uint32_t> &offsets, uint32_t base)
{
    npu_insn insn = unary<NPU_OP_GATHER, T>(dst, src);
    insn.src1 = raw(offsets);
    insn.src1_type = AKGEN_UINT32;
    insn.scalar1 = base;
    return insn;
}
template <typename T>
AKGEN_API npu_insn gather_mask(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, bool reduceMode,
                               uint32_t mask, const AscendC::GatherMaskParams &params)
{
    npu_insn insn = unary<NPU_OP_GATHER_MASK, T>(dst, src);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = mask;
    insn.repeat = params.repeatTimes;
    insn.src0_blk = params.src0BlockStride;
    insn.src0_rep = params.src0RepeatStride;
    insn.src1_rep = params.src1RepeatStride;
    insn.flags = reduceMode ? NPU_INSN_REDUCE_MODE : 0;
    return insn;
}
} // namespace akgen

namespace AscendC
{

#define AKGEN_GATHER(mask_parameter)                                                                                   \
    template <typename T>                                                                                              \
    AKGEN_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                        \
                          const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset, mask_parameter,        \
                          const uint8_t repeatTime, const uint16_t dstRepStride)                                       \
    {                                                                                                                  \
        npu_insn insn = akgen::gather(dst, src, srcOffset, srcBaseOffset);                                             \
        akgen::by_mask(insn, mask, repeatTime);                                                                        \
        insn.dst_blk = 1;                                                                                              \
        insn.dst_rep = dstRepStride;                                                                                   \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_GATHER(const uint64_t mask)
AKGEN_GATHER(const uint64_t mask[])
#undef AKGEN_GATHER
template <typename T>
AKGEN_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
                      const uint32_t srcBaseOffset, const uint32_t count)
{
    npu_insn insn = akgen::gather(dst, src, srcOffset, srcBaseOffset);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}

/* The number of elements kept comes back at once: reading it waits for the vector pipe, as on the chip. */
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
AKGEN_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                          const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams,
                          uint64_t &rsvdCnt)
{
    static_assert(std::is_same_v<U, uint16_t> || std::is_same_v<U, uint32_t>,
                  "GatherMask: the pattern's data type is not supported on Ascend910B; supported: uint16_t | uint32_t");
    npu_insn insn = akgen::gather_mask(dst, src0, reduceMode, mask, gatherMaskParams);
    insn.flags |= NPU_INSN_USER_PATTERN;
    insn.src1 = akgen::raw(src1Pattern);
    insn.src1_type = akgen::dtype_of<U>::value;
    npu_issue(&insn);
    rsvdCnt = npu_get_rsvd_count();
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
AKGEN_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern,
                          const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams,
                          uint64_t &rsvdCnt)
{
    npu_insn insn = akgen::gather_mask(dst, src0, reduceMode, mask, gatherMaskParams);
    insn.mode = src1Pattern;
    npu_issue(&insn);
    rsvdCnt = npu_get_rsvd_count();
}
AKGEN_API int64_t GetGatherMaskRemainCount()
{
    return int64_t(npu_get_rsvd_count());
}

} // namespace AscendC

#endif
