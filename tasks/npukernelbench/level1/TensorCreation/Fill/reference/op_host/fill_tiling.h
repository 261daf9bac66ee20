#ifndef FILL_TILING_H
#define FILL_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(FillTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // bytes in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // bytes of every block but the last, a multiple of 64
TILING_DATA_FIELD_DEF(uint32_t, tile);     // bytes of the pattern in UB, a multiple of 256
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Fill, FillTilingData)
} // namespace optiling
#endif
