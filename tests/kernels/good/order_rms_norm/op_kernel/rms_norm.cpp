#include "kernel_operator.h"

using namespace AscendC;

// Rows of 256 halves in float: load, cast, square, reduce, scale, cast, store. rstd goes from V to S and from there back to UB
// by SetValue, for MTE3 to store.
constexpr uint32_t ROWS = 128, LENGTH = 256, BLOCKS = 32, PER_BLOCK = ROWS / BLOCKS;
constexpr int32_t REPEAT = 64, REPEAT_BLOCKS = 8;
constexpr float EPSILON = 1e-6f;

class KernelRmsNorm {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd)
    {
        uint32_t first = GetBlockIdx() * PER_BLOCK;
        xGm.SetGlobalBuffer((__gm__ half *)x + first * LENGTH, PER_BLOCK * LENGTH);
        yGm.SetGlobalBuffer((__gm__ half *)y + first * LENGTH, PER_BLOCK * LENGTH);
        gammaGm.SetGlobalBuffer((__gm__ half *)gamma, LENGTH);
        rstdGm.SetGlobalBuffer((__gm__ float *)rstd + first, PER_BLOCK);
        pipe.InitBuffer(narrowBuffer, LENGTH * sizeof(half));
        pipe.InitBuffer(storeBuffer, LENGTH * sizeof(half));
        pipe.InitBuffer(gammaBuffer, LENGTH * sizeof(float));
        pipe.InitBuffer(wideBuffer, LENGTH * sizeof(float));
        pipe.InitBuffer(squareBuffer, LENGTH * sizeof(float));
        pipe.InitBuffer(sumBuffer, 32);
        pipe.InitBuffer(rstdBuffer, 32);
    }
    __aicore__ inline void Process()
    {
        LoadGamma();
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
        for (uint32_t r = 0; r < PER_BLOCK; r++) {
            Load(r);
            float factor = Measure(r);
            Store(r, factor);
        }
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
    }

private:
    __aicore__ inline void LoadGamma()
    {
        LocalTensor<half> narrow = narrowBuffer.Get<half>();
        DataCopy(narrow, gammaGm, LENGTH);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
        Cast(gammaBuffer.Get<float>(), narrow, RoundMode::CAST_NONE, LENGTH);
    }
    __aicore__ inline void Load(uint32_t row)
    {
        LocalTensor<half> narrow = narrowBuffer.Get<half>();
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        DataCopy(narrow, xGm[row * LENGTH], LENGTH);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Cast(wideBuffer.Get<float>(), narrow, RoundMode::CAST_NONE, LENGTH);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        PipeBarrier<PIPE_V>();
    }
    // Stores rstd of the row and returns it.
    __aicore__ inline float Measure(uint32_t row)
    {
        LocalTensor<float> wide = wideBuffer.Get<float>(), square = squareBuffer.Get<float>();
        LocalTensor<float> sum = sumBuffer.Get<float>(), rstd = rstdBuffer.Get<float>();
        Mul(square, wide, wide, LENGTH);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(sum, square, REPEAT, LENGTH / REPEAT, 1, 1, REPEAT_BLOCKS); // a sum for each 64 floats
        PipeBarrier<PIPE_V>();
        WholeReduceSum(sum, sum, LENGTH / REPEAT, 1, 1, 1, REPEAT_BLOCKS);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        float factor = 1.0f / sqrt(sum.GetValue(0) / LENGTH + EPSILON);
        WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
        rstd.SetValue(0, factor);
        SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
        DataCopyPad(rstdGm[row], rstd, DataCopyExtParams(1, sizeof(float), 0, 0, 0));
        SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
        return factor;
    }
    __aicore__ inline void Store(uint32_t row, float factor)
    {
        LocalTensor<float> wide = wideBuffer.Get<float>();
        LocalTensor<half> store = storeBuffer.Get<half>();
        Muls(wide, wide, factor, LENGTH);
        PipeBarrier<PIPE_V>();
        Mul(wide, wide, gammaBuffer.Get<float>(), LENGTH);
        PipeBarrier<PIPE_V>();
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
        Cast(store, wide, RoundMode::CAST_RINT, LENGTH);
        PipeBarrier<PIPE_V>();
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(yGm[row * LENGTH], store, LENGTH);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> narrowBuffer, storeBuffer, gammaBuffer, wideBuffer, squareBuffer, sumBuffer, rstdBuffer;
    GlobalTensor<half> xGm, yGm, gammaGm;
    GlobalTensor<float> rstdGm;
};

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd, GM_ADDR workspace,
                                               GM_ADDR tiling)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    KernelRmsNorm op;
    op.Init(x, gamma, y, rstd);
    op.Process();
}
