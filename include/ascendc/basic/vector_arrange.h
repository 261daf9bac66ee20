/* Rearranging blocks of UB: Gatherb, Transpose, TransDataTo5HD with its VA registers. */
#ifndef ASCENDC_VECTOR_ARRANGE_H
#define ASCENDC_VECTOR_ARRANGE_H

#include "adv/call.h"

/* VA registers, each of which holds eight UB addresses. */
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
AKGEN_API void set_va_reg_sb(ub_addr8_t reg, uint64_t *addresses)
{
    npu_set_va_reg(reg, addresses);
}

namespace akgen
{
/* raw: the addresses came from plain pointers. */
AKGEN_API npu_insn trans_5hd(uint8_t type, ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_rep,
                             uint16_t src_rep, bool dst_high, bool src_high, bool raw)
{
    npu_insn insn = {};
    insn.op = NPU_OP_TRANS_DATA_5HD;
    insn.form = NPU_FORM_MASK_REG;
    insn.dst_type = insn.src_type = type;
    insn.mode = uint8_t(dst | src << 3);
    insn.flags = uint8_t((dst_high ? NPU_INSN_DST_HIGH : 0) | (src_high ? NPU_INSN_SRC_HIGH : 0));
    insn.repeat = repeat;
    insn.dst_rep = dst_rep;
    insn.src0_rep = src_rep;
    insn.dst.flags = insn.src0.flags = raw ? NPU_TENSOR_RAW : 0;
    return insn;
}
} // namespace akgen

AKGEN_API void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride,
                                    uint16_t srcStride, bool dstHighHalf, bool srcHighHalf)
{
    npu_insn insn =
        akgen::trans_5hd(AKGEN_INT8, dst, src, repeat, dstStride, srcStride, dstHighHalf, srcHighHalf, true);
    npu_issue(&insn);
}
AKGEN_API void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride,
                                     uint16_t srcStride)
{
    npu_insn insn = akgen::trans_5hd(AKGEN_INT16, dst, src, repeat, dstStride, srcStride, false, false, true);
    npu_issue(&insn);
}
AKGEN_API void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride,
                                     uint16_t srcStride)
{
    npu_insn insn = akgen::trans_5hd(AKGEN_INT32, dst, src, repeat, dstStride, srcStride, false, false, true);
    npu_issue(&insn);
}
AKGEN_API void vtranspose(__ubuf__ uint16_t *dst, __ubuf__ uint16_t *src)
{
    npu_insn insn = akgen::start<NPU_OP_TRANSPOSE, uint16_t, uint16_t>(
        {reinterpret_cast<uint64_t>(dst), 0, NPU_VECCALC, NPU_TENSOR_RAW, 0});
    insn.form = NPU_FORM_MASK_REG;
    insn.src0 = {reinterpret_cast<uint64_t>(src), 0, NPU_VECCALC, NPU_TENSOR_RAW, 0};
    npu_issue(&insn);
}

namespace AscendC
{

struct GatherRepeatParams {
    AKGEN_CONSTANT GatherRepeatParams()
    {
    }
    AKGEN_CONSTANT GatherRepeatParams(const uint8_t dstBlk, const uint8_t dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

template <typename T>
AKGEN_API void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                       const uint8_t repeatTime, const GatherRepeatParams &repeatParams)
{
    npu_insn insn = akgen::unary<NPU_OP_GATHERB, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    insn.src1 = akgen::raw(offset);
    insn.repeat = repeatTime;
    insn.dst_blk = repeatParams.dstBlkStride;
    insn.dst_rep = repeatParams.dstRepStride;
    npu_issue(&insn);
}

/* A matrix of 16 x 16 elements of 16 bits. */
template <typename T> AKGEN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src)
{
    npu_insn insn = akgen::unary<NPU_OP_TRANSPOSE, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    npu_issue(&insn);
}

enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE,
    TRANSPOSE_NZ2ND_0213,
    TRANSPOSE_NZ2NZ_0213,
    TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITHOUT_N,
    TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY,
    TRANSPOSE_ND_UB_GM,
    TRANSPOSE_GRAD_ND_UB_GM,
    TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC,
    TRANSPOSE_NHWC2NCHW
};
struct TransposeParamsExt {
    AKGEN_CONSTANT TransposeParamsExt()
    {
    }
    AKGEN_CONSTANT TransposeParamsExt(const uint16_t n, const uint16_t c, const uint16_t h, const uint16_t w,
                                      const TransposeType type)
        : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type)
    {
    }
    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};
/* [N,C,H,W] to [N,H,W,C] and back, or the 16 x 16 matrix. Sizes: count = n, repeat = c, mask[0] = h, mask[1] = w. */
template <typename T>
AKGEN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, const TransposeParamsExt &transposeParams)
{
    npu_insn insn = akgen::unary<NPU_OP_TRANSPOSE_4D, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    insn.aux = akgen::raw(sharedTmpBuffer);
    insn.mode = uint8_t(transposeParams.transposeType);
    insn.count = transposeParams.nSize;
    insn.repeat = transposeParams.cSize;
    insn.mask[0] = transposeParams.hSize;
    insn.mask[1] = transposeParams.wSize;
    npu_issue(&insn);
}

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr int32_t VA_REG_ARRAY_LEN = 8;
struct TransDataTo5HDParams {
    AKGEN_CONSTANT TransDataTo5HDParams()
    {
    }
    AKGEN_CONSTANT TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, const uint8_t repeats,
                                        const uint16_t dstRep, const uint16_t srcRep)
        : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeats), dstRepStride(dstRep), srcRepStride(srcRep)
    {
    }
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
};

} // namespace AscendC

namespace akgen
{
/* The API sets VA0 and VA1 to the destinations, VA2 and VA3 to the sources. */
template <typename T>
AKGEN_API void trans_5hd_lists(const uint64_t *dst, const uint64_t *src, const AscendC::TransDataTo5HDParams &p,
                               bool raw)
{
    static_assert(require_type<NPU_OP_TRANS_DATA_5HD, T>::ok);
    npu_set_va_reg(VA0, dst);
    npu_set_va_reg(VA1, dst + AscendC::VA_REG_ARRAY_LEN);
    npu_set_va_reg(VA2, src);
    npu_set_va_reg(VA3, src + AscendC::VA_REG_ARRAY_LEN);
    npu_insn insn = trans_5hd(dtype_of<T>::value, VA0, VA2, p.repeatTimes, p.dstRepStride, p.srcRepStride,
                              p.dstHighHalf, p.srcHighHalf, raw);
    npu_issue(&insn);
}
} // namespace akgen

namespace AscendC
{

template <typename T>
AKGEN_API void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                              const TransDataTo5HDParams &nchwconvParams)
{
    akgen::trans_5hd_lists<T>(dstList, srcList, nchwconvParams, true);
}
template <typename T>
AKGEN_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                              const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                              const TransDataTo5HDParams &nchwconvParams)
{
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; i++) {
        dst[i] = dstList[i].GetPhyAddr();
        src[i] = srcList[i].GetPhyAddr();
    }
    akgen::trans_5hd_lists<T>(dst, src, nchwconvParams, false);
}
/* The addresses are read from UB. */
template <typename T>
AKGEN_API void TransDataTo5HD(const LocalTensor<uint64_t> &dst, const LocalTensor<uint64_t> &src,
                              const TransDataTo5HDParams &nchwconvParams)
{
    uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], srcList[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; i++) {
        dstList[i] = dst.GetValue(uint32_t(i));
        srcList[i] = src.GetValue(uint32_t(i));
    }
    akgen::trans_5hd_lists<T>(dstList, srcList, nchwconvParams, true);
}
/* Internal functions of CANN that published kernels call. */
template <typename T>
AKGEN_API void TransDataTo5HDImpl(__ubuf__ T *dstList[16], __ubuf__ T *srcList[16],
                                  const TransDataTo5HDParams &nchwconvParams)
{
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; i++) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
        src[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    akgen::trans_5hd_lists<T>(dst, src, nchwconvParams, true);
}
template <typename T>
AKGEN_API void TransDataTo5HDImpl(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                                  uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                  const TransDataTo5HDParams &nchwconvParams)
{
    akgen::trans_5hd_lists<T>(dstList, srcList, nchwconvParams, true);
}

/* Blocks of src0 at src0Offset times elements of src1, summed over hRepeat repeats. */
#define AKGEN_BILINEAR(mask_parameter, low, high, bitwise)                                                             \
    template <typename T>                                                                                              \
    AKGEN_API void BilinearInterpolation(                                                                              \
        const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset,                \
        const LocalTensor<T> &src1, mask_parameter, uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride,           \
        uint16_t vROffset, uint8_t vRepeat, const LocalTensor<uint8_t> &sharedTmpBuffer)                               \
    {                                                                                                                  \
        npu_adv call = akgen::adv<NPU_ADV_BILINEAR, T>(akgen::raw(dst), akgen::raw(src0), 0);                          \
        call.src[1] = akgen::raw(src0Offset);                                                                          \
        call.src[2] = akgen::raw(src1);                                                                                \
        call.tmp = akgen::raw(sharedTmpBuffer);                                                                        \
        call.scalar[0] = low;                                                                                          \
        call.scalar[1] = high;                                                                                         \
        call.shape[0] = hRepeat;                                                                                       \
        call.shape[1] = repeatMode;                                                                                    \
        call.shape[2] = dstBlkStride;                                                                                  \
        call.shape[3] = vROffset;                                                                                      \
        call.shape[4] = vRepeat;                                                                                       \
        call.shape[5] = bitwise;                                                                                       \
        npu_advanced(&call);                                                                                           \
    }
AKGEN_BILINEAR(uint64_t mask, mask, 0, 0)
AKGEN_BILINEAR(uint64_t mask[], mask[0], mask[1], 1)
#undef AKGEN_BILINEAR

} // namespace AscendC

#endif
