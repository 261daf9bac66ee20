#include "kernel_operator.h"

using namespace AscendC;

// c (128 x 640) = a (128 x 1280) x b (1280 x 640): every block computes 32 columns, 16 at a time, in steps of 64 along k. Two
// slots in L1 and in L0A and L0B, so that loading, splitting and multiplying overlap; a and b have flags of their own. The
// Mmads are too small to wait for each other, and L0C is used again for the second 16 columns.
constexpr uint32_t M = 128, K = 1280, N = 640, COLUMNS = 32, GROUP = 16, STEP = 64, FRACTAL = 16, SLOTS = 2;
constexpr int32_t A = 0, B = SLOTS; // event ids, one per slot from here on

class KernelMatmul {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c)
    {
        uint32_t first = GetBlockIdx() * COLUMNS;
        aGm.SetGlobalBuffer((__gm__ half *)a, M * K);
        bGm.SetGlobalBuffer((__gm__ half *)b + first, K * N - first);
        cGm.SetGlobalBuffer((__gm__ half *)c + first, M * N - first);
        pipe.InitBuffer(bufferA1, SLOTS * M * STEP * sizeof(half));
        pipe.InitBuffer(bufferB1, SLOTS * STEP * GROUP * sizeof(half));
        pipe.InitBuffer(bufferA2, SLOTS * M * STEP * sizeof(half));
        pipe.InitBuffer(bufferB2, SLOTS * STEP * GROUP * sizeof(half));
        pipe.InitBuffer(bufferC, M * GROUP * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (int32_t slot = 0; slot < (int32_t)SLOTS; slot++) {
            SetFlag<HardEvent::MTE1_MTE2>(A + slot);
            SetFlag<HardEvent::MTE1_MTE2>(B + slot);
            SetFlag<HardEvent::M_MTE1>(slot);
        }
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
        for (uint32_t group = 0; group < COLUMNS; group += GROUP) {
            WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
            for (uint32_t step = 0; step < K / STEP; step++) {
                Load(group, step);
                Split(step);
                Multiply(step);
            }
            Store(group);
        }
        for (int32_t slot = 0; slot < (int32_t)SLOTS; slot++) {
            WaitFlag<HardEvent::MTE1_MTE2>(A + slot);
            WaitFlag<HardEvent::MTE1_MTE2>(B + slot);
            WaitFlag<HardEvent::M_MTE1>(slot);
        }
        WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
    }

private:
    __aicore__ inline void Load(uint32_t group, uint32_t step)
    {
        int32_t slot = step % SLOTS;
        uint32_t k = step * STEP;
        WaitFlag<HardEvent::MTE1_MTE2>(A + slot);
        DataCopy(bufferA1.Get<half>()[slot * M * STEP], aGm[k], Nd2NzParams(1, M, STEP, 0, K, M, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(A + slot);
        WaitFlag<HardEvent::MTE1_MTE2>(B + slot);
        DataCopy(bufferB1.Get<half>()[slot * STEP * GROUP], bGm[k * N + group],
                 Nd2NzParams(1, STEP, GROUP, 0, N, STEP, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(B + slot);
    }
    __aicore__ inline void Split(uint32_t step)
    {
        int32_t slot = step % SLOTS;
        LocalTensor<half> a1 = bufferA1.Get<half>()[slot * M * STEP], a2 = bufferA2.Get<half>()[slot * M * STEP];
        LocalTensor<half> b1 = bufferB1.Get<half>()[slot * STEP * GROUP],
                          b2 = bufferB2.Get<half>()[slot * STEP * GROUP];
        LoadData2DParams rows, columns;
        rows.repeatTimes = STEP / FRACTAL;
        rows.srcStride = M / FRACTAL;
        columns.repeatTimes = STEP / FRACTAL;
        columns.srcStride = 1;
        columns.ifTranspose = true;
        WaitFlag<HardEvent::M_MTE1>(slot);
        WaitFlag<HardEvent::MTE2_MTE1>(A + slot);
        for (uint32_t i = 0; i < M / FRACTAL; i++) {
            LoadData(a2[i * STEP * FRACTAL], a1[i * FRACTAL * FRACTAL], rows);
        }
        SetFlag<HardEvent::MTE1_MTE2>(A + slot);
        WaitFlag<HardEvent::MTE2_MTE1>(B + slot);
        LoadData(b2, b1, columns);
        SetFlag<HardEvent::MTE1_MTE2>(B + slot);
        SetFlag<HardEvent::MTE1_M>(slot);
    }
    __aicore__ inline void Multiply(uint32_t step)
    {
        int32_t slot = step % SLOTS;
        WaitFlag<HardEvent::MTE1_M>(slot);
        Mmad(bufferC.Get<float>(), bufferA2.Get<half>()[slot * M * STEP], bufferB2.Get<half>()[slot * STEP * GROUP],
             MmadParams(M, GROUP, STEP, 0, false, step == 0));
        SetFlag<HardEvent::M_MTE1>(slot);
        PipeBarrier<PIPE_M>();
    }
    __aicore__ inline void Store(uint32_t group)
    {
        SetFlag<HardEvent::M_FIX>(EVENT_ID0);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        FixpipeParamsV220 out(GROUP, M, M, N, false);
        out.quantPre = QuantMode_t::F322F16;
        Fixpipe<half, float, CFG_ROW_MAJOR>(cGm[group], bufferC.Get<float>(), out);
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
    }

    TPipe pipe;
    TBuf<TPosition::A1> bufferA1, bufferB1;
    TBuf<TPosition::A2> bufferA2;
    TBuf<TPosition::B2> bufferB2;
    TBuf<TPosition::CO1> bufferC;
    GlobalTensor<half> aGm, bGm, cGm;
};

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    KernelMatmul op;
    op.Init(a, b, c);
    op.Process();
}
