// The tiling of one product of the batch; the batch is the axis N of the layouts.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(BatchedMatmulTilingData)
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BatchedMatmul, BatchedMatmulTilingData)

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    auto a = context->GetInputShape(0)->GetStorageShape(), b = context->GetInputShape(1)->GetStorageShape();
    int32_t batch = a.GetDim(0), m = a.GetDim(1), k = a.GetDim(2), n = b.GetDim(2);
    matmul_tiling::BatchMatmulTiling tiling(platform);
    using matmul_tiling::CubeFormat;
    using matmul_tiling::DataType;
    using matmul_tiling::TPosition;
    tiling.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetShape(m, n, k);
    tiling.SetOrgShape(m, n, k);
    tiling.SetALayout(1, m, batch, 1, k);
    tiling.SetBLayout(1, k, batch, 1, n);
    tiling.SetCLayout(1, m, batch, 1, n);
    tiling.SetBatchNum(1);
    tiling.EnableBias(false);
    tiling.SetBufferSpace(-1, -1, -1);
    BatchedMatmulTilingData data;
    if (tiling.GetTiling(data.cube) == -1)
        return ge::GRAPH_FAILED;
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize() + size_t(batch) * m * n * 2;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class BatchedMatmul : public OpDef {
public:
    explicit BatchedMatmul(const char *name) : OpDef(name)
    {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
    }
};
OP_ADD(BatchedMatmul);
} // namespace ops
