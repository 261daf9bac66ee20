/* Which cores a kernel starts that has no KERNEL_TASK_TYPE: its entry's qualifiers say, or what its two objects need of
 * the machine tells. CANN's compiler infers the type from the instructions as well (guide,
 * 编译与运行/算子编译/约束说明), by rules that are not published. */
#include "abi/npu_adv.h"
#include "abi/npu_matmul.h"
#include "npu/npu.h"
#include "npu/task_types.h"
#include "toolchain/toolchain_internal.h"

#include <string.h>

/* What a reference to the machine says of the object that has it. */
struct use {
    const char *name;
    bool all; /* every name that begins like this */
    struct core_uses uses;
};
/* A name that the ABI does not declare does not compile. */
#define DECLARED(function) (sizeof(&function) ? #function : NULL)
static const struct use uses_of_names[] = {
    {DECLARED(npu_issue), .uses.vector = true},
    {DECLARED(npu_issue_copy), .uses.copies = true},
    {DECLARED(npu_issue_cube), .uses.cube = true},
    {DECLARED(npu_advanced), .uses.vector = true},
    {"npu_matmul_", .all = true, .uses.cube = true},
    {DECLARED(npu_matmul_open), .uses.vector = true}, /* the client of a Matmul object runs on an AIV */
    {DECLARED(npu_sync_all), .uses.sync = true},
    {DECLARED(npu_sync_all_soft), .uses.sync = true},
    {DECLARED(npu_cross_core_set_flag), .uses.sync = true},
    {DECLARED(npu_cross_core_wait_flag), .uses.sync = true},
    /* Made of copies between UB and GM: an AIC does nothing in them. */
    {DECLARED(npu_ib_set), .uses.vector = true},
    {DECLARED(npu_ib_wait), .uses.vector = true},
    {DECLARED(npu_block_turn), .uses.vector = true},
};

struct core_uses core_uses_of_names(const char *const *names)
{
    struct core_uses all = {0};
    for (; names && *names; names++)
        for (size_t i = 0; i < sizeof uses_of_names / sizeof *uses_of_names; i++) {
            const struct use *use = &uses_of_names[i];
            if (use->all ? strncmp(*names, use->name, strlen(use->name)) != 0 : strcmp(*names, use->name) != 0)
                continue;
            all.vector |= use->uses.vector;
            all.cube |= use->uses.cube;
            all.sync |= use->uses.sync;
            all.copies |= use->uses.copies;
        }
    /* Without a guard the copies into L1 stand in the object for AIVs, too, and the cube's instructions with them. */
    all.vector |= all.copies && !all.cube;
    return all;
}

struct core_uses core_uses_of(struct arena *arena, const char *so)
{
    const char *const *names = so ? link_undefined(arena, so) : NULL;
    struct core_uses uses = core_uses_of_names(names);
    uses.unknown = so && !names;
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
