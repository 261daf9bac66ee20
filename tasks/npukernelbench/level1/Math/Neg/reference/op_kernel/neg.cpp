// y = -x. Every block takes a contiguous share; tiles move through double-buffered queues. Types that Muls does not
// take are computed in a wider one, which holds -x exactly.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t BYTE_BITS = 8;

template <typename T> class KernelNeg {
    static constexpr bool isInt8 = std::is_same_v<T, int8_t>;
    static constexpr bool widened = isInt8 || std::is_same_v<T, bfloat16_t>;
    using Wide = std::conditional_t<isInt8, half, float>;

public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const NegTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ T *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(T));
        if constexpr (widened) {
            pipe->InitBuffer(wideBuffer, tile * sizeof(Wide));
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
        LocalTensor<T> x = inQueue.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x = inQueue.DeQue<T>();
        LocalTensor<T> y = outQueue.AllocTensor<T>();
        if constexpr (widened) {
            LocalTensor<Wide> wide = wideBuffer.Get<Wide>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Muls(wide, wide, static_cast<Wide>(-1), count);
            if constexpr (isInt8) {
                WrapToByte(wide, count);
            }
            Cast(y, wide, RoundMode::CAST_RINT, count);
        } else {
            Muls(y, x, static_cast<T>(-1), count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    // 128, the negative of the smallest int8, becomes -128, where Cast to int8 would saturate: the lower byte is sign
    // extended.
    __aicore__ inline void WrapToByte(const LocalTensor<half> &value, uint32_t count)
    {
        LocalTensor<int16_t> integer = value.ReinterpretCast<int16_t>();
        Cast(integer, value, RoundMode::CAST_RINT, count);
        LocalTensor<uint16_t> bits = value.ReinterpretCast<uint16_t>(); // ShiftLeft of int16 would keep the old sign
        ShiftLeft(bits, bits, static_cast<uint16_t>(BYTE_BITS), count);
        ShiftRight(integer, integer, static_cast<int16_t>(BYTE_BITS), count);
        Cast(value, integer, RoundMode::CAST_RINT, count);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> y = outQueue.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> wideBuffer;
    GlobalTensor<T> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void neg(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelNeg<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
