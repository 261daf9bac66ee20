// d = a x b + c: blocks of the product come to UB, where c is added. One AIV for each AIC.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void matmul_add(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR d, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GET_TILING_DATA(data, tiling);
    const TCubeTiling *__restrict cube = &data.cube; // as the upsampling operators of cann-ops have it
    TPipe pipe;
    using Input = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    using Output = MatmulType<TPosition::VECIN, CubeFormat::ND_ALIGN, half>;
    Matmul<Input, Input, Output> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, cube);
    int32_t rows = DivCeil(cube->M, cube->singleCoreM), core = GetBlockIdx();
    int32_t row = core % rows * cube->singleCoreM, column = core / rows * cube->singleCoreN;
    if (core >= cube->usedCoreNum || row >= cube->M || column >= cube->N)
        return;
    GlobalTensor<half> aGm, bGm, cGm, dGm;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    cGm.SetGlobalBuffer((__gm__ half *)c);
    dGm.SetGlobalBuffer((__gm__ half *)d);
    TQue<TPosition::VECIN, 1> products, addends;
    TQue<TPosition::VECOUT, 1> sums;
    uint32_t elements = cube->baseM * cube->baseN;
    pipe.InitBuffer(products, 2, elements * sizeof(half));
    pipe.InitBuffer(addends, 2, elements * sizeof(half));
    pipe.InitBuffer(sums, 2, elements * sizeof(half));
    int32_t m = Std::min(cube->M - row, cube->singleCoreM), n = Std::min(cube->N - column, cube->singleCoreN);
    mm.SetSingleShape(m, n, cube->Ka);
    mm.SetTensorA(aGm[row * cube->Ka]);
    mm.SetTensorB(bGm[column]);
    for (int32_t block = 0; mm.Iterate(); block++) {
        int32_t along = DivCeil(m, cube->baseM);
        int32_t y = block % along * cube->baseM, x = block / along * cube->baseN;
        uint16_t height = Std::min(m - y, cube->baseM), width = Std::min(n - x, cube->baseN);
        uint32_t count = height * AlignUp(width, 16), gap = (cube->N - width) * sizeof(half);
        uint64_t at = (uint64_t)(row + y) * cube->N + column + x;
        LocalTensor<half> product = products.AllocTensor<half>();
        product.SetSize(count);
        mm.GetTensorC(product, 0, true);
        products.EnQue(product);
        LocalTensor<half> addend = addends.AllocTensor<half>();
        uint8_t missing = AlignUp(width, 16) - width;
        DataCopyExtParams in = {height, uint32_t(width * sizeof(half)), gap, 0, 0};
        DataCopyPad(addend, cGm[at], in, {true, 0, missing, 0});
        addends.EnQue(addend);
        product = products.DeQue<half>();
        addend = addends.DeQue<half>();
        LocalTensor<half> sum = sums.AllocTensor<half>();
        Add(sum, product, addend, count);
        sums.EnQue(sum);
        products.FreeTensor(product);
        addends.FreeTensor(addend);
        sum = sums.DeQue<half>();
        DataCopyExtParams out = {height, uint32_t(width * sizeof(half)), 0, gap, 0};
        DataCopyPad(dGm[at], sum, out);
        sums.FreeTensor(sum);
    }
    mm.End();
}
