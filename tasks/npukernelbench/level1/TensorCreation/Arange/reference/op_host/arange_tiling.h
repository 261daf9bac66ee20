#ifndef ARANGE_TILING_H
#define ARANGE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ArangeTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // elements of every block but the last, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(uint32_t, tile);     // elements of a tile, a multiple of 32 bytes
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Arange, ArangeTilingData)
} // namespace optiling
#endif
