/* Synchronisation between cores: SyncAll, hard and soft, and cross-core flags.
 * Source: asc-devkit docs/zh/api, 同步控制/核间同步: SyncAll, CrossCoreSetFlag(ISASI), 关键特性说明.
 *
 * A core has a counter for each of 16 flags. A set of mode 0 is a round once all cores of the setter's kind have made
 * it, of mode 1 once the AIVs of its block have, of mode 2 once the AIC of its block, or all AIVs of it, have; the
 * round adds one to the counters of those same cores (modes 0 and 1) or of the block's other kind (mode 2). A wait
 * takes one off, or waits for it. Where only one kind of core runs, mode 0 is a meeting of all: it ends an epoch of
 * gm.c. Where both run, rounds carry clocks (between.c). */
#include "npu/sync/cross_core.h"

#include "npu/fiber.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/between.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/time/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NPU_CROSS_FLAGS = 16, NPU_CROSS_MODES = 3, NPU_CROSS_LIMIT = 15 /* a flag's counter */ };
/* One flag of one core. */
struct cross_flag {
    uint32_t sets[NPU_CROSS_MODES]; /* CrossCoreSetFlag calls of this core */
    uint32_t counter;               /* rounds that this core may wait for; waited: those that it has */
    uint32_t waited;
    uint64_t pc; /* the set that finished the newest round */
    struct npu_clock
        *set_clocks; /* rings of 16 snapshots, one clock per core each; NULL where SyncAll alone orders the cores */
    struct npu_clock *round_clocks;
};
/* One word of IBSet and IBWait. */
struct pair_clocks {
    uint64_t at;
    struct npu_clock *clocks; /* one per core */
    uint32_t told;            /* npu_tape_tell() */
};
/* A SyncAll of either kind. The clocks are NULL until one is needed. */
struct meeting {
    uint32_t number;            /* of the current one among all of the launch, for the tape */
    int arrived, members;       /* in the current one; how many cores it takes, as the first arrival said */
    uint64_t generation;        /* completed */
    struct npu_clock *gathered; /* what came before those who have arrived */
    struct npu_clock *met[2]; /* what came before the last one but one and the last, by generation: who is slow to go on
                               * has nothing to do with those who are already in the next */
};
/* Blocks meet in the workspace that they name: those of another are none of their business. */
struct soft_meeting {
    uint64_t at;             /* the workspace's address */
    struct meeting *meeting; /* stays where it is: blocks wait for it */
};
/* A launch's. */
struct npu_cross_core {
    struct meeting hard;
    struct soft_meeting *soft; /* sorted by address */
    size_t soft_count, soft_room;
    struct pair_clocks *pairs; /* sorted by address */
    size_t pair_count;
    struct cross_flag *flags; /* [core][NPU_CROSS_FLAGS] */
    bool used;                /* the kernel synchronises its cores by hardware */
};

enum { RING = NPU_CROSS_LIMIT + 1 };
/* What SyncAll uses inside (constraints of SyncAll: flags 11 to 14). */
enum { FLAG_AIC_ALL = 11, FLAG_AIV_TO_AIC = 12, FLAG_AIC_TO_AIV = 13, FLAG_AIV_ALL = 14 };

void cross_core_begin(struct npu *npu)
{
    npu->cross_core = calloc(1, sizeof *npu->cross_core);
    if (!npu->cross_core)
        abort();
    npu->cross_core->flags = calloc((size_t)npu->core_count * NPU_CROSS_FLAGS, sizeof(struct cross_flag));
    if (!npu->cross_core->flags)
        abort();
}

static void free_meeting(struct meeting *meeting)
{
    free(meeting->gathered);
    free(meeting->met[0]);
    free(meeting->met[1]);
}

void cross_core_end(struct npu *npu)
{
    struct npu_cross_core *cross = npu->cross_core;
    for (int i = 0; i < npu->core_count * NPU_CROSS_FLAGS; i++) {
        free(cross->flags[i].set_clocks);
        free(cross->flags[i].round_clocks);
    }
    for (size_t i = 0; i < cross->pair_count; i++)
        free(cross->pairs[i].clocks);
    free(cross->pairs);
    free(cross->flags);
    free_meeting(&cross->hard);
    for (size_t i = 0; i < cross->soft_count; i++) {
        free_meeting(cross->soft[i].meeting);
        free(cross->soft[i].meeting);
    }
    free(cross->soft);
    free(cross);
    npu->cross_core = NULL;
}

bool cross_core_used(const struct npu *npu)
{
    return npu->cross_core->used;
}

void cross_core_report(struct npu *npu)
{
    for (int i = 0; i < npu->core_count * NPU_CROSS_FLAGS; i++) {
        const struct cross_flag *flag = &npu->cross_core->flags[i];
        const struct npu_core *core = &npu->cores[i / NPU_CROSS_FLAGS];
        char name[32];
        struct npu_place place = {
            .core = core->block, .aic = core->aic, .pipe = NPU_PIPE_S, .pc = flag->pc, .api = "CrossCoreSetFlag"};
        if (flag->counter)
            fault_record(npu, false, FAULT(cross_core_flag_not_waited), "flagId", &place,
                         "flag %d of %s is still set %u times when the kernel ends: each CrossCoreSetFlag needs its "
                         "CrossCoreWaitFlag",
                         i % NPU_CROSS_FLAGS, npu_core_name(core, name, sizeof name), flag->counter);
    }
}

static struct npu_clock *new_clocks(const struct npu *npu, size_t rows)
{
    size_t bytes = rows * (size_t)npu->core_count * sizeof(struct npu_clock);
    struct npu_clock *clocks = aligned_alloc(_Alignof(struct npu_clock), bytes);
    if (!clocks)
        abort();
    memset(clocks, 0, bytes);
    return clocks;
}

struct waiting {
    const uint64_t *generation;
    uint64_t mine;
};

static bool meeting_over(void *argument)
{
    const struct waiting *waiting = argument;
    return *waiting->generation != waiting->mine;
}

/* Every pipe of the core is done, and what follows happens after what came before. */
/* Whether blocks have cores of both kinds. */
static bool is_mixed(const struct npu *npu)
{
    return npu->aic && npu->aiv;
}

static void finish_pipes(struct npu_core *core)
{
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
}

static void check_core_count(struct npu_core *core, const char *api)
{
    const struct npu *npu = core->npu;
    if (npu->block_dim > npu->wave_blocks)
        npu_trap(core, FAULT(sync_more_blocks_than_cores), NULL,
                 "%s with %d blocks on %d cores: blocks of the second wave never start, and all others wait for them",
                 api, npu->block_dim, npu->wave_blocks);
}

/* The hardware that counts flags runs for the MIX types only. Kernels that name no type get one that has it. */
static void check_hardware(struct npu_core *core, const char *api)
{
    enum npu_kernel_type type = core->npu->config.kernel_type;
    if (type == NPU_TYPE_AIV_ONLY || type == NPU_TYPE_AIC_ONLY)
        npu_trap(core, FAULT(sync_kernel_type), NULL,
                 "%s in a kernel of type %s, for which the chip does not start the scheduler that synchronises cores; "
                 "%s does",
                 api, npu_kernel_type_name((int)type),
                 npu_kernel_type_name(type == NPU_TYPE_AIV_ONLY ? NPU_TYPE_MIX_AIV_1_0 : NPU_TYPE_MIX_AIC_1_0));
    check_core_count(core, api);
    core->npu->cross_core->used = true;
}

/* Every core has arrived: what was written counts as before. */
static void end_epoch(struct npu_core *core)
{
    dcache_swap_out(core);
    gm_epoch_end(core->npu);
    dcache_swap_in(core);
}

/* From the first IBSet, IBWait, InitDetermineComputeWorkspace or SyncAll of some blocks on, clocks say what of which
 * block comes before what; all that was done before it counts as settled. */
static void order_by_clocks(struct npu_core *core)
{
    if (core->between)
        return;
    end_epoch(core);
    for (int i = 0; i < core->npu->core_count; i++)
        core->npu->cores[i].between = between_create(core->npu->core_count);
}

static struct npu_clock *made(const struct npu *npu, struct npu_clock **clocks)
{
    if (!*clocks)
        *clocks = new_clocks(npu, 1);
    return *clocks;
}

/* The running block joins a meeting of `members` blocks; the last one to come ends the epoch. */
static void meet(struct npu_core *core, struct meeting *meeting, int members, const char *what)
{
    struct npu *npu = core->npu;
    if (meeting->arrived && meeting->members != members)
        npu_trap(core, FAULT(sync_used_cores), "usedCores",
                 "block %d waits for %d blocks, those that wait already for %d", core->block, members,
                 meeting->members);
    meeting->members = members;
    if (!meeting->arrived)
        meeting->number = ++npu->tape_meetings;
    bool last = ++meeting->arrived == members;
    if (core->tape)
        npu_tape_add(core, NPU_STEP_MEET, 0, 0, members, meeting->number);
    struct npu_clock **met = &meeting->met[meeting->generation % 2];
    if (core->between)
        between_release(core, NPU_LANE_S, made(npu, &meeting->gathered));
    else if (last)
        end_epoch(core);
    if (last) {
        if (core->between)
            memcpy(made(npu, met), meeting->gathered, (size_t)npu->core_count * sizeof **met);
        meeting->arrived = 0;
        meeting->generation++;
    } else {
        struct waiting waiting = {&meeting->generation, meeting->generation};
        npu_fiber_wait(core, meeting_over, &waiting, what);
    }
    if (core->between && *met) /* NULL: the clocks began after the meeting, order_by_clocks */
        between_acquire(core, *met);
}

/* Flags. */

static struct cross_flag *flag_of(const struct npu_core *core, int flag)
{
    return &core->npu->cross_core->flags[core->index * NPU_CROSS_FLAGS + flag];
}

/* True if a set of this mode by `setter` also needs `other` to set, or (`waits`) lets `other` go on. */
static bool takes_part(const struct npu_core *setter, const struct npu_core *other, int mode, bool waits)
{
    if (mode == 0)
        return other->aic == setter->aic;
    return other->group == setter->group &&
           (mode == 2 && waits ? other->aic != setter->aic : other->aic == setter->aic);
}

/* The sets of `mode` that every core has made whose set is needed beside the setter's. */
static uint32_t rounds(const struct npu_core *setter, int mode, int flag)
{
    const struct npu *npu = setter->npu;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < npu->core_count; i++)
        if (takes_part(setter, &npu->cores[i], mode, false)) {
            uint32_t sets = flag_of(&npu->cores[i], flag)->sets[mode];
            least = sets < least ? sets : least;
        }
    return least;
}

static struct npu_clock *ring_slot(const struct npu *npu, struct npu_clock **ring, uint32_t number)
{
    if (!*ring)
        *ring = new_clocks(npu, RING);
    return *ring + (size_t)(number % RING) * (size_t)npu->core_count;
}

/* Round number `round` of a flag is complete: the counters of those who wait for it go up. */
static void finish_round(struct npu_core *core, int mode, int flag, uint32_t round)
{
    struct npu *npu = core->npu;
    struct npu_clock *before = core->between ? new_clocks(npu, 1) : NULL;
    for (int i = 0; before && i < npu->core_count; i++)
        if (takes_part(core, &npu->cores[i], mode, false)) {
            const struct npu_clock *set = ring_slot(npu, &flag_of(&npu->cores[i], flag)->set_clocks, round);
            for (int k = 0; k < npu->core_count; k++)
                npu_clock_join(&before[k], &set[k]);
        }
    for (int i = 0; i < npu->core_count; i++) {
        if (!takes_part(core, &npu->cores[i], mode, true))
            continue;
        struct cross_flag *waiter = flag_of(&npu->cores[i], flag);
        if (before)
            memcpy(ring_slot(npu, &waiter->round_clocks, waiter->waited + waiter->counter), before,
                   (size_t)npu->core_count * sizeof *before);
        waiter->counter++;
        waiter->pc = core->pc;
    }
    free(before);
}

/* Whether one more set finds a counter at its limit: its own, or that of a core for which it completes a round. */
static bool is_full(const struct npu_core *core, int mode, int flag)
{
    const struct npu *npu = core->npu;
    uint32_t ahead = flag_of(core, flag)->sets[mode] - rounds(core, mode, flag);
    bool full = ahead >= NPU_CROSS_LIMIT, last = ahead == 0;
    for (int i = 0; i < npu->core_count && last; i++)
        last = &npu->cores[i] == core || !takes_part(core, &npu->cores[i], mode, false) ||
               flag_of(&npu->cores[i], flag)->sets[mode] > flag_of(core, flag)->sets[mode];
    for (int i = 0; i < npu->core_count && last && !full; i++)
        full =
            takes_part(core, &npu->cores[i], mode, true) && flag_of(&npu->cores[i], flag)->counter >= NPU_CROSS_LIMIT;
    return full;
}

/* Blocks run in turns here and side by side on the chip, so a full counter says little: the others go first, and only
 * one that stays full overflows. */
static void make_room(struct npu_core *core, int mode, int flag)
{
    if (!is_full(core, mode, flag))
        return;
    uint64_t pc = core->pc;
    for (int i = 0; i < core->npu->core_count && is_full(core, mode, flag); i++)
        fiber_yield(core);
    core->pc = pc;
    if (is_full(core, mode, flag))
        npu_trap(core, FAULT(cross_core_flag_overflow), "flagId",
                 "flag %d was set 16 times without a wait; it counts to %d", flag, NPU_CROSS_LIMIT);
    npu_note(core, false, FAULT(cross_core_flag_overflow), "flagId", 0,
             "flag %d can be set 16 times before the first wait; it counts to %d, so the waiting core must not be late",
             flag, NPU_CROSS_LIMIT);
}

static void set_flag(struct npu_core *core, int mode, int lane, int flag)
{
    struct npu *npu = core->npu;
    if (core->tape)
        npu_tape_add(core, NPU_STEP_CROSS_SET, lane, mode, flag, 0);
    make_room(core, mode, flag);
    struct cross_flag *mine = flag_of(core, flag);
    uint32_t before = rounds(core, mode, flag);
    if (core->between) {
        struct npu_clock *slot = ring_slot(npu, &mine->set_clocks, mine->sets[mode]);
        memset(slot, 0, (size_t)npu->core_count * sizeof *slot);
        between_release(core, lane, slot);
    }
    mine->sets[mode]++;
    if (rounds(core, mode, flag) == before)
        return;
    finish_round(core, mode, flag, before);
    if (!core->between)
        end_epoch(core);
}

static bool flag_is_set(void *argument)
{
    const struct cross_flag *flag = argument;
    return flag->counter > 0;
}

/* `described`: a deadlock names the flag; SyncAll's own flags are nobody's business. */
static void wait_flag(struct npu_core *core, int mode, int flag, const char *what, bool described)
{
    struct cross_flag *mine = flag_of(core, flag);
    if (core->tape)
        npu_tape_add(core, NPU_STEP_CROSS_WAIT, 0, mode, flag, 0);
    core->fiber->waits_mode = mode;
    core->fiber->waits_flag = described ? flag : -1;
    if (!flag_is_set(mine))
        npu_fiber_wait(core, flag_is_set, mine, what);
    core->fiber->waits_flag = -1;
    if (core->between)
        between_acquire(core, ring_slot(core->npu, &mine->round_clocks, mine->waited));
    else
        npu_order_join_all(core);
    mine->counter--;
    mine->waited++;
}

void cross_core_describe(const struct npu_core *core, char *text, size_t bytes)
{
    const struct npu *npu = core->npu;
    int flag = core->fiber->waits_flag, named = core->fiber->waits_mode;
    snprintf(text, bytes, "CrossCoreWaitFlag<%d>(%d), which nobody has set", named, flag);
    for (int mode = 0; mode < NPU_CROSS_MODES; mode++) {
        const struct npu_core *setter = NULL;
        int needed = 0, done = 0;
        for (int i = 0; i < npu->core_count && !setter; i++)
            if (takes_part(&npu->cores[i], core, mode, true))
                setter = &npu->cores[i];
        for (int i = 0; setter && i < npu->core_count; i++)
            if (takes_part(setter, &npu->cores[i], mode, false)) {
                needed++;
                done += flag_of(&npu->cores[i], flag)->sets[mode] > rounds(setter, mode, flag);
            }
        if (done)
            snprintf(text, bytes, "CrossCoreWaitFlag<%d>(%d), which %d of %d %s%s have set with mode %d", named, flag,
                     done, needed,
                     !core->between ? "blocks"
                     : setter->aic  ? "AICs"
                                    : "AIVs",
                     mode ? " of its block" : "", mode);
    }
}

static void check_mode(struct npu_core *core, const char *api, int mode)
{
    if (mode < 0 || mode >= NPU_CROSS_MODES)
        npu_trap(core, FAULT(cross_core_mode), "modeId", "%s<%d>: a 910B has the modes 0, 1 and 2", api, mode);
    if (mode > 0 && !is_mixed(core->npu))
        npu_trap(core, FAULT(cross_core_mode), "modeId",
                 "%s<%d>: modes 1 and 2 are for kernels of type MIX_AIC_1_1 and MIX_AIC_1_2, whose blocks have an AIC "
                 "and AIVs",
                 api, mode);
    if (mode == 1 && core->aic)
        npu_trap(core, FAULT(cross_core_mode), "modeId", "%s<1> on an AIC: mode 1 is among the AIVs of a block", api);
}

void npu_cross_core_set_flag(int mode, int pipe, int flag_id)
{
    NPU_ENTER(core);
    int lane = npu_lane_of(pipe);
    if (lane <= NPU_LANE_S) /* PIPE_ALL has no lane */
        npu_trap(core, FAULT(cross_core_pipe), "pipe", "CrossCoreSetFlag takes a pipe other than PIPE_S and PIPE_ALL");
    check_mode(core, "CrossCoreSetFlag", mode);
    check_hardware(core, "CrossCoreSetFlag");
    if (core->log)
        core->log(core, npu_lane_name(lane), "CrossCoreSetFlag", "  mode %d flag %d", mode, flag_id);
    npu_schedule_drain(core, pipe);
    set_flag(core, mode, lane, flag_id & (NPU_CROSS_FLAGS - 1));
}

void npu_cross_core_wait_flag(int mode, int flag_id)
{
    NPU_ENTER(core);
    check_hardware(core, "CrossCoreWaitFlag");
    if (core->log)
        core->log(core, "S", "CrossCoreWaitFlag", "  flag %d", flag_id);
    wait_flag(core, mode, flag_id & (NPU_CROSS_FLAGS - 1), "CrossCoreWaitFlag", true);
}

/* SyncAll. */

/* Where both kinds of core run: the flags that CANN's SyncAll is made of. AIVs report to their AIC, the AICs meet, and
 * each lets its AIVs go on; or the cores of one kind meet. */
static void sync_all_mixed(struct npu_core *core, bool aiv_only)
{
    if (aiv_only) {
        set_flag(core, 0, NPU_LANE_MTE3, FLAG_AIV_ALL);
        wait_flag(core, 0, FLAG_AIV_ALL, "SyncAll()", false);
    } else if (core->aic) {
        wait_flag(core, 2, FLAG_AIV_TO_AIC, "SyncAll<false>()", false);
        set_flag(core, 0, NPU_LANE_FIX, FLAG_AIC_ALL);
        wait_flag(core, 0, FLAG_AIC_ALL, "SyncAll<false>()", false);
        set_flag(core, 2, NPU_LANE_MTE3, FLAG_AIC_TO_AIV);
    } else {
        set_flag(core, 2, NPU_LANE_MTE3, FLAG_AIV_TO_AIC);
        wait_flag(core, 2, FLAG_AIC_TO_AIV, "SyncAll<false>()", false);
    }
}

void npu_sync_all(int aiv_only)
{
    NPU_ENTER(core);
    if (!aiv_only && !is_mixed(core->npu))
        npu_trap(core, FAULT(sync_without_cube), NULL,
                 "SyncAll<false>() waits for AICs and AIVs, and this kernel starts only %s: it hangs",
                 core->aic ? "AICs" : "AIVs");
    check_hardware(core, "SyncAll()");
    if (core->log)
        core->log(core, "ALL", "SyncAll", "%s", aiv_only ? "  AIVs" : "  all cores");
    finish_pipes(core);
    if (is_mixed(core->npu))
        sync_all_mixed(core, aiv_only);
    else
        meet(core, &core->npu->cross_core->hard, core->npu->block_dim, "SyncAll()");
}

/* The meeting of those who name the workspace at this address. */
static struct meeting *meeting_in(struct npu_cross_core *cross, uint64_t at)
{
    size_t low = 0, high = cross->soft_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cross->soft[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < cross->soft_count && cross->soft[low].at == at)
        return cross->soft[low].meeting;
    if (cross->soft_count == cross->soft_room) {
        cross->soft_room = cross->soft_room ? 2 * cross->soft_room : 4;
        struct soft_meeting *grown = realloc(cross->soft, cross->soft_room * sizeof *grown);
        if (!grown)
            abort();
        cross->soft = grown;
    }
    struct meeting *meeting = calloc(1, sizeof *meeting);
    if (!meeting)
        abort();
    memmove(&cross->soft[low + 1], &cross->soft[low], (cross->soft_count++ - low) * sizeof *cross->soft);
    cross->soft[low] = (struct soft_meeting){at, meeting};
    return meeting;
}

/* Each block owns 32 bytes of the GM workspace, whose first word counts its arrivals. */
static void check_soft_workspace(struct npu_core *core, const struct npu_tensor *gm, const struct npu_tensor *ub,
                                 int members, const struct meeting *meeting)
{
    uint64_t need = (uint64_t)members * NPU_BLOCK;
    if (gm->bytes && gm->bytes < need)
        npu_trap(core, FAULT(sync_workspace_small), "gmWorkspace", "%u bytes; %d cores need %llu (32 for each)",
                 gm->bytes, members, (unsigned long long)need);
    gm_check(core, "gmWorkspace", gm->addr, need);
    if (ub->bytes < need || !npu_in_ub(core, ub->addr) || !npu_in_ub(core, ub->addr + need - 1))
        npu_trap(core, FAULT(sync_workspace_small), "ubWorkspace", "%u bytes; %d cores need %llu (32 for each)",
                 ub->bytes, members, (unsigned long long)need);
    const void *slot = (const void *)(gm->addr + (uint64_t)core->block * NPU_BLOCK);
    int32_t value;
    memcpy(&value, slot, sizeof value);
    bool defined = npu_gm_defined(core, slot, sizeof value);
    if (!defined || (value != 0 && (uint64_t)value != meeting->generation))
        npu_note(core, true, FAULT(sync_workspace_not_zero), "gmWorkspace", 0,
                 "the workspace of the soft SyncAll must be zero before the first call; block %d's counter %s",
                 core->block, defined ? "holds another value" : "was never written");
}

void npu_sync_all_soft(const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace, int used_cores)
{
    NPU_ENTER(core);
    if (core->aic) /* it is a matter of the AIVs */
        return;
    int all = core->npu->block_dim * core->npu->aiv, members = used_cores ? used_cores : all;
    check_core_count(core, "SyncAll(gmWorkspace, ubWorkspace)");
    if (members < 0 || members > all)
        npu_trap(core, FAULT(sync_used_cores), "usedCores", "usedCores is %d, the launch has %d blocks", used_cores,
                 all);
    if (core->block >= members) /* its word in the workspace would be behind theirs */
        npu_trap(core, FAULT(sync_used_cores), "usedCores", "block %d calls the SyncAll of the first %d blocks",
                 core->block, members);
    finish_pipes(core);
    struct meeting *meeting = meeting_in(core->npu->cross_core, gm_workspace->addr);
    check_soft_workspace(core, gm_workspace, ub_workspace, members, meeting);
    if (members < all) /* those who are not asked are not ordered */
        order_by_clocks(core);
    int32_t count = (int32_t)meeting->generation + 1;
    meet(core, meeting, members, "SyncAll(gmWorkspace, ubWorkspace)");
    uint64_t slot = gm_workspace->addr + (uint64_t)core->block * NPU_BLOCK;
    memcpy((void *)slot, &count, sizeof count);
    npu_gm_written(core, (const void *)slot, sizeof count, true, false);
    uint64_t bytes = (uint64_t)members * NPU_BLOCK;
    memset((void *)ub_workspace->addr, 0, bytes);
    npu_ub_define(core, (const void *)ub_workspace->addr, bytes);
}

/* IBSet, IBWait, and the blocks' turns (WaitPreBlock, NotifyNextBlock): words of a workspace in GM, one per block and
 * event, 32 bytes apart. CANN's functions poll copies of them in UB; here a waiting block sleeps until the words are
 * right. They order what the two blocks of a pair do, and what a block does in its turn with what the blocks before it
 * did until theirs was over; nothing else. Sources: asc-devkit docs, 同步控制/核间同步, IBSet,
 * IBWait, InitDetermineComputeWorkspace, WaitPreBlock, NotifyNextBlock. */
/* A kernel may write a whole tensor past the cache: so many words have clocks of their own, those that come later share
 * the clocks of one that is none. */
enum { WORDS = 4096 };
static const uint64_t other_words = UINT64_MAX;

/* The first of the words, sorted by address, that does not lie below `at`. */
static size_t find_word(const struct npu_cross_core *sync, uint64_t at)
{
    size_t low = 0, high = sync->pair_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sync->pairs[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_word(const struct npu_cross_core *sync, size_t i, uint64_t at)
{
    return i < sync->pair_count && sync->pairs[i].at == at;
}

/* What had happened before the last IBSet, IBWait or WriteGmByPassDCache on the word at this address. */
static struct pair_clocks *pair_of_word(struct npu *npu, uint64_t at)
{
    struct npu_cross_core *sync = npu->cross_core;
    size_t i = find_word(sync, at);
    if (!is_word(sync, i, at) && sync->pair_count >= WORDS) {
        at = other_words;
        i = find_word(sync, at);
    }
    if (is_word(sync, i, at))
        return &sync->pairs[i];
    if (!sync->pairs)
        sync->pairs = malloc((WORDS + 1) * sizeof *sync->pairs);
    if (!sync->pairs)
        abort();
    memmove(&sync->pairs[i + 1], &sync->pairs[i], (sync->pair_count++ - i) * sizeof *sync->pairs);
    sync->pairs[i] = (struct pair_clocks){.at = at, .clocks = new_clocks(npu, 1)};
    return &sync->pairs[i];
}

static void release_word(struct npu_core *core, uint64_t at)
{
    struct pair_clocks *pair = pair_of_word(core->npu, at);
    between_release(core, NPU_LANE_S, pair->clocks);
    pair->told = npu_tape_tell(core, NPU_LANE_S);
}

static void acquire_word(struct npu_core *core, const struct pair_clocks *pair)
{
    between_acquire(core, pair->clocks);
    npu_tape_hear(core, pair->told);
}

/* Polling spans no waves: a launch of more cores than run at a time has words that nobody waits for. */
bool cross_core_word_begin(struct npu_core *core)
{
    const struct npu *npu = core->npu;
    if (npu->core_count > npu->wave_blocks * (npu->aic + npu->aiv) || npu->config.no_hazards)
        return false;
    order_by_clocks(core);
    return true;
}

void cross_core_word_release(struct npu_core *core, uint64_t at)
{
    release_word(core, at);
}

bool cross_core_word_acquire(struct npu_core *core, uint64_t at)
{
    const struct npu_cross_core *sync = core->npu->cross_core;
    size_t i = find_word(sync, at);
    if (!is_word(sync, i, at))
        i = find_word(sync, other_words);
    if (i == sync->pair_count)
        return false;
    acquire_word(core, &sync->pairs[i]);
    return true;
}

static void store_words(struct npu_core *core, uint64_t at, uint64_t bytes, int32_t value)
{
    dcache_swap_out(core);
    for (uint64_t i = 0; i < bytes; i += sizeof value)
        memcpy((void *)(at + i), &value, sizeof value);
    npu_gm_written(core, (const void *)at, bytes, true, true);
    dcache_swap_in(core);
}

static void check_pair_workspace(struct npu_core *core, const struct npu_tensor *gm, uint64_t gm_bytes,
                                 const struct npu_tensor *ub, uint64_t ub_bytes)
{
    if (gm->bytes && gm->bytes < gm_bytes)
        npu_trap(core, FAULT(sync_workspace_small), "gmWorkspace", "%u bytes; %llu are needed", gm->bytes,
                 (unsigned long long)gm_bytes);
    gm_check(core, "gmWorkspace", gm->addr, gm_bytes);
    if ((ub->bytes && ub->bytes < ub_bytes) || !npu_in_ub(core, ub->addr) || !npu_in_ub(core, ub->addr + ub_bytes - 1))
        npu_trap(core, FAULT(sync_workspace_small), "ubWorkspace", "%u bytes; %llu are needed", ub->bytes,
                 (unsigned long long)ub_bytes);
}

struct pair_word {
    const void *at;
    int32_t wanted;
};
static bool word_is_right(void *argument)
{
    const struct pair_word *word = argument;
    int32_t value;
    memcpy(&value, word->at, sizeof value);
    return value == word->wanted;
}

/* Waits until the word of (block, event) is `from`, then makes it `to`. */
static void exchange_word(struct npu_core *core, const struct npu_tensor *gm, const struct npu_tensor *ub, int block,
                          int event, int32_t from, int32_t to, const char *what)
{
    if (core->aic)
        return;
    const struct npu *npu = core->npu;
    int blocks = npu->block_dim * npu->aiv;
    check_core_count(core, what);
    if (block < 0 || block >= blocks || event < 0)
        npu_trap(core, FAULT(sync_pair), "blockIdx",
                 "%s of block %d, event %d: there are %d blocks, and events count from 0", what, block, event, blocks);
    uint64_t offset = ((uint64_t)blocks * (uint64_t)event + (uint64_t)block) * NPU_BLOCK;
    check_pair_workspace(core, gm, offset + NPU_BLOCK, ub, NPU_BLOCK);
    const void *at = (const void *)(gm->addr + offset);
    if (!npu_gm_defined(core, at, sizeof from))
        npu_note(core, true, FAULT(sync_workspace_not_zero), "gmWorkspace", 0,
                 "the workspace of IBSet and IBWait must be zero before the first call; the word of block %d, event %d "
                 "was never written",
                 block, event);
    finish_pipes(core);
    order_by_clocks(core);
    struct pair_word word = {at, from};
    if (!word_is_right(&word))
        npu_fiber_wait(core, word_is_right, &word, what);
    acquire_word(core, pair_of_word(core->npu, (uint64_t)at));
    release_word(core, (uint64_t)at);
    store_words(core, (uint64_t)at, NPU_BLOCK, to);
    npu_ub_undefine(core, (void *)ub->addr, NPU_BLOCK);
}

void npu_ib_set(const struct npu_tensor *gm, const struct npu_tensor *ub, int block, int event)
{
    NPU_ENTER(core);
    exchange_word(core, gm, ub, block, event, 0, 1, "IBSet");
}

void npu_ib_wait(const struct npu_tensor *gm, const struct npu_tensor *ub, int block, int event)
{
    NPU_ENTER(core);
    exchange_word(core, gm, ub, block, event, 1, 0, "IBWait");
}

struct block_turn {
    const uint8_t *words;
    int before, blocks; /* blocks that come first; all */
    int32_t round;
};
static bool turn_has_come(void *argument)
{
    const struct block_turn *turn = argument;
    for (int i = 0; i < turn->blocks; i++) {
        int32_t value;
        memcpy(&value, turn->words + (size_t)i * NPU_BLOCK, sizeof value);
        if (value != (i < turn->before ? turn->round : 0))
            return false;
    }
    return true;
}

/* Behind the words' copies in UB stands the round that the block is in. */
static int32_t *round_of(const struct npu_tensor *ub, int blocks)
{
    return (int32_t *)(ub->addr + (uint64_t)blocks * NPU_BLOCK);
}

void npu_block_turn(int step, const struct npu_tensor *gm, const struct npu_tensor *ub)
{
    NPU_ENTER(core);
    if (core->aic)
        return;
    static const char *const names[] = {"InitDetermineComputeWorkspace", "WaitPreBlock", "NotifyNextBlock"};
    int blocks = core->npu->block_dim * core->npu->aiv;
    if ((unsigned)step >= sizeof names / sizeof *names)
        npu_no_such(core, "step of a turn", (unsigned)step);
    check_core_count(core, names[step]);
    uint64_t bytes = (uint64_t)blocks * NPU_BLOCK;
    check_pair_workspace(core, gm, bytes, ub, bytes + NPU_BLOCK);
    int32_t *round = round_of(ub, blocks);
    finish_pipes(core);
    order_by_clocks(core);
    if (step == NPU_TURN_INIT) {
        if (core->block == 0)
            store_words(core, gm->addr, bytes, 0);
        *round = 1;
        npu_ub_define(core, round, sizeof *round);
        return;
    }
    if (!npu_ub_defined(core, round, sizeof *round))
        npu_trap(core, FAULT(sync_turn), "ubWorkspace", "%s before InitDetermineComputeWorkspace", names[step]);
    if (step == NPU_TURN_WAIT) {
        struct block_turn turn = {(const uint8_t *)gm->addr, core->block, blocks, *round};
        if (!turn_has_come(&turn))
            npu_fiber_wait(core, turn_has_come, &turn, names[step]);
        acquire_word(core, pair_of_word(core->npu, gm->addr)); /* one for all blocks: a turn follows another */
        return;
    }
    release_word(core, gm->addr);
    if (core->block + 1 == blocks)
        store_words(core, gm->addr, bytes, 0);
    else
        store_words(core, gm->addr + (uint64_t)core->block * NPU_BLOCK, NPU_BLOCK, *round);
    ++*round;
}
