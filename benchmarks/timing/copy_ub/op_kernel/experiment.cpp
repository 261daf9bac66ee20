// Copies of a matrix of halves from GM to UB on 48 cores: the shape of a tile, unaligned rows, passes over more than L2 holds and
// over less, and all cores reading one matrix, in step or each from another part on.
#include "kernel_operator.h"

using namespace AscendC;

enum Sharing { OWN, IN_STEP, IN_TURN };
// Of the matrix the columns and each core's rows; of a tile both; slices of the columns, one after the other, each so often.
template <uint32_t COLUMNS, uint32_t ROWS, uint32_t TILE_ROWS, uint32_t TILE_COLUMNS, uint32_t SLICES, uint32_t PASSES,
          Sharing SHARING>
class KernelCopy
{
  public:
    __aicore__ inline KernelCopy(GM_ADDR x)
    {
        gm.SetGlobalBuffer((__gm__ half *)x, COLUMNS * ROWS * GetBlockNum());
        if constexpr (SHARING != OWN)
            gm.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }

    __aicore__ inline void Process()
    {
        constexpr uint32_t WIDTH = COLUMNS / SLICES;
        const uint32_t blocks = GetBlockNum(), block = GetBlockIdx();
        if constexpr (SHARING == OWN) {
            for (uint32_t slice = 0; slice < SLICES; slice++)
                for (uint32_t pass = 0; pass < PASSES; pass++)
                    CopyPart<WIDTH>(block, slice * WIDTH);
        } else {
            for (uint32_t part = 0; part < blocks; part++)
                CopyPart<WIDTH>(SHARING == IN_TURN ? (part + block) % blocks : part, 0);
        }
    }

  private:
    template <uint32_t WIDTH> __aicore__ inline void CopyPart(uint32_t part, uint32_t firstColumn)
    {
        LocalTensor<half> ub(TPosition::VECIN, 0, TILE_ROWS * TILE_COLUMNS);
        const DataCopyPadExtParams<half> nothing{false, 0, 0, 0};
        for (uint32_t row = 0; row < ROWS; row += TILE_ROWS) {
            const uint32_t line = (part * ROWS + row) * COLUMNS + firstColumn;
            for (uint32_t column = 0; column < WIDTH; column += TILE_COLUMNS) {
                const uint32_t left = WIDTH - column, length = left < TILE_COLUMNS ? left : TILE_COLUMNS;
                const DataCopyExtParams rows{TILE_ROWS, static_cast<uint32_t>(length * sizeof(half)),
                                             static_cast<uint32_t>((COLUMNS - length) * sizeof(half)), 0, 0};
                DataCopyPad(ub, gm[line + column], rows, nothing);
            }
        }
    }

    GlobalTensor<half> gm;
};

template <uint32_t COLUMNS, uint32_t ROWS, uint32_t TILE_ROWS, uint32_t TILE_COLUMNS, uint32_t SLICES = 1,
          uint32_t PASSES = 1, Sharing SHARING = OWN>
__aicore__ inline void Run(GM_ADDR x)
{
    KernelCopy<COLUMNS, ROWS, TILE_ROWS, TILE_COLUMNS, SLICES, PASSES, SHARING> op(x);
    op.Process();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    if (TILING_KEY_IS(1))
        Run<12288, 256, 1, 64>(x);
    else if (TILING_KEY_IS(2))
        Run<12288, 256, 64, 64>(x);
    else if (TILING_KEY_IS(3))
        Run<12288, 256, 64, 1024>(x);
    else if (TILING_KEY_IS(4))
        Run<12287, 256, 64, 1024>(x);
    else if (TILING_KEY_IS(5))
        Run<12288, 256, 64, 1024, 1, 4>(x);
    else if (TILING_KEY_IS(6))
        Run<12288, 256, 64, 1024, 4, 4>(x);
    else if (TILING_KEY_IS(7))
        Run<512, 128, 128, 64, 1, 1, IN_STEP>(x);
    else if (TILING_KEY_IS(8))
        Run<512, 128, 128, 64, 1, 1, IN_TURN>(x);
}
