/* What the compiler calls for every load, store and basic block of a candidate (-fsanitize-coverage=trace-loads,
 * trace-stores,trace-pc-guard): raw pointers into UB and GM are treated as the scalar accesses that they are. */
#include "npu/machine_internal.h"
#include "npu/scalar_internal.h"

/* Addresses this close to a GM tensor are taken for overruns of it, others for the kernel's own memory. */
enum { GM_NEAR = 4096 };

static bool is_gm(struct npu_core *core, uint64_t addr)
{
    if (gm_region_of(core, addr))
        return true;
    for (int i = 0; i < core->npu->region_count; i++) {
        const struct npu_gm_region *region = core->npu->regions[i];
        if (addr - (uint64_t)region->base + GM_NEAR < region->bytes + 2 * GM_NEAR)
            return true;
    }
    return false;
}

static inline __attribute__((always_inline)) void hook(uint64_t addr, uint32_t bytes, bool write, uint64_t pc)
{
    struct npu_core *core = npu_current;
    if (!core)
        return;
    bool ub = addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD;
    if (!ub && addr - core->npu->gm_low + GM_NEAR >= core->npu->gm_high - core->npu->gm_low + 2 * GM_NEAR)
        return;
    if (!ub && (fiber_on_stack(core->fiber, addr) || !is_gm(core, addr)))
        return;
    core->pc = pc;
    npu_scalar_access(core, addr, bytes, write, true);
}

#define HOOK(bytes)                                                                                                    \
    void __sanitizer_cov_load##bytes(void *addr);                                                                      \
    void __sanitizer_cov_store##bytes(void *addr);                                                                     \
    void __sanitizer_cov_load##bytes(void *addr)                                                                       \
    {                                                                                                                  \
        hook((uint64_t)addr, bytes, false, (uint64_t)__builtin_return_address(0));                                     \
    }                                                                                                                  \
    void __sanitizer_cov_store##bytes(void *addr)                                                                      \
    {                                                                                                                  \
        hook((uint64_t)addr, bytes, true, (uint64_t)__builtin_return_address(0));                                      \
    }
HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    (void)guard;
    if (npu_current)
        npu_current->stats.scalar_blocks++;
}

/* Guards number the blocks for coverage tools; blocks are only counted here. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    (void)start, (void)stop;
}
