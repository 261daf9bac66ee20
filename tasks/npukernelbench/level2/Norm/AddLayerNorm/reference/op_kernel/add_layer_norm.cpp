// x = x1 + x2 + bias, y = (x - mean) rstd gamma + beta with rstd = 1 / sqrt(variance + epsilon), row by row, in float.
// Every block takes consecutive rows. As many rows as fit into UB make a tile, what belongs to every row being loaded
// once; a row that does not fit comes in chunks, twice: for mean and variance, then for x and y.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t UNIT_BYTES = 32;
constexpr uint32_t UNIT = UNIT_BYTES / sizeof(float); // a row's place among the statistics
constexpr uint32_t REPEAT = 256 / sizeof(float);      // floats that ReduceSum adds to one at a time
// Elements: rows of a tile start at multiples, which are whole 32-byte units of both inputs' types.
constexpr uint32_t ALIGN = UNIT_BYTES / (sizeof(DTYPE_X1) < sizeof(DTYPE_X2) ? sizeof(DTYPE_X1) : sizeof(DTYPE_X2));
enum Bias : uint32_t { BIAS_ABSENT, BIAS_FULL, BIAS_ROW };
using TypeY = DTYPE_Y; // of bias, y and x

__aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// Whole 32-byte units between the end of a row of `count` elements in UB and the start of the next.
template <typename T> __aicore__ inline uint32_t Gap(uint32_t count)
{
    return (RoundUp(count, ALIGN) * sizeof(T) - RoundUp(count * sizeof(T), UNIT_BYTES)) / UNIT_BYTES;
}

class KernelAddLayerNorm {
public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR gamma, GM_ADDR beta, GM_ADDR bias, GM_ADDR y,
                                GM_ADDR mean, GM_ADDR rstd, GM_ADDR x, const AddLayerNormTilingData &tiling,
                                TPipe *pipe)
    {
        uint64_t begin = tiling.rowsPerBlock * GetBlockIdx();
        uint64_t left = tiling.rows - begin;
        rows = left < tiling.rowsPerBlock ? left : tiling.rowsPerBlock;
        length = tiling.length;
        chunk = tiling.chunk;
        tileRows = tiling.tileRows;
        biasKind = tiling.bias;
        writeX = tiling.writeX;
        epsilon = tiling.epsilon;
        uint64_t offset = begin * length, size = rows * length;
        x1Gm.SetGlobalBuffer((__gm__ DTYPE_X1 *)x1 + offset, size);
        x2Gm.SetGlobalBuffer((__gm__ DTYPE_X2 *)x2 + offset, size);
        gammaGm.SetGlobalBuffer((__gm__ DTYPE_GAMMA *)gamma, length);
        betaGm.SetGlobalBuffer((__gm__ DTYPE_GAMMA *)beta, length);
        bool biasFull = biasKind == BIAS_FULL;
        biasGm.SetGlobalBuffer((__gm__ TypeY *)bias + (biasFull ? offset : 0), biasFull ? size : length);
        yGm.SetGlobalBuffer((__gm__ TypeY *)y + offset, size);
        xGm.SetGlobalBuffer((__gm__ TypeY *)x + offset, size);
        meanGm.SetGlobalBuffer((__gm__ float *)mean + begin, rows);
        rstdGm.SetGlobalBuffer((__gm__ float *)rstd + begin, rows);
        InitBuffers(pipe);
    }

    __aicore__ inline void Process()
    {
        if (chunk == length) {
            ProcessTiles();
            return;
        }
        for (uint64_t row = 0; row < rows; row++) {
            float mean, rstd;
            MeasureLongRow(row, mean, rstd);
            WriteLongRow(row, mean, rstd);
        }
    }

private:
    __aicore__ inline void InitBuffers(TPipe *pipe)
    {
        uint32_t row = RoundUp(chunk, ALIGN);
        uint32_t tile = tileRows * row;
        pipe->InitBuffer(x1Queue, 2, tile * sizeof(DTYPE_X1));
        pipe->InitBuffer(x2Queue, 2, tile * sizeof(DTYPE_X2));
        pipe->InitBuffer(yQueue, 2, tile * sizeof(TypeY));
        pipe->InitBuffer(meanQueue, 2, tileRows * UNIT_BYTES);
        pipe->InitBuffer(rstdQueue, 2, tileRows * UNIT_BYTES);
        pipe->InitBuffer(weightQueue, 1, row * sizeof(float));
        pipe->InitBuffer(gammaBuffer, row * sizeof(float));
        pipe->InitBuffer(betaBuffer, row * sizeof(float));
        pipe->InitBuffer(sumBuffer, tile * sizeof(float));
        pipe->InitBuffer(workBuffer, tile * sizeof(float));
        pipe->InitBuffer(reduceBuffer, RoundUp(chunk / REPEAT + 1, UNIT) * sizeof(float));
        if (biasKind == BIAS_FULL) {
            pipe->InitBuffer(biasQueue, 2, tile * sizeof(TypeY));
        } else if (biasKind == BIAS_ROW) {
            pipe->InitBuffer(biasBuffer, row * sizeof(float));
        }
        if (writeX) {
            pipe->InitBuffer(xQueue, 2, tile * sizeof(TypeY));
        }
    }

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
        LoadBiasRow(0, length);
        LoadWeights(0, length);
        CopyIn(0, TileRows(0), length);
        for (uint64_t row = 0; row < rows; row += tileRows) {
            uint64_t next = row + tileRows;
            if (next < rows) {
                CopyIn(next * length, TileRows(next), length);
            }
            uint32_t count = TileRows(row);
            AddInputs(count, length);
            WriteX(row * length, count, length);
            NormaliseTile(row, count);
        }
    }

    __aicore__ inline void NormaliseTile(uint64_t row, uint32_t count)
    {
        uint32_t pitch = RoundUp(length, ALIGN);
        LocalTensor<float> sum = sumBuffer.Get<float>();
        LocalTensor<float> mean = meanQueue.AllocTensor<float>();
        LocalTensor<float> rstd = rstdQueue.AllocTensor<float>();
        Duplicate(mean, 0.0f, count * UNIT);
        Duplicate(rstd, 0.0f, count * UNIT);
        for (uint32_t r = 0; r < count; r++) {
            ReduceSum(mean[r * UNIT], sum[r * pitch], reduceBuffer.Get<float>(), length);
        }
        Muls(mean, mean, 1.0f / static_cast<float>(length), count * UNIT);
        for (uint32_t r = 0; r < count; r++) {
            SumSquares(rstd[r * UNIT], sum[r * pitch], mean.GetValue(r * UNIT), length);
        }
        Invert(rstd, count);
        LocalTensor<TypeY> y = yQueue.AllocTensor<TypeY>();
        for (uint32_t r = 0; r < count; r++) {
            Scale(y[r * pitch], sum[r * pitch], rstd.GetValue(r * UNIT), length);
        }
        yQueue.EnQue(y);
        meanQueue.EnQue(mean);
        rstdQueue.EnQue(rstd);
        CopyOut(yQueue, yGm, row * length, count, length);
        CopyOutStatistics(row, count);
    }

    // Mean and sum of squares chunk by chunk, joined by the formula of Chan, Golub and LeVeque (1979). Writes mean and
    // rstd.
    __aicore__ inline void MeasureLongRow(uint64_t row, float &meanOfRow, float &rstdOfRow)
    {
        LocalTensor<float> sum = sumBuffer.Get<float>();
        LocalTensor<float> mean = meanQueue.AllocTensor<float>();
        LocalTensor<float> rstd = rstdQueue.AllocTensor<float>();
        float squares = 0;
        meanOfRow = 0;
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            LoadBiasRow(at, count);
            CopyIn(row * length + at, 1, count);
            AddInputs(1, count);
            ReduceSum(mean, sum, reduceBuffer.Get<float>(), count);
            float chunkMean = mean.GetValue(0) / static_cast<float>(count);
            SumSquares(rstd, sum, chunkMean, count);
            float share = static_cast<float>(count) / static_cast<float>(at + count);
            float difference = chunkMean - meanOfRow;
            meanOfRow += difference * share;
            squares += rstd.GetValue(0) + difference * difference * static_cast<float>(at) * share;
        }
        Duplicate(mean, meanOfRow, UNIT);
        Duplicate(rstd, squares, UNIT);
        Invert(rstd, 1);
        rstdOfRow = rstd.GetValue(0);
        meanQueue.EnQue(mean);
        rstdQueue.EnQue(rstd);
        CopyOutStatistics(row, 1);
    }

    __aicore__ inline void WriteLongRow(uint64_t row, float mean, float rstd)
    {
        LocalTensor<float> sum = sumBuffer.Get<float>();
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            uint64_t place = row * length + at;
            LoadBiasRow(at, count);
            LoadWeights(at, count);
            CopyIn(place, 1, count);
            AddInputs(1, count);
            WriteX(place, 1, count);
            Adds(sum, sum, -mean, count);
            LocalTensor<TypeY> y = yQueue.AllocTensor<TypeY>();
            Scale(y, sum, rstd, count);
            yQueue.EnQue(y);
            CopyOut(yQueue, yGm, place, 1, count);
        }
    }

    // sumBuffer = x1 + x2 + bias, `rowCount` rows of `count` elements.
    __aicore__ inline void AddInputs(uint32_t rowCount, uint32_t count)
    {
        uint32_t pitch = RoundUp(count, ALIGN);
        LocalTensor<float> sum = sumBuffer.Get<float>();
        LocalTensor<float> work = workBuffer.Get<float>();
        LocalTensor<DTYPE_X1> x1 = x1Queue.DeQue<DTYPE_X1>();
        LocalTensor<DTYPE_X2> x2 = x2Queue.DeQue<DTYPE_X2>();
        for (uint32_t at = 0; at < rowCount * pitch; at += pitch) {
            Add(sum[at], Widen(x1[at], sum[at], count), Widen(x2[at], work[at], count), count);
        }
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
        if (biasKind == BIAS_FULL) {
            LocalTensor<TypeY> bias = biasQueue.DeQue<TypeY>();
            for (uint32_t at = 0; at < rowCount * pitch; at += pitch) {
                Add(sum[at], sum[at], Widen(bias[at], work[at], count), count);
            }
            biasQueue.FreeTensor(bias);
        } else if (biasKind == BIAS_ROW) {
            for (uint32_t at = 0; at < rowCount * pitch; at += pitch) {
                Add(sum[at], sum[at], biasBuffer.Get<float>(), count);
            }
        }
    }

    __aicore__ inline void WriteX(uint64_t place, uint32_t rowCount, uint32_t count)
    {
        if (!writeX) {
            return;
        }
        uint32_t pitch = RoundUp(count, ALIGN);
        LocalTensor<float> sum = sumBuffer.Get<float>();
        LocalTensor<TypeY> x = xQueue.AllocTensor<TypeY>();
        for (uint32_t at = 0; at < rowCount * pitch; at += pitch) {
            Narrow(x[at], sum[at], count);
        }
        xQueue.EnQue(x);
        CopyOut(xQueue, xGm, place, rowCount, count);
    }

    // Takes the mean off the values; squares[0] is the sum of their squares then.
    __aicore__ inline void SumSquares(const LocalTensor<float> &squares, const LocalTensor<float> &values, float mean,
                                      uint32_t count)
    {
        LocalTensor<float> work = workBuffer.Get<float>();
        Adds(values, values, -mean, count);
        Mul(work, values, values, count);
        ReduceSum(squares, work, reduceBuffer.Get<float>(), count);
    }

    // Sums of squares become rstd.
    __aicore__ inline void Invert(const LocalTensor<float> &squares, uint32_t rowCount)
    {
        uint32_t count = rowCount * UNIT;
        LocalTensor<float> one = workBuffer.Get<float>();
        Duplicate(one, 1.0f, count);
        Muls(squares, squares, 1.0f / static_cast<float>(length), count);
        Adds(squares, squares, epsilon, count);
        Sqrt(squares, squares, count);
        Div(squares, one, squares, count);
    }

    // y = values rstd gamma + beta; changes the values.
    __aicore__ inline void Scale(const LocalTensor<TypeY> &y, const LocalTensor<float> &values, float rstd,
                                 uint32_t count)
    {
        Muls(values, values, rstd, count);
        Mul(values, values, gammaBuffer.Get<float>(), count);
        Add(values, values, betaBuffer.Get<float>(), count);
        Narrow(y, values, count);
    }

    // The values in float: themselves or, of another type, converted into `wide`.
    template <typename T>
    __aicore__ inline LocalTensor<float> Widen(const LocalTensor<T> &values, const LocalTensor<float> &wide,
                                               uint32_t count)
    {
        if constexpr (std::is_same_v<T, float>) {
            return values;
        } else {
            Cast(wide, values, RoundMode::CAST_NONE, count);
            return wide;
        }
    }

    template <typename T>
    __aicore__ inline void Narrow(const LocalTensor<T> &narrow, const LocalTensor<float> &values, uint32_t count)
    {
        if constexpr (std::is_same_v<T, float>) {
            Muls(narrow, values, 1.0f, count); // a copy of exactly so many elements
        } else {
            Cast(narrow, values, RoundMode::CAST_RINT, count);
        }
    }

    __aicore__ inline void LoadWeights(uint32_t at, uint32_t count)
    {
        LoadRow(gammaBuffer.Get<float>(), gammaGm[at], count);
        LoadRow(betaBuffer.Get<float>(), betaGm[at], count);
    }

    __aicore__ inline void LoadBiasRow(uint32_t at, uint32_t count)
    {
        if (biasKind == BIAS_ROW) {
            LoadRow(biasBuffer.Get<float>(), biasGm[at], count);
        }
    }

    template <typename T>
    __aicore__ inline void LoadRow(const LocalTensor<float> &wide, const GlobalTensor<T> &source, uint32_t count)
    {
        LocalTensor<T> row = weightQueue.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(row, source, copy, pad);
        weightQueue.EnQue(row);
        row = weightQueue.DeQue<T>();
        if constexpr (std::is_same_v<T, float>) {
            Muls(wide, row, 1.0f, count);
        } else {
            Cast(wide, row, RoundMode::CAST_NONE, count);
        }
        weightQueue.FreeTensor(row);
    }

    __aicore__ inline void CopyIn(uint64_t place, uint32_t rowCount, uint32_t count)
    {
        CopyRows(x1Queue, x1Gm, place, rowCount, count);
        CopyRows(x2Queue, x2Gm, place, rowCount, count);
        if (biasKind == BIAS_FULL) {
            CopyRows(biasQueue, biasGm, place, rowCount, count);
        }
    }

    template <typename Queue, typename T>
    __aicore__ inline void CopyRows(Queue &queue, const GlobalTensor<T> &source, uint64_t place, uint32_t rowCount,
                                    uint32_t count)
    {
        LocalTensor<T> tile = queue.template AllocTensor<T>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(T)), 0,
                               Gap<T>(count), 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(tile, source[place], copy, pad);
        queue.EnQue(tile);
    }

    template <typename Queue, typename T>
    __aicore__ inline void CopyOut(Queue &queue, const GlobalTensor<T> &target, uint64_t place, uint32_t rowCount,
                                   uint32_t count)
    {
        LocalTensor<T> tile = queue.template DeQue<T>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(T)), Gap<T>(count),
                               0, 0};
        DataCopyPad(target[place], tile, copy);
        queue.FreeTensor(tile);
    }

    // One float of every 32 bytes.
    __aicore__ inline void CopyOutStatistics(uint64_t row, uint32_t rowCount)
    {
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), sizeof(float), 0, 0, 0};
        LocalTensor<float> mean = meanQueue.DeQue<float>();
        LocalTensor<float> rstd = rstdQueue.DeQue<float>();
        DataCopyPad(meanGm[row], mean, copy);
        DataCopyPad(rstdGm[row], rstd, copy);
        meanQueue.FreeTensor(mean);
        rstdQueue.FreeTensor(rstd);
    }

    TQue<QuePosition::VECIN, 2> x1Queue, x2Queue, biasQueue;
    TQue<QuePosition::VECIN, 1> weightQueue;
    TQue<QuePosition::VECOUT, 2> yQueue, xQueue, meanQueue, rstdQueue;
    TBuf<QuePosition::VECCALC> gammaBuffer, betaBuffer, biasBuffer, sumBuffer, workBuffer, reduceBuffer;
    GlobalTensor<DTYPE_X1> x1Gm;
    GlobalTensor<DTYPE_X2> x2Gm;
    GlobalTensor<DTYPE_GAMMA> gammaGm, betaGm;
    GlobalTensor<TypeY> biasGm, yGm, xGm;
    GlobalTensor<float> meanGm, rstdGm;
    uint64_t rows;
    uint32_t length, chunk, tileRows, biasKind, writeX;
    float epsilon;
};

extern "C" __global__ __aicore__ void add_layer_norm(GM_ADDR x1, GM_ADDR x2, GM_ADDR gamma, GM_ADDR beta, GM_ADDR bias,
                                                     GM_ADDR y, GM_ADDR mean, GM_ADDR rstd, GM_ADDR x,
                                                     GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelAddLayerNorm op;
    op.Init(x1, x2, gamma, beta, bias, y, mean, rstd, x, tilingData, &pipe);
    op.Process();
}
