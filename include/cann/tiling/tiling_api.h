// The tiling side of high-level APIs. Published projects include it without using it; what they may use of it and this
// runtime lacks is declared, so that the compiler says which name is missing.
#ifndef CANN_TILING_TILING_API_H
#define CANN_TILING_TILING_API_H

#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

#endif
