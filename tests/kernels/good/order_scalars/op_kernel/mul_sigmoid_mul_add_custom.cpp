#include "kernel_operator.h"

using namespace AscendC;

// sigmoid(input a) b + c. The scalars a, b, c lie in GM: MTE2 brings them to UB, where the scalar unit reads them; c it writes
// into a vector. So MTE2, S and V wait for each other.
constexpr uint32_t COUNT = 1024, BLOCKS = 8, PER_BLOCK = COUNT / BLOCKS, TILE = 64, UNIT = 16;

class KernelMulSigmoid {
public:
    __aicore__ inline void Init(GM_ADDR input, GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR outputs)
    {
        inGm.SetGlobalBuffer((__gm__ half *)input + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        outGm.SetGlobalBuffer((__gm__ half *)outputs + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
        scalarsGm[0].SetGlobalBuffer((__gm__ half *)a, 1);
        scalarsGm[1].SetGlobalBuffer((__gm__ half *)b, 1);
        scalarsGm[2].SetGlobalBuffer((__gm__ half *)c, 1);
        pipe.InitBuffer(valueBuffer, TILE * sizeof(half));
        pipe.InitBuffer(oneBuffer, TILE * sizeof(half));
        pipe.InitBuffer(scalarBuffer, 3 * UNIT * sizeof(half));
        pipe.InitBuffer(offsetBuffer, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        half a = Load(0), b = Load(1);
        FillOffsets(Load(2));
        LocalTensor<half> value = valueBuffer.Get<half>(), one = oneBuffer.Get<half>();
        Duplicate(one, half(1), TILE);
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            DataCopy(value, inGm[at], TILE);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            Sigmoid(value, one, a);
            Muls(value, value, b, TILE);
            PipeBarrier<PIPE_V>();
            Add(value, value, offsetBuffer.Get<half>(), TILE);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopy(outGm[at], value, TILE);
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        }
    }

private:
    __aicore__ inline half Load(uint32_t which)
    {
        LocalTensor<half> scalar = scalarBuffer.Get<half>()[which * UNIT];
        DataCopyPad(scalar, scalarsGm[which], DataCopyExtParams(1, sizeof(half), 0, 0, 0),
                    DataCopyPadExtParams<half>(false, 0, 0, 0));
        SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
        return scalar.GetValue(0);
    }
    // Element by element, behind a Duplicate of zeros over all of them.
    __aicore__ inline void FillOffsets(half c)
    {
        LocalTensor<half> offset = offsetBuffer.Get<half>();
        Duplicate(offset, half(0), TILE);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        for (uint32_t i = 0; i < TILE; i++) {
            offset.SetValue(i, c);
        }
        SetFlag<HardEvent::S_V>(EVENT_ID0);
        WaitFlag<HardEvent::S_V>(EVENT_ID0);
    }
    // 1 / (1 + exp(-value a))
    __aicore__ inline void Sigmoid(const LocalTensor<half> &value, const LocalTensor<half> &one, half a)
    {
        Muls(value, value, half(-float(a)), TILE);
        PipeBarrier<PIPE_V>();
        Exp(value, value, TILE);
        PipeBarrier<PIPE_V>();
        Adds(value, value, half(1), TILE);
        PipeBarrier<PIPE_V>();
        Div(value, one, value, TILE);
        PipeBarrier<PIPE_V>();
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> valueBuffer, oneBuffer, scalarBuffer, offsetBuffer;
    GlobalTensor<half> inGm, outGm, scalarsGm[3];
};

extern "C" __global__ __aicore__ void mul_sigmoid_mul_add_custom(GM_ADDR input, GM_ADDR mulscalar1, GM_ADDR mulscalar2,
                                                                 GM_ADDR addscalar3, GM_ADDR outputs, GM_ADDR workspace,
                                                                 GM_ADDR tiling)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    KernelMulSigmoid op;
    op.Init(input, mulscalar1, mulscalar2, addscalar3, outputs);
    op.Process();
}
