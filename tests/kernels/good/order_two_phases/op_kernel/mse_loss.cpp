#include "kernel_operator.h"

using namespace AscendC;

// The mean of (predict - label)^2: each block hands the sum of its elements over in the workspace, and behind SyncAll the first
// block adds them up. Flags and barriers by hand.
constexpr uint32_t COUNT = 48 * 256, BLOCKS = 16, PER_BLOCK = COUNT / BLOCKS, TILE = 256, UNIT = 8;
constexpr int32_t REPEAT = 64, REPEATS = TILE / REPEAT, REPEAT_BLOCKS = 8;

class KernelMseLoss {
public:
    __aicore__ inline void Init(GM_ADDR predict, GM_ADDR label, GM_ADDR y, GM_ADDR user)
    {
        predictGm.SetGlobalBuffer((__gm__ half *)predict + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        labelGm.SetGlobalBuffer((__gm__ half *)label + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ half *)y, 1);
        sumsGm.SetGlobalBuffer((__gm__ float *)user, BLOCKS * UNIT);
        pipe.InitBuffer(predictBuffer, TILE * sizeof(half));
        pipe.InitBuffer(labelBuffer, TILE * sizeof(half));
        pipe.InitBuffer(leftBuffer, TILE * sizeof(float));
        pipe.InitBuffer(rightBuffer, TILE * sizeof(float));
        pipe.InitBuffer(totalBuffer, TILE * sizeof(float));
        pipe.InitBuffer(sumsBuffer, BLOCKS * UNIT * sizeof(float));
        pipe.InitBuffer(resultBuffer, 32);
    }
    __aicore__ inline void Process()
    {
        Duplicate(totalBuffer.Get<float>(), 0.0f, TILE);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            Accumulate(at);
        }
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        HandOver();
        SyncAll();
        if (GetBlockIdx() == 0) {
            Finish();
        }
    }

private:
    __aicore__ inline void Accumulate(uint32_t at)
    {
        LocalTensor<half> predict = predictBuffer.Get<half>(), label = labelBuffer.Get<half>();
        LocalTensor<float> left = leftBuffer.Get<float>(), right = rightBuffer.Get<float>();
        LocalTensor<float> total = totalBuffer.Get<float>();
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        DataCopy(predict, predictGm[at], TILE);
        DataCopy(label, labelGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Cast(left, predict, RoundMode::CAST_NONE, TILE);
        Cast(right, label, RoundMode::CAST_NONE, TILE);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        PipeBarrier<PIPE_V>();
        Sub(left, left, right, TILE);
        PipeBarrier<PIPE_V>();
        Mul(left, left, left, TILE);
        PipeBarrier<PIPE_V>();
        Add(total, total, left, TILE);
        PipeBarrier<PIPE_V>();
    }
    // This block's sum into the first of UNIT floats.
    __aicore__ inline void HandOver()
    {
        LocalTensor<float> result = resultBuffer.Get<float>();
        Duplicate(result, 0.0f, UNIT);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(result, totalBuffer.Get<float>(), REPEAT, REPEATS, 1, 1, REPEAT_BLOCKS);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(result, result, UNIT, 1, 1, 1, REPEAT_BLOCKS);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        for (uint32_t i = 1; i < UNIT; i++) {
            result.SetValue(i, 0.0f);
        }
        SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
        DataCopy(sumsGm[GetBlockIdx() * UNIT], result, UNIT);
    }
    __aicore__ inline void Finish()
    {
        LocalTensor<float> sums = sumsBuffer.Get<float>(), left = leftBuffer.Get<float>();
        LocalTensor<half> result = resultBuffer.Get<half>();
        DataCopy(sums, sumsGm, BLOCKS * UNIT);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(sums, sums, sums[REPEAT], REPEAT);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(left, sums, REPEAT, 1, 1, 1, REPEAT_BLOCKS);
        PipeBarrier<PIPE_V>();
        Muls(left, left, 1.0f / COUNT, 1);
        PipeBarrier<PIPE_V>();
        Cast(result, left, RoundMode::CAST_RINT, 1);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopyPad(yGm, result, DataCopyExtParams(1, sizeof(half), 0, 0, 0));
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> predictBuffer, labelBuffer, leftBuffer, rightBuffer, totalBuffer, sumsBuffer,
        resultBuffer;
    GlobalTensor<half> predictGm, labelGm, yGm;
    GlobalTensor<float> sumsGm;
};

extern "C" __global__ __aicore__ void mse_loss(GM_ADDR predict, GM_ADDR label, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    KernelMseLoss op;
    op.Init(predict, label, y, GetUserWorkspace(workspace));
    op.Process();
}
