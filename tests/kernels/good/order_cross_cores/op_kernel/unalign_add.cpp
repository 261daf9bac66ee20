#include "kernel_operator.h"

using namespace AscendC;

// What one AIV loads, another adds and a third stores, over GM. Flags of mode 0 order all AIVs, flags of mode 1 the two of a
// block. The workspace is used twice, so its readers tell its writers when they are done.
constexpr uint32_t AIVS = 32, PER_AIV = 1024, TILE = 512; // of 32768 elements
constexpr uint16_t LOADED = 0, LOADED_READ = 1, ADDED = 2, ADDED_READ = 3;

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR user)
    {
        own = GetBlockIdx();
        across = AIVS - 1 - own; // an AIV of another block
        xGm.SetGlobalBuffer((__gm__ half *)x, AIVS * PER_AIV);
        yGm.SetGlobalBuffer((__gm__ half *)y, AIVS * PER_AIV);
        zGm.SetGlobalBuffer((__gm__ half *)z, AIVS * PER_AIV);
        loaded.SetGlobalBuffer((__gm__ half *)user, AIVS * TILE);
        added.SetGlobalBuffer((__gm__ half *)user + AIVS * TILE, AIVS * TILE);
        pipe.InitBuffer(xBuffer, TILE * sizeof(half));
        pipe.InitBuffer(yBuffer, TILE * sizeof(half));
        pipe.InitBuffer(leftBuffer, TILE * sizeof(half));
        pipe.InitBuffer(sumBuffer, TILE * sizeof(half));
        pipe.InitBuffer(outBuffer, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < PER_AIV; at += TILE) {
            if (at) {
                CrossCoreWaitFlag<0>(LOADED_READ);
            }
            Load(at);
            AddAcross(at, at > 0);
            Store(at);
        }
        CrossCoreWaitFlag<0>(LOADED_READ);
        CrossCoreWaitFlag<1>(ADDED_READ);
    }

private:
    __aicore__ inline void Load(uint32_t at)
    {
        LocalTensor<half> x = xBuffer.Get<half>();
        DataCopy(x, xGm[own * PER_AIV + at], TILE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(loaded[own * TILE], x, TILE);
        CrossCoreSetFlag<0, PIPE_MTE3>(LOADED);
    }
    // The tile of the AIV across.
    __aicore__ inline void AddAcross(uint32_t at, bool again)
    {
        LocalTensor<half> left = leftBuffer.Get<half>(), y = yBuffer.Get<half>(), sum = sumBuffer.Get<half>();
        DataCopy(y, yGm[across * PER_AIV + at], TILE);
        CrossCoreWaitFlag<0>(LOADED);
        DataCopy(left, loaded[across * TILE], TILE);
        CrossCoreSetFlag<0, PIPE_MTE2>(LOADED_READ);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(sum, left, y, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        if (again) {
            CrossCoreWaitFlag<1>(ADDED_READ);
        }
        DataCopy(added[own * TILE], sum, TILE);
        CrossCoreSetFlag<1, PIPE_MTE3>(ADDED);
    }
    // What the other AIV of this block has added.
    __aicore__ inline void Store(uint32_t at)
    {
        LocalTensor<half> out = outBuffer.Get<half>();
        uint32_t twin = own ^ 1;
        CrossCoreWaitFlag<1>(ADDED);
        DataCopy(out, added[twin * TILE], TILE);
        CrossCoreSetFlag<1, PIPE_MTE2>(ADDED_READ);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
        DataCopy(zGm[(AIVS - 1 - twin) * PER_AIV + at], out, TILE);
    }

    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer, leftBuffer, sumBuffer, outBuffer;
    GlobalTensor<half> xGm, yGm, zGm, loaded, added;
    uint32_t own, across;
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIV {
        KernelAdd op;
        op.Init(x, y, z, GetUserWorkspace(workspace));
        op.Process();
    }
}
