/* SetCmpMask and GetCmpMask: the 128 bits of CMPMASK from UB and into it, on pipe V (asc-devkit docs,
 * 附录/API流水类型汇总). The address is a multiple of 16 bytes: SetCmpMask(ISASI).md, GetCmpMask(ISASI).md. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

enum { CMP_MASK_BYTES = 16 };

static int check(struct npu_core *core, const struct npu_tensor *mask, bool write, const char *operand,
                 struct npu_access *accesses)
{
    if (!npu_in_ub(core, mask->addr) || !npu_in_ub(core, mask->addr + CMP_MASK_BYTES - 1))
        npu_trap(core, FAULT(ub_out_of_bounds), operand, "the comparison mask takes 16 bytes of UB");
    if (mask->addr % CMP_MASK_BYTES)
        npu_trap(core, FAULT(misaligned_address), operand,
                 "the comparison mask's address is not a multiple of 16 bytes");
    accesses[0] = (struct npu_access){.addr = mask->addr,
                                      .bytes = CMP_MASK_BYTES,
                                      .count = 1,
                                      .count2 = 1,
                                      .write = write,
                                      .flags = mask->flags,
                                      .tensor = mask,
                                      .operand = operand};
    return 1;
}

int npu_check_get_cmp_mask(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    (void)regs;
    return check(core, &insn->dst, true, "dst", accesses);
}

void npu_exec_get_cmp_mask(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    memcpy((void *)insn->dst.addr, core->results.cmp_mask, CMP_MASK_BYTES);
    npu_ub_define(core, (const void *)insn->dst.addr, CMP_MASK_BYTES);
}

int npu_check_set_cmp_mask(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    (void)regs;
    return check(core, &insn->src0, false, "src", accesses);
}

void npu_exec_set_cmp_mask(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    const void *mask = (const void *)insn->src0.addr;
    if (!npu_ub_defined(core, mask, CMP_MASK_BYTES))
        npu_undefined_read(core, "src", mask);
    memcpy(core->results.cmp_mask, mask, CMP_MASK_BYTES);
}
