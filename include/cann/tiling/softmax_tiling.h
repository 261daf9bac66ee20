// Tiling of SoftMax, LogSoftMax, SoftmaxFlash, V2, V3 and SoftmaxGrad.
#ifndef CANN_TILING_SOFTMAX_TILING_H
#define CANN_TILING_SOFTMAX_TILING_H

#include "tiling/tiling_structs.h"
#include "tiling/tmp_space.h"

namespace AscendC
{
inline akgen_softmax AkgenSoftmax(akgen_softmax_kind kind, const ge::Shape &shape, uint32_t type_size,
                                  uint32_t max_type_size)
{
    akgen_softmax softmax{};
    softmax.kind = kind;
    softmax.shape = AkgenShape(shape);
    softmax.type_size = type_size;
    softmax.max_type_size = max_type_size;
    return softmax;
}
inline akgen_softmax AkgenFlash(const ge::Shape &shape, uint32_t type_size, bool update)
{
    akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX_FLASH, shape, type_size, type_size);
    softmax.update = update;
    return softmax;
}
inline akgen_softmax AkgenGrad(const ge::Shape &shape, uint32_t type_size, bool front)
{
    akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX_GRAD, shape, type_size, type_size);
    softmax.front = front;
    return softmax;
}
inline akgen_softmax AkgenFlashV2(const ge::Shape &shape, uint32_t type_size, uint32_t max_type_size, bool basic_block,
                                  bool broadcast)
{
    akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX_FLASH_V2, shape, type_size, max_type_size);
    softmax.basic_block = basic_block;
    softmax.broadcast = broadcast;
    return softmax;
}
template <typename Tiling> void AkgenSoftmaxTiling(const akgen_softmax &softmax, uint32_t space, Tiling &tiling)
{
    akgen_softmax_tiling(&softmax, space, AkgenPlain<akgen_SoftMaxTiling>(tiling));
}

inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool)
{
    const akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX, shape, type_size, type_size);
    return akgen_softmax_max(&softmax);
}
inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool)
{
    const akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX, shape, type_size, type_size);
    return akgen_softmax_min(&softmax);
}
inline uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape shape, const uint32_t type_size, const bool reuse)
{
    return GetSoftMaxMaxTmpSize(shape, type_size, reuse);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape shape, const uint32_t type_size, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, type_size, reuse);
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool update,
                                          const bool)
{
    const akgen_softmax softmax = AkgenFlash(shape, type_size, update);
    return akgen_softmax_max(&softmax);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool update,
                                          const bool)
{
    const akgen_softmax softmax = AkgenFlash(shape, type_size, update);
    return akgen_softmax_min(&softmax);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool front, const bool)
{
    const akgen_softmax softmax = AkgenGrad(shape, type_size, front);
    return akgen_softmax_max(&softmax);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape &shape, const uint32_t type_size, const bool front, const bool)
{
    const akgen_softmax softmax = AkgenGrad(shape, type_size, front);
    return akgen_softmax_min(&softmax);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape &shape, const uint32_t type_size,
                                            const uint32_t max_type_size, const bool, const bool basic_block = false,
                                            const bool broadcast = false)
{
    const akgen_softmax softmax = AkgenFlashV2(shape, type_size, max_type_size, basic_block, broadcast);
    return akgen_softmax_max(&softmax);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape &shape, const uint32_t type_size,
                                            const uint32_t max_type_size, const bool, const bool basic_block = false,
                                            const bool broadcast = false)
{
    const akgen_softmax softmax = AkgenFlashV2(shape, type_size, max_type_size, basic_block, broadcast);
    return akgen_softmax_min(&softmax);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape &shape, const uint32_t type_size,
                                           const uint32_t max_type_size, uint32_t &max, uint32_t &min, const bool,
                                           const bool = false)
{
    const akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX_FLASH_V3, shape, type_size, max_type_size);
    max = akgen_softmax_max(&softmax);
    min = akgen_softmax_min(&softmax);
}

// One definition for the class and one for the plain structure, as CANN overloads them.
#define AKGEN_SOFTMAX_TILING(Tiling, LogTiling)                                                                        \
    inline void SoftMaxTilingFunc(const ge::Shape &shape, const uint32_t type_size, const uint32_t space,              \
                                  Tiling &tiling)                                                                      \
    {                                                                                                                  \
        AkgenSoftmaxTiling(AkgenSoftmax(AKGEN_SOFTMAX, shape, type_size, type_size), space, tiling);                   \
    }                                                                                                                  \
    inline void LogSoftMaxTilingFunc(const ge::Shape shape, const uint32_t type_size, const uint32_t space,            \
                                     LogTiling &tiling)                                                                \
    {                                                                                                                  \
        const akgen_softmax softmax = AkgenSoftmax(AKGEN_SOFTMAX, shape, type_size, type_size);                        \
        akgen_softmax_tiling(&softmax, space,                                                                          \
                             reinterpret_cast<akgen_SoftMaxTiling *>(AkgenPlain<akgen_LogSoftMaxTiling>(tiling)));     \
    }                                                                                                                  \
    inline void SoftMaxFlashTilingFunc(const ge::Shape &shape, const uint32_t type_size, const uint32_t space,         \
                                       Tiling &tiling, const bool update = false)                                      \
    {                                                                                                                  \
        AkgenSoftmaxTiling(AkgenFlash(shape, type_size, update), space, tiling);                                       \
    }                                                                                                                  \
    inline void SoftMaxGradTilingFunc(const ge::Shape &shape, const uint32_t type_size, const uint32_t space,          \
                                      Tiling &tiling, const bool front = false)                                        \
    {                                                                                                                  \
        AkgenSoftmaxTiling(AkgenGrad(shape, type_size, front), space, tiling);                                         \
    }                                                                                                                  \
    inline void SoftMaxFlashV2TilingFunc(const ge::Shape &shape, const uint32_t type_size,                             \
                                         const uint32_t max_type_size, const uint32_t space, Tiling &tiling,           \
                                         const bool, const bool basic_block = false, const bool broadcast = false)     \
    {                                                                                                                  \
        AkgenSoftmaxTiling(AkgenFlashV2(shape, type_size, max_type_size, basic_block, broadcast), space, tiling);      \
    }                                                                                                                  \
    inline void SoftMaxFlashV3TilingFunc(const ge::Shape &shape, const uint32_t type_size,                             \
                                         const uint32_t max_type_size, const uint32_t space, Tiling &tiling,           \
                                         const bool, const bool = false)                                               \
    {                                                                                                                  \
        AkgenSoftmaxTiling(AkgenSoftmax(AKGEN_SOFTMAX_FLASH_V3, shape, type_size, max_type_size), space, tiling);      \
    }                                                                                                                  \
    inline bool IsBasicBlockInSoftMax(Tiling &tiling, const uint32_t type_size = 2)                                    \
    {                                                                                                                  \
        return akgen_softmax_is_basic_block(AkgenPlain<akgen_SoftMaxTiling>(tiling), type_size);                       \
    }
AKGEN_SOFTMAX_TILING(optiling::SoftMaxTiling, optiling::LogSoftMaxTiling)
AKGEN_SOFTMAX_TILING(tiling::SoftMaxTiling, tiling::LogSoftMaxTiling)
#undef AKGEN_SOFTMAX_TILING
} // namespace AscendC
#endif
