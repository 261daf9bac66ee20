#ifndef CROSS_TILING_H
#define CROSS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
// x1, x2, y are (rows, 3, columns). A tile is tileRows x tileColumns vectors of three numbers.
BEGIN_TILING_DATA_DEF(CrossTilingData)
TILING_DATA_FIELD_DEF(uint64_t, rows);        // the dimensions before dim
TILING_DATA_FIELD_DEF(uint64_t, columns);     // the dimensions after dim
TILING_DATA_FIELD_DEF(uint32_t, tileRows);    // more than one only if tileColumns is all of a row
TILING_DATA_FIELD_DEF(uint32_t, tileColumns); // a multiple of 32 bytes unless it is all of a row
TILING_DATA_FIELD_DEF(uint32_t, tile);        // numbers of a tile in UB
TILING_DATA_FIELD_DEF(uint32_t, flat);        // 1: columns are so few that a tile stays as it lies in memory
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Cross, CrossTilingData)
} // namespace optiling
#endif
