#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    context->SetBlockDim(16);
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize() + 16 * 32;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class MseLoss : public OpDef {
public:
    explicit MseLoss(const char *name) : OpDef(name)
    {
        this->Input("predict").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("label").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("reduction").AttrType(OPTIONAL).String("mean");
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(MseLoss);
} // namespace ops
