/* The compiler's copies between plain pointers: GM <-> UB in 32-byte units, with alignment and padding, and within
 * UB. */
#ifndef ASCENDC_INTRINSICS_COPY_H
#define ASCENDC_INTRINSICS_COPY_H

#include "basic/data_copy.h"
#include "basic/intrinsics_vector.h"

namespace akgen
{
AKGEN_API npu_tensor raw_gm(const __gm__ void *pointer)
{
    return {reinterpret_cast<uint64_t>(pointer), 0, NPU_GM, NPU_TENSOR_RAW, 0};
}
template <npu_op op, typename T>
AKGEN_API void raw_copy(const npu_tensor &dst, const npu_tensor &src, uint32_t bursts, uint32_t length,
                        uint32_t src_gap, uint32_t dst_gap, uint8_t left = 0, uint8_t right = 0)
{
    npu_insn insn = start<op, T, T>(dst);
    insn.src0 = src;
    insn.form = NPU_FORM_MASK_REG;
    insn.copy.block_count = bursts;
    insn.copy.block_len = length;
    insn.copy.src_stride = src_gap;
    insn.copy.dst_stride = dst_gap;
    insn.copy.left = left;
    insn.copy.right = right;
    npu_issue(&insn);
}
} // namespace akgen

/* sid is 0; lengths and gaps in 32-byte blocks. */
AKGEN_API void copy_gm_to_ubuf(__ubuf__ void *dst, __gm__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst,
                               uint16_t srcGap, uint16_t dstGap)
{
    akgen::raw_copy<NPU_OP_DATA_COPY, uint8_t>(akgen::raw_ub(dst), akgen::raw_gm(src), nBurst, lenBurst, srcGap,
                                               dstGap);
}
AKGEN_API void copy_ubuf_to_gm(__gm__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst,
                               uint16_t srcGap, uint16_t dstGap)
{
    akgen::raw_copy<NPU_OP_DATA_COPY, uint8_t>(akgen::raw_gm(dst), akgen::raw_ub(src), nBurst, lenBurst, srcGap,
                                               dstGap);
}
AKGEN_API void copy_ubuf_to_ubuf(__ubuf__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst,
                                 uint16_t srcGap, uint16_t dstGap)
{
    akgen::raw_copy<NPU_OP_DATA_COPY, uint8_t>(akgen::raw_ub(dst), akgen::raw_ub(src), nBurst, lenBurst, srcGap,
                                               dstGap);
}
/* Lengths in bytes; gaps in bytes on GM, in 32-byte blocks on UB; padding in elements of 8, 16 or 32 bits. */
#define AKGEN_RAW_ALIGN(bits)                                                                                          \
    AKGEN_API void copy_gm_to_ubuf_align_b##bits(__ubuf__ void *dst, __gm__ void *src, uint8_t, uint16_t nBurst,       \
                                                 uint32_t lenBurst, uint8_t leftPadding, uint8_t rightPadding,         \
                                                 uint32_t srcGap, uint32_t dstGap)                                     \
    {                                                                                                                  \
        akgen::raw_copy<NPU_OP_DATA_COPY_PAD, uint##bits##_t>(akgen::raw_ub(dst), akgen::raw_gm(src), nBurst,          \
                                                              lenBurst, srcGap, dstGap, leftPadding, rightPadding);    \
    }                                                                                                                  \
    AKGEN_API void copy_ubuf_to_gm_align_b##bits(__gm__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst,       \
                                                 uint32_t lenBurst, uint8_t, uint8_t, uint32_t srcGap,                 \
                                                 uint32_t dstGap)                                                      \
    {                                                                                                                  \
        akgen::raw_copy<NPU_OP_DATA_COPY_PAD, uint##bits##_t>(akgen::raw_gm(dst), akgen::raw_ub(src), nBurst,          \
                                                              lenBurst, srcGap, dstGap);                               \
    }
AKGEN_RAW_ALIGN(8)
AKGEN_RAW_ALIGN(16)
AKGEN_RAW_ALIGN(32)
#undef AKGEN_RAW_ALIGN

namespace AscendC
{
/* Internal functions of CANN that published kernels call. */
template <typename T> AKGEN_API void DataCopyUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyParams &params)
{
    akgen::raw_copy<NPU_OP_DATA_COPY, T>(akgen::raw_gm(dst), akgen::raw_ub(src), params.blockCount, params.blockLen,
                                         params.srcStride, params.dstStride);
}
template <typename T> AKGEN_API void DataCopyGM2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyParams &params)
{
    akgen::raw_copy<NPU_OP_DATA_COPY, T>(akgen::raw_ub(dst), akgen::raw_gm(src), params.blockCount, params.blockLen,
                                         params.srcStride, params.dstStride);
}
/* Gaps and lengths of DataCopyPad: bytes on GM. */
template <typename T, typename Params, typename Pad>
AKGEN_API void DataCopyPadGm2UBImpl(__ubuf__ T *dst, __gm__ T *src, const Params &params, const Pad &padding)
{
    akgen::raw_copy<NPU_OP_DATA_COPY_PAD, T>(
        akgen::raw_ub(dst), akgen::raw_gm(src), params.blockCount, params.blockLen, params.srcStride, params.dstStride,
        padding.isPad ? padding.leftPadding : 0, padding.isPad ? padding.rightPadding : 0);
}
template <typename T, typename Params>
AKGEN_API void DataCopyPadUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const Params &params)
{
    akgen::raw_copy<NPU_OP_DATA_COPY_PAD, T>(akgen::raw_gm(dst), akgen::raw_ub(src), params.blockCount, params.blockLen,
                                             params.srcStride, params.dstStride);
}
} // namespace AscendC

#endif
