/* TPipe: its life, its event ids and the share of UB that is not in a queue's hands (docs: SIMD-API, 资源管理/TPipe). */
#include "npu/order/schedule.h"
#include "npu/queue/queue.h"
#include "npu/queue/queue_internal.h"
#include "npu/report.h"
#include "npu/sync/sync.h"

#include <stdlib.h>
#include <string.h>

struct npu_pipe_object *npu_pipe_live(struct npu_core *core, const char *api)
{
    struct npu_pipe_object *pipe = core->pipe;
    if (__builtin_expect(!pipe || !pipe->alive, 0))
        npu_trap(core, FAULT(pipe_missing), "",
                 "%s without a TPipe: a kernel makes one before it uses queues or events", api);
    return pipe;
}

/* Buffers, queues and event ids as a new TPipe has them. The kernel's old ids become invalid. */
static void empty(struct npu_core *core)
{
    struct npu_pipe_object *pipe = core->pipe;
    pipe->generation++;
    pipe->buffer_count = pipe->queue_count = 0;
    memset(pipe->used, 0, sizeof pipe->used);
    memset(core->order->events, 0, sizeof core->order->events);
    pipe->spm = 0;
}

void npu_pipe_create(void)
{
    NPU_ENTER(core);
    if (!core->pipe) {
        core->pipe = calloc(1, sizeof *core->pipe);
        if (!core->pipe)
            abort();
    }
    if (core->pipe->alive)
        npu_trap(core, FAULT(pipe_twice), "",
                 "a second TPipe while the first one lives: there can be only one at a time; call Destroy() first");
    core->pipe->alive = true;
    empty(core);
}

static bool leave(struct npu_core *core)
{
    if (!core->pipe || !core->pipe->alive)
        return false;
    npu_queues_close(core, core->pipe);
    empty(core);
    core->pipe->alive = false;
    return true;
}
void npu_pipe_leave(void)
{
    NPU_ENTER(core);
    leave(core);
}
void npu_pipe_destroy(void)
{
    NPU_ENTER(core);
    if (!leave(core))
        return;
    npu_sync_stop_if_doubled(core, "the end of the TPipe, a PipeBarrier<PIPE_ALL>,");
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
}

/* Also puts the special registers back: mask all, normal mode, no atomics. */
void npu_pipe_reset(void)
{
    NPU_ENTER(core);
    struct npu_pipe_object *pipe = npu_pipe_live(core, "TPipe::Reset");
    npu_queues_close(core, pipe);
    empty(core);
    core->regs.mask[0] = core->regs.mask[1] = UINT64_MAX;
    core->regs.counter = false;
    core->regs.atomic = 0;
}

void npu_pipe_object_destroy(struct npu_core *core)
{
    if (core->pipe && core->pipe->alive)
        npu_queues_close(core, core->pipe);
    npu_sync_report(core);
    free(core->pipe);
    core->pipe = NULL;
}

uint32_t *npu_taken(const struct npu_core *core, enum npu_memory memory)
{
    return core->pipe ? &core->pipe->used[memory] : NULL;
}

/* Events. */
static int free_event(struct npu_core *core, int from, int to)
{
    unsigned taken = core->order->events[from][to];
    if (__builtin_expect(taken == 0xff, 0))
        npu_trap(
            core, FAULT(event_exhausted), "",
            "all %d event ids of %s_%s are taken: at most %d buffers of the queues of one position can be out, and "
            "AllocEventID needs its ReleaseEventID",
            NPU_EVENTS, npu_lane_name(from), npu_lane_name(to), NPU_EVENTS);
    return __builtin_ctz(~taken);
}

int npu_event_take(struct npu_core *core, int from, int to)
{
    int event = free_event(core, from, to);
    core->order->events[from][to] |= (uint8_t)(1u << event);
    return event;
}

static void check_pair(struct npu_core *core, const char *api, int from, int to)
{
    if (from < 0 || to < 0)
        npu_trap(core, FAULT(flag_bad_pipes), "event", "%s for a pair of pipes that do not exist", api);
}

int npu_fetch_event(int src_pipe, int dst_pipe)
{
    NPU_ENTER(core);
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "FetchEventID", from, to);
    npu_pipe_live(core, "FetchEventID");
    return free_event(core, from, to);
}

int npu_alloc_event(int src_pipe, int dst_pipe)
{
    NPU_ENTER(core);
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "AllocEventID", from, to);
    npu_pipe_live(core, "AllocEventID");
    return npu_event_take(core, from, to);
}

void npu_release_event(int src_pipe, int dst_pipe, int event_id)
{
    NPU_ENTER(core);
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "ReleaseEventID", from, to);
    npu_pipe_live(core, "ReleaseEventID");
    if (event_id < 0 || event_id >= NPU_EVENTS)
        npu_trap(core, FAULT(flag_bad_event), "id", "ReleaseEventID<%s_%s>(%d): event ids are 0 to %d",
                 npu_lane_name(from), npu_lane_name(to), event_id, NPU_EVENTS - 1);
    npu_event_release(core, from, to, event_id);
}

/* Memory outside the queues. */
static enum npu_memory memory_of(struct npu_core *core, int position, const char *api)
{
    enum npu_memory memory = npu_memory_of(position);
    if (memory == NPU_MEM_NONE)
        npu_trap(core, FAULT(local_position), "pos", "%s at a position that is no local memory of this chip", api);
    return memory;
}

void npu_local_tensor(int position, uint32_t offset, uint32_t bytes, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    enum npu_memory memory = memory_of(core, position, "a tensor");
    uint32_t size = npu_memory_bytes(core, memory);
    if ((uint64_t)offset + bytes > size)
        npu_trap_of(core, npu_memories[memory].overflow, "",
                    "a tensor of %u bytes at offset %u ends beyond %s, which has %u bytes", bytes, offset,
                    npu_memories[memory].name, size);
    *tensor = (struct npu_tensor){
        .addr = npu_memory_base(core, memory) + offset, .bytes = bytes, .position = (uint8_t)position};
}

/* docs PopStackBuffer: all that is left of the memory. */
void npu_pop_rest(struct npu_core *core, int position, struct npu_tensor *tensor)
{
    struct npu_pipe_object *pipe = npu_pipe_live(core, "PopStackBuffer");
    enum npu_memory memory = memory_of(core, position, "PopStackBuffer");
    uint32_t size = npu_memory_bytes(core, memory), used = pipe->used[memory];
    if (used >= size)
        npu_trap_of(core, npu_memories[memory].overflow, "",
                    "PopStackBuffer finds nothing: InitBuffer has given away all %u bytes of %s", size,
                    npu_memories[memory].name);
    *tensor = (struct npu_tensor){
        .addr = npu_memory_base(core, memory) + used, .bytes = size - used, .position = (uint8_t)position};
}

int npu_pop_stack_buffer(int position, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    npu_pop_rest(core, position, tensor);
    return 1;
}
