/* Which cores a kernel starts that has no KERNEL_TASK_TYPE: its entry's qualifiers say, or what its two objects need of
 * the machine tells. CANN's compiler
 * infers the type from the instructions as well (guide, 编译与运行/算子编译/约束说明), by rules that are not published. */
#include "npu/npu.h"
#include "npu/task_types.h"
#include "toolchain/toolchain_internal.h"

#include <string.h>

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

struct core_uses core_uses_of(struct arena *arena, const char *so)
{
    struct core_uses uses = {0};
    bool copies = false;
    const char **names = so ? link_undefined(arena, so) : NULL;
    for (; names && *names; names++) {
        uses.cube |= strcmp(*names, "npu_issue_cube") == 0 || begins(*names, "npu_matmul_");
        uses.vector |=
            strcmp(*names, "npu_issue") == 0 || begins(*names, "npu_adv_") || strcmp(*names, "npu_matmul_open") == 0;
        uses.sync |= begins(*names, "npu_sync_all") || begins(*names, "npu_cross_core_");
        copies |= strcmp(*names, "npu_issue_copy") == 0;
    }
    /* Without a guard the copies into L1 stand in the object for AIVs, too, and the cube's instructions with them. */
    uses.vector |= copies && !uses.cube;
    return uses;
}

bool core_names_aic(struct arena *arena, const char *so)
{
    const struct npu_task_type *types;
    size_t count = so ? task_types_read(arena, so, &types) : 0;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        int aic = 0, aiv;
        npu_kernel_type_cores(npu_kernel_type_choose(&types[i], 1, types[i].key), &aic, &aiv);
        found |= aic > 0;
    }
    return found;
}

static int type_of_cube_kernel(const struct core_uses *aic)
{
    return aic->sync ? NPU_TYPE_MIX_AIC_1_0 : NPU_TYPE_AIC_ONLY;
}

int core_type_of(enum entry_cores named, const struct core_uses *aiv, const struct core_uses *aic)
{
    switch (named) {
    case ENTRY_VECTOR:
        return NPU_TYPE_INFERRED;
    case ENTRY_CUBE:
        return type_of_cube_kernel(aic);
    case ENTRY_MIX_0_1:
        return NPU_TYPE_MIX_AIV_1_0;
    case ENTRY_MIX_1_0:
        return NPU_TYPE_MIX_AIC_1_0;
    case ENTRY_MIX_1_1:
        return NPU_TYPE_MIX_AIC_1_1;
    case ENTRY_MIX_1_2:
        return NPU_TYPE_MIX_AIC_1_2;
    case ENTRY_UNNAMED:
        break;
    }
    if (!aic->cube)
        return NPU_TYPE_INFERRED;
    return aiv->vector ? NPU_TYPE_MIX_AIC_1_2 : type_of_cube_kernel(aic);
}
