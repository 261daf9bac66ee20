// The AIV reads C while the AIC may still be writing it.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void matmul_add(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR d, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const TCubeTiling &cube = data.cube;
    TPipe pipe;
    using Input = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    using Output = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    Matmul<Input, Input, Output> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &cube);
    int32_t rows = DivCeil(cube.M, cube.singleCoreM), core = GetBlockIdx();
    int32_t row = core % rows * cube.singleCoreM, column = core / rows * cube.singleCoreN;
    if (core >= cube.usedCoreNum || row >= cube.M || column >= cube.N)
        return;
    GlobalTensor<half> aGm, bGm, cGm, dGm;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    cGm.SetGlobalBuffer((__gm__ half *)c);
    dGm.SetGlobalBuffer((__gm__ half *)d);
    TQue<TPosition::VECIN, 1> products;
    pipe.InitBuffer(products, 1, cube.singleCoreN * sizeof(half));
    GlobalTensor<half> cache;
    cache.SetGlobalBuffer((__gm__ half *)(GetUserWorkspace(workspace) + core * (4 << 20)));
    int32_t m = Std::min(cube.M - row, cube.singleCoreM), n = Std::min(cube.N - column, cube.singleCoreN);
    mm.SetOrgShape(cube.M, cube.N, cube.Ka, cube.Kb, n);
    mm.SetSingleShape(m, n, cube.Ka);
    mm.SetTensorA(aGm[row * cube.Ka]);
    mm.SetTensorB(bGm[column]);
    mm.IterateAll<false>(cache, 0, false, true); // OTHER:
    for (int32_t i = 0; i < m; i++) {
        LocalTensor<half> product = products.AllocTensor<half>();
        DataCopy(product, cache[i * n], n); // BUG: no WaitIterateAll
        products.EnQue(product);
        product = products.DeQue<half>();
        products.FreeTensor(product);
    }
    mm.WaitIterateAll();
    mm.End();
}
