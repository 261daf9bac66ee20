// Host part of MulSigmoidMulAddCustom: outputs = sigmoid(input mulscalar1) mulscalar2 + addscalar3, any shape, float16.
#include "mul_sigmoid_mul_add_custom_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t ALIGN = 64;           // elements: whole 32-byte units, so that blocks and buffers start aligned
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core
constexpr uint64_t ELEMENT_BYTES = 2;    // float16
constexpr uint64_t BUFFERS = 2 + 2 + 1;  // two for input, two for output, one for the numerator

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
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
    // A small share needs no more than itself: the numerator is filled as far as the tile goes.
    uint64_t fits = ubBytes / (BUFFERS * ELEMENT_BYTES) / ALIGN * ALIGN;
    uint64_t tile = perBlock < fits ? perBlock : fits;

    MulSigmoidMulAddCustomTilingData tiling;
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
class MulSigmoidMulAddCustom : public OpDef {
public:
    explicit MulSigmoidMulAddCustom(const char *name) : OpDef(name)
    {
        this->Input("input").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("mulscalar1").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("mulscalar2").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("addscalar3").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("outputs").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(MulSigmoidMulAddCustom);
} // namespace ops
