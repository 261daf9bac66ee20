/* Flags and barriers as a kernel writes them: SetFlag, WaitFlag, PipeBarrier. The rules are those of the documentation
 * (SIMD-API, 同步控制/核内同步: SetFlag-WaitFlag(ISASI), PipeBarrier(ISASI)): event ids 0..7, one SetFlag per WaitFlag.
 * A WaitFlag issued before its SetFlag counts as the hang that it is for a waiting scalar unit. */
#include "npu/sync/sync.h"

#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"

static bool lane_here(const struct npu_core *core, int lane)
{
    return core->aic ? lane != NPU_LANE_V : lane <= NPU_LANE_MTE3;
}

static bool between(int a, int b, int x, int y)
{
    return (a == x && b == y) || (a == y && b == x);
}

/* False for the events of the other kind of core, which a core skips; a trap for pairs that no core has. */
static bool accepted(struct npu_core *core, const char *api, int from, int to, int event)
{
    if (from < 0 || to < 0 || (from == to && from != NPU_LANE_V && from != NPU_LANE_FIX))
        npu_trap(core, FAULT(flag_bad_pipes), "event", "%s from pipe %s to pipe %s: there is no such event", api,
                 from < 0 ? "?" : npu_lane_name(from), to < 0 ? "?" : npu_lane_name(to));
    bool cube_event = between(from, to, NPU_LANE_MTE2, NPU_LANE_MTE1) || between(from, to, NPU_LANE_MTE1, NPU_LANE_M) ||
                      between(from, to, NPU_LANE_M, NPU_LANE_FIX);
    if (core->aic ? from == NPU_LANE_V || to == NPU_LANE_V : cube_event)
        return false;
    if (!lane_here(core, from) || !lane_here(core, to))
        npu_trap(core, FAULT(flag_bad_pipes), "event",
                 "%s<%s_%s>: a vector core has the pipes S, V, MTE2 and MTE3 only", api, npu_lane_name(from),
                 npu_lane_name(to));
    if (event < 0 || event >= NPU_EVENTS)
        npu_trap(core, FAULT(flag_bad_event), "eventID", "%s<%s_%s>(%d): event ids are 0 to %d", api,
                 npu_lane_name(from), npu_lane_name(to), event, NPU_EVENTS - 1);
    return true;
}

/* Docs: undefined, and a hang at the next PipeBarrier<PIPE_ALL>; nothing is said of WaitFlags that come first, and in
 * the documentation's example two of them follow. Here the sets are counted. */
static void set_twice(struct npu_core *core, int from, int to, int event)
{
    const struct npu_flag *flag = &core->order->flags[from][to][event];
    if (flag->pending == NPU_FLAG_SETS)
        npu_trap(core, FAULT(flag_set_twice), "eventID", "SetFlag<%s_%s>(%d) for the %dth time without a WaitFlag",
                 npu_lane_name(from), npu_lane_name(to), event, NPU_FLAG_SETS + 1);
    npu_note(core, false, FAULT(flag_set_twice), "eventID", flag->pc,
             "SetFlag<%s_%s>(%d) while the same flag is set and nobody has waited for it: SetFlag and WaitFlag must "
             "come in pairs, and a PipeBarrier<PIPE_ALL> hangs now",
             npu_lane_name(from), npu_lane_name(to), event);
}

void npu_sync_stop_if_doubled(struct npu_core *core, const char *api)
{
    const struct npu_order *order = core->order;
    for (int i = 0; order->doubled && i < NPU_LANES * NPU_LANES * NPU_EVENTS; i++) {
        const struct npu_flag *flag = &order->flags[0][0][0] + i;
        if (flag->pending > 1)
            npu_trap(core, FAULT(flag_set_twice), "eventID",
                     "%s hangs: SetFlag<%s_%s>(%d) came %u times without a WaitFlag between", api,
                     npu_lane_name(i / NPU_EVENTS / NPU_LANES), npu_lane_name(i / NPU_EVENTS % NPU_LANES),
                     i % NPU_EVENTS, flag->pending);
    }
}

void npu_sync_set(struct npu_core *core, int from, int to, int event)
{
    if (!lane_here(core, from) || !lane_here(core, to))
        return;
    struct npu_order *order = core->order;
    struct npu_flag *flag = &order->flags[from][to][event];
    if (__builtin_expect(flag->pending, 0))
        set_twice(core, from, to, event);
    if (core->log)
        core->log(core, npu_lane_name(from), "SetFlag", "  %s_%s %d", npu_lane_name(from), npu_lane_name(to), event);
    npu_order_set_flag(order, from, to, event);
    flag->pc = core->pc;
    if (order->random_order)
        npu_schedule_set_flag(core, from, to, event);
}

void npu_sync_wait(struct npu_core *core, int from, int to, int event)
{
    if (!lane_here(core, from) || !lane_here(core, to))
        return;
    struct npu_order *order = core->order;
    if (__builtin_expect(!order->flags[from][to][event].pending, 0))
        npu_trap(core, FAULT(flag_wait_without_set), "eventID",
                 "WaitFlag<%s_%s>(%d), but no SetFlag<%s_%s>(%d) comes before it: pipe %s waits for ever",
                 npu_lane_name(from), npu_lane_name(to), event, npu_lane_name(from), npu_lane_name(to), event,
                 npu_lane_name(to));
    if (core->log)
        core->log(core, npu_lane_name(to), "WaitFlag", "  %s_%s %d", npu_lane_name(from), npu_lane_name(to), event);
    npu_order_wait_flag(order, from, to, event);
    if (order->random_order)
        npu_schedule_wait_flag(core, from, to, event);
}

/* Docs NPU架构版本2201: ids 6 and 7 may be in use by the system. AllocEventID and FetchEventID may give them. */
static void note_reserved(struct npu_core *core, int from, int to, int event)
{
    unsigned taken = core->order->events[from][to];
    if (event < NPU_SYSTEM_EVENTS || taken >> event & 1 || event == __builtin_ctz(~taken))
        return;
    npu_note(core, false, FAULT(flag_reserved_event), "eventID", 0,
             "SetFlag<%s_%s>(%d): ids %d and %d are kept for the system", npu_lane_name(from), npu_lane_name(to), event,
             NPU_SYSTEM_EVENTS, NPU_EVENTS - 1);
}

void npu_set_flag(int src_pipe, int dst_pipe, int event_id)
{
    NPU_ENTER(core);
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    if (!accepted(core, "SetFlag", from, to, event_id))
        return;
    if (from == to) { /* V_V is a barrier of V, FIX_FIX one of FIX */
        npu_order_barrier(core->order, from);
        return;
    }
    note_reserved(core, from, to, event_id);
    npu_sync_set(core, from, to, event_id);
}

void npu_wait_flag(int src_pipe, int dst_pipe, int event_id)
{
    NPU_ENTER(core);
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    if (accepted(core, "WaitFlag", from, to, event_id) && from != to)
        npu_sync_wait(core, from, to, event_id);
}

/* PIPE_S needs none: the scalar unit is in order with itself. */
void npu_pipe_barrier(int pipe)
{
    NPU_ENTER(core);
    if (core->log)
        core->log(core, npu_pipe_name(pipe), "PipeBarrier", "%s", "");
    if (pipe == NPU_PIPE_ALL) {
        npu_sync_stop_if_doubled(core, "PipeBarrier<PIPE_ALL>");
        npu_schedule_drain(core, NPU_PIPE_ALL);
        npu_order_join_all(core);
        return;
    }
    int lane = npu_lane_of(pipe);
    if (lane < 0)
        npu_trap(core, FAULT(flag_bad_pipes), "pipe", "PipeBarrier of pipe %d: there is no such pipe", pipe);
    npu_order_barrier(core->order, lane);
}

void npu_sync_report(struct npu_core *core)
{
    for (int from = 0; from < NPU_LANES; from++)
        for (int to = 0; to < NPU_LANES; to++)
            for (int event = 0; event < NPU_EVENTS; event++) {
                const struct npu_flag *flag = &core->order->flags[from][to][event];
                if (!flag->pending)
                    continue;
                core->pc = flag->pc; /* the kernel is over; the place is that SetFlag */
                npu_note(core, false, FAULT(flag_not_waited), "eventID", 0,
                         "the kernel ends with SetFlag<%s_%s>(%d) that no WaitFlag followed: the flag stays set for "
                         "the next kernel on this core",
                         npu_lane_name(from), npu_lane_name(to), event);
            }
}
