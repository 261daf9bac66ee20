/* Synchronisation between cores: SyncAll, hard and soft, and cross-core flags of mode 0.
 * Source: asc-devkit docs/zh/api, SyncAll.md and CrossCoreSetFlag(ISASI).md. */
#include "npu/machine_internal.h"

struct meeting {
    const uint64_t *generation;
    uint64_t mine;
};

static bool meeting_over(void *argument)
{
    const struct meeting *meeting = argument;
    return *meeting->generation != meeting->mine;
}

/* Every pipe of the core is done, and what follows happens after what came before. */
static void finish_pipes(struct npu_core *core)
{
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
}

static void check_core_count(struct npu_core *core, const char *api)
{
    const struct npu *npu = core->npu;
    if (npu->block_dim > npu->config.soc->aiv)
        npu_trap(core, "sync_more_blocks_than_cores", NULL,
                 "%s with %d blocks on %d cores: blocks of the second wave never start, and all others wait for them",
                 api, npu->block_dim, npu->config.soc->aiv);
}

/* The running block joins a meeting of `members` blocks; the last one to come ends the epoch. */
static void meet(struct npu_core *core, int *arrived, uint64_t *generation, int members, const char *what)
{
    if (++*arrived == members) {
        *arrived = 0;
        dcache_swap_out(core);
        gm_epoch_end(core->npu);
        dcache_swap_in(core);
        ++*generation;
        return;
    }
    struct meeting meeting = {generation, *generation};
    npu_fiber_wait(core, meeting_over, &meeting, what);
}

void npu_sync_all(int aiv_only)
{
    NPU_ENTER(core);
    if (!aiv_only)
        npu_trap(core, "sync_without_cube", NULL,
                 "SyncAll<false>() also waits for the AIC, and this vector kernel has none: it hangs");
    check_core_count(core, "SyncAll()");
    finish_pipes(core);
    meet(core, &core->npu->sync.arrived, &core->npu->sync.generation, core->npu->block_dim, "SyncAll()");
}

/* Each block owns 32 bytes of the GM workspace, whose first word counts its arrivals. */
static void check_soft_workspace(struct npu_core *core, const struct npu_tensor *gm, const struct npu_tensor *ub,
                                 int members)
{
    uint64_t need = (uint64_t)members * NPU_BLOCK;
    if (gm->bytes && gm->bytes < need)
        npu_trap(core, "sync_workspace_small", "gmWorkspace", "%u bytes; %d cores need %llu (32 for each)", gm->bytes,
                 members, (unsigned long long)need);
    gm_check(core, "gmWorkspace", gm->addr, need);
    if (ub->bytes < need || !npu_in_ub(core, ub->addr) || !npu_in_ub(core, ub->addr + need - 1))
        npu_trap(core, "sync_workspace_small", "ubWorkspace", "%u bytes; %d cores need %llu (32 for each)", ub->bytes,
                 members, (unsigned long long)need);
    const void *slot = (const void *)(gm->addr + (uint64_t)core->block * NPU_BLOCK);
    int32_t value;
    memcpy(&value, slot, sizeof value);
    bool defined = npu_gm_defined(core, slot, sizeof value);
    if (!defined || (value != 0 && (uint64_t)value != core->npu->sync.soft_generation))
        npu_note(core, NPU_UNDEFINED, true, "sync_workspace_not_zero", "gmWorkspace", 0,
                 "the workspace of the soft SyncAll must be zero before the first call; block %d's counter %s",
                 core->block, defined ? "holds another value" : "was never written");
}

void npu_sync_all_soft(const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace, int used_cores)
{
    NPU_ENTER(core);
    int members = used_cores ? used_cores : core->npu->block_dim;
    check_core_count(core, "SyncAll(gmWorkspace, ubWorkspace)");
    if (members < 0 || members > core->npu->block_dim)
        npu_trap(core, "sync_used_cores", "usedCores", "usedCores is %d, the launch has %d blocks", used_cores,
                 core->npu->block_dim);
    finish_pipes(core);
    check_soft_workspace(core, gm_workspace, ub_workspace, members);
    int32_t count = (int32_t)core->npu->sync.soft_generation + 1;
    meet(core, &core->npu->sync.soft_arrived, &core->npu->sync.soft_generation, members,
         "SyncAll(gmWorkspace, ubWorkspace)");
    uint64_t slot = gm_workspace->addr + (uint64_t)core->block * NPU_BLOCK;
    memcpy((void *)slot, &count, sizeof count);
    npu_gm_written(core, (const void *)slot, sizeof count, true, false);
    uint64_t bytes = (uint64_t)members * NPU_BLOCK;
    memset((void *)ub_workspace->addr, 0, bytes);
    npu_ub_define(core, (const void *)ub_workspace->addr, bytes);
}

/* ---- cross-core flags
 * ------------------------------------------------------------------------------------------------ */

static uint32_t *flag_count(uint32_t *counts, const struct npu_core *core, int flag)
{
    return &counts[(size_t)flag * (size_t)core->npu->block_dim + (size_t)core->block];
}

/* How many rounds of a flag every block has completed. A new one ends the epoch. */
static void update_rounds(struct npu_core *core, int flag)
{
    struct npu *npu = core->npu;
    const uint32_t *sets = npu->sync.flag_sets + (size_t)flag * (size_t)npu->block_dim;
    uint32_t rounds = sets[0];
    for (int i = 1; i < npu->block_dim; i++)
        rounds = sets[i] < rounds ? sets[i] : rounds;
    if (rounds == npu->sync.flag_rounds[flag])
        return;
    npu->sync.flag_rounds[flag] = rounds;
    dcache_swap_out(core);
    gm_epoch_end(npu);
    dcache_swap_in(core);
}

void npu_cross_core_set_flag(int mode, int pipe, int flag_id)
{
    NPU_ENTER(core);
    if (mode != 0)
        npu_unsupported(mode == 1 ? "CrossCoreSetFlag mode 1" : "CrossCoreSetFlag mode 2");
    if (pipe == NPU_PIPE_S || pipe == NPU_PIPE_ALL)
        npu_trap(core, "cross_core_pipe", "pipe", "CrossCoreSetFlag takes a pipe other than PIPE_S and PIPE_ALL");
    check_core_count(core, "CrossCoreSetFlag");
    int flag = flag_id & (NPU_CROSS_FLAGS - 1);
    npu_schedule_drain(core, pipe);
    uint32_t sets = ++*flag_count(core->npu->sync.flag_sets, core, flag);
    if (sets - *flag_count(core->npu->sync.flag_waits, core, flag) > 15)
        npu_trap(core, "cross_core_flag_overflow", "flagId", "flag %d was set 16 times without a wait; it counts to 15",
                 flag);
    update_rounds(core, flag);
}

struct flag_wait {
    const uint32_t *rounds, *waits;
};

static bool flag_is_set(void *argument)
{
    const struct flag_wait *wait = argument;
    return *wait->rounds > *wait->waits;
}

void npu_cross_core_wait_flag(int flag_id)
{
    NPU_ENTER(core);
    int flag = flag_id & (NPU_CROSS_FLAGS - 1);
    uint32_t *waits = flag_count(core->npu->sync.flag_waits, core, flag);
    struct flag_wait wait = {&core->npu->sync.flag_rounds[flag], waits};
    if (!flag_is_set(&wait))
        npu_fiber_wait(core, flag_is_set, &wait, "CrossCoreWaitFlag");
    ++*waits;
    npu_order_join_all(core);
}
