#ifndef EXPAND_V2_TILING_H
#define EXPAND_V2_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
constexpr size_t MAX_GROUPS = 8;

BEGIN_TILING_DATA_DEF(ExpandV2TilingData)
TILING_DATA_FIELD_DEF(uint64_t, xTotal);                  // elements of x
TILING_DATA_FIELD_DEF(uint64_t, total);                   // elements of y
TILING_DATA_FIELD_DEF(uint64_t, row);                     // elements of y that are one run, or one element, of x
TILING_DATA_FIELD_DEF(uint64_t, copies);                  // equal rows that follow each other
TILING_DATA_FIELD_DEF(uint64_t, items);                   // pieces of rows in all
TILING_DATA_FIELD_DEF(uint64_t, perBlock);                // items of every block but the last
TILING_DATA_FIELD_DEF_ARR(uint64_t, MAX_GROUPS, sizes);   // of the groups of dimensions outside of copies and row
TILING_DATA_FIELD_DEF_ARR(uint64_t, MAX_GROUPS, strides); // of each in x, in elements
TILING_DATA_FIELD_DEF(uint32_t, groups);
TILING_DATA_FIELD_DEF(uint32_t, piece); // elements of every piece of a row but the last
TILING_DATA_FIELD_DEF(uint32_t, fill);  // a row is one element of x
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ExpandV2, ExpandV2TilingData)
} // namespace optiling
#endif
