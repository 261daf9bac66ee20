// z = x + y for 8,257,536 floats: 48 blocks, tiles of 4096, double-buffered queues.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t PER_BLOCK = 172032, TILE = 4096;

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, TPipe *pipe)
    {
        uint64_t begin = static_cast<uint64_t>(PER_BLOCK) * GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ float *)x + begin, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ float *)y + begin, PER_BLOCK);
        zGm.SetGlobalBuffer((__gm__ float *)z + begin, PER_BLOCK);
        pipe->InitBuffer(xQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(yQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(zQueue, 2, TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            CopyIn(at);
            Compute();
            CopyOut(at);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at)
    {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        DataCopy(x, xGm[at], TILE);
        DataCopy(y, yGm[at], TILE);
        xQueue.EnQue(x);
        yQueue.EnQue(y);
    }

    __aicore__ inline void Compute()
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.DeQue<float>();
        LocalTensor<float> z = zQueue.AllocTensor<float>();
        Add(z, x, y, TILE);
        zQueue.EnQue(z);
        xQueue.FreeTensor(x);
        yQueue.FreeTensor(y);
    }

    __aicore__ inline void CopyOut(uint32_t at)
    {
        LocalTensor<float> z = zQueue.DeQue<float>();
        DataCopy(zGm[at], z, TILE);
        zQueue.FreeTensor(z);
    }

    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 2> zQueue;
    GlobalTensor<float> xGm, yGm, zGm;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    KernelAdd op;
    op.Init(x, y, z, &pipe);
    op.Process();
}
