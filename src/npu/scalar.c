/* The scalar unit: single elements, the kernel's place in the launch, its tiling data, printf and ASSERT. */
#include "npu/machine_internal.h"
#include "npu/scalar_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* A loop that reads one GM address this often waits for another core: the others run. */
enum { SPIN_READS = 64 };

static bool always(void *argument)
{
    (void)argument;
    return true;
}

static void scalar_ub(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write)
{
    if (addr + bytes > (uint64_t)core->ub + core->ub_bytes || addr < (uint64_t)core->ub)
        npu_trap(core, "ub_out_of_bounds", write ? "dst" : "src0", "%u bytes at UB offset %lld; UB has %u bytes", bytes,
                 (long long)(addr - (uint64_t)core->ub), core->ub_bytes);
    if (write)
        npu_ub_define(core, (void *)addr, bytes);
    else if (!npu_ub_defined(core, (void *)addr, bytes))
        npu_note(core, NPU_UNDEFINED, true, "undefined_scalar", "src0", core->pc_undefined,
                 "the scalar unit reads UB bytes that nothing has written (offset %llu)",
                 (unsigned long long)(addr - (uint64_t)core->ub));
}

static void scalar_gm(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes, bool write)
{
    if (!write && addr == core->spin_addr) {
        if (++core->spin_count % SPIN_READS == 0)
            npu_fiber_wait(core, always, NULL, "a value in GM");
        if (core->spin_count >= SPIN_READS)
            core->spun = true;
    } else if (!write) {
        core->spin_addr = addr;
        core->spin_count = 0;
    }
    bool own = dcache_access(core, region, addr, bytes, write);
    if (write)
        core->dcache_pc = core->pc;
    if (write || own)
        return;
    /* Reading until a value appears is how blocks wait for each other through GM: what follows is ordered. */
    if (!core->spun)
        gm_read(core, "src0", addr, bytes);
    if (!npu_gm_defined(core, (void *)addr, bytes))
        npu_note(core, NPU_UNDEFINED, true, "undefined_scalar", "src0", core->pc_undefined,
                 "the scalar unit reads bytes of %s that nothing has written (offset %llu)", region->name,
                 (unsigned long long)(addr - (uint64_t)region->base));
}

void npu_scalar_access(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw)
{
    if (write)
        core->stats.scalar_stores++;
    else
        core->stats.scalar_loads++;
    npu_order_scalar(core, addr, bytes, write, raw);
    if (addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD)
        scalar_ub(core, addr, bytes, write);
    else
        scalar_gm(core, gm_check(core, write ? "dst" : "src0", addr, bytes), addr, bytes, write);
}

static void check_extent(struct npu_core *core, const struct npu_tensor *tensor, uint64_t offset, int size, bool write)
{
    if (tensor->bytes && tensor->position != NPU_GM && offset + (uint64_t)size > tensor->bytes)
        npu_note(core, NPU_DIFFERS, false, "tensor_overflow", write ? "dst" : "src0", 0,
                 "element at byte %llu of a local tensor of %u bytes", (unsigned long long)offset, tensor->bytes);
}

uint64_t npu_scalar_load(const struct npu_tensor *tensor, uint64_t offset, int size)
{
    NPU_ENTER(core);
    uint64_t bits = 0, addr = tensor->addr + offset;
    check_extent(core, tensor, offset, size, false);
    npu_scalar_access(core, addr, (uint32_t)size, false, tensor->flags & NPU_TENSOR_RAW);
    memcpy(&bits, (const void *)addr, (size_t)size);
    return bits;
}

void npu_scalar_store(const struct npu_tensor *tensor, uint64_t offset, int size, uint64_t bits)
{
    NPU_ENTER(core);
    uint64_t addr = tensor->addr + offset;
    check_extent(core, tensor, offset, size, true);
    npu_scalar_access(core, addr, (uint32_t)size, true, tensor->flags & NPU_TENSOR_RAW);
    memcpy((void *)addr, &bits, (size_t)size);
}

void npu_dcache_clean(const struct npu_tensor *tensor, int entire, int dst)
{
    NPU_ENTER(core);
    enum { CACHELINE_UB = 1 }; /* DcciDst: ALL 0, UB 1, OUT 2, ATOMIC 3 */
    if (dst == CACHELINE_UB)
        return;
    /* The others run first: on the chip they do so at the same time, and their lines are filled before this one is
     * back. */
    npu_fiber_wait(core, always, NULL, "cache maintenance");
    if (entire)
        dcache_clean_all(core);
    else
        dcache_clean_line(core, tensor->addr);
}

int64_t npu_block_idx(void)
{
    return npu_current->block;
}

int64_t npu_block_num(void)
{
    return npu_current->npu->block_dim;
}

/* Vector kernels have one AIV per block; pairs of them come with the cube unit. */
int64_t npu_sub_block_idx(void)
{
    return 0;
}

int64_t npu_sub_block_num(void)
{
    return 1;
}

int npu_core_is_aiv(void)
{
    return 1;
}

void npu_tiling_copy(void *to, uint64_t tiling_addr, uint32_t bytes)
{
    NPU_ENTER(core);
    struct npu_gm_region *region = npu_gm_find(core->npu, tiling_addr);
    if (!region)
        npu_trap(core, "tiling_missing", "tiling", "the kernel reads %u bytes of tiling data and there is none", bytes);
    uint64_t have = region->bytes - (tiling_addr - (uint64_t)region->base);
    if (have < bytes)
        npu_trap(core, "tiling_mismatch", "tiling",
                 "the kernel's tiling structure has %u bytes, the host's has %llu: the two definitions differ", bytes,
                 (unsigned long long)have);
    memcpy(to, (const void *)tiling_addr, bytes);
}

uint64_t npu_tiling_key(void)
{
    return npu_current->npu->config.tiling_key;
}

uint64_t npu_user_workspace(uint64_t workspace_addr)
{
    return workspace_addr + npu_current->npu->config.reserved_workspace;
}

/* The part of the workspace that high-level APIs use is the reserved one in front of the user's; nothing to record. */
void npu_set_sys_workspace(uint64_t workspace_addr)
{
    (void)workspace_addr;
}

void npu_kernel_type(int type)
{
    NPU_ENTER(core);
    /* KernelMetaType: AIV_ONLY 0, AIC_ONLY 1, MIX_AIV_1_0 2, MIX_AIC_1_0 3, MIX_AIC_1_1 4, MIX_AIC_1_2 5 */
    static const char *const cube_types[] = {[1] = "KERNEL_TYPE_AIC_ONLY",
                                             [3] = "KERNEL_TYPE_MIX_AIC_1_0",
                                             [4] = "KERNEL_TYPE_MIX_AIC_1_1",
                                             [5] = "KERNEL_TYPE_MIX_AIC_1_2"};
    core->stats.kernel_type = type;
    if (type >= 0 && type <= 5 && cube_types[type])
        npu_unsupported(cube_types[type]);
}

void npu_assert_failed(const char *expression, const char *file, int line)
{
    NPU_ENTER(core);
    npu_trap(core, "assertion", NULL, "ASSERT(%s) failed at %s:%d", expression, file, line);
}

void npu_user_trap(void)
{
    NPU_ENTER(core);
    npu_trap(core, "user_trap", NULL, "the kernel called Trap()");
}

void npu_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}
