// Temporary space and tiling of BatchNorm, GroupNorm, the gradients of LayerNorm, Pad, UnPad and matrix transposition.
#ifndef CANN_TILING_BATCH_TILING_H
#define CANN_TILING_BATCH_TILING_H

#include "tiling/tiling_structs.h"
#include "tiling/tmp_space.h"

namespace AscendC
{
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape &shape, const ge::Shape &original, const uint32_t type_size,
                                      const bool, uint32_t &max, uint32_t &min, const bool basic_block = false)
{
    const akgen_shape plain = AkgenShape(shape), data = AkgenShape(original);
    return akgen_tmp_batch_norm(&plain, &data, type_size, basic_block, &max, &min);
}
inline void GetGroupNormMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse,
                                      const uint32_t groups, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_group_norm(&plain, type_size, reuse, groups, &max, &min);
}
inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse,
                                          uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_layer_norm_grad(&plain, type_size, reuse, &max, &min);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool,
                                              uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_layer_norm_grad_beta(&plain, type_size, &max, &min);
}
inline void GetPadMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_pad(&plain, type_size, &max, &min);
}
inline void GetTransposeMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const uint32_t type,
                                      uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_transpose(&plain, type_size, type, &max, &min);
}
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const uint32_t type,
                                               uint32_t &max, uint32_t &min)
{
    GetTransposeMaxMinTmpSize(shape, type_size, type, max, min);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &, const uint32_t,
                                  uint32_t &max, uint32_t &min)
{
    max = min = 0;
}

constexpr uint32_t AKGEN_TRANSPOSE_MATRIX = 7; // TRANSPOSE_ND2ND_ONLY

// Once for the classes and once for the plain structures, as CANN overloads them.
#define AKGEN_BATCH_TILING(space)                                                                                      \
    inline bool GetBatchNormNDTilingInfo(const ge::Shape &shape, const ge::Shape &original, const uint32_t bytes,      \
                                         const uint32_t type_size, const bool, space::BatchNormTiling &tiling,         \
                                         const bool basic_block = false)                                               \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape), data = AkgenShape(original);                                      \
        return akgen_batch_norm_tiling(&plain, &data, bytes, type_size, basic_block,                                   \
                                       AkgenPlain<akgen_BatchNormTiling>(tiling));                                     \
    }                                                                                                                  \
    inline void GetGroupNormNDTilingInfo(const ge::Shape &shape, const uint32_t bytes, const uint32_t type_size,       \
                                         const bool reuse, const uint32_t groups, space::GroupNormTiling &tiling)      \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_group_norm_tiling(&plain, bytes, type_size, reuse, groups, AkgenPlain<akgen_GroupNormTiling>(tiling));   \
    }                                                                                                                  \
    inline void GetLayerNormGradNDTilingInfo(const ge::Shape shape, const uint32_t bytes, const uint32_t type_size,    \
                                             const bool reuse, space::LayerNormGradTiling &tiling)                     \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_layer_norm_grad_tiling(&plain, bytes, type_size, reuse, AkgenPlain<akgen_LayerNormGradTiling>(tiling));  \
    }                                                                                                                  \
    inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape shape, const uint32_t bytes,                          \
                                                 const uint32_t type_size, const bool,                                 \
                                                 space::LayerNormGradBetaTiling &tiling)                               \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_layer_norm_grad_beta_tiling(&plain, bytes, type_size,                                                    \
                                          AkgenPlain<akgen_LayerNormGradBetaTiling>(tiling));                          \
    }                                                                                                                  \
    inline void PadTilingFunc(const ge::Shape shape, const ge::Shape original, const uint32_t bytes,                   \
                              const uint32_t type_size, space::PadTiling &tiling)                                      \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape), data = AkgenShape(original);                                      \
        akgen_pad_tiling(&plain, &data, bytes, type_size, AkgenPlain<akgen_PadTiling>(tiling));                        \
    }                                                                                                                  \
    inline void UnPadTilingFunc(const ge::Shape shape, const uint32_t bytes, const uint32_t type_size,                 \
                                space::UnPadTiling &tiling)                                                            \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_unpad_tiling(&plain, bytes, type_size, AkgenPlain<akgen_UnPadTiling>(tiling));                           \
    }                                                                                                                  \
    inline void GetConfusionTransposeOnlyTilingInfo(const ge::Shape &shape, const uint32_t, const uint32_t type_size,  \
                                                    space::ConfusionTransposeTiling &tiling)                           \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_transpose_matrix_tiling(&plain, type_size, AkgenPlain<akgen_ConfusionTransposeTiling>(tiling));          \
    }                                                                                                                  \
    /* Of the other types the kernel's part is what is not simulated. */                                               \
    inline void GetTransposeTilingInfo(const ge::Shape &shape, const uint32_t bytes, const uint32_t type_size,         \
                                       const uint32_t type, space::ConfusionTransposeTiling &tiling)                   \
    {                                                                                                                  \
        if (type == AKGEN_TRANSPOSE_MATRIX)                                                                            \
            GetConfusionTransposeOnlyTilingInfo(shape, bytes, type_size, tiling);                                      \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        if (type == 1 || type == 2)                                                                                    \
            akgen_transpose_swap_tiling(&plain, bytes, type_size, AkgenPlain<akgen_ConfusionTransposeTiling>(tiling)); \
    }                                                                                                                  \
    inline void GetConfusionTransposeTilingInfo(const ge::Shape &shape, const uint32_t bytes,                          \
                                                const uint32_t type_size, const uint32_t type,                         \
                                                space::ConfusionTransposeTiling &tiling)                               \
    {                                                                                                                  \
        GetTransposeTilingInfo(shape, bytes, type_size, type, tiling);                                                 \
    }
AKGEN_BATCH_TILING(optiling)
AKGEN_BATCH_TILING(tiling)
#undef AKGEN_BATCH_TILING
} // namespace AscendC
#endif
