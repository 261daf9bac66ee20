// Host part of Swish: y = x sigmoid(scale x), any shape, float16, float32, bfloat16.
#include "swish_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
// elements: at least two 32-byte units of every type, so that blocks start aligned
constexpr uint64_t ALIGN = 64;
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core
// bytes: two input and two output buffers of float and one for the divisor; 16-bit
// types with their floats take less
constexpr uint64_t UB_PER_ELEMENT = 20;

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
    uint64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();

    uint64_t perBlock = std::max(CeilDiv(total, cores), MIN_PER_BLOCK);
    perBlock = CeilDiv(perBlock, ALIGN) * ALIGN;
    uint64_t blocks = std::max<uint64_t>(CeilDiv(total, perBlock), 1);

    SwishTilingData tiling;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock);
    tiling.set_tile(static_cast<uint32_t>(ubBytes / UB_PER_ELEMENT / ALIGN * ALIGN));
    tiling.set_scale(*context->GetAttrs()->GetFloat(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class Swish : public OpDef {
public:
    explicit Swish(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("scale").AttrType(OPTIONAL).Float(1.0);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Swish);
} // namespace ops
