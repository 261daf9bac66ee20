#include "kernel_operator.h"

using namespace AscendC;

// x exp(0.851 (x - |x|)) / (1 + exp(-1.702 |x|)), every stage behind a barrier: without auto-sync a vector instruction may
// start before the last one has ended.
constexpr uint32_t BLOCKS = 48, PER_BLOCK = 256, TILE = 64;

class KernelFastGelu {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        pipe.InitBuffer(xBuffer, TILE * sizeof(float));
        pipe.InitBuffer(magnitudeBuffer, TILE * sizeof(float));
        pipe.InitBuffer(belowBuffer, TILE * sizeof(float));
        pipe.InitBuffer(yBuffer, TILE * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            LocalTensor<float> x = xBuffer.Get<float>(), y = yBuffer.Get<float>();
            WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
            DataCopy(x, xGm[at], TILE);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            Compute(y, x);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopy(yGm[at], y, TILE);
            SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        }
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    }

private:
    __aicore__ inline void Compute(const LocalTensor<float> &y, const LocalTensor<float> &x)
    {
        LocalTensor<float> magnitude = magnitudeBuffer.Get<float>(), below = belowBuffer.Get<float>();
        Abs(magnitude, x, TILE);
        PipeBarrier<PIPE_V>();
        Sub(below, x, magnitude, TILE);
        PipeBarrier<PIPE_V>();
        Muls(below, below, 0.851f, TILE);
        PipeBarrier<PIPE_V>();
        Exp(below, below, TILE);
        PipeBarrier<PIPE_V>();
        Mul(below, below, x, TILE);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        Muls(magnitude, magnitude, -1.702f, TILE);
        PipeBarrier<PIPE_V>();
        Exp(magnitude, magnitude, TILE);
        PipeBarrier<PIPE_V>();
        Adds(magnitude, magnitude, 1.0f, TILE);
        PipeBarrier<PIPE_V>();
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
        Div(y, below, magnitude, TILE);
        PipeBarrier<PIPE_V>();
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, magnitudeBuffer, belowBuffer, yBuffer;
    GlobalTensor<float> xGm, yGm;
};

extern "C" __global__ __aicore__ void fast_gelu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    KernelFastGelu op;
    op.Init(x, y);
    op.Process();
}
