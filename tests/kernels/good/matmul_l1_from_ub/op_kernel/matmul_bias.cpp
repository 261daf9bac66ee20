// d = a x b + bias: this core's rows of A go from UB to L1, which the AIC does for the AIV; the bias comes from UB.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void matmul_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR d, GM_ADDR workspace,
                                                  GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GET_TILING_DATA(data, tiling);
    const TCubeTiling &cube = data.cube;
    TPipe pipe;
    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    Matmul<MatmulType<TPosition::TSCM, CubeFormat::NZ, half>, Half, Half,
           MatmulType<TPosition::VECOUT, CubeFormat::ND, half>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &cube);
    int32_t rows = DivCeil(cube.M, cube.singleCoreM), core = GetBlockIdx();
    int32_t row = core % rows * cube.singleCoreM, column = core / rows * cube.singleCoreN;
    if (core >= cube.usedCoreNum || row >= cube.M || column >= cube.N)
        return;
    GlobalTensor<half> aGm, bGm, biasGm, dGm;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    biasGm.SetGlobalBuffer((__gm__ half *)bias);
    dGm.SetGlobalBuffer((__gm__ half *)d);
    uint16_t m = Std::min(cube.M - row, cube.singleCoreM), n = Std::min(cube.N - column, cube.singleCoreN);
    TSCM<TPosition::GM, 1> resident;
    TQue<TPosition::VECIN, 1> rowIn;
    TQue<TPosition::VECOUT, 1> rowOut;
    uint16_t height = AlignUp(m, 16);
    pipe.InitBuffer(resident, 1, height * AlignUp(cube.Ka, 16) * sizeof(half));
    pipe.InitBuffer(rowIn, 1, AlignUp(n, 16) * sizeof(half));
    pipe.InitBuffer(rowOut, 1, AlignUp(n, 16) * sizeof(half));

    // Two columns of fractals by DataCopy, two by DataCopy with a count, the rest by ND2NZ.
    LocalTensor<half> left = resident.AllocTensor<half>();
    TQue<TPosition::VECIN, 1> columnsIn;
    TQue<TPosition::VECOUT, 1> columnsOut;
    pipe.InitBuffer(columnsIn, 1, height * 32 * sizeof(half));
    pipe.InitBuffer(columnsOut, 1, height * 32 * sizeof(half));
    for (uint16_t first = 0; first < cube.Ka; first += 32) {
        LocalTensor<half> part = columnsIn.AllocTensor<half>();
        if (first == 32) { // one column behind the other
            DataCopy(part, aGm[row * cube.Ka + 32], DataCopyParams(m, 1, (cube.Ka - 16) / 16, 0));
            DataCopy(part[m * 16], aGm[row * cube.Ka + 48], DataCopyParams(m, 1, (cube.Ka - 16) / 16, 0));
        } else {
            DataCopy(part, aGm[row * cube.Ka + first], DataCopyParams(m, 2, (cube.Ka - 32) / 16, 0));
        }
        columnsIn.EnQue(part);
        part = columnsIn.DeQue<half>();
        LocalTensor<half> same = columnsOut.AllocTensor<half>();
        Adds(same, part, half(0), m * 32);
        columnsIn.FreeTensor(part);
        columnsOut.EnQue(same);
        same = columnsOut.DeQue<half>();
        if (first == 0) {
            DataCopy(left, same, DataCopyParams(m, 1, 1, 0));
            DataCopy(left[height * 16], same[16], DataCopyParams(m, 1, 1, 0));
            DataCopy(left, same, DataCopyParams(0, 1, 1, 0)); // nothing
        } else if (first == 32) {
            DataCopy(left[height * 32], same, m * 16);
            DataCopy(left[height * 48], same[m * 16], m * 16);
        } else {
            DataCopy(left[height * first], same, Nd2NzParams(1, m, 32, 0, 32, height, 1, 0));
        }
        columnsOut.FreeTensor(same);
    }
    resident.EnQue(left);
    left = resident.DeQue<half>();
    LocalTensor<half> in = rowIn.AllocTensor<half>();
    uint8_t missing = AlignUp(n, 16) - n;
    DataCopyPad(in, biasGm[column], {1, uint32_t(n * sizeof(half)), 0, 0, 0}, {true, 0, missing, 0});
    rowIn.EnQue(in);
    in = rowIn.DeQue<half>();
    LocalTensor<half> out = rowOut.AllocTensor<half>();
    Adds(out, in, half(0), AlignUp(n, 16));
    rowIn.FreeTensor(in);
    rowOut.EnQue(out);
    out = rowOut.DeQue<half>();

    mm.SetTail(m, n);
    mm.SetTensorA(left);
    mm.SetTensorB(bGm[column]);
    mm.SetBias(out);
    mm.IterateAll(dGm[row * cube.N + column]);
    mm.End();
    rowOut.FreeTensor(out);
    resident.FreeTensor(left);
}
