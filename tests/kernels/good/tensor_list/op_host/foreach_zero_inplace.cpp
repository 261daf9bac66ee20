// Host part of ForeachZeroInplace: x[t] = 0 for a list of tensors of any shapes; float16, float32, int32, int16,
// bfloat16.
#include "foreach_zero_inplace_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
// elements: at least two 32-byte units of every type, so that tiles start aligned
constexpr uint64_t ALIGN = 64;
constexpr uint64_t MIN_TILE = 1024;    // elements: fewer are not worth a core
constexpr uint64_t UB_PER_ELEMENT = 4; // bytes: one buffer of zeros

static uint64_t CeilDiv(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();

    size_t tensors = context->GetIrInputInstanceInfo(0)->GetInstanceNum();
    if (tensors > MAX_TENSORS) {
        return ge::GRAPH_FAILED;
    }
    uint64_t elements[MAX_TENSORS] = {0};
    uint64_t total = 0;
    for (size_t t = 0; t < tensors; t++) {
        elements[t] = context->GetDynamicInputShape(0, t)->GetStorageShape().GetShapeSize();
        total += elements[t];
    }

    // No tensor shares a tile with another. Tiles go to the blocks in turn, so small inputs get smaller tiles for more
    // cores.
    uint64_t tile = std::max(CeilDiv(CeilDiv(total, cores), ALIGN) * ALIGN, MIN_TILE);
    tile = std::min(tile, ubBytes / UB_PER_ELEMENT / ALIGN * ALIGN);
    uint64_t tiles = 0;
    for (size_t t = 0; t < tensors; t++) {
        tiles += CeilDiv(elements[t], tile);
    }

    ForeachZeroInplaceTilingData tiling;
    tiling.set_tensors(static_cast<uint32_t>(tensors));
    tiling.set_tile(static_cast<uint32_t>(tile));
    tiling.set_elements(elements);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(std::min(std::max<uint64_t>(tiles, 1), cores)));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class ForeachZeroInplace : public OpDef {
public:
    explicit ForeachZeroInplace(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(DYNAMIC)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(ForeachZeroInplace);
} // namespace ops
