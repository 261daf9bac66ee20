#ifndef SQRT_TILE_H
#define SQRT_TILE_H
#include "kernel_operator.h"

__aicore__ inline uint32_t TileLength(uint64_t at, uint64_t end)
{
    return end - at < 4096 ? static_cast<uint32_t>(end - at) : 4096;
}
#endif
