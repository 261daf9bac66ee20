/* Level-2 reductions are small programs: most of them let the scalar unit store the result and make the vector pipe and
 * MTE3 wait for it before they return. A kernel may rely on that, so the order is part of the instruction.
 *
 * asc-devkit impl/basic_api, NPU_ARCH 2201, reductions: SetFlag/WaitFlag of V_S before the scalar store, of S_V and
 * S_MTE3 after it. Two calls end with a vector instruction instead and order nothing: Max or Min with an index over a
 * single repeat, and a masked Sum over more repeats than one repeat has elements. */
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/issue/issue.h"
#include "npu/order/order.h"

static bool ends_with_scalar_store(const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t bits = npu_element_bits(insn->src_type);
    struct npu_vector v = npu_vector_shape(insn, regs, bits);
    bool counted = insn->form == NPU_FORM_COUNT;
    if (insn->op == NPU_OP_REDUCE_SUM)
        return counted || insn->form == NPU_FORM_MASK_REG || v.repeats <= v.per_repeat;
    return !(insn->flags & NPU_INSN_CAL_INDEX) || v.repeats > 1;
}

void npu_finish_composite(struct npu_core *core, const struct npu_insn *insn)
{
    if (!(npu_isa[insn->op].traits & NPU_COMPOSITE) || !ends_with_scalar_store(insn, &core->regs))
        return;
    npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
    npu_order_edge(core->order, NPU_LANE_S, NPU_LANE_V);
    npu_order_edge(core->order, NPU_LANE_S, NPU_LANE_MTE3);
}
