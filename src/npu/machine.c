/* The machine: made, given memory, made to run a kernel on N blocks, asked what happened. */
#include "npu/machine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

_Thread_local struct npu_core *npu_current;

/* UB of a block with its definedness; reused by the next block, so that it stays in the host's cache. */
struct ub_memory {
    struct ub_memory *next;
    uint8_t *mapping; /* guard, UB, guard */
    uint64_t *defined;
    uint8_t *bits;
};

struct npu *npu_create(const struct npu_config *config)
{
    struct npu *npu = calloc(1, sizeof *npu);
    if (!npu)
        abort();
    npu->config = *config;
    if (!npu->config.soc)
        npu->config.soc = &npu_socs[0];
    npu->stats.kernel_type = -1;
    npu->fibers = fibers_create();
    rng_seed(&npu->rng, config->seed);
    return npu;
}

void npu_destroy(struct npu *npu)
{
    for (int i = 0; i < npu->region_count; i++)
        gm_region_free(npu->regions[i]);
    free(npu->regions);
    while (npu->free_ub) {
        struct ub_memory *ub = npu->free_ub;
        npu->free_ub = ub->next;
        munmap(ub->mapping, npu->config.soc->ub_bytes + 2 * NPU_UB_GUARD);
        free(ub->defined);
        free(ub->bits);
        free(ub);
    }
    fibers_destroy(npu->fibers);
    arena_free(&npu->arena);
    free(npu);
}

const struct npu_config *npu_config_of(const struct npu *npu)
{
    return &npu->config;
}

const struct npu_finding *npu_findings(const struct npu *npu, size_t *count)
{
    *count = npu->finding_count;
    return npu->findings;
}

struct npu_stats npu_stats(const struct npu *npu)
{
    return npu->stats;
}

/* ---- cores
 * ----------------------------------------------------------------------------------------------------------- */

static struct ub_memory *ub_take(struct npu *npu)
{
    size_t bytes = npu->config.soc->ub_bytes;
    struct ub_memory *ub = npu->free_ub;
    if (ub) {
        npu->free_ub = ub->next;
    } else {
        ub = calloc(1, sizeof *ub);
        if (!ub)
            abort();
        ub->mapping = mmap(NULL, bytes + 2 * NPU_UB_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ub->defined = malloc(bytes / 8);
        ub->bits = calloc(bytes, 1);
        if (ub->mapping == MAP_FAILED || !ub->defined || !ub->bits)
            abort();
        mprotect(ub->mapping + NPU_UB_GUARD, bytes, PROT_READ | PROT_WRITE);
    }
    /* Poison: NaN as float, half and bfloat16, and a large number as an integer. */
    uint64_t *words = (uint64_t *)(ub->mapping + NPU_UB_GUARD);
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = UINT64_C(0x7fff7fff7fff7fff);
    memset(ub->defined, 0, bytes / 8);
    return ub;
}

/* First thing on a block's own stack: what the block needs exists only while it lives. */
static void block_begin(struct npu_core *core)
{
    core->ub_memory = ub_take(core->npu);
    core->ub = core->ub_memory->mapping + NPU_UB_GUARD;
    core->ub_defined = core->ub_memory->defined;
    core->ub_bits = core->ub_memory->bits;
    core->bits_low = core->bits_high = 0;
    core->order = npu_order_create(core);
    core->schedule = npu_schedule_create(core);
    core->dcache = dcache_create();
}

static void block_free(struct npu_core *core)
{
    if (!core->ub_memory)
        return;
    npu_current = core;
    npu_pipe_object_destroy(core);
    npu_schedule_destroy(core->schedule);
    npu_order_destroy(core->order);
    npu_current = NULL;
    memset(core->ub_bits + core->bits_low, 0, core->bits_high - core->bits_low);
    core->ub_memory->next = core->npu->free_ub;
    core->npu->free_ub = core->ub_memory;
    core->ub_memory = NULL;
    core->ub = NULL;
}

static void add_stats(struct npu_stats *sum, const struct npu_stats *core)
{
    sum->instructions += core->instructions;
    sum->scalar_loads += core->scalar_loads;
    sum->scalar_stores += core->scalar_stores;
    sum->scalar_blocks += core->scalar_blocks;
    sum->bytes_in += core->bytes_in;
    sum->bytes_out += core->bytes_out;
    if (core->kernel_type >= 0)
        sum->kernel_type = core->kernel_type;
}

#define ARGS_8(a, i) a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7]

/* Every kernel gets NPU_MAX_ARGS arguments and reads the first few: the caller of a C function cleans up. */
__attribute__((no_sanitize("function"))) static void call_kernel(npu_kernel *kernel, const uint64_t *args)
{
    _Static_assert(NPU_MAX_ARGS == 64, "the call below passes 64");
    kernel(ARGS_8(args, 0), ARGS_8(args, 8), ARGS_8(args, 16), ARGS_8(args, 24), ARGS_8(args, 32), ARGS_8(args, 40),
           ARGS_8(args, 48), ARGS_8(args, 56));
}

static void block_main(struct npu_core *core)
{
    block_begin(core);
    call_kernel((npu_kernel *)core->npu->kernel, core->npu->args);
    core->pc = 0;
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
}

/* ---- launching
 * ------------------------------------------------------------------------------------------------------- */

static bool can_run(const struct npu_fiber *fiber)
{
    return !fiber->done && (!fiber->ready || fiber->ready(fiber->argument));
}

/* Random order: starts the search anywhere, so that blocks run in any order that their waits allow. */
static struct npu_core *next_core(struct npu *npu, int first, int count, int after)
{
    int start = npu->config.random_order ? (int)rng_integer(&npu->rng, 0, count) : after + 1 - first;
    for (int i = 0; i < count; i++) {
        struct npu_core *core = &npu->cores[first + (start + i) % count];
        if (can_run(core->fiber))
            return core;
    }
    return NULL;
}

static void report_deadlock(struct npu *npu, int first, int count)
{
    struct npu_core *waiting = NULL;
    int ended = 0, waits = 0;
    char text[256] = "";
    size_t used = 0;
    const char *last = NULL;
    for (int i = first; i < first + count; i++) {
        struct npu_fiber *fiber = npu->cores[i].fiber;
        if (fiber->done) {
            ended++;
            continue;
        }
        waits++;
        waiting = waiting ? waiting : &npu->cores[i];
        if (fiber->waits_for != last && used < sizeof text - 80)
            used += (size_t)snprintf(text + used, sizeof text - used, "%sblock %d waits for %s", used ? ", " : "", i,
                                     fiber->waits_for);
        last = fiber->waits_for;
    }
    struct npu_place place = {
        .core = waiting->block, .pipe = NPU_PIPE_S, .pc = waiting->fiber->waits_pc, .api = waiting->fiber->waits_for};
    fault_record(npu, NPU_TRAP, true, "deadlock", NULL, &place,
                 "no block can go on: %s; %d of %d blocks wait, %d have ended", text, waits, count, ended);
    npu->ended = true;
}

/* Lines that blocks left in their caches reach GM last: on the chip the blocks of a wave run side by side. */
static void wave_end(struct npu *npu, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        struct npu_core *core = &npu->cores[i];
        if (core->dcache && !npu->ended) {
            core->pc = core->dcache_pc;
            dcache_swap_in(core);
            dcache_clean_all(core);
        }
    }
    for (int i = first; i < first + count; i++) {
        struct npu_core *core = &npu->cores[i];
        block_free(core);
        if (core->dcache)
            dcache_destroy(core->dcache);
        core->dcache = NULL;
        fiber_release(core->fiber);
        add_stats(&npu->stats, &core->stats);
    }
}

static void run_wave(struct npu *npu, int first, int count)
{
    int alive = count, last = first - 1;
    while (alive > 0 && !npu->ended) {
        struct npu_core *core = next_core(npu, first, count, last);
        if (!core) {
            report_deadlock(npu, first, count);
            break;
        }
        last = core->block;
        if (core->dcache)
            dcache_swap_in(core);
        fiber_resume(core->fiber, block_main);
        if (npu->ended)
            break;
        dcache_swap_out(core);
        if (core->fiber->done) {
            alive--;
            block_free(core);
            fiber_release(core->fiber);
        }
    }
    wave_end(npu, first, count);
}

static void launch_begin(struct npu *npu, int block_dim)
{
    npu->block_dim = npu->core_count = block_dim;
    npu->cores = calloc((size_t)block_dim, sizeof *npu->cores);
    struct npu_fiber *fibers = calloc((size_t)block_dim, sizeof *fibers);
    npu->sync = (struct npu_sync_state){.flag_sets = calloc((size_t)block_dim * NPU_CROSS_FLAGS, sizeof(uint32_t)),
                                        .flag_waits = calloc((size_t)block_dim * NPU_CROSS_FLAGS, sizeof(uint32_t))};
    if (!npu->cores || !fibers || !npu->sync.flag_sets || !npu->sync.flag_waits)
        abort();
    for (int i = 0; i < block_dim; i++) {
        struct npu_core *core = &npu->cores[i];
        core->npu = npu;
        core->block = i;
        core->ub_bytes = npu->config.soc->ub_bytes;
        core->regs.mask[0] = core->regs.mask[1] = ~UINT64_C(0);
        core->stats.kernel_type = -1;
        core->view = gm_view_create();
        core->fiber = &fibers[i];
        fibers[i].core = core;
    }
}

static void launch_end(struct npu *npu)
{
    if (!npu->ended)
        gm_epoch_end(npu);
    gm_report_undefined(npu);
    for (int i = 0; i < npu->block_dim; i++)
        gm_view_destroy(npu->cores[i].view);
    free(npu->cores[0].fiber);
    free(npu->cores);
    free(npu->sync.flag_sets);
    free(npu->sync.flag_waits);
    npu->cores = NULL;
    npu->core_count = 0;
}

bool npu_launch(struct npu *npu, void *kernel, const uint64_t *args, int arg_count, int block_dim)
{
    int cores = npu->config.soc->aiv;
    if (block_dim < 1 || block_dim > 65535) {
        struct npu_place nowhere = {.core = 0, .pipe = -1};
        fault_record(npu, NPU_TRAP, true, "block_dim", NULL, &nowhere,
                     "the launch has %d blocks; 1 to 65535 are possible", block_dim);
        return false;
    }
    npu->ended = false;
    npu->kernel = kernel;
    memset(npu->args, 0, sizeof npu->args);
    memcpy(npu->args, args, (size_t)(arg_count < NPU_MAX_ARGS ? arg_count : NPU_MAX_ARGS) * sizeof *args);
    launch_begin(npu, block_dim);
    fault_install_signals();
    npu->stats.blocks += block_dim;
    for (int first = 0; first < block_dim && !npu->ended; first += cores) {
        run_wave(npu, first, block_dim - first < cores ? block_dim - first : cores);
        npu->stats.waves++;
    }
    fault_restore_signals();
    launch_end(npu);
    return !npu->fatal;
}
