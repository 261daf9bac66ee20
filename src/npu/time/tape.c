/* What a core leaves on its tape. */
#include "npu/time/tape.h"

#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/time/rates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 2 << 20, CHUNKS = 32, CHUNK = BLOCK / CHUNKS - 32 };

struct npu_tape_chunk {
    struct npu_tape_chunk *next;
    size_t used;
    uint8_t bytes[CHUNK];
};
/* Chunks come in blocks of the size of a large page: the system gives the whole of it at once. */
struct npu_tape_block {
    struct npu_tape_chunk chunks[CHUNKS];
    struct npu_tape_block *next;
    int used;
};
_Static_assert(sizeof(struct npu_tape_block) <= BLOCK, "a block is a large page");

/* What a step begins with; `has` says what follows. */
enum { HAS_SCALAR = 1, HAS_COUNT = 2, HAS_RUN = 4, HAS_API = 8 };
struct head {
    uint8_t kind_and_has, lanes, event, transfers;
};
struct run {
    uint64_t pc;
    float cycles;
    uint32_t count;
    uint16_t op;
};
/* A transfer of one run needs no strides. */
enum { WRITES = 1, PAST_L2 = 2, RUNS = 4 };
struct one_run {
    uint64_t addr;
    uint32_t bytes;
    uint8_t is;
};
struct many_runs {
    int64_t stride, stride2;
    uint32_t count, count2;
};

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
    if (!npu->tape_blocks || npu->tape_blocks->used == CHUNKS) {
        struct npu_tape_block *block = aligned_alloc(BLOCK, BLOCK);
        if (!block)
            return NULL;
        madvise(block, BLOCK, MADV_HUGEPAGE);
        block->next = npu->tape_blocks;
        block->used = 0;
        npu->tape_blocks = block;
    }
    return &npu->tape_blocks->chunks[npu->tape_blocks->used++];
}

/* Room for a whole step with its transfers. False: there is none, and the tape ends here. */
static __attribute__((noinline)) bool add_chunk(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    struct npu_tape_chunk *chunk = take_chunk(core->npu);
    if (!chunk) {
        core->npu->tape_bytes = NPU_TAPE_BYTES;
        return false;
    }
    chunk->next = NULL;
    chunk->used = 0;
    *(tape->last ? &tape->last->next : &tape->first) = chunk;
    tape->last = chunk;
    core->npu->tape_bytes += sizeof *chunk;
    return true;
}

enum { STEP_MOST = 4096 }; /* bytes: a step with its transfers, of which an instruction has at most NPU_MAX_ACCESSES */

static inline bool has_room(struct npu_core *core)
{
    const struct npu_tape_chunk *last = core->tape->last;
    if (core->npu->tape_bytes >= NPU_TAPE_BYTES)
        return false;
    return (last && last->used + STEP_MOST <= CHUNK) || add_chunk(core);
}

/* Appends to the newest chunk, which has_room(). */
static inline __attribute__((always_inline)) void put(struct npu_core *core, const void *part, size_t bytes)
{
    struct npu_tape_chunk *last = core->tape->last;
    memcpy(last->bytes + last->used, part, bytes);
    last->used += bytes;
}

static inline __attribute__((always_inline)) void get(struct npu_tape_reader *reader, void *part, size_t bytes)
{
    if (reader->at == reader->chunk->used) {
        reader->chunk = reader->chunk->next;
        reader->at = 0;
    }
    memcpy(part, reader->chunk->bytes + reader->at, bytes);
    reader->at += bytes;
}

/* What the scalar unit has done since this was asked last. */
static double scalar_since(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    const struct npu_stats *stats = &core->stats;
    if (stats->scalar_blocks == tape->blocks && stats->scalar_loads == tape->loads &&
        stats->scalar_stores == tape->stores && tape->own == 0)
        return 0;
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
    return cycles;
}

static void put_step(struct npu_core *core, const struct npu_step *step, unsigned has)
{
    const float scalar = (float)scalar_since(core);
    has |= scalar > 0 ? HAS_SCALAR : 0;
    put(core,
        &(struct head){.kind_and_has = (uint8_t)(step->kind | has << 4),
                       .lanes = (uint8_t)(step->lane | step->to << 4),
                       .event = step->event,
                       .transfers = (uint8_t)step->transfers},
        sizeof(struct head));
    if (has & HAS_SCALAR)
        put(core, &scalar, sizeof scalar);
    if (has & HAS_COUNT)
        put(core, &step->count, sizeof step->count);
    if (has & HAS_API)
        put(core, &step->of, sizeof step->of);
    if (has & HAS_RUN)
        put(core, &(struct run){step->pc, step->cycles, step->count, step->op}, sizeof(struct run));
}

void npu_tape_add(struct npu_core *core, enum npu_step_kind kind, int lane, int to, int event, uint32_t count)
{
    struct npu_tape *tape = core->tape;
    if (kind == NPU_STEP_EDGE) {
        if (tape->known[lane][to] == tape->runs[lane] && lane != NPU_LANE_S)
            return;
        tape->known[lane][to] = tape->runs[lane];
    }
    if (!has_room(core))
        return;
    put_step(
        core,
        &(struct npu_step){
            .kind = (uint8_t)kind, .lane = (uint8_t)lane, .to = (uint8_t)to, .event = (uint8_t)event, .count = count},
        count ? HAS_COUNT : 0);
}

static void put_transfer(struct npu_core *core, const struct npu_access *access)
{
    const unsigned past = access->write ? NPU_TENSOR_WRITE_PAST_L2 : NPU_TENSOR_READ_PAST_L2;
    const bool runs = access->count > 1 || access->count2 > 1;
    put(core,
        &(struct one_run){.addr = access->addr,
                          .bytes = access->bytes,
                          .is = (uint8_t)((access->write ? WRITES : 0) | (runs ? RUNS : 0) |
                                          (access->tensor && access->tensor->flags & past ? PAST_L2 : 0))},
        sizeof(struct one_run));
    if (runs)
        put(core, &(struct many_runs){access->stride, access->stride2, access->count, access->count2},
            sizeof(struct many_runs));
}

static void note_peak(struct npu_core *core, const struct npu_access *access)
{
    int64_t last = (int64_t)(access->count - 1) * access->stride + (int64_t)(access->count2 - 1) * access->stride2;
    uint64_t end = access->addr - (uint64_t)core->ub + (uint64_t)(last > 0 ? last : 0) + access->bytes;
    if (end > core->tape->ub_peak && end <= core->ub_bytes)
        core->tape->ub_peak = (uint32_t)end;
}

void npu_tape_run(struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                  int count)
{
    struct npu_tape *tape = core->tape;
    struct npu_step step = {
        .kind = NPU_STEP_RUN, .lane = (uint8_t)lane, .op = insn->op, .of = core->api, .pc = core->pc};
    tape->runs[lane]++;
    if (!has_room(core)) {
        tape->left_out++;
        return;
    }
    for (int i = 0; i < count; i++)
        if (!npu_in_ub(core, accesses[i].addr))
            step.transfers += accesses[i].bytes > 0;
        else if (!core->aic)
            note_peak(core, &accesses[i]);
    step.cycles = (float)npu_cost(core, lane, insn, &step.count);
    put_step(core, &step, HAS_RUN | (step.of ? HAS_API : 0));
    for (int i = 0; i < count && step.transfers; i++)
        if (!npu_in_ub(core, accesses[i].addr) && accesses[i].bytes)
            put_transfer(core, &accesses[i]);
}

bool npu_tape_step(struct npu_tape_reader *reader, struct npu_step *step)
{
    struct head head;
    struct run run;
    if (!reader->chunk || (reader->at == reader->chunk->used && !reader->chunk->next))
        return false;
    get(reader, &head, sizeof head);
    *step = (struct npu_step){.kind = head.kind_and_has & 15,
                              .lane = head.lanes & 15,
                              .to = head.lanes >> 4,
                              .event = head.event,
                              .transfers = head.transfers};
    if (head.kind_and_has >> 4 & HAS_SCALAR)
        get(reader, &step->scalar, sizeof step->scalar);
    if (head.kind_and_has >> 4 & HAS_COUNT)
        get(reader, &step->count, sizeof step->count);
    if (head.kind_and_has >> 4 & HAS_API)
        get(reader, &step->of, sizeof step->of);
    if (head.kind_and_has >> 4 & HAS_RUN) {
        get(reader, &run, sizeof run);
        step->op = run.op;
        step->cycles = run.cycles;
        step->count = run.count;
        reader->pc = run.pc;
    }
    step->pc = reader->pc;
    return true;
}

void npu_tape_transfer(struct npu_tape_reader *reader, struct npu_transfer *transfer)
{
    struct one_run one;
    struct many_runs many = {.count = 1, .count2 = 1};
    get(reader, &one, sizeof one);
    if (one.is & RUNS)
        get(reader, &many, sizeof many);
    *transfer = (struct npu_transfer){.addr = one.addr,
                                      .bytes = one.bytes,
                                      .count = many.count,
                                      .count2 = many.count2,
                                      .write = one.is & WRITES,
                                      .past_l2 = one.is & PAST_L2,
                                      .stride = many.stride,
                                      .stride2 = many.stride2};
}

struct npu_tape_reader npu_tape_read(const struct npu_tape *tape)
{
    return (struct npu_tape_reader){.chunk = tape->first};
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
    core->tape->scalar = (float)scalar_since(core);
}
