// y[..., r, c] = x[..., r, c] where c <= r + diagonal, else 0. A tile is a group of rows, or a segment of one if rows
// are long; it is copied in with every row at a multiple of 32 bytes, cleared above the diagonal and copied out.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T> class KernelTril {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const TrilTilingData &tilingData, TPipe *pipe)
    {
        tiling = tilingData;
        segments = (tiling.columns + tiling.segment - 1) / tiling.segment;
        xGm.SetGlobalBuffer((__gm__ T *)x, tiling.allRows * tiling.columns);
        yGm.SetGlobalBuffer((__gm__ T *)y, tiling.allRows * tiling.columns);
        pipe->InitBuffer(queue, 2, tiling.rowsPerTile * tiling.segment * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        uint64_t first = tiling.perBlock * GetBlockIdx();
        uint64_t end = first + tiling.perBlock < tiling.tiles ? first + tiling.perBlock : tiling.tiles;
        for (uint64_t tile = first; tile < end; tile++) {
            uint64_t row = tile / segments * tiling.rowsPerTile;
            uint64_t column = tile % segments * tiling.segment;
            uint64_t rowsLeft = tiling.allRows - row;
            uint64_t columnsLeft = tiling.columns - column;
            uint32_t height = rowsLeft < tiling.rowsPerTile ? rowsLeft : tiling.rowsPerTile;
            uint32_t width = columnsLeft < tiling.segment ? columnsLeft : tiling.segment;
            CopyIn(row, column, height, width);
            Clear(row, column, height, width);
            CopyOut(row, column, height, width);
        }
    }

private:
    static constexpr uint32_t UNIT = 32 / sizeof(T);   // elements
    static constexpr uint32_t LANES = 256 / sizeof(T); // elements of one repeat

    __aicore__ inline void CopyIn(uint64_t row, uint64_t column, uint32_t height, uint32_t width)
    {
        LocalTensor<T> local = queue.AllocTensor<T>();
        uint32_t gap = (tiling.columns - width) * sizeof(T);
        DataCopyExtParams copy{static_cast<uint16_t>(height), static_cast<uint32_t>(width * sizeof(T)), gap, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(local, xGm[row * tiling.columns + column], copy, pad);
        queue.EnQue<QuePosition::GM, QuePosition::VECIN, T>(local);
    }

    __aicore__ inline void Clear(uint64_t row, uint64_t column, uint32_t height, uint32_t width)
    {
        LocalTensor<T> local = queue.DeQue<QuePosition::GM, QuePosition::VECIN, T>();
        uint32_t pitch = (width + UNIT - 1) / UNIT * UNIT;
        for (uint32_t i = 0; i < height; i++) {
            int64_t keep = static_cast<int64_t>((row + i) % tiling.rows - column) + tiling.diagonal + 1;
            if (keep < static_cast<int64_t>(width)) {
                ClearFrom(local[i * pitch], keep > 0 ? keep : 0, width);
            }
        }
        queue.EnQue<QuePosition::VECOUT, QuePosition::GM, T>(local);
    }

    // Clears columns `keep` to `width` - 1 of a row. Vector addresses are multiples of 32 bytes, so a mask cuts out the
    // first repeat.
    __aicore__ inline void ClearFrom(const LocalTensor<T> &row, uint32_t keep, uint32_t width)
    {
        uint32_t at = keep / LANES * LANES;
        if (keep > at) {
            uint32_t from = keep - at;
            uint32_t to = width - at < LANES ? width - at : LANES;
            uint64_t mask[2] = {LowBits(to) & ~LowBits(from), 0};
            if constexpr (LANES > 64) {
                mask[1] = LowBits(to > 64 ? to - 64 : 0) & ~LowBits(from > 64 ? from - 64 : 0);
            }
            Duplicate(row[at], static_cast<T>(0), mask, 1, 1, 8);
            at += LANES;
        }
        if (at < width) {
            Duplicate(row[at], static_cast<T>(0), width - at);
        }
    }

    __aicore__ inline uint64_t LowBits(uint32_t count)
    {
        return count < 64 ? (1ULL << count) - 1 : ~0ULL;
    }

    __aicore__ inline void CopyOut(uint64_t row, uint64_t column, uint32_t height, uint32_t width)
    {
        LocalTensor<T> local = queue.DeQue<QuePosition::VECOUT, QuePosition::GM, T>();
        uint32_t gap = (tiling.columns - width) * sizeof(T);
        DataCopyExtParams copy{static_cast<uint16_t>(height), static_cast<uint32_t>(width * sizeof(T)), 0, gap, 0};
        DataCopyPad(yGm[row * tiling.columns + column], local, copy);
        queue.FreeTensor(local);
    }

    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> queue;
    GlobalTensor<T> xGm, yGm;
    TrilTilingData tiling;
    uint64_t segments;
};

extern "C" __global__ __aicore__ void tril(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelTril<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
