/* The table of instructions, from isa.def. */
#ifndef NPU_ISA_H
#define NPU_ISA_H

#include "npu/npu_internal.h"

/* What an instruction leaves in the mask registers; isa.def says what each rule means. */
enum npu_mask_rule { NPU_MASK_KEEP, NPU_MASK_FORM, NPU_MASK_ALL, NPU_MASK_COUNT, NPU_MASK_COMPARE, NPU_MASK_RULES };
enum { NPU_MOVES = 1, NPU_LOOKS = 2, NPU_COMPOSITE = 4, NPU_SILENT = 8 };
/* One line of isa.def. */
struct npu_isa_row {
    const char *name;
    int pipe; /* enum npu_pipe, or -1: DMA, decided by the operands' positions */
    uint64_t types;
    uint16_t rate16, rate32;
    uint8_t mask;   /* enum npu_mask_rule */
    uint8_t traits; /* of NPU_MOVES, ... */
    const char *source;
};
extern const struct npu_isa_row npu_isa[NPU_OPS];

/* Limits of the block copy's fields: asc-devkit docs, 数据搬运/DataCopy（GM与UB高维切分数据搬运）.md, table 4, and
 * DataCopyPad（GMToUB非对齐数据搬运）.md, table 5. */
enum { NPU_MAX_BLOCK_COUNT = 4095, NPU_MAX_BLOCK_LEN = 65535, NPU_MAX_GAP = 65535, NPU_MAX_PAD_LEN = 2097151 };

/* The pipe of an instruction; where isa.def says DMA, its operands decide. */
int npu_insn_pipe(const struct npu_insn *insn);

#endif
