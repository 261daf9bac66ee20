#include "kernel_operator.h"

using namespace AscendC;

// A ring of blocks: each adds two tiles and hands them over in the workspace; the next block stores them. IBSet tells that a
// tile is there, IBWait waits for it; their words have to be zero first, which SyncAll makes known to all.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = PER_BLOCK / 2, UNIT = 8; // of 32768 elements

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR user)
    {
        own = GetBlockIdx();
        previous = (own + BLOCKS - 1) % BLOCKS;
        xGm.SetGlobalBuffer((__gm__ half *)x + own * PER_BLOCK, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ half *)y + own * PER_BLOCK, PER_BLOCK);
        zGm.SetGlobalBuffer((__gm__ half *)z + previous * PER_BLOCK, PER_BLOCK);
        sums.SetGlobalBuffer((__gm__ half *)user, BLOCKS * TILE);
        words.SetGlobalBuffer((__gm__ int32_t *)((__gm__ half *)user + BLOCKS * TILE), 2 * BLOCKS * UNIT);
        pipe.InitBuffer(xBuffer, TILE * sizeof(half));
        pipe.InitBuffer(yBuffer, TILE * sizeof(half));
        pipe.InitBuffer(sumBuffer, TILE * sizeof(half));
        pipe.InitBuffer(outBuffer, TILE * sizeof(half));
        pipe.InitBuffer(wordBuffer, UNIT * sizeof(int32_t));
    }
    __aicore__ inline void Process()
    {
        ClearWords();
        SyncAll();
        LocalTensor<int32_t> word = wordBuffer.Get<int32_t>();
        Sum(0);
        IBSet(words, word, own, 0);
        IBWait(words, word, previous, 0);
        Store(0);
        SyncAll();
        Sum(TILE);
        IBSet(words, word, own, 1);
        IBWait(words, word, previous, 1);
        Store(TILE);
    }

private:
    // This block's words of both events.
    __aicore__ inline void ClearWords()
    {
        LocalTensor<int32_t> word = wordBuffer.Get<int32_t>();
        Duplicate(word, int32_t(0), UNIT);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(words[own * UNIT], word, UNIT);
        DataCopy(words[(BLOCKS + own) * UNIT], word, UNIT);
    }
    __aicore__ inline void Sum(uint32_t at)
    {
        LocalTensor<half> x = xBuffer.Get<half>(), y = yBuffer.Get<half>(), sum = sumBuffer.Get<half>();
        DataCopy(x, xGm[at], TILE);
        DataCopy(y, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(sum, x, y, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
        DataCopy(sums[own * TILE], sum, TILE);
    }
    // What the previous block has added.
    __aicore__ inline void Store(uint32_t at)
    {
        LocalTensor<half> out = outBuffer.Get<half>();
        DataCopy(out, sums[previous * TILE], TILE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], out, TILE);
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer, sumBuffer, outBuffer, wordBuffer;
    GlobalTensor<half> xGm, yGm, zGm, sums;
    GlobalTensor<int32_t> words;
    uint32_t own, previous;
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    KernelAdd op;
    op.Init(x, y, z, GetUserWorkspace(workspace));
    op.Process();
}
