#ifndef FOREACH_ZERO_INPLACE_TILING_H
#define FOREACH_ZERO_INPLACE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
constexpr uint32_t MAX_TENSORS = 256; // in a list

BEGIN_TILING_DATA_DEF(ForeachZeroInplaceTilingData)
TILING_DATA_FIELD_DEF(uint32_t, tensors);                   // in the list
TILING_DATA_FIELD_DEF(uint32_t, tile);                      // elements worked on at once, a multiple of 32 bytes
TILING_DATA_FIELD_DEF_ARR(uint64_t, MAX_TENSORS, elements); // of every tensor
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ForeachZeroInplace, ForeachZeroInplaceTilingData)
} // namespace optiling
#endif
