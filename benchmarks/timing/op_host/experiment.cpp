// What every experiment of benchmarks/timing has as its host part: two inputs and an output. Blocks, tiling key and tiling
// data of a launch are the benchmark's own (timing.c), so no tiling function is ever called.
#include "register/op_def_registry.h"

namespace ops
{
class Experiment : public OpDef
{
  public:
    explicit Experiment(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Experiment);
} // namespace ops
