#include "kernel_operator.h"
#include "lib/activation/softmax.h"

using namespace AscendC;

// Rows of any length: SoftMax leaves out what pads them to whole blocks.
class KernelSoftmax {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxCustomTilingData &tiling)
    {
        data = &tiling;
        xGm.SetGlobalBuffer((__gm__ float *)x, tiling.rows * tiling.columns);
        yGm.SetGlobalBuffer((__gm__ float *)y, tiling.rows * tiling.columns);
        pipe.InitBuffer(rowBuf, tiling.padded * sizeof(float));
        pipe.InitBuffer(tmpBuf, tiling.space);
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = GetBlockIdx(); row < data->rows; row += GetBlockNum()) {
            Row(row);
        }
    }

private:
    __aicore__ inline void Row(uint32_t row)
    {
        LocalTensor<float> local = rowBuf.Get<float>();
        LocalTensor<uint8_t> tmp = tmpBuf.Get<uint8_t>();
        uint32_t bytes = data->columns * sizeof(float);
        uint8_t padding = data->padded - data->columns;
        DataCopyPad(local, xGm[row * data->columns], DataCopyExtParams{1, bytes, 0, 0, 0},
                    DataCopyPadExtParams<float>{true, 0, padding, 0});
        event_t in = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
        SetFlag<HardEvent::MTE2_V>(in);
        WaitFlag<HardEvent::MTE2_V>(in);
        SoftMaxShapeInfo shape{1, data->padded, 1, data->columns};
        SoftMax<float>(local, local, tmp, data->softmax, shape);
        event_t out = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
        SetFlag<HardEvent::V_MTE3>(out);
        WaitFlag<HardEvent::V_MTE3>(out);
        DataCopyPad(yGm[row * data->columns], local, DataCopyExtParams{1, bytes, 0, 0, 0});
        event_t next = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
        SetFlag<HardEvent::MTE3_MTE2>(next);
        WaitFlag<HardEvent::MTE3_MTE2>(next);
    }

    TPipe pipe;
    TBuf<TPosition::VECCALC> rowBuf, tmpBuf;
    GlobalTensor<float> xGm, yGm;
    const SoftmaxCustomTilingData *data;
};

extern "C" __global__ __aicore__ void softmax_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelSoftmax op;
    op.Init(x, y, data);
    op.Process();
}
