// y = x sigmoid(scale x) = x / (1 + exp(-scale x)). Every block takes a contiguous share; tiles move through
// double-buffered queues. 16-bit types are computed in float and rounded once. Where exp overflows, x / inf = 0 is the
// right limit.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSwish {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SwishTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        scale = tiling.scale;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(divisorBuffer, tile * sizeof(float));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(wideBuffer, tile * sizeof(float));
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
        Activate(y, x, count);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void Activate(const LocalTensor<float> &y, const LocalTensor<float> &x, uint32_t count)
    {
        LocalTensor<float> divisor = divisorBuffer.Get<float>();
        Muls(divisor, x, -scale, count);
        Exp(divisor, divisor, count);
        Adds(divisor, divisor, 1.0f, count);
        Div(y, x, divisor, count);
    }

    template <typename T>
    __aicore__ inline void Activate(const LocalTensor<T> &y, const LocalTensor<T> &x, uint32_t count)
    {
        LocalTensor<float> wide = wideBuffer.Get<float>();
        Cast(wide, x, RoundMode::CAST_NONE, count);
        Activate(wide, wide, count);
        Cast(y, wide, RoundMode::CAST_RINT, count);
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
    TBuf<QuePosition::VECCALC> divisorBuffer, wideBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
    float scale;
};

extern "C" __global__ __aicore__ void swish(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSwish op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
