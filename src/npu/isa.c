/* The table of instructions, from isa.def. */
#include "npu/npu_internal.h"

/* Pipe of copies: their operands decide (issue.c). */
#define NPU_PIPE_DMA -1

const struct npu_isa_row npu_isa[NPU_OPS] = {
#define NPU_INSN(id, name, pipe, family, types, rate16, rate32, source)                                                \
    [NPU_OP_##id] = {name, NPU_PIPE_##pipe, types, rate16, rate32, source, {npu_check_##family, npu_exec_##family}},
#include "abi/isa.def"
#undef NPU_INSN
};
