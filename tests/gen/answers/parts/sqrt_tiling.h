#ifndef SQRT_TILING_H
#define SQRT_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SqrtTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF(uint64_t, share);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Sqrt, SqrtTilingData)
} // namespace optiling
#endif
