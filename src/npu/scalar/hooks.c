/* Scalar accesses, whoever reports them: tensors (scalar.c) or the calls that the toolchain's pass puts before the
 * accesses, blocks and frames of a candidate (abi/npu_hooks.h). So raw pointers into UB and GM are bounds-checked, ordered,
 * raced and counted like everything else, and lead nowhere but there and into the kernel's own memory. */
#include "abi/npu_hooks.h"
#include "npu/fiber.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/own_memory.h"
#include "npu/queue/queue.h"
#include "npu/report.h"
#include "npu/scalar/access.h"
#include "npu/steps.h"
#include "npu/sync/cross_core.h"
#include "npu/time/tape.h"
#include "npu/undefined_load.h"

#include <stdlib.h>
#include <string.h>

/* A loop that reads one GM address this often waits for another core: the others run. */
enum { SPIN_READS = 64 };

static void scalar_ub(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write)
{
    if (core->aic)
        npu_trap(core, FAULT(bad_pointer), write ? "dst" : "src0",
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
    gm_count_as_wait(core);
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
        npu_note(core, true, FAULT(undefined_scalar), "src0", core->pc_undefined,
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

/* What the scalar unit loads and stores at once is a register. */
static uint64_t words(uint64_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

void npu_scalar_access(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw)
{
    *(write ? &core->stats.scalar_stores : &core->stats.scalar_loads) += words(bytes);
    npu_order_scalar(core, addr, bytes, write, raw);
    bool ub = addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD;
    core->stats.path = npu_path(core->stats.path, addr - (ub ? (uint64_t)core->ub : core->npu->gm_low));
    struct npu_gm_region *region = ub ? NULL : gm_region_of(core, addr);
    if (!ub && core->tape)
        npu_tape_scalar_gm(core->tape, addr);
    if (ub)
        scalar_ub(core, addr, bytes, write);
    else if (region && bytes <= region->bytes - (addr - (uint64_t)region->base))
        scalar_gm(core, region, addr, bytes, write);
    else
        scalar_padding(core, addr, bytes, write);
}

static bool is_gm(struct npu_core *core, uint64_t addr)
{
    return addr - core->npu->span_low < core->npu->span_bytes || gm_region_of(core, addr);
}

/* The part of an access that one line of the scalar cache holds. */
static uint32_t part_of_line(uint64_t addr, uint64_t bytes)
{
    enum { LINE = 64 };
    uint64_t left = LINE - addr % LINE;
    return (uint32_t)(bytes < left ? bytes : left);
}

enum { MOST_AT_ONCE = 16 /* bytes of one access that the scalar unit makes */ };

/* True if the address is the device's: UB or GM. */
static inline bool is_device(struct npu_core *core, uint64_t addr)
{
    if (addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD)
        return true;
    return addr - core->npu->gm_low < core->npu->gm_high - core->npu->gm_low && is_gm(core, addr);
}

static struct npu_core *running(void)
{
    if (!npu_current)
        abort();
    return npu_current;
}

/* Bytes from addr on that one look admits: all of them in the kernel's own memory, a line of the device's. */
static uint32_t admit(struct npu_core *core, uint64_t addr, uint64_t bytes, bool write, bool *device)
{
    *device = is_device(core, addr);
    if (*device)
        return part_of_line(addr, bytes);
    npu_own_check(core, (void *)addr, bytes, write); // NOLINT: an address of the kernel's
    return 0;
}

static inline __attribute__((always_inline)) void access(uint64_t addr, uint64_t bytes, bool write, uint64_t pc)
{
    struct npu_core *core = running();
    bool device;
    core->pc = pc;
    if (bytes <= MOST_AT_ONCE) {
        if (is_device(core, addr))
            npu_scalar_access(core, addr, (uint32_t)bytes, write, true);
        else
            npu_own_check(core, (void *)addr, bytes, write); // NOLINT
        return;
    }
    for (uint32_t part; bytes; addr += part, bytes -= part) {
        if (!(part = admit(core, addr, bytes, write, &device)))
            return;
        npu_scalar_access(core, addr, part, write, true);
    }
}

#define HERE (uint64_t)__builtin_return_address(0)

void npu_load(const void *at, uint64_t bytes)
{
    access((uint64_t)at, bytes, false, HERE);
}

void npu_store(void *at, uint64_t bytes)
{
    access((uint64_t)at, bytes, true, HERE);
}

void npu_fill(void *to, uint64_t bytes)
{
    running()->stats.scalar_mix[NPU_MIX_STORE] += words(bytes);
    access((uint64_t)to, bytes, true, HERE);
}

void npu_update(void *at, uint64_t bytes)
{
    access((uint64_t)at, bytes, false, HERE);
    access((uint64_t)at, bytes, true, HERE);
}

/* Piece by piece, so that what is undefined stays so where it goes. */
void npu_copy(void *to, const void *from, uint64_t bytes)
{
    uint64_t pc = HERE, target = (uint64_t)to, source = (uint64_t)from;
    struct npu_core *core = running();
    core->pc = pc;
    core->stats.scalar_mix[NPU_MIX_LOAD] += words(bytes);
    core->stats.scalar_mix[NPU_MIX_STORE] += words(bytes);
    while (bytes) {
        uint32_t part = part_of_line(source, part_of_line(target, bytes));
        bool device;
        admit(core, source, bytes, false, &device);
        if (device)
            npu_scalar_access(core, source, part, false, true);
        admit(core, target, bytes, true, &device);
        if (device)
            npu_scalar_access(core, target, part, true, true);
        source += part;
        target += part;
        bytes -= part;
    }
}

void *npu_frame(uint64_t bytes)
{
    NPU_ENTER(core);
    return fiber_frame(core, bytes);
}

void npu_frame_end(void *frame, uint64_t bytes)
{
    fiber_frame_end(running(), frame, bytes);
}

void *npu_frame_more(uint64_t count, uint64_t size, uint64_t alignment)
{
    NPU_ENTER(core);
    return fiber_frame_more(core, count, size, alignment);
}

void *npu_frame_top(void)
{
    return fiber_frame_top(running());
}

void npu_frame_back(void *top)
{
    NPU_ENTER(core);
    fiber_frame_back(core, top);
}

/* Called by a function of the pass, whose caller is on the kernel's line: the frames begin with the caller's frame and the
 * address to return to, on x86-64 as on aarch64. */
void npu_bad_call(const void *function)
{
    struct npu_core *core = running();
    const uint64_t *own = __builtin_frame_address(0), *callers = (const uint64_t *)own[0]; // NOLINT
    core->pc = callers[1];
    npu_trap(core, FAULT(bad_pointer), NULL, "a call through a pointer that leads nowhere: %s",
             function ? "no function of that type in the kernel" : "a null pointer");
}

void npu_block(uint32_t number)
{
    struct npu_core *core = npu_current;
    const struct npu *npu = core->npu;
    if (__builtin_expect(++core->stats.scalar_blocks >= core->block_limit, false))
        npu_steps_block(core, number, HERE);
    core->stats.path = npu_path(core->stats.path, number + 1);
    if (number >= npu->block_count[core->aic])
        return;
    const uint32_t *restrict counts = npu->blocks[core->aic][number].count;
    uint64_t *restrict sums = core->stats.scalar_mix;
#pragma clang loop vectorize(enable) unroll(full)
    for (int i = 0; i < NPU_MIXES; i++)
        sums[i] += counts[i];
}
