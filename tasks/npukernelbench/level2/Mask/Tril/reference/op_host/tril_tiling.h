#ifndef TRIL_TILING_H
#define TRIL_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(TrilTilingData)
TILING_DATA_FIELD_DEF(uint64_t, rows);    // of one matrix
TILING_DATA_FIELD_DEF(uint64_t, columns); // of one matrix
TILING_DATA_FIELD_DEF(uint64_t, allRows); // of the batch
TILING_DATA_FIELD_DEF(int64_t, diagonal);
TILING_DATA_FIELD_DEF(uint64_t, tiles);    // in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // tiles of every block but the last
TILING_DATA_FIELD_DEF(uint32_t, rowsPerTile);
TILING_DATA_FIELD_DEF(uint32_t, segment); // columns of a tile, a multiple of 32 bytes
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Tril, TrilTilingData)
} // namespace optiling
#endif
