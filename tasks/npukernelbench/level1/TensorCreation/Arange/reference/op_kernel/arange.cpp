// out[i] = start + i * step. Every block takes a contiguous share. Each value is formed from its own index, so nothing
// drifts: floating types in float with one rounding to out, int32 as it is, int64 as int32 where all values fit and by
// the scalar unit where they do not, as the vector unit has no 64-bit arithmetic.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int64_t SMALL = 1 << 30; // limits between -SMALL and SMALL: they and their differences are int32

template <typename T> class KernelArange {
public:
    __aicore__ inline void Init(GM_ADDR start, GM_ADDR end, GM_ADDR step, GM_ADDR out, const ArangeTilingData &tiling,
                                TPipe *pipe)
    {
        begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        startGm.SetGlobalBuffer((__gm__ T *)start, 1);
        endGm.SetGlobalBuffer((__gm__ T *)end, 1);
        stepGm.SetGlobalBuffer((__gm__ T *)step, 1);
        outGm.SetGlobalBuffer((__gm__ T *)out + begin, length);
        pipe->InitBuffer(outQueue, 2, tile * sizeof(T));
        if constexpr (IS_FLOATING) {
            pipe->InitBuffer(indexBuffer, tile * sizeof(float));
        }
        if constexpr (!std::is_same_v<T, Work>) {
            pipe->InitBuffer(workBuffer, tile * sizeof(Work));
        }
    }

    __aicore__ inline void Process()
    {
        if constexpr (IS_FLOATING) {
            CreateVecIndex(indexBuffer.Get<float>(), 0.0f, tile);
        }
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            LocalTensor<T> out = outQueue.AllocTensor<T>();
            Compute(out, begin + at, count);
            outQueue.EnQue(out);
            CopyOut(at, count);
        }
    }

private:
    static constexpr bool IS_FLOATING = !std::is_same_v<T, int32_t> && !std::is_same_v<T, int64_t>;
    using Work = std::conditional_t<IS_FLOATING, float, int32_t>;

    __aicore__ inline void Compute(const LocalTensor<T> &out, uint64_t first, uint32_t count)
    {
        if constexpr (std::is_same_v<T, Work>) {
            Progress(out, first, count);
        } else if constexpr (IS_FLOATING) {
            LocalTensor<float> work = workBuffer.Get<float>();
            Progress(work, first, count);
            Cast(out, work, RoundMode::CAST_RINT, count);
        } else if (IsSmall(startGm.GetValue(0)) && IsSmall(endGm.GetValue(0))) {
            LocalTensor<int32_t> work = workBuffer.Get<int32_t>();
            Progress(work, first, count);
            Cast(out, work, RoundMode::CAST_NONE, count);
        } else {
            int64_t start = startGm.GetValue(0);
            int64_t step = stepGm.GetValue(0);
            for (uint32_t i = 0; i < count; i++) {
                out.SetValue(i, start + static_cast<int64_t>(first + i) * step);
            }
        }
    }

    // values[i] = start + (first + i) * step.
    __aicore__ inline void Progress(const LocalTensor<Work> &values, uint64_t first, uint32_t count)
    {
        if constexpr (IS_FLOATING) {
            Adds(values, indexBuffer.Get<float>(), static_cast<float>(first), count);
        } else {
            CreateVecIndex(values, static_cast<int32_t>(first), count);
        }
        Muls(values, values, AsWork(stepGm.GetValue(0)), count);
        Adds(values, values, AsWork(startGm.GetValue(0)), count);
    }

    __aicore__ inline Work AsWork(T value)
    {
        if constexpr (std::is_same_v<T, bfloat16_t>) {
            return ToFloat(value);
        } else {
            return static_cast<Work>(value);
        }
    }

    __aicore__ inline bool IsSmall(int64_t value)
    {
        return value > -SMALL && value < SMALL;
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> out = outQueue.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(outGm[at], out, copy);
        outQueue.FreeTensor(out);
    }

    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> indexBuffer, workBuffer;
    GlobalTensor<T> startGm, endGm, stepGm, outGm;
    uint64_t begin, length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void arange(GM_ADDR start, GM_ADDR end, GM_ADDR step, GM_ADDR out, GM_ADDR workspace,
                                             GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelArange<DTYPE_OUT> op;
    op.Init(start, end, step, out, tilingData, &pipe);
    op.Process();
}
