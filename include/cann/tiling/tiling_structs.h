// The structures of CANN's high-level APIs, once as classes for BEGIN_TILING_DATA_DEF structures to nest (optiling) and
// once as plain structures (AscendC::tiling).
#ifndef CANN_TILING_TILING_STRUCTS_H
#define CANN_TILING_TILING_STRUCTS_H

#include "abi/tiling_abi.h"
#include "register/tilingdata_base.h"

namespace optiling
{
#define AKGEN_TILING_FIELD(type, name)    TILING_DATA_FIELD_DEF(type, name)
#define AKGEN_TILING_STRUCT(name, fields) BEGIN_TILING_DATA_DEF(name) fields END_TILING_DATA_DEF
#include "abi/tiling_structs.def"
} // namespace optiling

namespace AscendC
{
namespace tiling
{
#define AKGEN_TILING_FIELD(type, name)
#define AKGEN_TILING_STRUCT(name, fields) using name = ::akgen_##name;
#include "abi/tiling_structs.def"
} // namespace tiling

// The plain structure behind either kind; the layouts are the same.
template <typename Plain> Plain *AkgenPlain(Plain &tiling)
{
    return &tiling;
}
template <typename Plain> Plain *AkgenPlain(optiling::TilingDef &tiling)
{
    return reinterpret_cast<Plain *>(tiling.AkgenTilingData()->bytes);
}
} // namespace AscendC
#endif
