/* Where an undefined value in a register goes cannot be seen. What is stored before the basic block ends may be made of
 * it: those bytes become undefined, and whoever uses them is told. Without such a store, or with one into GM, the value
 * may have become a branch, an address or an operand. */
#include "npu/undefined_load.h"

#include "npu/report.h"

void npu_undefined_load_settle(struct npu_core *core)
{
    if (!core->undefined_load.pending)
        return;
    uint64_t pc = core->pc;
    const struct npu_insn *insn = core->insn;
    bool stored = core->undefined_load.stored;
    core->undefined_load.pending = core->undefined_load.stored = false;
    core->pc = core->undefined_load.pc;
    core->insn = NULL;
    npu_note(core, !stored, FAULT_undefined_scalar, "src0", core->undefined_load.pc_other,
             "the scalar unit reads UB bytes that nothing has written (offset %u)%s", core->undefined_load.offset,
             stored ? " and stores what it makes of them in UB" : "");
    core->pc = pc;
    core->insn = insn;
}

void npu_undefined_load(struct npu_core *core, uint64_t addr)
{
    if (npu_undefined_load_here(core) && !core->undefined_load.stored)
        return; /* one value is made of both */
    npu_undefined_load_settle(core);
    core->undefined_load.pc = core->pc;
    core->undefined_load.pc_other = core->pc_undefined;
    core->undefined_load.block = core->stats.scalar_blocks;
    core->undefined_load.offset = (uint32_t)(addr - (uint64_t)core->ub);
    core->undefined_load.pending = true;
}
