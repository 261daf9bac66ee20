#ifndef SWI_GLU_TILING_H
#define SWI_GLU_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
// x is (rows, 2, columns), y is (rows, columns). A tile is tileRows x tileColumns elements of y.
BEGIN_TILING_DATA_DEF(SwiGluTilingData)
TILING_DATA_FIELD_DEF(uint64_t, rows);        // the dimensions before dim
TILING_DATA_FIELD_DEF(uint64_t, columns);     // half of dim and the dimensions after it
TILING_DATA_FIELD_DEF(uint32_t, tileRows);    // more than one only if tileColumns is all of a row
TILING_DATA_FIELD_DEF(uint32_t, tileColumns); // a multiple of 32 bytes unless it is all of a row
TILING_DATA_FIELD_DEF(uint32_t, tile);        // elements of a tile in UB, where each row starts on 32 bytes
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(SwiGlu, SwiGluTilingData)
} // namespace optiling
#endif
