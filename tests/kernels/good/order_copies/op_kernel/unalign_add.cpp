#include "kernel_operator.h"

using namespace AscendC;

// Copies that overlap earlier copies on the same pipe or in GM, each pair with the barrier or flag that it needs. z comes about
// in three steps: x is stored whole, its second half is stored again as x + y, and then the first half is read back from z,
// y is added and the sum stored. The head of a tile is loaded again over itself, as a kernel does that fetches padding first.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256, HALF = TILE / 2, HEAD = 32; // of 32768 elements

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        uint32_t begin = GetBlockIdx() * PER_BLOCK;
        xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
        zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
        pipe.InitBuffer(xBuffer, TILE * sizeof(half));
        pipe.InitBuffer(yBuffer, TILE * sizeof(half));
        pipe.InitBuffer(sumBuffer, TILE * sizeof(half));
        pipe.InitBuffer(backBuffer, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            Load(at);
            StoreTwice(at);
            ReadBack(at);
        }
    }

private:
    // The head of the tile is first that of y, then x's own.
    __aicore__ inline void Load(uint32_t at)
    {
        LocalTensor<half> x = xBuffer.Get<half>(), y = yBuffer.Get<half>();
        DataCopy(y, yGm[at], TILE);
        DataCopy(x, yGm[at], HEAD);
        PipeBarrier<PIPE_MTE2>();
        DataCopy(x, xGm[at], TILE);
    }
    __aicore__ inline void StoreTwice(uint32_t at)
    {
        LocalTensor<half> x = xBuffer.Get<half>(), y = yBuffer.Get<half>(), sum = sumBuffer.Get<half>();
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], x, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(sum, x[HALF], y[HALF], HALF);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        PipeBarrier<PIPE_MTE3>();
        DataCopy(zGm[at + HALF], sum, HALF);
    }
    __aicore__ inline void ReadBack(uint32_t at)
    {
        LocalTensor<half> y = yBuffer.Get<half>(), back = backBuffer.Get<half>();
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        DataCopy(back, zGm[at], HALF);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
        Add(back[HALF], back, y, HALF);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
        DataCopy(zGm[at], back[HALF], HALF);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer, sumBuffer, backBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    KernelAdd op;
    op.Init(x, y, z);
    op.Process();
}
