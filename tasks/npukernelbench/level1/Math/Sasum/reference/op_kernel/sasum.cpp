// result = sum of |x[i * incx]| for i < n. Every block takes a contiguous share of the n elements and adds up their
// tiles lane by lane in float; block 0 adds the blocks' sums in their order, which makes the result the same in every
// run. With a stride every element is a burst of its own and takes one 32-byte unit in UB, the rest of which is zeros.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t UNIT = 32;   // bytes
constexpr uint32_t REPEAT = 64; // floats that one step of ReduceSum takes

constexpr uint32_t SUM_STRIDE = UNIT / sizeof(float); // floats from one block's sum to the next

template <typename T> class KernelSasum {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR result, GM_ADDR workspace, const SasumTilingData &tiling,
                                TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        stride = tiling.stride;
        width = stride > 1 ? UNIT / sizeof(T) : 1;
        xGm.SetGlobalBuffer((__gm__ T *)x + begin * stride);
        resultGm.SetGlobalBuffer((__gm__ T *)result, 1);
        sumsGm.SetGlobalBuffer((__gm__ float *)workspace, GetBlockNum() * SUM_STRIDE);
        uint32_t lanes = tile * width;
        pipe->InitBuffer(inQueue, 2, lanes * sizeof(T));
        pipe->InitBuffer(magnitudeBuffer, lanes * sizeof(float));
        pipe->InitBuffer(laneBuffer, lanes * sizeof(float));
        pipe->InitBuffer(workBuffer, (lanes / REPEAT * sizeof(float) + UNIT - 1) / UNIT * UNIT);
        pipe->InitBuffer(totalBuffer, UNIT);
        pipe->InitBuffer(sumsQueue, 1, GetBlockNum() * UNIT);
        pipe->InitBuffer(outQueue, 1, UNIT);
        Duplicate(laneBuffer.Get<float>(), 0.0f, lanes);
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count * width);
        }
        if (GetBlockNum() == 1) {
            WriteSum(resultGm, laneBuffer.Get<float>(), tile * width);
            return;
        }
        WriteSum(sumsGm[GetBlockIdx() * SUM_STRIDE], laneBuffer.Get<float>(), tile * width);
        SyncAll();
        if (GetBlockIdx() == 0) {
            AddBlocks();
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<T> x = inQueue.template AllocTensor<T>();
        if (stride > 1) {
            uint32_t gap = (stride - 1) * sizeof(T);
            DataCopyExtParams copy{static_cast<uint16_t>(count), sizeof(T), gap, 0, 0};
            DataCopyPadExtParams<T> pad{true, 0, static_cast<uint8_t>(width - 1), static_cast<T>(0)};
            DataCopyPad(x, xGm[at * stride], copy, pad);
        } else {
            DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
            DataCopyPadExtParams<T> pad;
            DataCopyPad(x, xGm[at], copy, pad);
        }
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x = inQueue.template DeQue<T>();
        LocalTensor<float> magnitude = magnitudeBuffer.Get<float>();
        LocalTensor<float> lanes = laneBuffer.Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            Abs(magnitude, x, count);
        } else {
            Cast(magnitude, x, RoundMode::CAST_NONE, count);
            Abs(magnitude, magnitude, count);
        }
        Add(lanes, lanes, magnitude, count);
        inQueue.FreeTensor(x);
    }

    // gm[0] = sum of the values, rounded once to its type.
    template <typename U>
    __aicore__ inline void WriteSum(const GlobalTensor<U> &gm, const LocalTensor<float> &values, uint32_t count)
    {
        LocalTensor<float> total = totalBuffer.Get<float>();
        ReduceSum(total, values, workBuffer.Get<float>(), count);
        LocalTensor<U> out = outQueue.template AllocTensor<U>();
        if constexpr (std::is_same_v<U, float>) {
            Adds(out, total, 0.0f, 1);
        } else {
            Cast(out, total, RoundMode::CAST_RINT, 1);
        }
        outQueue.EnQue(out);
        out = outQueue.template DeQue<U>();
        DataCopyExtParams copy{1, sizeof(U), 0, 0, 0};
        DataCopyPad(gm, out, copy);
        outQueue.FreeTensor(out);
    }

    __aicore__ inline void AddBlocks()
    {
        LocalTensor<float> sums = sumsQueue.AllocTensor<float>();
        DataCopyExtParams copy{static_cast<uint16_t>(GetBlockNum()), sizeof(float), UNIT - sizeof(float), 0, 0};
        DataCopyPadExtParams<float> pad{true, 0, SUM_STRIDE - 1, 0.0f};
        DataCopyPad(sums, sumsGm, copy, pad);
        sumsQueue.EnQue(sums);
        sums = sumsQueue.DeQue<float>();
        WriteSum(resultGm, sums, GetBlockNum() * SUM_STRIDE);
        sumsQueue.FreeTensor(sums);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECIN, 1> sumsQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<QuePosition::VECCALC> magnitudeBuffer, laneBuffer, workBuffer, totalBuffer;
    GlobalTensor<T> xGm, resultGm;
    GlobalTensor<float> sumsGm;
    uint64_t length, stride;
    uint32_t tile, width;
};

extern "C" __global__ __aicore__ void sasum(GM_ADDR x, GM_ADDR result, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSasum<DTYPE_X> op;
    op.Init(x, result, GetUserWorkspace(workspace), tilingData, &pipe);
    op.Process();
}
