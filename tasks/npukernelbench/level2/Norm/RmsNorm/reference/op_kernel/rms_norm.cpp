// rstd = 1 / sqrt(mean(x^2) + epsilon), y = x rstd gamma, row by row, in float. Every block takes consecutive rows. As
// many rows as fit into UB make a tile, gamma being loaded once; a row that does not fit comes in chunks, twice: for
// the sum of squares, then for y.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t UNIT = 8;                     // floats in 32 bytes: a row's place among the statistics
constexpr uint32_t ALIGN = 32 / sizeof(DTYPE_X); // elements: rows of a tile start at multiples
constexpr uint32_t REPEAT = 256 / sizeof(float); // floats that ReduceSum adds to one at a time
constexpr bool X_IS_FLOAT = std::is_same_v<DTYPE_X, float>;
constexpr bool GAMMA_IS_FLOAT = std::is_same_v<DTYPE_GAMMA, float>;

__aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

class KernelRmsNorm {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd, const RmsNormTilingData &tiling,
                                TPipe *pipe)
    {
        uint64_t begin = tiling.rowsPerBlock * GetBlockIdx();
        uint64_t left = tiling.rows - begin;
        rows = left < tiling.rowsPerBlock ? left : tiling.rowsPerBlock;
        length = tiling.length;
        chunk = tiling.chunk;
        tileRows = tiling.tileRows;
        epsilon = tiling.epsilon;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin * length, rows * length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin * length, rows * length);
        gammaGm.SetGlobalBuffer((__gm__ DTYPE_GAMMA *)gamma, length);
        rstdGm.SetGlobalBuffer((__gm__ float *)rstd + begin, rows);

        uint32_t tile = tileRows * RoundUp(chunk, ALIGN);
        pipe->InitBuffer(xQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(yQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(rstdQueue, 2, tileRows * UNIT * sizeof(float));
        pipe->InitBuffer(gammaQueue, 1, RoundUp(chunk, ALIGN) * sizeof(DTYPE_GAMMA));
        pipe->InitBuffer(squareBuffer, tile * sizeof(float));
        pipe->InitBuffer(reduceBuffer, RoundUp(chunk / REPEAT + 1, UNIT) * sizeof(float));
        if constexpr (!X_IS_FLOAT) {
            pipe->InitBuffer(wideBuffer, tile * sizeof(float));
        }
        if constexpr (!GAMMA_IS_FLOAT) {
            pipe->InitBuffer(gammaBuffer, RoundUp(chunk, ALIGN) * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        if (chunk == length) {
            ProcessTiles();
            return;
        }
        for (uint64_t row = 0; row < rows; row++) {
            float factor = MeasureLongRow(row);
            WriteLongRow(row, factor);
        }
    }

private:
    __aicore__ inline uint32_t TileRows(uint64_t row)
    {
        return rows - row < tileRows ? rows - row : tileRows;
    }

    __aicore__ inline uint32_t ChunkCount(uint32_t at)
    {
        return length - at < chunk ? length - at : chunk;
    }

    // The next tile is on its way while this one is computed.
    __aicore__ inline void ProcessTiles()
    {
        LoadGamma(0, length);
        CopyIn(0, TileRows(0), length);
        for (uint64_t row = 0; row < rows; row += tileRows) {
            uint64_t next = row + tileRows;
            if (next < rows) {
                CopyIn(next * length, TileRows(next), length);
            }
            uint32_t count = TileRows(row);
            ComputeTile(count);
            CopyOut(row * length, count, length);
            CopyOutRstd(row, count);
        }
        gammaQueue.FreeTensor(gammaRaw);
    }

    __aicore__ inline void ComputeTile(uint32_t count)
    {
        uint32_t pitch = RoundUp(length, ALIGN);
        LocalTensor<DTYPE_X> x = xQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = yQueue.AllocTensor<DTYPE_X>();
        LocalTensor<float> rstd = rstdQueue.AllocTensor<float>();
        LocalTensor<float> wide = Widen(x, count, length);
        SumSquares(rstd, wide, count, length);
        Invert(rstd, count);
        for (uint32_t r = 0; r < count; r++) {
            Normalise(y[r * pitch], wide[r * pitch], rstd.GetValue(r * UNIT), length);
        }
        rstdQueue.EnQue(rstd);
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }

    // Writes the row's rstd and returns it.
    __aicore__ inline float MeasureLongRow(uint64_t row)
    {
        LocalTensor<float> rstd = rstdQueue.AllocTensor<float>();
        float sum = 0;
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            CopyIn(row * length + at, 1, count);
            LocalTensor<DTYPE_X> x = xQueue.DeQue<DTYPE_X>();
            SumSquares(rstd, Widen(x, 1, count), 1, count);
            xQueue.FreeTensor(x);
            sum += rstd.GetValue(0);
        }
        Duplicate(rstd, sum, UNIT);
        Invert(rstd, 1);
        float factor = rstd.GetValue(0);
        rstdQueue.EnQue(rstd);
        CopyOutRstd(row, 1);
        return factor;
    }

    __aicore__ inline void WriteLongRow(uint64_t row, float factor)
    {
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            CopyIn(row * length + at, 1, count);
            LoadGamma(at, count);
            LocalTensor<DTYPE_X> x = xQueue.DeQue<DTYPE_X>();
            LocalTensor<DTYPE_X> y = yQueue.AllocTensor<DTYPE_X>();
            Normalise(y, Widen(x, 1, count), factor, count);
            yQueue.EnQue(y);
            xQueue.FreeTensor(x);
            gammaQueue.FreeTensor(gammaRaw);
            CopyOut(row * length + at, 1, count);
        }
    }

    // The sums of squares of rows of `count` elements, at every UNIT-th place of `sums`; zeros between them.
    __aicore__ inline void SumSquares(const LocalTensor<float> &sums, const LocalTensor<float> &wide, uint32_t rowCount,
                                      uint32_t count)
    {
        uint32_t pitch = RoundUp(count, ALIGN);
        LocalTensor<float> square = squareBuffer.Get<float>();
        Duplicate(sums, 0.0f, rowCount * UNIT);
        for (uint32_t r = 0; r < rowCount; r++) {
            Mul(square[r * pitch], wide[r * pitch], wide[r * pitch], count);
            ReduceSum(sums[r * UNIT], square[r * pitch], reduceBuffer.Get<float>(), count);
        }
    }

    // Sums of squares become rstd.
    __aicore__ inline void Invert(const LocalTensor<float> &sums, uint32_t rowCount)
    {
        uint32_t count = rowCount * UNIT;
        LocalTensor<float> one = squareBuffer.Get<float>();
        Duplicate(one, 1.0f, count);
        Muls(sums, sums, 1.0f / static_cast<float>(length), count);
        Adds(sums, sums, epsilon, count);
        Sqrt(sums, sums, count);
        Div(sums, one, sums, count);
    }

    // y = wide factor gamma, in place of `wide` where it is not y's type.
    __aicore__ inline void Normalise(const LocalTensor<DTYPE_X> &y, const LocalTensor<float> &wide, float factor,
                                     uint32_t count)
    {
        Muls(wide, wide, factor, count);
        Finish(y, wide, count);
    }

    template <typename T>
    __aicore__ inline void Finish(const LocalTensor<T> &y, const LocalTensor<float> &wide, uint32_t count)
    {
        if constexpr (std::is_same_v<T, float>) {
            Mul(y, wide, gammaWide, count);
        } else {
            Mul(wide, wide, gammaWide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
    }

    // x in float.
    template <typename T>
    __aicore__ inline LocalTensor<float> Widen(const LocalTensor<T> &x, uint32_t rowCount, uint32_t count)
    {
        if constexpr (std::is_same_v<T, float>) {
            return x;
        } else {
            uint32_t pitch = RoundUp(count, ALIGN);
            LocalTensor<float> wide = wideBuffer.Get<float>();
            for (uint32_t r = 0; r < rowCount; r++) {
                Cast(wide[r * pitch], x[r * pitch], RoundMode::CAST_NONE, count);
            }
            return wide;
        }
    }

    // Held until gammaRaw is freed.
    __aicore__ inline void LoadGamma(uint32_t at, uint32_t count)
    {
        gammaRaw = gammaQueue.AllocTensor<DTYPE_GAMMA>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_GAMMA)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_GAMMA> pad;
        DataCopyPad(gammaRaw, gammaGm[at], copy, pad);
        gammaQueue.EnQue(gammaRaw);
        gammaRaw = gammaQueue.DeQue<DTYPE_GAMMA>();
        WidenGamma(gammaRaw, count);
    }

    template <typename T> __aicore__ inline void WidenGamma(const LocalTensor<T> &raw, uint32_t count)
    {
        if constexpr (std::is_same_v<T, float>) {
            gammaWide = raw;
        } else {
            gammaWide = gammaBuffer.Get<float>();
            Cast(gammaWide, raw, RoundMode::CAST_NONE, count);
        }
    }

    __aicore__ inline void CopyIn(uint64_t at, uint32_t rowCount, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = xQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0,
                               0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        xQueue.EnQue(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t rowCount, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = yQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0,
                               0};
        DataCopyPad(yGm[at], y, copy);
        yQueue.FreeTensor(y);
    }

    // One float of every 32 bytes.
    __aicore__ inline void CopyOutRstd(uint64_t row, uint32_t rowCount)
    {
        LocalTensor<float> rstd = rstdQueue.DeQue<float>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), sizeof(float), 0, 0, 0};
        DataCopyPad(rstdGm[row], rstd, copy);
        rstdQueue.FreeTensor(rstd);
    }

    TQue<QuePosition::VECIN, 2> xQueue;
    TQue<QuePosition::VECIN, 1> gammaQueue;
    TQue<QuePosition::VECOUT, 2> yQueue, rstdQueue;
    TBuf<QuePosition::VECCALC> squareBuffer, reduceBuffer, wideBuffer, gammaBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    GlobalTensor<DTYPE_GAMMA> gammaGm;
    GlobalTensor<float> rstdGm;
    LocalTensor<DTYPE_GAMMA> gammaRaw;
    LocalTensor<float> gammaWide;
    uint64_t rows;
    uint32_t length, chunk, tileRows;
    float epsilon;
};

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd, GM_ADDR workspace,
                                               GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelRmsNorm op;
    op.Init(x, gamma, y, rstd, tilingData, &pipe);
    op.Process();
}
