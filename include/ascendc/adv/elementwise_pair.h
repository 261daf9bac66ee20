/* High-level APIs that compute element by element from two sources. */
#ifndef ASCENDC_ADV_ELEMENTWISE_PAIR_H
#define ASCENDC_ADV_ELEMENTWISE_PAIR_H

#include "adv/call.h"

namespace akgen
{

template <npu_adv_op op, typename T>
AKGEN_API npu_adv adv_pair(const npu_tensor &dst, const npu_tensor &src0, const npu_tensor &src1, uint32_t count,
                           bool reuse_source)
{
    npu_adv call = adv<op, T>(dst, src0, count, reuse_source);
    call.src[1] = src1;
    return call;
}

} // namespace akgen

namespace AscendC
{

enum class PowerAlgo { INTRINSIC = 0, DOUBLE_FLOAT_TECH };
struct PowerConfig {
    PowerAlgo algo = PowerAlgo::INTRINSIC;
};
constexpr PowerConfig defaultPowerConfig = {PowerAlgo::INTRINSIC};
constexpr uint32_t FMOD_ITERATION_NUM_MAX = 11;
enum class FmodAlgo { NORMAL = 0, ITERATION_COMPENSATION = 1 };
struct FmodConfig {
    FmodAlgo algo = FmodAlgo::NORMAL;
    uint32_t iterationNum = FMOD_ITERATION_NUM_MAX;
};
constexpr FmodConfig DEFAULT_FMOD_CONFIG = {FmodAlgo::NORMAL, FMOD_ITERATION_NUM_MAX};

/* With a count, with and without temporary space. */
#define AKGEN_ADV_PAIR_COUNT(Name, op)                                                                                 \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,                             \
                        const LocalTensor<T> &src1Tensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                 \
                        const uint32_t calCount)                                                                       \
    {                                                                                                                  \
        npu_adv call = akgen::adv_pair<op, T>(dstTensor.akgen_tensor, src0Tensor.akgen_tensor,                         \
                                              src1Tensor.akgen_tensor, calCount, isReuseSource);                       \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,                             \
                        const LocalTensor<T> &src1Tensor, const uint32_t calCount)                                     \
    {                                                                                                                  \
        npu_adv call = akgen::adv_pair<op, T>(dstTensor.akgen_tensor, src0Tensor.akgen_tensor,                         \
                                              src1Tensor.akgen_tensor, calCount, isReuseSource);                       \
        npu_advanced(&call);                                                                                           \
    }
/* Over all elements of src0Tensor. */
#define AKGEN_ADV_PAIR_ALL(Name)                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,                             \
                        const LocalTensor<T> &src1Tensor, const LocalTensor<uint8_t> &sharedTmpBuffer)                 \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize());              \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,                             \
                        const LocalTensor<T> &src1Tensor)                                                              \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, src0Tensor.GetSize());                               \
    }

AKGEN_ADV_PAIR_COUNT(Fmod, NPU_ADV_FMOD)
AKGEN_ADV_PAIR_ALL(Fmod)
AKGEN_ADV_PAIR_COUNT(GeGLU, NPU_ADV_GEGLU)
AKGEN_ADV_PAIR_ALL(GeGLU)
AKGEN_ADV_PAIR_COUNT(Power, NPU_ADV_POWER)
AKGEN_ADV_PAIR_ALL(Power)
AKGEN_ADV_PAIR_COUNT(ReGlu, NPU_ADV_REGLU)
AKGEN_ADV_PAIR_COUNT(Xor, NPU_ADV_XOR)
AKGEN_ADV_PAIR_ALL(Xor)
#undef AKGEN_ADV_PAIR_COUNT
#undef AKGEN_ADV_PAIR_ALL

/* Power of a tensor and a scalar. */
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const T &src1Scalar,
                     const LocalTensor<uint8_t> &sharedTmpBuffer, uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_POWER, T>(dstTensor.akgen_tensor, src0Tensor.akgen_tensor, npu_tensor{},
                                                     calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<T>(src1Scalar);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const T &src1Scalar,
                     uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_POWER, T>(dstTensor.akgen_tensor, src0Tensor.akgen_tensor, npu_tensor{},
                                                     calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<T>(src1Scalar);
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const T &src1Scalar,
                     const LocalTensor<uint8_t> &sharedTmpBuffer)
{
    Power<T, isReuseSource>(dstTensor, src0Tensor, src1Scalar, sharedTmpBuffer, src0Tensor.GetSize());
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const T &src1Scalar)
{
    Power<T, isReuseSource>(dstTensor, src0Tensor, src1Scalar, src0Tensor.GetSize());
}
/* Power of a scalar and a tensor. */
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const T &src0Scalar, const LocalTensor<T> &src1Tensor,
                     const LocalTensor<uint8_t> &sharedTmpBuffer, uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_POWER, T>(dstTensor.akgen_tensor, npu_tensor{}, src1Tensor.akgen_tensor,
                                                     calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<T>(src0Scalar);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const T &src0Scalar, const LocalTensor<T> &src1Tensor,
                     uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_POWER, T>(dstTensor.akgen_tensor, npu_tensor{}, src1Tensor.akgen_tensor,
                                                     calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<T>(src0Scalar);
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const T &src0Scalar, const LocalTensor<T> &src1Tensor,
                     const LocalTensor<uint8_t> &sharedTmpBuffer)
{
    Power<T, isReuseSource>(dstTensor, src0Scalar, src1Tensor, sharedTmpBuffer, src1Tensor.GetSize());
}
template <typename T, bool isReuseSource = false>
AKGEN_API void Power(const LocalTensor<T> &dstTensor, const T &src0Scalar, const LocalTensor<T> &src1Tensor)
{
    Power<T, isReuseSource>(dstTensor, src0Scalar, src1Tensor, src1Tensor.GetSize());
}

/* srcTensor0 * swish(srcTensor1); scalarValue is swish's beta. */
template <typename T, bool isReuseSource = false>
AKGEN_API void SwiGLU(LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1,
                      const float &scalarValue, const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_SWIGLU, T>(dstTensor.akgen_tensor, srcTensor0.akgen_tensor,
                                                      srcTensor1.akgen_tensor, calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<float>(scalarValue);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void SwiGLU(LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1,
                      const float &scalarValue, const uint32_t calCount)
{
    npu_adv call = akgen::adv_pair<NPU_ADV_SWIGLU, T>(dstTensor.akgen_tensor, srcTensor0.akgen_tensor,
                                                      srcTensor1.akgen_tensor, calCount, isReuseSource);
    call.scalar[0] = akgen::bits_of<float>(scalarValue);
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void SwiGLU(LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1,
                      const float &scalarValue, const LocalTensor<uint8_t> &sharedTmpBuffer)
{
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer, srcTensor0.GetSize());
}
template <typename T, bool isReuseSource = false>
AKGEN_API void SwiGLU(LocalTensor<T> &dstTensor, LocalTensor<T> &srcTensor0, LocalTensor<T> &srcTensor1,
                      const float &scalarValue)
{
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, srcTensor0.GetSize());
}

/* Documented for other products only. */
#define AKGEN_NOT_ON_910B(Name)                                                                                        \
    template <class... E, class... A>                                                                                  \
    __attribute__((unavailable(#Name " is not supported on Ascend910B"))) AKGEN_DEVICE void Name(const A &...);
AKGEN_NOT_ON_910B(Clamp)
AKGEN_NOT_ON_910B(Hypot)
#undef AKGEN_NOT_ON_910B

} // namespace AscendC

#endif
