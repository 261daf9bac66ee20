/* What DataCopy and DataCopyPad share: where an operand lies, which addresses the DMA accepts, and moving one block. */
#ifndef NPU_INSN_COPY_INTERNAL_H
#define NPU_INSN_COPY_INTERNAL_H

#include "npu/npu_internal.h"

/* Blocks as both sides see them, in bytes. step = distance between the starts of two blocks. */
struct npu_blocks {
    uint32_t count;
    uint64_t bytes; /* of one block */
    int64_t dst_step, src_step;
};

static inline bool npu_on_gm(const struct npu_tensor *tensor)
{
    return tensor->position == NPU_GM;
}

/* Traps unless the copy runs between GM and UB or L1 or, with `within_ub`, from UB to UB; checks the addresses'
 * alignment: 32 bytes on UB and L1, `gm_alignment` on GM. */
void npu_check_copy_path(struct npu_core *core, const struct npu_insn *insn, bool within_ub, size_t gm_alignment);
/* The footprint of one operand, neighbouring blocks joined to one run. */
void npu_copy_access(const struct npu_insn *insn, const struct npu_regs *regs, const struct npu_blocks *blocks,
                     bool write, struct npu_access *access);
/* Moves one block with its definedness, adding, maximising or minimising into GM if the registers say so. */
void npu_move_block(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint8_t *to,
                    const uint8_t *from, size_t bytes);

#endif
