/* The scalar unit: single elements, the kernel's place in the launch, its tiling data, printf and ASSERT. */
#include "npu/fiber.h"
#include "npu/gm/dcache.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <string.h>

static void check_extent(struct npu_core *core, const struct npu_tensor *tensor, uint64_t offset, int size, bool write)
{
    if (tensor->bytes && tensor->position != NPU_GM && offset + (uint64_t)size > tensor->bytes)
        npu_note(core, false, FAULT(tensor_overflow), write ? "dst" : "src0", 0,
                 "element at byte %llu of a local tensor of %u bytes", (unsigned long long)offset, tensor->bytes);
}

void npu_check_size(struct npu_core *core, int size)
{
    if (size != 1 && size != 2 && size != 4 && size != 8)
        npu_no_such(core, "access of so many bytes:", (unsigned)size);
}

uint64_t npu_scalar_load(const struct npu_tensor *tensor, uint64_t offset, int size)
{
    NPU_ENTER(core);
    uint64_t bits = 0, addr = tensor->addr + offset;
    npu_check_size(core, size);
    if (core->aic && tensor->position != NPU_GM) /* as CANN's LocalTensor::GetValue on a core without UB */
        return 0;
    check_extent(core, tensor, offset, size, false);
    npu_scalar_access(core, addr, (uint32_t)size, false, tensor->flags & NPU_TENSOR_RAW);
    memcpy(&bits, (const void *)addr, (size_t)size);
    return bits;
}

void npu_scalar_store(const struct npu_tensor *tensor, uint64_t offset, int size, uint64_t bits)
{
    NPU_ENTER(core);
    uint64_t addr = tensor->addr + offset;
    npu_check_size(core, size);
    if (core->aic && tensor->position != NPU_GM)
        return;
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
    fiber_yield(core);
    core->spin_cleaned = true;
    if (entire)
        dcache_clean_all(core);
    else
        dcache_clean_line(core, tensor->addr);
}

int64_t npu_block_idx(void)
{
    return npu_current->block;
}

int64_t npu_group_idx(void)
{
    return npu_current->group;
}

int64_t npu_block_num(void)
{
    return npu_current->npu->block_dim;
}

int64_t npu_sub_block_idx(void)
{
    return npu_current->sub;
}

int64_t npu_sub_block_num(void)
{
    return npu_current->aic ? 1 : npu_current->npu->aiv;
}

void npu_tiling_copy(void *to, uint64_t tiling_addr, uint32_t bytes)
{
    NPU_ENTER(core);
    struct npu_gm_region *region = npu_gm_find(core->npu, tiling_addr);
    if (!region)
        npu_trap(core, FAULT(tiling_missing), "tiling", "the kernel reads %u bytes of tiling data and there is none",
                 bytes);
    uint64_t have = region->bytes - (tiling_addr - (uint64_t)region->base);
    if (have < bytes)
        npu_trap(core, FAULT(tiling_mismatch), "tiling",
                 "the kernel's tiling structure has %u bytes, the host's has %llu: the two definitions differ", bytes,
                 (unsigned long long)have);
    memcpy(to, (const void *)tiling_addr, bytes);
}

void npu_kernel_arguments(uint64_t *arguments)
{
    _Static_assert(NPU_KERNEL_ARGUMENTS == NPU_MAX_ARGS, "as many as a launch takes");
    memcpy(arguments, npu_current->npu->args, sizeof npu_current->npu->args);
}

uint64_t npu_tiling_key(void)
{
    return npu_current->npu->config.tiling_key;
}

uint64_t npu_user_workspace(uint64_t workspace_addr)
{
    return workspace_addr + npu_current->npu->config.reserved_workspace;
}

/* Sets the part of the workspace that high-level APIs use, the reserved one before the user's. Each core sets its own. */
void npu_set_sys_workspace(uint64_t workspace_addr)
{
    npu_current->sys_workspace = workspace_addr;
}

uint64_t npu_sys_workspace(void)
{
    const struct npu *npu = npu_current->npu;
    for (int i = 0; i < npu->region_count && !npu_current->sys_workspace; i++)
        if (npu->regions[i]->kind == NPU_GM_WORKSPACE)
            return (uint64_t)npu->regions[i]->base;
    return npu_current->sys_workspace;
}

void npu_assert_failed(const char *expression, const char *file, int line)
{
    NPU_ENTER(core);
    npu_trap(core, FAULT(assertion), NULL, "ASSERT(%s) failed at %s:%d", expression, file, line);
}

void npu_user_trap(void)
{
    NPU_ENTER(core);
    npu_trap(core, FAULT(user_trap), NULL, "the kernel called Trap()");
}
