/* Sum and Mean of the last axis of a matrix. */
#ifndef ASCENDC_ADV_REDUCE_H
#define ASCENDC_ADV_REDUCE_H

#include "adv/call.h"

namespace AscendC
{

/* inner: n rounded up to whole 32-byte blocks. */
struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

} // namespace AscendC

namespace akgen
{
template <npu_adv_op op, typename T, typename P>
AKGEN_API npu_adv along_rows(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const P &params)
{
    npu_adv call = adv<op, T>(raw(dst), raw(src), 0);
    call.shape[0] = params.outter;
    call.shape[1] = params.inner;
    call.shape[2] = params.n;
    return call;
}
} // namespace akgen

namespace AscendC
{

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
AKGEN_API void Sum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                   const LocalTensor<uint8_t> &sharedTmpBuffer, const SumParams &sumParams)
{
    npu_adv call = akgen::along_rows<NPU_ADV_SUM>(dstTensor, srcTensor, sumParams);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
AKGEN_API void Sum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const SumParams &sumParams)
{
    npu_adv call = akgen::along_rows<NPU_ADV_SUM>(dstTensor, srcTensor, sumParams);
    npu_advanced(&call);
}

template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
AKGEN_API void Mean(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,
                    const LocalTensor<uint8_t> &sharedTmpBuffer, const MeanParams &meanParams)
{
    npu_adv call = akgen::along_rows<NPU_ADV_MEAN>(dstTensor, srcTensor, meanParams);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.flags = sizeof(T) == 2 && sizeof(accType) == 4 ? NPU_ADV_IN_FLOAT : 0;
    npu_advanced(&call);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
AKGEN_API void Mean(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const MeanParams &meanParams)
{
    npu_adv call = akgen::along_rows<NPU_ADV_MEAN>(dstTensor, srcTensor, meanParams);
    call.flags = sizeof(T) == 2 && sizeof(accType) == 4 ? NPU_ADV_IN_FLOAT : 0;
    npu_advanced(&call);
}

} // namespace AscendC

#endif
