// Host part of MseLoss: y = (predict - label)^2, its sum or its mean, any shape, float16, float32.
#include "mse_loss_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <cstring>

namespace optiling {
// elements: at least two 32-byte units of every type, so that blocks start aligned
constexpr uint64_t ALIGN = 64;
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core
constexpr uint64_t RESERVED = 4096;      // UB bytes for the blocks' partial sums and the result
constexpr uint64_t PARTIAL_BYTES = 32;   // of workspace per block
constexpr uint32_t BATCH_MODE = 1;       // all blocks start together, as waiting for each other requires
// Tiling keys.
constexpr uint64_t KEY_NONE = 0;
constexpr uint64_t KEY_REDUCE = 1;

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
    const char *reduction = context->GetAttrs()->GetStr(0);
    bool reduce = strcmp(reduction, "none") != 0;

    uint64_t wanted = (total + MIN_PER_BLOCK - 1) / MIN_PER_BLOCK;
    uint64_t blocks = wanted < cores ? wanted : cores;
    uint64_t perBlock = RoundUp((total + blocks - 1) / blocks, ALIGN);
    blocks = (total + perBlock - 1) / perBlock;
    // Two buffers for each input and for the output, of at most 4 bytes per element, and at most two of floats.
    uint64_t fits = (ubBytes - RESERVED) / (6 * 4 + 2 * 4) / ALIGN * ALIGN;

    MseLossTilingData tiling;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock);
    // The running sums are as long as a tile and are added up at the end: no longer than the share needs.
    tiling.set_tile(static_cast<uint32_t>(perBlock < fits ? perBlock : fits));
    tiling.set_scale(strcmp(reduction, "mean") == 0 ? 1.0f / static_cast<float>(total) : 1.0f);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetTilingKey(reduce ? KEY_REDUCE : KEY_NONE);
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    if (reduce) {
        context->SetScheduleMode(BATCH_MODE);
    }
    context->GetWorkspaceSizes(1)[0] = reduce ? platform.GetLibApiWorkSpaceSize() + blocks * PARTIAL_BYTES : 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class MseLoss : public OpDef {
public:
    explicit MseLoss(const char *name) : OpDef(name)
    {
        this->Input("predict")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("label")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("reduction").AttrType(OPTIONAL).String("mean");
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(MseLoss);
} // namespace ops
