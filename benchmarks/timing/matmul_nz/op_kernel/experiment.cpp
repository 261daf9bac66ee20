// A matrix product whose B has rows of 4095 halves: the AIVs turn B into fractals in workspace, a row of a tile a Copy, and
// then the AICs multiply. The tiling data are a TCubeTiling; A and B are row by row.
#include "kernel_operator.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr uint32_t C0 = 16, TILE_K = 64, TILE_N = 256, TILE = TILE_K * TILE_N, READY = 4;

template <typename T, CubeFormat FORMAT = CubeFormat::ND> using Gm = MatmulType<TPosition::GM, FORMAT, T>;

// Tiles go to the AIVs in turn; two buffers each of rows and of fractals.
__aicore__ inline void ToFractals(GlobalTensor<half> fractals, GlobalTensor<half> rows, uint32_t k, uint32_t n)
{
    const uint32_t across = (n + TILE_N - 1) / TILE_N, tiles = (k + TILE_K - 1) / TILE_K * across;
    for (uint32_t i = 0; i < 2; i++) {
        SetFlag<HardEvent::V_MTE2>(i);
        SetFlag<HardEvent::MTE3_V>(i);
    }
    uint32_t buffer = 0;
    for (uint32_t tile = GetBlockIdx(); tile < tiles; tile += GetBlockNum() * GetTaskRation(), buffer ^= 1) {
        const uint32_t row = tile / across * TILE_K, column = tile % across * TILE_N;
        const uint32_t columns = n - column < TILE_N ? n - column : TILE_N;
        LocalTensor<half> nd(TPosition::VECIN, buffer * TILE * sizeof(half), TILE);
        LocalTensor<half> nz(TPosition::VECOUT, (2 + buffer) * TILE * sizeof(half), TILE);
        WaitFlag<HardEvent::V_MTE2>(buffer);
        if (columns < TILE_N) { // what the rows lack
            Duplicate(nd, half(0), TILE);
            SetFlag<HardEvent::V_MTE2>(buffer);
            WaitFlag<HardEvent::V_MTE2>(buffer);
        }
        DataCopyPad(nd, rows[row * n + column],
                    DataCopyExtParams(TILE_K, columns * sizeof(half), (n - columns) * sizeof(half), 0, 0),
                    DataCopyPadExtParams<half>(columns % C0 != 0, 0, (C0 - columns % C0) % C0, 0));
        SetFlag<HardEvent::MTE2_V>(buffer);
        WaitFlag<HardEvent::MTE2_V>(buffer);
        WaitFlag<HardEvent::MTE3_V>(buffer);
        for (uint32_t i = 0; i < TILE_K; i++)
            Copy(nz[i * C0], nd[i * TILE_N], 128, TILE_N / 128, {TILE_K, 1, 8 * TILE_K, 8});
        SetFlag<HardEvent::V_MTE2>(buffer);
        SetFlag<HardEvent::V_MTE3>(buffer);
        WaitFlag<HardEvent::V_MTE3>(buffer);
        DataCopy(fractals[column * k + row * C0], nz, DataCopyParams(TILE_N / C0, TILE_K, 0, k - TILE_K));
        SetFlag<HardEvent::MTE3_V>(buffer);
    }
    for (uint32_t i = 0; i < 2; i++) {
        WaitFlag<HardEvent::V_MTE2>(i);
        WaitFlag<HardEvent::MTE3_V>(i);
    }
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tilingAt)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    TCubeTiling tiling;
    for (uint32_t i = 0; i < sizeof tiling / sizeof(uint32_t); i++)
        reinterpret_cast<uint32_t *>(&tiling)[i] = ((__gm__ uint32_t *)tilingAt)[i];
    const uint32_t m = tiling.M, n = tiling.N, k = tiling.Ka, rows = tiling.singleCoreM, columns = tiling.singleCoreN;
    GlobalTensor<half> a, b, fractals;
    GlobalTensor<float> c;
    a.SetGlobalBuffer((__gm__ half *)x, m * k);
    b.SetGlobalBuffer((__gm__ half *)y, k * n);
    fractals.SetGlobalBuffer((__gm__ half *)GetUserWorkspace(workspace), (n + C0 - 1) / C0 * C0 * k);
    c.SetGlobalBuffer((__gm__ float *)z, m * n);
    if ASCEND_IS_AIV {
        ToFractals(fractals, b, k, n);
        SyncAll();
        CrossCoreSetFlag<2, PIPE_MTE3>(READY);
        return;
    }
    TPipe pipe;
    Matmul<Gm<half>, Gm<half, CubeFormat::NZ>, Gm<float>, Gm<float>, CFG_MDL> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    CrossCoreWaitFlag(READY);
    const uint32_t down = (m + rows - 1) / rows, block = GetBlockIdx();
    const uint32_t row = block % down * rows, column = block / down * columns;
    object.SetTail(m - row < rows ? m - row : rows, n - column < columns ? n - column : columns, k);
    object.SetTensorA(a[row * k]);
    object.SetTensorB(fractals[column * k]);
    object.IterateAll(c[row * n + column]);
    object.End();
}
