// y = x repeated. y is a list of rows, each a run of x or one element of x repeated; rows are cut into pieces, and the
// pieces are what blocks share. A piece is read, or filled, once for all the copies of its row that follow each other.
// The vector unit has no 64-bit types: it fills the low and the high halves of the elements.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint64_t LOW_LANES = 0x5555555555555555; // low halves of int64, among the 64 lanes of a repeat
constexpr uint64_t HIGH_LANES = 0xAAAAAAAAAAAAAAAA;
constexpr uint32_t PER_REPEAT = 32; // int64 elements of one repeat

class KernelExpandV2 {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const ExpandV2TilingData &tilingData, TPipe *pipe)
    {
        tiling = tilingData;
        pieces = (tiling.row + tiling.piece - 1) / tiling.piece;
        xGm.SetGlobalBuffer((__gm__ int64_t *)x, tiling.xTotal);
        yGm.SetGlobalBuffer((__gm__ int64_t *)y, tiling.total);
        uint32_t repeats = (tiling.piece + PER_REPEAT - 1) / PER_REPEAT;
        if (tiling.fill) {
            pipe->InitBuffer(fillQueue, 2, repeats * PER_REPEAT * sizeof(int64_t));
        } else {
            pipe->InitBuffer(copyQueue, 2, repeats * PER_REPEAT * sizeof(int64_t));
        }
    }

    // Items count copies first, then pieces, then rows that differ.
    __aicore__ inline void Process()
    {
        uint64_t item = tiling.perBlock * GetBlockIdx();
        uint64_t end = item + tiling.perBlock < tiling.items ? item + tiling.perBlock : tiling.items;
        while (item < end) {
            uint64_t copy = item % tiling.copies;
            uint64_t run = tiling.copies - copy < end - item ? tiling.copies - copy : end - item;
            uint64_t at = item / tiling.copies % pieces * tiling.piece;
            uint64_t outer = item / tiling.copies / pieces;
            uint32_t count = tiling.row - at < tiling.piece ? tiling.row - at : tiling.piece;
            uint64_t to = (outer * tiling.copies + copy) * tiling.row + at;
            if (tiling.fill) {
                Fill(SourceOf(outer), to, count);
            } else {
                CopyRun(SourceOf(outer) + at, to, count, run);
            }
            item += run;
        }
    }

private:
    // Where in x the outer-th of the rows that differ begins.
    __aicore__ inline uint64_t SourceOf(uint64_t outer)
    {
        uint64_t from = 0;
        for (uint32_t i = tiling.groups; i-- > 0;) {
            from += outer % tiling.sizes[i] * tiling.strides[i];
            outer /= tiling.sizes[i];
        }
        return from;
    }

    // Copies x[from, from + count) to `run` rows of y, the first piece at `to`.
    __aicore__ inline void CopyRun(uint64_t from, uint64_t to, uint32_t count, uint64_t run)
    {
        LocalTensor<int64_t> piece = copyQueue.AllocTensor<int64_t>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(int64_t)), 0, 0, 0};
        DataCopyPadExtParams<int64_t> pad;
        DataCopyPad(piece, xGm[from], copy, pad);
        copyQueue.EnQue(piece);
        piece = copyQueue.DeQue<int64_t>();
        for (uint64_t i = 0; i < run; i++) {
            DataCopyPad(yGm[to + i * tiling.row], piece, copy);
        }
        copyQueue.FreeTensor(piece);
    }

    // y[to, to + count) = x[from].
    __aicore__ inline void Fill(uint64_t from, uint64_t to, uint32_t count)
    {
        int64_t value = xGm.GetValue(from);
        uint64_t low[2] = {LOW_LANES, 0};
        uint64_t high[2] = {HIGH_LANES, 0};
        uint8_t repeats = (count + PER_REPEAT - 1) / PER_REPEAT;
        LocalTensor<int32_t> halves = fillQueue.AllocTensor<int32_t>();
        Duplicate(halves, static_cast<int32_t>(value), low, repeats, 1, 8);
        Duplicate(halves, static_cast<int32_t>(value >> 32), high, repeats, 1, 8);
        fillQueue.EnQue(halves);
        LocalTensor<int64_t> piece = fillQueue.DeQue<int64_t>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(int64_t)), 0, 0, 0};
        DataCopyPad(yGm[to], piece, copy);
        fillQueue.FreeTensor(piece);
    }

    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> copyQueue;
    TQue<QuePosition::VECOUT, 2> fillQueue;
    GlobalTensor<int64_t> xGm, yGm;
    ExpandV2TilingData tiling;
    uint64_t pieces;
};

extern "C" __global__ __aicore__ void expand_v2(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelExpandV2 op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
