#include "kernel_operator.h"
#include "unalign_add_key.h"
#include "unalign_add_key.h"

using namespace AscendC;

// The entry is a template; the tiling key of the launch says which instance runs. Only those for half exist in this
// build, because D_T_X is the type of x.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024; // of 32768 elements

template <typename T, uint32_t TILE> class KernelAdd {
public:
    __aicore__ inline void Process(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        uint32_t begin = GetBlockIdx() * PER_BLOCK;
        xGm.SetGlobalBuffer((__gm__ T *)x + begin, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ T *)y + begin, PER_BLOCK);
        zGm.SetGlobalBuffer((__gm__ T *)z + begin, PER_BLOCK);
        pipe.InitBuffer(inQueue, 2, 2 * TILE * sizeof(T));
        pipe.InitBuffer(outQueue, 2, TILE * sizeof(T));
        for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
            LocalTensor<T> in = inQueue.template AllocTensor<T>();
            DataCopy(in, xGm[at], TILE);
            DataCopy(in[TILE], yGm[at], TILE);
            inQueue.EnQue(in);
            LocalTensor<T> local = inQueue.template DeQue<T>(), out = outQueue.template AllocTensor<T>();
            Add(out, local, local[TILE], TILE);
            outQueue.EnQue(out);
            inQueue.FreeTensor(local);
            LocalTensor<T> done = outQueue.template DeQue<T>();
            DataCopy(zGm[at], done, TILE);
            outQueue.FreeTensor(done);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<T> xGm, yGm, zGm;
};

template <typename D_T_X, int TILE, bool SPLIT, uint64_t MODE>
__global__ __aicore__ void unalign_add(GM_ADDR x, __gm__ uint8_t *y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    static_assert(std::is_same_v<D_T_X, half> || TILE < 256, "a combination that is not selected");
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    if (GetBlockIdx() == 0) {
        AscendC::printf("tile %d, split %d, mode %d, key %lu\n", TILE, int(SPLIT), int(MODE), TILING_KEY_VAR);
    }
    if constexpr (SPLIT) {
        KernelAdd<D_T_X, TILE> op;
        op.Process(x, y, z);
    }
}
