// y = 1 where x is finite, else 0. x - x is 0 for every finite x and nan for infinities and nan. Every block takes a
// contiguous share; tiles move through double-buffered queues. Compare works on whole repeats of 256 bytes, so a tile
// is rounded up to one; the results beyond its end are not copied out.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t REPEAT = 64; // floats that Compare takes at a time

template <typename T> class KernelIsFinite {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const IsFiniteTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ T *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ uint8_t *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(outQueue, 2, tile);
        pipe->InitBuffer(differenceBuffer, tile * sizeof(float));
        pipe->InitBuffer(flagBuffer, tile * sizeof(half));
        pipe->InitBuffer(bitBuffer, tile / 8);
        // What a tile rounded up compares is defined from the first tile on.
        Duplicate(differenceBuffer.Get<float>(), 0.0f, tile);
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
        LocalTensor<T> x = inQueue.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x = inQueue.DeQue<T>();
        LocalTensor<uint8_t> y = outQueue.AllocTensor<uint8_t>();
        LocalTensor<float> difference = differenceBuffer.Get<float>();
        LocalTensor<half> flags = flagBuffer.Get<half>();
        LocalTensor<uint8_t> bits = bitBuffer.Get<uint8_t>();
        if constexpr (std::is_same_v<T, float>) {
            Sub(difference, x, x, count);
        } else {
            Cast(difference, x, RoundMode::CAST_NONE, count);
            Sub(difference, difference, difference, count);
        }
        CompareScalar(bits, difference, 0.0f, CMPMODE::EQ, (count + REPEAT - 1) / REPEAT * REPEAT);
        Duplicate(flags, static_cast<half>(1), count);
        Select(flags, bits, flags, static_cast<half>(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        Cast(y, flags, RoundMode::CAST_RINT, count);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<uint8_t> y = outQueue.DeQue<uint8_t>();
        DataCopyExtParams copy{1, count, 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> differenceBuffer, flagBuffer, bitBuffer;
    GlobalTensor<T> xGm;
    GlobalTensor<uint8_t> yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void is_finite(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelIsFinite<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
