#include "top_kv3_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

// A row at a time, the largest of the last dimension: rows go round robin over the cores.
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const gert::Shape &x = context->GetInputShape(0)->GetStorageShape();
    uint32_t n = x.GetDim(x.GetDimNum() - 1), inner = (n + 31) / 32 * 32, most = 0, least = 0;
    uint32_t k = *context->GetInputTensor(1)->GetData<int32_t>();
    TopKV3TilingData tiling;
    tiling.set_rows(x.GetShapeSize() / n);
    tiling.set_n(n);
    tiling.set_inner(inner);
    tiling.set_k(k);
    AscendC::GetTopKMaxMinTmpSize(platform, inner, 1, false, false, AscendC::TopKMode::TOPK_NORMAL, true, 2, most,
                                  least);
    tiling.set_space(least);
    if (!AscendC::TopKTilingFunc(platform, inner, 1, k, 2, false, AscendC::TopKMode::TOPK_NORMAL, true, tiling.top)) {
        return ge::GRAPH_FAILED;
    }
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(platform.GetCoreNumAiv());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class TopKV3 : public OpDef {
public:
    explicit TopKV3(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Input("k").ParamType(REQUIRED).DataType({ge::DT_INT32}).FormatList({ge::FORMAT_ND}).ValueDepend(REQUIRED);
        this->Output("values").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).FormatList({ge::FORMAT_ND});
        this->Output("indices").ParamType(REQUIRED).DataType({ge::DT_INT32}).FormatList({ge::FORMAT_ND});
        this->Attr("sorted").AttrType(OPTIONAL).Bool(true);
        this->Attr("dim").AttrType(OPTIONAL).Int(-1);
        this->Attr("largest").AttrType(OPTIONAL).Bool(true);
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(TopKV3);
} // namespace ops
