#ifndef SASUM_TILING_H
#define SASUM_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SasumTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements to sum
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // of them, of every block but the last
TILING_DATA_FIELD_DEF(uint32_t, tile);     // of them, that fit into UB at once
TILING_DATA_FIELD_DEF(uint32_t, stride);   // elements from one to the next
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Sasum, SasumTilingData)
} // namespace optiling
#endif
