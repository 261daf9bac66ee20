#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(LayerNormV4TilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(uint32_t, padded);
TILING_DATA_FIELD_DEF(uint32_t, perLoop); // rows at a time
TILING_DATA_FIELD_DEF(uint32_t, space);
TILING_DATA_FIELD_DEF(float, epsilon);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormSeparateTiling, norm);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(LayerNormV4, LayerNormV4TilingData)
} // namespace optiling
