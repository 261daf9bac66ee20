/* Scalar accesses, whoever reports them: tensors (scalar.c) or the hooks that the compiler inserts before every load,
 * store and basic block of a candidate (-fsanitize-coverage=trace-loads,trace-stores,trace-pc-guard). So raw pointers
 * into UB and GM are bounds-checked, ordered, raced and counted like everything else. */
#include "npu/fiber.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/queue/queue.h"
#include "npu/report.h"
#include "npu/scalar/access.h"
#include "npu/sync/cross_core.h"
#include "npu/undefined_load.h"

/* A loop that reads one GM address this often waits for another core: the others run. */
enum { SPIN_READS = 64 };

static void scalar_ub(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write)
{
    if (core->aic)
        npu_trap(core, FAULT_bad_pointer, write ? "dst" : "src0",
                 "the scalar unit of an AIC follows a pointer into L1, L0 or another of the cube's memories");
    if (addr + bytes > (uint64_t)core->ub + core->ub_bytes || addr < (uint64_t)core->ub)
        npu_local_overrun(core, NPU_MEM_UB, write ? "dst" : "src0", addr, bytes);
    if (!write && !npu_ub_defined(core, (void *)addr, bytes)) {
        npu_undefined_load(core, addr);
    } else if (write && npu_undefined_load_here(core)) {
        core->undefined_load.stored = true;
        npu_ub_undefine(core, (void *)addr, bytes);
    } else {
        if (core->undefined_load.stored || (write && core->undefined_load.pending))
            npu_undefined_load_settle(core);
        if (write)
            npu_ub_define(core, (void *)addr, bytes);
    }
}

/* Reading a word again and again, or again after its cache line was invalidated, is how blocks wait for each other
 * through GM: what follows is ordered, and the others run. A word that is there at the first look, because its writer
 * ran before, ends such a wait as well; not where AICs and AIVs run together and have flags for that: there such a look
 * is how data are handed over, but for words that were written past the cache. */
void npu_scalar_spin(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes)
{
    bool again = addr == core->spin_addr, cleaned = core->spin_cleaned;
    core->spin_addr = addr;
    core->spin_count = again ? core->spin_count + 1 : 0;
    core->spin_cleaned = false;
    bool handed = cleaned && (!core->between || cross_core_word_acquire(core, addr));
    if (handed && gm_written_by_others(core, region, addr, bytes))
        again = true;
    if (!again || (!cleaned && core->spin_count % SPIN_READS != 0))
        return;
    if (!cleaned) /* cache maintenance has let them run already */
        fiber_yield(core);
    if (!gm_written_by_others(core, region, addr, bytes)) /* nobody has answered; a word of an input never does */
        return;
    gm_forget_reads(core, region, addr);
    core->spun = true;
}

static void scalar_gm(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes, bool write)
{
    if (write && core->undefined_load.pending) {
        core->undefined_load.stored_gm = npu_undefined_load_here(core);
        npu_undefined_load_settle(core);
    }
    if (!write)
        npu_scalar_spin(core, region, addr, bytes);
    bool own = dcache_access(core, region, addr, bytes, write);
    if (write)
        core->dcache_pc = core->pc;
    if (write || own)
        return;
    gm_read(core, "src0", addr, bytes);
    if (!npu_gm_defined(core, (void *)addr, bytes))
        npu_note(core, true, FAULT_undefined_scalar, "src0", core->pc_undefined,
                 "the scalar unit reads bytes of %s that nothing has written (offset %llu)", region->name,
                 (unsigned long long)(addr - (uint64_t)region->base));
}

/* Bytes behind a tensor, in its allocation: as a copy, the scalar unit reads anything there and keeps nothing. */
static void scalar_padding(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write)
{
    uint64_t inside = gm_check_copy(core, write ? "dst" : "src0", addr, bytes, write);
    struct npu_gm_region *region = npu_gm_below(core->npu, addr);
    if (inside)
        scalar_gm(core, region, addr, (uint32_t)inside, write);
    if (!write)
        npu_undefined_load_behind(core, region->name);
}

void npu_scalar_access(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw)
{
    if (write)
        core->stats.scalar_stores++;
    else
        core->stats.scalar_loads++;
    npu_order_scalar(core, addr, bytes, write, raw);
    bool ub = addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD;
    core->stats.path = npu_path(core->stats.path, addr - (ub ? (uint64_t)core->ub : core->npu->gm_low));
    struct npu_gm_region *region = ub ? NULL : gm_region_of(core, addr);
    if (ub)
        scalar_ub(core, addr, bytes, write);
    else if (region && bytes <= region->bytes - (addr - (uint64_t)region->base))
        scalar_gm(core, region, addr, bytes, write);
    else
        scalar_padding(core, addr, bytes, write);
}

/* All else is the kernel's own: its stack, its constants and variables. */
static bool is_gm(struct npu_core *core, uint64_t addr)
{
    return addr - core->npu->span_low < core->npu->span_bytes || gm_region_of(core, addr);
}

static inline __attribute__((always_inline)) void hook(uint64_t addr, uint32_t bytes, bool write, uint64_t pc)
{
    struct npu_core *core = npu_current;
    if (!core)
        return;
    bool ub = addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD;
    if (!ub && (addr - core->npu->gm_low >= core->npu->gm_high - core->npu->gm_low || !is_gm(core, addr)))
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
    struct npu_core *core = npu_current;
    if (!core)
        return;
    core->stats.scalar_blocks++;
    core->stats.path = npu_path(core->stats.path, *guard);
}

/* Guards number the blocks of an object. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    for (uint32_t *guard = start; guard < stop; guard++)
        *guard = (uint32_t)(guard - start) + 1;
}
