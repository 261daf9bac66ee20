#include "kernel_operator.h"

using namespace AscendC;

// The sum is done once more for every element whose successor is positive: for the last one what lies behind x says so.
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
    half next = xGm.GetValue(0);
    for (uint32_t i = 0; i < PER_BLOCK; i++) {
        zGm.SetValue(i, (half)((float)next + (float)yGm.GetValue(i)));
        next = xGm.GetValue(i + 1); // BUG: undefined_scalar
        if ((float)next > 0.0f) {
            zGm.SetValue(i, (half)((float)xGm.GetValue(i) + (float)yGm.GetValue(i)));
        }
    }
    DataCacheCleanAndInvalid<half, CacheLine::ENTIRE_DATA_CACHE>(zGm);
}
