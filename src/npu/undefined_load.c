/* Where an undefined value in a register goes cannot be seen. What is stored before the basic block ends may be made of
 * it: those bytes become undefined, and whoever uses them is told. Without such a store, or with one into GM, the value
 * may have become a branch, an address or an operand.
 *
 * Bytes behind a tensor are read to no purpose by many a loop, so that alone is a note: the case runs again with other
 * bytes there, which shows what they decide (src/eval/case.c). */
#include "npu/undefined_load.h"

#include "npu/report.h"

static void report(struct npu_core *core)
{
    bool stored = core->undefined_load.stored && !core->undefined_load.stored_gm;
    const char *becomes = stored                           ? " and stores what it makes of them in UB"
                          : core->undefined_load.stored_gm ? " and stores what it makes of them in GM"
                                                           : "";
    if (core->undefined_load.behind)
        npu_note(core, core->undefined_load.stored_gm, FAULT(undefined_scalar), "src0", 0,
                 "the scalar unit reads bytes behind %s that nothing has written%s", core->undefined_load.behind,
                 becomes);
    else
        npu_note(core, !stored, FAULT(undefined_scalar), "src0", core->undefined_load.pc_other,
                 "the scalar unit reads UB bytes that nothing has written (offset %u)%s", core->undefined_load.offset,
                 becomes);
}

void npu_undefined_load_settle(struct npu_core *core)
{
    if (!core->undefined_load.pending)
        return;
    uint64_t pc = core->pc;
    const struct npu_insn *insn = core->insn;
    core->undefined_load.pending = false;
    core->pc = core->undefined_load.pc;
    core->insn = NULL;
    report(core);
    core->undefined_load.stored = core->undefined_load.stored_gm = false;
    core->pc = pc;
    core->insn = insn;
}

static void begin(struct npu_core *core)
{
    npu_undefined_load_settle(core);
    core->undefined_load.pc = core->pc;
    core->undefined_load.block = core->stats.scalar_blocks;
    core->undefined_load.pending = true;
}

void npu_undefined_load(struct npu_core *core, uint64_t addr)
{
    if (npu_undefined_load_here(core) && !core->undefined_load.stored && !core->undefined_load.behind)
        return; /* one value is made of both */
    begin(core);
    core->undefined_load.pc_other = core->pc_undefined;
    core->undefined_load.offset = (uint32_t)(addr - (uint64_t)core->ub);
    core->undefined_load.behind = NULL;
}

void npu_undefined_load_behind(struct npu_core *core, const char *tensor)
{
    if (npu_undefined_load_here(core) && !core->undefined_load.stored)
        return;
    begin(core);
    core->undefined_load.behind = tensor;
}
