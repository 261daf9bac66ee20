#include "kernel_operator.h"

using namespace AscendC;

// c (128 x 640) = a (128 x 1280) x b (1280 x 640): the AIC of a block multiplies 32 rows at a time into one of two places of
// the workspace, in float; its AIVs, 16 rows each, round to half. Cross-core flags of mode 2 tell what is there and what has
// been read.
constexpr uint32_t M = 128, K = 1280, N = 640, COLUMNS = 32, ROWS = 32, STEP = 128, FRACTAL = 16, PLACES = 2;
constexpr uint32_t PLACE = ROWS * COLUMNS, SHARE = PLACE / 2; // floats; an AIV's part of them
constexpr uint16_t PRODUCT_READY = 0, PRODUCT_READ = 1;

class KernelCube {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR user)
    {
        uint32_t first = GetBlockIdx() * COLUMNS;
        aGm.SetGlobalBuffer((__gm__ half *)a, M * K);
        bGm.SetGlobalBuffer((__gm__ half *)b + first, K * N - first);
        products.SetGlobalBuffer((__gm__ float *)user + GetBlockIdx() * PLACES * PLACE, PLACES * PLACE);
        pipe.InitBuffer(bufferA1, ROWS * STEP * sizeof(half));
        pipe.InitBuffer(bufferB1, STEP * COLUMNS * sizeof(half));
        pipe.InitBuffer(bufferA2, ROWS * STEP * sizeof(half));
        pipe.InitBuffer(bufferB2, STEP * COLUMNS * sizeof(half));
        pipe.InitBuffer(bufferC, PLACE * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        SetFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::M_MTE1>(EVENT_ID0);
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
        for (uint32_t round = 0; round < M / ROWS; round++) {
            WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
            for (uint32_t k = 0; k < K; k += STEP) {
                Multiply(round * ROWS, k);
            }
            if (round >= PLACES) {
                CrossCoreWaitFlag<2>(PRODUCT_READ);
            }
            Store(round % PLACES);
        }
        for (uint32_t place = 0; place < PLACES; place++) {
            CrossCoreWaitFlag<2>(PRODUCT_READ);
        }
        WaitFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
    }

private:
    __aicore__ inline void Multiply(uint32_t row, uint32_t k)
    {
        LocalTensor<half> a1 = bufferA1.Get<half>(), b1 = bufferB1.Get<half>();
        LocalTensor<half> a2 = bufferA2.Get<half>(), b2 = bufferB2.Get<half>();
        LoadData2DParams rows, columns;
        rows.repeatTimes = STEP / FRACTAL;
        rows.srcStride = ROWS / FRACTAL;
        columns.repeatTimes = COLUMNS / FRACTAL;
        columns.srcStride = STEP / FRACTAL;
        columns.ifTranspose = true;
        WaitFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        DataCopy(a1, aGm[row * K + k], Nd2NzParams(1, ROWS, STEP, 0, K, ROWS, 1, 0));
        DataCopy(b1, bGm[k * N], Nd2NzParams(1, STEP, COLUMNS, 0, N, STEP, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
        for (uint32_t i = 0; i < ROWS / FRACTAL; i++) {
            LoadData(a2[i * STEP * FRACTAL], a1[i * FRACTAL * FRACTAL], rows);
        }
        for (uint32_t i = 0; i < STEP / FRACTAL; i++) {
            LoadData(b2[i * COLUMNS * FRACTAL], b1[i * FRACTAL * FRACTAL], columns);
        }
        SetFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
        WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
        Mmad(bufferC.Get<float>(), a2, b2, MmadParams(ROWS, COLUMNS, STEP, 0, false, k == 0));
        SetFlag<HardEvent::M_MTE1>(EVENT_ID0);
        PipeBarrier<PIPE_M>();
    }
    __aicore__ inline void Store(uint32_t place)
    {
        SetFlag<HardEvent::M_FIX>(EVENT_ID0);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        FixpipeParamsV220 out(COLUMNS, ROWS, ROWS, COLUMNS, false);
        Fixpipe<float, float, CFG_ROW_MAJOR>(products[place * PLACE], bufferC.Get<float>(), out);
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
        CrossCoreSetFlag<2, PIPE_FIX>(PRODUCT_READY);
    }

    TPipe pipe;
    TBuf<TPosition::A1> bufferA1, bufferB1;
    TBuf<TPosition::A2> bufferA2;
    TBuf<TPosition::B2> bufferB2;
    TBuf<TPosition::CO1> bufferC;
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> products;
};

class KernelVector {
public:
    __aicore__ inline void Init(GM_ADDR c, GM_ADDR user)
    {
        uint32_t block = GetBlockIdx() / 2, second = GetBlockIdx() % 2;
        firstRow = second * ROWS / 2;
        cGm.SetGlobalBuffer((__gm__ half *)c + block * COLUMNS, M * N - block * COLUMNS);
        products.SetGlobalBuffer((__gm__ float *)user + block * PLACES * PLACE + second * SHARE, PLACE + SHARE);
        pipe.InitBuffer(wideBuffer, SHARE * sizeof(float));
        pipe.InitBuffer(narrowBuffer, SHARE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        for (uint32_t round = 0; round < M / ROWS; round++) {
            LocalTensor<float> wide = wideBuffer.Get<float>();
            LocalTensor<half> narrow = narrowBuffer.Get<half>();
            WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
            CrossCoreWaitFlag<2>(PRODUCT_READY);
            DataCopy(wide, products[round % PLACES * PLACE], SHARE);
            CrossCoreSetFlag<2, PIPE_MTE2>(PRODUCT_READ);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
            Cast(narrow, wide, RoundMode::CAST_RINT, SHARE);
            SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopyPad(cGm[(round * ROWS + firstRow) * N], narrow,
                        DataCopyExtParams(ROWS / 2, COLUMNS * sizeof(half), 0, (N - COLUMNS) * sizeof(half), 0));
            SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        }
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    }

private:
    TPipe pipe;
    TBuf<QuePosition::VECCALC> wideBuffer, narrowBuffer;
    GlobalTensor<half> cGm;
    GlobalTensor<float> products;
    uint32_t firstRow;
};

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GM_ADDR user = GetUserWorkspace(workspace);
    if ASCEND_IS_AIC {
        KernelCube cube;
        cube.Init(a, b, user);
        cube.Process();
    }
    if ASCEND_IS_AIV {
        KernelVector vector;
        vector.Init(c, user);
        vector.Process();
    }
}
