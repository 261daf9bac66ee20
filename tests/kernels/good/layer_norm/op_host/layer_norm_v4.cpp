#include "layer_norm_v4_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

// A few rows at a time. gamma and beta may be missing, and normalized_shape may have several axes.
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const gert::Shape &x = context->GetInputShape(0)->GetStorageShape();
    uint32_t size = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    uint32_t columns = 1, block = 32 / size, most = 0, least = 0;
    for (int64_t i = 1; i <= context->GetInputShape(1)->GetStorageShape().GetDim(0); i++) {
        columns *= x.GetDim(x.GetDimNum() - i);
    }
    uint32_t rows = x.GetShapeSize() / columns, perLoop = columns > 1024 ? 1 : 4;
    ge::Shape part({perLoop, columns, 1, 1});
    AscendC::GetLayerNormMaxMinTmpSize(part, size, false, true, false, most, least);
    LayerNormV4TilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_padded((columns + block - 1) / block * block);
    tiling.set_perLoop(perLoop);
    tiling.set_space(most);
    tiling.set_epsilon(*context->GetAttrs()->GetFloat(0));
    AscendC::GetLayerNormNDTilingInfo(part, most, size, false, true, tiling.norm);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(platform.GetCoreNumAiv());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class LayerNormV4 : public OpDef {
public:
    explicit LayerNormV4(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Input("normalized_shape")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT32, ge::DT_INT32})
            .FormatList({ge::FORMAT_ND})
            .ValueDepend(REQUIRED);
        this->Input("gamma").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Input("beta").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Output("mean").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
        this->Output("rstd").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-5);
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(LayerNormV4);
} // namespace ops
