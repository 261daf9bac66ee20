// Host part of FastGelu: y = x sigmoid(1.702 x), any shape, float32, float16.
#include "fast_gelu_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
// elements: at least two 32-byte units of every type, so that blocks start aligned
constexpr uint64_t ALIGN = 64;
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// UB bytes per element: two input and two output buffers, and the floats computed in (of float16 also x itself and y).
static uint64_t BytesPerElement(ge::DataType type)
{
    return type == ge::DT_FLOAT ? 4 * 4 + 4 : 4 * 2 + 3 * 4;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();
    uint64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();

    uint64_t wanted = (total + MIN_PER_BLOCK - 1) / MIN_PER_BLOCK;
    uint64_t blocks = wanted < cores ? wanted : cores;
    uint64_t perBlock = RoundUp((total + blocks - 1) / blocks, ALIGN);
    blocks = (total + perBlock - 1) / perBlock;
    uint64_t tile = ubBytes / BytesPerElement(context->GetInputDesc(0)->GetDataType()) / ALIGN * ALIGN;

    FastGeluTilingData tiling;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock);
    tiling.set_tile(static_cast<uint32_t>(tile));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class FastGelu : public OpDef {
public:
    explicit FastGelu(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(FastGelu);
} // namespace ops
