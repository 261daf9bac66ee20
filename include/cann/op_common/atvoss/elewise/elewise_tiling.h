// The tiling of an ATVOSS graph (opbase, pkg_inc/op_common/atvoss/elewise): its structures, and functions that are compiled
// and not called on a simulated chip, whose vector unit does not work on registers (tiling_base_util.h,
// IsRegbaseSocVersion). A call all the same makes the verdict `unsupported`.
#ifndef CANN_OP_COMMON_ATVOSS_ELEWISE_ELEWISE_TILING_H
#define CANN_OP_COMMON_ATVOSS_ELEWISE_ELEWISE_TILING_H

#include "exe_graph/runtime/tiling_context.h"
#include "op_common/log/log.h"
#include "register/tilingdata_base.h"

#include <cstdint>

namespace Ops
{
namespace Base
{
using namespace optiling;

constexpr uint64_t ELEWISE_MAX_SCALAR_BYTES = 16, EIGHT_BYTES = 8, SIXTEN_BYTES = 16;
constexpr uint64_t OP_KEY_OFFSET = 100000000000000;
constexpr int64_t BITS_NUM = 8, DEFAULT_SCHEMODE = 1;

struct EleBaseTilingData {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    int64_t blockFormer;
    int64_t blockNum;
    int64_t ubLoopOfFormerBlock;
    int64_t ubLoopOfTailBlock;
    int64_t ubTailOfFormerBlock;
    int64_t ubTailOfTailBlock;
    int64_t elemNum;
    uint64_t scheMode;
};
using EleBaseTilingDataV2 = EleBaseTilingData;
struct EleBaseTilingData16B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
};
struct EleBaseTilingData24B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    char scalarData[EIGHT_BYTES];
};
struct EleBaseTilingData32B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    char scalarData[SIXTEN_BYTES];
};
struct ElewiseTilingData {
    uint64_t innerKey;
    int64_t dim0;
    int64_t ubFormer;
    int64_t blockFormer;
    int64_t blockNum;
    int64_t coreNum;
    int64_t ubLoopOfFormerBlock;
    int64_t ubLoopOfTailBlock;
    int64_t ubTailOfFormerBlock;
    int64_t ubTailOfTailBlock;
    int64_t elemNum;
};
struct ElewiseCompileInfo {
    uint64_t coreNum = 0;
    uint64_t ubSize = 0;
};

class ElewiseBaseTiling
{
  public:
    explicit ElewiseBaseTiling(gert::TilingContext *)
    {
    }
    // `Data` is one of the structures above.
    template <typename Graph, bool check_shape = true, typename Data>
    ge::graphStatus DoTiling(Data &, int64_t = 0, int64_t = 0)
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::DoTiling");
    }
    template <typename Graph, bool check_shape = true> ge::graphStatus DoTiling24B(int64_t = 0, int64_t = 0)
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::DoTiling24B");
    }
    template <typename Graph, bool check_shape = true> ge::graphStatus DoTiling32B(int64_t = 0, int64_t = 0)
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::DoTiling32B");
    }
    template <typename Graph, bool check_shape = true, typename Data>
    ge::graphStatus DoTiling4Bits(Data &, int64_t = 0, int64_t = 0)
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::DoTiling4Bits");
    }
    template <typename T> void SetScalar(T)
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::SetScalar");
    }
    int64_t GetBlockDim() const
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::GetBlockDim");
    }
    int64_t GetNumBlocks()
    {
        akgen_never_run("Ops::Base::ElewiseBaseTiling::GetNumBlocks");
    }
};
} // namespace Base
} // namespace Ops
#endif
