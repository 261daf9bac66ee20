// y = (x1 == x2). Every block takes a contiguous share; tiles move through double-buffered queues. Compare works on
// whole repeats of 256 bytes, so a tile is rounded up to one and the elements beyond its end are zeros or those of an
// earlier tile; their results are not copied out.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t REPEAT = 256; // elements, a multiple of what Compare takes at a time in every type
constexpr uint32_t UNIT = 32;    // bytes, to which DataCopyPad fills up

template <typename T> class KernelEqual {
    static constexpr bool narrow = std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;
    static constexpr bool widened = narrow || std::is_same_v<T, bfloat16_t>;
    using Wide = std::conditional_t<narrow, half, float>; // holds every value of the type that it widens

public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const EqualTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        // Inputs move as bytes: the padding is then the same for every type.
        x1Gm.SetGlobalBuffer((__gm__ uint8_t *)x1 + begin * sizeof(T), length * sizeof(T));
        x2Gm.SetGlobalBuffer((__gm__ uint8_t *)x2 + begin * sizeof(T), length * sizeof(T));
        yGm.SetGlobalBuffer((__gm__ uint8_t *)y + begin, length);
        pipe->InitBuffer(x1Queue, 2, tile * sizeof(T));
        pipe->InitBuffer(x2Queue, 2, tile * sizeof(T));
        pipe->InitBuffer(yQueue, 2, tile);
        pipe->InitBuffer(flagBuffer, tile * sizeof(half));
        pipe->InitBuffer(bitBuffer, tile / 8);
        if constexpr (widened) {
            pipe->InitBuffer(wide1Buffer, tile * sizeof(Wide));
            pipe->InitBuffer(wide2Buffer, tile * sizeof(Wide));
        }
        ClearBoth(x1Queue);
        ClearBoth(x2Queue);
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(x1Queue, x1Gm, at, count);
            CopyIn(x2Queue, x2Gm, at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    using InQueue = TQue<QuePosition::VECIN, 2>;

    // Zeros in both buffers of a queue: what a tile rounded up reads is defined from the first tile on.
    __aicore__ inline void ClearBoth(InQueue &queue)
    {
        LocalTensor<int16_t> first = queue.AllocTensor<int16_t>();
        LocalTensor<int16_t> second = queue.AllocTensor<int16_t>();
        Duplicate(first, static_cast<int16_t>(0), tile * sizeof(T) / sizeof(int16_t));
        Duplicate(second, static_cast<int16_t>(0), tile * sizeof(T) / sizeof(int16_t));
        queue.FreeTensor(first);
        queue.FreeTensor(second);
    }

    __aicore__ inline void CopyIn(InQueue &queue, const GlobalTensor<uint8_t> &gm, uint64_t at, uint32_t count)
    {
        LocalTensor<uint8_t> x = queue.AllocTensor<uint8_t>();
        uint32_t bytes = count * sizeof(T);
        DataCopyExtParams copy{1, bytes, 0, 0, 0};
        DataCopyPadExtParams<uint8_t> pad{true, 0, static_cast<uint8_t>((UNIT - bytes % UNIT) % UNIT), 0};
        DataCopyPad(x, gm[at * sizeof(T)], copy, pad);
        queue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x1 = x1Queue.DeQue<T>();
        LocalTensor<T> x2 = x2Queue.DeQue<T>();
        LocalTensor<uint8_t> y = yQueue.AllocTensor<uint8_t>();
        LocalTensor<uint8_t> bits = bitBuffer.Get<uint8_t>();
        LocalTensor<half> flags = flagBuffer.Get<half>();
        CompareEqual(bits, x1, x2, (count + REPEAT - 1) / REPEAT * REPEAT);
        Duplicate(flags, static_cast<half>(1), count);
        Select(flags, bits, flags, static_cast<half>(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        Cast(y, flags, RoundMode::CAST_RINT, count);
        yQueue.EnQue(y);
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
    }

    // One bit per element. Integers of 32 bits are equal as int32, the only one of them that Compare takes.
    __aicore__ inline void CompareEqual(const LocalTensor<uint8_t> &bits, const LocalTensor<T> &x1,
                                        const LocalTensor<T> &x2, uint32_t count)
    {
        if constexpr (widened) {
            LocalTensor<Wide> wide1 = wide1Buffer.Get<Wide>();
            LocalTensor<Wide> wide2 = wide2Buffer.Get<Wide>();
            Cast(wide1, x1, RoundMode::CAST_NONE, count);
            Cast(wide2, x2, RoundMode::CAST_NONE, count);
            Compare(bits, wide1, wide2, CMPMODE::EQ, count);
        } else if constexpr (std::is_same_v<T, uint32_t>) {
            Compare(bits, x1.template ReinterpretCast<int32_t>(), x2.template ReinterpretCast<int32_t>(), CMPMODE::EQ,
                    count);
        } else {
            Compare(bits, x1, x2, CMPMODE::EQ, count);
        }
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<uint8_t> y = yQueue.DeQue<uint8_t>();
        DataCopyExtParams copy{1, count, 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        yQueue.FreeTensor(y);
    }

    InQueue x1Queue, x2Queue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<QuePosition::VECCALC> flagBuffer, bitBuffer, wide1Buffer, wide2Buffer;
    GlobalTensor<uint8_t> x1Gm, x2Gm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void equal(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelEqual<DTYPE_X1> op;
    op.Init(x1, x2, y, tilingData, &pipe);
    op.Process();
}
