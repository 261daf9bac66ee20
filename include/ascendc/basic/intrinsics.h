/* Instructions of the compiler that kernels call directly on UB addresses. The machine sees plain pointers: no extent,
 * and nothing for automatic synchronisation to follow. */
#ifndef ASCENDC_INTRINSICS_H
#define ASCENDC_INTRINSICS_H

#include "basic/intrinsics_copy.h"

namespace akgen
{
AKGEN_API npu_tensor raw_ub(uint64_t addr)
{
    return {addr, 0, NPU_VECCALC, NPU_TENSOR_RAW, 0};
}
/* mode: false = one sum per repeat to dst; true = all sums added up in the accumulator, dst is not used. */
template <typename T>
AKGEN_API void vcadd(uint64_t dst, uint64_t src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride,
                     uint16_t srcRepStride, bool mode)
{
    npu_insn insn = start<NPU_OP_NONE, T, T>(raw_ub(dst));
    insn.op = mode ? NPU_OP_VCADD_ACC : NPU_OP_WHOLE_REDUCE_SUM;
    insn.src0 = raw_ub(src);
    by_mask<false>(insn, uint64_t(0), repeat);
    insn.dst_blk = 1;
    insn.dst_rep = dstRepStride;
    insn.src0_blk = srcBlkStride;
    insn.src0_rep = srcRepStride;
    npu_issue(&insn);
}
} // namespace akgen

#define AKGEN_VCADD(type)                                                                                              \
    AKGEN_API void vcadd(__ubuf__ type *dst, __ubuf__ type *src, uint8_t repeat, uint16_t dstRepStride,                \
                         uint16_t srcBlkStride, uint16_t srcRepStride, bool mode)                                      \
    {                                                                                                                  \
        akgen::vcadd<type>(reinterpret_cast<uint64_t>(dst), reinterpret_cast<uint64_t>(src), repeat, dstRepStride,     \
                           srcBlkStride, srcRepStride, mode);                                                          \
    }
AKGEN_VCADD(float)
AKGEN_VCADD(half)
#undef AKGEN_VCADD
/* The accumulator's bits: float in the low word. */
AKGEN_API int64_t get_acc_val()
{
    return int64_t(npu_get_acc_val());
}
AKGEN_API void dcci(__gm__ void *address, uint64_t entire, uint64_t dst = CACHELINE_ALL)
{
    npu_tensor tensor = {reinterpret_cast<uint64_t>(address), 0, NPU_GM, NPU_TENSOR_RAW, 0};
    npu_dcache_clean(&tensor, int(entire), int(dst));
}

#endif
