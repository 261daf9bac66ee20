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
enum { BLOCK = 2 << 20 };
struct npu_tape_block {
    struct npu_tape_block *next;
    size_t used;
    _Alignas(16) uint8_t bytes[BLOCK - 16];
};
_Static_assert(sizeof(struct npu_tape_block) == BLOCK, "a block is a large page");

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
    npu->tape_rests = NULL;
    free(npu->tape_marks);
    npu->tape_marks = NULL;
    npu->tape_mark_count = npu->tape_mark_room = 0;
    npu->tape_bytes = 0;
    npu->tape_cut = false;
}

/* Returns the unused end of another tape's chunk, or a new chunk. NULL: the launch has used NPU_TAPE_BYTES, or the job has no
 * more memory. */
static struct npu_tape_chunk *take_chunk(struct npu *npu)
{
    struct npu_tape_chunk *rest = npu->tape_rests;
    if (rest) {
        npu->tape_rests = rest->next;
        return rest;
    }
    struct npu_tape_block *block = npu->tape_blocks;
    if (npu->tape_bytes >= NPU_TAPE_BYTES)
        return NULL;
    if (!block || sizeof block->bytes - block->used < NPU_TAPE_CHUNK) {
        block = aligned_alloc(BLOCK, BLOCK);
        if (!block)
            return NULL;
        madvise(block, BLOCK, MADV_HUGEPAGE);
        block->next = npu->tape_blocks;
        block->used = 0;
        npu->tape_blocks = block;
    }
    struct npu_tape_chunk *chunk = (struct npu_tape_chunk *)(block->bytes + block->used);
    chunk->room = NPU_TAPE_CHUNK - sizeof *chunk;
    block->used += NPU_TAPE_CHUNK;
    npu->tape_bytes += NPU_TAPE_CHUNK;
    return chunk;
}

/* Steps that come again. */
enum { TOLD_MOST = 512 }; /* bytes: so many are told once more if they are less than a window */

/* Of whole words, without a call: the newest of them are still on their way to the host's cache in the words that they were written in,
 * and what reads two of these at once waits until they are there. */
static inline __attribute__((always_inline)) bool are_same(const uint8_t *one, const uint8_t *other, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t))
        if (npu_tape_word(one + at) != npu_tape_word(other + at))
            return false;
    return true;
}

/* True: these bytes are what follows in the window. */
static inline __attribute__((always_inline)) bool goes_on(struct npu_tape *tape, const uint8_t *step, size_t bytes)
{
    if (!tape->match || !are_same(tape->match, step, bytes))
        return false;
    npu_tape_matched(tape, bytes);
    return true;
}

static void saw(struct npu_tape *tape, int place, uint8_t *at)
{
    uint8_t **seen = tape->seen[place];
    memmove(seen + 1, seen, (NPU_TAPE_SEEN - 1) * sizeof *seen);
    seen[0] = at;
}

/* What has come again goes onto the tape, in front of `bytes` bytes of a step at its end. */
static __attribute__((noinline)) void break_off(struct npu_tape *tape, size_t bytes)
{
    uint8_t *window = tape->window, *at = tape->at;
    const size_t whole = (size_t)(at - window), rest = (size_t)(tape->match - window);
    tape->match = NULL;
    if (!tape->times && rest <= TOLD_MOST) { /* it may be another window */
        memmove(at + rest, at, bytes);
        memcpy(at, window, rest);
        saw(tape, tape->begun, at);
        tape->at += rest;
        return;
    }
    const struct npu_again again = {
        .kind = NPU_STEP_AGAIN, .window = (uint16_t)whole, .rest = (uint16_t)rest, .times = tape->times};
    memmove(at + sizeof again, at, bytes);
    memcpy(at, &again, sizeof again);
    tape->at = tape->floor = at + sizeof again;
}

/* Whether the step of `bytes` bytes at the end of the tape, which begins with work, is one that was there before: from then on a
 * window begins. The oldest first: buffers that are used by turns make rounds that are alike every other time only. */
static bool begins(struct npu_tape *tape, size_t bytes, int place)
{
    for (int i = NPU_TAPE_SEEN - 1; i >= 0; i--) {
        uint8_t *seen = tape->seen[place][i];
        if (seen < tape->floor || seen >= tape->at || !are_same(seen, tape->at, bytes))
            continue;
        tape->window = tape->match = seen;
        tape->times = 0;
        tape->begun = (uint8_t)place;
        return goes_on(tape, tape->at, bytes);
    }
    saw(tape, place, tape->at);
    return false;
}

enum { NO_PLACE = -1 };
/* A step has been written behind the end of the tape, `bytes` bytes; `place`: of its work. */
static inline void add_step(struct npu_tape *tape, size_t bytes, int place)
{
    if (goes_on(tape, tape->at, bytes))
        return;
    if (tape->match)
        break_off(tape, bytes);
    if (place != NO_PLACE && begins(tape, bytes, place))
        return;
    tape->at += bytes;
}

/* How much of the newest chunk is used. */
static void close_chunk(struct npu_tape *tape)
{
    if (tape->match)
        break_off(tape, 0);
    if (tape->last)
        tape->last->used = (uint32_t)(tape->at - tape->last->bytes);
}

/* Bytes: a step with its transfers, behind what has come again. */
enum { STEP_MOST = 2048 };
_Static_assert(sizeof(struct npu_step_head) + sizeof(float) + sizeof(struct npu_work) + TOLD_MOST +
                       sizeof(struct npu_again) +
                       NPU_MAX_ACCESSES *
                           (sizeof(struct npu_one_run) + sizeof(uint64_t) + sizeof(struct npu_many_runs)) <=
                   STEP_MOST,
               "a step has room");

/* False: there is none, and the tape ends here. */
static __attribute__((noinline)) bool add_chunk(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    struct npu_tape_chunk *chunk = take_chunk(core->npu);
    if (!chunk) {
        core->npu->tape_cut = true;
        return false;
    }
    chunk->next = NULL;
    close_chunk(tape);
    *(tape->last ? &tape->last->next : &tape->first) = chunk;
    tape->last = chunk;
    tape->at = tape->floor = chunk->bytes;
    tape->full = chunk->bytes + chunk->room - STEP_MOST;
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

/* What every step begins with: room for its head, which is put in when it is known, and the scalar unit's work. */
static inline __attribute__((always_inline)) uint8_t *put_scalar(struct npu_core *core, struct npu_step_head *head)
{
    uint8_t *at = core->tape->at + sizeof *head;
    const float scalar = npu_tape_at_rest(core) ? 0 : scalar_since(core);
    if (!(scalar > 0))
        return at;
    head->kind_and_has |= NPU_HAS_SCALAR << 4;
    return put(at, &scalar, sizeof scalar);
}

static inline __attribute__((always_inline)) void put_head(uint8_t *at, const struct npu_step_head *head)
{
    const uint32_t word = npu_tape_word(head); /* in one piece, as it is read again at once */
    memcpy(at, &word, sizeof word);
}

/* A step that is more than its head, or no other round's, or needs a new chunk. */
static __attribute__((noinline)) void add_more(struct npu_core *core, struct npu_step_head head, uint32_t count)
{
    if (!has_room(core))
        return;
    uint8_t *at = put_scalar(core, &head);
    head.kind_and_has |= count ? NPU_HAS_COUNT << 4 : 0;
    at = count ? put(at, &count, sizeof count) : at;
    put_head(core->tape->at, &head);
    add_step(core->tape, (size_t)(at - core->tape->at), NO_PLACE);
}

void npu_tape_add(struct npu_core *core, enum npu_step_kind kind, int lane, int to, int event, uint32_t count)
{
    struct npu_tape *tape = core->tape;
    const struct npu_step_head head = npu_tape_head(kind, lane, to, event);
    if (kind == NPU_STEP_EDGE) {
        if (tape->known[lane][to] == tape->runs[lane] && lane != NPU_LANE_S)
            return;
        tape->known[lane][to] = tape->runs[lane];
    }
    tape->steps += npu_tape_is_place(kind);
    if (count || tape->match || tape->at >= tape->full || !npu_tape_at_rest(core)) {
        add_more(core, head, count);
        return;
    }
    put_head(tape->at, &head);
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

void npu_tape_hear_place(struct npu_core *core, const struct npu_core *other, struct npu_tape_place place)
{
    struct npu *npu = core->npu;
    if (npu->tape_mark_count == npu->tape_mark_room) {
        npu->tape_mark_room = npu->tape_mark_room ? 2 * npu->tape_mark_room : 64;
        struct npu_tape_mark *grown = realloc(npu->tape_marks, npu->tape_mark_room * sizeof *grown);
        if (!grown)
            abort();
        npu->tape_marks = grown;
    }
    npu->tape_marks[npu->tape_mark_count++] =
        (struct npu_tape_mark){.core = other->index, .number = ++npu->tape_told, .place = place};
    npu_tape_hear(core, npu->tape_told);
}

static uint8_t *put_transfer(uint8_t *at, const struct npu_access *access, uint64_t *last)
{
    const unsigned past = access->write ? NPU_TENSOR_WRITE_PAST_L2 : NPU_TENSOR_READ_PAST_L2;
    const int64_t distance = (int64_t)(access->addr - *last);
    const bool runs = access->count > 1 || access->count2 > 1, far = distance != (int32_t)distance;
    *last = access->addr;
    at = put(at,
             &(struct npu_one_run){.is = (access->write ? NPU_RUN_WRITES : 0) | (runs ? NPU_RUN_MANY : 0) |
                                         (far ? NPU_RUN_FAR : 0) |
                                         (access->tensor && access->tensor->flags & past ? NPU_RUN_PAST_L2 : 0),
                                   .bytes = access->bytes,
                                   .distance = far ? 0 : (int32_t)distance},
             sizeof(struct npu_one_run));
    if (far)
        at = put(at, &access->addr, sizeof access->addr);
    if (runs)
        at = put(at, &(struct npu_many_runs){access->stride, access->stride2, access->count, access->count2},
                 sizeof(struct npu_many_runs));
    return at;
}

static void note_peak(struct npu_core *core, const struct npu_access *access)
{
    if (access->count == 1 && access->count2 == 1 &&
        access->addr - (uint64_t)core->ub + access->bytes <= core->tape->ub_peak)
        return;
    int64_t last = (int64_t)(access->count - 1) * access->stride + (int64_t)(access->count2 - 1) * access->stride2;
    uint64_t end = access->addr - (uint64_t)core->ub + (uint64_t)(last > 0 ? last : 0) + access->bytes;
    if (end > core->tape->ub_peak && end <= core->ub_bytes)
        core->tape->ub_peak = (uint32_t)end;
}

/* Loops do the same work again and again: what is in the table is not told again. */
static inline uint8_t *put_work(struct npu_tape *tape, uint8_t *at, struct npu_step_head *head,
                                const struct npu_work *work)
{
    const uint64_t hash = (work->pc ^ (uint64_t)work->op << 32) * UINT64_C(0x9e3779b97f4a7c15);
    head->event = (uint8_t)(hash >> 58);
    _Static_assert(NPU_TAPE_WORKS == 1 << (64 - 58), "a place in the table");
    struct npu_work *known = &tape->works[head->event];
    if (known->pc == work->pc && known->of == work->of && known->cycles == work->cycles &&
        known->count == work->count && known->op == work->op)
        return at;
    head->kind_and_has |= NPU_HAS_WORK << 4;
    memset(known, 0, sizeof *known); /* what lies between its parts, too */
    known->pc = work->pc;
    known->of = work->of;
    known->cycles = work->cycles;
    known->count = work->count;
    known->op = work->op;
    return put(at, known, NPU_WORK_BYTES);
}

void npu_tape_run(struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                  int count)
{
    struct npu_tape *tape = core->tape;
    struct npu_step_head head = {.kind_and_has = NPU_STEP_RUN, .lanes = (uint8_t)lane};
    struct npu_work work = {.pc = core->pc, .of = core->api, .op = insn->op};
    tape->runs[lane]++;
    tape->steps++;
    if (!has_room(core))
        return;
    work.cycles = (float)npu_cost(core, lane, insn, accesses, count, &work.count);
    uint8_t *at = put_work(tape, put_scalar(core, &head), &head, &work);
    for (int i = 0; i < count; i++) {
        const struct npu_access *access = &accesses[i];
        if (npu_in_ub(core, access->addr)) {
            if (!core->aic)
                note_peak(core, access);
        } else if (access->bytes) {
            at = put_transfer(at, access, &tape->addrs[head.event]);
            head.transfers++;
        }
    }
    put_head(tape->at, &head);
    add_step(tape, (size_t)(at - tape->at), head.event);
}

struct npu_tape_reader npu_tape_read(const struct npu_recorded *recorded)
{
    struct npu_tape_reader reader = {.chunk = recorded->first};
    if (recorded->first) {
        reader.at = recorded->first->bytes;
        reader.end = recorded->first->bytes + recorded->first->used;
    }
    return reader;
}

bool npu_tape_turn(struct npu_tape_reader *reader)
{
    if (reader->at != reader->end) {
        struct npu_again again;
        memcpy(&again, reader->at, sizeof again);
        reader->window = reader->at - again.window;
        reader->behind = reader->at + sizeof again;
        reader->end = reader->at;
        reader->times = again.times;
        reader->rest = again.rest;
    }
    if (reader->times) {
        reader->times--;
        reader->at = reader->window;
    } else if (reader->rest) {
        reader->at = reader->window;
        reader->end = reader->window + reader->rest;
        reader->rest = 0;
    } else if (reader->behind) {
        reader->at = reader->behind;
        reader->end = reader->chunk->bytes + reader->chunk->used;
        reader->behind = NULL;
    } else if (reader->chunk && reader->chunk->next) {
        reader->chunk = reader->chunk->next;
        reader->at = reader->chunk->bytes;
        reader->end = reader->at + reader->chunk->used;
    } else {
        return false;
    }
    return true;
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
    core->tape->blocks = UINT64_MAX; /* the scalar unit is not at rest */
}

/* Leaves the unused end of the newest chunk to other tapes: a launch of 65,535 blocks has as many, most of them short. */
static void leave_rest(struct npu *npu, struct npu_tape *tape)
{
    struct npu_tape_chunk *last = tape->last, *rest;
    if (!last)
        return;
    const uint32_t used = (last->used + 15) / 16 * 16;
    if (last->room < used + sizeof *rest + (size_t)2 * STEP_MOST)
        return;
    rest = (struct npu_tape_chunk *)(last->bytes + used);
    rest->room = last->room - used - (uint32_t)sizeof *rest;
    rest->next = npu->tape_rests;
    npu->tape_rests = rest;
    last->room = used;
}

void npu_tape_end(struct npu_core *core)
{
    struct npu_tape *tape = core->tape;
    core->recorded.scalar = scalar_since(core);
    close_chunk(tape);
    leave_rest(core->npu, tape);
    core->recorded.first = tape->first;
    core->recorded.ub_peak = tape->ub_peak;
    npu_tape_destroy(tape);
    core->tape = NULL;
}
