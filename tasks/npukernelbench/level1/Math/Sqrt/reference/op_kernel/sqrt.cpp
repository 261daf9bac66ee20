// y = sqrt(x). Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit types are
// computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSqrt {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(floatBuffer, tile * sizeof(float));
        }
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
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(y, x, count);
        } else {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Sqrt(wide, wide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSqrt op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
