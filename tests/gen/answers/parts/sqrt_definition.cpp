#include "register/op_def_registry.h"

namespace optiling {
ge::graphStatus SqrtTiling(gert::TilingContext *context);
}

namespace ops {
class Sqrt : public OpDef {
public:
    explicit Sqrt(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16}).Format(
            {ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16}).Format(
            {ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::SqrtTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Sqrt);
} // namespace ops
