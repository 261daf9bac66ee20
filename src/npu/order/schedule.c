/* Schedule: when an issued instruction executes.
 *
 * Program order executes it at once. A random order keeps a queue per pipe, in which instructions, SetFlag and WaitFlag
 * stand in the order of issue; now and then a random pipe executes a random number of its entries, as far as flags
 * allow. Some seeds favour a pipe and starve another, so that each pipe gets to run far ahead and far behind. The
 * scalar unit has no queue: it acts at once, and where it waits the pipes that it waits for run. A WaitFlag belongs to
 * the SetFlag before it in program order (sync.c traps where there is none), so every wait looks back and nothing can
 * deadlock. */
#include "npu/order/schedule.h"

#include "base/random.h"
#include "npu/machine.h"
#include "npu/order/order.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_LENGTH = 32 };
enum entry_kind { ENTRY_INSN, ENTRY_SET, ENTRY_WAIT };

struct entry {
    enum entry_kind kind;
    int from; /* ENTRY_WAIT: the lane that sets the flag */
    int pipe; /* ENTRY_INSN */
    struct npu_flag *flag;
    uint32_t ordinal; /* ENTRY_WAIT: which SetFlag of this flag */
    uint64_t pc;
    struct npu_insn insn;
    struct npu_regs regs;
};
struct lane_queue {
    uint32_t first, count;
    struct entry entries[QUEUE_LENGTH];
};
struct npu_schedule {
    struct rng rng;
    uint32_t eagerness[NPU_LANES]; /* of 256: how likely a lane runs when it is asked */
    struct lane_queue lanes[NPU_LANES];
};

/* NULL under program order. */
struct npu_schedule *npu_schedule_create(struct npu_core *core)
{
    static const uint8_t eagerness[] = {2, 8, 64, 128, 224, 250};
    const struct npu_config *config = npu_config_of(core->npu);
    if (!config->random_order)
        return NULL;
    struct npu_schedule *schedule = calloc(1, sizeof *schedule);
    if (!schedule)
        abort();
    rng_seed(&schedule->rng, config->seed + (uint64_t)core->index * UINT64_C(0x9e3779b97f4a7c15));
    for (int lane = 0; lane < NPU_LANES; lane++)
        schedule->eagerness[lane] = eagerness[rng_next(&schedule->rng) % (sizeof eagerness / sizeof *eagerness)];
    return schedule;
}

void npu_schedule_destroy(struct npu_schedule *schedule)
{
    free(schedule);
}

static void execute(struct npu_core *core, const struct entry *entry)
{
    uint64_t pc = core->pc;
    core->pc = entry->pc;
    core->execute(core, entry->pipe, &entry->insn, &entry->regs);
    core->pc = pc;
}

static bool blocked(const struct entry *entry)
{
    return entry->kind == ENTRY_WAIT && (int32_t)(entry->flag->executed_sets - entry->ordinal) < 0;
}

/* Executes the oldest entry of a lane; false if there is none or it waits for a flag. */
static bool step(struct npu_core *core, int lane)
{
    struct lane_queue *queue = &core->schedule->lanes[lane];
    struct entry *entry = &queue->entries[queue->first];
    if (!queue->count || blocked(entry))
        return false;
    if (entry->kind == ENTRY_INSN)
        execute(core, entry);
    else if (entry->kind == ENTRY_SET)
        entry->flag->executed_sets++;
    queue->first = (queue->first + 1) % QUEUE_LENGTH;
    queue->count--;
    return true;
}

/* Runs a lane until its SetFlag number `ordinal` of `flag` has executed. */
static void run_until_set(struct npu_core *core, int lane, const struct npu_flag *flag, uint32_t ordinal)
{
    while ((int32_t)(flag->executed_sets - ordinal) < 0)
        if (!step(core, lane)) {
            struct lane_queue *queue = &core->schedule->lanes[lane];
            if (!queue->count)
                abort(); /* a wait without its set: sync.c has let one through */
            const struct entry *head = &queue->entries[queue->first];
            run_until_set(core, head->from, head->flag, head->ordinal);
        }
}

static void force_step(struct npu_core *core, int lane)
{
    struct lane_queue *queue = &core->schedule->lanes[lane];
    const struct entry *head = &queue->entries[queue->first];
    if (blocked(head))
        run_until_set(core, head->from, head->flag, head->ordinal);
    step(core, lane);
}

/* A free place at the end of a lane's queue. */
static struct entry *append(struct npu_core *core, int lane)
{
    struct lane_queue *queue = &core->schedule->lanes[lane];
    if (queue->count == QUEUE_LENGTH)
        force_step(core, lane);
    struct entry *entry = &queue->entries[(queue->first + queue->count++) % QUEUE_LENGTH];
    entry->pc = core->pc;
    return entry;
}

static void run_some(struct npu_core *core)
{
    struct npu_schedule *schedule = core->schedule;
    uint64_t dice = rng_next(&schedule->rng);
    int start = (int)(dice % NPU_LANES);
    dice >>= 8;
    for (int i = 0; i < NPU_LANES; i++, dice >>= 8) {
        int lane = (start + i) % NPU_LANES;
        if (!schedule->lanes[lane].count || (dice & 0xff) >= schedule->eagerness[lane])
            continue;
        for (uint64_t steps = 1 + rng_next(&schedule->rng) % 4; steps && step(core, lane); steps--)
            ;
    }
}

void npu_schedule_submit(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (!core->schedule) {
        core->execute(core, pipe, insn, regs);
        return;
    }
    struct entry *entry = append(core, npu_lane_of(pipe));
    entry->kind = ENTRY_INSN;
    entry->pipe = pipe;
    entry->insn = *insn;
    entry->regs = *regs;
    run_some(core);
}

void npu_schedule_drain(struct npu_core *core, int pipe)
{
    if (!core->schedule)
        return;
    for (int lane = 0; lane < NPU_LANES; lane++)
        if (pipe == NPU_PIPE_ALL || lane == npu_lane_of(pipe))
            while (core->schedule->lanes[lane].count)
                force_step(core, lane);
}

uint32_t npu_schedule_behind(const struct npu_core *core, int lane)
{
    if (!core->schedule)
        return 0;
    const struct lane_queue *queue = &core->schedule->lanes[lane];
    uint32_t behind = 0;
    for (uint32_t i = 1; i < queue->count; i++)
        behind += queue->entries[(queue->first + i) % QUEUE_LENGTH].kind == ENTRY_INSN;
    return behind;
}

void npu_schedule_set_flag(struct npu_core *core, int from, int to, int event)
{
    struct npu_flag *flag = &core->order->flags[from][to][event];
    if (from == NPU_LANE_S) {
        flag->executed_sets++;
        return;
    }
    struct entry *entry = append(core, from);
    entry->kind = ENTRY_SET;
    entry->flag = flag;
}

void npu_schedule_wait_flag(struct npu_core *core, int from, int to, int event)
{
    struct npu_flag *flag = &core->order->flags[from][to][event];
    if (to == NPU_LANE_S) {
        run_until_set(core, from, flag, flag->sets - flag->pending);
        return;
    }
    struct entry *entry = append(core, to);
    entry->kind = ENTRY_WAIT;
    entry->from = from;
    entry->flag = flag;
    entry->ordinal = flag->sets - flag->pending;
}
