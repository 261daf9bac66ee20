/* Every step of a launch is counted where the machine counts anyway: basic blocks, their calls, accesses of the scalar unit,
 * instructions and the bytes that they touch. A core looks at the sum only now and then, so that a block costs one comparison.
 *
 * A launch that has taken WATCHED_FROM of what it may is watched: each block is looked at, and what repeats is a loop. The
 * pass numbers a function's blocks so that within one call of it the number of the next block is at most that of the last
 * only where a loop begins again (confine/blocks.c). So a core's calls are known by the addresses of their frames, its loops
 * by the numbers of the blocks that they begin with, and of nested loops the outer one has the lower number.
 *
 * Cores run one after the other. When the launch has taken all its steps, the cores that have not ended get a few more each,
 * so that it is known where they are, too. */
#include "npu/steps.h"

#include "npu/fiber.h"
#include "npu/machine.h"

#include <stdlib.h>

enum {
    LOOK_BLOCKS = 4096, /* between two looks at the limit */
    WATCHED_FROM = 2,   /* a launch is watched from this part of its steps on; what ends takes less (eval/steps.h) */
    LAST_SHARE = 16,    /* the part of them that the other cores get at the end, all together */
    DEEPEST = 64        /* nested calls that are distinguished */
};

/* A loop, by the block that it begins with. */
struct loop {
    uint64_t rounds;    /* that began since the core is watched */
    uint64_t last, gap; /* blocks of the core until the newest of them, and the most between two */
    uint64_t pc;
    uintptr_t frame; /* of the call that it is in; lower is deeper */
};
struct npu_watch {
    struct loop *loops; /* of each block of the core's object */
    size_t count;
    struct {
        uintptr_t frame;
        uint32_t number; /* of the newest block */
    } calls[DEEPEST];
    int depth;
    uint64_t pc; /* of the newest block */
};

/* Since the core began. */
static struct npu_steps steps_of(const struct npu_core *core)
{
    const struct npu_stats *stats = &core->stats;
    return (struct npu_steps){stats->scalar_blocks + NPU_STEPS_CALL * stats->scalar_mix[NPU_MIX_CALL] +
                                  NPU_STEPS_SCALAR * (stats->scalar_loads + stats->scalar_stores) + core->work,
                              core->data};
}

static void charge(struct npu_core *core)
{
    const struct npu_steps steps = steps_of(core);
    core->npu->stats.steps.control += steps.control - core->charged.control;
    core->npu->stats.steps.data += steps.data - core->charged.data;
    core->charged = steps;
}

/* Returns the steps that the core may still take. */
static struct npu_steps steps_left(const struct npu_core *core)
{
    const struct npu *npu = core->npu;
    const struct npu_steps *limit = npu->spent ? &core->last_step : &npu->config.steps,
                           *taken = npu->spent ? &core->charged : &npu->stats.steps;
    return (struct npu_steps){taken->control < limit->control ? limit->control - taken->control : 0,
                              taken->data < limit->data ? limit->data - taken->data : 0};
}

static void watch_core(struct npu_core *core)
{
    struct npu_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        abort();
    watch->count = core->npu->block_count[core->aic];
    watch->loops = calloc(watch->count + 1, sizeof *watch->loops);
    if (!watch->loops)
        abort();
    core->watch = watch;
}

/* A watched core is looked at in every block; its steps are summed up as seldom as another's. */
static void set_next_look(struct npu_core *core)
{
    const struct npu *npu = core->npu;
    const struct npu_steps *limit = &npu->config.steps, *taken = &npu->stats.steps;
    if (!limit->control) {
        core->sum_limit = core->block_limit = core->work_limit = core->data_limit = UINT64_MAX;
        return;
    }
    const struct npu_steps left = steps_left(core);
    if (!core->watch &&
        (npu->spent || taken->control > limit->control / WATCHED_FROM || taken->data > limit->data / WATCHED_FROM))
        watch_core(core);
    core->sum_limit = core->stats.scalar_blocks + (left.control < LOOK_BLOCKS ? left.control : LOOK_BLOCKS);
    core->block_limit = core->watch ? 0 : core->sum_limit;
    core->work_limit = core->work + left.control;
    core->data_limit = core->data + left.data;
}

static void begin_round(const struct npu_core *core, struct loop *loop, uintptr_t frame, uint64_t pc)
{
    uint64_t now = core->stats.scalar_blocks, gap = loop->rounds ? now - loop->last : 0;
    loop->gap = gap > loop->gap ? gap : loop->gap;
    loop->rounds++;
    loop->last = now;
    loop->pc = pc;
    loop->frame = frame;
}

static void see_block(const struct npu_core *core, uint32_t number, uint64_t pc, uintptr_t frame)
{
    struct npu_watch *watch = core->watch;
    watch->pc = pc;
    while (watch->depth && watch->calls[watch->depth - 1].frame < frame)
        watch->depth--;
    bool known = watch->depth && watch->calls[watch->depth - 1].frame == frame;
    if (known && number <= watch->calls[watch->depth - 1].number && number < watch->count)
        begin_round(core, &watch->loops[number], frame, pc);
    if (!known && watch->depth < DEEPEST)
        watch->depth++;
    watch->calls[watch->depth - 1].frame = frame;
    watch->calls[watch->depth - 1].number = number;
}

/* Leaves a core that has had its steps where it is. */
static void stop_if_spent(struct npu_core *core)
{
    struct npu *npu = core->npu;
    const struct npu_steps left = steps_left(core);
    if (!npu->config.steps.control || (left.control && left.data))
        return;
    core->stopped = true;
    if (!npu->spent)
        npu->spent = core;
}

void npu_steps_look(struct npu_core *core)
{
    charge(core);
    stop_if_spent(core);
    while (core->stopped)
        fiber_yield(core);
    set_next_look(core);
}

/* npu_block() alone calls it, so its own frame says how deep the kernel's is. */
__attribute__((noinline)) void npu_steps_block(struct npu_core *core, uint32_t number, uint64_t pc)
{
    if (core->watch)
        see_block(core, number, pc, (uintptr_t)__builtin_frame_address(0));
    if (core->stats.scalar_blocks >= core->sum_limit)
        npu_steps_look(core);
}

void npu_steps_resume(struct npu_core *core)
{
    const struct npu *npu = core->npu;
    core->work += NPU_STEPS_RESUME;
    if (npu->spent && !core->last_step.control) {
        uint64_t cores = (uint64_t)npu->wave_blocks * (uint64_t)(npu->aic + npu->aiv);
        core->last_step = (struct npu_steps){core->charged.control + npu->config.steps.control / LAST_SHARE / cores,
                                             core->charged.data + npu->config.steps.data / LAST_SHARE / cores};
    }
    set_next_look(core);
}

void npu_steps_pause(struct npu_core *core)
{
    charge(core);
    if (!core->stopped && !core->fiber->done)
        stop_if_spent(core);
}

/* The outermost loop that the core is in: one that still begins again as often as it did; NULL: none is known. */
static const struct loop *loop_of(const struct npu_core *core)
{
    const struct npu_watch *watch = core->watch;
    const struct loop *found = NULL;
    for (size_t i = 0; watch && i < watch->count; i++) {
        const struct loop *loop = &watch->loops[i];
        bool goes_on = loop->rounds && core->stats.scalar_blocks - loop->last <= 2 * loop->gap;
        if (goes_on && (!found || loop->frame > found->frame))
            found = loop;
    }
    return found;
}

static void add_core(struct npu *npu, const struct npu_core *core)
{
    const struct loop *loop = loop_of(core);
    const struct npu_endless endless = {.pc = loop          ? loop->pc
                                              : core->watch ? core->watch->pc
                                                            : core->pc,
                                        .rounds = loop ? loop->rounds : 0,
                                        .core = core->block,
                                        .aic = core->aic,
                                        .cores = 1};
    size_t at = 0;
    while (at < npu->endless_count && (npu->endless[at].pc != endless.pc || npu->endless[at].aic != endless.aic))
        at++;
    if (at < npu->endless_count)
        npu->endless[at].cores++;
    else if (at < NPU_MAX_ENDLESS)
        npu->endless[npu->endless_count++] = endless;
}

void npu_steps_report(struct npu *npu, int first, int count)
{
    if (!npu->spent || npu->ended)
        return;
    add_core(npu, npu->spent);
    for (int i = first; i < first + count; i++)
        if (npu->cores[i].stopped && &npu->cores[i] != npu->spent)
            add_core(npu, &npu->cores[i]);
    npu->ended = true;
}

void npu_steps_free(struct npu_core *core)
{
    if (core->watch)
        free(core->watch->loops);
    free(core->watch);
    core->watch = NULL;
}
