// Host part of Fill: y of the shape whose sizes are the values of dims, every element value.
#include "fill_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t ALIGN = 64;                    // bytes: blocks start aligned
constexpr uint64_t MIN_PER_BLOCK = 4096;          // bytes: fewer are not worth a core
constexpr uint64_t REPEAT_BYTES = 256;            // what one repeat of a vector instruction writes
constexpr uint64_t MAX_TILE = 255 * REPEAT_BYTES; // an instruction repeats 255 times at most

static uint64_t DivideUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();

    const gert::Tensor *dims = context->GetInputTensor(0);
    uint64_t total = ge::GetSizeByDataType(context->GetInputDesc(1)->GetDataType());
    for (int64_t i = 0; i < dims->GetShapeSize(); i++) {
        total *= dims->GetData<int64_t>()[i];
    }

    uint64_t wanted = DivideUp(total, MIN_PER_BLOCK);
    uint64_t blocks = wanted < cores ? wanted : cores;
    uint64_t perBlock = DivideUp(DivideUp(total, blocks), ALIGN) * ALIGN;
    blocks = DivideUp(total, perBlock);
    uint64_t tile = ubBytes < MAX_TILE ? ubBytes : MAX_TILE;
    tile = perBlock < tile ? DivideUp(perBlock, REPEAT_BYTES) * REPEAT_BYTES : tile / REPEAT_BYTES * REPEAT_BYTES;

    FillTilingData tiling;
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
class Fill : public OpDef {
public:
    explicit Fill(const char *name) : OpDef(name)
    {
        this->Input("dims")
            .ParamType(REQUIRED)
            .DataType(
                {ge::DT_INT64, ge::DT_INT64, ge::DT_INT64, ge::DT_INT64, ge::DT_INT64, ge::DT_INT64, ge::DT_INT64})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND})
            .ValueDepend(REQUIRED);
        this->Input("value")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT8, ge::DT_INT64, ge::DT_BF16, ge::DT_BOOL})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT8, ge::DT_INT64, ge::DT_BF16, ge::DT_BOOL})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND,
                     ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Fill);
} // namespace ops
