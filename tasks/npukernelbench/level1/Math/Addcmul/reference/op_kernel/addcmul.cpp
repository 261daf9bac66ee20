// y = input_data + x1 * x2 * value. Every block takes a contiguous share; tiles move through double-buffered queues.
// bfloat16 is computed in float and rounded once; float16 rounds after each operation, as its vector unit does.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T> class KernelAddcmul {
public:
    __aicore__ inline void Init(GM_ADDR inputData, GM_ADDR x1, GM_ADDR x2, GM_ADDR value, GM_ADDR y,
                                const AddcmulTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        addendGm.SetGlobalBuffer((__gm__ T *)inputData + begin, length);
        x1Gm.SetGlobalBuffer((__gm__ T *)x1 + begin, length);
        x2Gm.SetGlobalBuffer((__gm__ T *)x2 + begin, length);
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, length);
        valueGm.SetGlobalBuffer((__gm__ T *)value, 1);
        pipe->InitBuffer(addendQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(x1Queue, 2, tile * sizeof(T));
        pipe->InitBuffer(x2Queue, 2, tile * sizeof(T));
        pipe->InitBuffer(yQueue, 2, tile * sizeof(T));
        if constexpr (IN_FLOAT) {
            pipe->InitBuffer(productBuffer, tile * sizeof(float));
            pipe->InitBuffer(factorBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        value = valueGm.GetValue(0);
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(addendQueue, addendGm, at, count);
            CopyIn(x1Queue, x1Gm, at, count);
            CopyIn(x2Queue, x2Gm, at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    static constexpr bool IN_FLOAT = std::is_same_v<T, bfloat16_t>; // the vector unit has no bfloat16 arithmetic
    using InQueue = TQue<QuePosition::VECIN, 2>;

    __aicore__ inline void CopyIn(InQueue &queue, GlobalTensor<T> &gm, uint64_t at, uint32_t count)
    {
        LocalTensor<T> local = queue.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(local, gm[at], copy, pad);
        queue.EnQue(local);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> addend = addendQueue.DeQue<T>();
        LocalTensor<T> x1 = x1Queue.DeQue<T>();
        LocalTensor<T> x2 = x2Queue.DeQue<T>();
        LocalTensor<T> y = yQueue.AllocTensor<T>();
        if constexpr (IN_FLOAT) {
            LocalTensor<float> product = productBuffer.Get<float>();
            LocalTensor<float> factor = factorBuffer.Get<float>();
            Cast(product, x1, RoundMode::CAST_NONE, count);
            Cast(factor, x2, RoundMode::CAST_NONE, count);
            Mul(product, product, factor, count);
            Muls(product, product, ToFloat(value), count);
            Cast(factor, addend, RoundMode::CAST_NONE, count);
            Add(product, factor, product, count);
            Cast(y, product, RoundMode::CAST_RINT, count);
        } else {
            Mul(y, x1, x2, count);
            Muls(y, y, value, count);
            Add(y, addend, y, count);
        }
        yQueue.EnQue(y);
        addendQueue.FreeTensor(addend);
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> y = yQueue.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        yQueue.FreeTensor(y);
    }

    InQueue addendQueue, x1Queue, x2Queue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<QuePosition::VECCALC> productBuffer, factorBuffer;
    GlobalTensor<T> addendGm, x1Gm, x2Gm, yGm, valueGm;
    T value;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void addcmul(GM_ADDR input_data, GM_ADDR x1, GM_ADDR x2, GM_ADDR value, GM_ADDR y,
                                              GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelAddcmul<DTYPE_Y> op;
    op.Init(input_data, x1, x2, value, y, tilingData, &pipe);
    op.Process();
}
