/* Atomic writes to GM (atomic.c): what SetAtomicAdd, SetAtomicMax and SetAtomicMin make of a copy. */
#ifndef NPU_GM_ATOMIC_H
#define NPU_GM_ATOMIC_H

#include "npu/npu_internal.h"

/* Bytes of an element that has atomic operations, enum akgen_dtype; 0 for other types. */
size_t npu_atomic_size(int type);
/* Traps if the blocks of `bytes` bytes cannot be written under the atomic mode in force. */
void npu_check_atomic(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint64_t bytes);
/* One element of an atomic write: kind 1 add, 2 max, 3 min. */
void npu_combine(int kind, int type, uint8_t *old, const uint8_t *value);

#endif
