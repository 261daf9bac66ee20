#include "kernel_operator.h"

using namespace AscendC;

// Buffers from a pool of the kernel's own: two queues with two buffers each, the second queue's lying backwards, and a
// buffer behind them; what is added goes through an SPM buffer in the output's own place in GM.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements
constexpr uint32_t BYTES = TILE * sizeof(half);

class BackwardsPool {
public:
    __aicore__ inline BackwardsPool()
    {
        Init();
    }
    template <class T> __aicore__ inline bool InitBuffer(T &que, uint8_t num, uint32_t len, bool backwards)
    {
        auto start = this->GetBufHandle(this->GetCurBufSize());
        que.InitStartBufHandle(start, num, len);
        for (uint32_t i = 0; i < num; i++) {
            auto handle = this->GetBufHandle(this->GetCurBufSize() + i);
            que.InitBufHandle(this, i, handle, this->GetCurAddr() + (backwards ? num - 1 - i : i) * len, len);
        }
        this->SetCurAddr(this->GetCurAddr() + num * len);
        this->SetCurBufSize(this->GetCurBufSize() + num);
        return true;
    }
    template <TPosition pos> __aicore__ inline bool InitBuffer(TBuf<pos> &buf, uint32_t len)
    {
        auto handle = this->GetBufHandle(this->GetCurBufSize());
        buf.InitStartBufHandle(handle, 1, len);
        buf.InitBufHandle(this, 0, handle, this->GetCurAddr(), len);
        this->SetCurAddr(this->GetCurAddr() + len);
        this->SetCurBufSize(this->GetCurBufSize() + 1);
        return true;
    }
    EXTERN_IMPL_BUFPOOL(BackwardsPool, TPosition::VECCALC, 16);
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    BackwardsPool pool;
    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TBuf<QuePosition::VECCALC> sumBuffer, front;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(front, 512);
    pipe.InitBufPool(pool, 6 * BYTES);
    pool.InitBuffer(xQueue, 2, BYTES, false);
    pool.InitBuffer(yQueue, 2, BYTES, true);
    if (GetBlockIdx() == 0) {
        LocalTensor<half> last = yQueue.AllocTensor<half>(), first = yQueue.AllocTensor<half>();
        AscendC::printf("%d %d %d", int(pool.GetCurBufSize()), int(first.GetPhyAddr() - front.Get<half>().GetPhyAddr()),
                        int(last.GetPhyAddr() - front.Get<half>().GetPhyAddr()));
        yQueue.FreeTensor(first);
        yQueue.FreeTensor(last);
    }
    pool.InitBuffer(sumBuffer, BYTES);
    LocalTensor<half> sum = sumBuffer.Get<half>();
    pipe.InitSpmBuffer(zGm, PER_BLOCK * sizeof(half));
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        LocalTensor<half> xIn = xQueue.AllocTensor<half>(), yIn = yQueue.AllocTensor<half>();
        DataCopy(xIn, xGm[at], TILE);
        DataCopy(yIn, yGm[at], TILE);
        xQueue.EnQue(xIn);
        yQueue.EnQue(yIn);
        LocalTensor<half> xLocal = xQueue.DeQue<half>(), yLocal = yQueue.DeQue<half>();
        Muls(sum, xLocal, half(2), TILE);
        pipe.WriteSpmBuffer(sum, int32_t(TILE), int32_t(at));
        Duplicate(sum, half(0), TILE);
        pipe.ReadSpmBuffer(sum, DataCopyParams(1, BYTES / 32, 0, 0), int32_t(at));
        Sub(sum, sum, xLocal, TILE);
        Add(sum, sum, yLocal, TILE);
        pipe.WriteSpmBuffer(sum, DataCopyParams(1, BYTES / 32, 0, 0), int32_t(at));
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
    }
    pool.Reset();
    pipe.DestroyWithoutPipeAll();
}
