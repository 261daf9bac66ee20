/* What DataCopy and DataCopyPad share: where an operand lies, which addresses the DMA accepts, and moving one block. */
#ifndef NPU_COPY_INTERNAL_H
#define NPU_COPY_INTERNAL_H

#include "npu/npu_internal.h"

/* Limits of the block copy's fields: asc-devkit docs, 数据搬运/DataCopy（GM与UB高维切分数据搬运）.md, table 4, and
 * DataCopyPad（GMToUB非对齐数据搬运）.md, table 5. */
enum { NPU_MAX_BLOCK_COUNT = 4095, NPU_MAX_BLOCK_LEN = 65535, NPU_MAX_GAP = 65535, NPU_MAX_PAD_LEN = 2097151 };

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
/* Traps if the blocks cannot be written under the atomic mode in force. */
void npu_check_atomic(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint64_t bytes);
/* One element of an atomic write: kind 1 add, 2 max, 3 min. */
void npu_combine(int kind, int type, uint8_t *old, const uint8_t *value);
/* Moves one block with its definedness, adding, maximising or minimising into GM if the registers say so. */
void npu_move_block(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint8_t *to,
                    const uint8_t *from, size_t bytes);

#endif
