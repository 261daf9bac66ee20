// An operator in the newer style: SetTiling, a plain structure through GetTilingData<T>(), no registered class; and two
// operators in one library.
#include "register/op_def_registry.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

struct PlainTiling {
    uint32_t length;
    uint32_t cores;
    uint64_t ub, ubReserved, l1, ubWhole;
    uint32_t mixBlocks, tooManyBlocks;
};

namespace optiling
{
static ge::graphStatus Tiling(gert::TilingContext *context)
{
    PlainTiling *tiling = context->GetTilingData<PlainTiling>();
    tiling->length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    tiling->cores = platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAic();
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, tiling->ub);
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::L1, tiling->l1);
    platform.ReserveLocalMemory(platform_ascendc::ReservedSize::RESERVED_SIZE_16K);
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, tiling->ubReserved);
    context->GetPlatformInfo()->GetLocalMemSize(fe::LocalMemType::UB, tiling->ubWhole);
    tiling->mixBlocks = platform.CalcTschBlockDim(39, platform.GetCoreNumAic(), platform.GetCoreNumAiv());
    tiling->tooManyBlocks = platform.CalcTschBlockDim(41, platform.GetCoreNumAic(), platform.GetCoreNumAiv());
    if (platform.GetSocVersion() != platform_ascendc::SocVersion::ASCEND910B || platform.GetCoreNumVector() != 0)
        return ge::GRAPH_FAILED;
    struct Huge {
        char bytes[1 << 20];
    };
    if (context->GetTilingData<Huge>() != nullptr || context->GetCompileInfo() == nullptr)
        return ge::GRAPH_FAILED;
    context->SetBlockDim(2);
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops
{
class PlainFirst : public OpDef
{
  public:
    explicit PlainFirst(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataTypeList({ge::DT_FLOAT, ge::DT_BF16}).FormatList({ge::FORMAT_ND});
        this->Input("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT32, ge::DT_INT8, ge::DT_INT16})
            .FormatList({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b");
    }
};
OP_ADD(PlainFirst);

class PlainSecond : public OpDef
{
  public:
    explicit PlainSecond(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    }
};
OP_ADD(PlainSecond);
} // namespace ops
