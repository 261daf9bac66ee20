#ifndef MULS_TILING_H
#define MULS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MulsTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements in all; a complex number counts as two
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // elements of every block but the last, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(uint32_t, tile);     // elements that fit into UB at once, a multiple of 32 bytes
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Muls, MulsTilingData)
} // namespace optiling
#endif
