/* The structures in which high-level APIs get their tiling from the host, from the same list as the host's classes. */
#ifndef ASCENDC_KERNEL_TILING_H
#define ASCENDC_KERNEL_TILING_H

#include <cstdint>

namespace AscendC
{
namespace tiling
{
#define AKGEN_TILING_FIELD(type, name) type name = 0;
#define AKGEN_TILING_STRUCT(name, fields)                                                                              \
    struct name {                                                                                                      \
        fields                                                                                                         \
    };
#include "abi/tiling_structs.def"
} // namespace tiling
} // namespace AscendC

#define AKGEN_TILING_FIELD(type, name)
#define AKGEN_TILING_STRUCT(name, fields) using AscendC::tiling::name;
#include "abi/tiling_structs.def"

#endif
