// y = x * value. Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit floating types
// are computed in float and rounded once; the parts of complex64 are floats (the host counts both). An integer product
// is exact and cut off towards zero: whole factors are multiplied in x's type, others element by element in fixed
// point.
#include "kernel_operator.h"

using namespace AscendC;

#if ORIG_DTYPE_X == DT_COMPLEX64
using Element = float;
#else
using Element = DTYPE_X;
#endif

constexpr uint32_t WORD_BITS = 32;
constexpr uint64_t WORD_MASK = 0xffffffff;

// value = mantissa * 2^exponent, without its sign; finite values only.
class FixedPointFactor {
public:
    __aicore__ inline void Init(uint32_t floatBits)
    {
        constexpr uint32_t MANTISSA_BITS = 23, EXPONENT_MASK = 0xff;
        constexpr int32_t EXPONENT_OF_LAST_BIT = -150; // bias of 127 and 23 bits behind the point
        uint32_t biased = (floatBits >> MANTISSA_BITS) & EXPONENT_MASK;
        uint32_t fraction = floatBits & ((1u << MANTISSA_BITS) - 1);
        negative = floatBits >> 31;
        mantissa = biased ? fraction | (1u << MANTISSA_BITS) : fraction; // subnormal numbers have no leading 1
        exponent = static_cast<int32_t>(biased ? biased : 1) + EXPONENT_OF_LAST_BIT;
    }

    // The product cut off towards zero. |x| * mantissa has up to 88 bits: high * 2^32 + low.
    __aicore__ inline int64_t Multiply(int64_t x) const
    {
        uint64_t magnitude = x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
        uint64_t low = (magnitude & WORD_MASK) * mantissa;
        uint64_t high = (magnitude >> WORD_BITS) * mantissa + (low >> WORD_BITS);
        uint64_t product = Scale(high, low & WORD_MASK);
        return static_cast<int64_t>((x < 0) == negative ? product : -product);
    }

private:
    __aicore__ inline uint64_t Scale(uint64_t high, uint64_t low) const
    {
        constexpr int32_t BITS = 64, WORD = WORD_BITS;
        if (exponent >= 0) {
            return exponent < BITS ? (high << WORD | low) << exponent : 0;
        }
        int32_t right = -exponent;
        if (right <= WORD) {
            return high << (WORD - right) | low >> right;
        }
        return right - WORD < BITS ? high >> (right - WORD) : 0;
    }

    uint64_t mantissa;
    int32_t exponent;
    bool negative;
};

template <typename T> class KernelMuls {
    static constexpr bool isFloat = std::is_same_v<T, float>;
    static constexpr bool isWidened = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
    static constexpr bool hasVectorProduct = isFloat || std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t>;

public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR value, GM_ADDR y, const MulsTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ T *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, length);
        ReadFactor(value);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(T));
        if constexpr (isWidened) {
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
    __aicore__ inline void ReadFactor(GM_ADDR value)
    {
        GlobalTensor<float> valueGm;
        valueGm.SetGlobalBuffer((__gm__ float *)value, 1);
        factor = valueGm.GetValue(0);
        GlobalTensor<uint32_t> bitsGm;
        bitsGm.SetGlobalBuffer((__gm__ uint32_t *)value, 1);
        fixedPoint.Init(bitsGm.GetValue(0));
        // The conversion to an integer is defined inside these limits only.
        constexpr float LIMIT = sizeof(T) == sizeof(int16_t) ? 32768.0f : 2147483648.0f;
        whole = factor > -LIMIT && factor < LIMIT && static_cast<float>(static_cast<int32_t>(factor)) == factor;
    }

    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<T> x = inQueue.template AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x = inQueue.template DeQue<T>();
        LocalTensor<T> y = outQueue.template AllocTensor<T>();
        if constexpr (isFloat) {
            Muls(y, x, factor, count);
        } else if constexpr (isWidened) {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Muls(wide, wide, factor, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        } else {
            ComputeInteger(y, x, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void ComputeInteger(const LocalTensor<T> &y, const LocalTensor<T> &x, uint32_t count)
    {
        if constexpr (hasVectorProduct) {
            if (whole) {
                Muls(y, x, static_cast<T>(static_cast<int32_t>(factor)), count);
                return;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            y.SetValue(i, static_cast<T>(fixedPoint.Multiply(x.GetValue(i))));
        }
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> y = outQueue.template DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<T> xGm, yGm;
    FixedPointFactor fixedPoint;
    float factor;
    bool whole;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void muls(GM_ADDR x, GM_ADDR value, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelMuls<Element> op;
    op.Init(x, value, y, tilingData, &pipe);
    op.Process();
}
