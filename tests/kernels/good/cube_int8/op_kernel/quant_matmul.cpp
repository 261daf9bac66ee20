#include "kernel_operator.h"

using namespace AscendC;

// d (128 x 640) = a (128 x 1280) x b (1280 x 640) in int8, times a scale for each column and one for each row. The AIC of
// a block multiplies 32 columns into the workspace; its two AIVs scale 64 rows each.
constexpr uint32_t M = 128, K = 1280, N = 640, COLUMNS = 32, STEP = 128, FRACTAL = 512, ROWS = M / 2;
constexpr uint16_t SUMS_READY = 0;

class QuantProduct {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR sums)
    {
        uint32_t column = GetBlockIdx() * COLUMNS;
        aGm.SetGlobalBuffer((__gm__ int8_t *)a, M * K);
        bGm.SetGlobalBuffer((__gm__ int8_t *)b + column, K * N - column);
        sumGm.SetGlobalBuffer((__gm__ int32_t *)sums + GetBlockIdx() * M * COLUMNS, M * COLUMNS);
        pipe.InitBuffer(inA1, 2, M * STEP);
        pipe.InitBuffer(inB1, 2, STEP * COLUMNS);
        pipe.InitBuffer(inA2, 2, M * STEP);
        pipe.InitBuffer(inB2, 2, STEP * COLUMNS);
        pipe.InitBuffer(outC, 1, M * COLUMNS * sizeof(int32_t));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<int32_t> sums = outC.AllocTensor<int32_t>();
        for (uint32_t k = 0; k < K; k += STEP) {
            CopyIn(k);
            Split();
            LocalTensor<int8_t> a2 = inA2.DeQue<int8_t>(), b2 = inB2.DeQue<int8_t>();
            Mmad(sums, a2, b2, MmadParams(M, COLUMNS, STEP, 0, false, k == 0));
            inA2.FreeTensor(a2);
            inB2.FreeTensor(b2);
        }
        outC.EnQue(sums);
        sums = outC.DeQue<int32_t>();
        if (GetBlockIdx() % 2 == 0) {
            Fixpipe<int32_t, int32_t, CFG_ROW_MAJOR>(sumGm, sums, FixpipeParamsV220(COLUMNS, M, M, COLUMNS, false));
        } else { // the same in the words of CANN 8.1
            FixpipeParams<int32_t> bursts(COLUMNS / 16, M * 16 * sizeof(int32_t) / 32, 0, COLUMNS);
            bursts.nz2ndParams = Nz2NdParams(true, 1, 0, 0, COLUMNS);
            Fixpipe(sumGm, sums, bursts);
        }
        outC.FreeTensor(sums);
        CrossCoreSetFlag<2, PIPE_FIX>(SUMS_READY);
    }

private:
    __aicore__ inline void CopyIn(uint32_t k)
    {
        LocalTensor<int8_t> a1 = inA1.AllocTensor<int8_t>(), b1 = inB1.AllocTensor<int8_t>();
        DataCopy(a1, aGm[k], Nd2NzParams(1, M, STEP, 0, K, M, 1, 0));
        DataCopy(b1, bGm[k * N], Nd2NzParams(1, STEP, COLUMNS, 0, N, STEP, 1, 0));
        inA1.EnQue(a1);
        inB1.EnQue(b1);
    }
    __aicore__ inline void Split()
    {
        LocalTensor<int8_t> a1 = inA1.DeQue<int8_t>(), b1 = inB1.DeQue<int8_t>();
        LocalTensor<int8_t> a2 = inA2.AllocTensor<int8_t>(), b2 = inB2.AllocTensor<int8_t>();
        LoadData2DParams rows;
        rows.repeatTimes = STEP / 32;
        rows.srcStride = M / 16;
        for (uint32_t i = 0; i < M / 16; i++)
            LoadData(a2[i * rows.repeatTimes * FRACTAL], a1[i * FRACTAL], rows);
        LoadData2dTransposeParams squares(0, STEP / 32, 1, 1, 0); // 32 x 32, two fractals each
        LoadDataWithTranspose(b2, b1, squares);
        inA2.EnQue(a2);
        inB2.EnQue(b2);
        inA1.FreeTensor(a1);
        inB1.FreeTensor(b1);
    }

    TPipe pipe;
    TQue<TPosition::A1, 2> inA1;
    TQue<TPosition::B1, 2> inB1;
    TQue<TPosition::A2, 2> inA2;
    TQue<TPosition::B2, 2> inB2;
    TQue<TPosition::CO1, 1> outC;
    GlobalTensor<int8_t> aGm, bGm;
    GlobalTensor<int32_t> sumGm;
};

class Scaling {
public:
    __aicore__ inline void Init(GM_ADDR sums, GM_ADDR scale, GM_ADDR perToken, GM_ADDR d)
    {
        uint32_t block = GetBlockIdx() / 2, row = GetSubBlockIdx() * ROWS, column = block * COLUMNS;
        sumGm.SetGlobalBuffer((__gm__ int32_t *)sums + (block * M + row) * COLUMNS, ROWS * COLUMNS);
        scaleGm.SetGlobalBuffer((__gm__ half *)scale + column, COLUMNS);
        tokenGm.SetGlobalBuffer((__gm__ half *)perToken + row, ROWS);
        dGm.SetGlobalBuffer((__gm__ half *)d + row * N + column, (M - row) * N - column);
        pipe.InitBuffer(inSums, 1, ROWS * COLUMNS * sizeof(int32_t));
        pipe.InitBuffer(inScales, 1, (COLUMNS + ROWS) * sizeof(half));
        pipe.InitBuffer(outD, 1, ROWS * COLUMNS * sizeof(half));
        pipe.InitBuffer(numbers, ROWS * COLUMNS * sizeof(float));
        pipe.InitBuffer(factors, (COLUMNS + ROWS) * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<half> scales = inScales.AllocTensor<half>();
        DataCopy(scales, scaleGm, COLUMNS);
        DataCopy(scales[COLUMNS], tokenGm, ROWS);
        inScales.EnQue(scales);
        CrossCoreWaitFlag<2>(SUMS_READY);
        LocalTensor<int32_t> sums = inSums.AllocTensor<int32_t>();
        DataCopy(sums, sumGm, ROWS * COLUMNS);
        inSums.EnQue(sums);
        scales = inScales.DeQue<half>();
        sums = inSums.DeQue<int32_t>();
        LocalTensor<float> number = numbers.Get<float>(), factor = factors.Get<float>();
        Cast(number, sums, RoundMode::CAST_NONE, ROWS * COLUMNS);
        Cast(factor, scales, RoundMode::CAST_NONE, COLUMNS + ROWS);
        inSums.FreeTensor(sums);
        inScales.FreeTensor(scales);
        for (uint32_t i = 0; i < ROWS; i++) {
            Mul(number[i * COLUMNS], number[i * COLUMNS], factor, COLUMNS);
            Muls(number[i * COLUMNS], number[i * COLUMNS], factor.GetValue(COLUMNS + i), COLUMNS);
        }
        LocalTensor<half> d = outD.AllocTensor<half>();
        Cast(d, number, RoundMode::CAST_RINT, ROWS * COLUMNS);
        outD.EnQue(d);
        d = outD.DeQue<half>();
        DataCopy(dGm, d, DataCopyParams(ROWS, COLUMNS / 16, 0, (N - COLUMNS) / 16));
        outD.FreeTensor(d);
    }

private:
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inSums, inScales;
    TQue<TPosition::VECOUT, 1> outD;
    TBuf<TPosition::VECCALC> numbers, factors;
    GlobalTensor<int32_t> sumGm;
    GlobalTensor<half> scaleGm, tokenGm, dGm;
};

extern "C" __global__ __aicore__ void quant_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR scale, GM_ADDR perTokenScale,
                                                   GM_ADDR d, GM_ADDR workspace, GM_ADDR tiling)
{
    GM_ADDR sums = GetUserWorkspace(workspace);
    if ASCEND_IS_AIC {
        QuantProduct product;
        product.Init(a, b, sums);
        product.Process();
    }
    if ASCEND_IS_AIV {
        Scaling scaling;
        scaling.Init(sums, scale, perTokenScale, d);
        scaling.Process();
    }
}
