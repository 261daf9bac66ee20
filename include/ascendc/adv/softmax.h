/* SoftMax and its relatives: the last axis of a matrix. T is half or float; statistics (sum, max) have the type of the
 * data, or are float beside half data. */
#ifndef ASCENDC_ADV_SOFTMAX_H
#define ASCENDC_ADV_SOFTMAX_H

#include "adv/call.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC
{

enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };

struct SoftmaxConfig {
    constexpr SoftmaxConfig(const bool isCheckTilingIn) : isCheckTiling(isCheckTilingIn)
    {
    }
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn)
    {
    }
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn,
                            const SoftmaxMode modeIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn), mode(modeIn)
    {
    }
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

/* Rows and columns in memory, and those of them that are data. */
struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

/* The tiling of SoftmaxFlashV2, computed by the kernel: asc-devkit docs, SoftmaxFlashV2 Tiling. localWorkSpaceSize
 * counts floats; a row takes its statistics, 64 floats for its reduction, and in half its data. */
AKGEN_API constexpr SoftMaxTiling
SoftMaxFlashV2TilingFuncImpl(const uint32_t srcM, const uint32_t srcK, const uint32_t dataTypeSize1,
                             const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,
                             const bool isUpdate = false, const bool isBasicBlock = false,
                             const bool isDataFormatNZ = false, const bool isFlashOutputBrc = false)
{
    const uint32_t block = 32 / dataTypeSize2;
    const bool half_data = dataTypeSize1 == 2, basic = isBasicBlock && srcK % 64 == 0 && srcM % 8 == 0;
    uint32_t row = block + 64;
    if (isDataFormatNZ)
        row = 3 * 16 + srcK;
    else if (half_data)
        row = (basic ? 1 : 2) * block + srcK + 64;
    uint32_t rows = localWorkSpaceSize / row;
    if (basic && !isDataFormatNZ) {
        rows = rows < srcM ? rows : srcM;
        if (rows > 8) {
            for (rows = rows / 8 * 8; srcM % rows != 0;)
                rows -= 8;
            while (rows * srcK >= 64 * 256)
                rows /= 2;
        }
    }
    const uint32_t unit = isFlashOutputBrc && half_data ? 16 : 8;
    if (rows < srcM && rows > unit)
        rows = rows / unit * unit;
    rows = rows < srcM ? rows : srcM;
    SoftMaxTiling tiling;
    tiling.srcM = tiling.outMaxM = srcM;
    tiling.srcK = tiling.splitK = srcK;
    tiling.srcSize = srcM * srcK;
    tiling.outMaxK = tiling.reduceK = block;
    tiling.outMaxSize = srcM * block;
    tiling.splitM = tiling.reduceM = rows;
    tiling.splitSize = rows * srcK;
    tiling.reduceSize = rows * block;
    tiling.rangeM = rows ? srcM / rows : 0;
    tiling.tailM = rows ? srcM % rows : 0;
    tiling.tailSplitSize = tiling.tailM * srcK;
    tiling.tailReduceSize = tiling.tailM * block;
    return tiling;
}
AKGEN_API constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo &shapeInfo,
                                                           const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
                                                           const uint32_t localWorkSpaceSize,
                                                           const bool isUpdate = false, const bool isBasicBlock = false,
                                                           const bool isDataFormatNZ = false,
                                                           const bool isFlashOutputBrc = false)
{
    return SoftMaxFlashV2TilingFuncImpl(shapeInfo.srcM, shapeInfo.srcK, dataTypeSize1, dataTypeSize2,
                                        localWorkSpaceSize / 4, isUpdate, isBasicBlock, isDataFormatNZ,
                                        isFlashOutputBrc);
}

} // namespace AscendC

namespace akgen
{

/* The shape as the kernel gives it, or that of the source tensor. */
template <typename T>
AKGEN_API void softmax_shape(npu_adv &call, const AscendC::LocalTensor<T> &src, const AscendC::SoftMaxShapeInfo &info)
{
    call.shape[0] = info.srcM;
    call.shape[1] = info.srcK;
    call.shape[2] = info.oriSrcM;
    call.shape[3] = info.oriSrcK;
    if (info.srcM != 0 && info.srcK != 0)
        return;
    const AscendC::ShapeInfo shape = src.GetShapeInfo();
    const uint32_t dims[2] = {shape.shapeDim, shape.originalShapeDim};
    const uint32_t *sizes[2] = {shape.shape, shape.originalShape};
    for (int which = 0; which < 2; which++) {
        uint32_t rows = 1, n = dims[which] <= AscendC::K_MAX_SHAPE_DIM ? dims[which] : 0;
        for (uint32_t i = 0; i + 1 < n; i++)
            rows *= sizes[which][i];
        call.shape[2 * which] = n ? rows : 0;
        call.shape[2 * which + 1] = n ? sizes[which][n - 1] : 0;
    }
}

template <npu_adv_op op, typename T, typename Tiling>
AKGEN_API npu_adv softmax(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const Tiling &tiling,
                          const AscendC::SoftMaxShapeInfo &info, uint32_t flags)
{
    npu_adv call = adv<op, T>(raw(dst), raw(src), 0);
    softmax_shape(call, src, info);
    call.flags = flags;
    call.tiling = &tiling;
    return call;
}
template <typename T, typename S> constexpr uint32_t softmax_types()
{
    static_assert(std::is_same_v<T, S> || (std::is_same_v<T, half> && std::is_same_v<S, float>),
                  "statistics have the type of the data, or are float beside half data");
    return std::is_same_v<T, S> ? 0 : NPU_ADV_IN_FLOAT;
}
template <const AscendC::SoftmaxConfig &config> constexpr uint32_t softmax_config()
{
    return (config.isCheckTiling ? 0 : NPU_ADV_TRUST_TILING) |
           (config.mode == AscendC::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC ? NPU_ADV_PACKED : 0);
}
/* config's own shape goes before the other one. */
template <const AscendC::SoftmaxConfig &config> AKGEN_API void softmax_const_shape(npu_adv &call)
{
    if constexpr (config.oriSrcM != 0 && config.oriSrcK != 0)
        call.shape[3] = config.oriSrcK;
}

} // namespace akgen

namespace AscendC
{

/* An API with and without sharedTmpBuffer: `call` is made by `make` and then sent. */
#define AKGEN_SEND(make)                                                                                               \
    npu_adv call = make;                                                                                               \
    call.tmp = sharedTmpBuffer.akgen_tensor;                                                                           \
    npu_advanced(&call);
#define AKGEN_SEND_WITHOUT(make)                                                                                       \
    npu_adv call = make;                                                                                               \
    npu_advanced(&call);
#define AKGEN_TMP() const LocalTensor<uint8_t> &sharedTmpBuffer,
#define AKGEN_NO_TMP()
/* Data and statistics of one type, and float statistics beside half data. */
#define AKGEN_BOTH_TYPES(X, tmp, send) X(T, T, tmp, send) X(half, float, tmp, send)

#define AKGEN_SOFTMAX(D, S, tmp, send)                                                                                 \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,          \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                                                       \
    AKGEN_API void SoftMax(const LocalTensor<D> &dstTensor, const LocalTensor<S> &sumTensor,                           \
                           const LocalTensor<S> &maxTensor, const LocalTensor<D> &srcTensor,                           \
                           tmp() const SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {})           \
    {                                                                                                                  \
        constexpr uint32_t flags = akgen::softmax_types<D, S>() | (isDataFormatNZ ? NPU_ADV_NZ : 0);                   \
        npu_adv made = akgen::softmax<NPU_ADV_SOFTMAX, D>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags);      \
        akgen::softmax_const_shape<config>(made);                                                                      \
        made.dst[1] = sumTensor.akgen_tensor;                                                                          \
        made.dst[2] = maxTensor.akgen_tensor;                                                                          \
        send(made)                                                                                                     \
    }
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_TMP, AKGEN_SEND)
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

#define AKGEN_SOFTMAX(tmp, send)                                                                                       \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false,                                       \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                                                       \
    AKGEN_API void SoftMax(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                           \
                           tmp() const SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {})           \
    {                                                                                                                  \
        npu_adv made = akgen::softmax<NPU_ADV_SOFTMAX, T>(dstTensor, srcTensor, tiling, softmaxShapeInfo, 0);          \
        akgen::softmax_const_shape<config>(made);                                                                      \
        send(made)                                                                                                     \
    }
AKGEN_SOFTMAX(AKGEN_TMP, AKGEN_SEND)
AKGEN_SOFTMAX(AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
AKGEN_API void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &sum, const LocalTensor<T> &max,
                          const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer,
                          const LogSoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {})
{
    npu_adv call =
        akgen::softmax<NPU_ADV_LOG_SOFTMAX, T>(dst, src, tiling, softmaxShapeInfo, isDataFormatNZ ? NPU_ADV_NZ : 0);
    call.dst[1] = sum.akgen_tensor;
    call.dst[2] = max.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}

#define AKGEN_SOFTMAX(D, S, tmp, send)                                                                                 \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,          \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                                                       \
    AKGEN_API void SimpleSoftMax(const LocalTensor<D> &dstTensor, const LocalTensor<S> &inSumTensor,                   \
                                 const LocalTensor<S> &inMaxTensor, const LocalTensor<D> &srcTensor,                   \
                                 tmp() const SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {})     \
    {                                                                                                                  \
        constexpr uint32_t flags = akgen::softmax_types<D, S>() | (isDataFormatNZ ? NPU_ADV_NZ : 0);                   \
        npu_adv made =                                                                                                 \
            akgen::softmax<NPU_ADV_SIMPLE_SOFTMAX, D>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags);          \
        made.src[1] = inMaxTensor.akgen_tensor;                                                                        \
        made.src[2] = inSumTensor.akgen_tensor;                                                                        \
        send(made)                                                                                                     \
    }
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_TMP, AKGEN_SEND)
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

/* SoftmaxFlash: what was computed so far is divided already. */
#define AKGEN_SOFTMAX(D, S, tmp, send)                                                                                 \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                       \
    [[deprecated("SoftmaxFlash is deprecated, use SoftmaxFlashV2")]]                                                   \
    AKGEN_API void SoftmaxFlash(const LocalTensor<D> &dstTensor, const LocalTensor<S> &sumTensor,                      \
                                const LocalTensor<S> &maxTensor, const LocalTensor<D> &srcTensor,                      \
                                const LocalTensor<D> &expMaxTensor, const LocalTensor<S> &inSumTensor,                 \
                                const LocalTensor<S> &inMaxTensor, tmp() const SoftMaxTiling &tiling,                  \
                                bool isUpdate = false, const SoftMaxShapeInfo &softmaxShapeInfo = {})                  \
    {                                                                                                                  \
        const uint32_t flags = akgen::softmax_types<D, S>() | (isUpdate ? NPU_ADV_UPDATE : 0);                         \
        npu_adv made =                                                                                                 \
            akgen::softmax<NPU_ADV_SOFTMAX_FLASH, D>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags);           \
        made.dst[1] = sumTensor.akgen_tensor;                                                                          \
        made.dst[2] = maxTensor.akgen_tensor;                                                                          \
        made.dst[3] = expMaxTensor.akgen_tensor;                                                                       \
        made.src[1] = inMaxTensor.akgen_tensor;                                                                        \
        made.src[2] = inSumTensor.akgen_tensor;                                                                        \
        send(made)                                                                                                     \
    }
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_TMP, AKGEN_SEND)
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

#define AKGEN_SOFTMAX(D, S, tmp, send)                                                                                 \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,                \
              bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                          \
    AKGEN_API void SoftmaxFlashV2(const LocalTensor<D> &dstTensor, const LocalTensor<S> &expSumTensor,                 \
                                  const LocalTensor<S> &maxTensor, const LocalTensor<D> &srcTensor,                    \
                                  const LocalTensor<D> &expMaxTensor, const LocalTensor<S> &inExpSumTensor,            \
                                  const LocalTensor<S> &inMaxTensor, tmp() const SoftMaxTiling &tiling,                \
                                  const SoftMaxShapeInfo &softmaxShapeInfo = {})                                       \
    {                                                                                                                  \
        constexpr uint32_t flags = akgen::softmax_types<D, S>() | akgen::softmax_config<config>() |                    \
                                   (isUpdate ? NPU_ADV_UPDATE : 0) | (isDataFormatNZ ? NPU_ADV_NZ : 0);                \
        npu_adv made =                                                                                                 \
            akgen::softmax<NPU_ADV_SOFTMAX_FLASH_V2, D>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags);        \
        akgen::softmax_const_shape<config>(made);                                                                      \
        made.dst[1] = expSumTensor.akgen_tensor;                                                                       \
        made.dst[2] = maxTensor.akgen_tensor;                                                                          \
        made.dst[3] = expMaxTensor.akgen_tensor;                                                                       \
        made.src[1] = inMaxTensor.akgen_tensor;                                                                        \
        made.src[2] = inExpSumTensor.akgen_tensor;                                                                     \
        send(made)                                                                                                     \
    }
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_TMP, AKGEN_SEND)
AKGEN_BOTH_TYPES(AKGEN_SOFTMAX, AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

struct SoftMaxParams {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t oriSrcM;
    uint32_t oriSrcK;
    uint32_t loopCnt;
    uint32_t splitMeanCnt;
    float alpha;
};
#define AKGEN_SOFTMAX(tmp, send)                                                                                       \
    template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,    \
              bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                          \
    AKGEN_API void SoftmaxFlashV3(                                                                                     \
        const LocalTensor<T> &dstTensor, const LocalTensor<U> &meanTensor, const LocalTensor<U> &expSumTensor,         \
        const LocalTensor<U> &maxTensor, const LocalTensor<T> &srcTensor, const LocalTensor<T> &expMaxTensor,          \
        const LocalTensor<U> &inMeanTensor, const LocalTensor<U> &inExpSumTensor, const LocalTensor<U> &inMaxTensor,   \
        tmp() const SoftMaxTiling &tiling, const SoftMaxParams &params)                                                \
    {                                                                                                                  \
        static_assert(std::is_same_v<T, half> && std::is_same_v<U, float>,                                             \
                      "SoftmaxFlashV3: this combination of data types is not supported on Ascend910B; supported: "     \
                      "half with float");                                                                              \
        npu_adv made = akgen::softmax<NPU_ADV_SOFTMAX_FLASH_V3, T>(                                                    \
            dstTensor, srcTensor, tiling, {params.srcM, params.srcK, params.oriSrcM, params.oriSrcK},                  \
            isUpdate ? NPU_ADV_UPDATE : 0);                                                                            \
        made.shape[4] = params.loopCnt;                                                                                \
        made.shape[5] = params.splitMeanCnt;                                                                           \
        made.scalar[0] = akgen::bits_of<float>(params.alpha);                                                          \
        made.dst[1] = meanTensor.akgen_tensor;                                                                         \
        made.dst[2] = expSumTensor.akgen_tensor;                                                                       \
        made.dst[3] = maxTensor.akgen_tensor;                                                                          \
        made.dst[4] = expMaxTensor.akgen_tensor;                                                                       \
        made.src[1] = inMeanTensor.akgen_tensor;                                                                       \
        made.src[2] = inExpSumTensor.akgen_tensor;                                                                     \
        made.src[3] = inMaxTensor.akgen_tensor;                                                                        \
        send(made)                                                                                                     \
    }
AKGEN_SOFTMAX(AKGEN_TMP, AKGEN_SEND)
AKGEN_SOFTMAX(AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

/* With the rows' own maxima as a result: in the mode without broadcast only, as CANN's does nothing in the other. */
#define AKGEN_SOFTMAX(tmp, send)                                                                                       \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,                \
              bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                          \
    AKGEN_API void SoftmaxFlashV2(const LocalTensor<T> &dstTensor, const LocalTensor<T> &outReduceMax,                 \
                                  const LocalTensor<T> &outExpSum, const LocalTensor<T> &outMax,                       \
                                  const LocalTensor<T> &srcTensor, const LocalTensor<T> &outExpMax,                    \
                                  const LocalTensor<T> &inExpSum, const LocalTensor<T> &inMax,                         \
                                  tmp() const SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {})    \
    {                                                                                                                  \
        if constexpr (config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC) {                                        \
            constexpr uint32_t flags =                                                                                 \
                akgen::softmax_config<config>() | NPU_ADV_TRUST_TILING | (isUpdate ? NPU_ADV_UPDATE : 0);              \
            npu_adv made =                                                                                             \
                akgen::softmax<NPU_ADV_SOFTMAX_FLASH_V2, T>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags);    \
            made.dst[1] = outExpSum.akgen_tensor;                                                                      \
            made.dst[2] = outMax.akgen_tensor;                                                                         \
            made.dst[3] = outExpMax.akgen_tensor;                                                                      \
            made.dst[4] = outReduceMax.akgen_tensor;                                                                   \
            made.src[1] = inMax.akgen_tensor;                                                                          \
            made.src[2] = inExpSum.akgen_tensor;                                                                       \
            send(made)                                                                                                 \
        }                                                                                                              \
    }
AKGEN_SOFTMAX(AKGEN_TMP, AKGEN_SEND)
AKGEN_SOFTMAX(AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX

#define AKGEN_SOFTMAX(tmp, send)                                                                                       \
    template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>                                     \
    AKGEN_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor,                      \
                               const LocalTensor<T> &srcTensor, tmp() const SoftMaxTiling &tiling,                     \
                               bool isFront = false, const SoftMaxShapeInfo &softmaxShapeInfo = {})                    \
    {                                                                                                                  \
        const uint32_t flags = (isFront ? NPU_ADV_FRONT : 0) | (isDataFormatNZ ? NPU_ADV_NZ : 0);                      \
        npu_adv made = akgen::softmax<NPU_ADV_SOFTMAX_GRAD, T>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags); \
        made.src[1] = gradTensor.akgen_tensor;                                                                         \
        send(made)                                                                                                     \
    }                                                                                                                  \
    template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>                                      \
    AKGEN_API void SoftmaxGradFront(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor,                 \
                                    const LocalTensor<T> &srcTensor, tmp() const SoftMaxTiling &tiling,                \
                                    const SoftMaxShapeInfo &softmaxShapeInfo = {})                                     \
    {                                                                                                                  \
        constexpr uint32_t flags = NPU_ADV_FRONT | (isDataFormatNZ ? NPU_ADV_NZ : 0);                                  \
        npu_adv made = akgen::softmax<NPU_ADV_SOFTMAX_GRAD, T>(dstTensor, srcTensor, tiling, softmaxShapeInfo, flags); \
        made.src[1] = gradTensor.akgen_tensor;                                                                         \
        send(made)                                                                                                     \
    }
AKGEN_SOFTMAX(AKGEN_TMP, AKGEN_SEND)
AKGEN_SOFTMAX(AKGEN_NO_TMP, AKGEN_SEND_WITHOUT)
#undef AKGEN_SOFTMAX
#undef AKGEN_BOTH_TYPES
#undef AKGEN_TMP
#undef AKGEN_NO_TMP
#undef AKGEN_SEND
#undef AKGEN_SEND_WITHOUT

/* Rows whose maximum has the bits `from` become `to`; true if there was one. */
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
AKGEN_API bool AdjustSoftMaxRes(const LocalTensor<T1> &softMaxRes, const LocalTensor<T2> &maxTensor,
                                const uint32_t from, const T1 to, const SoftMaxShapeInfo &softmaxShapeInfo)
{
    static_assert(akgen::softmax_types<T1, T2>() == 0 || std::is_same_v<T2, float>);
    bool found = false;
    npu_adv call = akgen::adv<NPU_ADV_ADJUST_SOFTMAX, T1>(softMaxRes.akgen_tensor, softMaxRes.akgen_tensor, 0);
    call.dst_type = akgen::dtype_of<T2>::value;
    call.flags = (isDataFormatNZ ? NPU_ADV_NZ : 0) | (stepSizeMode != 0 ? NPU_ADV_PACKED : 0);
    call.src[1] = maxTensor.akgen_tensor;
    call.shape[0] = softmaxShapeInfo.srcM;
    call.shape[1] = softmaxShapeInfo.srcK;
    call.scalar[0] = sizeof(T2) == 2 ? uint16_t(from) : from;
    call.scalar[1] = akgen::bits_of<T1>(to);
    call.answer = &found;
    npu_advanced(&call);
    return found;
}

} // namespace AscendC

#endif
