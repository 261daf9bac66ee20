// Ops::Base::TilingBaseClass: tiling as steps that an operator fills in (opbase,
// op_common/op_host/tiling_base_class.h).
#ifndef CANN_OP_COMMON_OP_HOST_TILING_BASE_CLASS_H
#define CANN_OP_COMMON_OP_HOST_TILING_BASE_CLASS_H

#include "op_common/log/log.h"
#include "tiling/tiling_steps.h"

namespace Ops
{
namespace Base
{
struct AiCoreParams {
    uint64_t ubSize = 0;
    uint64_t numBlocks = 0;
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};
struct CompileInfoCommon {
    uint32_t aivNum;
    uint32_t aicNum;
    uint64_t ubSize;
    uint64_t l1Size;
    uint64_t l0aSize;
    uint64_t l0bSize;
    uint64_t l0cSize;
    uint64_t l2CacheSize;
    int64_t coreNum;
    int32_t socVersion;
    uint32_t rsvd;
};

class TilingBaseClass : public optiling::AkgenTilingSteps<AiCoreParams>
{
  public:
    using AkgenTilingSteps::AkgenTilingSteps;
};
} // namespace Base
} // namespace Ops
#endif
