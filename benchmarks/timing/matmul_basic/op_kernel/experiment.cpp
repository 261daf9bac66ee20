// 8192 x 8192 products of half by instructions, without the high-level object: two buffers each of L1, L0A and L0B, eight
// blocks of A and four of B a copy, B ahead of A, UnitFlag, everything known when compiled. Each AIC has 2048 x 1536 of the
// result, or twice 1024 x 1536, so that B stays in L2. As GELU's first half the result is float, and two AIVs turn each block
// of it into its GELU as soon as it is in GM. A is row by row, B is transposed.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t SIDE = 8192, BASE_M = 128, BASE_N = 256, BASE_K = 64, STEP_A = 8, STEP_B = 4, FRACTAL = 16;
constexpr uint32_t CORE_N = 1536, READY = 8;
constexpr uint32_t A1_BYTES = BASE_M * BASE_K * STEP_A * sizeof(half),
                   B1_BYTES = BASE_N * BASE_K * STEP_B * sizeof(half);
constexpr uint32_t L0_BYTES = 32768;

// One input of the product on its way through L1: its two buffers, and how far it has come along K.
template <uint32_t BASE, uint32_t STEP, TPosition L1, uint32_t L1_AT, uint32_t FIRST_EVENT> class Side
{
  public:
    __aicore__ inline void Begin(GlobalTensor<half> rows, uint32_t k, uint32_t count)
    {
        from = rows;
        k_ = k;
        count_ = count;
        next = into = 0;
        Bring();
    }
    // The next big copy, if something is left.
    __aicore__ inline void Bring()
    {
        if (next >= count_)
            return;
        WaitFlag<HardEvent::MTE1_MTE2>(FIRST_EVENT + into);
        DataCopy(Buffer(into), from[next * BASE_K], Nd2NzParams(1, BASE, BASE_K * STEP, 0, k_, BASE, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(FIRST_EVENT + into);
        next += STEP;
        into ^= 1;
    }
    __aicore__ inline bool Last(uint32_t k) const
    {
        return k % STEP == STEP - 1;
    }
    __aicore__ inline LocalTensor<half> Wait(uint32_t k)
    {
        if (k % STEP == 0)
            WaitFlag<HardEvent::MTE2_MTE1>(FIRST_EVENT + k / STEP % 2);
        return Buffer(k / STEP % 2)[k % STEP * BASE_K * BASE];
    }
    __aicore__ inline void Done(uint32_t k)
    {
        if (Last(k))
            SetFlag<HardEvent::MTE1_MTE2>(FIRST_EVENT + k / STEP % 2);
    }
    __aicore__ inline void Open()
    {
        for (uint32_t i = 0; i < 2; i++)
            SetFlag<HardEvent::MTE1_MTE2>(FIRST_EVENT + i);
    }
    __aicore__ inline void Close()
    {
        for (uint32_t i = 0; i < 2; i++)
            WaitFlag<HardEvent::MTE1_MTE2>(FIRST_EVENT + i);
    }

  private:
    __aicore__ inline LocalTensor<half> Buffer(uint32_t i) const
    {
        constexpr uint32_t ELEMENTS = BASE * BASE_K * STEP;
        return LocalTensor<half>(L1, L1_AT + i * ELEMENTS * sizeof(half), ELEMENTS);
    }
    GlobalTensor<half> from;
    uint32_t k_ = 0, count_ = 0, next = 0, into = 0;
};

template <typename C, uint32_t K, uint32_t CORE_M, bool GELU> class KernelProduct
{
  public:
    __aicore__ inline KernelProduct(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        xGm.SetGlobalBuffer((__gm__ half *)x, SIDE * K);
        yGm.SetGlobalBuffer((__gm__ half *)y, SIDE * K);
        zGm.SetGlobalBuffer((__gm__ C *)z, SIDE * SIDE);
    }
    // Blocks go down M first, 4 of them; what one turn does not reach the next does.
    __aicore__ inline void Process()
    {
        constexpr uint32_t DOWN = 4, TURNS = SIDE / CORE_M / DOWN;
        const uint32_t core = g_coreType == AIV ? GetBlockIdx() / 2 : GetBlockIdx();
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            const uint32_t row = (core % DOWN + turn * DOWN) * CORE_M, column = core / DOWN * CORE_N;
            const uint32_t columns = SIDE - column < CORE_N ? SIDE - column : CORE_N;
            if (g_coreType == AIC)
                Open();
            for (uint32_t n = 0; n < columns; n += BASE_N)
                for (uint32_t m = 0; m < CORE_M; m += BASE_M)
                    if (g_coreType == AIC)
                        Block(row + m, column + n);
                    else
                        Gelu(row + m, column + n);
            if (g_coreType == AIC)
                Close();
        }
    }

  private:
    __aicore__ inline void Open()
    {
        a.Open();
        b.Open();
        for (uint32_t i = 0; i < 2; i++)
            SetFlag<HardEvent::M_MTE1>(i);
    }
    __aicore__ inline void Close()
    {
        a.Close();
        b.Close();
        for (uint32_t i = 0; i < 2; i++)
            WaitFlag<HardEvent::M_MTE1>(i);
    }
    __aicore__ inline void Block(uint32_t row, uint32_t column)
    {
        constexpr uint32_t PIECES = K / BASE_K;
        LocalTensor<float> sum(TPosition::CO1, 0, BASE_M * BASE_N);
        a.Begin(xGm[row * K], K, PIECES);
        b.Begin(yGm[column * K], K, PIECES);
        for (uint32_t k = 0; k < PIECES; k++) {
            LocalTensor<half> a2(TPosition::A2, l0 * L0_BYTES, BASE_M * BASE_K);
            LocalTensor<half> b2(TPosition::B2, l0 * L0_BYTES, BASE_N * BASE_K);
            WaitFlag<HardEvent::M_MTE1>(l0);
            const LocalTensor<half> a1 = a.Wait(k), b1 = b.Wait(k);
            Load(a2, a1, b2, b1);
            a.Done(k);
            b.Done(k);
            Multiply(sum, a2, b2, k == 0, k == PIECES - 1);
            if (k == 0 || b.Last(k))
                b.Bring();
            if (k == 0 || a.Last(k))
                a.Bring();
        }
        Store(row, column, sum);
    }
    __aicore__ inline void Load(LocalTensor<half> a2, LocalTensor<half> a1, LocalTensor<half> b2, LocalTensor<half> b1)
    {
        LoadData3DParamsV2<half> rows;
        rows.l1H = 1;
        rows.l1W = rows.mExtension = BASE_M;
        rows.channelSize = rows.kExtension = BASE_K;
        LoadData(a2, a1, rows);
        LoadData2DParams columns;
        columns.repeatTimes = BASE_N / FRACTAL;
        columns.srcStride = 1;
        for (uint32_t i = 0; i < BASE_K / FRACTAL; i++)
            LoadData(b2[i * BASE_N * FRACTAL], b1[i * BASE_N * FRACTAL], columns);
    }
    __aicore__ inline void Multiply(LocalTensor<float> sum, LocalTensor<half> a2, LocalTensor<half> b2, bool first,
                                    bool last)
    {
        SetFlag<HardEvent::MTE1_M>(l0);
        WaitFlag<HardEvent::MTE1_M>(l0);
        MmadParams params;
        params.m = BASE_M;
        params.n = BASE_N;
        params.k = BASE_K;
        params.cmatrixInitVal = first;
        params.unitFlag = last ? 3 : 2;
        Mmad(sum, a2, b2, params);
        SetFlag<HardEvent::M_MTE1>(l0);
        l0 ^= 1;
    }
    __aicore__ inline void Store(uint32_t row, uint32_t column, LocalTensor<float> sum)
    {
        FixpipeParamsV220 out(BASE_N, BASE_M, BASE_M, SIDE, false);
        out.quantPre = sizeof(C) == 2 ? QuantMode_t::F322F16 : QuantMode_t::NoQuant;
        out.unitFlag = 3;
        Fixpipe<C, float, CFG_ROW_MAJOR>(zGm[row * SIDE + column], sum, out);
        if (GELU)
            CrossCoreSetFlag<2, PIPE_FIX>(READY);
    }
    // An AIV's half of a block: x / (1 + exp(-1.595769 (x + 0.044715 x^3))).
    __aicore__ inline void Gelu(uint32_t row, uint32_t column)
    {
        constexpr uint32_t ROWS = BASE_M / 2, COUNT = ROWS * BASE_N;
        LocalTensor<float> in(TPosition::VECCALC, 0, COUNT), out(TPosition::VECCALC, COUNT * sizeof(float), COUNT);
        GlobalTensor<float> gm;
        gm.SetGlobalBuffer((__gm__ float *)zGm[(row + GetSubBlockIdx() * ROWS) * SIDE + column].GetPhyAddr());
        constexpr uint32_t GAP = (SIDE - BASE_N) * sizeof(float);
        CrossCoreWaitFlag(READY);
        DataCopyPad(in, gm, DataCopyExtParams(ROWS, BASE_N * sizeof(float), GAP, 0, 0),
                    DataCopyPadExtParams<float>(false, 0, 0, 0));
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Mul(out, in, in, COUNT);
        PipeBarrier<PIPE_V>();
        Mul(out, out, in, COUNT);
        PipeBarrier<PIPE_V>();
        Muls(out, out, 0.044715f, COUNT);
        PipeBarrier<PIPE_V>();
        Add(out, in, out, COUNT);
        PipeBarrier<PIPE_V>();
        Muls(out, out, -1.595769f, COUNT);
        PipeBarrier<PIPE_V>();
        Exp(out, out, COUNT);
        PipeBarrier<PIPE_V>();
        Adds(out, out, 1.0f, COUNT);
        PipeBarrier<PIPE_V>();
        Div(out, in, out, COUNT);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopyPad(gm, out, DataCopyExtParams(ROWS, BASE_N * sizeof(float), 0, GAP, 0));
    }

    Side<BASE_M, STEP_A, TPosition::A1, 0, 0> a;
    Side<BASE_N, STEP_B, TPosition::B1, 2 * A1_BYTES, 2> b;
    GlobalTensor<half> xGm, yGm;
    GlobalTensor<C> zGm;
    uint32_t l0 = 0;
};

template <typename C, uint32_t K, uint32_t CORE_M, bool GELU>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    InitSocState();
    KernelProduct<C, K, CORE_M, GELU> op(x, y, z);
    op.Process();
    PipeBarrier<PIPE_ALL>();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    KERNEL_TASK_TYPE(3, KERNEL_TYPE_MIX_AIC_1_2);
    KERNEL_TASK_TYPE(4, KERNEL_TYPE_MIX_AIC_1_2);
    if (TILING_KEY_IS(1))
        Run<half, SIDE, 2048, false>(x, y, z);
    else if (TILING_KEY_IS(2))
        Run<half, SIDE, 1024, false>(x, y, z);
    else if (TILING_KEY_IS(3))
        Run<float, SIDE / 4, 2048, true>(x, y, z);
    else if (TILING_KEY_IS(4))
        Run<float, SIDE, 2048, true>(x, y, z);
    else if (TILING_KEY_IS(5))
        Run<float, SIDE / 4, 2048, false>(x, y, z);
    else if (TILING_KEY_IS(6))
        Run<float, SIDE, 2048, false>(x, y, z);
}
