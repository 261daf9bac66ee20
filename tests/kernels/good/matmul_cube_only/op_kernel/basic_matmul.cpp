// c = a x b on AICs without AIVs: the object runs where it stands. The type is inferred.
#define ASCENDC_CUBE_ONLY
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr MatmulConfig LARGE_LOADS = GetMDLConfig();

class BasicProduct {
public:
    __aicore__ inline void Process(GM_ADDR a, GM_ADDR b, GM_ADDR c, const TCubeTiling &cube)
    {
        int32_t rows = DivCeil(cube.M, cube.singleCoreM), core = GetBlockIdx();
        int32_t row = core % rows * cube.singleCoreM, column = core / rows * cube.singleCoreN;
        if (core >= cube.usedCoreNum || row >= cube.M || column >= cube.N)
            return;
        GlobalTensor<half> aGm, bGm, cGm;
        aGm.SetGlobalBuffer((__gm__ half *)a);
        bGm.SetGlobalBuffer((__gm__ half *)b);
        cGm.SetGlobalBuffer((__gm__ half *)c);
        mm.SetTail(Std::min(cube.M - row, cube.singleCoreM), Std::min(cube.N - column, cube.singleCoreN));
        mm.SetTensorA(aGm[row * cube.Ka]);
        mm.SetTensorB(bGm[column]);
        while (mm.Iterate())
            mm.GetTensorC(cGm[row * cube.N + column]);
        mm.End();
    }

    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    Matmul<Half, Half, Half, Half, LARGE_LOADS> mm;
};

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    BasicProduct product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product.mm, &data.cube);
    product.Process(a, b, c, data.cube);
}
