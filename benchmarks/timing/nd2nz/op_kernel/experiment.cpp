// 8192 x 8192 halves turned into fractals by the vector unit: a Copy takes a row's eight blocks of 32 bytes apart, and how far
// apart they land in UB decides whether they collide in a bank group (144 blocks) or do not (145).
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t SIDE = 8192, TILE_ROWS = 144, TILE_COLUMNS = 128, ROW_PARTS = 6, COLUMN_PARTS = 8;
constexpr uint32_t C0 = 16, COLUMN_BLOCKS = TILE_COLUMNS / C0; // halves of a block of 32 bytes, blocks of a row
constexpr uint32_t ROW_TILES = (SIDE + TILE_ROWS - 1) / TILE_ROWS, COLUMN_TILES = SIDE / TILE_COLUMNS / COLUMN_PARTS;

template <uint32_t APART> class KernelNd2Nz
{
  public:
    __aicore__ inline KernelNd2Nz(GM_ADDR x, GM_ADDR z)
    {
        xGm.SetGlobalBuffer((__gm__ half *)x, SIDE * SIDE);
        zGm.SetGlobalBuffer((__gm__ half *)z, SIDE * SIDE);
    }

    __aicore__ inline void Process()
    {
        const uint32_t part = GetBlockIdx() / COLUMN_PARTS, firstColumn = GetBlockIdx() % COLUMN_PARTS * COLUMN_TILES;
        const uint32_t least = ROW_TILES / ROW_PARTS, more = ROW_TILES % ROW_PARTS;
        const uint32_t firstRow = part * least + (part < more ? part : more);
        const uint32_t tiles = (least + (part < more)) * COLUMN_TILES;
        for (uint32_t i = 0; i < 2; i++) {
            SetFlag<HardEvent::V_MTE2>(i);
            SetFlag<HardEvent::MTE3_V>(i);
        }
        for (uint32_t i = 0; i < tiles; i++)
            Tile((firstRow + i / COLUMN_TILES) * TILE_ROWS, (firstColumn + i % COLUMN_TILES) * TILE_COLUMNS, i % 2);
        for (uint32_t i = 0; i < 2; i++) {
            WaitFlag<HardEvent::V_MTE2>(i);
            WaitFlag<HardEvent::MTE3_V>(i);
        }
    }

  private:
    __aicore__ inline void Tile(uint32_t row, uint32_t column, uint32_t buffer)
    {
        constexpr uint32_t ND = TILE_ROWS * TILE_COLUMNS, NZ = (COLUMN_BLOCKS * APART) * C0;
        LocalTensor<half> nd(TPosition::VECIN, buffer * ND * sizeof(half), ND);
        LocalTensor<half> nz(TPosition::VECOUT, (2 * ND + buffer * NZ) * sizeof(half), NZ);
        const uint32_t rows = SIDE - row < TILE_ROWS ? SIDE - row : TILE_ROWS;
        WaitFlag<HardEvent::V_MTE2>(buffer);
        DataCopy(nd, xGm[row * SIDE + column], DataCopyParams(rows, COLUMN_BLOCKS, (SIDE - TILE_COLUMNS) / C0, 0));
        SetFlag<HardEvent::MTE2_V>(buffer);
        WaitFlag<HardEvent::MTE2_V>(buffer);
        WaitFlag<HardEvent::MTE3_V>(buffer);
        Copy(nz, nd, TILE_COLUMNS, rows, {APART, 1, 1, COLUMN_BLOCKS});
        SetFlag<HardEvent::V_MTE2>(buffer);
        SetFlag<HardEvent::V_MTE3>(buffer);
        WaitFlag<HardEvent::V_MTE3>(buffer);
        DataCopy(zGm[(row + column / C0 * SIDE) * C0], nz,
                 DataCopyParams(COLUMN_BLOCKS, rows, APART - rows, SIDE - rows));
        SetFlag<HardEvent::MTE3_V>(buffer);
    }

    GlobalTensor<half> xGm, zGm;
};

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    if (TILING_KEY_IS(1)) {
        KernelNd2Nz<TILE_ROWS> op(x, z);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        KernelNd2Nz<TILE_ROWS + 1> op(x, z);
        op.Process();
    }
}
