/* GroupNorm. */
#ifndef ASCENDC_ADV_GROUP_NORM_H
#define ASCENDC_ADV_GROUP_NORM_H

#include "adv/norm.h"

namespace AscendC
{

template <typename T, bool isReuseSource = false>
AKGEN_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon, GroupNormTiling &tiling)
{
    npu_adv call = akgen::layer_norm<NPU_ADV_GROUP_NORM>(output, outputMean, outputVariance, inputX, gamma, beta,
                                                         epsilon, tiling, isReuseSource);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon,
                         GroupNormTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    GroupNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, none, epsilon, tiling);
}

} // namespace AscendC

#endif
