#include "kernel_operator.h"

using namespace AscendC;

// AIV to AIC and back, four times over the same bytes of GM, ordered by cross-core flags of mode 2 by
// their other names.
constexpr uint32_t ELEMENTS = 32768, AIVS = 32, PER_AIV = ELEMENTS / AIVS, TILE = 256, HEAD = 32;
constexpr uint16_t SUMS_READY = 0, HEADS_READY = 1;

// One AIV: adds tile by tile. The first HEAD sums of a tile go to its AIC through GM and come back.
class Adder {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR user)
    {
        uint32_t begin = GetBlockIdx() * PER_AIV;
        xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_AIV);
        yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_AIV);
        zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_AIV);
        sums.SetGlobalBuffer((__gm__ half *)user + GetBlockIdx() * TILE, TILE);
        heads.SetGlobalBuffer((__gm__ half *)user + ELEMENTS + GetBlockIdx() * HEAD, HEAD);
        pipe.InitBuffer(inX, 2, TILE * sizeof(half));
        pipe.InitBuffer(inY, 2, TILE * sizeof(half));
        pipe.InitBuffer(outZ, 2, TILE * sizeof(half));
        pipe.InitBuffer(back, 1, HEAD * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < PER_AIV; at += TILE) {
            Sum(at);
            Exchange(at);
        }
    }

private:
    __aicore__ inline void Sum(uint32_t at)
    {
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
    }
    __aicore__ inline void Exchange(uint32_t at)
    {
        LocalTensor<half> zLocal = outZ.DeQue<half>();
        DataCopy(sums, zLocal, TILE);
        NotifyEvent<PIPE_MTE3>(SUMS_READY);
        DataCopy(zGm[at + HEAD], zLocal[HEAD], TILE - HEAD);
        outZ.FreeTensor(zLocal);
        WaitEvent(HEADS_READY);
        LocalTensor<half> headLocal = back.AllocTensor<half>();
        DataCopy(headLocal, heads, HEAD);
        back.EnQue(headLocal);
        headLocal = back.DeQue<half>();
        DataCopy(zGm[at], headLocal, HEAD);
        back.FreeTensor(headLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 2> outZ;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> back;
    GlobalTensor<half> xGm, yGm, zGm, sums, heads;
};

// The AIC of a block has a scalar unit: it hands back the heads of its two AIVs.
__aicore__ inline void Relay(GM_ADDR user)
{
    for (uint32_t at = 0; at < PER_AIV; at += TILE) {
        WaitEvent(SUMS_READY);
        for (uint32_t sub = 0; sub < 2; sub++) {
            uint32_t aiv = 2 * GetBlockIdx() + sub;
            GlobalTensor<half> sums, heads;
            sums.SetGlobalBuffer((__gm__ half *)user + aiv * TILE, TILE);
            heads.SetGlobalBuffer((__gm__ half *)user + ELEMENTS + aiv * HEAD, HEAD);
            DataCacheCleanAndInvalid<half, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(sums);
            for (uint32_t i = 0; i < HEAD; i++) {
                heads.SetValue(i, sums.GetValue(i));
            }
            DataCacheCleanAndInvalid<half, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(heads);
        }
        NotifyEvent<PIPE_MTE3>(HEADS_READY);
    }
}

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GM_ADDR user = GetUserWorkspace(workspace);
    if ASCEND_IS_AIC {
        Relay(user);
    }
    if ASCEND_IS_AIV {
        Adder adder;
        adder.Init(x, y, z, user);
        adder.Process();
    }
}
