#include "softmax_custom_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

// One row at a time on each core; SoftMax's tiling is made for one row.
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const gert::Shape &x = context->GetInputShape(0)->GetStorageShape();
    uint32_t rows = x.GetDim(0), columns = x.GetDim(1), padded = (columns + 7) / 8 * 8;
    ge::Shape row({1, padded});
    uint32_t space = AscendC::GetSoftMaxMinTmpSize(row, sizeof(float), false);
    SoftmaxCustomTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_padded(padded);
    tiling.set_space(space);
    AscendC::SoftMaxTilingFunc(row, sizeof(float), space, tiling.softmax);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    uint32_t cores = platform.GetCoreNumAiv();
    context->SetBlockDim(rows < cores ? rows : cores);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class SoftmaxCustom : public OpDef {
public:
    explicit SoftmaxCustom(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(SoftmaxCustom);
} // namespace ops
