// Products of groups of rows of int8 with a matrix each (fractals, int8), then GELU of the sums by a scale for each column and
// one for each row: an AIC puts a block of 128 x 256 sums into workspace, and its AIVs turn it into halves. What differs: AIVs of
// an AIC (1, 2) and blocks in workspace (1, 4). The tiling data begin with the rows of a group. y has the matrices, x the rows, then
// both kinds of scales.
#include "kernel_operator.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr uint32_t ROWS = 8192, N = 8192, K = 1024, GROUPS = 8, CORES = 24, COLUMNS = 1024;
constexpr uint32_t BASE_M = 128, BASE_N = 256, BASE_K = 128, BUFFERS = 2;
constexpr uint32_t UB_ROWS = 24, UB_COUNT = UB_ROWS * BASE_N; // what an AIV computes at once
constexpr uint32_t READY = 5, FREE = 3;

using A = MatmulType<TPosition::GM, CubeFormat::ND, int8_t>;
using B = MatmulType<TPosition::GM, CubeFormat::NZ, int8_t>;
using C = MatmulType<TPosition::GM, CubeFormat::ND, int32_t>;

constexpr MatmulApiStaticTiling Constant()
{
    constexpr MatmulShapeParams shape = {BASE_M, COLUMNS, K, BASE_M, BASE_N, BASE_K};
    MatmulConfig config = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(shape);
    config.enUnitFlag = true;
    config.enableSetBias = false; // L1 is full without one
    MatmulApiStaticTiling tiling = GetMatmulApiTiling<A, B, C, C>(config);
    tiling.depthA1 = 16;
    tiling.stepKa = 8;
    tiling.depthB1 = 8;
    tiling.stepKb = 4;
    tiling.stepM = tiling.stepN = 1;
    return tiling;
}
constexpr MatmulApiStaticTiling TILING = Constant();

template <uint32_t SLOTS> class KernelGrouped
{
  public:
    Matmul<A, B, C, C, TILING> object;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling, TPipe *pipe)
    {
        GM_ADDR scales = x + ROWS * K;
        GM_ADDR rowScales = scales + GROUPS * N * sizeof(float);
        xGm.SetGlobalBuffer((__gm__ int8_t *)x, ROWS * K);
        yGm.SetGlobalBuffer((__gm__ int8_t *)y, uint64_t(GROUPS) * N * K);
        zGm.SetGlobalBuffer((__gm__ half *)z, ROWS * N);
        scaleGm.SetGlobalBuffer((__gm__ float *)scales, GROUPS * N);
        rowScaleGm.SetGlobalBuffer((__gm__ float *)rowScales, ROWS);
        sumGm.SetGlobalBuffer((__gm__ int32_t *)GetUserWorkspace(workspace), SLOTS * CORES * BASE_M * BASE_N);
        groupGm.SetGlobalBuffer((__gm__ uint32_t *)tiling, 1);
        core = g_coreType == AIV ? GetBlockIdx() / GetTaskRation() : GetBlockIdx();
        if ASCEND_IS_AIC
            return;
        pipe->InitBuffer(scaleQueue, BUFFERS, BASE_N * sizeof(float));
        pipe->InitBuffer(rowScaleQueue, BUFFERS, BASE_M * sizeof(float));
        pipe->InitBuffer(inQueue, BUFFERS, UB_COUNT * sizeof(int32_t));
        pipe->InitBuffer(outQueue, BUFFERS, UB_COUNT * sizeof(half));
        pipe->InitBuffer(between, 4 * UB_COUNT * sizeof(float));
        scaled = between.GetWithOffset<float>(UB_COUNT, 0);
        spread = between.GetWithOffset<float>(UB_COUNT, UB_COUNT * sizeof(float));
        product = between.GetWithOffset<float>(UB_COUNT, 2 * UB_COUNT * sizeof(float));
        activated = between.GetWithOffset<float>(UB_COUNT, 3 * UB_COUNT * sizeof(float));
        shared = between.GetWithOffset<uint8_t>(2 * UB_COUNT * sizeof(float), 2 * UB_COUNT * sizeof(float));
        lent = between.GetWithOffset<uint8_t>(2 * UB_COUNT * sizeof(float), 0);
    }

    // Parts of 128 rows go to the cores in turn, along N first; a group begins where the one before ended.
    __aicore__ inline void Process()
    {
        uint32_t begun = 0, row = 0;
        for (uint32_t group = 0; group < GROUPS; group++) {
            const uint32_t rows = groupGm.GetValue(0), end = begun + rows / BASE_M * (N / COLUMNS);
            for (uint32_t part = core >= begun ? core : core + CORES; part < end; part += CORES) {
                const uint32_t at = row + (part - begun) / (N / COLUMNS) * BASE_M;
                const uint32_t column = (part - begun) % (N / COLUMNS) * COLUMNS;
                if ASCEND_IS_AIC
                    Multiply(group, rows, at, column);
                else
                    Activate(group, at, column);
            }
            begun = end % CORES;
            row += rows;
        }
        if ASCEND_IS_AIC
            for (uint32_t i = 0; i < (done < SLOTS ? done : SLOTS); i++)
                CrossCoreWaitFlag(FREE);
    }

  private:
    __aicore__ inline GlobalTensor<int32_t> Slot()
    {
        return sumGm[(core + done++ % SLOTS * CORES) * BASE_M * BASE_N];
    }

    __aicore__ inline void Multiply(uint32_t group, uint32_t rows, uint32_t row, uint32_t column)
    {
        object.SetOrgShape(rows, N, K);
        object.SetSingleShape(BASE_M, COLUMNS, K);
        object.SetTensorA(xGm[row * K]);
        object.SetTensorB(yGm[uint64_t(group) * N * K + column * K]);
        while (object.Iterate()) {
            if (done >= SLOTS)
                CrossCoreWaitFlag(FREE);
            object.GetTensorC(Slot(), 0, true);
            CrossCoreSetFlag<2, PIPE_FIX>(READY);
        }
    }

    // The AIVs of a core take 24 rows in turn.
    __aicore__ inline void Activate(uint32_t group, uint32_t row, uint32_t column)
    {
        uint32_t turn = 0;
        for (uint32_t n = 0; n < COLUMNS; n += BASE_N) {
            LocalTensor<float> scale = scaleQueue.AllocTensor<float>();
            DataCopyPad(scale, scaleGm[group * N + column + n], DataCopyExtParams(1, BASE_N * sizeof(float), 0, 0, 0),
                        DataCopyPadExtParams<float>());
            scaleQueue.EnQue(scale);
            scale = scaleQueue.DeQue<float>();
            scale.SetSize(BASE_N);
            const GlobalTensor<int32_t> sums = Slot();
            CrossCoreWaitFlag(READY);
            for (uint32_t m = 0; m < BASE_M; m += UB_ROWS)
                if (++turn % GetTaskRation() == GetSubBlockIdx())
                    Rows(sums[m * BASE_N], scale, row + m, column + n, BASE_M - m < UB_ROWS ? BASE_M - m : UB_ROWS);
            scaleQueue.FreeTensor(scale);
            CrossCoreSetFlag<2, PIPE_MTE2>(FREE);
        }
    }

    __aicore__ inline void Rows(GlobalTensor<int32_t> from, LocalTensor<float> scale, uint32_t row, uint32_t column,
                                uint32_t rows)
    {
        const uint32_t count = rows * BASE_N;
        LocalTensor<int32_t> sums = inQueue.AllocTensor<int32_t>();
        DataCopyPad(sums, from, DataCopyExtParams(rows, BASE_N * sizeof(int32_t), 0, 0, 0),
                    DataCopyPadExtParams<int32_t>(true, 0, 0, 0));
        inQueue.EnQue(sums);
        LocalTensor<float> rowScale = rowScaleQueue.AllocTensor<float>();
        DataCopyPad(rowScale, rowScaleGm[row], DataCopyExtParams(1, rows * sizeof(float), 0, 0, 0),
                    DataCopyPadExtParams<float>());
        rowScaleQueue.EnQue(rowScale);
        rowScale = rowScaleQueue.DeQue<float>();
        const uint32_t wide[] = {rows, BASE_N}, narrow[] = {rows, 1};
        BroadCast<float, 2, 1>(spread, rowScale, wide, narrow, shared);
        rowScaleQueue.FreeTensor(rowScale);
        sums = inQueue.DeQue<int32_t>();
        AscendDequant(scaled, sums, scale, shared, {rows, BASE_N, BASE_N});
        PipeBarrier<PIPE_V>();
        inQueue.FreeTensor(sums);
        Mul(product, scaled, spread, count);
        PipeBarrier<PIPE_V>();
        FasterGelu(activated, product, lent, count);
        PipeBarrier<PIPE_V>();
        LocalTensor<half> out = outQueue.AllocTensor<half>();
        Cast(out, activated, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        outQueue.EnQue(out);
        out = outQueue.DeQue<half>();
        DataCopyPad(zGm[row * N + column], out,
                    DataCopyExtParams(rows, BASE_N * sizeof(half), 0, (N - BASE_N) * sizeof(half), 0));
        outQueue.FreeTensor(out);
    }

    GlobalTensor<int8_t> xGm, yGm;
    GlobalTensor<half> zGm;
    GlobalTensor<float> scaleGm, rowScaleGm;
    GlobalTensor<int32_t> sumGm;
    GlobalTensor<uint32_t> groupGm;
    TQue<TPosition::VECIN, 1> scaleQueue, rowScaleQueue, inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> between;
    LocalTensor<float> scaled, spread, product, activated;
    LocalTensor<uint8_t> shared, lent; // room for the APIs
    uint32_t core, done = 0;
};

template <uint32_t SLOTS> __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    InitSocState();
    TPipe pipe;
    KernelGrouped<SLOTS> op;
    if ASCEND_IS_AIC {
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.object, (TCubeTiling *)nullptr);
    }
    op.Init(x, y, z, workspace, tiling, &pipe);
    op.Process();
    PipeBarrier<PIPE_ALL>();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIC_1_1);
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2))
        Run<1>(x, y, z, workspace, tiling);
    else if (TILING_KEY_IS(3))
        Run<4>(x, y, z, workspace, tiling);
}
