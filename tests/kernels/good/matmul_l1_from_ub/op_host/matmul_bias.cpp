// Matmul whose A the AIVs have put into L1 and whose bias lies in UB.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulBiasTilingData)
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulBias, MatmulBiasTilingData)

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    auto a = context->GetInputShape(0)->GetStorageShape(), b = context->GetInputShape(1)->GetStorageShape();
    int32_t m = a.GetDim(0), k = a.GetDim(1), n = b.GetDim(1);
    matmul_tiling::MultiCoreMatmulTiling tiling(platform);
    using matmul_tiling::CubeFormat;
    using matmul_tiling::DataType;
    using matmul_tiling::TPosition;
    tiling.SetDim(platform.GetCoreNumAic());
    tiling.SetAType(TPosition::TSCM, CubeFormat::NZ, DataType::DT_FLOAT16);
    tiling.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetBiasType(TPosition::VECOUT, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetShape(m, n, k);
    tiling.SetOrgShape(m, n, k);
    tiling.EnableBias(true);
    tiling.SetBufferSpace(262144, -1, -1);
    tiling.SetFixSplit(32, 64, 64);
    MatmulBiasTilingData data;
    if (tiling.GetTiling(data.cube) == -1)
        return ge::GRAPH_FAILED;
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(platform.GetCoreNumAic());
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class MatmulBias : public OpDef {
public:
    explicit MatmulBias(const char *name) : OpDef(name)
    {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("d").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(MatmulBias);
} // namespace ops
