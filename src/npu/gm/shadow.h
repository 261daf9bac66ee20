/* Definedness of local memory (shadow.c), and of what is copied. */
#ifndef NPU_GM_SHADOW_H
#define NPU_GM_SHADOW_H

#include "npu/npu_internal.h"

/* True if every byte of a UB range is defined. */
bool npu_ub_defined(const struct npu_core *core, const void *at, size_t bytes);
/* True if one byte of it is. */
bool npu_ub_any_defined(const struct npu_core *core, const void *at, size_t bytes);
void npu_ub_define(struct npu_core *core, const void *at, size_t bytes);
void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes);
/* The defined bits of one byte of UB. A byte counts as defined when all are; only what writes or reads single bits
 * (Compare, Select) needs more. */
uint8_t npu_ub_bits(const struct npu_core *core, const void *at);
void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits);
/* An instruction consumed bytes that were never written: one note per (pc, operand), origin remembered so that a fault
 * can name the first reader when such a value reaches an output, an address or a branch. */
void npu_undefined_read(struct npu_core *core, const char *operand, const void *at);
/* Moves definedness along with a copy: to/from UB or GM. */
void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes);

#endif
