// TilingBaseClass of cann-ops' common sources: tiling as steps that an operator fills in.
#ifndef CANN_TILING_TILING_BASE_H
#define CANN_TILING_TILING_BASE_H

#include "error/ops_error.h"
#include "tiling/tiling_steps.h"

namespace optiling
{
struct AiCoreParams {
    uint64_t ubSize = 0;
    uint64_t blockDim = 0;
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};

class TilingBaseClass : public AkgenTilingSteps<AiCoreParams>
{
  public:
    using AkgenTilingSteps::AkgenTilingSteps;
};
} // namespace optiling
#endif
