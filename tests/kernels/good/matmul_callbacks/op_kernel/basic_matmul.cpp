// c = a x b on AICs, base blocks known to the compiler; the kernel copies all three matrices itself.
#define ASCENDC_CUBE_ONLY
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
constexpr MatmulShapeParams BLOCKS = {0, 0, 0, 128, 128, 128};
constexpr MatmulConfig NORM = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(BLOCKS);
constexpr MatmulApiStaticTiling CONSTANT = GetMatmulApiTiling<Half, Half, Half, Half>(NORM);
static_assert(CONSTANT.baseK == 128 && CONSTANT.singleCoreK == -1 && CONSTANT.dbL0A == 2);

// A block of A or B, `rows` x `columns` of a matrix that is `width` wide.
__aicore__ inline void CopyBlock(const LocalTensor<int8_t> &to, const __gm__ void *from, int row, int column, int rows,
                                 int columns, int width)
{
    GlobalTensor<half> matrix;
    matrix.SetGlobalBuffer((__gm__ half *)from);
    Nd2NzParams params(1, rows, columns, 0, width, DivCeil(rows, 16) * 16, 1, 0);
    DataCopy(to.ReinterpretCast<half>(), matrix[row * 128 * width + column * 128], params);
}
__aicore__ inline void CopyA1(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int column, int useM,
                              int useK, const uint64_t tiling, const uint64_t data)
{
    CopyBlock(to, gm, row, column, useM, useK, ((const TCubeTiling *)tiling)->Ka);
}
__aicore__ inline void CopyB1(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int column, int useK,
                              int useN, const uint64_t tiling, const uint64_t data)
{
    CopyBlock(to, gm, row, column, useK, useN, ((const TCubeTiling *)tiling)->N);
}
__aicore__ inline void CopyOut(const __gm__ void *gm, const LocalTensor<int8_t> &sums, const void *params,
                               const uint64_t tiling, const uint64_t data)
{
    const DataCopyOutParams *block = (const DataCopyOutParams *)params;
    uint16_t rows = block->burstLen / 2;
    GlobalTensor<half> c;
    c.SetGlobalBuffer((__gm__ half *)gm);
    FixpipeParamsV220 fixpipe(block->oriNSize, rows, DivCeil(rows, 16) * 16, block->dstStride, false);
    fixpipe.quantPre = QuantMode_t::F322F16;
    Fixpipe<half, float, CFG_ROW_MAJOR>(c, sums.ReinterpretCast<float>(), fixpipe);
}

extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const TCubeTiling &cube = data.cube;
    TPipe pipe;
    Matmul<Half, Half, Half, Half, CONSTANT, MatmulCallBackFunc<CopyOut, CopyA1, CopyB1>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &cube);
    int32_t rows = DivCeil(cube.M, cube.singleCoreM), core = GetBlockIdx();
    int32_t row = core % rows * cube.singleCoreM, column = core / rows * cube.singleCoreN;
    if (core >= cube.usedCoreNum || row >= cube.M || column >= cube.N)
        return;
    GlobalTensor<half> aGm, bGm, cGm;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    cGm.SetGlobalBuffer((__gm__ half *)c);
    mm.SetUserDefInfo(reinterpret_cast<uint64_t>(&cube));
    mm.SetTail(Std::min(cube.M - row, cube.singleCoreM), Std::min(cube.N - column, cube.singleCoreN));
    mm.SetTensorA(aGm[row * cube.Ka]);
    mm.SetTensorB(bGm[column]);
    mm.IterateAll(cGm[row * cube.N + column]);
    mm.End();
}
