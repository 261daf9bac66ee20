/* What a host part learns of the chip, and CANN's names and sizes of types. The platform handle is a struct npu_soc. */
#include "op/op_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What AscendC's library keeps at the start of the workspace on a 910B, and what a group of cores needs for its
 * messages or its barrier (asc-devkit, impl/utils/tiling/platform). */
enum { LIBRARY_WORKSPACE = 16 * 1024 * 1024, GROUP_WORKSPACE = 1024 * 1024 };

struct akgen_platform *akgen_platform_current(void)
{
    const struct npu_soc *soc = op_current_context ? op_current_context->soc : &npu_socs[0];
    return (struct akgen_platform *)soc;
}

static const struct npu_soc *soc_of(const struct akgen_platform *platform)
{
    return (const struct npu_soc *)platform;
}

uint32_t akgen_platform_aic(const struct akgen_platform *platform)
{
    return (uint32_t)soc_of(platform)->aic;
}

uint32_t akgen_platform_aiv(const struct akgen_platform *platform)
{
    return (uint32_t)soc_of(platform)->aiv;
}

uint64_t akgen_platform_memory(const struct akgen_platform *platform, int memory)
{
    const struct npu_soc *soc = soc_of(platform);
    /* platform_ascendc::CoreMemType */
    const uint64_t bytes[] = {soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes, soc->l1_bytes, soc->l2_bytes,
                              soc->ub_bytes,  soc->hbm_bytes, soc->fb_bytes,  soc->bt_bytes};
    return memory >= 0 && memory < (int)(sizeof bytes / sizeof *bytes) ? bytes[memory] : 0;
}

uint64_t akgen_platform_tiling_memory(const struct akgen_platform *platform, int memory)
{
    enum { L1 = 3, UB = 5 };
    const struct npu_soc *soc = soc_of(platform);
    /* The same 256 bytes of UB and of L1 are kept for messages between cores (asc-devkit,
     * impl/utils/tiling/platform). */
    uint64_t kept = memory == UB || memory == L1 ? soc->ub_bytes - soc->ub_tiling_bytes : 0;
    return akgen_platform_memory(platform, memory) - kept;
}

uint64_t akgen_platform_bandwidth(const struct akgen_platform *platform, int memory)
{
    (void)platform;
    enum { L2 = 4, HBM = 6 };
    /* CANN's platform configuration of every 910B and 910_93: l2_rate=110, ddr_rate=32 bytes per cycle. */
    return memory == L2 ? 110 : memory == HBM ? 32 : 0;
}

/* Lines that all of them share (CANN 8.1, data/platform_config/Ascend910B*.ini and Ascend910_93*.ini). */
static const char *shared_resource(const char *section, const char *key)
{
    static const struct {
        const char *section, *key, *value;
    } lines[] = {
        {"version", "AIC_version", "AIC-C-220"},
        {"SoCInfo", "cube_vector_combine", "split"},
        {"SoCInfo", "ai_cpu_cnt", "4"},
        {"AICoreSpec", "ubblock_size", "32"},
        {"AICoreMemoryRates", "ddr_rate", "32"},
        {"AICoreMemoryRates", "l2_rate", "110"},
        {"AICoreintrinsicDtypeMap", "Intrinsic_mmad",
         "u32u8u8,s32s8s8,s32u8s8,f16f16f16,f32f16f16,f16f16u2,u8,s8,f162f16,f162f32,f16u2,u8s8,h322f32,f32f32f32,"
         "f322f32"},
        {"AICoreintrinsicDtypeMap", "Intrinsic_data_move_l12bt", "u8,s8,f16,u16,s16,f32,s32,u32"},
        {"AICoreintrinsicDtypeMap", "Intrinsic_data_move_out2l1_nd2nz", "u8,s8,f16,bf16,u16,s16,f32,s32,u32"},
        {"AICoreintrinsicDtypeMap", "Intrinsic_fix_pipe_l0c2out", "f32,s32,f16"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(lines[i].section, section) == 0 && strcmp(lines[i].key, key) == 0)
            return lines[i].value;
    return NULL;
}

const char *akgen_platform_resource(const struct akgen_platform *platform, const char *section, const char *key)
{
    static _Thread_local char text[24];
    const struct npu_soc *soc = soc_of(platform);
    const struct {
        const char *section, *key;
        uint64_t value;
    } numbers[] = {
        {"SoCInfo", "ai_core_cnt", (uint64_t)soc->aic},
        {"SoCInfo", "cube_core_cnt", (uint64_t)soc->aic},
        {"SoCInfo", "vector_core_cnt", (uint64_t)soc->aiv},
        {"SoCInfo", "memory_size", soc->hbm_bytes},
        {"SoCInfo", "l2_size", soc->l2_bytes},
        {"AICoreSpec", "cube_freq", (uint64_t)soc->mhz},
        {"AICoreSpec", "l0_a_size", soc->l0a_bytes},
        {"AICoreSpec", "l0_b_size", soc->l0b_bytes},
        {"AICoreSpec", "l0_c_size", soc->l0c_bytes},
        {"AICoreSpec", "l1_size", soc->l1_bytes},
        {"AICoreSpec", "ub_size", soc->ub_bytes},
        {"AICoreSpec", "bt_size", soc->bt_bytes},
    };
    if (strcmp(section, "version") == 0 && strcmp(key, "SoC_version") == 0)
        return soc->name;
    static const char newer[] = "Ascend910_93";
    if (strcmp(section, "version") == 0 && strcmp(key, "Short_SoC_version") == 0)
        return strncmp(soc->name, newer, sizeof newer - 1) == 0 ? newer : "Ascend910B";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].section, section) == 0 && strcmp(numbers[i].key, key) == 0) {
            snprintf(text, sizeof text, "%" PRIu64, numbers[i].value);
            return text;
        }
    return shared_resource(section, key);
}

uint32_t akgen_platform_library_workspace(void)
{
    return LIBRARY_WORKSPACE;
}

uint32_t akgen_platform_group_workspace(void)
{
    return GROUP_WORKSPACE;
}

/* asc-devkit docs, CalcTschNumBlocks: with both kinds of core a block is one cube core and its vector cores. */
uint32_t akgen_platform_blocks(uint32_t slices, uint32_t aic, uint32_t aiv)
{
    if (aic == 0 || aiv == 0 || aic > aiv)
        return slices;
    uint32_t vectors_per_cube = aiv / aic;
    uint32_t blocks = (uint32_t)(((uint64_t)slices + vectors_per_cube - 1) / vectors_per_cube);
    return vectors_per_cube == 2 && blocks > aic ? 0 : blocks; /* CANN's answer to more blocks than cube cores */
}

int akgen_ge_dtype_size(int dtype)
{
    enum {
        DT_COMPLEX128 = 17,
        DT_QINT8 = 18,
        DT_QINT16 = 19,
        DT_QINT32 = 20,
        DT_QUINT8 = 21,
        DT_QUINT16 = 22,
        DT_COMPLEX32 = 33
    };
    switch (dtype) {
    case AKGEN_INT4:
        return 1004; /* CANN's mark for 'bits': kDataTypeSizeBitOffset 1000 + 4 */
    case DT_COMPLEX128:
        return 16;
    case DT_QINT8:
    case DT_QUINT8:
        return 1;
    case DT_QINT16:
    case DT_QUINT16:
        return 2;
    case DT_QINT32:
    case DT_COMPLEX32:
        return 4;
    default: {
        size_t bytes = akgen_dtype_size((enum akgen_dtype)dtype);
        return bytes ? (int)bytes : -1;
    }
    }
}

const char *akgen_ge_dtype_name(int dtype)
{
    const char *name = akgen_dtype_ge_name((enum akgen_dtype)dtype);
    return name ? name : "DT_UNDEFINED";
}

const char *akgen_ge_format_name(int format)
{
    static const char *const names[] = {
        [0] = "NCHW",          [1] = "NHWC",        [2] = "ND",     [3] = "NC1HWC0", [4] = "FRACTAL_Z", [16] = "HWCN",
        [27] = "NDHWC",        [29] = "FRACTAL_NZ", [30] = "NCDHW", [31] = "DHWCN",  [32] = "NDC1HWC0", [35] = "NC",
        [33] = "FRACTAL_Z_3D", [34] = "CN",         [47] = "NCL",
    };
    const char *name = format >= 0 && format < (int)(sizeof names / sizeof *names) ? names[format] : NULL;
    return name ? name : "RESERVED";
}

int64_t akgen_shape_elements(const struct akgen_shape *shape)
{
    int64_t elements = 1;
    for (size_t i = 0; i < shape->rank && i < AKGEN_MAX_RANK; i++)
        if (shape->dims[i] < 0 || __builtin_mul_overflow(elements, shape->dims[i], &elements))
            return -1;
    return elements;
}
