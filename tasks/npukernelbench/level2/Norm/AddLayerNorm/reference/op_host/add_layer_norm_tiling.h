#ifndef ADD_LAYER_NORM_TILING_H
#define ADD_LAYER_NORM_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AddLayerNormTilingData)
TILING_DATA_FIELD_DEF(uint64_t, rows);         // in all
TILING_DATA_FIELD_DEF(uint64_t, rowsPerBlock); // of every block but the last
TILING_DATA_FIELD_DEF(uint32_t, length);       // elements of a row
TILING_DATA_FIELD_DEF(uint32_t, chunk);        // of them at once: length if whole rows fit into UB
TILING_DATA_FIELD_DEF(uint32_t, tileRows);     // whole rows at once, 1 if rows come in chunks
TILING_DATA_FIELD_DEF(uint32_t, bias);         // 0 absent, 1 shaped like x1, 2 one row for all
TILING_DATA_FIELD_DEF(uint32_t, writeX);       // 1: the output x is wanted
TILING_DATA_FIELD_DEF(float, epsilon);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(AddLayerNorm, AddLayerNormTilingData)
} // namespace optiling
#endif
