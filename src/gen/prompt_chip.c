/* What a prompt says of the chip. */
#include "gen/prompt_internal.h"

#define MAKE(name) struct akgen_error *prompt_text_##name(struct prompt_maker *maker, const char **text)

MAKE(soc)
{
    *text = maker->options->soc->name;
    return NULL;
}

MAKE(vector_cores)
{
    *text = arena_printf(maker->arena, "%d", maker->options->soc->aiv);
    return NULL;
}

MAKE(cube_cores)
{
    *text = arena_printf(maker->arena, "%d", maker->options->soc->aic);
    return NULL;
}

MAKE(ub_bytes)
{
    *text = arena_printf(maker->arena, "%u", maker->options->soc->ub_tiling_bytes);
    return NULL;
}

MAKE(hardware)
{
    const struct npu_soc *soc = maker->options->soc;
    *text =
        arena_printf(maker->arena,
                     "| what | how much |\n"
                     "|---|---|\n"
                     "| chip | %s; an OpDef names its family: `AddConfig(\"%s\")` |\n"
                     "| vector cores (AIV) | %d |\n"
                     "| cube cores (AIC) | %d, each beside %d vector cores |\n"
                     "| Unified Buffer (UB) of a vector core | %u bytes; `GetCoreMemSize(CoreMemType::UB, ..)` tells a "
                     "tiling function "
                     "%u: plan with this figure |\n"
                     "| L1 buffer of a cube core | %u bytes |\n"
                     "| L0A, L0B, L0C of a cube core | %u, %u, %u bytes |\n"
                     "| bias table (BT) of a cube core | %u bytes |\n"
                     "| L2 cache, shared by all cores | %llu MiB |\n"
                     "| global memory (GM) | %llu GiB |\n"
                     "| clock | %d MHz |\n"
                     "| a vector instruction | takes 256 bytes a repeat (64 float, 128 half), at most 255 repeats, in "
                     "blocks of 32 bytes |",
                     soc->name, soc->family, soc->aiv, soc->aic, soc->aiv / soc->aic, soc->ub_bytes,
                     soc->ub_tiling_bytes, soc->l1_bytes, soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes,
                     (unsigned long long)(soc->l2_bytes >> 20), (unsigned long long)(soc->hbm_bytes >> 30), soc->mhz);
    return NULL;
}
