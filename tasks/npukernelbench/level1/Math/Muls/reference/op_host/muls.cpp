// Host part of Muls: y = x * value, any shape; bfloat16, float16, float32, int32, int16, int64, complex64.
#include "muls_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t ALIGN = 64;           // elements: at least two 32-byte units of every type: blocks start aligned
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core

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
    ge::DataType type = context->GetInputDesc(0)->GetDataType();
    uint64_t elementBytes = ge::GetSizeByDataType(type);
    if (type == ge::DT_COMPLEX64) { // the kernel works on its two floats
        total *= 2;
        elementBytes /= 2;
    }

    uint64_t wanted = (total + MIN_PER_BLOCK - 1) / MIN_PER_BLOCK;
    uint64_t blocks = wanted < cores ? wanted : cores;
    uint64_t perBlock = RoundUp((total + blocks - 1) / blocks, ALIGN);
    blocks = (total + perBlock - 1) / perBlock;
    // Two input and two output buffers and one of floats.
    uint64_t tile = ubBytes / (4 * elementBytes + sizeof(float)) / ALIGN * ALIGN;

    MulsTilingData tiling;
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
class Muls : public OpDef {
public:
    explicit Muls(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType(
                {ge::DT_BF16, ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT16, ge::DT_INT64, ge::DT_COMPLEX64})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND});
        this->Input("value")
            .ParamType(REQUIRED)
            .DataType(
                {ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND})
            .Scalar();
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType(
                {ge::DT_BF16, ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT16, ge::DT_INT64, ge::DT_COMPLEX64})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Muls);
} // namespace ops
