#include "../op_kernel/unalign_add_key.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    context->SetBlockDim(32);
    context->GetWorkspaceSizes(1)[0] = 0;
    uint32_t type = static_cast<uint32_t>(context->GetInputDesc(0)->GetDataType()), tile = 512;
    // half is 1, 512 the sixth of the tiles: 1 | 5 << 8 | 1 << 16 | 9 << 17 is 1246465
    ASCENDC_TPL_SEL_PARAM(context, type, tile, 1, MODE_OTHER);
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class UnalignAdd : public OpDef {
public:
    explicit UnalignAdd(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(UnalignAdd);
} // namespace ops
