// Matrix products that AIVs ask their AIC for, by messages: each AIV a part of the result, or a share of K that is added up in
// GM, which they clear before; the two AIVs of an AIC with a B of their own, or with one in L1 for both, or with one product for
// both; and one AIV whose product is added to what GM has. The tiling data are a TCubeTiling, A and B are row by row.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

template <typename T, bool SHARED = false>
using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T, false, LayoutMode::NONE, SHARED>;
using Norm = Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_NORM>;
using Mdl = Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_MDL>;
using SharedB = Matmul<Gm<half>, Gm<half, true>, Gm<float>, Gm<float>, CFG_IBSHARE_NORM>;
using SharedBoth = Matmul<Gm<half, true>, Gm<half, true>, Gm<float>, Gm<float>, CFG_IBSHARE_NORM>;

__aicore__ inline void ReadTiling(TCubeTiling &tiling, GM_ADDR at)
{
    for (uint32_t i = 0; i < sizeof tiling / sizeof(uint32_t); i++)
        reinterpret_cast<uint32_t *>(&tiling)[i] = ((__gm__ uint32_t *)at)[i];
}

// Block numbers go down M first, then along N, then along K.
template <typename Object> __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tilingAt)
{
    TCubeTiling tiling;
    ReadTiling(tiling, tilingAt);
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
    if (tiling.isBias) {
        GlobalTensor<float> bias;
        bias.SetGlobalBuffer((__gm__ float *)(y + uint64_t(tiling.Ka) * tiling.N * sizeof(half)), tiling.N);
        object.SetBias(bias[column]);
    }
    object.IterateAll(c[row * tiling.N + column], adds);
    object.End();
}

// One AIV's product is added to what is in GM: by the AIC that writes it there, or by the AIV, which reads both.
template <bool BY_AIC>
__aicore__ inline void RunAdded(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tilingAt)
{
    TCubeTiling tiling;
    ReadTiling(tiling, tilingAt);
    TPipe pipe;
    Norm object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    const uint32_t count = tiling.M * tiling.N;
    GlobalTensor<half> a, b;
    GlobalTensor<float> c, d, bias;
    a.SetGlobalBuffer((__gm__ half *)x, tiling.M * tiling.Ka);
    b.SetGlobalBuffer((__gm__ half *)y, tiling.Ka * tiling.N);
    bias.SetGlobalBuffer((__gm__ float *)(y + uint64_t(tiling.Ka) * tiling.N * sizeof(half)), tiling.N);
    c.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(workspace), count);
    d.SetGlobalBuffer((__gm__ float *)z, count);
    object.SetTensorA(a);
    object.SetTensorB(b);
    object.SetBias(bias);
    object.IterateAll(BY_AIC ? d : c, BY_AIC);
    if (!BY_AIC) {
        LocalTensor<float> product(TPosition::VECIN, 0, count), sum(TPosition::VECIN, count * sizeof(float), count);
        DataCopy(product, c, count);
        DataCopy(sum, d, count);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(sum, sum, product, count);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(d, sum, count);
    }
    object.End();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    KERNEL_TASK_TYPE(5, KERNEL_TYPE_MIX_AIC_1_1);
    KERNEL_TASK_TYPE(6, KERNEL_TYPE_MIX_AIC_1_1);
    if (TILING_KEY_IS(1))
        Run<Norm>(x, y, z, tiling);
    else if (TILING_KEY_IS(2))
        Run<SharedB>(x, y, z, tiling);
    else if (TILING_KEY_IS(3))
        Run<SharedBoth>(x, y, z, tiling);
    else if (TILING_KEY_IS(4))
        Run<Mdl>(x, y, z, tiling);
    else if (TILING_KEY_IS(5))
        RunAdded<false>(x, y, z, workspace, tiling);
    else if (TILING_KEY_IS(6))
        RunAdded<true>(x, y, z, workspace, tiling);
}
