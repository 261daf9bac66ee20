// y = (predict - label)^2, or the sum or mean of it. Every block takes a contiguous share; tiles move through
// double-buffered queues and are computed in float. Reducing, a block adds its tiles up element by element, then those
// sums to one, which goes to the workspace; block 0 adds up the blocks' sums, always in the same order.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t UNIT = 8; // floats in 32 bytes: a block's place in the workspace
// Tiling keys.
constexpr uint64_t KEY_NONE = 0;
constexpr uint64_t KEY_REDUCE = 1;

__aicore__ inline DataCopyExtParams Run(uint32_t bytes)
{
    return DataCopyExtParams{1, bytes, 0, 0, 0};
}

template <bool REDUCE> class KernelMseLoss {
public:
    __aicore__ inline void Init(GM_ADDR predict, GM_ADDR label, GM_ADDR y, GM_ADDR workspace,
                                const MseLossTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        scale = tiling.scale;
        predictGm.SetGlobalBuffer((__gm__ DTYPE_Y *)predict + begin, length);
        labelGm.SetGlobalBuffer((__gm__ DTYPE_Y *)label + begin, length);
        pipe->InitBuffer(predictQueue, 2, tile * sizeof(DTYPE_Y));
        pipe->InitBuffer(labelQueue, 2, tile * sizeof(DTYPE_Y));
        pipe->InitBuffer(differenceBuffer, tile * sizeof(float));
        if constexpr (!std::is_same_v<DTYPE_Y, float>) {
            pipe->InitBuffer(wideBuffer, tile * sizeof(float));
        }
        if constexpr (REDUCE) {
            yGm.SetGlobalBuffer((__gm__ DTYPE_Y *)y, 1);
            partialGm.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(workspace), GetBlockNum() * UNIT);
            pipe->InitBuffer(sumsBuffer, tile * sizeof(float));
            pipe->InitBuffer(partialQueue, 1, GetBlockNum() * UNIT * sizeof(float));
            pipe->InitBuffer(outQueue, 1, UNIT * sizeof(float));
        } else {
            yGm.SetGlobalBuffer((__gm__ DTYPE_Y *)y + begin, length);
            pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_Y));
        }
    }

    __aicore__ inline void Process()
    {
        if constexpr (REDUCE) {
            Duplicate(sumsBuffer.Get<float>(), 0.0f, tile);
        }
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            if constexpr (!REDUCE) {
                CopyOut(at, count);
            }
        }
        if constexpr (REDUCE) {
            WritePartial();
            SyncAll();
            if (GetBlockIdx() == 0) {
                AddPartials();
                CopyOut(0, 1);
            }
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_Y> predict = predictQueue.AllocTensor<DTYPE_Y>();
        LocalTensor<DTYPE_Y> label = labelQueue.AllocTensor<DTYPE_Y>();
        DataCopyPadExtParams<DTYPE_Y> pad;
        DataCopyPad(predict, predictGm[at], Run(count * sizeof(DTYPE_Y)), pad);
        DataCopyPad(label, labelGm[at], Run(count * sizeof(DTYPE_Y)), pad);
        predictQueue.EnQue(predict);
        labelQueue.EnQue(label);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_Y> predict = predictQueue.DeQue<DTYPE_Y>();
        LocalTensor<DTYPE_Y> label = labelQueue.DeQue<DTYPE_Y>();
        LocalTensor<float> difference = differenceBuffer.Get<float>();
        Subtract(difference, predict, label, count);
        predictQueue.FreeTensor(predict);
        labelQueue.FreeTensor(label);
        Mul(difference, difference, difference, count);
        if constexpr (REDUCE) {
            LocalTensor<float> sums = sumsBuffer.Get<float>();
            Add(sums, sums, difference, count);
        } else {
            LocalTensor<DTYPE_Y> y = outQueue.AllocTensor<DTYPE_Y>();
            Round(y, difference, count);
            outQueue.EnQue(y);
        }
    }

    __aicore__ inline void Subtract(const LocalTensor<float> &difference, const LocalTensor<float> &predict,
                                    const LocalTensor<float> &label, uint32_t count)
    {
        Sub(difference, predict, label, count);
    }

    __aicore__ inline void Subtract(const LocalTensor<float> &difference, const LocalTensor<half> &predict,
                                    const LocalTensor<half> &label, uint32_t count)
    {
        LocalTensor<float> wide = wideBuffer.Get<float>();
        Cast(difference, predict, RoundMode::CAST_NONE, count);
        Cast(wide, label, RoundMode::CAST_NONE, count);
        Sub(difference, difference, wide, count);
    }

    __aicore__ inline void Round(const LocalTensor<float> &y, const LocalTensor<float> &value, uint32_t count)
    {
        Adds(y, value, 0.0f, count);
    }

    __aicore__ inline void Round(const LocalTensor<half> &y, const LocalTensor<float> &value, uint32_t count)
    {
        Cast(y, value, RoundMode::CAST_RINT, count);
    }

    // This block's sum, followed by zeros.
    __aicore__ inline void WritePartial()
    {
        LocalTensor<float> partial = outQueue.AllocTensor<float>();
        Duplicate(partial, 0.0f, UNIT);
        ReduceSum(partial, sumsBuffer.Get<float>(), differenceBuffer.Get<float>(), tile);
        outQueue.EnQue(partial);
        partial = outQueue.DeQue<float>();
        DataCopyPad(partialGm[GetBlockIdx() * UNIT], partial, Run(UNIT * sizeof(float)));
        outQueue.FreeTensor(partial);
    }

    __aicore__ inline void AddPartials()
    {
        uint32_t count = GetBlockNum() * UNIT;
        LocalTensor<float> partials = partialQueue.AllocTensor<float>();
        DataCopyPadExtParams<float> pad;
        DataCopyPad(partials, partialGm, Run(count * sizeof(float)), pad);
        partialQueue.EnQue(partials);
        partials = partialQueue.DeQue<float>();
        LocalTensor<DTYPE_Y> y = outQueue.AllocTensor<DTYPE_Y>();
        LocalTensor<float> sum = sumsBuffer.Get<float>();
        ReduceSum(sum, partials, differenceBuffer.Get<float>(), count);
        Muls(sum, sum, scale, 1);
        Round(y, sum, 1);
        outQueue.EnQue(y);
        partialQueue.FreeTensor(partials);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_Y> y = outQueue.DeQue<DTYPE_Y>();
        DataCopyPad(yGm[at], y, Run(count * sizeof(DTYPE_Y)));
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> predictQueue, labelQueue;
    TQue<QuePosition::VECIN, 1> partialQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> differenceBuffer, wideBuffer, sumsBuffer;
    GlobalTensor<DTYPE_Y> predictGm, labelGm, yGm;
    GlobalTensor<float> partialGm;
    uint64_t length;
    uint32_t tile;
    float scale;
};

extern "C" __global__ __aicore__ void mse_loss(GM_ADDR predict, GM_ADDR label, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling)
{
    // SyncAll of vector cores needs this type (asc-devkit docs, SyncAll and CrossCoreSetFlag, constraints).
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(KEY_NONE)) {
        KernelMseLoss<false> op;
        op.Init(predict, label, y, workspace, tilingData, &pipe);
        op.Process();
    } else if (TILING_KEY_IS(KEY_REDUCE)) {
        KernelMseLoss<true> op;
        op.Init(predict, label, y, workspace, tilingData, &pipe);
        op.Process();
    }
}
