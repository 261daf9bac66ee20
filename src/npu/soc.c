/* The chips that can be simulated, from soc.def. */
#include "npu/npu.h"

#include <strings.h>

/* What instructions can use of an AI core's memories, and what tiling functions are told. */
enum {
#define NPU_MEMORY(id, bytes, told, ...) id##_BYTES = bytes, id##_TOLD = told,
#include "npu/memory.def"
#undef NPU_MEMORY
    UB_RESERVED = 8192
};

const struct npu_soc npu_socs[] = {
#define NPU_SOC(soc_name, soc_family, aic_cores, aiv_cores, frequency, hbm_gib, l2_mib)                                \
    {.name = soc_name,                                                                                                 \
     .family = soc_family,                                                                                             \
     .aic = aic_cores,                                                                                                 \
     .aiv = aiv_cores,                                                                                                 \
     .mhz = frequency,                                                                                                 \
     .hbm_bytes = UINT64_C(hbm_gib) << 30,                                                                             \
     .l2_bytes = UINT64_C(l2_mib) << 20,                                                                               \
     .ub_bytes = UB_BYTES,                                                                                             \
     .ub_tiling_bytes = UB_TOLD,                                                                                       \
     .ub_reserved_bytes = UB_RESERVED,                                                                                 \
     .l1_bytes = L1_TOLD,                                                                                              \
     .l0a_bytes = L0A_TOLD,                                                                                            \
     .l0b_bytes = L0B_TOLD,                                                                                            \
     .l0c_bytes = L0C_TOLD,                                                                                            \
     .bt_bytes = BT_TOLD,                                                                                              \
     .fb_bytes = FB_TOLD},
#include "npu/soc.def"
#undef NPU_SOC
    {.name = NULL}};

static const char *without_vendor(const char *name)
{
    return strncasecmp(name, "Ascend", 6) == 0 ? name + 6 : name;
}

const struct npu_soc *npu_soc_find(const char *name)
{
    for (const struct npu_soc *soc = npu_socs; soc->name; soc++)
        if (strcasecmp(without_vendor(soc->name), without_vendor(name)) == 0)
            return soc;
    return NULL;
}
