#ifndef EYE_TILING_H
#define EYE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(EyeTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // elements of every block but the last, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(uint64_t, rows);     // of one matrix
TILING_DATA_FIELD_DEF(uint64_t, columns);
TILING_DATA_FIELD_DEF(uint32_t, tile); // elements that fit into UB at once, a multiple of 32 bytes
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Eye, EyeTilingData)
} // namespace optiling
#endif
