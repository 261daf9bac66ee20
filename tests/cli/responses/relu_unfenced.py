# ReLU for Ascend 910B
project_json_src='''[
    {
        "op": "ReluCustom",
        "language": "cpp",
        "input_desc": [
            {
                "name": "x",
                "param_type": "required",
                "format": [
                    "ND"
                ],
                "type": [
                    "float"
                ]
            }
        ],
        "output_desc": [
            {
                "name": "y",
                "param_type": "required",
                "format": [
                    "ND"
                ],
                "type": [
                    "float"
                ]
            }
        ],
        "attr": []
    }
]'''

host_tiling_src="""
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ReluCustomTilingData)
TILING_DATA_FIELD_DEF(uint32_t, total);
TILING_DATA_FIELD_DEF(uint32_t, perBlock);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ReluCustom, ReluCustomTilingData)
} // namespace optiling
"""

host_operator_src="""
#include "relu_custom_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    ReluCustomTilingData tiling;
    uint32_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    uint32_t perBlock = ((total + 40 - 1) / 40 + 63) / 64 * 64;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock);
    context->SetBlockDim((total + perBlock - 1) / perBlock);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
static ge::graphStatus InferDataType(gert::InferDataTypeContext *context)
{
    context->SetOutputDataType(0, context->GetInputDataType(0));
    return GRAPH_SUCCESS;
}
} // namespace ge

namespace ops {
class ReluCustom : public OpDef {
public:
    explicit ReluCustom(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ReluCustom);
} // namespace ops
"""

kernel_src="""
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 4096;

class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, uint32_t perBlock)
    {
        uint32_t begin = perBlock * GetBlockIdx();
        length = total - begin < perBlock ? total - begin : perBlock;
        xGm.SetGlobalBuffer((__gm__ float *)x + begin, length);
        pipe.InitBuffer(xQueue, 2, TILE * sizeof(float));
        yGm.SetGlobalBuffer((__gm__ float *)y + begin, length);
        pipe.InitBuffer(yQueue, 2, TILE * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < length; at += TILE) {
            uint32_t count = length - at < TILE ? length - at : TILE;
            uint32_t bytes = count * sizeof(float);
            CopyIn(at, bytes);
            Compute(count);
            CopyOut(at, bytes);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t bytes)
    {
        LocalTensor<float> xLocal = xQueue.AllocTensor<float>();
        DataCopyPad(xLocal, xGm[at], DataCopyExtParams{1, bytes, 0, 0, 0}, DataCopyPadExtParams<float>{});
        xQueue.EnQue(xLocal);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        Relu(y, x, count);
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t bytes)
    {
        LocalTensor<float> y = yQueue.DeQue<float>();
        DataCopyPad(yGm[at], y, DataCopyExtParams{1, bytes, 0, 0, 0});
        yQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    GlobalTensor<float> xGm, yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void relu_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    Kernel op;
    op.Init(x, y, tilingData.total, tilingData.perBlock);
    op.Process();
}
"""

python_bind_src="""
#include <torch/extension.h>
#include "pytorch_npu_helper.hpp"

at::Tensor relu_custom_npu(const at::Tensor& x) {
    at::Tensor result = at::empty_like(x);
    EXEC_NPU_CMD(aclnnReluCustom, x, result);
    return result;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("relu_custom", &relu_custom_npu, "ReluCustom");
}
"""

model_src='''
import torch
import torch_npu
import custom_ops_lib

class ModelNew(torch.nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return custom_ops_lib.relu_custom(x)
'''
