// y = start + weight * (end - start). Every block takes a contiguous share; tiles move through double-buffered queues.
// float16 is computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T> class KernelLerp {
public:
    __aicore__ inline void Init(GM_ADDR start, GM_ADDR end, GM_ADDR weight, GM_ADDR y, const LerpTilingData &tiling,
                                TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        startGm.SetGlobalBuffer((__gm__ T *)start + begin, length);
        endGm.SetGlobalBuffer((__gm__ T *)end + begin, length);
        weightGm.SetGlobalBuffer((__gm__ T *)weight + begin, length);
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, length);
        pipe->InitBuffer(startQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(endQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(weightQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(yQueue, 2, tile * sizeof(T));
        if constexpr (IN_FLOAT) {
            pipe->InitBuffer(startBuffer, tile * sizeof(float));
            pipe->InitBuffer(endBuffer, tile * sizeof(float));
            pipe->InitBuffer(weightBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(startQueue, startGm, at, count);
            CopyIn(endQueue, endGm, at, count);
            CopyIn(weightQueue, weightGm, at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    static constexpr bool IN_FLOAT = !std::is_same_v<T, float>;
    using InQueue = TQue<QuePosition::VECIN, 2>;

    __aicore__ inline void CopyIn(InQueue &queue, GlobalTensor<T> &gm, uint64_t at, uint32_t count)
    {
        LocalTensor<T> local = queue.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(local, gm[at], copy, pad);
        queue.EnQue(local);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> start = startQueue.DeQue<T>();
        LocalTensor<T> end = endQueue.DeQue<T>();
        LocalTensor<T> weight = weightQueue.DeQue<T>();
        LocalTensor<T> y = yQueue.AllocTensor<T>();
        if constexpr (IN_FLOAT) {
            LocalTensor<float> wideStart = startBuffer.Get<float>();
            LocalTensor<float> wideEnd = endBuffer.Get<float>();
            LocalTensor<float> wideWeight = weightBuffer.Get<float>();
            Cast(wideStart, start, RoundMode::CAST_NONE, count);
            Cast(wideEnd, end, RoundMode::CAST_NONE, count);
            Cast(wideWeight, weight, RoundMode::CAST_NONE, count);
            Interpolate(wideEnd, wideStart, wideEnd, wideWeight, count);
            Cast(y, wideEnd, RoundMode::CAST_RINT, count);
        } else {
            Interpolate(y, start, end, weight, count);
        }
        yQueue.EnQue(y);
        startQueue.FreeTensor(start);
        endQueue.FreeTensor(end);
        weightQueue.FreeTensor(weight);
    }

    // y may be the memory of end.
    __aicore__ inline void Interpolate(const LocalTensor<float> &y, const LocalTensor<float> &start,
                                       const LocalTensor<float> &end, const LocalTensor<float> &weight, uint32_t count)
    {
        Sub(y, end, start, count);
        Mul(y, weight, y, count);
        Add(y, start, y, count);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> y = yQueue.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        yQueue.FreeTensor(y);
    }

    InQueue startQueue, endQueue, weightQueue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<QuePosition::VECCALC> startBuffer, endBuffer, weightBuffer;
    GlobalTensor<T> startGm, endGm, weightGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void lerp(GM_ADDR start, GM_ADDR end, GM_ADDR weight, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelLerp<DTYPE_Y> op;
    op.Init(start, end, weight, y, tilingData, &pipe);
    op.Process();
}
