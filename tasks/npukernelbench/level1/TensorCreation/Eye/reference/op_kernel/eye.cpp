// y[..., r, c] = 1 where r == c, else 0. Every block takes a contiguous share of the flattened matrices, whatever row
// it starts in: the vector unit clears a tile, the scalar unit sets the ones, one per row at most.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T> class KernelEye {
public:
    __aicore__ inline void Init(GM_ADDR y, const EyeTilingData &tiling, TPipe *pipe)
    {
        begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        rows = tiling.rows;
        columns = tiling.columns;
        tile = tiling.tile;
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, length);
        pipe->InitBuffer(outQueue, 2, tile * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            Compute(begin + at, count);
            CopyOut(at, count);
        }
    }

private:
    // The `count` elements from `first` on, both counted over all matrices.
    __aicore__ inline void Compute(uint64_t first, uint32_t count)
    {
        LocalTensor<T> y = outQueue.AllocTensor<T>();
        Duplicate(y, static_cast<T>(0), count);
        for (uint64_t row = first / columns; row * columns < first + count; row++) {
            uint64_t column = row % rows;
            uint64_t one = row * columns + column;
            if (column < columns && one >= first && one < first + count) {
                y.SetValue(one - first, static_cast<T>(1));
            }
        }
        outQueue.EnQue(y);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<T> y = outQueue.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<T> yGm;
    uint64_t begin, length, rows, columns;
    uint32_t tile;
};

// y_ref is the memory of y.
extern "C" __global__ __aicore__ void eye(GM_ADDR y, GM_ADDR y_ref, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelEye<DTYPE_Y> op;
    op.Init(y_ref, tilingData, &pipe);
    op.Process();
}
