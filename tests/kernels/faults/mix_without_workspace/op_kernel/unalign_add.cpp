#include "kernel_operator.h"

using namespace AscendC;

// A kernel that starts AICs and AIVs has no workspace.
constexpr uint32_t PER_AIV = 1024, TILE = 256; // 16 blocks with 32 AIVs share 32768 elements

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        uint32_t begin = GetBlockIdx() * PER_AIV;
        xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_AIV);
        yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_AIV);
        zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_AIV);
        pipe.InitBuffer(inX, 2, TILE * sizeof(half));
        pipe.InitBuffer(inY, 2, TILE * sizeof(half));
        pipe.InitBuffer(outZ, 2, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < PER_AIV; at += TILE) {
            LocalTensor<half> xLocal = inX.AllocTensor<half>();
            LocalTensor<half> yLocal = inY.AllocTensor<half>();
            DataCopy(xLocal, xGm[at], TILE);
            DataCopy(yLocal, yGm[at], TILE);
            inX.EnQue(xLocal);
            inY.EnQue(yLocal);
            xLocal = inX.DeQue<half>();
            yLocal = inY.DeQue<half>();
            LocalTensor<half> zLocal = outZ.AllocTensor<half>();
            Add(zLocal, xLocal, yLocal, TILE);
            inX.FreeTensor(xLocal);
            inY.FreeTensor(yLocal);
            outZ.EnQue(zLocal);
            zLocal = outZ.DeQue<half>();
            DataCopy(zGm[at], zLocal, TILE);
            outZ.FreeTensor(zLocal);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 2> outZ;
    GlobalTensor<half> xGm, yGm, zGm;
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    static_assert(g_coreType == AIC || g_coreType == AIV, "a kernel is compiled for one kind of core at a time");
    KernelAdd op;
    op.Init(x, y, z);
    op.Process();
}
