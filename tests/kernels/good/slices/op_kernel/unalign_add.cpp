#include "kernel_operator.h"

using namespace AscendC;

// Eight rows of the matrix in each block, by SliceInfo: whole rows in, every other piece of 16 columns out, twice.
constexpr uint32_t ROWS = 128, COLUMNS = 256, OWN = 8, PIECE = 16;

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    LocalMemAllocator<Hardware::UB> ub;
    LocalTensor<half> a = ub.Alloc<half, OWN * COLUMNS>(), b = ub.Alloc<half, OWN * COLUMNS>();
    GlobalTensor<half> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ half *)x, ROWS * COLUMNS);
    yGm.SetGlobalBuffer((__gm__ half *)y + GetBlockIdx() * OWN * COLUMNS, OWN * COLUMNS);
    zGm.SetGlobalBuffer((__gm__ half *)z, ROWS * COLUMNS);
    uint32_t first = GetBlockIdx() * OWN, last = first + OWN - 1;
    SliceInfo rows[] = {{0, COLUMNS - 1, 0, COLUMNS / PIECE, COLUMNS}, {first, last, 0, 1, ROWS}};
    SliceInfo local[] = {{0, COLUMNS - 1, 0, COLUMNS / PIECE, COLUMNS}, {0, OWN - 1, 0, 1, OWN}};
    DataCopy(a, xGm, local, rows, 2);
    // the rows of y in one piece: one dimension, the extents the tensors' own
    uint32_t extent[] = {OWN * COLUMNS};
    ShapeInfo whole(1, extent);
    b.SetShapeInfo(whole);
    yGm.SetShapeInfo(whole);
    SliceInfo piece[] = {{0, OWN * COLUMNS - 1, 0, OWN * COLUMNS / PIECE}};
    DataCopy(b, yGm, piece, piece);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Add(a, a, b, OWN * COLUMNS);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    for (uint32_t start = 0; start < 2 * PIECE; start += PIECE) {
        SliceInfo to[] = {{start, start + COLUMNS - PIECE - 1, PIECE, 1, COLUMNS}, {first, last, 0, 1, ROWS}};
        SliceInfo from[] = {{start, start + COLUMNS - PIECE - 1, PIECE, 1, COLUMNS}, {0, OWN - 1, 0, 1, OWN}};
        DataCopy(zGm, a, to, from, 2);
    }
}
