// outputs = mulscalar2 / (1 + exp(-input mulscalar1)) + addscalar3, in half like the module, whose steps it rounds
// after. Where exp overflows, the quotient is 0, as it should be. Every block takes a contiguous share; tiles move
// through double-buffered queues.
#include "kernel_operator.h"

using namespace AscendC;

class KernelMulSigmoidMulAdd {
public:
    __aicore__ inline void Init(GM_ADDR input, GM_ADDR mulscalar1, GM_ADDR mulscalar2, GM_ADDR addscalar3,
                                GM_ADDR outputs, const MulSigmoidMulAddCustomTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        inputGm.SetGlobalBuffer((__gm__ half *)input + begin, length);
        outputGm.SetGlobalBuffer((__gm__ half *)outputs + begin, length);
        innerScale = ReadScalar(mulscalar1);
        outerScale = ReadScalar(mulscalar2);
        offset = ReadScalar(addscalar3);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(half));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(half));
        pipe->InitBuffer(onesBuffer, tile * sizeof(half));
    }

    __aicore__ inline void Process()
    {
        Duplicate(onesBuffer.Get<half>(), half(1), tile);
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline half ReadScalar(GM_ADDR address)
    {
        GlobalTensor<half> scalar;
        scalar.SetGlobalBuffer((__gm__ half *)address, 1);
        return scalar.GetValue(0);
    }

    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<half> x = inQueue.AllocTensor<half>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        DataCopyPadExtParams<half> pad;
        DataCopyPad(x, inputGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<half> x = inQueue.DeQue<half>();
        LocalTensor<half> y = outQueue.AllocTensor<half>();
        Muls(y, x, innerScale, count);
        Muls(y, y, half(-1), count);
        Exp(y, y, count);
        Adds(y, y, half(1), count);
        // A true division: the Reciprocal instruction is only an approximation.
        Div(y, onesBuffer.Get<half>(), y, count);
        Muls(y, y, outerScale, count);
        Adds(y, y, offset, count);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<half> y = outQueue.DeQue<half>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        DataCopyPad(outputGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> onesBuffer;
    GlobalTensor<half> inputGm, outputGm;
    half innerScale, outerScale, offset;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void mul_sigmoid_mul_add_custom(GM_ADDR input, GM_ADDR mulscalar1, GM_ADDR mulscalar2,
                                                                 GM_ADDR addscalar3, GM_ADDR outputs, GM_ADDR workspace,
                                                                 GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelMulSigmoidMulAdd op;
    op.Init(input, mulscalar1, mulscalar2, addscalar3, outputs, tilingData, &pipe);
    op.Process();
}
