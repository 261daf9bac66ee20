/* High-level APIs that compute element by element: one source, one result, with or without sharedTmpBuffer and
 * calCount. They are ordinary overloads, not generic ones: kernels take the address of &Sin<T, false>. */
#ifndef ASCENDC_ADV_ELEMENTWISE_H
#define ASCENDC_ADV_ELEMENTWISE_H

#include "adv/call.h"

namespace AscendC
{

/* The configurations of the algorithms of Sin, Cos, ... are template arguments on other products; kernels for the 910B
 * may still spell the types. */
enum class SinAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION };
struct SinConfig {
    SinAlgo algo = SinAlgo::POLYNOMIAL_APPROXIMATION;
};
constexpr SinConfig defaultSinConfig;
enum class CosAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION };
struct CosConfig {
    CosAlgo algo = CosAlgo::POLYNOMIAL_APPROXIMATION;
};
constexpr CosConfig defaultCosConfig;
enum class ErfAlgo { PADE_APPROXIMATION = 0, SUBSECTION_POLYNOMIAL_APPROXIMATION };
struct ErfConfig {
    ErfAlgo algo = ErfAlgo::PADE_APPROXIMATION;
};
constexpr ErfConfig defaultErfConfig = {ErfAlgo::PADE_APPROXIMATION};
enum class AtanAlgo { TAYLOR_EXPANSION = 0, POLYNOMIAL_APPROXIMATION };
struct AtanConfig {
    AtanAlgo algo = AtanAlgo::TAYLOR_EXPANSION;
};
constexpr AtanConfig defaultAtanConfig = {AtanAlgo::TAYLOR_EXPANSION};
enum class TanhAlgo { INTRINSIC = 0, SUBSECTION_COMPENSATION };
struct TanhConfig {
    TanhAlgo algo = TanhAlgo::INTRINSIC;
};
constexpr TanhConfig DEFAULT_TANH_CONFIG = {TanhAlgo::INTRINSIC};

/* (dst, src, tmp, count), Tmp: how the temporary space is passed */
#define AKGEN_ADV_TMP_COUNT(Name, op, Tmp)                                                                             \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, Tmp sharedTmpBuffer,         \
                        const uint32_t calCount)                                                                       \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }
/* (dst, src, count); flags: whether the API looks for temporary space */
#define AKGEN_ADV_COUNT(Name, op, more)                                                                                \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount)     \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        call.flags |= (more);                                                                                          \
        npu_advanced(&call);                                                                                           \
    }
/* (dst, src, tmp) */
#define AKGEN_ADV_TMP_ALL(Name)                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                              \
                        const LocalTensor<uint8_t> &sharedTmpBuffer)                                                   \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize());                            \
    }
/* (dst, src) */
#define AKGEN_ADV_ALL(Name)                                                                                            \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor)                              \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());                                             \
    }
#define AKGEN_ADV_FOUR(Name, op, more)                                                                                 \
    AKGEN_ADV_TMP_COUNT(Name, op, const LocalTensor<uint8_t> &)                                                        \
    AKGEN_ADV_TMP_ALL(Name)                                                                                            \
    AKGEN_ADV_COUNT(Name, op, more)                                                                                    \
    AKGEN_ADV_ALL(Name)

AKGEN_ADV_FOUR(Acos, NPU_ADV_ACOS, 0)
AKGEN_ADV_FOUR(Acosh, NPU_ADV_ACOSH, 0)
AKGEN_ADV_FOUR(Asin, NPU_ADV_ASIN, 0)
AKGEN_ADV_FOUR(Asinh, NPU_ADV_ASINH, 0)
AKGEN_ADV_FOUR(Atan, NPU_ADV_ATAN, 0)
AKGEN_ADV_FOUR(Atanh, NPU_ADV_ATANH, 0)
AKGEN_ADV_FOUR(Cos, NPU_ADV_COS, 0)
AKGEN_ADV_FOUR(Cosh, NPU_ADV_COSH, 0)
AKGEN_ADV_FOUR(Erf, NPU_ADV_ERF, 0)
AKGEN_ADV_FOUR(Erfc, NPU_ADV_ERFC, 0)
AKGEN_ADV_FOUR(Frac, NPU_ADV_FRAC, 0)
AKGEN_ADV_FOUR(Log2, NPU_ADV_LOG2, (std::is_same_v<T, half> ? 0 : NPU_ADV_NO_TMP))
AKGEN_ADV_FOUR(Sigmoid, NPU_ADV_SIGMOID, 0)
AKGEN_ADV_FOUR(Sign, NPU_ADV_SIGN, 0)
AKGEN_ADV_FOUR(Sin, NPU_ADV_SIN, 0)
AKGEN_ADV_FOUR(Sinh, NPU_ADV_SINH, 0)
AKGEN_ADV_FOUR(Tan, NPU_ADV_TAN, 0)
AKGEN_ADV_FOUR(Tanh, NPU_ADV_TANH, 0)
AKGEN_ADV_FOUR(Trunc, NPU_ADV_TRUNC, 0)

/* These have no form without a count, */
AKGEN_ADV_TMP_COUNT(Ceil, NPU_ADV_CEIL, const LocalTensor<uint8_t> &)
AKGEN_ADV_COUNT(Ceil, NPU_ADV_CEIL, 0)
AKGEN_ADV_TMP_COUNT(Floor, NPU_ADV_FLOOR, const LocalTensor<uint8_t> &)
AKGEN_ADV_COUNT(Floor, NPU_ADV_FLOOR, (std::is_same_v<T, half> ? 0 : NPU_ADV_NO_TMP))
AKGEN_ADV_TMP_COUNT(Round, NPU_ADV_ROUND, const LocalTensor<uint8_t> &)
AKGEN_ADV_COUNT(Round, NPU_ADV_ROUND, 0)
AKGEN_ADV_TMP_COUNT(Lgamma, NPU_ADV_LGAMMA, const LocalTensor<uint8_t> &)
AKGEN_ADV_COUNT(Lgamma, NPU_ADV_LGAMMA, 0)
AKGEN_ADV_TMP_COUNT(Digamma, NPU_ADV_DIGAMMA, LocalTensor<uint8_t> &)
AKGEN_ADV_COUNT(Digamma, NPU_ADV_DIGAMMA, 0)
AKGEN_ADV_COUNT(Silu, NPU_ADV_SILU, NPU_ADV_NO_TMP)
/* and these none with temporary space. */
AKGEN_ADV_COUNT(Log, NPU_ADV_LOG, NPU_ADV_NO_TMP)
AKGEN_ADV_ALL(Log)
AKGEN_ADV_COUNT(Log10, NPU_ADV_LOG10, NPU_ADV_NO_TMP)
AKGEN_ADV_ALL(Log10)

#undef AKGEN_ADV_TMP_COUNT
#undef AKGEN_ADV_COUNT
#undef AKGEN_ADV_TMP_ALL
#undef AKGEN_ADV_ALL
#undef AKGEN_ADV_FOUR

/* Gelu and its approximations. highPrecision computes half in float, highPerformance multiplies by a reciprocal. */
#define AKGEN_ADV_GELU(Name, op)                                                                                       \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                    \
    AKGEN_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal,                                \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t dataSize)                          \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, dataSize);                      \
        call.flags = (highPrecision ? NPU_ADV_HIGH_PRECISION : 0) | (highPerformance ? NPU_ADV_HIGH_PERFORMANCE : 0);  \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                    \
    AKGEN_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t dataSize)       \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, dataSize);                      \
        call.flags = (highPrecision ? NPU_ADV_HIGH_PRECISION : 0) | (highPerformance ? NPU_ADV_HIGH_PERFORMANCE : 0);  \
        npu_advanced(&call);                                                                                           \
    }
AKGEN_ADV_GELU(Gelu, NPU_ADV_GELU)
AKGEN_ADV_GELU(FasterGelu, NPU_ADV_FASTER_GELU)
AKGEN_ADV_GELU(FasterGeluV2, NPU_ADV_FASTER_GELU_V2)
#undef AKGEN_ADV_GELU

/* Exp with a Taylor series of taylorExpandLevel terms for the fraction; 0: the instruction. */
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
AKGEN_API void Exp(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal,
                   const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount)
{
    npu_adv call = akgen::adv<NPU_ADV_EXP, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, calCount, isReuseSource);
    call.scalar[0] = taylorExpandLevel;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
AKGEN_API void Exp(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t calCount)
{
    npu_adv call = akgen::adv<NPU_ADV_EXP, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, calCount, isReuseSource);
    call.scalar[0] = taylorExpandLevel;
    npu_advanced(&call);
}

#define AKGEN_ADV_CLAMP(Name, op)                                                                                      \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                              \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const T scalar, const uint32_t calCount)          \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        call.scalar[0] = akgen::bits_of<T>(scalar);                                                                    \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const T scalar,              \
                        const uint32_t calCount)                                                                       \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        call.scalar[0] = akgen::bits_of<T>(scalar);                                                                    \
        npu_advanced(&call);                                                                                           \
    }
AKGEN_ADV_CLAMP(ClampMax, NPU_ADV_CLAMP_MAX)
AKGEN_ADV_CLAMP(ClampMin, NPU_ADV_CLAMP_MIN)
#undef AKGEN_ADV_CLAMP

template <typename T, bool isReuseSource = false>
AKGEN_API void Swish(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, uint32_t dataSize,
                     const T scalarValue)
{
    npu_adv call = akgen::adv<NPU_ADV_SWISH, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, dataSize, isReuseSource);
    call.scalar[0] = akgen::bits_of<T>(scalarValue);
    call.flags |= NPU_ADV_NO_TMP;
    npu_advanced(&call);
}

/* dst += src * scalarValue in float; dst may be wider than src. */
template <typename T, typename U, bool isReuseSource = false>
AKGEN_API void Axpy(const LocalTensor<T> &dstTensor, const LocalTensor<U> &srcTensor, const U scalarValue,
                    const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount)
{
    static_assert(std::is_same_v<T, U> || (std::is_same_v<T, float> && std::is_same_v<U, half>),
                  "Axpy: dst and src have one type, or dst is float and src half");
    npu_adv call = akgen::adv<NPU_ADV_AXPY, U>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);
    call.dst_type = akgen::dtype_of<T>::value;
    call.scalar[0] = akgen::bits_of<U>(scalarValue);
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}

/* firstValue, firstValue + diffValue, ... ArithProgression is its older name. */
template <typename T>
AKGEN_API void Arange(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count)
{
    npu_adv call = akgen::adv<NPU_ADV_ARANGE, T>(dst.akgen_tensor, npu_tensor{}, uint32_t(count));
    call.flags |= NPU_ADV_NO_TMP;
    call.scalar[0] = akgen::bits_of<T>(firstValue);
    call.scalar[1] = akgen::bits_of<T>(diffValue);
    npu_advanced(&call);
}
template <typename T>
AKGEN_API void ArithProgression(const LocalTensor<T> &dstLocal, const T firstValue, const T diffValue,
                                const int32_t count)
{
    Arange<T>(dstLocal, firstValue, diffValue, count);
}

} // namespace AscendC

#endif
