/* Welford's mean and variance, and the gradients of LayerNorm. */
#ifndef ASCENDC_ADV_NORM_GRAD_H
#define ASCENDC_ADV_NORM_GRAD_H

#include "adv/call.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC
{

struct WelfordUpdateConfig {
    constexpr WelfordUpdateConfig(const bool isInplaceIn) : isInplace(isInplaceIn)
    {
    }
    bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
/* abComputeLength of abLength elements take their next value; nRec: 1 / how many each has then. */
struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};
/* headCountLength elements have headCount values, tailCountLength have tailCount. */
struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
    float rRecWithCorrection;
};
struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
AKGEN_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance,
                             const LocalTensor<U> &inputMean, const LocalTensor<U> &inputVariance,
                             const LocalTensor<T> &inputX, const LocalTensor<uint8_t> &sharedTmpBuffer,
                             const WelfordUpdateParam &para)
{
    static_assert(std::is_same_v<U, float>, "WelfordUpdate: mean and variance are float");
    npu_adv call = akgen::adv<NPU_ADV_WELFORD_UPDATE, T>(outputMean.akgen_tensor, inputMean.akgen_tensor,
                                                         config.isInplace, isReuseSource);
    call.dst[1] = outputVariance.akgen_tensor;
    call.src[1] = inputVariance.akgen_tensor;
    call.src[2] = inputX.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.shape[0] = para.abLength;
    call.shape[1] = para.abComputeLength;
    call.scalar[0] = akgen::bits_of<float>(para.nRec);
    npu_advanced(&call);
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
AKGEN_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance,
                             const LocalTensor<U> &inputMean, const LocalTensor<U> &inputVariance,
                             const LocalTensor<T> &inputX, const WelfordUpdateParam &para)
{
    const LocalTensor<uint8_t> none;
    WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, inputX, none,
                                               para);
}

} // namespace AscendC

namespace akgen
{
AKGEN_API npu_adv welford_finalize(const AscendC::LocalTensor<float> &mean, const AscendC::LocalTensor<float> &variance,
                                   const AscendC::LocalTensor<float> &means,
                                   const AscendC::LocalTensor<float> &variances,
                                   const AscendC::WelfordFinalizePara &para)
{
    npu_adv call = adv<NPU_ADV_WELFORD_FINALIZE, float>(raw(mean), raw(means), 0);
    call.dst[1] = raw(variance);
    call.src[1] = raw(variances);
    call.shape[0] = para.abLength;
    call.shape[1] = para.rnLength;
    call.shape[2] = para.headCount;
    call.shape[3] = para.headCountLength;
    call.shape[4] = para.tailCount;
    call.shape[5] = para.tailCountLength;
    call.scalar[0] = bits_of<float>(para.abRec);
    call.scalar[1] = bits_of<float>(para.rRec);
    return call;
}
} // namespace akgen

namespace AscendC
{

template <bool isReuseSource = false>
AKGEN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                               const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                               const LocalTensor<uint8_t> &sharedTmpBuffer, WelfordFinalizePara &para)
{
    npu_adv call = akgen::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, para);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <bool isReuseSource = false>
AKGEN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                               const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                               const LocalTensor<int32_t> &counts, const LocalTensor<uint8_t> &sharedTmpBuffer,
                               WelfordFinalizePara &para)
{
    npu_adv call = akgen::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, para);
    call.src[2] = counts.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <bool isReuseSource = false>
AKGEN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                               const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                               WelfordFinalizePara &para)
{
    npu_adv call = akgen::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, para);
    npu_advanced(&call);
}
template <bool isReuseSource = false>
AKGEN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                               const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                               const LocalTensor<int32_t> &counts, WelfordFinalizePara &para)
{
    npu_adv call = akgen::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, para);
    call.src[2] = counts.akgen_tensor;
    npu_advanced(&call);
}

/* Anything but ND does nothing, as CANN's. */
template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma,
                             const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                             const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                             const LocalTensor<T> &inputGamma, LocalTensor<uint8_t> &sharedTmpBuffer, T epsilon,
                             LayerNormGradTiling &tiling, const LayerNormGradShapeInfo &shapeInfo = {})
{
    if (shapeInfo.dataFormat != DataFormat::ND)
        return;
    npu_adv call =
        akgen::adv<NPU_ADV_LAYER_NORM_GRAD, T>(outputPdX.akgen_tensor, inputDy.akgen_tensor, 0, isReuseSource);
    call.dst[1] = resForGamma.akgen_tensor;
    call.src[1] = inputX.akgen_tensor;
    call.src[2] = inputVariance.akgen_tensor;
    call.src[3] = inputMean.akgen_tensor;
    call.src[4] = inputGamma.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.scalar[0] = akgen::bits_of<T>(epsilon);
    call.tiling = &tiling;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma,
                             const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                             const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                             const LocalTensor<T> &inputGamma, T epsilon, LayerNormGradTiling &tiling,
                             const LayerNormGradShapeInfo &shapeInfo = {})
{
    LocalTensor<uint8_t> none;
    LayerNormGrad<T, isReuseSource>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, none,
                                    epsilon, tiling, shapeInfo);
}

template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                                 const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                                 const LocalTensor<uint8_t> &sharedTmpBuffer, const LayerNormGradBetaTiling &tiling)
{
    npu_adv call = akgen::adv<NPU_ADV_LAYER_NORM_GRAD_BETA, T>(outputPdGamma.akgen_tensor, resForGamma.akgen_tensor, 0,
                                                               isReuseSource);
    call.dst[1] = outputPdBeta.akgen_tensor;
    call.src[1] = inputDy.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.tiling = &tiling;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                                 const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                                 LayerNormGradBetaTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    LayerNormGradBeta<T, isReuseSource>(outputPdGamma, outputPdBeta, resForGamma, inputDy, none, tiling);
}

} // namespace AscendC

#endif
