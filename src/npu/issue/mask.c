/* What an instruction leaves in the mask registers: the column `mask` of isa.def. Level-2 calls leave "all elements,
 * normal mode", level-0 calls the mask that they set; the others are exceptions.
 *
 * asc-devkit docs, how to use the mask operation APIs. */
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/issue/issue.h"

typedef void mask_rule(struct npu_regs *regs, const struct npu_insn *insn);

/* Takes no mask; the API calls ResetMask. */
static void all_elements(struct npu_regs *regs, const struct npu_insn *insn)
{
    (void)insn;
    regs->mask[0] = regs->mask[1] = ~UINT64_C(0);
}

static void by_form(struct npu_regs *regs, const struct npu_insn *insn)
{
    if (insn->form == NPU_FORM_COUNT) {
        regs->counter = false;
        all_elements(regs, insn);
    } else if (insn->form == NPU_FORM_MASK_LEN && regs->counter) {
        regs->mask[0] = insn->mask[0];
        regs->mask[1] = 0;
    } else if (insn->form == NPU_FORM_MASK_LEN) {
        npu_mask_of_length(regs->mask, insn->mask[0]);
    } else if (insn->form == NPU_FORM_MASK_BITS) {
        regs->mask[0] = insn->mask[0];
        regs->mask[1] = insn->mask[1];
    }
}

/* The mask argument as a count, whatever the mode; then SetMaskNorm. */
static void count(struct npu_regs *regs, const struct npu_insn *insn)
{
    if (insn->form == NPU_FORM_MASK_REG)
        return;
    regs->mask[0] = insn->mask[0];
    regs->mask[1] = 0;
    regs->counter = false;
}

/* With a destination it has no mask (insn/compare.c). */
static void compare(struct npu_regs *regs, const struct npu_insn *insn)
{
    if (!insn->dst.addr)
        by_form(regs, insn);
}

void npu_leave_mask(struct npu_core *core, const struct npu_insn *insn)
{
    static mask_rule *const rules[NPU_MASK_RULES] = {[NPU_MASK_FORM] = by_form,
                                                     [NPU_MASK_ALL] = all_elements,
                                                     [NPU_MASK_COUNT] = count,
                                                     [NPU_MASK_COMPARE] = compare};
    mask_rule *rule = rules[npu_isa[insn->op].mask];
    if (rule)
        rule(&core->regs, insn);
}
