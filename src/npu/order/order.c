/* Order: what happens before what inside one core, and which accesses nothing orders.
 *
 * The scalar unit hands instructions to pipes in program order; each pipe works through its own in order, but the pipes
 * run freely against each other and an instruction may start before its predecessor on the same pipe has finished. So
 * every instruction gets an index on its pipe, and every pipe a vector clock: for each pipe the newest instruction that
 * is complete before the next one here starts. SetFlag<A_B> takes a copy of A's clock, with A's newest instruction;
 * WaitFlag joins the copy into B's clock: order is transitive because whole vectors travel. PipeBarrier<P> moves P's
 * own entry. A conflict is an access to a byte whose last writer (or, for a write, reader) is newer than the clock
 * says.
 *
 * What orders without the author's doing (docs: SIMD-API, synchronisation inside a core, key features, tables 1..3):
 * the scalar unit with itself; what it waits for with all that is issued afterwards, since it issues everything; V with
 * itself and tensors' scalar accesses with V, MTE2 and MTE3 when the kernel is compiled with --cce-auto-sync=on.
 * Assumed: a scalar load has read its bytes before the next instruction is issued, so that only scalar stores have to
 * be waited for.
 *
 * Local memory is kept per 32-byte block and, where an access covers a block only in part, per byte. On an AIC nothing
 * is automatic but what cube_order.c says. GM is in order_gm.c. */
#include "npu/order/order.h"

#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order_gm.h"
#include "npu/order/schedule.h"
#include "npu/order/weigh.h"
#include "npu/report.h"
#include "npu/time/tape.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int8_t pipe_of_lane[] = {
#define NPU_PIPE(id, number) [NPU_LANE_##id] = number,
#include "abi/pipe.def"
#undef NPU_PIPE
};
static const int8_t track_lane[2][NPU_TRACKS] = {
    {NPU_LANE_S, NPU_LANE_V, NPU_LANE_MTE2, NPU_LANE_MTE3, NPU_LANE_S},
    {NPU_LANE_M, NPU_LANE_MTE1, NPU_LANE_MTE2, NPU_LANE_MTE3, NPU_LANE_FIX},
};

int npu_lane_of(int pipe)
{
    static const int8_t lanes[NPU_PIPES] = {
#define NPU_PIPE(id, number) [number] = NPU_LANE_##id + 1, /* 0: no pipe */
#include "abi/pipe.def"
#undef NPU_PIPE
    };
    return pipe >= 0 && pipe < NPU_PIPES && pipe != NPU_PIPE_ALL ? lanes[pipe] - 1 : -1;
}

const char *npu_lane_name(int lane)
{
    return npu_pipe_name(pipe_of_lane[lane]);
}

struct npu_order *npu_order_create(struct npu_core *core)
{
    struct npu_order *order = aligned_alloc(32, sizeof *order);
    if (!order)
        abort();
    memset(order, 0, sizeof *order);
    const struct npu_config *config = npu_config_of(core->npu);
    order->auto_sync = config->sync == NPU_SYNC_AUTO;
    order->random_order = config->random_order;
    order->aic = core->aic;
    order->off = config->no_hazards;
    order->ub_blocks = core->ub_bytes / NPU_BLOCK;
    order->timed = core->tape ? core : NULL;
    order->weigh = npu_weigh_create(core);
    npu_order_gm_begin(order);
    uint32_t *marks = calloc((size_t)order->ub_blocks * NPU_TRACKS * 2, sizeof *marks);
    if (!marks)
        abort();
    for (int i = 0; i < NPU_TRACKS * 2; i++)
        order->marks[i / 2][i % 2] = marks + (size_t)i * order->ub_blocks;
    return order;
}

void npu_order_destroy(struct npu_core *core)
{
    struct npu_order *order = core->order;
    if (!order)
        return;
    npu_weigh_destroy(core);
    for (int track = 0; track < NPU_TRACKS; track++)
        for (int write = 0; write < 2; write++) {
            free(order->bytes[track][write]);
            free(order->partial[track][write]);
        }
    free(order->marks[0][0]);
    free(order->gm);
    free(order);
    core->order = NULL;
}

int npu_order_track_lane(const struct npu_order *order, int track)
{
    return track_lane[order->aic][track];
}

/* Clocks. */
/* The scalar unit hands out all instructions, and while it waits it hands out none: what it has waited for is complete
 * before the next instruction of any pipe begins. Source: docs, guide, hardware, basic architecture, typical stream of
 * instructions. */
static void resume(struct npu_order *order, int lane)
{
    for (int to = 0; lane == NPU_LANE_S && to < NPU_LANES; to++)
        npu_clock_join(&order->clock[to], &order->clock[NPU_LANE_S]);
}

static inline void tape(const struct npu_order *order, enum npu_step_kind kind, int from, int to, int event)
{
    if (order->timed)
        npu_tape_add(order->timed, kind, from, to, event, 0);
}

void npu_order_edge(struct npu_order *order, int from, int to)
{
    tape(order, NPU_STEP_EDGE, from, to, 0);
    npu_clock_join(&order->clock[to], &order->clock[from]);
    if (order->clock[to].at[from] < order->last[from])
        order->clock[to].at[from] = order->last[from];
    resume(order, to);
}

void npu_order_auto_edge(struct npu_core *core, int from, int to)
{
    if (to == NPU_LANE_S)
        npu_schedule_drain(core, pipe_of_lane[from]);
    npu_order_edge(core->order, from, to);
}

void npu_order_barrier(struct npu_order *order, int lane)
{
    tape(order, NPU_STEP_BARRIER, lane, lane, 0);
    order->clock[lane].at[lane] = order->last[lane];
}

void npu_order_perhaps(struct npu_order *order, int lane)
{
    order->perhaps[lane] = order->last[lane];
}

void npu_order_set_flag(struct npu_order *order, int from, int to, int event)
{
    struct npu_flag *flag = &order->flags[from][to][event];
    struct npu_clock *clock = &flag->clock[flag->sets++ % NPU_FLAG_SETS];
    if (order->timed)
        npu_tape_flags(order->timed, NPU_STEP_SET, from, to, event);
    order->doubled += ++flag->pending == 2;
    if (order->off)
        return;
    *clock = order->clock[from];
    clock->at[from] = order->last[from];
}

void npu_order_wait_flag(struct npu_order *order, int from, int to, int event)
{
    struct npu_flag *flag = &order->flags[from][to][event];
    const struct npu_clock *clock = &flag->clock[(flag->sets - flag->pending) % NPU_FLAG_SETS];
    order->doubled -= flag->pending-- == 2;
    if (order->timed)
        npu_tape_flags(order->timed, NPU_STEP_WAIT, from, to, event);
    if (order->off)
        return;
    npu_clock_join(&order->clock[to], clock);
    resume(order, to);
}

void npu_order_join_all(struct npu_core *core)
{
    struct npu_order *order = core->order;
    tape(order, NPU_STEP_JOIN, 0, 0, 0);
    for (int from = 0; from < NPU_LANES; from++)
        for (int to = 0; to < NPU_LANES; to++)
            if (order->clock[to].at[from] < order->last[from])
                order->clock[to].at[from] = order->last[from];
}

/* After 2^32 instructions of a lane its indices start again, from a machine that has forgotten: no conflict is
 * invented, one across this moment may be missed. */
static void forget(struct npu_order *order)
{
    memset(order->clock, 0, sizeof order->clock);
    memset(order->last, 0, sizeof order->last);
    memset(order->perhaps, 0, sizeof order->perhaps);
    memset(order->touched, 0, sizeof order->touched);
    memset(order->gm, 0, (size_t)order->gm_pairs * sizeof *order->gm);
    memset(order->marks[0][0], 0, (size_t)order->ub_blocks * NPU_TRACKS * 2 * sizeof(uint32_t));
    for (int i = 0; i < NPU_TRACKS * 2; i++)
        if (order->partial[i / 2][i % 2])
            memset(order->partial[i / 2][i % 2], 0, order->ub_blocks);
    for (int i = 0; i < NPU_LANES * NPU_LANES * NPU_EVENTS; i++)
        memset((&order->flags[0][0][0] + i)->clock, 0, sizeof order->flags[0][0][0].clock);
}

static uint32_t next_index(struct npu_core *core, int lane)
{
    struct npu_order *order = core->order;
    if (order->last[lane] == UINT32_MAX)
        forget(order);
    uint32_t index = ++order->last[lane];
    order->pcs[lane][index % NPU_PC_RING] = core->pc;
    return index;
}

uint64_t npu_order_pc(const struct npu_order *order, int lane, uint32_t index)
{
    return order->last[lane] - index < NPU_PC_RING ? order->pcs[lane][index % NPU_PC_RING] : 0;
}

/* Reporting. */
static void advice(char *text, size_t bytes, int earlier, int later)
{
    const char *from = npu_lane_name(earlier), *to = npu_lane_name(later);
    if (earlier == later)
        snprintf(text, bytes, "PipeBarrier<PIPE_%s>", from);
    else if (earlier == NPU_LANE_S || later == NPU_LANE_S)
        snprintf(text, bytes, "SetFlag<%s_%s>/WaitFlag<%s_%s>", from, to, from, to);
    else
        snprintf(text, bytes, "EnQue/DeQue (AllocTensor/FreeTensor for reuse) or SetFlag<%s_%s>/WaitFlag<%s_%s>", from,
                 to, from, to);
}

/* The bytes [low, high) as the kernel knows them: a part of UB or of a GM tensor, not an address of this machine. */
static void name_range(const struct npu_core *core, uint64_t low, uint64_t high, char *text, size_t bytes)
{
    enum npu_memory memory = npu_memory_at(core, low);
    bool local = memory != NPU_MEM_NONE;
    const struct npu_gm_region *region = local || !core->npu ? NULL : npu_gm_find(core->npu, low);
    uint64_t first = local ? low - npu_memory_base(core, memory) : region ? low - (uint64_t)region->base : 0;
    if (!local && !region) {
        snprintf(text, bytes, "GM behind a tensor");
        return;
    }
    snprintf(text, bytes, region ? "%.64s at offset 0x%llx..0x%llx" : "%s 0x%llx..0x%llx",
             region ? region->name : npu_memories[memory].name, (unsigned long long)first,
             (unsigned long long)(first + (high - low) - 1));
}

const struct npu_fault *npu_order_fault(const struct npu_conflict *conflict)
{
    return !conflict->write ? FAULT(hazard_raw) : conflict->other_write ? FAULT(hazard_waw) : FAULT(hazard_war);
}

/* The documents leave open whether something orders the two. */
static bool left_open(const struct npu_order *order, const struct npu_conflict *conflict)
{
    return conflict->lane == conflict->other && conflict->other_index <= order->perhaps[conflict->lane];
}

bool npu_order_matters(const struct npu_order *order, const struct npu_conflict *conflict)
{
    if (left_open(order, conflict))
        return false;
    if (conflict->lane != conflict->other || !conflict->write)
        return true;
    return conflict->other_write ? conflict->lane != NPU_LANE_MTE1 : conflict->lane != NPU_LANE_V;
}

void npu_order_report(struct npu_core *core, const struct npu_conflict *conflict, bool matters)
{
    int lane = conflict->lane, other = conflict->other;
    char remedy[128], where[128];
    advice(remedy, sizeof remedy, other, lane);
    name_range(core, conflict->low, conflict->high, where, sizeof where);
    npu_note_of(
        core, matters && npu_order_matters(core->order, conflict), npu_order_fault(conflict), conflict->operand,
        npu_order_pc(core->order, other, conflict->other_index), "%s %s %s that %s %s before, and %s the two: %s",
        npu_lane_name(lane), conflict->write ? "writes" : "reads", where, npu_lane_name(other),
        conflict->other_write ? "wrote" : "read",
        left_open(core->order, conflict) ? "the documents leave open whether something orders" : "nothing orders",
        remedy);
}

/* Local memory. */
/* Blocks [block, end) with the bytes [low, high) of local memory. */
struct span {
    uint32_t low, high;
    uint32_t block, end;
};

static uint32_t newest_mark(const uint32_t *marks, uint32_t n)
{
    uint32_t newest = 0;
#pragma clang loop vectorize_width(8) interleave_count(1)
    for (uint32_t i = 0; i < n; i++)
        newest = newest > marks[i] ? newest : marks[i];
    return newest;
}

/* The first byte of the span that `track` touched after instruction `known`, and by which; false if there is none. */
static bool find_conflict(const struct npu_order *order, int track, int write, const struct span *span, uint32_t known,
                          uint32_t *at, uint32_t *index)
{
    const uint32_t *marks = order->marks[track][write];
    if (newest_mark(marks + span->block, span->end - span->block) <= known)
        return false;
    const uint8_t *partial = order->partial[track][write];
    for (uint32_t block = span->block; block < span->end; block++) {
        if (marks[block] <= known)
            continue;
        uint32_t from = block * NPU_BLOCK, to = from + NPU_BLOCK;
        from = from > span->low ? from : span->low;
        to = to < span->high ? to : span->high;
        if (!partial || !partial[block]) {
            *at = from;
            *index = marks[block];
            return true;
        }
        for (uint32_t byte = from; byte < to; byte++)
            if (order->bytes[track][write][byte] > known) {
                *at = byte;
                *index = order->bytes[track][write][byte];
                return true;
            }
    }
    return false;
}

/* A block covered in part: keeps its bytes apart from now on. */
static void mark_partial(struct npu_order *order, int track, int write, uint32_t block, uint32_t low, uint32_t high,
                         uint32_t index)
{
    if (!order->bytes[track][write]) {
        order->bytes[track][write] = calloc((size_t)order->ub_blocks * NPU_BLOCK, sizeof(uint32_t));
        order->partial[track][write] = calloc(order->ub_blocks, 1);
        if (!order->bytes[track][write] || !order->partial[track][write])
            abort();
    }
    uint32_t *bytes = order->bytes[track][write], *mark = &order->marks[track][write][block];
    if (!order->partial[track][write][block]) {
        for (uint32_t i = 0; i < NPU_BLOCK; i++)
            bytes[block * NPU_BLOCK + i] = *mark;
        order->partial[track][write][block] = 1;
    }
    for (uint32_t byte = low; byte < high; byte++)
        bytes[byte] = index;
    *mark = index;
}

static void mark(struct npu_order *order, int track, int write, const struct span *span, uint32_t index)
{
    uint32_t block = span->block, end = span->end;
    order->touched[track][write].newest = index;
    if (order->touched[track][write].first > block || !order->touched[track][write].end)
        order->touched[track][write].first = block;
    if (order->touched[track][write].end < end)
        order->touched[track][write].end = end;
    if (span->low % NPU_BLOCK) {
        uint32_t stop = (block + 1) * NPU_BLOCK;
        mark_partial(order, track, write, block++, span->low, span->high < stop ? span->high : stop, index);
    }
    if (span->high % NPU_BLOCK && end > block) {
        end--;
        mark_partial(order, track, write, end, end * NPU_BLOCK, span->high, index);
    }
    if (end <= block)
        return;
    uint32_t *marks = order->marks[track][write];
#pragma clang loop vectorize_width(8) interleave_count(1)
    for (uint32_t i = block; i < end; i++)
        marks[i] = index;
    if (order->partial[track][write])
        memset(order->partial[track][write] + block, 0, end - block);
}

/* The lanes, as bits, that were given something that the clock of `lane` does not cover. */
static inline uint32_t lanes_ahead(const struct npu_order *order, int lane)
{
    typedef uint32_t lanes_of __attribute__((ext_vector_type(8)));
    typedef bool bits_of __attribute__((ext_vector_type(8)));
    lanes_of last, known;
    memcpy(&last, order->last, sizeof last);
    memcpy(&known, &order->clock[lane], sizeof known);
    bits_of ahead = __builtin_convertvector(last > known, bits_of);
    uint8_t bits;
    memcpy(&bits, &ahead, sizeof bits);
    return bits;
}

/* Whether `track` may have touched bytes of the span after its instruction `known`. */
static inline bool touched_since(const struct npu_order *order, int track, int write, const struct span *span,
                                 uint32_t known)
{
    return order->touched[track][write].newest > known && order->touched[track][write].first < span->end &&
           order->touched[track][write].end > span->block;
}

/* The newest instruction of `track` that touched a byte. */
static uint32_t touched_by(const struct npu_order *order, int track, int write, uint32_t byte)
{
    const uint8_t *partial = order->partial[track][write];
    bool apart = partial && partial[byte / NPU_BLOCK];
    return apart ? order->bytes[track][write][byte] : order->marks[track][write][byte / NPU_BLOCK];
}

/* As find_conflict and a report, for every part of the span. */
static void weigh_with(struct npu_core *core, int lane, int track, int kind, const struct span *span, bool write,
                       const char *operand)
{
    const struct npu_order *order = core->order;
    int other = track_lane[order->aic][track];
    uint32_t known = order->clock[lane].at[other];
    uint64_t base = (uint64_t)core->ub;
    for (uint32_t byte = span->low, end; byte < span->high; byte = end) {
        uint32_t index = touched_by(order, track, kind, byte);
        for (end = byte + 1; end < span->high && touched_by(order, track, kind, end) == index; end++)
            ;
        struct npu_conflict conflict = {lane, other, index, write, kind, base + byte, base + end, operand, false};
        if (index > known)
            npu_weigh_local(core, track, &conflict);
    }
}

/* A scalar load is over when the next instruction is issued, so it can give an edge but no finding. */
static __attribute__((noinline)) bool compare_with(struct npu_core *core, int lane, int track, const struct span *span,
                                                   bool write, bool edges, const char *operand)
{
    struct npu_order *order = core->order;
    int other = track_lane[order->aic][track];
    int last_kind = write && (edges || other != NPU_LANE_S) ? 0 : 1;
    for (int kind = 1; kind >= last_kind; kind--) {
        uint32_t known = order->clock[lane].at[other], perhaps = other == lane ? order->perhaps[lane] : 0, at, index;
        if (!touched_since(order, track, kind, span, known) ||
            !(find_conflict(order, track, kind, span, perhaps > known ? perhaps : known, &at, &index) ||
              find_conflict(order, track, kind, span, known, &at, &index)))
            continue;
        if (edges) {
            npu_order_auto_edge(core, other, lane);
            continue;
        }
        if (order->weigh) {
            weigh_with(core, lane, track, kind, span, write, operand);
            continue;
        }
        uint64_t base = (uint64_t)core->ub;
        struct npu_conflict conflict = {lane, other, index, write, kind, base + at, base + span->high, operand, false};
        npu_order_report(core, &conflict, true);
        return true;
    }
    return false;
}

/* A conflict of this access with what `track` did: under auto-sync an edge, else a finding, and true. */
static inline bool check_track(struct npu_core *core, int lane, int track, const struct span *span, bool write,
                               bool edges, uint32_t ahead, const char *operand)
{
    const struct npu_order *order = core->order;
    int other = track_lane[core->aic][track];
    if (!(ahead >> other & 1))
        return false;
    uint32_t known = order->clock[lane].at[other];
    return (touched_since(order, track, 1, span, known) || (write && touched_since(order, track, 0, span, known))) &&
           compare_with(core, lane, track, span, write, edges, operand);
}

/* The scalar unit first: an edge that auto-sync adds may order the rest. One finding is enough. */
static bool check_local(struct npu_core *core, int lane, const struct span *span, bool write, bool raw, uint32_t ahead,
                        const char *operand)
{
    const struct npu_order *order = core->order;
    bool conflict = false;
    for (int track = 0; core->aic && track < NPU_TRACKS && !conflict; track++)
        conflict = check_track(core, lane, track, span, write, false, ahead, operand);
    if (core->aic)
        return conflict;
    return check_track(core, lane, NPU_TRACK_S, span, write, order->auto_sync && !raw, ahead, operand) ||
           check_track(core, lane, NPU_TRACK_S_RAW, span, write, false, ahead, operand) ||
           ((lane != NPU_LANE_V || !order->auto_sync) &&
            check_track(core, lane, NPU_TRACK_V, span, write, false, ahead, operand)) ||
           check_track(core, lane, NPU_TRACK_MTE2, span, write, false, ahead, operand) ||
           check_track(core, lane, NPU_TRACK_MTE3, span, write, false, ahead, operand);
}

/* Checks the bytes [addr, addr + bytes) against the lanes `ahead`, or, with an index, marks them. False if they
 * conflict. */
static inline bool one_run(struct npu_core *core, int lane, int track, const struct npu_access *access, uint64_t addr,
                           uint64_t bytes, uint32_t ahead, uint32_t index)
{
    uint64_t low = addr - (uint64_t)core->ub, high = low + bytes;
    if (low >= core->ub_bytes || high > core->ub_bytes)
        return true; /* outside: the bounds check has spoken */
    struct span span = {(uint32_t)low, (uint32_t)high, (uint32_t)(low / NPU_BLOCK),
                        (uint32_t)((high + NPU_BLOCK - 1) / NPU_BLOCK)};
    if (!index)
        return !check_local(core, lane, &span, access->write, access->flags & NPU_TENSOR_RAW, ahead, access->operand);
    mark(core->order, track, access->write, &span, index);
    return true;
}

/* The runs of an access one by one, those that touch as one, until one conflicts. */
static inline __attribute__((always_inline)) void
each_run(struct npu_core *core, int lane, int track, const struct npu_access *access, uint32_t ahead, uint32_t index)
{
    uint64_t bytes = access->bytes;
    uint32_t count = access->count, count2 = access->count2;
    if (count == 1 && count2 == 1 && bytes) { /* most are */
        one_run(core, lane, track, access, access->addr, bytes, ahead, index);
        return;
    }
    if (count > 1 && access->stride == (int64_t)bytes) {
        bytes *= count;
        count = 1;
    }
    if (count == 1 && count2 > 1 && access->stride2 == (int64_t)bytes) {
        bytes *= count2;
        count2 = 1;
    }
    for (uint32_t j = 0; j < count2 && bytes; j++)
        for (uint32_t i = 0; i < count; i++) {
            uint64_t addr = access->addr + (uint64_t)(access->stride2 * j) + (uint64_t)(access->stride * i);
            if (!one_run(core, lane, track, access, addr, bytes, ahead, index))
                return;
        }
}

static void check_runs(struct npu_core *core, int lane, const struct npu_access *access, uint32_t ahead)
{
    each_run(core, lane, 0, access, ahead, 0);
}

static void mark_runs(struct npu_core *core, int track, const struct npu_access *access, uint32_t index)
{
    each_run(core, 0, track, access, 0, index);
}

static int track_of(const struct npu_order *order, int lane)
{
    static const int8_t tracks[2][NPU_LANES] = {
        {NPU_TRACK_S, NPU_TRACK_V, NPU_TRACK_MTE2, NPU_TRACK_MTE3, -1, -1, -1},
        {-1, -1, NPU_TRACK_MTE2, NPU_TRACK_MTE3, NPU_CUBE_TRACK_M, NPU_CUBE_TRACK_MTE1, NPU_CUBE_TRACK_FIX}};
    return tracks[order->aic][lane];
}

/* Lanes with accesses to GM of their own; V and M have none. */
static bool has_gm(int lane)
{
    return lane == NPU_LANE_MTE2 || lane == NPU_LANE_MTE3 || lane == NPU_LANE_FIX;
}

void npu_order_issue(struct npu_core *core, int pipe, const struct npu_access *accesses, int count)
{
    struct npu_order *order = core->order;
    int lane = npu_lane_of(pipe);
    assert(lane >= 0); /* PIPE_ALL is for barriers */
    if (order->off)
        return;
    if (order->weigh)
        npu_weigh_settle(core, false); /* a store of the scalar unit */
    int track = track_of(order, lane);
    uint32_t ahead = lanes_ahead(order, lane), index = next_index(core, lane);
    if (track < 0)
        return;
    /* All checks before all marks: an instruction does not conflict with itself. */
    for (int i = 0; i < count; i++) {
        const struct npu_access *access = &accesses[i];
        if (!npu_in_ub(core, access->addr) && has_gm(lane))
            npu_order_gm(core, lane, access, order->auto_sync && !core->aic && !(access->flags & NPU_TENSOR_RAW));
        else if (npu_in_ub(core, access->addr) && ahead && !access->same_value)
            check_runs(core, lane, access, ahead);
    }
    for (int i = 0; i < count; i++)
        if (npu_in_ub(core, accesses[i].addr))
            mark_runs(core, track, &accesses[i], index);
    if (order->weigh)
        npu_weigh_begin(core, lane, track, accesses, count);
}

/* The scalar unit. */
static void scalar_gm(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool edges)
{
    struct npu_access access = {.addr = addr,
                                .bytes = bytes,
                                .count = 1,
                                .count2 = 1,
                                .write = write,
                                .operand = "",
                                .flags = edges ? 0 : NPU_TENSOR_RAW};
    if (write)
        next_index(core, NPU_LANE_S);
    npu_order_gm(core, NPU_LANE_S, &access, edges);
    if (core->order->weigh)
        npu_weigh_begin(core, NPU_LANE_S, NPU_TRACK_S, &access, 1);
}

void npu_order_scalar(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw)
{
    struct npu_order *order = core->order;
    bool edges = order->auto_sync && !raw && !core->aic;
    if (order->off)
        return;
    if (order->weigh)
        npu_weigh_settle(core, false);
    if (!npu_in_ub(core, addr)) {
        scalar_gm(core, addr, bytes, write, edges);
        return;
    }
    uint32_t low = (uint32_t)(addr - (uint64_t)core->ub), high = low + bytes;
    if (high > core->ub_bytes)
        return;
    struct span span = {low, high, low / NPU_BLOCK, (high + NPU_BLOCK - 1) / NPU_BLOCK};
    bool conflict = false;
    uint32_t ahead = lanes_ahead(order, NPU_LANE_S);
    for (int track = NPU_TRACK_V; track <= NPU_TRACK_MTE3 && !conflict; track++)
        conflict = check_track(core, NPU_LANE_S, track, &span, write, edges, ahead, "");
    int track = raw ? NPU_TRACK_S_RAW : NPU_TRACK_S;
    if (write || edges)
        mark(order, track, write, &span, next_index(core, NPU_LANE_S));
    struct npu_access access = {.addr = addr, .bytes = bytes, .count = 1, .count2 = 1, .write = write, .operand = ""};
    if (order->weigh)
        npu_weigh_begin(core, NPU_LANE_S, track, &access, 1);
}
