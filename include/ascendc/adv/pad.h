/* Pad, UnPad and the transposition of a matrix, each with a tiling. */
#ifndef ASCENDC_ADV_PAD_H
#define ASCENDC_ADV_PAD_H

#include "adv/call.h"
#include "basic/vector_arrange.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC
{

/* Columns. */
struct PadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
struct UnPadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

template <typename T>
AKGEN_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, PadParams &padParams,
                   const LocalTensor<uint8_t> &sharedTmpBuffer, PadTiling &tiling)
{
    npu_adv call = akgen::adv<NPU_ADV_PAD, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, 0);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.tiling = &tiling;
    call.shape[0] = padParams.leftPad;
    call.shape[1] = padParams.rightPad;
    call.scalar[0] = akgen::bits_of<T>(static_cast<T>(padParams.padValue));
    npu_advanced(&call);
}
template <typename T>
AKGEN_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, PadParams &padParams,
                   PadTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    Pad<T>(dstTensor, srcTensor, padParams, none, tiling);
}

template <typename T>
AKGEN_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, UnPadParams &unPadParams,
                     LocalTensor<uint8_t> &sharedTmpBuffer, UnPadTiling &tiling)
{
    npu_adv call = akgen::adv<NPU_ADV_UNPAD, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, 0);
    call.flags = NPU_ADV_NO_TMP;
    call.tiling = &tiling;
    call.shape[0] = unPadParams.leftPad;
    call.shape[1] = unPadParams.rightPad;
    npu_advanced(&call);
}
template <typename T>
AKGEN_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, UnPadParams &unPadParams,
                     UnPadTiling &tiling)
{
    LocalTensor<uint8_t> none;
    UnPad<T>(dstTensor, srcTensor, unPadParams, none, tiling);
}

template <typename T>
AKGEN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, TransposeType transposeType,
                         ConfusionTransposeTiling &tiling)
{
    npu_adv call = akgen::adv<NPU_ADV_TRANSPOSE, T>(dst.akgen_tensor, src.akgen_tensor, 0);
    const bool fractals = transposeType < TransposeType::TRANSPOSE_ND2ND_ONLY;
    call.flags = fractals ? 0 : NPU_ADV_NO_TMP;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.tiling = &tiling;
    call.shape[0] = static_cast<uint32_t>(transposeType);
    npu_advanced(&call);
}
template <typename T>
AKGEN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, TransposeType transposeType,
                         ConfusionTransposeTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    Transpose<T>(dst, src, none, transposeType, tiling);
}
/* The older name. */
template <typename T>
AKGEN_API void ConfusionTranspose(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                                  const LocalTensor<uint8_t> &sharedTmpBuffer, TransposeType transposeType,
                                  ConfusionTransposeTiling &tiling)
{
    Transpose<T>(dstTensor, srcTensor, sharedTmpBuffer, transposeType, tiling);
}
template <typename T>
AKGEN_API void ConfusionTranspose(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                                  TransposeType transposeType, ConfusionTransposeTiling &tiling)
{
    Transpose<T>(dstTensor, srcTensor, transposeType, tiling);
}

} // namespace AscendC

#endif
