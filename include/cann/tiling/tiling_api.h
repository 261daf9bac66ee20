// The tiling side of CANN's high-level APIs. Names of it that this project lacks are declared here as unavailable, so
// that the compiler says which one is missing.
#ifndef CANN_TILING_TILING_API_H
#define CANN_TILING_TILING_API_H

#include "register/tilingdata_base.h"
#include "tiling/batch_tiling.h"
#include "tiling/hccl/hccl_tiling.h"
#include "tiling/matmul_tiling.h"
#include "tiling/other_chips.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/softmax_tiling.h"
#include "tiling/space_tiling.h"
#include "tiling/tiling_structs.h"
#include "tiling/tmp_space.h"
#include "tiling/unsupported.h"

#include <algorithm>

namespace AscendC
{
// What CANN's ConfusionTranspose tiling declares for the host.
constexpr uint32_t BLOCK_CUBE = 16, ONE_BLK_SIZE = 32;
constexpr int32_t CUBE_MAX_SIZE = 256;

#define AKGEN_UNSUPPORTED_FUNCTION(name)                                                                               \
    template <typename... Arguments> uint32_t name(Arguments &&...) AKGEN_UNSUPPORTED("AscendC::" #name)
AKGEN_UNSUPPORTED_FUNCTION(GetTransDataMaxMinTmpSize);
#undef AKGEN_UNSUPPORTED_FUNCTION
} // namespace AscendC
#endif
