/* The table of instructions, from isa.def, and what follows from a row alone. */
#include "npu/isa.h"

#include "npu/memory.h"

const char *npu_pipe_name(int pipe)
{
    static const char *const names[NPU_PIPES] = {
#define NPU_PIPE(id, number) [number] = #id,
#include "abi/pipe.def"
#undef NPU_PIPE
    };
    return pipe >= 0 && pipe < NPU_PIPES && names[pipe] ? names[pipe] : "";
}

/* Pipe of copies: their operands decide. */
#define NPU_PIPE_DMA -1

/* Traits as isa.def writes them. */
enum { MOVES = NPU_MOVES, LOOKS = NPU_LOOKS, COMPOSITE = NPU_COMPOSITE, SILENT = NPU_SILENT };

enum {
    ROWS = 0
#define NPU_INSN(id, ...) +1
#include "abi/isa.def"
#undef NPU_INSN
};
_Static_assert(ROWS == NPU_OPS - 1, "isa.def has a row for each line of op.def");

const struct npu_isa_row npu_isa[NPU_OPS] = {
#define NPU_INSN(id, name, pipe, family, types, rate16, rate32, mask, traits, source)                                  \
    [NPU_OP_##id] = {name, NPU_PIPE_##pipe, types, rate16, rate32, NPU_MASK_##mask, traits, source},
#include "abi/isa.def"
#undef NPU_INSN
};

/* The path decides (asc-devkit docs, 附录/API流水类型汇总; impl/basic_api/dav_c220 for L1->BT and L1->FB). */
int npu_insn_pipe(const struct npu_insn *insn)
{
    if (npu_isa[insn->op].pipe >= 0)
        return npu_isa[insn->op].pipe;
    enum npu_memory to = npu_memory_of(insn->dst.position), from = npu_memory_of(insn->src0.position);
    if (insn->op == NPU_OP_INIT_CONST_VALUE)
        return to == NPU_MEM_L1 ? NPU_PIPE_MTE2 : NPU_PIPE_MTE1;
    if (from == NPU_MEM_NONE)
        return NPU_PIPE_MTE2;
    if (to == NPU_MEM_NONE || to == NPU_MEM_L1)
        return NPU_PIPE_MTE3;
    if (to == NPU_MEM_FB)
        return NPU_PIPE_FIX;
    return to == NPU_MEM_UB ? NPU_PIPE_V : NPU_PIPE_MTE1;
}
