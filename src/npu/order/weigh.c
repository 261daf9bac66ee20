/* Weighing: a conflict that cannot change a result is a note.
 *
 * The detector (order.c) says that nothing orders two accesses; that costs little, and most kernels have no conflict.
 * Whether one matters is a question of values, which costs much: so it is asked in a run of its own, in program order,
 * which looks at every write and knows the bytes that it changed.
 *
 * A conflict matters unless the bytes that both touch stay the same whichever comes first:
 *   a read after a write    no write of that lane that the reader's clock does not cover has changed the bytes
 *   a write after a write   the later one changes nothing
 *   a write after a read    the later one changes nothing, and no lane but its own has changed them unseen
 * If all conflicts of a launch are such, every order that flags allow gives each read the value that program order
 * gives it: two neighbours that nothing orders can change places, and nobody sees a difference. (The last condition is
 * for a reader that is older than the newest one of its lane, which alone is remembered: what changed the bytes after it
 * comes from another lane than the write's and is not ordered before it either. Lanes wait once for all: a later write
 * of the same lane would be ordered after that reader too.) Undefined bytes never stay the same.
 *
 * What does change is undefined from then on: what an instruction on a pipe reads too early while it executes, what two
 * writes leave until it is overwritten. Used by nobody, such a value does no harm; where it reaches an output, an address
 * or a branch, all conflicts of that kind become faults at the end. That a read comes too late is known only when it is
 * over: it is a fault, and another run that is told of it (npu_config.racing) makes it undefined as the others. The
 * scalar unit's own reads cannot be followed: they stay faults. */
#include "npu/order/weigh.h"

#include "base/array.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/order/order_gm.h"

#include <stdlib.h>
#include <string.h>

enum {
    READS = 4096,        /* per lane: the reads that are remembered */
    MAX_RACING = 1 << 16 /* racing reads that one run can tell of */
};

/* One run of bytes that the instruction writes, as it was before. */
struct before {
    uint64_t addr;
    uint32_t bytes;
    bool local;
    const uint8_t *values, *defined; /* defined: of local memory, a flag per byte */
};
/* A conflict of a write, until it has executed. */
struct waiting {
    struct npu_conflict conflict;
    bool shaken; /* another lane has changed the bytes unseen */
};
/* A byte of local memory that is read too early. */
struct racing {
    uint32_t offset;
    bool defined;
    uint8_t bits;
};
struct past_read {
    uint32_t index;
    struct npu_access access;
};
struct npu_weigh {
    struct past_read *reads[NPU_LANES]; /* a ring each; NULL before the first */
    uint64_t read_count[NPU_LANES];
    uint32_t *changed[NPU_TRACKS]; /* per byte of local memory the newest instruction that changed it */
    struct arena arena;            /* of one instruction */
    struct before *before;
    struct waiting *waiting;
    struct racing *racing;
    size_t before_count, before_room, waiting_count, waiting_room, racing_count, racing_room;
    bool racing_gm;             /* bytes of GM are read too early */
    bool gm_shaken;             /* another lane has changed bytes of GM unseen that the instruction writes */
    struct npu_results results; /* before the instruction */
    bool begun;                 /* an instruction, or a store of the scalar unit, whose effect is not known yet */
    int lane, track;
    uint32_t index;
    uint64_t pc;
};

struct npu_weigh *npu_weigh_create(const struct npu_core *core)
{
    if (!npu_config_of(core->npu)->weigh)
        return NULL;
    struct npu_weigh *weigh = calloc(1, sizeof *weigh);
    if (!weigh)
        abort();
    for (int track = 0; track < NPU_TRACKS; track++)
        if (!(weigh->changed[track] = calloc(core->ub_bytes, sizeof(uint32_t))))
            abort();
    return weigh;
}

void npu_weigh_destroy(struct npu_core *core)
{
    struct npu_weigh *weigh = core->order->weigh;
    if (!weigh)
        return;
    npu_weigh_settle(core, false);
    for (int track = 0; track < NPU_TRACKS; track++)
        free(weigh->changed[track]);
    for (int lane = 0; lane < NPU_LANES; lane++)
        free(weigh->reads[lane]);
    arena_free(&weigh->arena);
    free(weigh);
}

/* Definedness of one byte of local memory, as gm/shadow.c keeps it. */

static bool is_defined(const struct npu_core *core, uint32_t offset)
{
    return core->ub_defined[offset / 64] >> offset % 64 & 1;
}

static void set_defined(struct npu_core *core, uint32_t offset, bool defined, uint8_t bits)
{
    uint64_t bit = UINT64_C(1) << offset % 64;
    core->ub_defined[offset / 64] =
        defined ? core->ub_defined[offset / 64] | bit : core->ub_defined[offset / 64] & ~bit;
    core->ub_bits[offset] = bits;
}

/* Conflicts as they are found. */

static bool changed_since(const struct npu_core *core, int track, uint32_t low, uint32_t high, uint32_t known)
{
    const uint32_t *changed = core->order->weigh->changed[track];
    for (uint32_t i = low; i < high; i++)
        if (changed[i] > known)
            return true;
    return false;
}

/* Does another lane than the running instruction's have changes of these bytes that nothing orders before it? */
static bool changed_unseen(const struct npu_core *core, int lane, uint32_t low, uint32_t high)
{
    for (int track = 0; track < NPU_TRACKS; track++) {
        int other = npu_order_track_lane(core->order, track);
        if (other != lane && changed_since(core, track, low, high, core->order->clock[lane].at[other]))
            return true;
    }
    return false;
}

/* Told now; npu_weigh_end decides. */
static void tell_race(struct npu_core *core, const struct npu_conflict *conflict)
{
    struct npu *npu = core->npu;
    struct npu_race race = {npu_order_fault(conflict)->name, core->pc,
                            npu_order_pc(core->order, conflict->other, conflict->other_index)};
    npu_order_report(core, conflict, false);
    for (size_t i = 0; i < npu->race_count; i++)
        if (npu->races[i].fault == race.fault && npu->races[i].pc == race.pc && npu->races[i].pc_other == race.pc_other)
            return;
    ARRAY_ADD(&npu->arena, npu->races, npu->race_count, npu->race_room, race);
}

/* Reads that come too late. */

static int by_instruction(const void *left, const void *right)
{
    const struct npu_racing_read *a = left, *b = right;
    const uint32_t keys[][2] = {{a->core, b->core}, {a->lane, b->lane}, {a->index, b->index}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* The first racing read of an instruction that this run was told of, NULL if there is none. */
static const struct npu_racing_read *told(const struct npu_core *core, int lane, uint32_t index)
{
    const struct npu_config *config = npu_config_of(core->npu);
    const struct npu_racing_read wanted = {.core = (uint32_t)core->index, .lane = (uint32_t)lane, .index = index};
    const struct npu_racing_read *found =
        config->racing_count ? bsearch(&wanted, config->racing, config->racing_count, sizeof wanted, by_instruction)
                             : NULL;
    while (found && found > config->racing && by_instruction(found - 1, &wanted) == 0)
        found--;
    return found;
}

static void remember_read(struct npu_weigh *weigh, int lane, uint32_t index, const struct npu_access *access)
{
    if (!weigh->reads[lane] && !(weigh->reads[lane] = calloc(READS, sizeof *weigh->reads[lane])))
        abort();
    weigh->reads[lane][weigh->read_count[lane]++ % READS] = (struct past_read){index, *access};
}

/* Adds the parts of one read that lie in [low, high). True if this run was told of the read. */
static bool add_racing(struct npu_core *core, int lane, const struct past_read *read, uint64_t low, uint64_t high)
{
    struct npu *npu = core->npu;
    const struct npu_access *access = &read->access;
    bool local = npu_in_ub(core, low), known = true;
    for (uint32_t j = 0; j < access->count2; j++)
        for (uint32_t i = 0; i < access->count; i++) {
            uint64_t from = access->addr + (uint64_t)(access->stride2 * j) + (uint64_t)(access->stride * i);
            uint64_t to = from + access->bytes < high ? from + access->bytes : high, base = (uint64_t)core->ub;
            from = from > low ? from : low;
            if (from >= to)
                continue;
            struct npu_racing_read racing = {(uint32_t)core->index, (uint32_t)lane, read->index,
                                             local ? (uint32_t)(from - base) : 0, local ? (uint32_t)(to - base) : 0};
            npu->racing_lost |= npu->racing_count == MAX_RACING;
            if (!npu->racing_lost)
                ARRAY_ADD(&npu->arena, npu->racing, npu->racing_count, npu->racing_room, racing);
            known &= told(core, lane, read->index) != NULL;
        }
    return known;
}

/* All reads of the conflict's lane that nothing orders before the running instruction. True if this run was told of
 * them. */
static bool list_readers(struct npu_core *core, const struct npu_conflict *conflict)
{
    const struct npu_weigh *weigh = core->order->weigh;
    int lane = conflict->other;
    uint32_t known = core->order->clock[conflict->lane].at[lane];
    uint64_t count = weigh->read_count[lane], oldest = count > READS ? count - READS : 0;
    bool all = true;
    for (uint64_t i = count; i-- > oldest;) {
        const struct past_read *read = &weigh->reads[lane][i % READS];
        if (read->index <= known)
            return all;
        all &= add_racing(core, lane, read, conflict->low, conflict->high);
    }
    core->npu->racing_lost |= oldest > 0;
    return all && !oldest;
}

static void add_waiting(struct npu_weigh *weigh, const struct npu_conflict *conflict, bool shaken)
{
    ARRAY_ADD(&weigh->arena, weigh->waiting, weigh->waiting_count, weigh->waiting_room,
              (struct waiting){*conflict, shaken});
}

static void add_racing_byte(struct npu_core *core, uint32_t offset)
{
    struct npu_weigh *weigh = core->order->weigh;
    ARRAY_ADD(&weigh->arena, weigh->racing, weigh->racing_count, weigh->racing_room,
              (struct racing){offset, is_defined(core, offset), core->ub_bits[offset]});
}

void npu_weigh_local(struct npu_core *core, int track, const struct npu_conflict *conflict)
{
    struct npu_weigh *weigh = core->order->weigh;
    uint32_t low = (uint32_t)(conflict->low - (uint64_t)core->ub),
             high = (uint32_t)(conflict->high - (uint64_t)core->ub);
    uint32_t known = core->order->clock[conflict->lane].at[conflict->other];
    if (conflict->write) {
        add_waiting(weigh, conflict, !conflict->other_write && changed_unseen(core, conflict->lane, low, high));
    } else if (!npu_order_matters(core->order, conflict) || !changed_since(core, track, low, high, known)) {
        npu_order_report(core, conflict, false);
    } else if (conflict->lane == NPU_LANE_S) {
        npu_order_report(core, conflict, true);
    } else {
        tell_race(core, conflict);
        for (uint32_t i = low; i < high; i++)
            add_racing_byte(core, i);
    }
}

void npu_weigh_gm(struct npu_core *core, const struct npu_conflict *conflict, bool quiet)
{
    struct npu_weigh *weigh = core->order->weigh;
    weigh->gm_shaken |= conflict->write && conflict->other_write && !quiet && conflict->other != conflict->lane;
    if (conflict->write) {
        add_waiting(weigh, conflict, false);
    } else if (quiet) {
        npu_order_report(core, conflict, false);
    } else if (conflict->lane == NPU_LANE_S) {
        npu_order_report(core, conflict, true);
    } else {
        tell_race(core, conflict);
        weigh->racing_gm = true;
    }
}

/* An instruction before and after it executes. */

static void keep_run(struct npu_core *core, uint64_t addr, uint32_t bytes)
{
    struct npu_weigh *weigh = core->order->weigh;
    struct before run = {.addr = addr, .bytes = bytes, .local = npu_in_ub(core, addr)};
    uint32_t offset = (uint32_t)(addr - (uint64_t)core->ub);
    const struct npu_gm_region *region = run.local ? NULL : npu_gm_find(core->npu, addr);
    uint64_t room = run.local ? core->ub_bytes - offset : region ? (uint64_t)region->base + region->bytes - addr : 0;
    run.bytes = bytes < room ? bytes : (uint32_t)room; /* padding keeps nothing */
    if (!run.bytes)
        return;
    run.values = arena_copy(&weigh->arena, (const void *)addr, run.bytes);
    uint8_t *defined = run.local ? arena_alloc(&weigh->arena, run.bytes) : NULL;
    for (uint32_t i = 0; defined && i < run.bytes; i++)
        defined[i] = is_defined(core, offset + i);
    run.defined = defined;
    ARRAY_ADD(&weigh->arena, weigh->before, weigh->before_count, weigh->before_room, run);
}

/* What this run was told of the instruction. */
static void read_too_late(struct npu_core *core)
{
    struct npu_weigh *weigh = core->order->weigh;
    const struct npu_config *config = npu_config_of(core->npu);
    const struct npu_racing_read *racing = told(core, weigh->lane, weigh->index), *first = racing;
    for (; racing && racing < config->racing + config->racing_count && by_instruction(racing, first) == 0; racing++) {
        weigh->racing_gm |= racing->low == racing->high;
        for (uint32_t i = racing->low; i < racing->high && i < core->ub_bytes; i++)
            add_racing_byte(core, i);
    }
}

void npu_weigh_begin(struct npu_core *core, int lane, int track, const struct npu_access *accesses, int count)
{
    struct npu_weigh *weigh = core->order->weigh;
    weigh->begun = true;
    weigh->lane = lane;
    weigh->track = track;
    weigh->index = core->order->last[lane];
    weigh->pc = core->pc;
    weigh->results = core->results;
    for (const struct npu_access *a = accesses; a < accesses + count; a++)
        for (uint32_t j = 0; a->write && j < a->count2; j++)
            for (uint32_t i = 0; i < a->count; i++)
                keep_run(core, a->addr + (uint64_t)(a->stride2 * j) + (uint64_t)(a->stride * i), a->bytes);
    for (const struct npu_access *a = accesses; a < accesses + count && lane != NPU_LANE_S; a++)
        if (!a->write)
            remember_read(weigh, lane, weigh->index, a);
    read_too_late(core);
    for (size_t i = 0; i < weigh->racing_count; i++)
        set_defined(core, weigh->racing[i].offset, false, 0);
}

static bool is_written(const struct npu_core *core, uint32_t offset)
{
    const struct npu_weigh *weigh = core->order->weigh;
    uint64_t addr = (uint64_t)core->ub + offset;
    for (size_t i = 0; i < weigh->before_count; i++)
        if (addr - weigh->before[i].addr < weigh->before[i].bytes)
            return true;
    return false;
}

/* Has the instruction read an undefined byte of local memory? */
static bool reads_undefined(const struct npu_core *core)
{
    const struct npu_weigh *weigh = core->order->weigh;
    uint64_t count = weigh->read_count[weigh->lane];
    for (uint64_t n = 0; n < count && n < READS; n++) {
        const struct past_read *read = &weigh->reads[weigh->lane][(count - 1 - n) % READS];
        const struct npu_access *a = &read->access;
        if (read->index != weigh->index)
            break;
        for (uint32_t j = 0; j < a->count2; j++)
            for (uint32_t i = 0; i < a->count; i++) {
                uint64_t from = a->addr + (uint64_t)(a->stride2 * j) + (uint64_t)(a->stride * i) - (uint64_t)core->ub;
                for (uint64_t at = from; at < from + a->bytes && at < core->ub_bytes; at++)
                    if (!is_defined(core, (uint32_t)at))
                        return true;
            }
    }
    return false;
}

/* Registers have no definedness (CMPMASK, what a reduction leaves besides its result). */
static void look_at_registers(struct npu_core *core)
{
    const struct npu_weigh *weigh = core->order->weigh;
    bool writes = !weigh->before_count || memcmp(&weigh->results, &core->results, sizeof core->results) != 0;
    core->npu->race_used |= weigh->lane != NPU_LANE_S && writes && reads_undefined(core);
}

/* What was read too early is as it was, but where the instruction has written. */
static void restore_racing(struct npu_core *core)
{
    struct npu_weigh *weigh = core->order->weigh;
    for (size_t i = 0; i < weigh->racing_count; i++)
        if (!is_written(core, weigh->racing[i].offset))
            set_defined(core, weigh->racing[i].offset, weigh->racing[i].defined, weigh->racing[i].bits);
}

/* Marks the bytes of local memory that the instruction changed. True if it changed any of GM. */
static bool mark_changes(struct npu_core *core)
{
    struct npu_weigh *weigh = core->order->weigh;
    bool gm = false;
    for (size_t k = 0; k < weigh->before_count; k++) {
        const struct before *run = &weigh->before[k];
        const uint8_t *now = (const uint8_t *)run->addr;
        gm |= !run->local && memcmp(now, run->values, run->bytes) != 0;
        for (uint32_t i = 0, offset = (uint32_t)(run->addr - (uint64_t)core->ub); run->local && i < run->bytes; i++) {
            if (weigh->racing_gm)
                set_defined(core, offset + i, false, 0);
            if (now[i] != run->values[i] || !run->defined[i] || !is_defined(core, offset + i))
                weigh->changed[weigh->track][offset + i] = weigh->index;
        }
    }
    return gm;
}

/* Has the instruction changed bytes of GM in [low, high)? */
static bool gm_changed(const struct npu_weigh *weigh, uint64_t low, uint64_t high)
{
    for (const struct before *run = weigh->before; run < weigh->before + weigh->before_count; run++) {
        uint64_t from = low > run->addr ? low : run->addr;
        uint64_t to = high < run->addr + run->bytes ? high : run->addr + run->bytes;
        if (!run->local && from < to && memcmp((const void *)from, run->values + (from - run->addr), to - from) != 0)
            return true;
    }
    return false;
}

/* A write that has executed. */
static void judge(struct npu_core *core, const struct waiting *waiting, bool gm_seen)
{
    const struct npu_weigh *weigh = core->order->weigh;
    const struct npu_conflict *conflict = &waiting->conflict;
    bool local = npu_in_ub(core, conflict->low), shaken = local ? waiting->shaken : weigh->gm_shaken;
    uint32_t low = (uint32_t)(conflict->low - (uint64_t)core->ub),
             high = (uint32_t)(conflict->high - (uint64_t)core->ub);
    bool changed = local ? changed_since(core, weigh->track, low, high, weigh->index - 1)
                         : !gm_seen || (conflict->atomic && conflict->other_write) ||
                               gm_changed(weigh, conflict->low, conflict->high);
    if (!npu_order_matters(core->order, conflict)) {
        npu_order_report(core, conflict, false);
    } else if (!conflict->other_write && (changed || shaken)) {
        if (list_readers(core, conflict))
            tell_race(core, conflict);
        else
            npu_order_report(core, conflict, true);
    } else if (!changed || !local) {
        npu_order_report(core, conflict, changed);
    } else {
        tell_race(core, conflict);
        for (uint32_t i = low; i < high; i++)
            set_defined(core, i, false, 0);
    }
}

/* The next instruction begins with nothing. */
static void forget(struct npu_weigh *weigh)
{
    arena_free(&weigh->arena);
    weigh->before = NULL;
    weigh->waiting = NULL;
    weigh->racing = NULL;
    weigh->before_count = weigh->before_room = weigh->waiting_count = weigh->waiting_room = 0;
    weigh->racing_count = weigh->racing_room = 0;
    weigh->racing_gm = weigh->gm_shaken = weigh->begun = false;
}

void npu_weigh_settle(struct npu_core *core, bool gm_seen)
{
    struct npu_weigh *weigh = core->order->weigh;
    if (!weigh->begun)
        return;
    uint64_t pc = core->pc;
    const struct npu_insn *insn = core->insn;
    core->pc = weigh->pc;
    core->insn = weigh->lane == NPU_LANE_S ? NULL : insn;
    look_at_registers(core);
    restore_racing(core);
    if (!mark_changes(core) && gm_seen)
        npu_order_gm_quiet(core->order, weigh->lane, weigh->index);
    for (size_t i = 0; i < weigh->waiting_count; i++)
        judge(core, &weigh->waiting[i], gm_seen);
    core->pc = pc;
    core->insn = insn;
    forget(weigh);
}

/* Has an undefined value got anywhere that is judged, or where it cannot be followed? */
static bool undefined_is_used(const struct npu *npu)
{
    if (npu->race_used)
        return true;
    for (size_t i = 0; i < npu->finding_count; i++)
        if (npu->findings[i].kind != NPU_HAZARD &&
            (npu->findings[i].fatal || npu->findings[i].fault == FAULT(undefined_scalar)->name))
            return true;
    for (int i = 0; i < npu->undefined_count; i++) /* even if something else is stored there afterwards */
        if (npu->undefined[i].region->kind == NPU_GM_OUTPUT || npu->undefined[i].region->kind == NPU_GM_INOUT)
            return true;
    return false;
}

void npu_weigh_end(struct npu *npu)
{
    if (npu->racing_count)
        qsort(npu->racing, npu->racing_count, sizeof *npu->racing, by_instruction);
    if (!npu->race_count || !undefined_is_used(npu))
        return;
    for (size_t i = 0; i < npu->finding_count; i++)
        for (size_t k = 0; k < npu->race_count; k++)
            if (npu->findings[i].fault == npu->races[k].fault && npu->findings[i].pc == npu->races[k].pc &&
                npu->findings[i].pc_other == npu->races[k].pc_other)
                npu->findings[i].fatal = true;
}
