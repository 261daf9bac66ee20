/* Kernel types: which cores a block has. A kernel names its type with KERNEL_TASK_TYPE; see npu.h for the source. */
#include "abi/npu_abi.h"
#include "npu/npu.h"

static const struct {
    const char *name;
    int meta; /* KernelMetaType */
    int aic, aiv;
} types[NPU_TYPES] = {
    [NPU_TYPE_INFERRED] = {"", -1, 0, 1},
    [NPU_TYPE_AIV_ONLY] = {"AIV_ONLY", 0, 0, 1},
    [NPU_TYPE_AIC_ONLY] = {"AIC_ONLY", 1, 1, 0},
    [NPU_TYPE_MIX_AIV_1_0] = {"MIX_AIV_1_0", 2, 0, 1},
    [NPU_TYPE_MIX_AIC_1_0] = {"MIX_AIC_1_0", 3, 1, 0},
    [NPU_TYPE_MIX_AIC_1_1] = {"MIX_AIC_1_1", 4, 1, 1},
    [NPU_TYPE_MIX_AIC_1_2] = {"MIX_AIC_1_2", 5, 1, 2},
    [NPU_TYPE_MISSING] = {"", -1, 0, 1},
    [NPU_TYPE_NO_INSTANCE] = {"", -1, 0, 1},
};

const char *npu_kernel_type_name(int type)
{
    return type >= 0 && type < NPU_TYPES ? types[type].name : "";
}

void npu_kernel_type_cores(enum npu_kernel_type type, int *aic, int *aiv)
{
    *aic = types[type].aic;
    *aiv = types[type].aiv;
}

static enum npu_kernel_type of_meta(uint64_t meta)
{
    for (int type = NPU_TYPE_AIV_ONLY; type < NPU_TYPE_MISSING; type++)
        if (meta == (uint64_t)types[type].meta)
            return (enum npu_kernel_type)type;
    return NPU_TYPE_INFERRED;
}

enum npu_kernel_type npu_kernel_type_choose(const struct npu_task_type *named, size_t count, uint64_t tiling_key)
{
    enum npu_kernel_type own = NPU_TYPE_MISSING, other = NPU_TYPE_MISSING;
    bool templated = false, instance = false, keyed = false;
    for (size_t i = 0; i < count; i++) {
        if (named[i].type >= NPU_TEMPLATE_KEY) {
            templated = true;
            instance |= named[i].key == tiling_key && named[i].type == NPU_TEMPLATE_KEY;
        } else if (named[i].key == NPU_EVERY_KEY) {
            other = of_meta(named[i].type);
        } else if (named[i].key == tiling_key) {
            own = of_meta(named[i].type);
        } else {
            keyed = true;
        }
    }
    if (templated && !instance)
        return NPU_TYPE_NO_INSTANCE;
    if (own != NPU_TYPE_MISSING || other != NPU_TYPE_MISSING)
        return own != NPU_TYPE_MISSING ? own : other;
    return keyed ? NPU_TYPE_MISSING : NPU_TYPE_INFERRED;
}
