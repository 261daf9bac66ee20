/* What a core leaves on its tape. */
#include "npu/time/tape.h"

#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/time/rates.h"
#include "npu/time/tape_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Chunks come in blocks of the size of a large page: the system gives the whole of it at once. */
struct npu_tape_block {
    struct npu_tape_chunk chunks[NPU_TAPE_CHUNKS];
    struct npu_tape_block *next;
    int used;
};
_Static_assert(sizeof(struct npu_tape_block) <= NPU_TAPE_BLOCK, "a block is a large page");

struct npu_tape *npu_tape_create(void)
{
    struct npu_tape *tape = calloc(1, sizeof *tape);
    if (!tape)
        abort();
    return tape;
}

void npu_tape_destroy(struct npu_tape *tape)
{
    free(tape);
}

void npu_tape_free_all(struct npu *npu)
{
    for (struct npu_tape_block *block = npu->tape_blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    npu->tape_blocks = NULL;
    npu->tape_bytes = 0;
}

/* NULL: the job may have no more memory. */
static struct npu_tape_chunk *take_chunk(struct npu *npu)
{
    if (!npu->tape_blocks || npu->tape_blocks->used == NPU_TAPE_CHUNKS) {
        struct npu_tape_block *block = aligned_alloc(NPU_TAPE_BLOCK, NPU_TAPE_BLOCK);
        if (!block)
            return NULL;
        madvise(block, NPU_TAPE_BLOCK, MADV_HUGEPAGE);
        block->next = npu->tape_blocks;
        block->used = 0;
        npu->tape_blocks = block;
    }
    return &npu->tape_blocks->chunks[npu->tape_blocks->used++];
}

/* How much of the newest chunk is used. */
static void close_chunk(struct npu_tape *tape)
{
    if (tape->last)
        tape->last->used = (size_t)(tape->at - tape->last->bytes);
}

enum { STEP_MOST = 4096 }; /* bytes: a step with its transfers, of which an instruction has at most NPU_MAX_ACCESSES */

/* False: there is none, and the tape ends here. */
static __attribute__((noinline)) bool add_chunk(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    struct npu_tape_chunk *chunk = core->npu->tape_bytes < NPU_TAPE_BYTES ? take_chunk(core->npu) : NULL;
    if (!chunk) {
        core->npu->tape_bytes = NPU_TAPE_BYTES;
        return false;
    }
    chunk->next = NULL;
    close_chunk(tape);
    *(tape->last ? &tape->last->next : &tape->first) = chunk;
    tape->last = chunk;
    tape->at = chunk->bytes;
    tape->full = chunk->bytes + NPU_TAPE_CHUNK - STEP_MOST;
    core->npu->tape_bytes += sizeof *chunk;
    return true;
}

/* Room for a whole step with its transfers: a step is in one chunk. */
static inline bool has_room(struct npu_core *core)
{
    return core->tape->at < core->tape->full || add_chunk(core);
}

static inline __attribute__((always_inline)) uint8_t *put(uint8_t *at, const void *part, size_t bytes)
{
    return (uint8_t *)memcpy(at, part, bytes) + bytes;
}

static inline bool scalar_is_at_rest(const struct npu_core *core)
{
    const struct npu_tape *tape = core->tape;
    const struct npu_stats *stats = &core->stats;
    return stats->scalar_blocks == tape->blocks && stats->scalar_loads == tape->loads &&
           stats->scalar_stores == tape->stores && tape->own == 0;
}

/* What the scalar unit has done since this was asked last. */
static __attribute__((noinline)) float scalar_since(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    const struct npu_stats *stats = &core->stats;
    tape->blocks = stats->scalar_blocks;
    double cycles = tape->own + (double)(stats->scalar_loads - tape->loads) * NPU_RATE_SCALAR_LOAD +
                    (double)(stats->scalar_stores - tape->stores) * NPU_RATE_SCALAR_STORE +
                    (double)(tape->missed - tape->misses) * NPU_RATE_SCALAR_MISS;
    for (int i = 0; i < NPU_MIXES; i++) {
        cycles += (double)(stats->scalar_mix[i] - tape->mix[i]) * npu_rate_mix[i];
        tape->mix[i] = stats->scalar_mix[i];
    }
    tape->loads = stats->scalar_loads;
    tape->stores = stats->scalar_stores;
    tape->misses = tape->missed;
    tape->own = 0;
    return (float)cycles;
}

/* What every step begins with. */
static inline __attribute__((always_inline)) uint8_t *put_head(struct npu_core *core, struct npu_step_head head,
                                                               unsigned has)
{
    const float scalar = scalar_is_at_rest(core) ? 0 : scalar_since(core);
    has |= scalar > 0 ? NPU_HAS_SCALAR : 0;
    head.kind_and_has |= (uint8_t)(has << 4);
    uint8_t *at = put(core->tape->at, &head, sizeof head);
    return has & NPU_HAS_SCALAR ? put(at, &scalar, sizeof scalar) : at;
}

/* A step that is more than its head, or needs a new chunk. */
static __attribute__((noinline)) void add_more(struct npu_core *core, struct npu_step_head head, uint32_t count)
{
    if (!has_room(core))
        return;
    uint8_t *at = put_head(core, head, count ? NPU_HAS_COUNT : 0);
    core->tape->at = count ? put(at, &count, sizeof count) : at;
}

void npu_tape_add(struct npu_core *core, enum npu_step_kind kind, int lane, int to, int event, uint32_t count)
{
    struct npu_tape *tape = core->tape;
    const struct npu_step_head head = {
        .kind_and_has = (uint8_t)kind, .lanes = (uint8_t)(lane | to << 4), .event = (uint8_t)event};
    if (kind == NPU_STEP_EDGE) {
        if (tape->known[lane][to] == tape->runs[lane] && lane != NPU_LANE_S)
            return;
        tape->known[lane][to] = tape->runs[lane];
    }
    if (count || tape->at >= tape->full || !scalar_is_at_rest(core)) {
        add_more(core, head, count);
        return;
    }
    memcpy(tape->at, &head, sizeof head);
    tape->at += sizeof head;
}

uint32_t npu_tape_tell(struct npu_core *core, int lane)
{
    if (!core->tape)
        return 0;
    npu_tape_add(core, NPU_STEP_TELL, lane, 0, 0, ++core->npu->tape_told);
    return core->npu->tape_told;
}

void npu_tape_hear(struct npu_core *core, uint32_t number)
{
    if (core->tape && number)
        npu_tape_add(core, NPU_STEP_HEAR, 0, 0, 0, number);
}

static uint8_t *put_transfer(uint8_t *at, const struct npu_access *access)
{
    const unsigned past = access->write ? NPU_TENSOR_WRITE_PAST_L2 : NPU_TENSOR_READ_PAST_L2;
    const bool runs = access->count > 1 || access->count2 > 1;
    at = put(
        at,
        &(struct npu_one_run){.addr = access->addr,
                              .bytes = access->bytes,
                              .is = (uint8_t)((access->write ? NPU_RUN_WRITES : 0) | (runs ? NPU_RUN_MANY : 0) |
                                              (access->tensor && access->tensor->flags & past ? NPU_RUN_PAST_L2 : 0))},
        sizeof(struct npu_one_run));
    if (runs)
        at = put(at, &(struct npu_many_runs){access->stride, access->stride2, access->count, access->count2},
                 sizeof(struct npu_many_runs));
    return at;
}

static void note_peak(struct npu_core *core, const struct npu_access *access)
{
    int64_t last = (int64_t)(access->count - 1) * access->stride + (int64_t)(access->count2 - 1) * access->stride2;
    uint64_t end = access->addr - (uint64_t)core->ub + (uint64_t)(last > 0 ? last : 0) + access->bytes;
    if (end > core->tape->ub_peak && end <= core->ub_bytes)
        core->tape->ub_peak = (uint32_t)end;
}

/* Loops do the same work again and again: what is in the table is not told again. */
static uint8_t *put_work(struct npu_core *core, struct npu_step_head head, const struct npu_work *work)
{
    const uint64_t hash = (work->pc ^ (uint64_t)work->op << 32) * UINT64_C(0x9e3779b97f4a7c15);
    head.event = (uint8_t)(hash >> 58);
    _Static_assert(NPU_TAPE_WORKS == 1 << (64 - 58), "a place in the table");
    struct npu_work *known = &core->tape->works[head.event];
    if (known->pc == work->pc && known->of == work->of && known->cycles == work->cycles &&
        known->count == work->count && known->op == work->op)
        return put_head(core, head, 0);
    *known = *work;
    return put(put_head(core, head, NPU_HAS_WORK), work, sizeof *work);
}

void npu_tape_run(struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                  int count)
{
    struct npu_tape *tape = core->tape;
    struct npu_step_head head = {.kind_and_has = NPU_STEP_RUN, .lanes = (uint8_t)lane};
    struct npu_work work = {.pc = core->pc, .of = core->api, .op = insn->op};
    tape->runs[lane]++;
    if (!has_room(core)) {
        tape->left_out++;
        return;
    }
    for (int i = 0; i < count; i++)
        if (!npu_in_ub(core, accesses[i].addr))
            head.transfers += accesses[i].bytes > 0;
        else if (!core->aic)
            note_peak(core, &accesses[i]);
    work.cycles = (float)npu_cost(core, lane, insn, &work.count);
    uint8_t *at = put_work(core, head, &work);
    for (int i = 0; i < count && head.transfers; i++)
        if (!npu_in_ub(core, accesses[i].addr) && accesses[i].bytes)
            at = put_transfer(at, &accesses[i]);
    tape->at = at;
}

struct npu_tape_reader npu_tape_read(const struct npu_tape *tape)
{
    return (struct npu_tape_reader){.chunk = tape->first, .at = tape->first ? tape->first->bytes : NULL};
}

void npu_tape_scalar_gm(struct npu_tape *tape, uint64_t addr)
{
    uint64_t line = addr / 64 + 1, *slot = &tape->lines[line % NPU_TAPE_LINES];
    tape->missed += *slot != line;
    *slot = line;
}

void npu_tape_scalar(struct npu_core *core, double cycles)
{
    core->tape->own += cycles;
}

void npu_tape_end(struct npu_core *core)
{
    core->tape->scalar = scalar_since(core);
    close_chunk(core->tape);
}
