// A batch of products on one block: IterateNBatch leaves them in the workspace, GetBatchTensorC says where.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr MatmulBatchParams MANY = {true, BatchMode::BATCH_LESS_THAN_L1};
constexpr MatmulConfig NORM = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MANY);

extern "C" __global__ __aicore__ void batched_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GET_TILING_DATA(data, tiling);
    const TCubeTiling &cube = data.cube;
    TPipe pipe;
    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::BNGS1S2>;
    Matmul<Half, Half, Half, Half, NORM> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &cube);
    int32_t matrices = cube.ALayoutInfoN, size = cube.M * cube.N;
    if (GetBlockIdx() >= 1)
        return;
    GlobalTensor<half> aGm, bGm, cGm, products;
    aGm.SetGlobalBuffer((__gm__ half *)a);
    bGm.SetGlobalBuffer((__gm__ half *)b);
    cGm.SetGlobalBuffer((__gm__ half *)c);
    products.SetGlobalBuffer((__gm__ half *)GetUserWorkspace(workspace));
    mm.SetTensorA(aGm);
    mm.SetTensorB(bGm);
    mm.SetWorkspace(products);
    mm.IterateNBatch<false>(matrices, 1, 1, false);
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> copies;
    constexpr int32_t PIECE = 8192;
    pipe.InitBuffer(copies, 2, PIECE * sizeof(half));
    for (int32_t i = 0; i < matrices; i++) {
        GlobalTensor<half> product = mm.GetBatchTensorC<false>(1, 1);
        for (int32_t at = 0; at < size; at += PIECE) {
            uint32_t bytes = Std::min(PIECE, size - at) * sizeof(half);
            LocalTensor<half> part = copies.AllocTensor<half>();
            DataCopyPad(part, product[at], {1, bytes, 0, 0, 0}, {false, 0, 0, 0});
            copies.EnQue(part);
            part = copies.DeQue<half>();
            DataCopyPad(cGm[i * size + at], part, {1, bytes, 0, 0, 0});
            copies.FreeTensor(part);
        }
    }
    mm.End();
}
