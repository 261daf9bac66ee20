#include "kernel_operator.h"

using namespace AscendC;

// The first Mmad adds to what nobody has put into L0C.
constexpr uint32_t M = 128, K = 1280, N = 640, COLUMNS = 32, STEP = 128, FRACTAL = 16;

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> bufferA1, bufferB1;
    TBuf<TPosition::A2> bufferA2;
    TBuf<TPosition::B2> bufferB2;
    TBuf<TPosition::CO1> bufferC;
    pipe.InitBuffer(bufferA1, M * STEP * sizeof(half));
    pipe.InitBuffer(bufferB1, STEP * COLUMNS * sizeof(half));
    pipe.InitBuffer(bufferA2, M * STEP * sizeof(half));
    pipe.InitBuffer(bufferB2, STEP * COLUMNS * sizeof(half));
    pipe.InitBuffer(bufferC, M * COLUMNS * sizeof(float));
    LocalTensor<half> a1 = bufferA1.Get<half>(), b1 = bufferB1.Get<half>(), a2 = bufferA2.Get<half>(),
                      b2 = bufferB2.Get<half>();
    LocalTensor<float> sum = bufferC.Get<float>();
    GlobalTensor<half> aGm, bGm, cGm;
    aGm.SetGlobalBuffer((__gm__ half *)a, M * K);
    bGm.SetGlobalBuffer((__gm__ half *)b + GetBlockIdx() * COLUMNS, K * N - GetBlockIdx() * COLUMNS);
    cGm.SetGlobalBuffer((__gm__ half *)c + GetBlockIdx() * COLUMNS, M * N - GetBlockIdx() * COLUMNS);
    LoadData2DParams rows, columns;
    rows.repeatTimes = STEP / FRACTAL;
    rows.srcStride = M / FRACTAL;
    columns.repeatTimes = COLUMNS / FRACTAL;
    columns.srcStride = STEP / FRACTAL;
    columns.ifTranspose = true;
    SetFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::M_MTE1>(EVENT_ID0);
    for (uint32_t k = 0; k < K; k += STEP) {
        WaitFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        DataCopy(a1, aGm[k], Nd2NzParams(1, M, STEP, 0, K, M, 1, 0));
        DataCopy(b1, bGm[k * N], Nd2NzParams(1, STEP, COLUMNS, 0, N, STEP, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
        for (uint32_t i = 0; i < M / FRACTAL; i++)
            LoadData(a2[i * STEP * FRACTAL], a1[i * FRACTAL * FRACTAL], rows);
        for (uint32_t i = 0; i < STEP / FRACTAL; i++)
            LoadData(b2[i * COLUMNS * FRACTAL], b1[i * FRACTAL * FRACTAL], columns);
        SetFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
        WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
        Mmad(sum, a2, b2, MmadParams(M, COLUMNS, STEP, 0, false, false)); // OTHER:
        SetFlag<HardEvent::M_MTE1>(EVENT_ID0);
    }
    WaitFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
    SetFlag<HardEvent::M_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
    FixpipeParamsV220 out(COLUMNS, M, M, N, false);
    out.quantPre = QuantMode_t::F322F16;
    Fixpipe<half, float, CFG_ROW_MAJOR>(cGm, sum, out); // BUG: undefined_output
}
