// y = (x1 < x2). Every block takes a contiguous share; tiles move through double-buffered queues. Compare works on
// whole repeats of 256 bytes, so a tile is rounded up to one and the elements beyond its end are zeros or those of an
// earlier tile; their results are not copied out.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t REPEAT = 256;                 // elements, a multiple of what Compare takes at a time in every type
constexpr uint32_t UNIT = 32;                    // bytes, to which DataCopyPad fills up
constexpr uint8_t LOW_WORDS = 1, HIGH_WORDS = 2; // patterns of GatherMask: even and odd positions

template <typename T> class KernelLess {
    static constexpr bool narrow = std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;
    static constexpr bool widened = narrow || std::is_same_v<T, bfloat16_t>;
    using Wide = std::conditional_t<narrow, half, float>; // holds every value of the type that it widens
    // Bytes per element beside the queues, see CompareLess: two widened inputs, a maximum, or five words.
    static constexpr uint32_t SCRATCH = widened                      ? 2 * sizeof(Wide)
                                        : std::is_same_v<T, int32_t> ? sizeof(int32_t)
                                        : std::is_same_v<T, int64_t> ? 5 * sizeof(int32_t)
                                                                     : 0;

public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const LessTilingData &tiling, TPipe *pipe)
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
        if constexpr (SCRATCH > 0) {
            pipe->InitBuffer(scratch, tile * SCRATCH);
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
        CompareLess(bits, flags, x1, x2, (count + REPEAT - 1) / REPEAT * REPEAT);
        Cast(y, flags, RoundMode::CAST_RINT, count);
        yQueue.EnQue(y);
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
    }

    // flags = 1 where x1 < x2, else 0.
    __aicore__ inline void CompareLess(const LocalTensor<uint8_t> &bits, const LocalTensor<half> &flags,
                                       const LocalTensor<T> &x1, const LocalTensor<T> &x2, uint32_t count)
    {
        half ofSet = 1, ofClear = 0; // flags of the two values of a bit
        if constexpr (widened) {
            LocalTensor<Wide> wide1 = scratch.Get<Wide>();
            LocalTensor<Wide> wide2 = wide1[tile];
            Cast(wide1, x1, RoundMode::CAST_NONE, count);
            Cast(wide2, x2, RoundMode::CAST_NONE, count);
            Compare(bits, wide1, wide2, CMPMODE::LT, count);
        } else if constexpr (std::is_same_v<T, int32_t>) {
            // Compare has only EQ for int32: x1 is the maximum unless it is less.
            LocalTensor<int32_t> larger = scratch.Get<int32_t>();
            Max(larger, x1, x2, count);
            Compare(bits, larger, x1, CMPMODE::EQ, count);
            ofSet = 0;
            ofClear = 1;
        } else if constexpr (std::is_same_v<T, int64_t>) {
            CompareLess64(bits, x1, x2, count);
        } else {
            Compare(bits, x1, x2, CMPMODE::LT, count);
        }
        Duplicate(flags, ofSet, count);
        Select(flags, bits, flags, ofClear, SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
    }

    // An int64 is four digits of 16 bits, the highest of them signed. order = 8 s3 + 4 s2 + 2 s1 + s0, where s is the
    // sign of a digit of x1 minus that of x2; the highest digit that differs outweighs those below, so x1 < x2 is order
    // < 0.
    __aicore__ inline void CompareLess64(const LocalTensor<uint8_t> &bits, const LocalTensor<T> &x1,
                                         const LocalTensor<T> &x2, uint32_t count)
    {
        LocalTensor<int32_t> word1 = scratch.Get<int32_t>();
        LocalTensor<int32_t> word2 = word1[tile];
        LocalTensor<int32_t> order = word1[2 * tile];
        Duplicate(order, 0, count);
        TakeWords(word1, x1, HIGH_WORDS, count);
        TakeWords(word2, x2, HIGH_WORDS, count);
        AddDigit<int32_t, true>(order, word1, word2, count);
        AddDigit<int32_t, false>(order, word1, word2, count);
        TakeWords(word1, x1, LOW_WORDS, count);
        TakeWords(word2, x2, LOW_WORDS, count);
        AddDigit<uint32_t, true>(order, word1, word2, count);
        AddDigit<uint32_t, false>(order, word1, word2, count);
        LocalTensor<float> orderAsFloat = order.ReinterpretCast<float>();
        Cast(orderAsFloat, order, RoundMode::CAST_NONE, count);
        CompareScalar(bits, orderAsFloat, 0.0f, CMPMODE::LT, count);
    }

    __aicore__ inline void TakeWords(const LocalTensor<int32_t> &words, const LocalTensor<T> &x, uint8_t pattern,
                                     uint32_t count)
    {
        uint64_t taken = 0;
        GatherMask(words, x.template ReinterpretCast<int32_t>(), pattern, true, 2 * count, {1, 1, 8, 0}, taken);
    }

    // order = 2 order + sign(digit of word1 - digit of word2): the upper digit, its sign as in Word, or the lower one.
    template <typename Word, bool upper>
    __aicore__ inline void AddDigit(const LocalTensor<int32_t> &order, const LocalTensor<int32_t> &word1,
                                    const LocalTensor<int32_t> &word2, uint32_t count)
    {
        LocalTensor<int32_t> digit1 = word1[3 * tile];
        LocalTensor<int32_t> digit2 = word1[4 * tile];
        TakeDigit<Word, upper>(digit1, word1, count);
        TakeDigit<Word, upper>(digit2, word2, count);
        Sub(digit1, digit1, digit2, count);
        Mins(digit1, digit1, 1, count);
        Maxs(digit1, digit1, -1, count);
        Add(order, order, order, count);
        Add(order, order, digit1, count);
    }

    template <typename Word, bool upper>
    __aicore__ inline void TakeDigit(const LocalTensor<int32_t> &digit, const LocalTensor<int32_t> &word,
                                     uint32_t count)
    {
        constexpr uint32_t DIGIT_BITS = 16;
        if constexpr (upper) {
            ShiftRight(digit.ReinterpretCast<Word>(), word.ReinterpretCast<Word>(), static_cast<Word>(DIGIT_BITS),
                       count);
        } else {
            LocalTensor<uint32_t> bits = digit.ReinterpretCast<uint32_t>();
            ShiftLeft(bits, word.ReinterpretCast<uint32_t>(), DIGIT_BITS, count);
            ShiftRight(bits, bits, DIGIT_BITS, count);
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
    TBuf<QuePosition::VECCALC> flagBuffer, bitBuffer, scratch;
    GlobalTensor<uint8_t> x1Gm, x2Gm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void less(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelLess<DTYPE_X1> op;
    op.Init(x1, x2, y, tilingData, &pipe);
    op.Process();
}
