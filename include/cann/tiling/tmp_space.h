// Get<Api>MaxMinTmpSize and Get<Api>TmpBufferFactorSize of the high-level APIs.
#ifndef CANN_TILING_TMP_SPACE_H
#define CANN_TILING_TMP_SPACE_H

#include "abi/tiling_abi.h"
#include "graph/operator.h"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC
{
using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

inline akgen_shape AkgenShape(const ge::Shape &shape)
{
    akgen_shape plain{};
    plain.rank = shape.GetDimNum() < AKGEN_MAX_RANK ? shape.GetDimNum() : AKGEN_MAX_RANK;
    for (size_t i = 0; i < plain.rank; i++)
        plain.dims[i] = shape.GetDim(i);
    return plain;
}

#define AKGEN_TMP_SIZE(function, api)                                                                                  \
    inline void function(const ge::Shape &shape, const uint32_t type_size, const bool reuse, uint32_t &max,            \
                         uint32_t &min)                                                                                \
    {                                                                                                                  \
        akgen_tmp_elementwise(AKGEN_TMP_##api, shape.GetShapeSize(), type_size, reuse, &max, &min);                    \
    }
#define AKGEN_TMP_FACTOR(api)                                                                                          \
    inline void Get##api##TmpBufferFactorSize(const uint32_t type_size, uint32_t &live, uint32_t &extra)               \
    {                                                                                                                  \
        akgen_tmp_factor(AKGEN_TMP_##api, type_size, &live, &extra);                                                   \
    }
#define AKGEN_TMP_BOTH(api) AKGEN_TMP_SIZE(Get##api##MaxMinTmpSize, api) AKGEN_TMP_FACTOR(api)
AKGEN_TMP_BOTH(Acos)
AKGEN_TMP_BOTH(Acosh)
AKGEN_TMP_BOTH(Asin)
AKGEN_TMP_BOTH(Asinh)
AKGEN_TMP_BOTH(Atan)
AKGEN_TMP_BOTH(Atanh)
AKGEN_TMP_BOTH(Axpy)
AKGEN_TMP_BOTH(Ceil)
AKGEN_TMP_BOTH(Clamp)
AKGEN_TMP_BOTH(Cos)
AKGEN_TMP_BOTH(Cosh)
AKGEN_TMP_BOTH(Digamma)
AKGEN_TMP_BOTH(Erf)
AKGEN_TMP_BOTH(Erfc)
AKGEN_TMP_BOTH(Floor)
AKGEN_TMP_BOTH(Fmod)
AKGEN_TMP_BOTH(Frac)
AKGEN_TMP_BOTH(GeGLU)
AKGEN_TMP_BOTH(Lgamma)
AKGEN_TMP_BOTH(Log)
AKGEN_TMP_BOTH(Log10)
AKGEN_TMP_BOTH(Log2)
AKGEN_TMP_BOTH(Sign)
AKGEN_TMP_BOTH(Sin)
AKGEN_TMP_BOTH(Sinh)
AKGEN_TMP_BOTH(Tan)
AKGEN_TMP_BOTH(Tanh)
AKGEN_TMP_BOTH(Trunc)
AKGEN_TMP_BOTH(Xor)
AKGEN_TMP_SIZE(GetReGluMaxMinTmpSize, ReGlu)
AKGEN_TMP_SIZE(GetSigmoidMaxMinTmpSize, Sigmoid)
AKGEN_TMP_SIZE(GetSiluTmpSize, Silu)
AKGEN_TMP_SIZE(GetSwishTmpSize, Swish)
AKGEN_TMP_FACTOR(Exp)
AKGEN_TMP_FACTOR(SwiGLU)
#undef AKGEN_TMP_BOTH
#undef AKGEN_TMP_FACTOR
#undef AKGEN_TMP_SIZE

inline bool GetExpMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse, uint32_t &max,
                                uint32_t &min)
{
    akgen_tmp_elementwise(AKGEN_TMP_Exp, shape.GetShapeSize(), type_size, reuse, &max, &min);
    return true;
}
inline void GetGeluMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, uint32_t &max, uint32_t &min)
{
    akgen_tmp_elementwise(AKGEN_TMP_Gelu, shape.GetShapeSize(), type_size, false, &max, &min);
}
inline uint32_t GetGeluMaxTmpSize(const ge::Shape &shape, const uint32_t type_size)
{
    uint32_t max = 0, min = 0;
    GetGeluMaxMinTmpSize(shape, type_size, max, min);
    return max;
}
inline uint32_t GetGeluMinTmpSize(const ge::Shape &shape, const uint32_t type_size)
{
    uint32_t max = 0, min = 0;
    GetGeluMaxMinTmpSize(shape, type_size, max, min);
    return min;
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, uint32_t &max, uint32_t &min,
                                   const bool reuse)
{
    akgen_tmp_elementwise(AKGEN_TMP_SwiGLU, shape.GetShapeSize(), type_size, reuse, &max, &min);
}
inline void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &shape,
                                  const uint32_t type_size, const bool reuse, uint32_t &max, uint32_t &min)
{
    akgen_tmp_elementwise(AKGEN_TMP_Round, shape.GetShapeSize(), type_size, reuse, &max, &min);
}
inline void GetRoundTmpBufferFactorSize(const platform_ascendc::PlatformAscendC &, const uint32_t type_size,
                                        uint32_t &live, uint32_t &extra)
{
    akgen_tmp_factor(AKGEN_TMP_Round, type_size, &live, &extra);
}

inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const uint32_t accumulator_size,
                                 const bool, uint32_t &max, uint32_t &min)
{
    akgen_tmp_mean(n, type_size, accumulator_size, &max, &min);
}
inline void GetMeanTmpBufferFactorSize(const uint32_t, uint32_t &live, uint32_t &extra)
{
    live = 1;
    extra = 0;
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const bool, uint32_t &max, uint32_t &min)
{
    akgen_tmp_sum(n, type_size, &max, &min);
}
} // namespace AscendC
#endif
