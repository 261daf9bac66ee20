#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t TOTAL = 48 * 128 * 512;
constexpr int32_t SHARE = TOTAL / 48;
constexpr int32_t TILE = 8192;

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 1> zQueue;
    GlobalTensor<half> xGm, yGm, zGm;
    int32_t begin = SHARE * GetBlockIdx();
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, SHARE);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, SHARE);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, SHARE);
    pipe.InitBuffer(xQueue, 1, TILE * sizeof(half));
    pipe.InitBuffer(yQueue, 1, TILE * sizeof(half));
    pipe.InitBuffer(zQueue, 1, TILE * sizeof(half));
    for (int32_t at = 0; at < SHARE; at += TILE) {
        LocalTensor<half> a = xQueue.AllocTensor<half>(), b = yQueue.AllocTensor<half>();
        DataCopy(a, xGm[at], TILE);
        DataCopy(b, yGm[at], TILE);
        xQueue.EnQue(a);
        yQueue.EnQue(b);
        a = xQueue.DeQue<half>();
        b = yQueue.DeQue<half>();
        LocalTensor<half> c = zQueue.AllocTensor<half>();
        Add(c, a, b, TILE);
        zQueue.EnQue<half>(c);
        xQueue.FreeTensor(a);
        yQueue.FreeTensor(b);
        c = zQueue.DeQue<half>();
        DataCopy(zGm[at], c, TILE);
        zQueue.FreeTensor(c);
    }
}
