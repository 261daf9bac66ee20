#include "kernel_operator.h"

using namespace AscendC;

// __cube__ alone starts AICs: nothing here is an instruction of the cube, and the scalar unit of an AIC adds as well.
constexpr uint32_t ELEMENTS = 32768, BLOCKS = 16, PER_BLOCK = ELEMENTS / BLOCKS;

extern "C" __global__ __cube__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GlobalTensor<half> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    for (uint32_t i = 0; i < PER_BLOCK; i++)
        zGm.SetValue(i, (half)((float)xGm.GetValue(i) + (float)yGm.GetValue(i)));
    DataCacheCleanAndInvalid<half, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(zGm);
}
