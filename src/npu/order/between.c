/* Order between the cores of a kernel that starts AICs and AIVs together. A flag orders what its setters had done
 * before what its waiters do afterwards, and nothing else; so each core keeps a clock of every other core (how many
 * instructions of each of its lanes are known to be complete) and a log of the GM bytes that it has touched. An access
 * conflicts with an older one of another core that its clock does not cover.
 *
 * A log unites neighbours that the same line touched between two flags; the union counts as old as its oldest part,
 * which may miss a conflict and never invents one. Scalar reads are not logged: a core that polls GM reads what others
 * write, and that is how it waits. */
#include "npu/order/between.h"

#include "npu/gm_region.h"
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"

#include <stdlib.h>
#include <string.h>

enum { REACH = 16 /* how far back a log looks for an entry to unite with */, CHUNK = 64 /* entries of one hull */ };
enum log_kind { LOG_DMA_READ, LOG_DMA_WRITE, LOG_FIX_WRITE, LOG_SCALAR_WRITE, LOGS };

struct touched {
    struct npu_gm_region *region;
    size_t low, high;
    uint64_t pc;
    uint32_t index;    /* of the instruction on its lane */
    uint32_t releases; /* flags that the core had set by then */
    bool atomic;
};
struct hull { /* of addresses */
    uint64_t low, high;
};
/* Sorted by index: what is behind an entry that a clock covers is covered too. A matrix leaves a row at a time: logs
 * grow long, and most of their chunks lie elsewhere. */
struct log {
    struct touched *list;
    struct hull *chunks; /* of each CHUNK entries, perhaps too large */
    size_t count, room;  /* of entries */
    struct hull all;
};
struct npu_between {
    uint32_t releases;
    int cores;
    struct log logs[LOGS];
    struct npu_clock *known; /* of each core */
};

struct npu_between *between_create(int cores)
{
    struct npu_between *between = calloc(1, sizeof *between);
    if (!between)
        abort();
    between->cores = cores;
    return between;
}

void between_destroy(struct npu_between *between)
{
    if (!between)
        return;
    for (int i = 0; i < LOGS; i++) {
        free(between->logs[i].list);
        free(between->logs[i].chunks);
    }
    free(between->known);
    free(between);
}

/* Made with the first flag: launches that use none may have more cores than a square of clocks has room for. */
static struct npu_clock *known_of(struct npu_between *between)
{
    if (!between->known)
        between->known = aligned_alloc(_Alignof(struct npu_clock), (size_t)between->cores * sizeof *between->known);
    else
        return between->known;
    if (!between->known)
        abort();
    memset(between->known, 0, (size_t)between->cores * sizeof *between->known);
    return between->known;
}

void between_release(struct npu_core *core, int lane, struct npu_clock *clocks)
{
    struct npu_between *between = core->between;
    const struct npu_clock *known = known_of(between);
    const struct npu_order *order = core->order;
    for (int i = 0; i < between->cores; i++)
        npu_clock_join(&clocks[i], &known[i]);
    struct npu_clock mine = order->clock[lane];
    mine.at[lane] = order->last[lane];
    mine.at[NPU_LANE_S] = order->last[NPU_LANE_S]; /* the scalar unit issues the flag */
    npu_clock_join(&clocks[core->index], &mine);
    between->releases++;
}

void between_acquire(struct npu_core *core, const struct npu_clock *clocks)
{
    struct npu_between *between = core->between;
    struct npu_clock *known = known_of(between);
    for (int i = 0; i < between->cores; i++)
        npu_clock_join(&known[i], &clocks[i]);
    for (int lane = 0; lane < NPU_LANES; lane++)
        npu_clock_join(&core->order->clock[lane], &known[core->index]);
}

/* Logs. */

static const int lane_of_log[LOGS] = {NPU_LANE_MTE2, NPU_LANE_MTE3, NPU_LANE_FIX, NPU_LANE_S};

static bool covers(const struct touched *a, const struct touched *b)
{
    return a->low <= b->low && a->high >= b->high;
}

static void widen(struct hull *hull, const struct touched *entry)
{
    uint64_t base = (uint64_t)entry->region->base;
    hull->low = base + entry->low < hull->low ? base + entry->low : hull->low;
    hull->high = base + entry->high > hull->high ? base + entry->high : hull->high;
}

static bool apart(const struct hull *hull, uint64_t low, uint64_t high)
{
    return low >= hull->high || high <= hull->low;
}

/* True if an entry was united with the new one, which then is the last. */
static bool unite(struct log *log, struct touched *entry)
{
    size_t oldest = log->count > REACH ? log->count - REACH : 0;
    for (size_t i = log->count; i-- > oldest;) {
        struct touched *old = &log->list[i];
        if (old->region != entry->region || old->atomic != entry->atomic)
            continue;
        bool neighbours = old->pc == entry->pc && old->releases == entry->releases && entry->low <= old->high &&
                          entry->high >= old->low && i + 1 == log->count;
        if (!covers(entry, old) && !neighbours)
            continue;
        if (!covers(entry, old)) {
            entry->low = old->low < entry->low ? old->low : entry->low;
            entry->high = old->high > entry->high ? old->high : entry->high;
            entry->index = old->index;
        }
        memmove(old, old + 1, (log->count - i - 1) * sizeof *old);
        log->list[log->count - 1] = *entry;
        for (; i < log->count; i++) /* what has moved may have come into another chunk */
            widen(&log->chunks[i / CHUNK], &log->list[i]);
        return true;
    }
    return false;
}

/* Room for so many entries, at least 1. */
static void log_resize(struct log *log, size_t room)
{
    struct touched *list = realloc(log->list, room * sizeof *list);
    struct hull *chunks = realloc(log->chunks, (room + CHUNK - 1) / CHUNK * sizeof *chunks);
    if (!list || !chunks)
        abort();
    log->list = list;
    log->chunks = chunks;
    log->room = room;
}

void between_shrink(struct npu_between *between)
{
    for (int i = 0; between && i < LOGS; i++)
        if (between->logs[i].count)
            log_resize(&between->logs[i], between->logs[i].count);
}

static void add(struct log *log, struct touched *entry)
{
    if (!log->count)
        log->all = (struct hull){.low = UINT64_MAX};
    widen(&log->all, entry);
    if (unite(log, entry))
        return;
    if (log->count == log->room)
        log_resize(log, log->room ? 2 * log->room : CHUNK);
    if (log->count % CHUNK == 0)
        log->chunks[log->count / CHUNK] = (struct hull){.low = UINT64_MAX};
    widen(&log->chunks[log->count / CHUNK], entry);
    log->list[log->count++] = *entry;
}

static enum log_kind log_of_write(const struct npu_core *core)
{
    if (!core->insn)
        return LOG_SCALAR_WRITE;
    return npu_insn_pipe(core->insn) == NPU_PIPE_FIX ? LOG_FIX_WRITE : LOG_DMA_WRITE;
}

void between_log(struct npu_core *core, enum between_access access, struct npu_gm_region *region, size_t low,
                 size_t high, bool atomic)
{
    enum log_kind kind = access == BETWEEN_READ ? LOG_DMA_READ : log_of_write(core);
    if (access == BETWEEN_READ && !core->insn)
        return;
    int lane = lane_of_log[kind];
    uint32_t index = core->order ? core->order->last[lane] : UINT32_MAX; /* none: written back after the block's end */
    if (kind == LOG_DMA_READ)
        index++; /* reads are checked before they are issued */
    else if (kind != LOG_SCALAR_WRITE)
        index -= npu_schedule_behind(core, lane);
    struct touched entry = {.region = region,
                            .low = low,
                            .high = high,
                            .pc = core->pc,
                            .index = index,
                            .releases = core->between->releases,
                            .atomic = atomic};
    add(&core->between->logs[kind], &entry);
}

static bool find_in(const struct log *log, uint32_t known, const struct touched *access,
                    struct between_conflict *conflict)
{
    uint64_t base = (uint64_t)access->region->base, from = base + access->low, to = base + access->high;
    if (!log->count || apart(&log->all, from, to))
        return false;
    bool found = false;
    for (size_t i = log->count; i-- > 0;) {
        const struct touched *old = &log->list[i];
        if (old->index <= known)
            break;
        if ((i % CHUNK == CHUNK - 1 || i + 1 == log->count) && apart(&log->chunks[i / CHUNK], from, to)) {
            i -= i % CHUNK;
            continue;
        }
        if (old->region != access->region || old->low >= access->high || old->high <= access->low ||
            (old->atomic && access->atomic))
            continue;
        size_t low = old->low > access->low ? old->low : access->low;
        if (found && low >= conflict->low)
            continue;
        found = true;
        conflict->low = low;
        conflict->high = old->high < access->high ? old->high : access->high;
        conflict->pc = old->pc;
    }
    return found;
}

bool between_find(const struct npu_core *core, enum between_access access, const struct npu_gm_region *region,
                  size_t low, size_t high, bool atomic, struct between_conflict *conflict)
{
    const struct npu *npu = core->npu;
    const struct npu_clock *known = core->between->known;
    struct touched wanted = {.region = (struct npu_gm_region *)region, .low = low, .high = high, .atomic = atomic};
    bool found = false;
    for (int i = 0; i < npu->core_count; i++) {
        const struct npu_core *other = &npu->cores[i];
        for (int kind = 0; kind < LOGS && other != core && wanted.low < wanted.high; kind++) {
            if ((kind == LOG_DMA_READ) != (access == BETWEEN_READ))
                continue;
            uint32_t covered = known ? known[i].at[lane_of_log[kind]] : 0;
            if (find_in(&other->between->logs[kind], covered, &wanted, conflict)) {
                found = true;
                conflict->core = other;
                wanted.high = conflict->low; /* look for an earlier one only */
            }
        }
    }
    return found;
}
