/* Global memory: regions, the state of every byte, and who read and wrote what between two meetings of all cores.
 *
 * An epoch lasts from the launch or a SyncAll to the next SyncAll or the end. Within one, nothing orders two blocks. A
 * byte that two blocks write with different values is undefined afterwards; a byte that one block writes and another
 * reads is a race. Writers are kept in the bytes' states; reads are kept as intervals and compared when the epoch
 * ends. */
#include "npu/gm/gm.h"

#include "base/arena.h"
#include "npu/gm_region.h"
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/between.h"
#include "npu/report.h"
#include "npu/time/tape.h"
#include "npu/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each byte of GM has a state. It is kept once per chunk while the chunk is uniform, per byte (`fine`) where it is
 * not. */
enum {
    GM_CHUNK = 256,
    GM_NEVER = 0,       /* never written */
                        /* 1..GM_WRITERS: written in this epoch by the core with (index % GM_WRITERS) + 1 */
    GM_CONFLICT = 0xFB, /* written in this epoch by several blocks with different values */
    GM_MIXED = 0xFC,    /* chunks only: look at the bytes */
    GM_ATOMIC = 0xFD,   /* accumulated in this epoch */
    GM_UNDEFINED = 0xFE,
    GM_DEFINED = 0xFF /* before this epoch */
};
static inline uint8_t gm_writer(const struct npu_core *core)
{
    return (uint8_t)(core->index % GM_WRITERS + 1);
}

/* Regions. */

static int by_base(const void *left, const void *right)
{
    const struct npu_gm_region *a = *(struct npu_gm_region *const *)left, *b = *(struct npu_gm_region *const *)right;
    return a->base < b->base ? -1 : a->base > b->base;
}

static void find_hull(struct npu *npu)
{
    const struct npu_gm_region *first = npu->regions[0], *last = npu->regions[npu->region_count - 1];
    uint64_t low = (uint64_t)first->base, high = (uint64_t)last->base + last->bytes;
    uint64_t span_high = npu->span_low + npu->span_bytes;
    npu->gm_low = npu->span_bytes && npu->span_low < low ? npu->span_low : low;
    npu->gm_high = span_high > high ? span_high : high;
}

void npu_gm_add(struct npu *npu, const char *name, void *base, size_t bytes, enum npu_gm_kind kind, bool defined)
{
    struct npu_gm_region *region = calloc(1, sizeof *region);
    struct npu_gm_region **regions = realloc(npu->regions, (size_t)(npu->region_count + 1) * sizeof *regions);
    if (!region || !regions)
        abort();
    npu->regions = regions;
    defined |= kind != NPU_GM_OUTPUT && kind != NPU_GM_WORKSPACE;
    *region = (struct npu_gm_region){.name = arena_strdup(&npu->arena, name),
                                     .base = base,
                                     .bytes = bytes,
                                     .kind = kind,
                                     .index = npu->region_count,
                                     .initial = defined ? GM_DEFINED : GM_NEVER,
                                     .dirty_low = SIZE_MAX,
                                     .atomic_writer = -1};
    npu->regions[npu->region_count++] = region;
    qsort(npu->regions, (size_t)npu->region_count, sizeof *npu->regions, by_base);
    find_hull(npu);
}

void npu_gm_span(struct npu *npu, const void *base, size_t bytes)
{
    npu->span_low = (uint64_t)base;
    npu->span_bytes = bytes;
    if (npu->region_count)
        find_hull(npu);
}

void npu_gm_padding(struct npu *npu, const void *base, size_t readable, size_t writable)
{
    struct npu_gm_region *region = npu_gm_find(npu, (uint64_t)base);
    if (!region)
        return;
    region->readable = readable;
    region->writable = writable;
}

static size_t chunks_of(const struct npu_gm_region *region)
{
    return (region->bytes + GM_CHUNK - 1) / GM_CHUNK;
}

void gm_region_free(struct npu_gm_region *region)
{
    free(region->coarse);
    if (region->fine)
        munmap(region->fine, chunks_of(region) * GM_CHUNK);
    free(region);
}

static _Noreturn void out_of_bounds(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes)
{
    npu_trap_unplaced(core, operand, addr);
    const struct npu_gm_region *region = npu_gm_nearest(core->npu, addr);
    if (!region) {
        char where[96];
        npu_describe_address(core->npu, addr, where, sizeof where);
        npu_trap(core, FAULT(gm_out_of_bounds), operand, "%llu bytes in no GM tensor: %s", (unsigned long long)bytes,
                 where);
    }
    uint64_t begin = (uint64_t)region->base;
    if (begin > addr)
        npu_trap(core, FAULT(gm_out_of_bounds), operand, "%llu bytes that begin %llu bytes before %s",
                 (unsigned long long)bytes, (unsigned long long)(begin - addr), region->name);
    npu_trap(core, FAULT(gm_out_of_bounds), operand,
             "%llu bytes at offset %llu of %s, which has %zu: %llu bytes past its end", (unsigned long long)bytes,
             (unsigned long long)(addr - begin), region->name, region->bytes,
             (unsigned long long)(addr + bytes - begin - region->bytes));
}

struct npu_gm_region *gm_check(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes)
{
    struct npu_gm_region *region = gm_region_of(core, addr);
    if (!region || bytes > region->bytes - (addr - (uint64_t)region->base))
        out_of_bounds(core, operand, addr, bytes);
    return region;
}

uint64_t gm_check_copy(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes, bool write)
{
    const struct npu_gm_region *region = gm_region_of(core, addr);
    if (region && bytes <= region->bytes - (addr - (uint64_t)region->base))
        return bytes;
    region = npu_gm_below(core->npu, addr);
    uint64_t offset = region ? addr - (uint64_t)region->base : 0;
    if (!region || offset + bytes > region->bytes + (write ? region->writable : region->readable))
        out_of_bounds(core, operand, addr, bytes);
    uint64_t inside = offset < region->bytes ? region->bytes - offset : 0;
    npu_note(core, false, FAULT(gm_padding), operand, 0,
             "%llu bytes at offset %llu of %s, which has %zu: %llu bytes past its end, %s", (unsigned long long)bytes,
             (unsigned long long)offset, region->name, region->bytes, (unsigned long long)(bytes - inside),
             write ? "where nothing is kept" : "where anything may stand");
    return inside;
}

/* States. */

static void make_shadow(struct npu_gm_region *region)
{
    size_t chunks = chunks_of(region);
    region->coarse = malloc(chunks + 1);
    region->fine =
        mmap(NULL, chunks * GM_CHUNK + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!region->coarse || region->fine == MAP_FAILED)
        abort();
    memset(region->coarse, region->initial, chunks + 1);
}

static bool uniform(const uint8_t *bytes, size_t count)
{
    return memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Part of one chunk: [low, high) are offsets in the region. */
static void set_part(struct npu_gm_region *region, size_t low, size_t high, uint8_t state)
{
    size_t chunk = low / GM_CHUNK;
    uint8_t *fine = region->fine + chunk * GM_CHUNK;
    if (region->coarse[chunk] == state)
        return;
    if (region->coarse[chunk] != GM_MIXED) {
        memset(fine, region->coarse[chunk], GM_CHUNK);
        region->coarse[chunk] = GM_MIXED;
    }
    memset(region->fine + low, state, high - low);
    /* Sequential stores fill a chunk piece by piece: the last piece makes it uniform again. */
    size_t end = (chunk + 1) * GM_CHUNK < region->bytes ? (chunk + 1) * GM_CHUNK : region->bytes;
    if (high == end && uniform(fine, end - chunk * GM_CHUNK))
        region->coarse[chunk] = state;
}

static void set_state(struct npu_gm_region *region, size_t low, size_t high, uint8_t state)
{
    if (!region->coarse)
        make_shadow(region);
    size_t first = (low + GM_CHUNK - 1) / GM_CHUNK, last = high / GM_CHUNK;
    if (first > last) {
        set_part(region, low, high, state);
        return;
    }
    if (low < first * GM_CHUNK)
        set_part(region, low, first * GM_CHUNK, state);
    memset(region->coarse + first, state, last - first);
    if (last * GM_CHUNK < high)
        set_part(region, last * GM_CHUNK, high, state);
}

enum state_class { NEVER_STATE, UNDEFINED_STATE, OTHERS_STATE, OTHERS_OR_ATOMIC_STATE };

static inline bool in_class(uint8_t state, enum state_class class, uint8_t me)
{
    switch (class) {
    case NEVER_STATE:
        return state == GM_NEVER;
    case UNDEFINED_STATE:
        return state == GM_NEVER || state == GM_UNDEFINED || state == GM_CONFLICT;
    case OTHERS_STATE:
        return state == GM_CONFLICT || (state >= 1 && state <= GM_WRITERS && state != me);
    case OTHERS_OR_ATOMIC_STATE:
        return state == GM_ATOMIC || in_class(state, OTHERS_STATE, me);
    }
    return false;
}

/* First offset of [low, high) whose state is in the class, `high` if there is none. *end: where that run of it ends. */
static size_t find_state(const struct npu_gm_region *region, size_t low, size_t high, enum state_class class,
                         uint8_t me, size_t *end)
{
    if (!region->coarse) {
        *end = high;
        return in_class(region->initial, class, me) ? low : high;
    }
    size_t found = high;
    for (size_t at = low; at < high;) {
        size_t stop = (at / GM_CHUNK + 1) * GM_CHUNK;
        stop = stop < high ? stop : high;
        uint8_t state = region->coarse[at / GM_CHUNK];
        bool mixed = state == GM_MIXED;
        for (size_t next; at < stop; at = next) {
            bool here = in_class(mixed ? region->fine[at] : state, class, me);
            next = mixed ? at + 1 : stop;
            if (here && found == high)
                found = at;
            if (!here && found != high) {
                *end = at;
                return found;
            }
        }
    }
    *end = high;
    return found;
}

static uint8_t state_at(const struct npu_gm_region *region, size_t offset)
{
    if (!region->coarse)
        return region->initial;
    uint8_t state = region->coarse[offset / GM_CHUNK];
    return state == GM_MIXED ? region->fine[offset] : state;
}

bool npu_gm_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    const struct npu_gm_region *region = core->region;
    if (!region || (uint64_t)at - (uint64_t)region->base >= region->bytes)
        region = npu_gm_find(core->npu, (uint64_t)at);
    size_t low = region ? (size_t)((const uint8_t *)at - region->base) : 0, end;
    if (!region || bytes > region->bytes - low) /* padding */
        return false;
    return find_state(region, low, low + bytes, UNDEFINED_STATE, 0, &end) == low + bytes;
}

size_t npu_gm_undefined(const struct npu *npu, const void *base, size_t *first)
{
    const struct npu_gm_region *region = npu_gm_find(npu, (uint64_t)base);
    size_t count = 0, at = 0, end;
    if (!region)
        return 0;
    while (at < region->bytes) {
        size_t found = find_state(region, at, region->bytes, UNDEFINED_STATE, 0, &end);
        if (found == region->bytes)
            break;
        if (count == 0 && first)
            *first = found;
        count += end - found;
        at = end;
    }
    return count;
}

/* Writes. */

/* Old values of bytes that are about to be overwritten and that another block wrote in this epoch. */
struct expected {
    uint64_t addr;
    size_t bytes;
    uint8_t *old;
};
/* Reads of one epoch, in order of occurrence. */
struct read_interval {
    struct npu_gm_region *region;
    size_t low, high;
    uint64_t pc;
};
struct npu_gm_view {
    struct expected *expected;
    int expected_count, expected_room;
    int expected_last; /* the one found last: rows of a copy are written in order */
    struct read_interval *reads;
    size_t read_count, read_room;
    uint32_t *heard; /* [GM_WRITERS + 1]: up to which step the core is known to come after each writer; NULL: not yet */
};

struct npu_gm_view *gm_view_create(void)
{
    struct npu_gm_view *view = calloc(1, sizeof *view);
    if (!view)
        abort();
    return view;
}

static void forget(struct npu_gm_view *view)
{
    for (int i = 0; i < view->expected_count; i++)
        free(view->expected[i].old);
    view->expected_count = 0;
}

void gm_view_destroy(struct npu_gm_view *view)
{
    forget(view);
    free(view->expected);
    free(view->reads);
    free(view->heard);
    free(view);
}

void gm_view_shrink(struct npu_gm_view *view)
{
    forget(view);
    free(view->heard);
    view->heard = NULL;
    free(view->expected);
    view->expected = NULL;
    view->expected_room = 0;
    struct read_interval *reads = view->read_count ? realloc(view->reads, view->read_count * sizeof *reads) : NULL;
    if (!reads && view->read_count) /* they stay where they are */
        return;
    if (!reads)
        free(view->reads);
    view->reads = reads;
    view->read_room = view->read_count;
}

void gm_forget_expected(struct npu_core *core)
{
    if (core->view->expected_count)
        forget(core->view);
}

static bool dirty_overlap(const struct npu_gm_region *region, size_t low, size_t high)
{
    return low < region->dirty_high && region->dirty_low < high;
}

void gm_expect_write(struct npu_core *core, uint64_t addr, uint64_t bytes)
{
    struct npu_gm_region *region = gm_region_of(core, addr);
    size_t low = addr - (uint64_t)region->base, high = low + bytes, end;
    if (core->npu->config.no_hazards || !dirty_overlap(region, low, high) ||
        find_state(region, low, high, OTHERS_STATE, gm_writer(core), &end) == high)
        return;
    struct npu_gm_view *view = core->view;
    if (view->expected_count == view->expected_room) {
        view->expected_room = view->expected_room ? 2 * view->expected_room : 16;
        struct expected *grown = realloc(view->expected, (size_t)view->expected_room * sizeof *grown);
        if (!grown)
            abort();
        view->expected = grown;
    }
    uint8_t *old = malloc(bytes);
    if (!old)
        abort();
    memcpy(old, region->base + low, bytes);
    view->expected[view->expected_count++] = (struct expected){addr, bytes, old};
}

/* What stood at addr before the running instruction, or NULL if it was not kept. The youngest copy counts. */
static const uint8_t *expected_at(const struct npu_core *core, uint64_t addr)
{
    struct npu_gm_view *view = core->view;
    for (int tries = 0; tries < 2 && view->expected_last + tries < view->expected_count; tries++) {
        const struct expected *expected = &view->expected[view->expected_last + tries];
        if (addr - expected->addr < expected->bytes) {
            view->expected_last += tries;
            return expected->old + (addr - expected->addr);
        }
    }
    for (int i = view->expected_count; i-- > 0;) {
        const struct expected *expected = &view->expected[i];
        if (addr - expected->addr < expected->bytes) {
            view->expected_last = i;
            return expected->old + (addr - expected->addr);
        }
    }
    return NULL;
}

/* A store of undefined bytes to GM: remembered, a fault if they are still there at the end. */
static void remember_undefined(struct npu_core *core, struct npu_gm_region *region, uint64_t at, size_t bytes,
                               const struct npu_fault *fault, uint64_t pc_other)
{
    struct npu *npu = core->npu;
    uint64_t low = at - (uint64_t)region->base, high = low + bytes;
    for (int i = 0; i < npu->undefined_count; i++) {
        struct npu_undefined_store *store = &npu->undefined[i];
        if (store->region == region && store->pc == core->pc && store->fault == fault) {
            store->low = low < store->low ? low : store->low;
            store->high = high > store->high ? high : store->high;
            return;
        }
    }
    if (npu->undefined_count == NPU_MAX_UNDEFINED)
        return;
    npu->undefined[npu->undefined_count++] =
        (struct npu_undefined_store){.region = region,
                                     .low = low,
                                     .high = high,
                                     .fault = fault,
                                     .core = core->block,
                                     .aic = core->aic,
                                     .pc = core->pc,
                                     .pc_other = pc_other,
                                     .api = core->insn ? npu_isa[core->insn->op].name : ""};
}

/* True if the byte's value depends on which block came last. */
static bool conflicting(const struct npu_core *core, const struct npu_gm_region *region, size_t at, const uint8_t *old)
{
    const uint8_t *before = old ? old : expected_at(core, (uint64_t)region->base + at);
    return state_at(region, at) == GM_CONFLICT || (before && *before != region->base[at]);
}

/* Bytes [low, high) were written by another block in this epoch and now by this one. */
static void written_twice(struct npu_core *core, struct npu_gm_region *region, size_t low, size_t high,
                          const uint8_t *old, bool atomic)
{
    uint8_t state = state_at(region, low);
    uint64_t other = state <= GM_WRITERS ? region->writer_pc[state] : 0;
    if (atomic || state == GM_ATOMIC) {
        npu_note(
            core, true, FAULT(gm_race), "dst", other,
            "accumulates atomically into %s at offset %zu, which another core writes plainly, with no SyncAll between",
            region->name, low);
        return;
    }
    size_t conflicts = 0, first = high;
    for (size_t at = low, end; at < high; at = end) {
        bool differs = conflicting(core, region, at, old ? old + (at - low) : NULL);
        for (end = at + 1; end < high; end++)
            if (conflicting(core, region, end, old ? old + (end - low) : NULL) != differs)
                break;
        set_state(region, at, end, differs ? GM_CONFLICT : gm_writer(core));
        conflicts += differs ? end - at : 0;
        first = differs && at < first ? at : first;
    }
    if (conflicts == 0) {
        npu_note(core, false, FAULT(gm_same_value), "dst", other,
                 "writes bytes of %s that another core has written since the last SyncAll, with the same values",
                 region->name);
        return;
    }
    remember_undefined(core, region, (uint64_t)region->base + first, high - first, FAULT(gm_overlap), other);
    npu_note(core, false, FAULT(gm_overlap), "dst", other,
             "%zu bytes of %s from offset %zu on are written by two cores with different values and no SyncAll between",
             conflicts, region->name, first);
}

/* As written_twice where flags order some cores: only what nothing orders counts. */
static void written_again(struct npu_core *core, struct npu_gm_region *region, size_t low, size_t high, uint8_t state,
                          const uint8_t *old, bool atomic)
{
    struct between_conflict conflict;
    for (size_t at = low; at < high; at = conflict.high) {
        if (!between_find(core, BETWEEN_WRITE, region, at, high, atomic, &conflict))
            conflict.low = conflict.high = high;
        set_state(region, at, conflict.low, state);
        if (conflict.low < conflict.high)
            written_twice(core, region, conflict.low, conflict.high, old ? old + (conflict.low - low) : NULL, atomic);
    }
}

static void report_race(const struct npu_core *reader, const char *operand, const struct npu_gm_region *region,
                        size_t at, uint64_t pc, const struct npu_core *writer, uint64_t writer_pc);

/* Before a write: other cores that read the bytes and may still be reading them. */
static void check_readers(struct npu_core *core, const struct npu_gm_region *region, size_t low, size_t high)
{
    struct between_conflict conflict;
    if (between_find(core, BETWEEN_READ, region, low, high, false, &conflict))
        report_race(conflict.core, "src0", region, conflict.low, conflict.pc, core, core->pc);
}

void gm_commit(struct npu_core *core, struct npu_gm_region *region, uint64_t at, size_t bytes, const uint8_t *old,
               bool defined, bool atomic)
{
    size_t low = at - (uint64_t)region->base, high = low + bytes;
    uint8_t me = gm_writer(core);
    if (region->kind == NPU_GM_INPUT && !region->coarse)
        npu_note(core, false, FAULT(input_written), "dst", 0, "writes to %s, which is an input", region->name);
    uint8_t state = !defined ? GM_UNDEFINED : atomic ? GM_ATOMIC : me;
    enum state_class class = !atomic && region->atomic_writer != core->index && region->atomic_writer != -1
                                 ? OTHERS_OR_ATOMIC_STATE
                                 : OTHERS_STATE;
    size_t at_offset = low, end;
    bool clean = true, compared = !core->npu->config.no_hazards;
    if (compared && dirty_overlap(region, low, high)) {
        size_t found;
        while ((found = find_state(region, at_offset, high, class, me, &end)) < high) {
            clean = false;
            set_state(region, at_offset, found, state);
            if (core->between)
                written_again(core, region, found, end, state, old ? old + (found - low) : NULL, atomic);
            else
                written_twice(core, region, found, end, old ? old + (found - low) : NULL, atomic);
            at_offset = end;
        }
    }
    if (clean || at_offset < high)
        set_state(region, at_offset, high, state);
    if (!defined)
        remember_undefined(core, region, at, bytes, FAULT(undefined_output), core->pc_undefined);
    region->dirty_low = low < region->dirty_low ? low : region->dirty_low;
    region->dirty_high = high > region->dirty_high ? high : region->dirty_high;
    region->writer_pc[me] = core->pc;
    if (core->tape)
        region->writer_at[me] = (struct npu_tape_place){
            core->tape->steps,
            (uint8_t)(core->insn ? npu_insn_pipe(core->insn) == NPU_PIPE_FIX ? NPU_LANE_FIX : NPU_LANE_MTE3
                                 : NPU_LANE_S)};
    if (atomic)
        region->atomic_writer = region->atomic_writer == -1 || region->atomic_writer == core->index ? core->index : -2;
    if (compared && core->between) {
        check_readers(core, region, low, high);
        between_log(core, BETWEEN_WRITE, region, low, high, atomic);
    }
}

void npu_gm_written(struct npu_core *core, const void *at, size_t bytes, bool defined, bool atomic)
{
    struct npu_gm_region *region = gm_region_of(core, (uint64_t)at);
    if (!region || !bytes) /* padding, or nothing */
        return;
    size_t inside = region->bytes - (size_t)((const uint8_t *)at - region->base);
    gm_commit(core, region, (uint64_t)at, bytes < inside ? bytes : inside, NULL, defined, atomic);
}

/* Reads. */

static void report_race(const struct npu_core *reader, const char *operand, const struct npu_gm_region *region,
                        size_t at, uint64_t pc, const struct npu_core *writer, uint64_t writer_pc)
{
    char names[2][32];
    struct npu_place place = {.core = reader->block,
                              .aic = reader->aic,
                              .pipe = -1,
                              .pc = pc,
                              .pc_other = writer_pc,
                              .api = reader->insn ? npu_isa[reader->insn->op].name : ""};
    fault_record(reader->npu, true, FAULT(gm_race), operand, &place,
                 "%s reads %s at offset %zu, which %s %s with %s between",
                 npu_core_name(reader, names[0], sizeof names[0]), region->name, at,
                 writer ? npu_core_name(writer, names[1], sizeof names[1]) : "several blocks",
                 writer ? "writes" : "write", reader->between ? "no SyncAll and no cross-core flag" : "no SyncAll");
}

/* The last core that wrote the byte, as far as its state tells. */
static void report_read(struct npu_core *core, const char *operand, const struct npu_gm_region *region, size_t at,
                        uint64_t pc)
{
    uint8_t state = state_at(region, at);
    bool one = state <= GM_WRITERS;
    int index = one ? state - 1 : 0;
    report_race(core, operand, region, at, pc, one && index < core->npu->core_count ? &core->npu->cores[index] : NULL,
                one ? region->writer_pc[state] : 0);
}

/* Where flags order some cores: only what nothing orders counts. */
static void check_writers(struct npu_core *core, const char *operand, const struct npu_gm_region *region, size_t low,
                          size_t high)
{
    struct between_conflict conflict;
    if (between_find(core, BETWEEN_WRITE, region, low, high, false, &conflict))
        report_race(core, operand, region, conflict.low, core->pc, conflict.core, conflict.pc);
}

static int by_region_and_offset(const void *left, const void *right)
{
    const struct read_interval *a = left, *b = right;
    if (a->region != b->region)
        return a->region->base < b->region->base ? -1 : 1;
    return (a->low > b->low) - (a->low < b->low);
}

/* Scattered reads: unites the intervals that touch, whatever line they come from. */
static void unite(struct npu_gm_view *view)
{
    size_t kept = 0;
    qsort(view->reads, view->read_count, sizeof *view->reads, by_region_and_offset);
    for (size_t i = 1; i < view->read_count; i++) {
        struct read_interval *last = &view->reads[kept], *next = &view->reads[i];
        if (next->region == last->region && next->low <= last->high)
            last->high = next->high > last->high ? next->high : last->high;
        else
            view->reads[++kept] = *next;
    }
    view->read_count = kept + 1;
}

static void make_room(struct npu_gm_view *view)
{
    enum { MANY = 1 << 16 };
    if (view->read_count < view->read_room)
        return;
    if (view->read_count >= MANY)
        unite(view);
    if (view->read_count <= view->read_room / 2 && view->read_room)
        return;
    view->read_room = view->read_room ? 2 * view->read_room : 64;
    struct read_interval *grown = realloc(view->reads, view->read_room * sizeof *grown);
    if (!grown)
        abort();
    view->reads = grown;
}

/* The core with this state's number that runs beside the reader; NULL: its wave is over. */
static const struct npu_core *writer_beside(const struct npu_core *core, uint8_t state)
{
    const struct npu *npu = core->npu;
    const int wave = npu->wave_blocks * (npu->aic + npu->aiv), first = core->index / wave * wave;
    const int end = first + wave < npu->core_count ? first + wave : npu->core_count;
    int index = first / GM_WRITERS * GM_WRITERS + state - 1;
    index += index < first ? GM_WRITERS : 0;
    return index < end ? &npu->cores[index] : NULL;
}

static void hear_writer(struct npu_core *core, const struct npu_gm_region *region, uint8_t state)
{
    const struct npu_core *writer = writer_beside(core, state);
    const struct npu_tape_place place = region->writer_at[state];
    if (!writer || writer == core || place.steps <= core->view->heard[state])
        return;
    core->view->heard[state] = place.steps;
    npu_tape_hear_place(core, writer, place);
}

/* Other cores have written these bytes in this epoch, and the reader has them: so its time comes after that of the writes. What it sees of a
 * byte that several have accumulated are all that have done so until now. */
static void hear_writers(struct npu_core *core, const struct npu_gm_region *region, size_t low, size_t high)
{
    struct between_conflict conflict;
    if (core->between && !between_find(core, BETWEEN_WRITE, region, low, high, false, &conflict))
        return; /* flags have told it */
    if (!core->view->heard)
        core->view->heard = calloc(GM_WRITERS + 1, sizeof *core->view->heard);
    if (!core->view->heard)
        abort();
    for (size_t at = low, next; at < high; at = next) {
        const uint8_t state = state_at(region, at);
        next = region->coarse[at / GM_CHUNK] == GM_MIXED ? at + 1 : (at / GM_CHUNK + 1) * GM_CHUNK;
        if (!in_class(state, OTHERS_OR_ATOMIC_STATE, gm_writer(core)))
            continue;
        for (int writer = state <= GM_WRITERS ? state : 1; writer <= (state <= GM_WRITERS ? state : GM_WRITERS);
             writer++)
            hear_writer(core, region, (uint8_t)writer);
    }
}

void gm_read(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes)
{
    struct npu_gm_region *region = gm_region_of(core, addr);
    if (core->tape && (core->spun || region->atomic_writer != -1)) {
        const size_t low = addr - (uint64_t)region->base;
        if (dirty_overlap(region, low, low + bytes))
            hear_writers(core, region, low, low + bytes);
    }
    if (core->npu->config.no_hazards || core->spun || region->kind == NPU_GM_TILING ||
        region->kind == NPU_GM_ADDRESSES || (region->kind == NPU_GM_INPUT && !region->coarse))
        return;
    size_t low = addr - (uint64_t)region->base, high = low + bytes, end;
    if (dirty_overlap(region, low, high)) {
        size_t found = find_state(region, low, high, OTHERS_STATE, gm_writer(core), &end);
        if (found < high && core->between)
            check_writers(core, operand, region, found, high);
        else if (found < high)
            report_read(core, operand, region, found, core->pc);
    }
    if (core->between) {
        between_log(core, BETWEEN_READ, region, low, high, false);
        return;
    }
    struct npu_gm_view *view = core->view;
    /* Two alternating streams (x and y of a loop) both find their own interval among the last few. */
    size_t oldest = view->read_count > 4 ? view->read_count - 4 : 0;
    for (size_t i = view->read_count; i-- > oldest;) {
        struct read_interval *last = &view->reads[i];
        if (last->region == region && last->pc == core->pc && low <= last->high && high >= last->low) {
            last->low = low < last->low ? low : last->low;
            last->high = high > last->high ? high : last->high;
            return;
        }
    }
    make_room(view);
    view->reads[view->read_count++] = (struct read_interval){region, low, high, core->pc};
}

bool gm_written_by_others(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr, uint64_t bytes)
{
    const size_t low = addr - (uint64_t)region->base, high = low + bytes;
    const enum state_class class =
        region->atomic_writer == -1 || region->atomic_writer == core->index ? OTHERS_STATE : OTHERS_OR_ATOMIC_STATE;
    size_t end;
    return dirty_overlap(region, low, high) && find_state(region, low, high, class, gm_writer(core), &end) < high;
}

void gm_count_as_wait(struct npu_core *core)
{
    core->spun = true;
    core->stats.cores_spun = 1;
}

void gm_forget_reads(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr)
{
    struct npu_gm_view *view = core->view;
    size_t kept = 0, offset = addr - (uint64_t)region->base;
    for (size_t i = 0; i < view->read_count; i++) {
        const struct read_interval *read = &view->reads[i];
        if (read->region != region || offset < read->low || offset >= read->high)
            view->reads[kept++] = *read;
    }
    view->read_count = kept;
}

/* Epochs. */

static void compare_reads(struct npu_core *core)
{
    struct npu_gm_view *view = core->view;
    for (size_t i = 0; i < view->read_count; i++) {
        const struct read_interval *read = &view->reads[i];
        size_t end;
        if (!dirty_overlap(read->region, read->low, read->high))
            continue;
        size_t found = find_state(read->region, read->low, read->high, OTHERS_STATE, gm_writer(core), &end);
        if (found < read->high)
            report_read(core, "src0", read->region, found, read->pc);
    }
    view->read_count = 0;
    core->spun = false;
    forget(view);
}

static uint8_t swept(uint8_t state)
{
    if (state == GM_NEVER)
        return GM_NEVER;
    return state == GM_UNDEFINED || state == GM_CONFLICT ? GM_UNDEFINED : GM_DEFINED;
}

static void sweep(struct npu_gm_region *region)
{
    if (region->dirty_low >= region->dirty_high)
        return;
    size_t last = (region->dirty_high + GM_CHUNK - 1) / GM_CHUNK;
    for (size_t chunk = region->dirty_low / GM_CHUNK; chunk < last; chunk++) {
        if (region->coarse[chunk] != GM_MIXED) {
            region->coarse[chunk] = swept(region->coarse[chunk]);
            continue;
        }
        uint8_t *fine = region->fine + chunk * GM_CHUNK;
        for (int i = 0; i < GM_CHUNK; i++)
            fine[i] = swept(fine[i]);
        size_t bytes = region->bytes - chunk * GM_CHUNK < GM_CHUNK ? region->bytes - chunk * GM_CHUNK : GM_CHUNK;
        if (uniform(fine, bytes))
            region->coarse[chunk] = fine[0];
    }
    region->dirty_low = SIZE_MAX;
    region->dirty_high = 0;
    region->atomic_writer = -1;
    memset(region->writer_pc, 0, sizeof region->writer_pc);
    memset(region->writer_at, 0, sizeof region->writer_at);
}

void gm_epoch_end(struct npu *npu)
{
    for (int i = 0; i < npu->core_count; i++)
        compare_reads(&npu->cores[i]);
    for (int i = 0; i < npu->region_count; i++)
        sweep(npu->regions[i]);
}

/* The chip leaves there what was there before; whether that is right the comparison decides. */
static void report_never_written(struct npu *npu, const struct npu_gm_region *region)
{
    size_t count = 0, first = 0;
    for (size_t at = 0, end; at < region->bytes; at = end) {
        size_t found = find_state(region, at, region->bytes, NEVER_STATE, 0, &end);
        if (found == region->bytes)
            break;
        first = count ? first : found;
        count += end - found;
    }
    struct npu_place nowhere = {.pipe = -1};
    if (count)
        fault_record(npu, false, FAULT(unwritten_output), NULL, &nowhere,
                     "%zu bytes of output %s, from offset %zu on, were never written", count, region->name, first);
}

void gm_report_undefined(struct npu *npu)
{
    for (int i = 0; i < npu->region_count; i++)
        if (npu->regions[i]->kind == NPU_GM_OUTPUT)
            report_never_written(npu, npu->regions[i]);
    for (int i = 0; i < npu->undefined_count; i++) {
        const struct npu_undefined_store *store = &npu->undefined[i];
        const struct npu_gm_region *region = store->region;
        if (region->kind != NPU_GM_OUTPUT && region->kind != NPU_GM_INOUT)
            continue;
        size_t count = 0, first = SIZE_MAX, at = store->low;
        for (; at < store->high; at++)
            if (state_at(region, at) == GM_UNDEFINED) {
                first = first == SIZE_MAX ? at : first;
                count++;
            }
        if (count == 0)
            continue;
        struct npu_place place = {.core = store->core,
                                  .aic = store->aic,
                                  .pipe = NPU_PIPE_MTE3,
                                  .pc = store->pc,
                                  .pc_other = store->pc_other,
                                  .api = store->api};
        if (store->fault == FAULT(gm_overlap)) /* noted when it happened: now it is a fault */
            fault_record(npu, true, store->fault, "dst", &place, "%zu bytes of %s from offset %zu on", count,
                         region->name, first);
        else
            fault_record(
                npu, true, store->fault, "dst", &place,
                "%zu bytes of output %s from offset %zu on come from UB or GM that nothing has written, or that an "
                "instruction has left undefined",
                count, region->name, first);
    }
}
