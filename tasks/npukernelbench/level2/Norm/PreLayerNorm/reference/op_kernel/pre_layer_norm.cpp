// s = x + y, res_out = (s - mean(s)) / sqrt(variance(s) + epsilon) gamma + beta, row by row. Every block takes
// consecutive rows. As many rows as fit into UB make a tile, gamma and beta being loaded once; a row that does not fit
// comes in chunks, twice: for mean and variance, then for the result.
#include "kernel_operator.h"

using namespace AscendC;

// floats in 32 bytes: alignment of a row, a row's place among the statistics
constexpr uint32_t UNIT = 8;
constexpr uint32_t REPEAT = 256 / sizeof(float); // floats that ReduceSum adds to one at a time

__aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

class KernelPreLayerNorm {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR gamma, GM_ADDR beta, GM_ADDR resOut,
                                const PreLayerNormTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.rowsPerBlock * GetBlockIdx();
        uint64_t left = tiling.rows - begin;
        rows = left < tiling.rowsPerBlock ? left : tiling.rowsPerBlock;
        length = tiling.length;
        chunk = tiling.chunk;
        tileRows = tiling.tileRows;
        epsilon = tiling.epsilon;
        xGm.SetGlobalBuffer((__gm__ float *)x + begin * length, rows * length);
        yGm.SetGlobalBuffer((__gm__ float *)y + begin * length, rows * length);
        gammaGm.SetGlobalBuffer((__gm__ float *)gamma, length);
        betaGm.SetGlobalBuffer((__gm__ float *)beta, length);
        resultGm.SetGlobalBuffer((__gm__ float *)resOut + begin * length, rows * length);

        uint32_t rowBytes = RoundUp(chunk, UNIT) * sizeof(float);
        pipe->InitBuffer(xQueue, 2, tileRows * rowBytes);
        pipe->InitBuffer(yQueue, 2, tileRows * rowBytes);
        pipe->InitBuffer(resultQueue, 2, tileRows * rowBytes);
        pipe->InitBuffer(gammaQueue, 1, rowBytes);
        pipe->InitBuffer(betaQueue, 1, rowBytes);
        pipe->InitBuffer(meanBuffer, tileRows * UNIT * sizeof(float));
        pipe->InitBuffer(rstdBuffer, tileRows * UNIT * sizeof(float));
        pipe->InitBuffer(reduceBuffer, RoundUp(chunk / REPEAT + 1, UNIT) * sizeof(float));
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
        LoadWeights(0, length);
        CopyIn(0, TileRows(0), length);
        for (uint64_t row = 0; row < rows; row += tileRows) {
            uint64_t next = row + tileRows;
            if (next < rows) {
                CopyIn(next * length, TileRows(next), length);
            }
            uint32_t count = TileRows(row);
            ComputeTile(count);
            CopyOut(row * length, count, length);
        }
        FreeWeights();
    }

    __aicore__ inline void ComputeTile(uint32_t count)
    {
        uint32_t pitch = RoundUp(length, UNIT);
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.DeQue<float>();
        LocalTensor<float> result = resultQueue.AllocTensor<float>();
        LocalTensor<float> mean = meanBuffer.Get<float>();
        LocalTensor<float> rstd = rstdBuffer.Get<float>();
        Duplicate(mean, 0.0f, count * UNIT);
        Duplicate(rstd, 0.0f, count * UNIT);
        for (uint32_t r = 0; r < count; r++) {
            Add(result[r * pitch], x[r * pitch], y[r * pitch], length);
            ReduceSum(mean[r * UNIT], result[r * pitch], reduceBuffer.Get<float>(), length);
        }
        Muls(mean, mean, 1.0f / static_cast<float>(length), count * UNIT);
        for (uint32_t r = 0; r < count; r++) { // x has been used: its place takes the squares
            SumSquares(rstd[r * UNIT], result[r * pitch], x[r * pitch], mean.GetValue(r * UNIT), length);
        }
        Invert(rstd, x, count);
        for (uint32_t r = 0; r < count; r++) {
            Scale(result[r * pitch], rstd.GetValue(r * UNIT), length);
        }
        resultQueue.EnQue(result);
        xQueue.FreeTensor(x);
        yQueue.FreeTensor(y);
    }

    // Mean and sum of squares chunk by chunk, joined by the formula of Chan, Golub and LeVeque (1979).
    __aicore__ inline void MeasureLongRow(uint64_t row, float &mean, float &rstdOfRow)
    {
        LocalTensor<float> sum = meanBuffer.Get<float>();
        LocalTensor<float> rstd = rstdBuffer.Get<float>();
        float squares = 0;
        mean = 0;
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            CopyIn(row * length + at, 1, count);
            LocalTensor<float> x = xQueue.DeQue<float>();
            LocalTensor<float> y = yQueue.DeQue<float>();
            Add(x, x, y, count);
            ReduceSum(sum, x, reduceBuffer.Get<float>(), count);
            float chunkMean = sum.GetValue(0) / static_cast<float>(count);
            SumSquares(rstd, x, y, chunkMean, count);
            xQueue.FreeTensor(x);
            yQueue.FreeTensor(y);
            float share = static_cast<float>(count) / static_cast<float>(at + count);
            float difference = chunkMean - mean;
            mean += difference * share;
            squares += rstd.GetValue(0) + difference * difference * static_cast<float>(at) * share;
        }
        Duplicate(rstd, squares, UNIT);
        Invert(rstd, sum, 1);
        rstdOfRow = rstd.GetValue(0);
    }

    __aicore__ inline void WriteLongRow(uint64_t row, float mean, float rstd)
    {
        for (uint32_t at = 0; at < length; at += chunk) {
            uint32_t count = ChunkCount(at);
            CopyIn(row * length + at, 1, count);
            LoadWeights(at, count);
            LocalTensor<float> x = xQueue.DeQue<float>();
            LocalTensor<float> y = yQueue.DeQue<float>();
            LocalTensor<float> result = resultQueue.AllocTensor<float>();
            Add(result, x, y, count);
            xQueue.FreeTensor(x);
            yQueue.FreeTensor(y);
            Adds(result, result, -mean, count);
            Scale(result, rstd, count);
            resultQueue.EnQue(result);
            FreeWeights();
            CopyOut(row * length + at, 1, count);
        }
    }

    // Takes the mean off the values; squares[0] is the sum of their squares then.
    __aicore__ inline void SumSquares(const LocalTensor<float> &squares, const LocalTensor<float> &values,
                                      const LocalTensor<float> &scratch, float mean, uint32_t count)
    {
        Adds(values, values, -mean, count);
        Mul(scratch, values, values, count);
        ReduceSum(squares, scratch, reduceBuffer.Get<float>(), count);
    }

    // Sums of squares become rstd. scratch has room for as many floats.
    __aicore__ inline void Invert(const LocalTensor<float> &squares, const LocalTensor<float> &scratch,
                                  uint32_t rowCount)
    {
        uint32_t count = rowCount * UNIT;
        Duplicate(scratch, 1.0f, count);
        Muls(squares, squares, 1.0f / static_cast<float>(length), count);
        Adds(squares, squares, epsilon, count);
        Sqrt(squares, squares, count);
        Div(squares, scratch, squares, count);
    }

    __aicore__ inline void Scale(const LocalTensor<float> &values, float rstd, uint32_t count)
    {
        Muls(values, values, rstd, count);
        Mul(values, values, gamma, count);
        Add(values, values, beta, count);
    }

    __aicore__ inline void LoadWeights(uint32_t at, uint32_t count)
    {
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad;
        gamma = gammaQueue.AllocTensor<float>();
        beta = betaQueue.AllocTensor<float>();
        DataCopyPad(gamma, gammaGm[at], copy, pad);
        DataCopyPad(beta, betaGm[at], copy, pad);
        gammaQueue.EnQue(gamma);
        betaQueue.EnQue(beta);
        gamma = gammaQueue.DeQue<float>();
        beta = betaQueue.DeQue<float>();
    }

    __aicore__ inline void FreeWeights()
    {
        gammaQueue.FreeTensor(gamma);
        betaQueue.FreeTensor(beta);
    }

    __aicore__ inline void CopyIn(uint64_t at, uint32_t rowCount, uint32_t count)
    {
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad;
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        DataCopyPad(x, xGm[at], copy, pad);
        DataCopyPad(y, yGm[at], copy, pad);
        xQueue.EnQue(x);
        yQueue.EnQue(y);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t rowCount, uint32_t count)
    {
        LocalTensor<float> result = resultQueue.DeQue<float>();
        DataCopyExtParams copy{static_cast<uint16_t>(rowCount), static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        DataCopyPad(resultGm[at], result, copy);
        resultQueue.FreeTensor(result);
    }

    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TQue<QuePosition::VECIN, 1> gammaQueue, betaQueue;
    TQue<QuePosition::VECOUT, 2> resultQueue;
    TBuf<QuePosition::VECCALC> meanBuffer, rstdBuffer, reduceBuffer;
    GlobalTensor<float> xGm, yGm, gammaGm, betaGm, resultGm;
    LocalTensor<float> gamma, beta; // between LoadWeights and FreeWeights
    uint64_t rows;
    uint32_t length, chunk, tileRows;
    float epsilon;
};

extern "C" __global__ __aicore__ void pre_layer_norm(GM_ADDR x, GM_ADDR y, GM_ADDR gamma, GM_ADDR beta, GM_ADDR res_out,
                                                     GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelPreLayerNorm op;
    op.Init(x, y, gamma, beta, res_out, tilingData, &pipe);
    op.Process();
}
