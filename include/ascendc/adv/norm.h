/* Normalisation of the last axis. */
#ifndef ASCENDC_ADV_NORM_H
#define ASCENDC_ADV_NORM_H

#include "adv/call.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC
{

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
constexpr LayerNormConfig GetLayerNormNormalConfig()
{
    return {};
}
constexpr LayerNormConfig LNCFG_NORM = GetLayerNormNormalConfig();

/* aLength rows of rLength elements, rLengthWithPadding of them in memory. */
struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};
struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

enum class ReducePattern : uint32_t {
    AR = 0,
    RA = 1,
    R,
    ARA,
    ARAR,
    ARARA,
    ARARAR,
    ARARARA,
    ARARARAR,
    ARARARARA,
    RAR,
    RARA,
    RARAR,
    RARARA,
    RARARAR,
    RARARARA,
};
struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig GetNormalizeConfig(bool isNoBeta, bool isNoGamma)
{
    return {ReducePattern::AR, -1, isNoBeta, isNoGamma, false};
}
constexpr NormalizeConfig NLCFG_NORM = GetNormalizeConfig(false, false);
constexpr NormalizeConfig NLCFG_NOBETA = GetNormalizeConfig(true, false);
constexpr NormalizeConfig NLCFG_NOGAMMA = GetNormalizeConfig(false, true);
constexpr NormalizeConfig NLCFG_NOOPT = GetNormalizeConfig(true, true);

} // namespace AscendC

namespace akgen
{

/* LayerNorm, DeepNorm and BatchNorm: x, gamma and beta to an output, the means and the variances. */
template <npu_adv_op op, typename T, typename Tiling>
AKGEN_API npu_adv layer_norm(const AscendC::LocalTensor<T> &output, const AscendC::LocalTensor<T> &mean,
                             const AscendC::LocalTensor<T> &variance, const AscendC::LocalTensor<T> &x,
                             const AscendC::LocalTensor<T> &gamma, const AscendC::LocalTensor<T> &beta, T epsilon,
                             const Tiling &tiling, bool reuse)
{
    npu_adv call = adv<op, T>(raw(output), raw(x), 0, reuse);
    call.dst[1] = raw(mean);
    call.dst[2] = raw(variance);
    call.src[1] = raw(gamma);
    call.src[2] = raw(beta);
    call.scalar[0] = bits_of<T>(epsilon);
    call.tiling = &tiling;
    return call;
}

/* gamma and beta are at least as precise as x. */
template <npu_adv_op op, typename U, typename T, typename Para>
AKGEN_API npu_adv normalize(const AscendC::LocalTensor<T> &output, const AscendC::LocalTensor<T> &x,
                            const AscendC::LocalTensor<U> &gamma, const AscendC::LocalTensor<U> &beta, float epsilon,
                            const Para &para, bool no_gamma, bool no_beta)
{
    static_assert(std::is_same_v<T, U> || (std::is_same_v<T, half> && std::is_same_v<U, float>),
                  "gamma and beta have the type of x, or are float beside half");
    npu_adv call = adv<op, T>(raw(output), raw(x), 0);
    call.dst_type = dtype_of<U>::value;
    if (!no_gamma)
        call.src[1] = raw(gamma);
    if (!no_beta)
        call.src[2] = raw(beta);
    call.scalar[0] = bits_of<float>(epsilon);
    call.shape[0] = para.aLength;
    call.shape[1] = para.rLength;
    call.shape[2] = para.rLengthWithPadding;
    return call;
}

} // namespace akgen

namespace AscendC
{

template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon, LayerNormTiling &tiling)
{
    npu_adv call = akgen::layer_norm<NPU_ADV_LAYER_NORM>(output, outputMean, outputVariance, inputX, gamma, beta,
                                                         epsilon, tiling, isReuseSource);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon,
                         LayerNormTiling &tiling)
{
    npu_adv call = akgen::layer_norm<NPU_ADV_LAYER_NORM>(output, outputMean, outputVariance, inputX, gamma, beta,
                                                         epsilon, tiling, isReuseSource);
    npu_advanced(&call);
}

template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
AKGEN_API void
LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd,
          const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
          const LocalTensor<uint8_t> &sharedTmpBuffer, const LayerNormPara &para, const LayerNormSeparateTiling &tiling)
{
    static_assert(!config.isOnlyOutput, "LayerNorm: isOnlyOutput is not supported on Ascend910B");
    npu_adv call = akgen::normalize<NPU_ADV_LAYER_NORM_RSTD, U, T>(output, inputX, gamma, beta, epsilon, para,
                                                                   config.isNoGamma, config.isNoBeta);
    call.dst[1] = outputMean.akgen_tensor;
    call.dst[2] = outputRstd.akgen_tensor;
    call.tiling = &tiling;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
AKGEN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean,
                         const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX,
                         const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
                         const LayerNormPara &para, const LayerNormSeparateTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta, epsilon, none, para,
                                           tiling);
}

template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
AKGEN_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd,
                         const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                         const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, const float epsilon, const NormalizePara &para)
{
    static_assert(!config.isOnlyOutput, "Normalize: isOnlyOutput is not supported");
    static_assert(config.aLength != 1, "Normalize: aLength of the config is not 1");
    npu_adv call = akgen::normalize<NPU_ADV_NORMALIZE, U, T>(output, inputX, gamma, beta, epsilon, para,
                                                             config.isNoGamma, config.isNoBeta);
    call.dst[2] = outputRstd.akgen_tensor;
    call.src[3] = inputMean.akgen_tensor;
    call.src[4] = inputVariance.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
AKGEN_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd,
                         const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                         const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                         const float epsilon, const NormalizePara &para)
{
    const LocalTensor<uint8_t> none;
    Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, none,
                                           epsilon, para);
}

template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
AKGEN_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal,
                        const LocalTensor<T> &rstdLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gxLocal,
                        const LocalTensor<T> &betaLocal, const LocalTensor<T> &gammaLocal,
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const T alpha, const T epsilon,
                        DeepNormTiling &tiling)
{
    npu_adv call = akgen::layer_norm<NPU_ADV_DEEP_NORM>(dstLocal, meanLocal, rstdLocal, srcLocal, gammaLocal, betaLocal,
                                                        epsilon, tiling, isReuseSrc);
    call.src[3] = gxLocal.akgen_tensor;
    call.scalar[1] = akgen::bits_of<T>(alpha);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
AKGEN_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal,
                        const LocalTensor<T> &rstdLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gxLocal,
                        const LocalTensor<T> &betaLocal, const LocalTensor<T> &gammaLocal, const T alpha,
                        const T epsilon, DeepNormTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    DeepNorm<T, isReuseSrc, isBasicBlock>(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal,
                                          none, alpha, epsilon, tiling);
}

template <typename T, bool isBasicBlock = false>
AKGEN_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                       const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon, const RmsNormTiling &tiling)
{
    npu_adv call = akgen::adv<NPU_ADV_RMS_NORM, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, 0);
    call.src[1] = gammaLocal.akgen_tensor;
    call.scalar[0] = akgen::bits_of<T>(epsilon);
    call.tiling = &tiling;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isBasicBlock = false>
AKGEN_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                       const T epsilon, const RmsNormTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, none, epsilon, tiling);
}

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
AKGEN_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX, const LocalTensor<T> &gamm,
                         const LocalTensor<T> &beta, const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon,
                         BatchNormTiling &tiling)
{
    npu_adv call = akgen::layer_norm<NPU_ADV_BATCH_NORM>(output, outputMean, outputVariance, inputX, gamm, beta,
                                                         epsilon, tiling, isReuseSource);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
AKGEN_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
                         const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX, const LocalTensor<T> &gamm,
                         const LocalTensor<T> &beta, const T epsilon, BatchNormTiling &tiling)
{
    const LocalTensor<uint8_t> none;
    BatchNorm<T, isReuseSource, isBasicBlock>(output, outputMean, outputVariance, inputX, gamm, beta, none, epsilon,
                                              tiling);
}

} // namespace AscendC

#endif
