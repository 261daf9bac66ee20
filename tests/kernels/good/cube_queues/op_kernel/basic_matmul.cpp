#include "kernel_operator.h"

using namespace AscendC;

// c (128 x 640) = a (128 x 1280) x b (1280 x 640): every block computes 32 columns in steps of 128 along k, with queues
// between all stages.
constexpr uint32_t M = 128, K = 1280, N = 640, COLUMNS = 32, STEP = 128, FRACTAL = 16;

class Matmul32 {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c)
    {
        aGm.SetGlobalBuffer((__gm__ half *)a, M * K);
        bGm.SetGlobalBuffer((__gm__ half *)b + GetBlockIdx() * COLUMNS, K * N - GetBlockIdx() * COLUMNS);
        cGm.SetGlobalBuffer((__gm__ half *)c + GetBlockIdx() * COLUMNS, M * N - GetBlockIdx() * COLUMNS);
        pipe.InitBuffer(inA1, 2, M * STEP * sizeof(half));
        pipe.InitBuffer(inB1, 2, STEP * COLUMNS * sizeof(half));
        pipe.InitBuffer(inA2, 2, M * STEP * sizeof(half));
        pipe.InitBuffer(inB2, 2, STEP * COLUMNS * sizeof(half));
        pipe.InitBuffer(outC, 1, M * COLUMNS * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> c = outC.AllocTensor<float>();
        for (uint32_t k = 0; k < K; k += STEP) {
            CopyIn(k);
            Split();
            Multiply(c, k == 0);
        }
        outC.EnQue(c);
        CopyOut();
    }

private:
    __aicore__ inline void CopyIn(uint32_t k)
    {
        LocalTensor<half> a1 = inA1.AllocTensor<half>(), b1 = inB1.AllocTensor<half>();
        DataCopy(a1, aGm[k], Nd2NzParams(1, M, STEP, 0, K, M, 1, 0));
        DataCopy(b1, bGm[k * N], Nd2NzParams(1, STEP, COLUMNS, 0, N, STEP, 1, 0));
        inA1.EnQue(a1);
        inB1.EnQue(b1);
    }
    __aicore__ inline void Split()
    {
        LocalTensor<half> a1 = inA1.DeQue<half>(), b1 = inB1.DeQue<half>();
        LocalTensor<half> a2 = inA2.AllocTensor<half>(), b2 = inB2.AllocTensor<half>();
        LoadData2DParams rows; // Nz to Zz
        rows.repeatTimes = STEP / FRACTAL;
        rows.srcStride = M / FRACTAL;
        for (uint32_t i = 0; i < M / FRACTAL; i++)
            LoadData(a2[i * STEP * FRACTAL], a1[i * FRACTAL * FRACTAL], rows);
        LoadData2DParams columns; // Nz to Zn
        columns.repeatTimes = COLUMNS / FRACTAL;
        columns.srcStride = STEP / FRACTAL;
        columns.ifTranspose = true;
        for (uint32_t i = 0; i < STEP / FRACTAL; i++)
            LoadData(b2[i * COLUMNS * FRACTAL], b1[i * FRACTAL * FRACTAL], columns);
        inA2.EnQue(a2);
        inB2.EnQue(b2);
        inA1.FreeTensor(a1);
        inB1.FreeTensor(b1);
    }
    __aicore__ inline void Multiply(const LocalTensor<float> &c, bool first)
    {
        LocalTensor<half> a2 = inA2.DeQue<half>(), b2 = inB2.DeQue<half>();
        MmadParams params;
        params.m = M;
        params.n = COLUMNS;
        params.k = STEP;
        params.cmatrixInitVal = first;
        Mmad(c, a2, b2, params);
        inA2.FreeTensor(a2);
        inB2.FreeTensor(b2);
    }
    __aicore__ inline void CopyOut()
    {
        LocalTensor<float> c = outC.DeQue<float>();
        FixpipeParamsV220 params(COLUMNS, M, M, N, false);
        params.quantPre = QuantMode_t::F322F16;
        Fixpipe<half, float, CFG_ROW_MAJOR>(cGm, c, params);
        outC.FreeTensor(c);
    }

    TPipe pipe;
    TQue<TPosition::A1, 2> inA1;
    TQue<TPosition::B1, 2> inB1;
    TQue<TPosition::A2, 2> inA2;
    TQue<TPosition::B2, 2> inB2;
    TQue<TPosition::CO1, 1> outC;
    GlobalTensor<half> aGm, bGm, cGm;
};

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    Matmul32 op;
    op.Init(a, b, c);
    op.Process();
}
