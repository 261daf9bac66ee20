#include "kernel_operator.h"
#include "lib/sort/topk.h"

using namespace AscendC;

class KernelTopK {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, const TopKV3TilingData &tiling)
    {
        data = &tiling;
        xGm.SetGlobalBuffer((__gm__ half *)x, tiling.rows * tiling.n);
        valuesGm.SetGlobalBuffer((__gm__ half *)values, tiling.rows * tiling.k);
        indicesGm.SetGlobalBuffer((__gm__ int32_t *)indices, tiling.rows * tiling.k);
        pipe.InitBuffer(xQue, 2, tiling.inner * sizeof(half));
        pipe.InitBuffer(valuesQue, 2, (tiling.k + 15) / 16 * 32);
        pipe.InitBuffer(indicesQue, 2, (tiling.k + 7) / 8 * 32);
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
        LocalTensor<half> in = xQue.AllocTensor<half>();
        uint32_t padding = data->inner - data->n, whole = data->n / 16 * 16;
        if (padding >= 16) {
            Duplicate(in[whole], lowest, data->inner - whole);
            SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        }
        DataCopyPad(in, xGm[row * data->n],
                    DataCopyExtParams{1, static_cast<uint32_t>(data->n * sizeof(half)), 0, 0, 0},
                    DataCopyPadExtParams<half>{true, 0, static_cast<uint8_t>(padding % 16), lowest});
        xQue.EnQue(in);
        in = xQue.DeQue<half>();
        LocalTensor<half> values = valuesQue.AllocTensor<half>();
        LocalTensor<int32_t> indices = indicesQue.AllocTensor<int32_t>();
        LocalTensor<int32_t> noIndex;
        LocalTensor<bool> noFinish;
        TopKInfo info{1, static_cast<int32_t>(data->inner), static_cast<int32_t>(data->n)};
        TopK<half, false, false, false, TopKMode::TOPK_NORMAL>(values, indices, in, noIndex, noFinish,
                                                               tmpBuf.Get<uint8_t>(), data->k, data->top, info, true);
        valuesQue.EnQue(values);
        indicesQue.EnQue(indices);
        xQue.FreeTensor(in);
        values = valuesQue.DeQue<half>();
        indices = indicesQue.DeQue<int32_t>();
        uint32_t valueBytes = data->k * sizeof(half), indexBytes = data->k * sizeof(int32_t);
        DataCopyPad(valuesGm[row * data->k], values, DataCopyExtParams{1, valueBytes, 0, 0, 0});
        DataCopyPad(indicesGm[row * data->k], indices, DataCopyExtParams{1, indexBytes, 0, 0, 0});
        valuesQue.FreeTensor(values);
        indicesQue.FreeTensor(indices);
    }

    static constexpr half lowest = -65504;
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQue;
    TQue<QuePosition::VECOUT, 2> valuesQue, indicesQue;
    TBuf<TPosition::VECCALC> tmpBuf;
    GlobalTensor<half> xGm, valuesGm;
    GlobalTensor<int32_t> indicesGm;
    const TopKV3TilingData *data;
};

extern "C" __global__ __aicore__ void top_kv3(GM_ADDR x, GM_ADDR k, GM_ADDR values, GM_ADDR indices, GM_ADDR workspace,
                                              GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelTopK op;
    op.Init(x, values, indices, data);
    op.Process();
}
