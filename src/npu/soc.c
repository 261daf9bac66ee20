/* The chips that can be simulated, from soc.def. */
#include "npu/npu.h"

#include <strings.h>

/* Memories of an AI core are the same in every SKU (NPU_ARCH 2201): sections AICoreSpec of the same files. */
const struct npu_soc npu_socs[] = {
#define NPU_SOC(soc_name, aic_cores, aiv_cores, frequency, hbm_gib, l2_mib)                                            \
    {.name = soc_name,                                                                                                 \
     .aic = aic_cores,                                                                                                 \
     .aiv = aiv_cores,                                                                                                 \
     .mhz = frequency,                                                                                                 \
     .hbm_bytes = UINT64_C(hbm_gib) << 30,                                                                             \
     .l2_bytes = UINT64_C(l2_mib) << 20,                                                                               \
     .ub_bytes = 196608,                                                                                               \
     .ub_tiling_bytes = 196352,                                                                                        \
     .ub_reserved_bytes = 8192,                                                                                        \
     .l1_bytes = 524288,                                                                                               \
     .l0a_bytes = 65536,                                                                                               \
     .l0b_bytes = 65536,                                                                                               \
     .l0c_bytes = 131072,                                                                                              \
     .bt_bytes = 1024,                                                                                                 \
     .fb_bytes = 7168},
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
