/* Vector instructions whose destination and source have bytes in common (overlap.c). */
#ifndef NPU_INSN_OVERLAP_H
#define NPU_INSN_OVERLAP_H

#include "npu/insn/lanes.h"

/* Sets NPU_INSN_OVERLAP if dst and a source have blocks in common in a way that takes more than lane after lane: not for
 * operands in one place, nor where each repeat adds to what the one before has left in dst and src1. */
void npu_find_overlap(const struct npu_core *core, struct npu_insn *insn, const struct npu_vector *v, bool src0,
                      bool src1);

/* The same for one more operand, `bytes` from addr on. */
void npu_find_overlap_with(struct npu_insn *insn, const struct npu_vector *v, uint64_t addr, uint64_t bytes);

/* As npu_vector_execute, for an instruction with the flag: every repeat reads all its sources before it writes. Elements
 * that the documents leave undefined are undefined. */
void npu_execute_apart(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_loop *loop,
                       bool reads_dst);

/* Who wrote which byte of dst so far, for those who execute an instruction with the flag by themselves. */
struct npu_overlap;
struct npu_overlap *npu_overlap_begin(const struct npu_insn *insn, const struct npu_vector *v);
/* Element i of repeat r writes these bytes. All of a repeat are told before the first is asked about. */
void npu_overlap_write(struct npu_overlap *overlap, uint32_t r, uint32_t i, const void *at, size_t bytes);
/* True if what element i of repeat r reads there is undefined. source: 0 or 1; 2 for another operand. */
bool npu_overlap_spoils(struct npu_overlap *overlap, uint32_t r, uint32_t i, int source, const void *at, size_t bytes);
/* Notes what was found. */
void npu_overlap_end(struct npu_core *core, struct npu_overlap *overlap);

#endif
