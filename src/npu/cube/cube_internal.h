/* What the cube's instructions share: fractals, where operands lie, and moving with definedness.
 *
 * A fractal has 512 bytes: 16 rows of 32 bytes, C0 elements each. Formats (asc-devkit docs, 矩阵计算分形介绍): Nz,
 * columns of fractals one after the other, each fractal by rows (L1, and L0C with fractals of 16 x 16 elements); Zz,
 * rows of fractals, each by rows (A in L0A); Zn, rows of fractals, each by columns (B in L0B). */
#ifndef NPU_CUBE_INTERNAL_H
#define NPU_CUBE_INTERNAL_H

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

/* Traps unless the operand lies in one of the memories (bits 1 << NPU_MEM_*) and starts at a multiple of `alignment`.
 */
void npu_check_cube_operand(struct npu_core *core, const struct npu_tensor *tensor, const char *operand,
                            unsigned memories, uint32_t alignment);
/* Traps unless 0 <= value <= limit. */
void npu_check_cube_field(struct npu_core *core, const char *field, int64_t value, int64_t limit);
/* An access of `count` x `count2` runs. */
struct npu_access npu_cube_access(const struct npu_tensor *tensor, const char *operand, bool write, uint64_t offset,
                                  uint32_t bytes);
/* Moves whole elements with their definedness, between GM and local memory or within local memory. */
void npu_cube_move(struct npu_core *core, void *to, const void *from, size_t bytes);
/* Definedness of bytes of GM or local memory; its setter for local memory. */
bool npu_cube_defined(const struct npu_core *core, const void *at, size_t bytes);
void npu_cube_define(struct npu_core *core, const void *at, size_t bytes, bool defined);

/* DataCopy from L1 into the bias table or the fixpipe buffer (table_copy.c). */
int npu_check_table_copy(struct npu_core *core, struct npu_insn *insn, struct npu_access *accesses);
void npu_exec_table_copy(struct npu_core *core, const struct npu_insn *insn);

#endif
