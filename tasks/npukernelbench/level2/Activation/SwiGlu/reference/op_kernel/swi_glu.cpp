// y = a sigmoid(a) b = a / (1 + exp(-a)) b, where x (rows, 2, columns) holds a and b in turn. The blocks take the tiles
// in turn; tiles move through double-buffered queues, their rows padded to 32 bytes in UB. 16-bit types are computed in
// float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t UNIT = 32 / sizeof(DTYPE_X); // elements: rows start at multiples of it in UB

class KernelSwiGlu {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SwiGluTilingData &tilingData, TPipe *pipe)
    {
        tiling = tilingData;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x, tiling.rows * 2 * tiling.columns);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y, tiling.rows * tiling.columns);
        pipe->InitBuffer(aQueue, 2, tiling.tile * sizeof(DTYPE_X));
        pipe->InitBuffer(bQueue, 2, tiling.tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tiling.tile * sizeof(DTYPE_X));
        pipe->InitBuffer(divisorBuffer, tiling.tile * sizeof(float));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(aWideBuffer, tiling.tile * sizeof(float));
            pipe->InitBuffer(bWideBuffer, tiling.tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        uint64_t across = (tiling.columns + tiling.tileColumns - 1) / tiling.tileColumns;
        uint64_t tiles = (tiling.rows + tiling.tileRows - 1) / tiling.tileRows * across;
        for (uint64_t i = GetBlockIdx(); i < tiles; i += GetBlockNum()) {
            uint64_t row = i / across * tiling.tileRows;
            uint64_t column = i % across * tiling.tileColumns;
            uint64_t rowsLeft = tiling.rows - row;
            uint64_t columnsLeft = tiling.columns - column;
            height = rowsLeft < tiling.tileRows ? rowsLeft : tiling.tileRows;
            width = columnsLeft < tiling.tileColumns ? columnsLeft : tiling.tileColumns;
            CopyIn(row * 2 * tiling.columns + column);
            Compute(height * ((width + UNIT - 1) / UNIT * UNIT));
            CopyOut(row * tiling.columns + column);
        }
    }

private:
    // The padding is written too: the vector instructions work on whole rows in UB.
    __aicore__ inline void CopyIn(uint64_t at)
    {
        // one row and the next; used with whole rows only
        uint32_t between = (2 * tiling.columns - width) * sizeof(DTYPE_X);
        DataCopyExtParams copy{height, static_cast<uint32_t>(width * sizeof(DTYPE_X)), height > 1 ? between : 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        pad.isPad = true;
        pad.rightPadding = (UNIT - width % UNIT) % UNIT;
        LocalTensor<DTYPE_X> a = aQueue.AllocTensor<DTYPE_X>();
        DataCopyPad(a, xGm[at], copy, pad);
        aQueue.EnQue(a);
        LocalTensor<DTYPE_X> b = bQueue.AllocTensor<DTYPE_X>();
        DataCopyPad(b, xGm[at + tiling.columns], copy, pad);
        bQueue.EnQue(b);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> a = aQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> b = bQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        Activate(y, a, b, count);
        outQueue.EnQue(y);
        aQueue.FreeTensor(a);
        bQueue.FreeTensor(b);
    }

    __aicore__ inline void Activate(const LocalTensor<float> &y, const LocalTensor<float> &a,
                                    const LocalTensor<float> &b, uint32_t count)
    {
        LocalTensor<float> divisor = divisorBuffer.Get<float>();
        Muls(divisor, a, -1.0f, count);
        Exp(divisor, divisor, count);
        Adds(divisor, divisor, 1.0f, count);
        Div(y, a, divisor, count);
        Mul(y, y, b, count);
    }

    template <typename T>
    __aicore__ inline void Activate(const LocalTensor<T> &y, const LocalTensor<T> &a, const LocalTensor<T> &b,
                                    uint32_t count)
    {
        LocalTensor<float> aWide = aWideBuffer.Get<float>();
        LocalTensor<float> bWide = bWideBuffer.Get<float>();
        Cast(aWide, a, RoundMode::CAST_NONE, count);
        Cast(bWide, b, RoundMode::CAST_NONE, count);
        Activate(aWide, aWide, bWide, count);
        Cast(y, aWide, RoundMode::CAST_RINT, count);
    }

    __aicore__ inline void CopyOut(uint64_t at)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{height, static_cast<uint32_t>(width * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> aQueue, bQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> divisorBuffer, aWideBuffer, bWideBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    SwiGluTilingData tiling;
    uint16_t height; // rows of the current tile
    uint32_t width;  // columns of the current tile
};

extern "C" __global__ __aicore__ void swi_glu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (tilingData.columns == 0) {
        return;
    }
    TPipe pipe;
    KernelSwiGlu op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
