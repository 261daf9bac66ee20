#ifndef TOP_KV3_TILING_H
#define TOP_KV3_TILING_H
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(TopKV3TilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, n);
TILING_DATA_FIELD_DEF(uint32_t, inner);
TILING_DATA_FIELD_DEF(uint32_t, k);
TILING_DATA_FIELD_DEF(uint32_t, space);
TILING_DATA_FIELD_DEF_STRUCT(TopkTiling, top);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(TopKV3, TopKV3TilingData)
} // namespace optiling
#endif
