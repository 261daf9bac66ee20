#include "kernel_operator.h"

using namespace AscendC;

// The scalar loop of the last block runs past the end of both inputs, and what it finds there becomes an output.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    __gm__ half *from = (__gm__ half *)x + GetBlockIdx() * PER_BLOCK;
    __gm__ half *more = (__gm__ half *)y + GetBlockIdx() * PER_BLOCK;
    __gm__ half *to = (__gm__ half *)z + GetBlockIdx() * PER_BLOCK;
    for (uint32_t i = 0; i <= PER_BLOCK; i++) {
        to[i % PER_BLOCK] = from[i] + more[i]; // BUG: undefined_scalar
    }
}
