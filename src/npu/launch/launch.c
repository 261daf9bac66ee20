/* The machine: made, given memory, made to run a kernel on N blocks, asked what happened. */
#include "base/arena.h"
#include "base/random.h"
#include "npu/adv/matmul.h"
#include "npu/area.h"
#include "npu/fiber.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/gm_region.h"
#include "npu/issue/issue.h"
#include "npu/launch/own_variables.h"
#include "npu/scalar/arguments.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/between.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/order/weigh.h"
#include "npu/queue/queue.h"
#include "npu/report.h"
#include "npu/steps.h"
#include "npu/sync/cross_core.h"
#include "npu/time/tape.h"
#include "npu/undefined_load.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The local memory of a block with its definedness; reused by the next block of the kind, so that it stays in the
 * host's cache. */
struct ub_memory {
    struct ub_memory *next;
    size_t bytes;
    uint8_t *at; /* in NPU_AREA_LOCAL: nothing is mapped around it */
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
    npu->fibers = fibers_create();
    rng_seed(&npu->rng, config->seed);
    return npu;
}

static void ub_free_all(struct ub_memory *ub)
{
    while (ub) {
        struct ub_memory *next = ub->next;
        munmap(ub->at, ub->bytes);
        free(ub->defined);
        free(ub->bits);
        free(ub);
        ub = next;
    }
}

void npu_destroy(struct npu *npu)
{
    for (int i = 0; i < npu->region_count; i++)
        gm_region_free(npu->regions[i]);
    free(npu->regions);
    ub_free_all(npu->free_ub[false]);
    ub_free_all(npu->free_ub[true]);
    fibers_destroy(npu->fibers);
    arena_free(&npu->arena);
    free(npu);
}

const struct npu_finding *npu_findings(const struct npu *npu, size_t *count)
{
    *count = npu->finding_count;
    return npu->findings;
}

const struct npu_racing_read *npu_racing_reads(const struct npu *npu, size_t *count)
{
    *count = npu->racing_lost ? 0 : npu->racing_count;
    return npu->racing;
}

const struct npu_endless *npu_endless(const struct npu *npu, size_t *count)
{
    *count = npu->endless_count;
    return npu->endless;
}

struct npu_stats npu_stats(const struct npu *npu)
{
    return npu->stats;
}

struct npu_timing npu_timing(const struct npu *npu)
{
    return npu->timing;
}

/* Cores. */

static struct ub_memory *ub_take(struct npu *npu, bool aic, size_t bytes)
{
    struct ub_memory *ub = npu->free_ub[aic];
    if (ub) {
        npu->free_ub[aic] = ub->next;
    } else {
        ub = calloc(1, sizeof *ub);
        if (!ub)
            abort();
        ub->bytes = bytes;
        ub->at = npu_area_map(NPU_AREA_LOCAL, &npu->next_ub, bytes, -1);
        ub->defined = malloc(bytes / 8);
        ub->bits = calloc(bytes, 1);
        if (ub->at == MAP_FAILED || !ub->defined || !ub->bits)
            abort();
    }
    /* Poison: NaN as float, half and bfloat16, and a large number as an integer. */
    uint64_t *words = (uint64_t *)ub->at;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = npu->config.poison ? npu->config.poison : UINT64_C(0x7fff7fff7fff7fff);
    memset(ub->defined, 0, bytes / 8);
    return ub;
}

/* What a block needs exists only while it lives. Made before its stack is, on which a kernel that forgets to initialise
 * a variable finds zeros and nothing of the machine's. */
static void block_begin(struct npu_core *core)
{
    npu_current = core;
    core->ub_memory = ub_take(core->npu, core->aic, core->ub_bytes);
    core->ub = core->ub_memory->at;
    core->ub_defined = core->ub_memory->defined;
    core->ub_bits = core->ub_memory->bits;
    core->bits_low = core->bits_high = 0;
    core->log = core->npu->config.log ? npu_log_sync : NULL;
    core->execute = npu_execute;
    core->tape = core->npu->config.timing && !core->npu->config.random_order ? npu_tape_create() : NULL;
    core->order = npu_order_create(core);
    core->schedule = npu_schedule_create(core);
    core->dcache = dcache_create(core->aic);
    npu_current = NULL;
}

static void block_free(struct npu_core *core)
{
    own_variables_free(core);
    npu_arguments_free(core);
    if (!core->ub_memory)
        return;
    npu_current = core;
    npu_undefined_load_settle(core);
    npu_pipe_object_destroy(core);
    npu_schedule_destroy(core->schedule);
    npu_order_destroy(core);
    free(core->cube_scratch);
    core->cube_scratch = NULL;
    free(core->matmul);
    core->matmul = NULL;
    npu_current = NULL;
    memset(core->ub_bits + core->bits_low, 0, core->bits_high - core->bits_low);
    core->ub_memory->next = core->npu->free_ub[core->aic];
    core->npu->free_ub[core->aic] = core->ub_memory;
    core->ub_memory = NULL;
    core->ub = NULL;
}

static void add_stats(struct npu_stats *sum, const struct npu_stats *core)
{
    sum->instructions += core->instructions;
    sum->scalar_loads += core->scalar_loads;
    sum->scalar_stores += core->scalar_stores;
    sum->scalar_blocks += core->scalar_blocks;
    for (int i = 0; i < NPU_MIXES; i++)
        sum->scalar_mix[i] += core->scalar_mix[i];
    sum->bytes_in += core->bytes_in;
    sum->bytes_out += core->bytes_out;
    sum->cores_busy += core->bytes_out > 0;
    sum->cores_spun += core->cores_spun;
    sum->path = npu_path(sum->path, core->path);
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
    struct npu *npu = core->npu;
    call_kernel((npu_kernel *)(core->aic ? npu->config.aic_kernel : npu->kernel), npu->args);
    core->pc = 0;
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
    if (core->tape)
        npu_tape_end(core);
    core->order->timed = NULL;
}

/* Launching. */

static bool can_run(const struct npu_fiber *fiber)
{
    return !fiber->done && !fiber->core->stopped && (!fiber->ready || fiber->ready(fiber->argument));
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

static bool waits_alike(const struct npu_fiber *a, const struct npu_fiber *b)
{
    return !a->done && a->waits_for == b->waits_for && a->waits_flag == b->waits_flag &&
           a->waits_mode == b->waits_mode && a->core->aic == b->core->aic;
}

/* The different reasons for which cores wait, each with the first core that has it, as far as there is room. */
static void describe_waits(const struct npu *npu, int first, int count, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = first; i < first + count; i++) {
        const struct npu_fiber *fiber = npu->cores[i].fiber;
        char name[32], reason[160];
        bool said = fiber->done || used + sizeof name + sizeof reason > bytes;
        for (int k = first; k < i && !said; k++)
            said = waits_alike(npu->cores[k].fiber, fiber);
        if (said)
            continue;
        snprintf(reason, sizeof reason, "%s", fiber->waits_for);
        if (fiber->waits_flag >= 0)
            cross_core_describe(fiber->core, reason, sizeof reason);
        used += (size_t)snprintf(text + used, bytes - used, "%s%s waits for %s", used ? "; " : "",
                                 npu_core_name(fiber->core, name, sizeof name), reason);
    }
}

static void report_deadlock(struct npu *npu, int first, int count)
{
    const struct npu_core *waiting = &npu->cores[first];
    int ended = 0;
    char text[640];
    for (int i = first + count - 1; i >= first; i--) {
        ended += npu->cores[i].fiber->done;
        waiting = npu->cores[i].fiber->done ? waiting : &npu->cores[i];
    }
    describe_waits(npu, first, count, text, sizeof text);
    assert(waiting); /* a wave whose blocks have all ended is over */
    struct npu_place place = {.core = waiting->block,
                              .aic = waiting->aic,
                              .pipe = NPU_PIPE_S,
                              .pc = waiting->fiber->waits_pc,
                              .api = waiting->fiber->waits_for};
    fault_record(npu, true, FAULT(deadlock), NULL, &place, "no block can go on: %s; %d of %d %s wait, %d have ended",
                 text, count - ended, count, npu->aic && npu->aiv ? "cores" : "blocks", ended);
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
        npu_steps_free(core);
        gm_view_shrink(core->view);
        between_shrink(core->between);
        add_stats(&npu->stats, &core->stats);
    }
}

static void run_wave(struct npu *npu, int first, int count)
{
    int alive = count, last = first - 1;
    while (alive > 0 && !npu->ended) {
        struct npu_core *core = next_core(npu, first, count, last);
        if (!core) {
            if (!npu->spent)
                report_deadlock(npu, first, count);
            break;
        }
        last = core->index;
        if (core->dcache)
            dcache_swap_in(core);
        if (!core->fiber->started)
            block_begin(core);
        own_variables_in(core);
        npu_steps_resume(core);
        fiber_resume(core->fiber, block_main);
        npu_steps_pause(core);
        own_variables_out(core);
        if (npu->ended)
            break;
        dcache_swap_out(core);
        if (core->fiber->done) {
            alive--;
            block_free(core);
            fiber_release(core->fiber);
        }
    }
    npu_steps_report(npu, first, count);
    wave_end(npu, first, count);
}

/* A block of a kernel that starts both kinds is one AIC with its AIVs; as many run at a time as there are AICs. */
static void shape_launch(struct npu *npu, int block_dim)
{
    const struct npu_soc *soc = npu->config.soc;
    npu_kernel_type_cores(npu->config.kernel_type, &npu->aic, &npu->aiv);
    npu->block_dim = block_dim;
    npu->core_count = block_dim * (npu->aic + npu->aiv);
    npu->wave_blocks = npu->aic ? soc->aic : soc->aiv;
}

static void core_begin(struct npu_core *core, int index, struct npu_fiber *fiber)
{
    struct npu *npu = core->npu;
    int per_block = npu->aic + npu->aiv, place = index % per_block;
    core->index = index;
    core->group = index / per_block;
    core->aic = place < npu->aic;
    core->sub = core->aic ? 0 : place - npu->aic;
    core->block = core->aic ? core->group : core->group * npu->aiv + core->sub;
    core->ub_bytes = core->aic ? NPU_AIC_BYTES : npu->config.soc->ub_bytes;
    core->regs.mask[0] = core->regs.mask[1] = ~UINT64_C(0);
    core->view = gm_view_create();
    if (npu->aic && npu->aiv)
        core->between = between_create(npu->core_count);
    core->fiber = fiber;
    fiber->core = core;
    fiber->waits_flag = -1;
}

static void launch_begin(struct npu *npu, int block_dim)
{
    shape_launch(npu, block_dim);
    npu->cores = calloc((size_t)npu->core_count, sizeof *npu->cores);
    npu->core_fibers = calloc((size_t)npu->core_count, sizeof *npu->core_fibers);
    if (!npu->cores || !npu->core_fibers)
        abort();
    cross_core_begin(npu);
    for (int i = 0; i < npu->core_count; i++) {
        npu->cores[i].npu = npu;
        core_begin(&npu->cores[i], i, &npu->core_fibers[i]);
    }
}

static void launch_end(struct npu *npu)
{
    if (!npu->ended) {
        gm_epoch_end(npu);
        cross_core_report(npu);
    }
    gm_report_undefined(npu);
    npu_weigh_end(npu);
    if (npu->config.timing && !npu->config.random_order && !npu->ended)
        npu_replay(npu);
    npu->stats.kernel_type = (int)npu->config.kernel_type;
    if (npu->config.kernel_type == NPU_TYPE_INFERRED)
        npu->stats.kernel_type = cross_core_used(npu) ? NPU_TYPE_MIX_AIV_1_0 : NPU_TYPE_AIV_ONLY;
    for (int i = 0; i < npu->core_count; i++) {
        gm_view_destroy(npu->cores[i].view);
        between_destroy(npu->cores[i].between);
        npu_tape_destroy(npu->cores[i].tape);
    }
    npu_tape_free_all(npu);
    matmul_launch_end(npu);
    free(npu->core_fibers);
    free(npu->cores);
    cross_core_end(npu);
    npu->cores = NULL;
    npu->core_count = 0;
}

/* Launches that cannot begin. */
static bool can_launch(struct npu *npu, int block_dim)
{
    const struct npu_place nowhere = {.core = 0, .pipe = -1};
    bool possible = block_dim >= 1 && block_dim <= 65535, typed = npu->config.kernel_type < NPU_TYPE_MISSING;
    if (!possible)
        fault_record(npu, true, FAULT(block_dim), NULL, &nowhere, "the launch has %d blocks; 1 to 65535 are possible",
                     block_dim);
    else if (npu->config.kernel_type == NPU_TYPE_NO_INSTANCE)
        fault_record(npu, true, FAULT(tiling_key_unknown), NULL, &nowhere,
                     "tiling key %llu belongs to no combination of template arguments that ASCENDC_TPL_SEL selects for "
                     "these data types: there is no kernel to launch",
                     (unsigned long long)npu->config.tiling_key);
    else if (!typed)
        fault_record(npu, true, FAULT(kernel_type_missing), NULL, &nowhere,
                     "tiling key %llu has no KERNEL_TASK_TYPE, others have, and there is no KERNEL_TASK_TYPE_DEFAULT: "
                     "CANN does not compile this",
                     (unsigned long long)npu->config.tiling_key);
    return possible && typed;
}

/* What the documentation says of launches of kernels that start AICs and AIVs (SIMD-BuiltIn关键字, numBlocks;
 * 设置Kernel类型, constraints). Without synchronisation they run in waves all the same. */
static void note_mixed_launch(struct npu *npu)
{
    const struct npu_place nowhere = {.core = 0, .pipe = -1};
    bool workspace = false;
    for (int i = 0; i < npu->region_count; i++)
        workspace |= npu->regions[i]->kind == NPU_GM_WORKSPACE;
    const char *type = npu_kernel_type_name((int)npu->config.kernel_type);
    if (npu->block_dim > npu->wave_blocks)
        fault_record(npu, false, FAULT(mix_blocks), NULL, &nowhere,
                     "%d blocks of a %s kernel: there are %d AI cores, and such a kernel must not have more blocks",
                     npu->block_dim, type, npu->wave_blocks);
    if (!workspace)
        fault_record(npu, false, FAULT(mix_workspace), NULL, &nowhere,
                     "a %s kernel must have a workspace of more than 0 bytes", type);
}

bool npu_launch(struct npu *npu, void *kernel, const uint64_t *args, int arg_count, int block_dim)
{
    if (!can_launch(npu, block_dim))
        return false;
    npu->ended = false;
    npu->spent = NULL;
    npu->endless_count = 0;
    npu->timing = (struct npu_timing){0};
    npu->kernel = kernel;
    memset(npu->args, 0, sizeof npu->args);
    if (arg_count)
        memcpy(npu->args, args, (size_t)(arg_count < NPU_MAX_ARGS ? arg_count : NPU_MAX_ARGS) * sizeof *args);
    launch_begin(npu, block_dim);
    if (npu->aic && npu->aiv)
        note_mixed_launch(npu);
    fault_install_signals();
    npu->stats.blocks += block_dim;
    int wave = npu->wave_blocks * (npu->aic + npu->aiv);
    assert(wave > 0);
    for (int first = 0; first < npu->core_count && !npu->ended; first += wave) {
        run_wave(npu, first, npu->core_count - first < wave ? npu->core_count - first : wave);
        npu->stats.waves++;
    }
    fault_restore_signals();
    launch_end(npu);
    return !npu->fatal;
}
