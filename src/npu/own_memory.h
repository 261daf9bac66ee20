/* Memory of the kernel's own (own_memory.c): the second stack of the running fiber and the variables of its object. Of a
 * kernel that did not go through the toolchain's pass (tests in C, benchmarks) the machine does not know where its memory
 * is: no object was described, and everything that is neither UB nor GM counts as its own. */
#ifndef NPU_OWN_MEMORY_H
#define NPU_OWN_MEMORY_H

#include "npu/npu_internal.h"

/* Bytes from addr to the end of the memory of the kernel's own that holds it; 0 if none does, or none that may be
 * written. */
uint64_t npu_own_room(const struct npu_core *core, uint64_t addr, bool write);
/* A trap unless [at, at + bytes) is the kernel's own. */
void npu_own_check(struct npu_core *core, const void *at, uint64_t bytes, bool write);
/* The end of a pointer that leads nowhere. */
_Noreturn void npu_bad_pointer(struct npu_core *core, uint64_t addr);
/* True if the kernel has a function of that kind (NPU_CALLBACK_*) there. */
bool npu_own_callback(const struct npu_core *core, const void *function, int kind);
/* `bytes` of the kernel's own memory for what the machine tells a function of the kernel, until npu_own_give_back(). */
void *npu_own_lend(struct npu_core *core, const void *from, uint64_t bytes);
void npu_own_give_back(struct npu_core *core, void *lent, uint64_t bytes);

#endif
