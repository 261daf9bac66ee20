#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void matmul_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR d, GM_ADDR workspace,
                                                  GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const TCubeTiling &cube = data.cube;
    TPipe pipe;
    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    matmul::Matmul<Half, Half, Half, Half> mm, second, third, fourth, fifth;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &cube, second, &cube, // BUG: a kernel has at most four objects
                      third, &cube, fourth, &cube, fifth, &cube);
    if (GetBlockIdx() >= cube.usedCoreNum)
        return;
    int32_t rows = DivCeil(cube.M, cube.singleCoreM);
    int32_t row = GetBlockIdx() % rows * cube.singleCoreM, column = GetBlockIdx() / rows * cube.singleCoreN;
    GlobalTensor<half> aGm, bGm, biasGm, dGm;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    biasGm.SetGlobalBuffer((__gm__ half *)bias);
    dGm.SetGlobalBuffer((__gm__ half *)d);
    if (row >= cube.M || column >= cube.N)
        return;
    mm.SetTail(Std::min(cube.M - row, cube.singleCoreM), Std::min(cube.N - column, cube.singleCoreN));
    mm.SetTensorA(aGm[row * cube.Ka]);
    mm.SetTensorB(bGm[column]);
    mm.SetBias(biasGm[column]);
    mm.IterateAll(dGm[row * cube.N + column]);
    mm.End();
}
