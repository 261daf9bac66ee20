/* Fractals, the unit of the cube's memories.
 *
 * A fractal has 512 bytes: 16 rows of 32 bytes, C0 elements each. Formats (asc-devkit docs, 矩阵计算分形介绍): Nz,
 * columns of fractals one after the other, each fractal by rows (L1, and L0C with fractals of 16 x 16 elements); Zz,
 * rows of fractals, each by rows (A in L0A); Zn, rows of fractals, each by columns (B in L0B). */
#ifndef NPU_CUBE_FRACTAL_H
#define NPU_CUBE_FRACTAL_H

#include "npu/npu_internal.h"

enum { NPU_FRACTAL = 512, NPU_C_FRACTAL = 1024 /* in L0C: 16 x 16 elements of 4 bytes */ };

/* Bits of an element; 4 for int4. */
uint32_t npu_cube_bits(int type);
/* Elements of 32 bytes. */
static inline uint32_t npu_c0(int type)
{
    return NPU_BLOCK * 8 / npu_cube_bits(type);
}
static inline uint32_t npu_ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

#endif
