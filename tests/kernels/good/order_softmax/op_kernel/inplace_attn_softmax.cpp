#include "kernel_operator.h"

using namespace AscendC;

// Softmax of rows of 256 floats, in place. The scalar unit reads the maximum and the sum of each row between two vector
// instructions, so V and S wait for each other.
constexpr uint32_t ROWS = 32, LENGTH = 256, BLOCKS = 16, PER_BLOCK = ROWS / BLOCKS, UNIT = 8;
constexpr int32_t REPEAT = 64, REPEATS = LENGTH / REPEAT, REPEAT_BLOCKS = 8;

class KernelSoftmax {
public:
    __aicore__ inline void Init(GM_ADDR x)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * PER_BLOCK * LENGTH, PER_BLOCK * LENGTH);
        pipe.InitBuffer(rowBuffer, LENGTH * sizeof(float));
        pipe.InitBuffer(workBuffer, LENGTH * sizeof(float));
        pipe.InitBuffer(resultBuffer, UNIT * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> row = rowBuffer.Get<float>();
        for (uint32_t r = 0; r < PER_BLOCK; r++) {
            DataCopy(row, xGm[r * LENGTH], LENGTH);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            Normalise(row);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopy(xGm[r * LENGTH], row, LENGTH);
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        }
    }

private:
    __aicore__ inline void Normalise(const LocalTensor<float> &row)
    {
        LocalTensor<float> work = workBuffer.Get<float>(), result = resultBuffer.Get<float>();
        Max(work, row, row[LENGTH / 2], LENGTH / 2);
        PipeBarrier<PIPE_V>();
        Max(work, work, work[REPEAT], REPEAT);
        PipeBarrier<PIPE_V>();
        WholeReduceMax(result, work, REPEAT, 1, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        float largest = result.GetValue(0);
        Adds(row, row, -largest, LENGTH);
        PipeBarrier<PIPE_V>();
        Exp(row, row, LENGTH);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(result, row, REPEAT, REPEATS, 1, 1, REPEAT_BLOCKS);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(result, result, REPEATS, 1, 1, 1, REPEAT_BLOCKS);
        SetFlag<HardEvent::V_S>(EVENT_ID1);
        WaitFlag<HardEvent::V_S>(EVENT_ID1);
        float sum = result.GetValue(0);
        Duplicate(work, sum, LENGTH);
        PipeBarrier<PIPE_V>();
        Div(row, row, work, LENGTH);
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> rowBuffer, workBuffer, resultBuffer;
    GlobalTensor<float> xGm;
};

extern "C" __global__ __aicore__ void inplace_attn_softmax(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    KernelSoftmax op;
    op.Init(x);
    op.Process();
}
