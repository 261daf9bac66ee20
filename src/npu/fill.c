/* Filling UB: Duplicate, Brcb, Copy, CreateVecIndex.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/: 数据填充/Duplicate, 数据填充/Brcb, 数据填充/CreateVecIndex,
 * 数据搬运/Copy（UBToUB掩码式高维数据搬运）. */
#include "npu/npu_internal.h"

/* ---- Duplicate
 * ------------------------------------------------------------------------------------------------------- */
int npu_check_duplicate(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    return npu_check_vector(core, insn, regs, accesses, NULL, NULL);
}

static void duplicate_run(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                          const struct npu_run *run, void *closure)
{
    (void)regs;
    (void)closure;
    size_t size = akgen_dtype_size(insn->dst_type);
    if (size == 2) {
        uint16_t value = (uint16_t)insn->scalar;
        for (uint32_t i = 0; i < run->n; i++)
            memcpy(run->dst + i * sizeof value, &value, sizeof value);
    } else {
        uint32_t value = (uint32_t)insn->scalar;
        for (uint32_t i = 0; i < run->n; i++)
            memcpy(run->dst + i * sizeof value, &value, sizeof value);
    }
    npu_ub_define(core, run->dst, run->n * size);
}

void npu_exec_duplicate(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_lanes(core, insn, regs, duplicate_run, NULL);
}
