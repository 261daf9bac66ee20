// The chip, asked through a context (opbase, op_common/op_host/util/platform_util.h).
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_PLATFORM_UTIL_H
#define CANN_OP_COMMON_OP_HOST_UTIL_PLATFORM_UTIL_H

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "op_common/log/log.h"
#include "tiling/platform/platform_ascendc.h"

#include <type_traits>

namespace Ops
{
namespace Base
{
template <typename T> platform_ascendc::PlatformAscendC AkgenPlatform(const T *context)
{
    static_assert(std::is_same_v<std::remove_const_t<T>, gert::TilingParseContext> ||
                      std::is_same_v<std::remove_const_t<T>, gert::TilingContext>,
                  "context should be gert::TilingParseContext or gert::TilingContext");
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
}
// Each gives 0 without a context or without a platform.
#define AKGEN_PLATFORM_UTIL(name, ...)                                                                                 \
    template <typename T> uint32_t name(const T *context)                                                              \
    {                                                                                                                  \
        if (context == nullptr || context->GetPlatformInfo() == nullptr) {                                             \
            OP_LOGE(#name, "there is no context, or it has no platform");                                              \
            return 0;                                                                                                  \
        }                                                                                                              \
        __VA_ARGS__                                                                                                    \
    }
AKGEN_PLATFORM_UTIL(GetAivCoreNum, return AkgenPlatform(context).GetCoreNumAiv();)
AKGEN_PLATFORM_UTIL(GetAicCoreNum, return AkgenPlatform(context).GetCoreNumAic();)
AKGEN_PLATFORM_UTIL(GetWorkspaceSize, return AkgenPlatform(context).GetLibApiWorkSpaceSize();)
AKGEN_PLATFORM_UTIL(GetUbSize, uint64_t bytes = 0;
                    AkgenPlatform(context).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
                    return static_cast<uint32_t>(bytes);)
#undef AKGEN_PLATFORM_UTIL

// Constants in CANN as well, whatever the chip: bytes, and threads for GetSimtMaxThreadNum.
#define AKGEN_PLATFORM_CONSTANT(name, value)                                                                           \
    template <typename T> uint32_t name(const T *)                                                                     \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
AKGEN_PLATFORM_CONSTANT(GetUbBlockSize, 32)
AKGEN_PLATFORM_CONSTANT(GetVRegSize, 256)
AKGEN_PLATFORM_CONSTANT(GetSimtMaxThreadNum, 2048)
AKGEN_PLATFORM_CONSTANT(GetSimtMaxDCacheSize, 131072)
AKGEN_PLATFORM_CONSTANT(GetCacheLineSize, 256)
AKGEN_PLATFORM_CONSTANT(GetSectorCacheLineSize, 128)
AKGEN_PLATFORM_CONSTANT(GetNddmaDcacheSize, 8192)
#undef AKGEN_PLATFORM_CONSTANT
} // namespace Base
} // namespace Ops
#endif
