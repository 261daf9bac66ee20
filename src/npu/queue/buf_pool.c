/* TBufPool: a piece of UB (or of L1) from which InitBuffer cuts queues and buffers instead of from what is left of the
 * memory. Pools may share their piece: then the kernel uses one after the other. Source: asc-devkit docs, 资源管理/
 * TBufPool. */
#include "npu/queue/queue_internal.h"
#include "npu/report.h"

void npu_pool_init(struct npu_buf_pool *pool, int position, struct npu_buf_pool *parent, uint32_t bytes,
                   const struct npu_buf_pool *shared)
{
    NPU_ENTER(core);
    struct npu_pipe_object *pipe = npu_pipe_live(core, "InitBufPool");
    enum npu_memory memory = npu_memory_of(position);
    if (memory == NPU_MEM_NONE)
        npu_trap(core, FAULT(que_position), "pos", "a TBufPool outside local memory");
    uint32_t size = npu_memory_bytes(core, memory);
    uint32_t *next = parent ? &parent->next : &pipe->used[memory], end = parent ? parent->end : size;
    uint32_t from = shared ? shared->start : *next;
    end = shared ? shared->end : end;
    uint64_t whole = ((uint64_t)bytes + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK;
    if (from > end || whole > end - from)
        npu_trap(core, FAULT(pool_overflow), "len", "a pool of %llu bytes: %s has %u", (unsigned long long)whole,
                 shared   ? "the pool that it shares"
                 : parent ? "its pool"
                          : npu_memories[memory].name,
                 from > end ? 0 : end - from);
    *pool = (struct npu_buf_pool){from, from, from + (uint32_t)whole, 0, (uint32_t)memory};
    if (!shared)
        *next = pool->end;
}

static void check_memory(struct npu_core *core, const struct npu_buf_pool *pool)
{
    if (pool->memory >= NPU_MEMORIES)
        npu_no_such(core, "local memory", pool->memory);
}

void npu_pool_open(struct npu_buf_pool *pool)
{
    NPU_ENTER(core);
    struct npu_pipe_object *pipe = npu_pipe_live(core, "InitBuffer");
    check_memory(core, pool);
    pool->outer = pipe->used[pool->memory];
    pipe->used[pool->memory] = pool->next;
}

void npu_pool_close(struct npu_buf_pool *pool)
{
    NPU_ENTER(core);
    struct npu_pipe_object *pipe = npu_pipe_live(core, "InitBuffer");
    check_memory(core, pool);
    pool->next = pipe->used[pool->memory];
    pipe->used[pool->memory] = pool->outer;
    if (pool->next > pool->end)
        npu_trap(core, FAULT(pool_overflow), "len", "InitBuffer brings the buffers of a pool to %u bytes; it has %u",
                 pool->next - pool->start, pool->end - pool->start);
}
