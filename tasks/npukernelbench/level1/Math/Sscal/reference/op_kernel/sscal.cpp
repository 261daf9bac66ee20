// x[i * incx] *= alpha for i < n, in place. Every block takes a contiguous share of the n elements; tiles move through
// double-buffered queues. With a stride every element is a burst of its own and takes one 32-byte unit in UB, the rest
// of which is zeros.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t PER_UNIT = 8; // floats in 32 bytes

class KernelSscal {
public:
    __aicore__ inline void Init(GM_ADDR x, const SscalTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        stride = tiling.stride;
        alpha = tiling.alpha;
        width = stride > 1 ? PER_UNIT : 1;
        xGm.SetGlobalBuffer((__gm__ float *)x + begin * stride);
        pipe->InitBuffer(inQueue, 2, tile * width * sizeof(float));
        pipe->InitBuffer(outQueue, 2, tile * width * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<float> x = inQueue.AllocTensor<float>();
        if (stride > 1) {
            DataCopyExtParams copy{static_cast<uint16_t>(count), sizeof(float), Gap(), 0, 0};
            DataCopyPadExtParams<float> pad{true, 0, PER_UNIT - 1, 0.0f};
            DataCopyPad(x, xGm[at * stride], copy, pad);
        } else {
            DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
            DataCopyPadExtParams<float> pad;
            DataCopyPad(x, xGm[at], copy, pad);
        }
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<float> x = inQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        Muls(y, x, alpha, count * width);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<float> y = outQueue.DeQue<float>();
        if (stride > 1) {
            DataCopyExtParams copy{static_cast<uint16_t>(count), sizeof(float), 0, Gap(), 0};
            DataCopyPad(xGm[at * stride], y, copy);
        } else {
            DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
            DataCopyPad(xGm[at], y, copy);
        }
        outQueue.FreeTensor(y);
    }

    // Bytes in GM between two elements.
    __aicore__ inline uint32_t Gap() const
    {
        return (stride - 1) * sizeof(float);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<float> xGm;
    uint64_t length, stride;
    uint32_t tile, width;
    float alpha;
};

extern "C" __global__ __aicore__ void sscal(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSscal op;
    op.Init(x, tilingData, &pipe);
    op.Process();
}
