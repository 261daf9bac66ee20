#ifndef MSE_LOSS_TILING_H
#define MSE_LOSS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MseLossTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);    // elements in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock); // elements of every block but the last, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(uint32_t, tile);     // elements that fit into UB at once, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(float, scale);       // what the sum is multiplied by: 1 or 1 / total
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(MseLoss, MseLossTilingData)
} // namespace optiling
#endif
