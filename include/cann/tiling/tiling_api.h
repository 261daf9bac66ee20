// The tiling side of CANN's high-level APIs. Most published projects include this header without using it. The names of
// it that published projects do use are declared here as unavailable, so that the compiler says which one is missing.
#ifndef CANN_TILING_TILING_API_H
#define CANN_TILING_TILING_API_H

#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

#define AKGEN_UNSUPPORTED(name) __attribute__((unavailable("akgen-unsupported: " name)))

// Complete types, so that naming one is the first thing that the compiler complains about.
namespace optiling
{
#define AKGEN_UNSUPPORTED_STRUCT(name)                                                                                 \
    class AKGEN_UNSUPPORTED(#name) name : public TilingDef                                                             \
    {                                                                                                                  \
      public:                                                                                                          \
        explicit name(void * = nullptr)                                                                                \
        {                                                                                                              \
        }                                                                                                              \
    }
AKGEN_UNSUPPORTED_STRUCT(TCubeTiling);
AKGEN_UNSUPPORTED_STRUCT(SoftMaxTiling);
AKGEN_UNSUPPORTED_STRUCT(LayerNormTiling);
AKGEN_UNSUPPORTED_STRUCT(TopkTiling);
#undef AKGEN_UNSUPPORTED_STRUCT
} // namespace optiling

namespace AscendC
{
#define AKGEN_UNSUPPORTED_FUNCTION(name)                                                                               \
    template <typename... Arguments> uint32_t name(Arguments &&...) AKGEN_UNSUPPORTED("AscendC::" #name)
AKGEN_UNSUPPORTED_FUNCTION(GetMeanMaxMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSigmoidMaxMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSoftMaxMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSoftMaxMaxTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSoftMaxGradMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSoftMaxGradMaxTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(SoftMaxTilingFunc);
AKGEN_UNSUPPORTED_FUNCTION(SoftMaxGradTilingFunc);
AKGEN_UNSUPPORTED_FUNCTION(SoftMaxFlashV2TilingFunc);
AKGEN_UNSUPPORTED_FUNCTION(GetTanhMaxMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetLayerNormMaxMinTmpSize);
AKGEN_UNSUPPORTED_FUNCTION(GetSumMaxMinTmpSize);
#undef AKGEN_UNSUPPORTED_FUNCTION
} // namespace AscendC

namespace matmul_tiling
{
#define AKGEN_UNSUPPORTED_CLASS(name)                                                                                  \
    class AKGEN_UNSUPPORTED("matmul_tiling::" #name) name                                                              \
    {                                                                                                                  \
    }
AKGEN_UNSUPPORTED_CLASS(MatmulApiTiling);
AKGEN_UNSUPPORTED_CLASS(MultiCoreMatmulTiling);
AKGEN_UNSUPPORTED_CLASS(BatchMatmulTiling);
#undef AKGEN_UNSUPPORTED_CLASS
} // namespace matmul_tiling
#endif
