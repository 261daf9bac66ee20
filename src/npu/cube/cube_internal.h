/* What the cube's instructions share: where operands lie, and moving with definedness (cube_operand.c). */
#ifndef NPU_CUBE_CUBE_INTERNAL_H
#define NPU_CUBE_CUBE_INTERNAL_H

#include "npu/cube/fractal.h"

/* Traps unless the operand lies in one of the memories (bits 1 << NPU_MEM_*) and starts at a multiple of
 * `alignment`. */
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

#endif
