// Matrix products that AIVs ask their AIC for, by messages: each AIV a part of the result, or a share of K that is added up in
// GM, which they clear before; the two AIVs of an AIC with a B of their own, or with one in L1 for both, or with one product for
// both. The tiling data are a TCubeTiling, A and B are row by row.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

template <typename T, bool SHARED = false>
using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T, false, LayoutMode::NONE, SHARED>;
using Norm = Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_NORM>;
using SharedB = Matmul<Gm<half>, Gm<half, true>, Gm<float>, Gm<float>, CFG_IBSHARE_NORM>;
using SharedBoth = Matmul<Gm<half, true>, Gm<half, true>, Gm<float>, Gm<float>, CFG_IBSHARE_NORM>;

// Block numbers go down M first, then along N, then along K.
template <typename Object> __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    TCubeTiling tiling;
    for (uint32_t i = 0; i < sizeof tiling / sizeof(uint32_t); i++)
        reinterpret_cast<uint32_t *>(&tiling)[i] = ((__gm__ uint32_t *)tilingAt)[i];
    TPipe pipe;
    Object object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    const uint32_t down = tiling.M / tiling.singleCoreM, across = tiling.N / tiling.singleCoreN;
    const uint32_t block = down * across == 1 && tiling.singleCoreK == tiling.Ka ? 0 : GetBlockIdx();
    const uint32_t row = block % down * tiling.singleCoreM, column = block / down % across * tiling.singleCoreN;
    const uint32_t depth = block / (down * across) * tiling.singleCoreK;
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer((__gm__ half *)x, tiling.M * tiling.Ka);
    b.SetGlobalBuffer((__gm__ half *)y, tiling.Ka * tiling.N);
    c.SetGlobalBuffer((__gm__ float *)z, tiling.M * tiling.N);
    const bool adds = tiling.singleCoreK < tiling.Ka;
    if (adds) {
        InitOutput<float>(c, tiling.M * tiling.N, 0);
        SyncAll();
    }
    object.SetTensorA(a[row * tiling.Ka + depth]);
    object.SetTensorB(b[depth * tiling.N + column]);
    object.IterateAll(c[row * tiling.N + column], adds);
    object.End();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if (TILING_KEY_IS(1))
        Run<Norm>(x, y, z, tiling);
    else if (TILING_KEY_IS(2))
        Run<SharedB>(x, y, z, tiling);
    else if (TILING_KEY_IS(3))
        Run<SharedBoth>(x, y, z, tiling);
}
