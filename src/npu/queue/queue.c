/* Queues and buffers: TQue, TQueBind, TBuf (docs: SIMD-API, 资源管理/TQue, TQueBind, TBuf, TPipe/InitBuffer).
 *
 * A queue orders nothing by magic: it sets and waits for ordinary flags, with event ids of its buffers. EnQue sets
 * producer->consumer, DeQue waits for it; FreeTensor sets consumer->producer, the next AllocTensor of that buffer waits
 * for it. VECIN: MTE2_V and V_MTE2; VECOUT: V_MTE3 and MTE3_V; both ends on UB: MTE2_MTE3 and MTE3_MTE2. So a forgotten
 * DeQue leaves MTE2 and V unordered here as on the chip, and more than eight buffers run out of ids. Misuse that hangs
 * the chip or silently loses a tensor is a trap. */
#include "npu/queue/queue.h"

#include "npu/queue/queue_internal.h"
#include "npu/report.h"
#include "npu/sync/sync.h"

/* InitBuffer. */
/* Which lanes a flag between two positions joins: who fills a buffer on the way from one memory to the other, and who
 * empties it (asc-devkit impl/basic_api, the events of queues of NPU_ARCH 2201). */
static void lanes_between(struct npu_core *core, int source, int destination, int8_t *from, int8_t *to)
{
    static const struct {
        int8_t source, destination, from, to;
    } paths[] = {
        {NPU_MEM_NONE, NPU_MEM_UB, NPU_LANE_MTE2, NPU_LANE_V},
        {NPU_MEM_UB, NPU_MEM_NONE, NPU_LANE_V, NPU_LANE_MTE3},
        {NPU_MEM_UB, NPU_MEM_UB, NPU_LANE_MTE2, NPU_LANE_MTE3},
        {NPU_MEM_UB, NPU_MEM_L1, NPU_LANE_MTE3, NPU_LANE_MTE1},
        {NPU_MEM_NONE, NPU_MEM_L1, NPU_LANE_MTE2, NPU_LANE_MTE1},
        {NPU_MEM_NONE, NPU_MEM_L0A, NPU_LANE_MTE2, NPU_LANE_M},
        {NPU_MEM_NONE, NPU_MEM_L0B, NPU_LANE_MTE2, NPU_LANE_M},
        {NPU_MEM_L1, NPU_MEM_L0A, NPU_LANE_MTE1, NPU_LANE_M},
        {NPU_MEM_L1, NPU_MEM_L0B, NPU_LANE_MTE1, NPU_LANE_M},
        {NPU_MEM_L1, NPU_MEM_BT, NPU_LANE_MTE1, NPU_LANE_M},
        {NPU_MEM_L1, NPU_MEM_FB, NPU_LANE_MTE1, NPU_LANE_FIX},
        {NPU_MEM_L0C, NPU_MEM_NONE, NPU_LANE_M, NPU_LANE_FIX},
    };
    enum npu_memory source_memory = npu_memory_of(source), destination_memory = npu_memory_of(destination);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i].source == source_memory && paths[i].destination == destination_memory) {
            *from = paths[i].from;
            *to = paths[i].to;
            return;
        }
    npu_trap(core, FAULT(que_position), "pos", "a queue from %s to %s: there is no such path on this chip",
             npu_position_name(source), npu_position_name(destination));
}

/* The memory in which the buffers of a queue lie: at its destination, at its source if it leads to GM. */
static enum npu_memory memory_between(struct npu_core *core, int source, int destination)
{
    enum npu_memory memory = npu_memory_of(destination);
    if (memory == NPU_MEM_NONE)
        memory = npu_memory_of(source);
    if (memory == NPU_MEM_NONE)
        npu_trap(core, FAULT(que_position), "pos", "InitBuffer of a queue or TBuf outside local memory");
    return memory;
}

/* A new queue of `buffers` buffers, cut from what is left of a memory. */
static struct npu_queue *new_queue(struct npu_core *core, enum npu_memory memory, uint32_t *id, int buffers,
                                   uint32_t bytes)
{
    struct npu_pipe_object *pipe = npu_pipe_live(core, "InitBuffer");
    if (buffers < 0 || pipe->buffer_count + (uint32_t)buffers > NPU_BUFFERS || pipe->queue_count == NPU_BUFFERS)
        npu_trap(core, FAULT(pipe_too_many_buffers), "num",
                 "InitBuffer brings the number of buffers to %u: a TPipe has %d",
                 pipe->buffer_count + (uint32_t)buffers, NPU_BUFFERS);
    if (!bytes)
        npu_note(core, false, FAULT(init_buffer_empty), "len", 0, "InitBuffer with a length of 0 bytes");
    uint64_t each = ((uint64_t)bytes + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK,
             sum = pipe->used[memory] + each * (uint64_t)buffers;
    const struct npu_memory_row *row = &npu_memories[memory];
    if (sum > UINT32_MAX)
        npu_trap_of(core, row->overflow, "len", "InitBuffer of %d x %llu bytes: no %s has that many", buffers,
                    (unsigned long long)each, row->name);
    /* TPipe only counts: the chip stops when something beyond the memory is used (npu_local_overrun). */
    if (sum > npu_memory_bytes(core, memory))
        npu_note_of(core, false, row->overbooked, "len", 0,
                    "InitBuffer of %d x %llu bytes brings the sum of all buffers to %llu bytes: %s has %u", buffers,
                    (unsigned long long)each, (unsigned long long)sum, row->name, npu_memory_bytes(core, memory));
    uint32_t index = pipe->queue_count++;
    struct npu_queue *queue = &pipe->queues[index];
    *queue = (struct npu_queue){.first = (uint8_t)pipe->buffer_count, .buffers = (uint8_t)buffers, .pc = core->pc};
    for (int i = 0; i < buffers; i++) {
        pipe->buffers[pipe->buffer_count++] = (struct npu_buffer){.offset = pipe->used[memory],
                                                                  .memory = (uint8_t)memory,
                                                                  .bytes = (uint32_t)each,
                                                                  .queue = (uint8_t)index,
                                                                  .enque_event = NPU_NO_EVENT,
                                                                  .free_event = NPU_NO_EVENT};
        pipe->used[memory] += (uint32_t)each;
    }
    *id = (uint32_t)pipe->generation << 16 | (index + 1);
    return queue;
}

static void init_queue(struct npu_core *core, uint32_t *id, int src_position, int dst_position, int depth, int buffers,
                       uint32_t bytes)
{
    enum npu_memory memory = memory_between(core, src_position, dst_position);
    struct npu_queue *queue = new_queue(core, memory, id, buffers, bytes);
    queue->position = (uint8_t)(npu_memory_of(dst_position) == NPU_MEM_NONE ? src_position : dst_position);
    queue->barrier = src_position == NPU_VECCALC && dst_position == NPU_VECCALC;
    lanes_between(core, src_position, dst_position, &queue->producer, &queue->consumer);
    queue->depth = depth;
    queue->in_place = depth == 0;
    if (!queue->in_place || queue->barrier)
        return;
    /* depth 0: a buffer keeps its two event ids, and starts as if it had been freed. */
    for (int i = 0; i < buffers; i++) {
        struct npu_buffer *buffer = &core->pipe->buffers[queue->first + i];
        buffer->enque_event = (int8_t)npu_event_take(core, queue->producer, queue->consumer);
        buffer->free_event = (int8_t)npu_event_take(core, queue->consumer, queue->producer);
        npu_sync_set(core, queue->consumer, queue->producer, buffer->free_event);
    }
}

static void init_buffer(struct npu_core *core, uint32_t *id, int position, uint32_t bytes)
{
    struct npu_queue *queue = new_queue(core, memory_between(core, position, position), id, 1, bytes);
    queue->position = (uint8_t)position;
    queue->tbuf = true;
}

void npu_que_init(uint32_t *id, int src_position, int dst_position, int depth, int buffers, uint32_t bytes)
{
    NPU_ENTER(core);
    init_queue(core, id, src_position, dst_position, depth, buffers, bytes);
}

void npu_buf_init(uint32_t *id, int position, uint32_t bytes)
{
    NPU_ENTER(core);
    init_buffer(core, id, position, bytes);
}

/* What the buffers of a pool of the kernel's own take, the pool has taken from the TPipe already. */
void npu_que_start(uint32_t *id, int src_position, int dst_position, int depth, int buffers, uint32_t bytes)
{
    NPU_ENTER(core);
    uint32_t *used = &npu_pipe_live(core, "InitStartBufHandle")->used[memory_between(core, src_position, dst_position)];
    uint32_t taken = *used;
    *used = 0;
    init_queue(core, id, src_position, dst_position, depth, buffers, bytes);
    *used = taken;
}

void npu_buf_start(uint32_t *id, int position, uint32_t bytes)
{
    NPU_ENTER(core);
    uint32_t *used = &npu_pipe_live(core, "InitStartBufHandle")->used[memory_between(core, position, position)];
    uint32_t taken = *used;
    *used = 0;
    init_buffer(core, id, position, bytes);
    *used = taken;
}

/* Where the buffer that holds byte `offset` and reaches over the end of its memory was made: an InitBuffer of more
 * than there is, or a Get of more than its buffer. *end: where it ends. 0 if the access itself went astray. */
static uint64_t overbooked_at(const struct npu_pipe_object *pipe, enum npu_memory memory, uint64_t offset,
                              uint64_t size, uint64_t *end)
{
    for (uint32_t i = 0; i < pipe->buffer_count; i++) {
        const struct npu_buffer *buffer = &pipe->buffers[i];
        const struct npu_queue *queue = &pipe->queues[buffer->queue];
        if (buffer->memory != memory)
            continue;
        *end = (uint64_t)buffer->offset + buffer->bytes;
        if (offset >= buffer->offset && offset < *end && *end > size)
            return queue->pc;
        *end = queue->over.to;
        if (queue->over.pc && offset >= queue->over.from && offset < *end && *end > size)
            return queue->over.pc;
    }
    return 0;
}

void npu_local_overrun(struct npu_core *core, enum npu_memory memory, const char *operand, uint64_t addr,
                       uint64_t bytes)
{
    const struct npu_pipe_object *pipe = core->pipe;
    const struct npu_memory_row *row = &npu_memories[memory];
    uint64_t offset = addr - npu_memory_base(core, memory), size = npu_memory_bytes(core, memory);
    uint64_t end = 0, used_at = core->pc;
    npu_trap_unplaced(core, operand, addr);
    uint64_t made_at = pipe && offset + bytes > size ? overbooked_at(pipe, memory, offset, size, &end) : 0;
    if (made_at) {
        core->pc = made_at;
        npu_note_of(core, true, row->overflow, "len", used_at,
                    "what is taken here ends at byte %llu of %s, which has %llu, and that part is used",
                    (unsigned long long)end, row->name, (unsigned long long)size);
        core->pc = used_at;
    }
    npu_trap_of(core, row->out_of_bounds, operand, "%llu bytes at %s offset %lld; %s has %llu bytes",
                (unsigned long long)bytes, row->name, (long long)offset, row->name, (unsigned long long)size);
}

/* Finding things. */
static struct npu_queue *find_queue(struct npu_core *core, uint32_t id, const char *api)
{
    struct npu_pipe_object *pipe = npu_pipe_live(core, api);
    if (__builtin_expect(id >> 16 != pipe->generation || !(id & 0xffff), 0))
        npu_trap(core, FAULT(que_uninitialized), "", "%s before InitBuffer%s", api,
                 id ? ": Destroy or Reset of the TPipe has taken its buffers back" : "");
    if ((id & 0xffff) > pipe->queue_count)
        npu_no_such(core, "queue with the number", id);
    return &pipe->queues[(id & 0xffff) - 1];
}

/* The buffer of this queue from which a tensor comes; a trap if it is another's. */
static struct npu_buffer *own_buffer(struct npu_core *core, const struct npu_queue *queue,
                                     const struct npu_tensor *tensor, const struct npu_fault *fault, const char *api)
{
    unsigned index = (unsigned)tensor->buffer - 1;
    if (__builtin_expect(index - queue->first >= queue->buffers, 0))
        npu_trap_of(core, fault, "tensor", "%s of a tensor that this %s queue did not allocate%s", api,
                    npu_position_name(queue->position), tensor->buffer ? "" : " (it comes from no queue)");
    return &core->pipe->buffers[index];
}

static void fill_tensor(const struct npu_core *core, const struct npu_queue *queue, const struct npu_buffer *buffer,
                        struct npu_tensor *tensor)
{
    *tensor = (struct npu_tensor){.addr = npu_memory_base(core, (enum npu_memory)buffer->memory) + buffer->offset,
                                  .bytes = buffer->bytes,
                                  .position = queue->position,
                                  .buffer = queue->tbuf ? 0 : (uint16_t)(buffer - core->pipe->buffers + 1)};
}

/* The four calls. */
/* Waits for the flag of the buffer's last FreeTensor. */
static void wait_for_free(struct npu_core *core, const struct npu_queue *queue, struct npu_buffer *buffer)
{
    if (buffer->free_event == NPU_NO_EVENT)
        return;
    npu_sync_wait(core, queue->consumer, queue->producer, buffer->free_event);
    if (!queue->in_place) {
        npu_event_release(core, queue->consumer, queue->producer, buffer->free_event);
        buffer->free_event = NPU_NO_EVENT;
    }
}

void npu_que_alloc(uint32_t id, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "AllocTensor");
    struct npu_buffer *buffers = &core->pipe->buffers[queue->first];
    if (queue->tbuf) {
        fill_tensor(core, queue, buffers, tensor);
        return;
    }
    if (__builtin_expect(queue->out >= queue->buffers, 0))
        npu_trap(
            core, FAULT(que_alloc_exhausted), "",
            "AllocTensor of a %s queue whose %d buffers are all out: the scalar unit waits for ever; a FreeTensor is "
            "missing",
            npu_position_name(queue->position), queue->buffers);
    struct npu_buffer *buffer;
    do {
        buffer = &buffers[queue->cursor];
        queue->cursor = queue->cursor + 1 == queue->buffers ? 0 : queue->cursor + 1;
    } while (buffer->state != NPU_BUFFER_FREE);
    buffer->state = NPU_BUFFER_OCCUPIED;
    buffer->pc = core->pc;
    queue->out++;
    wait_for_free(core, queue, buffer);
    fill_tensor(core, queue, buffer, tensor);
}

static void enque(struct npu_core *core, struct npu_queue *queue, const struct npu_tensor *tensor, int8_t from,
                  int8_t to)
{
    struct npu_buffer *buffer = own_buffer(core, queue, tensor, FAULT(que_enque_foreign), "EnQue");
    if (__builtin_expect(buffer->state == NPU_BUFFER_ENQUEUED, 0))
        npu_trap(core, FAULT(que_enque_twice), "tensor", "EnQue of a tensor that is in this %s queue already",
                 npu_position_name(queue->position));
    if (__builtin_expect(buffer->state == NPU_BUFFER_FREE, 0))
        npu_trap(core, FAULT(que_enque_free), "tensor", "EnQue of a tensor that is not allocated: it was freed before");
    if (!queue->in_place) {
        if (__builtin_expect(queue->count >= queue->depth || queue->count >= NPU_BUFFERS, 0))
            npu_trap(core, FAULT(que_depth_exceeded), "tensor",
                     "EnQue into a %s queue that holds %d tensors already: its depth is %d; a DeQue is missing",
                     npu_position_name(queue->position), queue->count, queue->depth);
        queue->ring[(queue->head + queue->count) % NPU_BUFFERS] = (uint8_t)(buffer - core->pipe->buffers);
        queue->count++;
    }
    buffer->state = NPU_BUFFER_ENQUEUED;
    if (queue->barrier) {
        npu_order_barrier(core->order, NPU_LANE_V);
        return;
    }
    if (!queue->in_place)
        buffer->enque_event = (int8_t)npu_event_take(core, from, to);
    buffer->from = from;
    buffer->to = to;
    npu_sync_set(core, from, to, buffer->enque_event);
}

void npu_que_enque(uint32_t id, const struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "EnQue");
    if (!queue->tbuf)
        enque(core, queue, tensor, queue->producer, queue->consumer);
}

void npu_que_enque_between(uint32_t id, const struct npu_tensor *tensor, int src_position, int dst_position)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "EnQue");
    int8_t from = 0, to = 0;
    lanes_between(core, src_position, dst_position, &from, &to);
    if (!queue->tbuf)
        enque(core, queue, tensor, from, to);
}

/* The oldest tensor in the queue; with depth 0 the one that `tensor` names. */
static struct npu_buffer *next_buffer(struct npu_core *core, struct npu_queue *queue, const struct npu_tensor *tensor)
{
    if (queue->in_place) {
        struct npu_buffer *buffer = own_buffer(core, queue, tensor, FAULT(que_deque_foreign), "DeQue");
        if (buffer->state != NPU_BUFFER_ENQUEUED)
            npu_trap(core, FAULT(que_deque_empty), "tensor", "DeQue of a tensor that was not enqueued");
        return buffer;
    }
    if (__builtin_expect(!queue->count, 0))
        npu_trap(core, FAULT(que_deque_empty), "", "DeQue from an empty %s queue: an EnQue is missing",
                 npu_position_name(queue->position));
    struct npu_buffer *buffer = &core->pipe->buffers[queue->ring[queue->head]];
    queue->head = (queue->head + 1) % NPU_BUFFERS;
    queue->count--;
    return buffer;
}

static void deque(struct npu_core *core, struct npu_queue *queue, struct npu_tensor *tensor, int8_t from, int8_t to)
{
    struct npu_buffer *buffer = next_buffer(core, queue, tensor);
    queue->out += buffer->state == NPU_BUFFER_FREE; /* freed while it was in the queue */
    buffer->state = NPU_BUFFER_DEQUEUED;
    if (!queue->barrier) {
        if (__builtin_expect(buffer->from != from || buffer->to != to, 0))
            npu_trap(
                core, FAULT(que_position_mismatch), "",
                "DeQue waits for a flag %s_%s, but EnQue of this tensor has set %s_%s: both name the same positions",
                npu_lane_name(from), npu_lane_name(to), npu_lane_name(buffer->from), npu_lane_name(buffer->to));
        npu_sync_wait(core, from, to, buffer->enque_event);
        if (!queue->in_place) {
            npu_event_release(core, from, to, buffer->enque_event);
            buffer->enque_event = NPU_NO_EVENT;
        }
    }
    fill_tensor(core, queue, buffer, tensor);
}

void npu_que_deque(uint32_t id, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "DeQue");
    if (queue->tbuf)
        fill_tensor(core, queue, &core->pipe->buffers[queue->first], tensor);
    else
        deque(core, queue, tensor, queue->producer, queue->consumer);
}

void npu_que_deque_between(uint32_t id, struct npu_tensor *tensor, int src_position, int dst_position)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "DeQue");
    int8_t from = 0, to = 0;
    lanes_between(core, src_position, dst_position, &from, &to);
    if (queue->tbuf)
        fill_tensor(core, queue, &core->pipe->buffers[queue->first], tensor);
    else
        deque(core, queue, tensor, from, to);
}

/* The buffer that FreeTensor frees. The call works on the tensor's buffer, whichever queue gave it: where that one has
 * the same positions and depth it sets the flag that AllocTensor there waits for, and *queue becomes it. Source:
 * asc-devkit, impl/basic_api, FreeBuffer of TQueBind. */
static struct npu_buffer *buffer_to_free(struct npu_core *core, struct npu_queue **queue,
                                         const struct npu_tensor *tensor)
{
    struct npu_pipe_object *pipe = core->pipe;
    unsigned index = (unsigned)tensor->buffer - 1;
    if (index - (*queue)->first < (*queue)->buffers || index >= pipe->buffer_count)
        return own_buffer(core, *queue, tensor, FAULT(que_free_foreign), "FreeTensor");
    struct npu_queue *owner = &pipe->queues[pipe->buffers[index].queue];
    if (owner->producer != (*queue)->producer || owner->consumer != (*queue)->consumer ||
        owner->barrier != (*queue)->barrier || owner->in_place != (*queue)->in_place)
        return own_buffer(core, *queue, tensor, FAULT(que_free_foreign), "FreeTensor");
    npu_note(core, false, FAULT(que_free_foreign), "tensor", pipe->buffers[index].pc,
             "FreeTensor of a tensor that another %s queue allocated: it is that queue's buffer that becomes free",
             npu_position_name(owner->position));
    *queue = owner;
    return &pipe->buffers[index];
}

void npu_que_free(uint32_t id, const struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "FreeTensor");
    if (queue->tbuf)
        return;
    struct npu_buffer *buffer = buffer_to_free(core, &queue, tensor);
    if (__builtin_expect(buffer->state == NPU_BUFFER_FREE, 0))
        npu_trap(core, FAULT(que_free_twice), "tensor", "FreeTensor of a tensor that is free already");
    if (__builtin_expect(buffer->state == NPU_BUFFER_ENQUEUED, 0))
        npu_note(core, false, FAULT(que_free_enqueued), "tensor", buffer->pc,
                 "FreeTensor of a tensor that is still in its %s queue: a DeQue is missing",
                 npu_position_name(queue->position));
    buffer->state = NPU_BUFFER_FREE;
    queue->out--;
    if (queue->barrier)
        return;
    if (!queue->in_place)
        buffer->free_event = (int8_t)npu_event_take(core, queue->consumer, queue->producer);
    npu_sync_set(core, queue->consumer, queue->producer, buffer->free_event);
}

/* The rest. */
void npu_que_free_all(uint32_t id)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "FreeAllEvent");
    for (int i = 0; i < queue->buffers; i++)
        if (core->pipe->buffers[queue->first + i].state == NPU_BUFFER_FREE)
            wait_for_free(core, queue, &core->pipe->buffers[queue->first + i]);
}

int npu_que_has_tensor(uint32_t id)
{
    NPU_ENTER(core);
    return find_queue(core, id, "HasTensorInQue")->count > 0;
}

int npu_que_vacant(uint32_t id)
{
    NPU_ENTER(core);
    const struct npu_queue *queue = find_queue(core, id, "VacantInQue");
    return queue->count < queue->depth;
}

int npu_que_has_idle_buffer(uint32_t id)
{
    NPU_ENTER(core);
    const struct npu_queue *queue = find_queue(core, id, "HasIdleBuffer");
    return queue->out < queue->buffers;
}

int npu_que_tensors(uint32_t id)
{
    NPU_ENTER(core);
    return find_queue(core, id, "GetTensorCountInQue")->count;
}

uint32_t npu_que_buffer(uint32_t id, uint32_t buffer, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    const struct npu_queue *queue = find_queue(core, id, "GetBufferAddr");
    const struct npu_tensor handle = {.buffer = (uint16_t)buffer};
    const struct npu_buffer *found = queue->tbuf
                                         ? &core->pipe->buffers[queue->first]
                                         : own_buffer(core, queue, &handle, FAULT(que_deque_foreign), "GetBufferAddr");
    fill_tensor(core, queue, found, tensor);
    return found->offset;
}

int npu_que_is_occupied(uint32_t id, const struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    (void)find_queue(core, id, "GetState");
    if (tensor->buffer > NPU_BUFFERS)
        npu_lacks(core, "GetState of a buffer in a pool of the kernel's own");
    return tensor->buffer && core->pipe->buffers[tensor->buffer - 1].state != NPU_BUFFER_FREE;
}

void npu_buf_get(uint32_t id, uint32_t offset, uint32_t bytes, struct npu_tensor *tensor)
{
    NPU_ENTER(core);
    if (!id) { /* Get only makes a tensor of what the TBuf holds: kernels get buffers that a branch does not use */
        npu_pipe_live(core, "Get");
        npu_note(core, false, FAULT(que_uninitialized), "", 0,
                 "Get before InitBuffer: the tensor has no place, and whoever uses it stops");
        *tensor = (struct npu_tensor){.addr = NPU_UNPLACED + offset, .bytes = bytes, .position = NPU_VECCALC};
        return;
    }
    struct npu_queue *queue = find_queue(core, id, "Get");
    const struct npu_buffer *buffer = &core->pipe->buffers[queue->first];
    uint32_t rest = offset < buffer->bytes ? buffer->bytes - offset : 0;
    /* Get only computes an address; who uses it is judged by what lies there. */
    if (offset > buffer->bytes || bytes > rest) {
        queue->over = (struct npu_over){core->pc, buffer->offset, (uint64_t)buffer->offset + offset + bytes};
        npu_note(core, false, FAULT(buf_get_overflow), "len", 0,
                 "Get of %u bytes at offset %u of a buffer of %u bytes: behind it lies the next buffer", bytes, offset,
                 buffer->bytes);
    }
    fill_tensor(core, queue, buffer, tensor);
    tensor->addr += offset;
    tensor->bytes = bytes ? bytes : rest;
}

void npu_queues_close(struct npu_core *core, struct npu_pipe_object *pipe)
{
    for (uint32_t i = 0; i < pipe->buffer_count; i++) {
        struct npu_buffer *buffer = &pipe->buffers[i];
        const struct npu_queue *queue = &pipe->queues[buffer->queue];
        if (queue->tbuf)
            continue;
        uint64_t end = core->pc;
        if (buffer->state != NPU_BUFFER_FREE)
            core->pc = buffer->pc; /* the place is its AllocTensor */
        if (buffer->state == NPU_BUFFER_ENQUEUED)
            npu_note(core, false, FAULT(que_not_empty), "", 0,
                     "the TPipe ends while a tensor is in its %s queue: a DeQue and a FreeTensor are missing",
                     npu_position_name(queue->position));
        else if (buffer->state != NPU_BUFFER_FREE)
            npu_note(core, false, FAULT(que_not_freed), "", 0,
                     "the TPipe ends while a tensor of its %s queue is out: a FreeTensor is missing",
                     npu_position_name(queue->position));
        else
            wait_for_free(core, queue, buffer);
        core->pc = end;
    }
}

void npu_que_place(uint32_t id, uint32_t buffer, uint32_t offset, uint32_t bytes)
{
    NPU_ENTER(core);
    struct npu_queue *queue = find_queue(core, id, "InitBufHandle");
    if (buffer >= queue->buffers)
        npu_trap(core, FAULT(que_uninitialized), "bufhandle",
                 "InitBufHandle of buffer %u: InitStartBufHandle gave the queue %u buffers", buffer, queue->buffers);
    struct npu_buffer *placed = &core->pipe->buffers[queue->first + buffer];
    placed->offset = offset;
    placed->bytes = (bytes + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK;
}

void npu_spm_init(uint64_t address)
{
    NPU_ENTER(core);
    npu_pipe_live(core, "InitSpmBuffer")->spm = address;
}

uint64_t npu_spm(void)
{
    NPU_ENTER(core);
    uint64_t address = npu_pipe_live(core, "ReadSpmBuffer or WriteSpmBuffer")->spm;
    if (!address)
        npu_trap(core, FAULT(bad_pointer), "workspace", "ReadSpmBuffer or WriteSpmBuffer before InitSpmBuffer");
    return address;
}
