#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(UnalignAddTilingData)
TILING_DATA_FIELD_DEF(uint32_t, perBlock);
TILING_DATA_FIELD_DEF(uint32_t, blocks);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(UnalignAdd, UnalignAddTilingData)
} // namespace optiling
