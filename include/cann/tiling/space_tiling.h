// Temporary space and tiling of the high-level APIs that are not element-wise.
#ifndef CANN_TILING_SPACE_TILING_H
#define CANN_TILING_SPACE_TILING_H

#include "tiling/tiling_structs.h"
#include "tiling/tmp_space.h"

namespace AscendC
{
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
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
    RARARARA
};

inline void GetPowerMaxMinTmpSize(const ge::Shape &base, const ge::Shape &exponent, const bool integer,
                                  const uint32_t type_size, const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape first = AkgenShape(base), second = AkgenShape(exponent);
    akgen_tmp_power(&first, &second, integer, type_size, &max, &min);
}
inline void GetPowerTmpBufferFactorSize(const bool base_is_tensor, const bool exponent_is_tensor, const bool integer,
                                        const uint32_t type_size, uint32_t &live, uint32_t &extra)
{
    akgen_tmp_power_factor(base_is_tensor && exponent_is_tensor, integer, type_size, &live, &extra);
}
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &from,
                                      const ge::Shape &to, uint32_t type_size, const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape source = AkgenShape(from), target = AkgenShape(to);
    akgen_tmp_broadcast(&source, &target, type_size, &max, &min);
}
inline void GetSelectWithBytesMaskMaxMinTmpSize(const ge::Shape &first, const ge::Shape &second, const uint32_t,
                                                const ge::Shape &mask, const uint32_t mask_bytes, const bool reuse_mask,
                                                uint32_t &max, uint32_t &min)
{
    const akgen_shape one = AkgenShape(first), other = AkgenShape(second), bytes = AkgenShape(mask);
    akgen_tmp_select(&one, &other, &bytes, mask_bytes, reuse_mask, &max, &min);
}
inline void GetSelectMaxMinTmpSize(const ge::Shape &first, const ge::Shape &second, const uint32_t type_size,
                                   const ge::Shape &mask, const uint32_t mask_bytes, const bool reuse_mask,
                                   uint32_t &max, uint32_t &min)
{
    GetSelectWithBytesMaskMaxMinTmpSize(first, second, type_size, mask, mask_bytes, reuse_mask, max, min);
}
inline uint32_t GetSelectMaxTmpSize(const ge::Shape &first, const ge::Shape &second, const uint32_t type_size,
                                    const ge::Shape &mask, const uint32_t mask_bytes, const bool reuse_mask)
{
    uint32_t max = 0, min = 0;
    GetSelectMaxMinTmpSize(first, second, type_size, mask, mask_bytes, reuse_mask, max, min);
    return max;
}
inline uint32_t GetSelectMinTmpSize(const ge::Shape &first, const ge::Shape &second, const uint32_t type_size,
                                    const ge::Shape &mask, const uint32_t mask_bytes, const bool reuse_mask)
{
    uint32_t max = 0, min = 0;
    GetSelectMaxMinTmpSize(first, second, type_size, mask, mask_bytes, reuse_mask, max, min);
    return min;
}
inline uint32_t GetSelectWithBytesMaskMaxTmpSize(const ge::Shape &first, const ge::Shape &second,
                                                 const uint32_t type_size, const ge::Shape &mask,
                                                 const uint32_t mask_bytes, const bool reuse_mask)
{
    return GetSelectMaxTmpSize(first, second, type_size, mask, mask_bytes, reuse_mask);
}
inline uint32_t GetSelectWithBytesMaskMinTmpSize(const ge::Shape &first, const ge::Shape &second,
                                                 const uint32_t type_size, const ge::Shape &mask,
                                                 const uint32_t mask_bytes, const bool reuse_mask)
{
    return GetSelectMinTmpSize(first, second, type_size, mask, mask_bytes, reuse_mask);
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape &shape, const uint32_t, const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_dropout(&plain, &max, &min);
}
inline uint32_t GetDropOutMaxTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse)
{
    uint32_t max = 0, min = 0;
    GetDropOutMaxMinTmpSize(shape, type_size, reuse, max, min);
    return max;
}
inline uint32_t GetDropOutMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse)
{
    uint32_t max = 0, min = 0;
    GetDropOutMaxMinTmpSize(shape, type_size, reuse, max, min);
    return min;
}
inline void GetArangeMaxMinTmpSize(uint32_t &max, uint32_t &min)
{
    max = min = 0;
}
inline void GetArithProgressionMaxMinTmpSize(uint32_t &max, uint32_t &min)
{
    GetArangeMaxMinTmpSize(max, min);
}
inline void GetAscendQuantMaxMinTmpSize(const ge::Shape &shape, const uint32_t, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_quant(&plain, &max, &min);
}
inline void GetAscendQuantTmpBufferFactorSize(uint32_t &live, uint32_t &extra)
{
    live = 2;
    extra = 0;
}
inline void GetQuantizeMaxMinTmpSize(const ge::Shape &shape, const uint32_t, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_quant(&plain, &max, &min);
}
inline void GetQuantizeTmpBufferFactorSize(uint32_t &live, uint32_t &extra)
{
    live = 2;
    extra = 0;
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape &shape, const uint32_t, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_dequant(&plain, &max, &min);
}
inline void GetAscendDequantTmpBufferFactorSize(const ge::Shape &shape, uint32_t &live, uint32_t &extra)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_dequant_factor(&plain, &live, &extra);
}
inline void GetDequantizeMaxMinTmpSize(const ge::Shape &shape, const uint32_t, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_dequant(&plain, &max, &min);
}
inline void GetDequantizeTmpBufferFactorSize(const ge::Shape &shape, uint32_t &live, uint32_t &extra)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_dequant_factor(&plain, &live, &extra);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape &shape, const ge::Shape &scale, bool transposed,
                                            ge::DataType, ge::DataType to, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape), scales = AkgenShape(scale);
    akgen_tmp_antiquant(&plain, &scales, transposed, to == ge::DT_FLOAT16, &max, &min);
}
inline uint32_t GetAscendAntiQuantMaxTmpSize(const ge::Shape &shape, const ge::Shape &scale, bool transposed,
                                             ge::DataType from, ge::DataType to)
{
    uint32_t max = 0, min = 0;
    GetAscendAntiQuantMaxMinTmpSize(shape, scale, transposed, from, to, max, min);
    return max;
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const ge::Shape &shape, const ge::Shape &scale, bool transposed,
                                             ge::DataType from, ge::DataType to)
{
    uint32_t max = 0, min = 0;
    GetAscendAntiQuantMaxMinTmpSize(shape, scale, transposed, from, to, max, min);
    return min;
}
// One live tensor with a single scale; several scales are spread out in a space that does not grow with the source.
inline void GetAscendAntiQuantTmpBufferFactorSize(const ge::Shape &shape, const ge::Shape &scale, bool transposed,
                                                  ge::DataType from, ge::DataType to, uint32_t &live, uint32_t &extra)
{
    uint32_t max = 0, min = 0;
    GetAscendAntiQuantMaxMinTmpSize(shape, scale, transposed, from, to, max, min);
    live = to != ge::DT_FLOAT16 && scale.GetShapeSize() == 1;
    extra = live ? 0 : max;
}
inline void GetAntiQuantizeTmpBufferFactorSize(const ge::Shape &, const ge::Shape &, ge::DataType, ge::DataType,
                                               uint32_t &live, uint32_t &extra)
{
    live = extra = 0;
}
inline void GetAntiQuantizeMaxMinTmpSize(const ge::Shape &, const ge::Shape &, bool, ge::DataType, ge::DataType,
                                         uint32_t &max, uint32_t &min)
{
    max = min = 0;
}
inline void GetReduceSumMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                      bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_SUM, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceMeanMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                       bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_SUM, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceProdMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                       bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_PRODUCT, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceMaxMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                      bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_EXTREME, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceMinMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                      bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_EXTREME, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceAnyMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                      bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_LOGIC, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceAllMaxMinTmpSize(const ge::Shape &shape, const ge::DataType type, ReducePattern pattern, bool,
                                      bool reuse, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_reduce(AKGEN_REDUCE_LOGIC, &plain, static_cast<uint32_t>(akgen_ge_dtype_size(type)),
                                 pattern == ReducePattern::AR, reuse);
}
inline void GetReduceXorSumMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse,
                                         uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    max = min = akgen_tmp_xor_sum(&plain, type_size, reuse);
}
inline void GetCumSumMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool along_last, const bool,
                                   uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_cumsum(&plain, type_size, along_last, &max, &min);
}

// Concat arranges nothing on this chip: Sort32 takes values and indices apart.
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &, const uint32_t, const uint32_t)
{
    return 0;
}
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &, const uint32_t count,
                               const uint32_t type_size)
{
    return akgen_tmp_sort(count, type_size);
}
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const int32_t inner, const int32_t outer,
                                 const bool, const bool has_index, enum TopKMode mode, const bool largest,
                                 const uint32_t, uint32_t &max, uint32_t &min)
{
    akgen_tmp_topk(inner, outer, has_index, mode == TopKMode::TOPK_NSMALL, largest, &max, &min);
    return true;
}

inline void GetLayerNormMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse, uint32_t &max,
                                      uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_layer_norm(&plain, type_size, reuse, &max, &min);
}
inline void GetLayerNormMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool, const bool,
                                      const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_layer_norm_separate(&plain, type_size, &max, &min);
}
inline bool GetDeepNormMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool reuse,
                                     const bool basic_block, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    return akgen_tmp_deep_norm(&plain, type_size, reuse, basic_block, &max, &min);
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape &shape, const uint32_t parameter_size, const uint32_t type_size,
                                      const bool, const bool, const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_normalize(&plain, parameter_size, type_size, &max, &min);
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const uint32_t,
                                          const bool reuse, const bool, uint32_t &max, uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_welford_update(&plain, type_size, reuse, &max, &min);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape &shape, const uint32_t, const bool, uint32_t &max,
                                            uint32_t &min)
{
    const akgen_shape plain = AkgenShape(shape);
    akgen_tmp_welford_finalize(&plain, &max, &min);
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, uint32_t &max, uint32_t &min,
                                    const bool basic_block = false)
{
    const akgen_shape plain = AkgenShape(shape);
    return akgen_tmp_rms_norm(&plain, type_size, basic_block, &max, &min);
}

// Once for the classes and once for the plain structures, as CANN overloads them.
#define AKGEN_NORM_TILING(space)                                                                                       \
    inline void GetLayerNormNDTilingInfo(const ge::Shape &shape, const uint32_t bytes, const uint32_t type_size,       \
                                         const bool reuse, space::LayerNormTiling &tiling)                             \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_layer_norm_tiling(&plain, bytes, type_size, reuse, AkgenPlain<akgen_LayerNormTiling>(tiling));           \
    }                                                                                                                  \
    inline void GetLayerNormNDTilingInfo(const ge::Shape &shape, const uint32_t bytes, const uint32_t type_size,       \
                                         const bool, const bool, space::LayerNormSeparateTiling &tiling)               \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape);                                                                   \
        akgen_layer_norm_separate_tiling(&plain, bytes, type_size, AkgenPlain<akgen_LayerNormSeparateTiling>(tiling)); \
    }                                                                                                                  \
    inline bool GetDeepNormTilingInfo(const ge::Shape &shape, const ge::Shape &original, const uint32_t bytes,         \
                                      const uint32_t type_size, const bool reuse, const bool basic_block,              \
                                      space::DeepNormTiling &tiling)                                                   \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape), whole = AkgenShape(original);                                     \
        return akgen_deep_norm_tiling(&plain, &whole, bytes, type_size, reuse, basic_block,                            \
                                      AkgenPlain<akgen_DeepNormTiling>(tiling));                                       \
    }                                                                                                                  \
    inline bool GetRmsNormTilingInfo(const ge::Shape &shape, const ge::Shape &original, const uint32_t bytes,          \
                                     const uint32_t type_size, space::RmsNormTiling &tiling,                           \
                                     const bool basic_block = false)                                                   \
    {                                                                                                                  \
        const akgen_shape plain = AkgenShape(shape), whole = AkgenShape(original);                                     \
        return akgen_rms_norm_tiling(&plain, &whole, bytes, type_size, basic_block,                                    \
                                     AkgenPlain<akgen_RmsNormTiling>(tiling));                                         \
    }                                                                                                                  \
    inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC &, const int32_t inner, const int32_t outer,    \
                               const int32_t k, const uint32_t type_size, const bool has_index, enum TopKMode mode,    \
                               const bool largest, space::TopkTiling &tiling)                                          \
    {                                                                                                                  \
        return akgen_topk_tiling(inner, outer, k, type_size, has_index, mode == TopKMode::TOPK_NSMALL, largest,        \
                                 AkgenPlain<akgen_TopkTiling>(tiling));                                                \
    }
AKGEN_NORM_TILING(optiling)
AKGEN_NORM_TILING(tiling)
#undef AKGEN_NORM_TILING
inline void GetLayerNormNDTillingInfo(const ge::Shape &shape, const uint32_t bytes, const uint32_t type_size,
                                      const bool reuse, optiling::LayerNormTiling &tiling)
{
    GetLayerNormNDTilingInfo(shape, bytes, type_size, reuse, tiling);
}
} // namespace AscendC
#endif
