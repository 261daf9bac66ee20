// y[k] = x1[k+1] x2[k+2] - x1[k+2] x2[k+1] for the three numbers of every vector, indices modulo 3. Tensors are
// (rows, 3, columns); the blocks take the tiles in turn.
//
// In UB a tile is three planes, one per k, of (height, width padded to 32 bytes). With few columns the padding would be
// most of it: then a tile is flat, the vectors as they lie in memory, and Gather fetches each number's two partners.
//
// float16 is computed in float and rounded once, int8 in int32, of which the low 8 bits are the result.
#include "kernel_operator.h"

using namespace AscendC;

using Element = DTYPE_X1;
using Number = std::conditional_t<std::is_integral_v<Element>, int32_t, float>; // computed in

constexpr uint32_t UNIT = 32 / sizeof(Element); // elements: rows start at multiples of it in UB
constexpr int32_t HIGH_BITS = 24;               // of int32 above int8
constexpr uint32_t FLAT_ROWS = 8;               // so many rows end on a multiple of 32 bytes

class KernelCross {
public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const CrossTilingData &tilingData, TPipe *pipe)
    {
        tiling = tilingData;
        uint64_t elements = tiling.rows * 3 * tiling.columns;
        x1Gm.SetGlobalBuffer((__gm__ Element *)x1, elements);
        x2Gm.SetGlobalBuffer((__gm__ Element *)x2, elements);
        yGm.SetGlobalBuffer((__gm__ Element *)y, elements);
        pipe->InitBuffer(x1Queue, 2, tiling.tile * sizeof(Element));
        pipe->InitBuffer(x2Queue, 2, tiling.tile * sizeof(Element));
        pipe->InitBuffer(outQueue, 2, tiling.tile * sizeof(Element));
        if constexpr (!std::is_same_v<Element, Number>) {
            pipe->InitBuffer(x1WideBuffer, tiling.tile * sizeof(Number));
            pipe->InitBuffer(x2WideBuffer, tiling.tile * sizeof(Number));
            pipe->InitBuffer(yWideBuffer, tiling.tile * sizeof(Number));
        }
        if constexpr (std::is_same_v<Element, int8_t>) {
            pipe->InitBuffer(halfBuffer, tiling.tile * sizeof(half));
        }
        if (tiling.flat) {
            pipe->InitBuffer(firstBuffer, tiling.tile * sizeof(Number));
            pipe->InitBuffer(secondBuffer, tiling.tile * sizeof(Number));
            pipe->InitBuffer(nextBuffer, tiling.tile * sizeof(int32_t));
            pipe->InitBuffer(afterBuffer, tiling.tile * sizeof(int32_t));
            FillOffsets(nextBuffer.Get<int32_t>(), 1);
            FillOffsets(afterBuffer.Get<int32_t>(), 2);
        } else {
            pipe->InitBuffer(firstBuffer, tiling.tile / 3 * sizeof(Number));
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
            plane = tiling.flat ? height * width : height * ((width + UNIT - 1) / UNIT * UNIT);
            uint64_t at = row * 3 * tiling.columns + column;
            CopyIn(x1Queue, x1Gm[at]);
            CopyIn(x2Queue, x2Gm[at]);
            Compute();
            CopyOut(yGm[at]);
        }
    }

private:
    // Byte offsets of the number `ahead` components after each of a flat tile. After FLAT_ROWS rows they repeat, with
    // the position added.
    __aicore__ inline void FillOffsets(const LocalTensor<int32_t> &offsets, int32_t ahead)
    {
        int32_t columns = tiling.columns;
        uint32_t filled = FLAT_ROWS * 3 * columns;
        for (int32_t i = 0; i < static_cast<int32_t>(filled); i++) {
            int32_t component = i / columns % 3;
            int32_t step = component + ahead < 3 ? ahead : ahead - 3;
            offsets.SetValue(i, (i + step * columns) * static_cast<int32_t>(sizeof(Number)));
        }
        while (filled < tiling.tile) {
            uint32_t count = tiling.tile - filled < filled ? tiling.tile - filled : filled;
            Adds(offsets[filled], offsets, static_cast<int32_t>(filled * sizeof(Number)), count);
            filled += count;
        }
    }

    // The padding of planes is written too: the vector instructions work on whole planes.
    __aicore__ inline void CopyIn(TQue<QuePosition::VECIN, 2> &queue, const GlobalTensor<Element> &gm)
    {
        LocalTensor<Element> x = queue.AllocTensor<Element>();
        DataCopyPadExtParams<Element> pad;
        if (tiling.flat) {
            DataCopyExtParams copy{1, static_cast<uint32_t>(3 * plane * sizeof(Element)), 0, 0, 0};
            DataCopyPad(x, gm, copy, pad);
        } else {
            DataCopyExtParams copy{height, static_cast<uint32_t>(width * sizeof(Element)), BytesBetweenRows(), 0, 0};
            pad.isPad = true;
            pad.rightPadding = (UNIT - width % UNIT) % UNIT;
            for (uint32_t k = 0; k < 3; k++) {
                DataCopyPad(x[k * plane], gm[k * tiling.columns], copy, pad);
            }
        }
        queue.EnQue(x);
    }

    __aicore__ inline void CopyOut(const GlobalTensor<Element> &gm)
    {
        LocalTensor<Element> y = outQueue.DeQue<Element>();
        if (tiling.flat) {
            DataCopyExtParams copy{1, static_cast<uint32_t>(3 * plane * sizeof(Element)), 0, 0, 0};
            DataCopyPad(gm, y, copy);
        } else {
            DataCopyExtParams copy{height, static_cast<uint32_t>(width * sizeof(Element)), 0, BytesBetweenRows(), 0};
            for (uint32_t k = 0; k < 3; k++) {
                DataCopyPad(gm[k * tiling.columns], y[k * plane], copy);
            }
        }
        outQueue.FreeTensor(y);
    }

    // In global memory, from the end of one row of a plane to the next. Several rows are whole ones.
    __aicore__ inline uint32_t BytesBetweenRows()
    {
        return height > 1 ? 2 * width * sizeof(Element) : 0;
    }

    __aicore__ inline void Compute()
    {
        LocalTensor<Element> x1 = x1Queue.DeQue<Element>();
        LocalTensor<Element> x2 = x2Queue.DeQue<Element>();
        LocalTensor<Element> y = outQueue.AllocTensor<Element>();
        Multiply(y, x1, x2);
        outQueue.EnQue(y);
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
    }

    __aicore__ inline void Multiply(const LocalTensor<Number> &y, const LocalTensor<Number> &x1,
                                    const LocalTensor<Number> &x2)
    {
        LocalTensor<Number> first = firstBuffer.Get<Number>();
        if (tiling.flat) {
            LocalTensor<Number> second = secondBuffer.Get<Number>();
            LocalTensor<uint32_t> next = nextBuffer.Get<uint32_t>();
            LocalTensor<uint32_t> after = afterBuffer.Get<uint32_t>();
            uint32_t count = 3 * plane;
            Gather(first, x1, next, 0, count);
            Gather(second, x2, after, 0, count);
            Mul(y, first, second, count);
            Gather(first, x1, after, 0, count);
            Gather(second, x2, next, 0, count);
            Mul(first, first, second, count);
            Sub(y, y, first, count);
        } else {
            for (uint32_t k = 0; k < 3; k++) {
                uint32_t next = (k + 1) % 3 * plane;
                uint32_t after = (k + 2) % 3 * plane;
                LocalTensor<Number> result = y[k * plane];
                Mul(result, x1[next], x2[after], plane);
                Mul(first, x1[after], x2[next], plane);
                Sub(result, result, first, plane);
            }
        }
    }

    template <typename T>
    __aicore__ inline void Multiply(const LocalTensor<T> &y, const LocalTensor<T> &x1, const LocalTensor<T> &x2)
    {
        LocalTensor<Number> x1Wide = x1WideBuffer.Get<Number>();
        LocalTensor<Number> x2Wide = x2WideBuffer.Get<Number>();
        LocalTensor<Number> yWide = yWideBuffer.Get<Number>();
        Widen(x1Wide, x1);
        Widen(x2Wide, x2);
        Multiply(yWide, x1Wide, x2Wide);
        Narrow(y, yWide);
    }

    __aicore__ inline void Widen(const LocalTensor<float> &wide, const LocalTensor<half> &x)
    {
        Cast(wide, x, RoundMode::CAST_NONE, 3 * plane);
    }

    __aicore__ inline void Narrow(const LocalTensor<half> &y, const LocalTensor<float> &wide)
    {
        Cast(y, wide, RoundMode::CAST_RINT, 3 * plane);
    }

    // Between int8 and int32 there are casts by way of half only. It holds every int8.
    __aicore__ inline void Widen(const LocalTensor<int32_t> &wide, const LocalTensor<int8_t> &x)
    {
        LocalTensor<half> way = halfBuffer.Get<half>();
        Cast(way, x, RoundMode::CAST_NONE, 3 * plane);
        Cast(wide, way, RoundMode::CAST_RINT, 3 * plane);
    }

    __aicore__ inline void Narrow(const LocalTensor<int8_t> &y, const LocalTensor<int32_t> &wide)
    {
        uint32_t count = 3 * plane;
        LocalTensor<uint32_t> bits = wide.ReinterpretCast<uint32_t>(); // a shift of int32 would keep the sign bit
        ShiftLeft(bits, bits, static_cast<uint32_t>(HIGH_BITS), count);
        ShiftRight(wide, wide, HIGH_BITS, count);
        LocalTensor<float> real = x1WideBuffer.Get<float>();
        LocalTensor<half> way = halfBuffer.Get<half>();
        Cast(real, wide, RoundMode::CAST_NONE, count);
        Cast(way, real, RoundMode::CAST_NONE, count);
        Cast(y, way, RoundMode::CAST_RINT, count);
    }

    TQue<QuePosition::VECIN, 2> x1Queue, x2Queue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> x1WideBuffer, x2WideBuffer, yWideBuffer, halfBuffer;
    TBuf<QuePosition::VECCALC> firstBuffer, secondBuffer; // products, or what they are made of
    TBuf<QuePosition::VECCALC> nextBuffer, afterBuffer;   // offsets of partners in flat tiles
    GlobalTensor<Element> x1Gm, x2Gm, yGm;
    CrossTilingData tiling;
    uint16_t height; // rows of the current tile
    uint32_t width;  // columns of the current tile
    uint32_t plane;  // numbers in UB of each of the three components
};

extern "C" __global__ __aicore__ void cross(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (tilingData.columns == 0) {
        return;
    }
    TPipe pipe;
    KernelCross op;
    op.Init(x1, x2, y, tilingData, &pipe);
    op.Process();
}
