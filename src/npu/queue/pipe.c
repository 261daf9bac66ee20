/* TPipe: its life, its event ids and the share of UB that is not in a queue's hands (docs: SIMD-API, 资源管理/TPipe).
 */
#include "npu/queue/pipe_internal.h"

#include <stdlib.h>
#include <string.h>

struct npu_pipe_object *npu_pipe_live(struct npu_core *core, const char *api)
{
    struct npu_pipe_object *pipe = core->pipe;
    if (__builtin_expect(!pipe || !pipe->alive, 0))
        npu_trap(core, FAULT_pipe_missing, "", "%s without a TPipe: a kernel makes one before it uses queues or events",
                 api);
    return pipe;
}

/* Buffers, queues and event ids as a new TPipe has them. The kernel's old ids become invalid. */
static void empty(struct npu_pipe_object *pipe)
{
    pipe->generation++;
    pipe->buffer_count = pipe->queue_count = 0;
    memset(pipe->used, 0, sizeof pipe->used);
    memset(pipe->events, 0, sizeof pipe->events);
    pipe->spm = 0;
}

void npu_pipe_create(void)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    if (!core->pipe) {
        core->pipe = calloc(1, sizeof *core->pipe);
        if (!core->pipe)
            abort();
    }
    if (core->pipe->alive)
        npu_trap(core, FAULT_pipe_twice, "",
                 "a second TPipe while the first one lives: there can be only one at a time; call Destroy() first");
    core->pipe->alive = true;
    empty(core->pipe);
}

static bool leave(struct npu_core *core)
{
    if (!core->pipe || !core->pipe->alive)
        return false;
    npu_queues_close(core, core->pipe);
    empty(core->pipe);
    core->pipe->alive = false;
    return true;
}
void npu_pipe_leave(void)
{
    leave(npu_enter(__builtin_return_address(0)));
}
void npu_pipe_destroy(void)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    if (!leave(core))
        return;
    npu_sync_stop_if_doubled(core, "the end of the TPipe, a PipeBarrier<PIPE_ALL>,");
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_order_join_all(core);
}

/* Also puts the special registers back: mask all, normal mode, no atomics. */
void npu_pipe_reset(void)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    struct npu_pipe_object *pipe = npu_pipe_live(core, "TPipe::Reset");
    npu_queues_close(core, pipe);
    empty(pipe);
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

/* Events. */
static int free_event(struct npu_core *core, const struct npu_pipe_object *pipe, int from, int to)
{
    unsigned taken = pipe->events[from][to];
    if (__builtin_expect(taken == 0xff, 0))
        npu_trap(
            core, FAULT_event_exhausted, "",
            "all %d event ids of %s_%s are taken: at most %d buffers of the queues of one position can be out, and "
            "AllocEventID needs its ReleaseEventID",
            NPU_EVENTS, npu_lane_name(from), npu_lane_name(to), NPU_EVENTS);
    return __builtin_ctz(~taken);
}

int npu_event_take(struct npu_core *core, struct npu_pipe_object *pipe, int from, int to)
{
    int event = free_event(core, pipe, from, to);
    pipe->events[from][to] |= (uint8_t)(1u << event);
    return event;
}

static void check_pair(struct npu_core *core, const char *api, int from, int to)
{
    if (from < 0 || to < 0)
        npu_trap(core, FAULT_flag_bad_pipes, "event", "%s for a pair of pipes that do not exist", api);
}

int npu_fetch_event(int src_pipe, int dst_pipe)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "FetchEventID", from, to);
    return free_event(core, npu_pipe_live(core, "FetchEventID"), from, to);
}

int npu_alloc_event(int src_pipe, int dst_pipe)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "AllocEventID", from, to);
    return npu_event_take(core, npu_pipe_live(core, "AllocEventID"), from, to);
}

void npu_release_event(int src_pipe, int dst_pipe, int event_id)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    int from = npu_lane_of(src_pipe), to = npu_lane_of(dst_pipe);
    check_pair(core, "ReleaseEventID", from, to);
    struct npu_pipe_object *pipe = npu_pipe_live(core, "ReleaseEventID");
    if (event_id < 0 || event_id >= NPU_EVENTS)
        npu_trap(core, FAULT_flag_bad_event, "id", "ReleaseEventID<%s_%s>(%d): event ids are 0 to %d",
                 npu_lane_name(from), npu_lane_name(to), event_id, NPU_EVENTS - 1);
    npu_event_release(pipe, from, to, event_id);
}

/* Memory outside the queues. */
static enum npu_memory memory_of(struct npu_core *core, int position, const char *api)
{
    enum npu_memory memory = npu_memory_of(position);
    if (memory == NPU_MEM_NONE)
        npu_trap(core, FAULT_local_position, "pos", "%s at a position that is no local memory of this chip", api);
    return memory;
}

void npu_local_tensor(int position, uint32_t offset, uint32_t bytes, struct npu_tensor *tensor)
{
    struct npu_core *core = npu_enter(__builtin_return_address(0));
    enum npu_memory memory = memory_of(core, position, "a tensor");
    uint32_t size = npu_memory_bytes(core, memory);
    if ((uint64_t)offset + bytes > size)
        npu_trap(core, npu_memories[memory].overflow, "",
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
        npu_trap(core, npu_memories[memory].overflow, "",
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
