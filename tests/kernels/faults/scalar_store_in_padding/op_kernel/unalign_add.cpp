#include "kernel_operator.h"

using namespace AscendC;

// One element too many is stored, behind z.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    GlobalTensor<half> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin);
    for (uint32_t i = 0; i < PER_BLOCK; i++) {
        zGm.SetValue(i, (half)((float)xGm.GetValue(i) + (float)yGm.GetValue(i)));
    }
    if (GetBlockIdx() == BLOCKS - 1) {
        zGm.SetValue(PER_BLOCK, (half)0); // BUG: gm_padding
    }
    DataCacheCleanAndInvalid<half, CacheLine::ENTIRE_DATA_CACHE>(zGm);
}
