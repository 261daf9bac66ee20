/* TPipe, its queues and its buffers: what pipe.c, queue.c and buf_pool.c share. */
#ifndef NPU_QUEUE_QUEUE_INTERNAL_H
#define NPU_QUEUE_QUEUE_INTERNAL_H

#include "npu/memory.h"
#include "npu/order/order.h"

enum { NPU_BUFFERS = 64 /* in one TPipe: docs InitBuffer, constraints */, NPU_NO_EVENT = -1 };

enum npu_buffer_state { NPU_BUFFER_FREE, NPU_BUFFER_OCCUPIED, NPU_BUFFER_ENQUEUED, NPU_BUFFER_DEQUEUED };

struct npu_buffer {
    uint32_t offset, bytes; /* in its memory */
    uint8_t memory;         /* enum npu_memory */
    uint8_t state;          /* enum npu_buffer_state */
    uint8_t queue;          /* index in queues */
    int8_t from, to;        /* lanes of the flag that EnQue set */
    int8_t enque_event;     /* set by EnQue and not yet waited for */
    int8_t free_event;      /* set by FreeTensor and not yet waited for */
    uint64_t pc;            /* its last AllocTensor */
};

/* The last TBuf::Get of a buffer that reached over its end: bytes `from` to `to` of the memory. pc 0: none did. */
struct npu_over {
    uint64_t pc, from, to;
};

struct npu_queue {
    uint8_t first, buffers;    /* its buffers are first .. first+buffers-1 */
    uint8_t cursor;            /* where AllocTensor looks first */
    uint8_t out;               /* buffers that are not free */
    uint8_t head, count;       /* ring of enqueued buffers */
    uint8_t position;          /* of its tensors, enum npu_position */
    bool tbuf;                 /* a TBuf: no states, no events */
    bool barrier;              /* VECCALC: a barrier of V instead of events */
    bool in_place;             /* depth 0: event ids are kept from InitBuffer on */
    int8_t producer, consumer; /* lanes: EnQue sets producer->consumer, FreeTensor consumer->producer */
    int32_t depth;
    uint64_t pc; /* its InitBuffer */
    struct npu_over over;
    uint8_t ring[NPU_BUFFERS];
};

struct npu_pipe_object {
    bool alive;
    uint16_t generation;         /* of the ids in kernel objects: an InitBuffer before Reset is forgotten */
    uint32_t used[NPU_MEMORIES]; /* bytes of each memory given to buffers */
    uint32_t buffer_count, queue_count;
    uint64_t spm; /* in GM; 0 before InitSpmBuffer */
    struct npu_buffer buffers[NPU_BUFFERS];
    struct npu_queue queues[NPU_BUFFERS];
};

/* Pipe.c. */
/* The live TPipe; a trap if there is none. */
struct npu_pipe_object *npu_pipe_live(struct npu_core *core, const char *api);
int npu_event_take(struct npu_core *core, int from, int to);
static inline void npu_event_release(struct npu_core *core, int from, int to, int event)
{
    core->order->events[from][to] &= (uint8_t)~(1u << event);
}

/* Queue.c. */
/* Before buffers go: notes tensors and queues that are not empty, waits for the flags of free buffers. */
void npu_queues_close(struct npu_core *core, struct npu_pipe_object *pipe);

#endif
