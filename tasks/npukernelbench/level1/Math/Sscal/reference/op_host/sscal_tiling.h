#ifndef SSCAL_TILING_H
#define SSCAL_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SscalTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements to scale
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // of them, of every block but the last
TILING_DATA_FIELD_DEF(uint32_t, tile);     // of them, that fit into UB at once
TILING_DATA_FIELD_DEF(uint32_t, stride);   // elements from one to the next
TILING_DATA_FIELD_DEF(float, alpha);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Sscal, SscalTilingData)
} // namespace optiling
#endif
