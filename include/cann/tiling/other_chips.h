// Temporary space of high-level APIs that an Ascend 910B lacks. CANN's functions say so and leave the results as they
// are (asc-devkit, impl/adv_api/tiling), because operators for several chips call them in one source.
#ifndef CANN_TILING_OTHER_CHIPS_H
#define CANN_TILING_OTHER_CHIPS_H

#include "graph/operator.h"
#include "tiling/platform/platform_ascendc.h"

#include <cstdio>

namespace AscendC
{
inline void AkgenOtherChip(const char *api)
{
    std::printf("[ERROR] this chip has no %s\n", api);
}
#define AKGEN_OTHER_CHIP(api)                                                                                          \
    inline void Get##api##MaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &, const uint32_t,  \
                                        const bool, uint32_t &, uint32_t &)                                            \
    {                                                                                                                  \
        AkgenOtherChip(#api);                                                                                          \
    }                                                                                                                  \
    inline void Get##api##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC &, const uint32_t, uint32_t &,   \
                                              uint32_t &)                                                              \
    {                                                                                                                  \
        AkgenOtherChip(#api);                                                                                          \
    }
AKGEN_OTHER_CHIP(BitwiseAnd)
AKGEN_OTHER_CHIP(BitwiseNot)
AKGEN_OTHER_CHIP(BitwiseOr)
AKGEN_OTHER_CHIP(BitwiseXor)
AKGEN_OTHER_CHIP(Fma)
AKGEN_OTHER_CHIP(IsInf)
AKGEN_OTHER_CHIP(IsNan)
AKGEN_OTHER_CHIP(LogicalAnd)
AKGEN_OTHER_CHIP(LogicalAnds)
AKGEN_OTHER_CHIP(LogicalNot)
AKGEN_OTHER_CHIP(LogicalOr)
AKGEN_OTHER_CHIP(LogicalOrs)
AKGEN_OTHER_CHIP(LogicalXor)
AKGEN_OTHER_CHIP(Rint)
AKGEN_OTHER_CHIP(SinCos)
AKGEN_OTHER_CHIP(Where)
#undef AKGEN_OTHER_CHIP

inline void GetHypotMaxMinTmpSize(const ge::Shape &, const uint32_t, const bool, uint32_t &max, uint32_t &min)
{
    max = min = 0;
}
inline void GetHypotTmpBufferFactorSize(const uint32_t, uint32_t &, uint32_t &extra)
{
    extra = 0;
}

enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
    SortType type = SortType::RADIX_SORT;
    bool isDescend = false;
    bool hasSrcIndex = false;
    bool hasDstIndex = false;
};
inline void GetSortMaxMinTmpSize(const ge::Shape &, ge::DataType, ge::DataType, bool, const SortConfig &, uint32_t &,
                                 uint32_t &)
{
    AkgenOtherChip("Sort with a SortConfig");
}
} // namespace AscendC
#endif
