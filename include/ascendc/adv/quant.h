/* AscendQuant, AscendDequant, AscendAntiQuant. */
#ifndef ASCENDC_ADV_QUANT_H
#define ASCENDC_ADV_QUANT_H

#include "adv/call.h"

namespace AscendC
{

struct AscendQuantConfig {
    constexpr AscendQuantConfig(const uint32_t calcCountIn, const uint32_t offsetCountIn, const uint32_t scaleCountIn,
                                const uint32_t workLocalSizeIn)
        : calcCount(calcCountIn), offsetCount(offsetCountIn), scaleCount(scaleCountIn), workLocalSize(workLocalSizeIn)
    {
    }
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

/* m rows of n elements (whole 32-byte blocks of the source), calCount of each to be scaled. */
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};
enum class DeQuantMode : uint8_t { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };

struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

} // namespace AscendC

namespace akgen
{

template <typename T, const AscendC::AscendQuantConfig &config>
AKGEN_API npu_adv quant(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src, uint32_t calCount)
{
    const uint32_t count = config.calcCount != 0 ? config.calcCount : calCount;
    return adv<NPU_ADV_QUANT, T>(raw(dst), raw(src), count);
}
/* A scale for each column; the numbers beside it have type T. */
template <typename T, const AscendC::AscendQuantConfig &config>
AKGEN_API npu_adv quant_columns(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src,
                                const AscendC::LocalTensor<T> &scale, uint32_t scaleCount, uint32_t calCount)
{
    npu_adv call = quant<T, config>(dst, src, calCount);
    call.dst_type = dtype_of<T>::value;
    call.src[1] = raw(scale);
    call.shape[0] = config.scaleCount != 0 ? config.scaleCount : scaleCount;
    return call;
}

} // namespace akgen

namespace AscendC
{

#define AKGEN_TMP() const LocalTensor<uint8_t> &sharedTmpBuffer,
#define AKGEN_NO_TMP()
#define AKGEN_SET_TMP call.tmp = sharedTmpBuffer.akgen_tensor;
#define AKGEN_SET_NO_TMP
/* The counts can be left out: then they are the tensors' sizes. */
#define AKGEN_QUANT(tmp, set)                                                                                          \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const float scale, const float offset, const uint32_t calCount)                   \
    {                                                                                                                  \
        npu_adv call = akgen::quant<T, config>(dstTensor, srcTensor, calCount);                                        \
        call.dst_type = akgen::dtype_of<float>::value;                                                                 \
        call.scalar[0] = akgen::bits_of<float>(scale);                                                                 \
        call.scalar[1] = akgen::bits_of<float>(offset);                                                                \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const float scale, const float offset)                                            \
    {                                                                                                                  \
        npu_adv call = akgen::quant<T, config>(dstTensor, srcTensor, srcTensor.GetSize());                             \
        call.dst_type = akgen::dtype_of<float>::value;                                                                 \
        call.scalar[0] = akgen::bits_of<float>(scale);                                                                 \
        call.scalar[1] = akgen::bits_of<float>(offset);                                                                \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const LocalTensor<T> &scaleTensor, const T offset, const uint32_t scaleCount,     \
                               const uint32_t calCount)                                                                \
    {                                                                                                                  \
        npu_adv call = akgen::quant_columns<T, config>(dstTensor, srcTensor, scaleTensor, scaleCount, calCount);       \
        call.scalar[1] = akgen::bits_of<T>(offset);                                                                    \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const LocalTensor<T> &scaleTensor, const T offset)                                \
    {                                                                                                                  \
        npu_adv call = akgen::quant_columns<T, config>(dstTensor, srcTensor, scaleTensor, scaleTensor.GetSize(),       \
                                                       srcTensor.GetSize());                                           \
        call.scalar[1] = akgen::bits_of<T>(offset);                                                                    \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor,            \
                               const uint32_t scaleCount, const uint32_t offsetCount, const uint32_t calCount)         \
    {                                                                                                                  \
        npu_adv call = akgen::quant_columns<T, config>(dstTensor, srcTensor, scaleTensor, scaleCount, calCount);       \
        call.src[2] = offsetTensor.akgen_tensor;                                                                       \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>      \
    AKGEN_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,                  \
                               tmp() const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor)            \
    {                                                                                                                  \
        npu_adv call = akgen::quant_columns<T, config>(dstTensor, srcTensor, scaleTensor, scaleTensor.GetSize(),       \
                                                       srcTensor.GetSize());                                           \
        call.src[2] = offsetTensor.akgen_tensor;                                                                       \
        set npu_advanced(&call);                                                                                       \
    }
AKGEN_QUANT(AKGEN_TMP, AKGEN_SET_TMP)
AKGEN_QUANT(AKGEN_NO_TMP, AKGEN_SET_NO_TMP)
#undef AKGEN_QUANT

} // namespace AscendC

namespace akgen
{

/* A row of m x calCount elements is m rows, if dst's blocks allow. */
template <typename dstT, typename scaleT, AscendC::DeQuantMode mode>
AKGEN_API npu_adv dequant(const AscendC::LocalTensor<dstT> &dst, const AscendC::LocalTensor<int32_t> &src,
                          AscendC::DequantParams params, uint32_t count)
{
    if (mode == AscendC::DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 && params.calCount != 0 &&
        params.calCount % (32 / sizeof(dstT)) == 0 && params.n % params.calCount == 0) {
        params.m = params.n / params.calCount;
        params.n = params.calCount;
    }
    npu_adv call = adv<NPU_ADV_DEQUANT, int32_t>(raw(dst), raw(src), count);
    call.dst_type = dtype_of<dstT>::value;
    call.shape[0] = params.m;
    call.shape[1] = params.n;
    call.shape[2] = params.calCount;
    call.shape[3] = dtype_of<scaleT>::value;
    return call;
}
template <typename dstT, typename scaleT, bool tensor> constexpr bool dequant_types()
{
    constexpr bool to_float = std::is_same_v<dstT, float>, to_bf16 = std::is_same_v<dstT, bfloat16_t>;
    constexpr bool scaled = std::is_same_v<scaleT, float> || std::is_same_v<scaleT, bfloat16_t>;
    static_assert(((to_float || to_bf16) && scaled) ||
                      (tensor && std::is_same_v<dstT, half> && std::is_same_v<scaleT, uint64_t>),
                  "AscendDequant: dst is float or bfloat16_t with deqScale float or bfloat16_t, or dst is half and "
                  "deqScale a tensor of uint64_t");
    return true;
}

} // namespace akgen

namespace AscendC
{

#define AKGEN_DEQUANT_TENSOR(tmp, set, counted, params_of, count)                                                      \
    template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                 \
    AKGEN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor,            \
                                 const LocalTensor<scaleT> &deqScale tmp() counted())                                  \
    {                                                                                                                  \
        static_assert(akgen::dequant_types<dstT, scaleT, true>());                                                     \
        npu_adv call = akgen::dequant<dstT, scaleT, mode>(dstTensor, srcTensor, params_of, count);                     \
        call.src[1] = deqScale.akgen_tensor;                                                                           \
        set npu_advanced(&call);                                                                                       \
    }
#define AKGEN_LATER_TMP() , const LocalTensor<uint8_t> &sharedTmpBuffer
#define AKGEN_BY_PARAMS() , DequantParams params
#define AKGEN_BY_COUNT()  , const uint32_t calCount
#define AKGEN_BY_NOTHING()
#define AKGEN_ROWS_OF_SCALES                                                                                           \
    (DequantParams{uint32_t(srcTensor.GetSize() / deqScale.GetSize()), uint32_t(deqScale.GetSize()),                   \
                   uint32_t(deqScale.GetSize())})
#define AKGEN_DEQUANT_FORMS(tmp, set)                                                                                  \
    AKGEN_DEQUANT_TENSOR(tmp, set, AKGEN_BY_PARAMS, params, params.m *params.n)                                        \
    AKGEN_DEQUANT_TENSOR(tmp, set, AKGEN_BY_COUNT, AKGEN_ROWS_OF_SCALES, calCount)                                     \
    AKGEN_DEQUANT_TENSOR(tmp, set, AKGEN_BY_NOTHING, AKGEN_ROWS_OF_SCALES, srcTensor.GetSize())                        \
    template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                 \
    AKGEN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor,            \
                                 const scaleT deqScale tmp(), DequantParams params)                                    \
    {                                                                                                                  \
        static_assert(akgen::dequant_types<dstT, scaleT, false>());                                                    \
        npu_adv call = akgen::dequant<dstT, scaleT, mode>(dstTensor, srcTensor, params, params.m * params.n);          \
        call.scalar[0] = akgen::bits_of<scaleT>(deqScale);                                                             \
        set npu_advanced(&call);                                                                                       \
    }
AKGEN_DEQUANT_FORMS(AKGEN_LATER_TMP, AKGEN_SET_TMP)
AKGEN_DEQUANT_FORMS(AKGEN_BY_NOTHING, AKGEN_SET_NO_TMP)
#undef AKGEN_DEQUANT_FORMS
#undef AKGEN_DEQUANT_TENSOR
#undef AKGEN_ROWS_OF_SCALES
#undef AKGEN_BY_PARAMS
#undef AKGEN_BY_COUNT

} // namespace AscendC

namespace akgen
{

/* k: rows, or with isTranspose the columns of each row of the source. */
template <typename S, typename D, bool isTranspose>
AKGEN_API npu_adv antiquant(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src, uint32_t k)
{
    static_assert(std::is_same_v<D, half> || std::is_same_v<D, bfloat16_t>,
                  "AscendAntiQuant: the result is half or bfloat16_t");
    npu_adv call = adv<NPU_ADV_ANTIQUANT, S>(raw(dst), raw(src), 0);
    const uint32_t size = src.GetSize();
    call.dst_type = dtype_of<D>::value;
    call.shape[0] = k == 0 ? 0 : isTranspose ? size / k : k;
    call.shape[1] = k == 0 ? 0 : isTranspose ? k : size / k;
    call.shape[2] = isTranspose;
    return call;
}

} // namespace akgen

namespace AscendC
{

#define AKGEN_ANTIQUANT(S, D, tmp, set)                                                                                \
    template <typename S, typename D, bool isTranspose>                                                                \
    AKGEN_API void AscendAntiQuant(const LocalTensor<D> &dst, const LocalTensor<S> &src, const LocalTensor<D> &offset, \
                                   const LocalTensor<D> &scale tmp(), const uint32_t k,                                \
                                   const AntiQuantShapeInfo &shapeInfo = {})                                           \
    {                                                                                                                  \
        npu_adv call = akgen::antiquant<S, D, isTranspose>(dst, src, k);                                               \
        call.src[1] = offset.akgen_tensor;                                                                             \
        call.src[2] = scale.akgen_tensor;                                                                              \
        set npu_advanced(&call);                                                                                       \
    }                                                                                                                  \
    template <typename S, typename D, bool isTranspose>                                                                \
    AKGEN_API void AscendAntiQuant(const LocalTensor<D> &dst, const LocalTensor<S> &src, const D offset,               \
                                   const D scale tmp(), const uint32_t k, const AntiQuantShapeInfo &shapeInfo = {})    \
    {                                                                                                                  \
        npu_adv call = akgen::antiquant<S, D, isTranspose>(dst, src, k);                                               \
        call.flags = NPU_ADV_SCALARS | NPU_ADV_HAS_OFFSET;                                                             \
        call.scalar[0] = akgen::bits_of<D>(offset);                                                                    \
        call.scalar[1] = akgen::bits_of<D>(scale);                                                                     \
        set npu_advanced(&call);                                                                                       \
    }
AKGEN_ANTIQUANT(InputDataType, OutputDataType, AKGEN_LATER_TMP, AKGEN_SET_TMP)
AKGEN_ANTIQUANT(InputDataType, OutputDataType, AKGEN_BY_NOTHING, AKGEN_SET_NO_TMP)
#undef AKGEN_ANTIQUANT

/* Without an offset sharedTmpBuffer is always given. */
template <typename InputDataType, typename OutputDataType, bool isTranspose>
AKGEN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,
                               const LocalTensor<OutputDataType> &scale, const LocalTensor<uint8_t> &sharedTmpBuffer,
                               const uint32_t k, const AntiQuantShapeInfo &shapeInfo = {})
{
    npu_adv call = akgen::antiquant<InputDataType, OutputDataType, isTranspose>(dst, src, k);
    call.src[2] = scale.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
AKGEN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,
                               const OutputDataType scale, const LocalTensor<uint8_t> &sharedTmpBuffer,
                               const uint32_t k, const AntiQuantShapeInfo &shapeInfo = {})
{
    npu_adv call = akgen::antiquant<InputDataType, OutputDataType, isTranspose>(dst, src, k);
    call.flags = NPU_ADV_SCALARS;
    call.scalar[1] = akgen::bits_of<OutputDataType>(scale);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
#undef AKGEN_LATER_TMP
#undef AKGEN_BY_NOTHING
#undef AKGEN_TMP
#undef AKGEN_NO_TMP
#undef AKGEN_SET_TMP
#undef AKGEN_SET_NO_TMP

} // namespace AscendC

#endif
