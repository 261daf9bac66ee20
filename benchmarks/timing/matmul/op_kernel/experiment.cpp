// Matrix products by the high-level object on AICs alone, of one base block per copy (Norm), several (MDL), with the next block
// loaded ahead, with Mmad and Fixpipe side by side (UnitFlag), with a tiling that the compiler knows, of a matrix in two
// halves, or of a split K. The tiling data are a TCubeTiling; A is row by row, B is, or is transposed.
#include "kernel_operator.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

using namespace AscendC;

template <bool UNIT_FLAG> constexpr MatmulConfig Mdl()
{
    MatmulConfig config = CFG_MDL;
    config.enUnitFlag = UNIT_FLAG;
    return config;
}
constexpr MatmulConfig NORM = CFG_NORM, MDL = Mdl<false>(), MDL_UNIT_FLAG = Mdl<true>();
constexpr MatmulConfig MDL_AHEAD = GetMDLConfig(false, false, 2);
constexpr MatmulConfig AroundK()
{
    MatmulConfig config = CFG_MDL;
    config.enableKdimReorderLoad = true;
    return config;
}
constexpr MatmulConfig MDL_AROUND_K = AroundK();

template <typename T, bool TRANSPOSED = false> using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T, TRANSPOSED>;
template <typename C, bool TRANSPOSED, const auto &CONFIG>
using Product = Matmul<Gm<half>, Gm<half, TRANSPOSED>, Gm<C>, Gm<C>, CONFIG>;
using ProductOfBuffers = Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, MDL,
                                MatmulCallBackFunc<nullptr, nullptr, nullptr>, Impl::Detail::NBuffer33MatmulPolicy>;

__aicore__ inline void ReadTiling(TCubeTiling *tiling, GM_ADDR from)
{
    for (uint32_t i = 0; i < sizeof *tiling / sizeof(uint32_t); i++)
        reinterpret_cast<uint32_t *>(tiling)[i] = ((__gm__ uint32_t *)from)[i];
}

// A core's part of the product: block numbers go down M first. PARTS: the core has so many, M / PARTS rows apart.
template <typename C, bool TRANSPOSED, uint32_t PARTS, typename Object, typename Shape>
__aicore__ inline void Multiply(Object &object, const Shape *shape, GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    const uint32_t m = shape->M, n = shape->N, k = shape->Ka, rows = shape->singleCoreM, columns = shape->singleCoreN;
    const uint32_t down = (m / PARTS + rows - 1) / rows, block = GetBlockIdx();
    const uint32_t row = block % down * rows, column = block / down * columns;
    const uint32_t rowsLeft = m - row < rows ? m - row : rows,
                   columnsLeft = n - column < columns ? n - column : columns;
    GlobalTensor<half> a, b;
    GlobalTensor<C> c;
    a.SetGlobalBuffer((__gm__ half *)x, m * k);
    b.SetGlobalBuffer((__gm__ half *)y, k * n);
    c.SetGlobalBuffer((__gm__ C *)z, m * n);
    GlobalTensor<C> bias;
    bias.SetGlobalBuffer((__gm__ C *)(y + uint64_t(k) * n * sizeof(half)), n);
    if (rowsLeft < rows || columnsLeft < columns)
        object.SetTail(rowsLeft, columnsLeft);
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t begin = row + i * (m / PARTS);
        object.SetTensorA(a[begin * k]);
        object.SetTensorB(b[TRANSPOSED ? column * k : column], TRANSPOSED);
        if (shape->isBias)
            object.SetBias(bias[column]);
        object.IterateAll(c[begin * n + column]);
    }
    object.End();
}

template <typename C, bool TRANSPOSED, uint32_t PARTS, typename Object>
__aicore__ inline void RunObject(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    TCubeTiling tiling;
    ReadTiling(&tiling, tilingAt);
    TPipe pipe;
    Object object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    Multiply<C, TRANSPOSED, PARTS>(object, &tiling, x, y, z);
}

template <typename C, bool TRANSPOSED, uint32_t PARTS, const MatmulConfig &CONFIG>
__aicore__ inline void RunTiled(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    RunObject<C, TRANSPOSED, PARTS, Product<C, TRANSPOSED, CONFIG>>(x, y, z, tilingAt);
}

// Known when compiled: a core's shape, base blocks of 128 x 256 x 64 and how many of them L1 holds.
template <typename C, bool TRANSPOSED, uint32_t M, uint32_t N, uint32_t K, uint32_t STEP_KA, bool UNIT_FLAG>
constexpr MatmulApiStaticTiling Constant()
{
    constexpr MatmulShapeParams shape = {M, N, K, 128, 256, 64};
    MatmulConfig config = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(shape);
    config.enUnitFlag = UNIT_FLAG;
    config.enableSetBias = false; // L1 is full without one
    MatmulApiStaticTiling tiling = GetMatmulApiTiling<Gm<half>, Gm<half, TRANSPOSED>, Gm<C>, Gm<C>>(config);
    tiling.depthA1 = 2 * STEP_KA;
    tiling.stepKa = STEP_KA;
    tiling.depthB1 = 8;
    tiling.stepKb = 4;
    tiling.stepM = tiling.stepN = 1;
    return tiling;
}
template <typename C, bool TRANSPOSED, uint32_t M, uint32_t N, uint32_t K, uint32_t STEP_KA, bool UNIT_FLAG>
struct Known {
    constexpr static MatmulApiStaticTiling TILING = Constant<C, TRANSPOSED, M, N, K, STEP_KA, UNIT_FLAG>();
};

template <typename C, bool TRANSPOSED, uint32_t PARTS, typename KNOWN>
__aicore__ inline void RunKnown(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    const __gm__ TCubeTiling *shape = (const __gm__ TCubeTiling *)tilingAt;
    TPipe pipe;
    Product<C, TRANSPOSED, KNOWN::TILING> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, (TCubeTiling *)nullptr);
    object.SetOrgShape(shape->M, shape->N, shape->Ka);
    Multiply<C, TRANSPOSED, PARTS>(object, shape, x, y, z);
}

// A core's rows of 128 change with its turns, and within a turn it goes through the columns, each core from another one on: what
// is read at a time has room in L2, and not all read the same.
template <typename KNOWN> __aicore__ inline void RunDiagonal(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    const __gm__ TCubeTiling *shape = (const __gm__ TCubeTiling *)tilingAt;
    const uint32_t m = shape->M, n = shape->N, k = shape->Ka, columns = n / 256;
    TPipe pipe;
    Product<float, false, KNOWN::TILING> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, (TCubeTiling *)nullptr);
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer((__gm__ half *)x, m * k);
    b.SetGlobalBuffer((__gm__ half *)y, k * n);
    c.SetGlobalBuffer((__gm__ float *)z, m * n);
    object.SetOrgShape(m, n, k);
    for (uint32_t row = GetBlockIdx() * 128; row < m; row += GetBlockNum() * 128)
        for (uint32_t i = 0; i < columns; i++) {
            const uint32_t column = (GetBlockIdx() + i) % columns * 256;
            object.SetTail(128, 256, k);
            object.SetTensorA(a[row * k]);
            object.SetTensorB(b[column]);
            object.IterateAll(c[row * n + column]);
        }
    object.End();
}

// Every core has all rows and columns and a share of K; each clears the result first, and what they compute is added up in GM.
__aicore__ inline void RunSplit(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    TCubeTiling tiling;
    ReadTiling(&tiling, tilingAt);
    TPipe pipe;
    Product<float, false, NORM> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer((__gm__ half *)x, tiling.M * tiling.Ka);
    b.SetGlobalBuffer((__gm__ half *)y, tiling.Kb * tiling.N);
    c.SetGlobalBuffer((__gm__ float *)z, tiling.M * tiling.N);
    Fill(c, tiling.M * tiling.N, 0.0f);
    const uint32_t begin = GetBlockIdx() * tiling.singleCoreK;
    object.SetTensorA(a[begin]);
    object.SetTensorB(b[begin * tiling.N]);
    object.IterateAll(c, 1);
    object.End();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    if (TILING_KEY_IS(1))
        RunTiled<half, true, 1, NORM>(x, y, z, tiling);
    else if (TILING_KEY_IS(2))
        RunTiled<half, true, 1, MDL>(x, y, z, tiling);
    else if (TILING_KEY_IS(3))
        RunTiled<half, true, 2, MDL>(x, y, z, tiling);
    else if (TILING_KEY_IS(4))
        RunKnown<half, true, 2, Known<half, true, 1024, 1536, 2048, 8, false>>(x, y, z, tiling);
    else if (TILING_KEY_IS(5))
        RunKnown<half, true, 2, Known<half, true, 1024, 1536, 2048, 8, true>>(x, y, z, tiling);
    else if (TILING_KEY_IS(6))
        RunKnown<half, true, 2, Known<half, true, 1024, 1536, 8192, 8, false>>(x, y, z, tiling);
    else if (TILING_KEY_IS(7))
        RunKnown<half, true, 2, Known<half, true, 1024, 1536, 8192, 8, true>>(x, y, z, tiling);
    else if (TILING_KEY_IS(11))
        RunTiled<float, false, 1, NORM>(x, y, z, tiling);
    else if (TILING_KEY_IS(12))
        RunTiled<float, false, 1, MDL>(x, y, z, tiling);
    else if (TILING_KEY_IS(13))
        RunTiled<float, false, 1, MDL_AHEAD>(x, y, z, tiling);
    else if (TILING_KEY_IS(14))
        RunTiled<float, false, 1, MDL_UNIT_FLAG>(x, y, z, tiling);
    else if (TILING_KEY_IS(15))
        RunKnown<float, false, 1, Known<float, false, 128, 1280, 64, 4, true>>(x, y, z, tiling);
    else if (TILING_KEY_IS(16))
        RunSplit(x, y, z, tiling);
    else if (TILING_KEY_IS(17))
        RunObject<float, false, 1, ProductOfBuffers>(x, y, z, tiling);
    else if (TILING_KEY_IS(18))
        RunTiled<float, false, 1, MDL_AROUND_K>(x, y, z, tiling);
    else if (TILING_KEY_IS(19))
        RunKnown<float, false, 1, Known<float, false, 1280, 1024, 4096, 4, true>>(x, y, z, tiling);
    else if (TILING_KEY_IS(20))
        RunDiagonal<Known<float, false, 128, 256, 4096, 4, true>>(x, y, z, tiling);
}
