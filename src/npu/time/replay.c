/* The timeline: the tapes of all cores, replayed side by side.
 *
 * A core's scalar unit goes through its tape and gives instructions to their pipes, which do them one after the other, side by
 * side with the other pipes, as far as flags, barriers and edges allow. Copies from and to GM take what the other cores leave
 * of L2 and HBM. The core whose last copy began first goes on next, so that L2 sees copies about in their order; a core
 * that waits for others stands aside until they have come.
 *
 * Waves of blocks come one after the other, and cores wait for others of their wave only. So there are timelines for the cores of
 * one wave, which the next wave uses again: a launch of 65,535 blocks takes no more memory than one that fills the chip. */
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/time/rates.h"
#include "npu/time/tape_reader.h"
#include "npu/time/traffic.h"
#include "npu/time/turns.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECENT = 256, /* instructions of a lane whose ends are kept */
    CROSS_FLAGS = 16,
    CROSS_MODES = 3,
    ROUNDS = 16,
    PENDING = 2,
    PLACES = 4096,
    WAITING = 32, /* of a lane, a power of two */
    AHEAD = 256,  /* cycles that a core may go on before the others */
    PIECE = 256,  /* cycles of a copy that are served at a time */
    REQUEST = 512 /* bytes */
};

/* A flag between two lanes: when its SetFlags were done. */
struct flag {
    double at[PENDING];
    uint32_t sets, waits;
} __attribute__((aligned(32))); /* two events of the same lanes are in one line of the host's cache */

/* Rounds of a CrossCoreSetFlag that a core may wait for: when they were complete. */
struct rounds {
    double at[ROUNDS];
    uint32_t done, waited;
};

/* A copy under way. It is served in pieces, between which other cores have their turns: none waits for the whole of another's. */
struct copy {
    struct npu_demand each;  /* of a piece */
    double start, at, least; /* when it began; until when it has come; cycles of a piece alone */
    uint64_t bytes;
    int left; /* pieces; 0: there is no copy */
    bool write;
};

/* An instruction in front of a lane, and the waits before it: when it begins, and the number of the first of these among all that
 * the lane was given. */
struct waiting {
    double begins;
    uint32_t number;
};

/* What instructions of a line of the kernel cost on a lane, all cores together. */
struct place {
    uint64_t pc;
    int lane;
    double cycles;
};

/* Why a core does not go on. */
enum halt {
    GOES_ON,
    FLAG,    /* of other cores: number `halted_by` */
    MEETING, /* of all cores: number `halted_by` */
    TOLD,    /* number `halted_by` */
    OVER     /* there is nothing more */
};

struct timeline {
    const struct npu_core *core;
    struct npu_tape_reader reader;
    struct npu_step step;                    /* the next */
    bool ended;                              /* there is none */
    double start, scalar;                    /* the block's start; until when the scalar unit is at work */
    double free[NPU_LANES], done[NPU_LANES]; /* when a lane can begin with the next, when what it was given is done */
    double busy[NPU_LANES], work[NPU_LANES]; /* cycles with work on it; cycles that the work takes without others */
    double covered[NPU_LANES];               /* until when its work has been counted as busy */
    double *recent;                          /* [NPU_LANES][RECENT]: when instructions were done; the replay's */
    uint32_t runs[NPU_LANES];
    uint32_t given[NPU_LANES],
        ran[NPU_LANES]; /* what a lane was given, waits among it; the number of the last that runs */
    uint32_t first[NPU_LANES], behind[NPU_LANES]; /* of `waiting` */
    double asked; /* since when Fixpipe has waited for fractals that the cube is about to write; 0: it does not */
    struct copy copy;
    struct place *places[NPU_LANES];       /* of the newest work of each */
    uint32_t segments[NPU_TRAFFIC_RECENT]; /* of L2, that its copies touched last */
    double key;                            /* where its copies are */
    struct flag *flags;                    /* [to][lane][event]; the replay's */
    struct rounds rounds[CROSS_FLAGS];
    uint32_t sets[CROSS_MODES][CROSS_FLAGS];
    enum halt halt;
    uint32_t halted_by;
    uint32_t steps;                             /* that it has done, of struct npu_tape_place */
    const struct npu_tape_mark *mark, *no_more; /* the next that it comes to; where its marks end */
    uint32_t newest[NPU_LANES]; /* the number of the last that runs, of high-level APIs; 0: another than what follows */
    uint32_t since[NPU_LANES];  /* the instruction of another lane that it waited for last */
    struct waiting waiting[NPU_LANES][WAITING];
};

/* A round that is not complete: how many have set, and when the last of them did. */
struct round {
    int set;
    double at;
};

struct meeting {
    int arrived;
    double at;
};

struct replay {
    struct npu *npu;
    bool watched; /* somebody wants the slices */
    struct npu_traffic *traffic;
    struct timeline *lines; /* of the wave's cores */
    int count;              /* of these */
    struct npu_timing timing;
    struct round *open;       /* [scope][CROSS_MODES][CROSS_FLAGS][ROUNDS] */
    struct meeting *meetings; /* by number */
    double *told;             /* by number: when others see it; 0: it has not been told */
    struct place places[PLACES];
    double l2_all, hbm_all; /* bytes that were asked of them */
    /* All waves so far: cores, work by lane, both of AIVs and AICs; the end of the last core; instructions on the tapes, and
     * whether every core has come to the end of its own. */
    int cores[2];
    double work[2][NPU_LANES], last;
    uint64_t instructions;
    bool over;
    int64_t flows;
    struct npu_turns turns;
    bool woken; /* cores that waited can go on */
    int rivals; /* cores whose copies are about where those of the running one are */
};

static void *zeros(size_t count, size_t each)
{
    void *memory = calloc(count ? count : 1, each);
    if (!memory)
        abort();
    return memory;
}

static void *zeros_aligned(size_t count, size_t each)
{
    const size_t bytes = (count * each + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory)
        abort();
    return memset(memory, 0, bytes);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static const char *lane_name(int lane)
{
    static const char *const names[] = {
#define NPU_PIPE(id, number) #id,
#include "abi/pipe.def"
#undef NPU_PIPE
    };
    return names[lane];
}

static const char *api_of(const struct npu_step *step)
{
    return npu_isa[step->work->op].name;
}

static __attribute__((noinline)) void tell(struct replay *replay, const struct timeline *line,
                                           const struct npu_timeline_slice *slice)
{
    const struct npu_config *config = &replay->npu->config;
    struct npu_timeline_slice out = *slice;
    out.core = line->core->block;
    out.aic = line->core->aic;
    config->slice(config->slice_closure, &out);
}

static void count_place(struct replay *replay, struct timeline *line, uint64_t pc, int lane, double cycles)
{
    struct place *last = line->places[lane];
    if (last && last->pc == pc) {
        last->cycles += cycles;
        return;
    }
    uint64_t hash = (pc * 8 + (uint64_t)lane) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < 16; i++) { /* of kernels with very many lines some are not counted */
        struct place *place = &replay->places[((hash >> 40) + i) % PLACES];
        if (place->pc && (place->pc != pc || place->lane != lane))
            continue;
        place->pc = pc;
        place->lane = lane;
        place->cycles += cycles;
        line->places[lane] = place;
        return;
    }
}

/* Work on a lane: what overlaps is busy once. */
static void count_busy(struct timeline *line, int lane, double start, double end)
{
    start = larger(start, line->covered[lane]);
    if (end > start)
        line->busy[lane] += end - start;
    line->covered[lane] = larger(line->covered[lane], end);
}

/* The scalar unit gives a lane an instruction when its queue has room: when it begins. A wait for a flag takes a place there, setting
 * one does not: so those experiments that show the queue agree about its length. Loads of a matrix by the Matmul object are one
 * instruction (asc-devkit, impl/adv_api/detail/matmul/stage/split: LoadData3DV2). */
static double give(struct timeline *line, int lane, const struct npu_work *work)
{
    struct waiting *waiting = line->waiting[lane];
    if (work->of && lane == NPU_LANE_MTE1 && line->newest[lane] && line->newest[lane] == line->given[lane])
        return larger(line->scalar, line->free[lane]);
    const uint32_t number = ++line->given[lane], first_of_it = line->ran[lane] + 1;
    line->ran[lane] = number;
    if (work->of)
        line->newest[lane] = number;
    uint32_t first = line->first[lane], behind = line->behind[lane];
    while (first != behind && waiting[first % WAITING].number + NPU_RATE_QUEUE <= number)
        line->scalar = larger(line->scalar, waiting[first++ % WAITING].begins);
    const bool at_once = line->free[lane] <= line->scalar;
    line->first[lane] = at_once ? behind : first;
    if (at_once)
        return line->scalar;
    waiting[behind % WAITING] = (struct waiting){line->free[lane], first_of_it};
    line->behind[lane] = behind + 1;
    return line->free[lane];
}
_Static_assert(NPU_RATE_QUEUE <= WAITING, "all that have room have one");

static double runs_of(const struct npu_transfer *transfer)
{
    return transfer->contiguous ? 1 : (double)transfer->count * transfer->count2;
}

/* The bits of the addresses where runs begin. */
static uint64_t begins(const struct npu_transfer *transfer)
{
    return transfer->addr | (uint64_t)(transfer->count > 1 ? transfer->stride : 0);
}

/* Bytes that runs take more where they do not begin with a request. */
static double odd_bytes(const struct npu_transfer *transfer)
{
    const uint64_t at = begins(transfer);
    if (at % REQUEST == 0)
        return 0;
    if (at % 32)
        return runs_of(transfer) * NPU_RATE_ODD_RUN;
    const bool in_one = transfer->bytes < REQUEST && transfer->addr % REQUEST + transfer->bytes <= REQUEST;
    return in_one ? 0 : runs_of(transfer) * NPU_RATE_CROSSED_RUN;
}

/* Cycles of a transfer when nobody else asks for anything; `missing`: the share of its bytes that L2 has not. */
static double alone(const struct timeline *line, const struct npu_transfer *transfer, double missing, double odd)
{
    const bool aic = line->core->aic;
    const double bytes = (double)transfer->bytes * transfer->count * transfer->count2 + odd;
    const double runs = runs_of(transfer);
    const double overhead =
        runs * (aic ? (transfer->past_l2 ? NPU_RATE_RUN_AIC_PAST_L2 : NPU_RATE_RUN_AIC) : NPU_RATE_RUN);
    missing = missing < 1 ? missing : 1;
    if (transfer->write)
        return overhead + bytes / (aic ? NPU_RATE_FIX : NPU_RATE_WRITE) +
               (aic && !transfer->past_l2 && begins(transfer) % 32 ? runs * NPU_RATE_FIX_ODD : 0);
    const double hbm = aic ? bytes * missing / NPU_RATE_READ_HBM_AIC : bytes * missing / NPU_RATE_READ_HBM;
    const double odd_blocks = aic && begins(transfer) % 32 ? runs * (double)((transfer->bytes + 31) / 32) : 0;
    return overhead + odd_blocks * NPU_RATE_ODD_BLOCK + hbm +
           (missing < 1 ? bytes * (1 - missing) / (aic ? NPU_RATE_READ_L2_AIC : NPU_RATE_READ_L2) : 0);
}

/* Cycles that a read takes longer because other AICs read the same at about the same time. */
static double crowded(struct replay *replay, const struct timeline *line, const struct npu_transfer *transfer,
                      double now)
{
    if (!line->core->aic || transfer->past_l2 || transfer->write)
        return 0;
    const uint64_t bytes = transfer->contiguous ? (uint64_t)transfer->bytes * transfer->count : transfer->bytes;
    const int readers = npu_traffic_readers(replay->traffic, transfer->addr, line->core->block, now);
    const int waits = (readers < NPU_RATE_CROWD ? readers : NPU_RATE_CROWD) - NPU_RATE_AT_ONCE;
    return waits > 0 ? runs_of(transfer) * (double)((bytes + REQUEST - 1) / REQUEST) * waits * NPU_RATE_IN_CROWD : 0;
}

static void note_run(struct timeline *line, int lane)
{
    if (line->core->aic) /* only there something waits for one instruction of many */
        line->recent[lane * RECENT + (int)(line->runs[lane] % RECENT)] = line->done[lane];
    line->runs[lane]++;
}

/* What HBM is kept busy with beyond the bytes of a read: runs that do not fill requests, and many cores that want the same. */
static double more_of_hbm(struct replay *replay, const struct timeline *line, const struct npu_transfer *transfer,
                          const struct npu_looked_up *one, double now)
{
    double more = 0;
    if (transfer->write)
        return 0;
    if (transfer->bytes < REQUEST && !transfer->contiguous)
        more += transfer->past_l2 ? NPU_RATE_PAST_L2 : NPU_RATE_SHORT_RUN;
    if (transfer->past_l2)
        more += NPU_RATE_SAME_ADDRESS *
                (1 - 1.0 / npu_traffic_readers(replay->traffic, transfer->addr, line->core->block, now));
    return (double)one->hbm_read * more;
}

static void add_scalar(struct replay *replay, struct timeline *line, double cycles, uint64_t pc)
{
    const double start = line->scalar;
    if (cycles <= 0)
        return;
    line->scalar += cycles;
    line->work[NPU_LANE_S] += cycles;
    count_busy(line, NPU_LANE_S, start, line->scalar);
    count_place(replay, line, pc, NPU_LANE_S, cycles);
    if (replay->watched)
        tell(replay, line,
             &(struct npu_timeline_slice){
                 .lane = NPU_LANE_S, .name = "scalar", .start = start, .end = line->scalar, .pc = pc});
}

/* The parameters of a copy are put together by the scalar unit, in code that is CANN's and not the kernel's. */
static double parameters_of(const struct npu_transfer *transfer)
{
    return (transfer->contiguous ? 0 : NPU_RATE_SCALAR_STRIDES) + (transfer->past_l2 ? NPU_RATE_SCALAR_HINT : 0);
}

/* Seldom called, and not worth a place in what goes on with every copy. */
static __attribute__((noinline)) void add_parameters(struct replay *replay, struct timeline *line, double cycles,
                                                     uint64_t pc)
{
    add_scalar(replay, line, cycles, pc);
}

/* Into pieces. */
static void cut(struct copy *copy, const struct npu_demand *demand)
{
    copy->each = *demand;
    copy->left = 1;
    if (copy->least <= PIECE)
        return;
    copy->left = (int)ceil(copy->least / PIECE);
    copy->each.l2 /= copy->left;
    copy->each.hbm /= copy->left;
    copy->least /= copy->left;
}

/* An instruction that moves bytes from or to GM begins. */
static void begin_copy(struct replay *replay, struct timeline *line, const struct npu_step *step, double start)
{
    struct npu_timing *timing = &replay->timing;
    struct npu_demand demand = {0};
    struct copy *copy = &line->copy;
    double parameters = 0;
    *copy = (struct copy){.start = start, .least = step->work->cycles};
    for (int i = 0; i < step->transfers; i++) {
        struct npu_transfer transfer;
        npu_tape_transfer(&line->reader, &transfer);
        const int64_t moved = (int64_t)transfer.bytes * transfer.count * transfer.count2;
        const struct npu_looked_up one = npu_traffic_look_up(replay->traffic, &transfer, line->segments);
        const double missing = one.hbm_read == moved ? moved > 0 : (double)one.hbm_read / (double)moved;
        const double odd = odd_bytes(&transfer);
        timing->hbm_read += one.hbm_read;
        timing->hbm_written += one.hbm_written;
        demand.l2 += (double)one.l2 + odd * (1 - missing);
        demand.hbm += (double)(one.hbm_read + one.hbm_written * NPU_RATE_HBM_WRITTEN) + odd * missing;
        const double least = alone(line, &transfer, missing, odd) + crowded(replay, line, &transfer, start);
        copy->least = transfer.write && line->core->aic ? larger(copy->least, least) : copy->least + least;
        parameters += parameters_of(&transfer);
        demand.hbm += more_of_hbm(replay, line, &transfer, &one, start);
        copy->bytes += moved;
        copy->write |= transfer.write;
        *(transfer.write ? &timing->written : &timing->read) += moved;
        timing->read_l2 += transfer.write ? 0 : moved - (one.hbm_read < moved ? one.hbm_read : moved);
    }
    replay->l2_all += demand.l2;
    replay->hbm_all += demand.hbm;
    ++*(copy->write ? &timing->copies_out : &timing->copies_in);
    line->work[step->lane] += larger(copy->least, NPU_RATE_COPY_ISSUE);
    cut(copy, &demand);
    if (parameters > 0 && !step->work->of) /* those of high-level objects have scalar work of their own */
        add_parameters(replay, line, parameters, step->work->pc);
    copy->at = start + (copy->write ? NPU_RATE_WRITE_LATENCY : NPU_RATE_READ_LATENCY);
    line->key = start;
}

/* A piece of the copy comes; true: it was the last one. */
static bool go_on_copying(struct replay *replay, struct timeline *line, const struct npu_step *step)
{
    struct copy *copy = &line->copy;
    const int lane = step->lane;
    const double latency = copy->write ? NPU_RATE_WRITE_LATENCY : NPU_RATE_READ_LATENCY;
    copy->at = npu_traffic_take(replay->traffic, copy->at, copy->least, replay->rivals, &copy->each);
    line->key = copy->at - latency;
    if (--copy->left)
        return false;
    if (copy->write && (double)copy->bytes > NPU_RATE_WRITE_BUFFER)
        copy->at += ((double)copy->bytes - NPU_RATE_WRITE_BUFFER) / NPU_RATE_WRITE * NPU_RATE_WRITE_LOADED *
                    npu_traffic_load(replay->traffic, copy->at);
    line->free[lane] = larger(copy->start + NPU_RATE_COPY_ISSUE, copy->at - latency);
    if (copy->each.hbm && !copy->write)
        copy->at += NPU_RATE_LOADED_LATENCY * npu_traffic_load(replay->traffic, copy->at);
    line->done[lane] = larger(line->done[lane], copy->at);
    note_run(line, lane);
    count_place(replay, line, step->work->pc, lane, copy->at - larger(copy->start, line->covered[lane]));
    count_busy(line, lane, lane == NPU_LANE_FIX && line->asked ? line->asked : copy->start, copy->at);
    line->asked = 0;
    if (replay->watched)
        tell(replay, line,
             &(struct npu_timeline_slice){.lane = lane,
                                          .name = api_of(step),
                                          .of = step->work->of,
                                          .start = copy->start,
                                          .end = copy->at,
                                          .bytes = copy->bytes,
                                          .elements = step->work->count,
                                          .pc = step->work->pc});
    return true;
}

static void run_local(struct replay *replay, struct timeline *line, const struct npu_step *step, double start)
{
    const int lane = step->lane;
    double cycles = step->work->cycles;
    const bool chained = line->runs[lane] && start <= line->done[lane] + 1;
    if (lane == NPU_LANE_M)
        cycles += chained ? NPU_RATE_M_NEXT : NPU_RATE_M_START;
    else if (lane == NPU_LANE_MTE1)
        cycles += chained ? NPU_RATE_MTE1_NEXT : NPU_RATE_MTE1_START;
    line->free[lane] = line->done[lane] = start + cycles;
    line->work[lane] += step->work->cycles;
    note_run(line, lane);
    count_place(replay, line, step->work->pc, lane, cycles);
    count_busy(line, lane, start, start + cycles);
    if (replay->watched)
        tell(replay, line,
             &(struct npu_timeline_slice){.lane = lane,
                                          .name = api_of(step),
                                          .of = step->work->of,
                                          .start = start,
                                          .end = start + cycles,
                                          .elements = step->work->count,
                                          .pc = step->work->pc});
}

/* `lanes`: both, as a step's head has them. */
enum { FLAGS = 1 << 2 * NPU_TO_BIT };
static struct flag *flag_between(const struct timeline *line, unsigned lanes, unsigned event)
{
    return &line->flags[lanes * NPU_EVENTS + event];
}

static struct flag *flag_at(const struct timeline *line, const struct npu_step *step)
{
    return flag_between(line, step->lane | (unsigned)step->to << NPU_TO_BIT, step->event);
}

/* When what a lane was given is done; of the scalar unit: now. */
static double done(const struct timeline *line, int lane)
{
    return lane == NPU_LANE_S ? line->scalar : line->done[lane];
}

static void wait_until(struct timeline *line, int lane, double time)
{
    if (lane == NPU_LANE_S)
        line->scalar = larger(line->scalar, time);
    else
        line->free[lane] = larger(line->free[lane], time);
}

static void set_flag(struct timeline *line, struct flag *flag, int lane)
{
    flag->at[flag->sets++ % PENDING] = larger(done(line, lane), line->scalar);
}

/* When a wait for the flag is over. */
static double goes_at(struct flag *flag)
{
    return flag->at[flag->waits++ % PENDING] + NPU_RATE_FLAG;
}

/* An arrow from where a flag was set to where a pipe has waited for it: two marks of one flow. */
static void tell_arrow(struct replay *replay, const struct timeline *line, const struct npu_step *step, double set,
                       double waited)
{
    char text[2][64];
    struct npu_timeline_slice marks[] = {{.lane = step->lane, .start = set, .end = set},
                                         {.lane = step->to, .start = waited, .end = waited}};
    static const char *const verbs[] = {"SetFlag", "WaitFlag"};
    const int64_t flow = ++replay->flows;
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], "%s %s_%s %d", verbs[i], lane_name(step->lane), lane_name(step->to),
                 step->event);
        marks[i].name = text[i];
        marks[i].pc = step->work->pc;
        marks[i].flow = flow;
        tell(replay, line, &marks[i]);
    }
}

static void wait_for_flag(struct replay *replay, struct timeline *line, const struct npu_step *step)
{
    struct flag *flag = flag_at(line, step);
    const double set = flag->at[flag->waits % PENDING], go = goes_at(flag);
    const double before = step->to == NPU_LANE_S ? line->scalar : line->free[step->to];
    line->given[step->to]++;
    wait_until(line, step->to, go);
    if (go > before && replay->watched)
        tell_arrow(replay, line, step, set, go);
}

/* For one instruction of another lane. That Fixpipe waits for the newest product but one means that it shares L0C with the newest
 * (UnitFlag): it has begun, and figures of its pipe count it as at work. */
static void wait_for_run(struct timeline *line, const struct npu_step *step)
{
    if (step->lane == NPU_LANE_M && step->to == NPU_LANE_FIX)
        line->asked = larger(line->scalar, line->free[NPU_LANE_FIX]);
    const uint32_t run = step->count * NPU_LANES + (uint32_t)step->lane;
    if (run == line->since[step->to]) {
        line->newest[step->to] = 0;
        return;
    }
    line->since[step->to] = run;
    line->given[step->to]++;
    if (step->count && line->runs[step->lane] - step->count < RECENT)
        wait_until(line, step->to, line->recent[step->lane * RECENT + (step->count - 1) % RECENT]);
}

static void join(struct timeline *line)
{
    double last = line->scalar;
    for (int lane = 0; lane < NPU_LANES; lane++)
        last = larger(last, line->done[lane]);
    line->scalar = last;
    for (int lane = 0; lane < NPU_LANES; lane++)
        line->free[lane] = larger(line->free[lane], last);
}

/* Cores. */
static void halt(struct timeline *line, enum halt why, uint32_t by)
{
    line->halt = why;
    line->halted_by = by;
}

static bool is_halted(const struct timeline *line, enum halt why, uint32_t by)
{
    return line->halt == why && line->halted_by == by;
}

static void wake(struct replay *replay, struct timeline *line)
{
    line->halt = GOES_ON;
    replay->woken = true;
}

static bool can_go_on(const struct timeline *line)
{
    return line->halt == GOES_ON;
}

static bool takes_part(const struct npu_core *setter, const struct npu_core *other, int mode)
{
    return other->aic == setter->aic && (mode == 0 || other->group == setter->group);
}

static bool may_wait(const struct npu_core *setter, const struct npu_core *other, int mode)
{
    return mode == 2 ? other->group == setter->group && other->aic != setter->aic : takes_part(setter, other, mode);
}

/* The first core of those that set this flag together: the round is kept with it. */
static int scope_of(const struct replay *replay, const struct npu_core *core, int mode)
{
    int first = 0;
    while (!takes_part(core, replay->lines[first].core, mode))
        first++;
    return first;
}

static void cross_set(struct replay *replay, struct timeline *line, const struct npu_step *step)
{
    const int mode = step->to, flag = step->event % CROSS_FLAGS;
    const uint32_t number = line->sets[mode][flag]++;
    struct round *round =
        &replay->open[((size_t)scope_of(replay, line->core, mode) * CROSS_MODES + (size_t)mode) * CROSS_FLAGS * ROUNDS +
                      (size_t)flag * ROUNDS + number % ROUNDS];
    int needed = 0;
    for (int i = 0; i < replay->count; i++)
        needed += takes_part(line->core, replay->lines[i].core, mode);
    round->at = round->set ? larger(round->at, done(line, step->lane)) : larger(done(line, step->lane), line->scalar);
    if (++round->set < needed)
        return;
    round->set = 0;
    for (int i = 0; i < replay->count; i++) {
        struct timeline *other = &replay->lines[i];
        if (!may_wait(line->core, other->core, mode))
            continue;
        other->rounds[flag].at[other->rounds[flag].done++ % ROUNDS] = round->at + NPU_RATE_CROSS_FLAG;
        if (is_halted(other, FLAG, (uint32_t)flag))
            wake(replay, other);
    }
}

/* False: the core has to wait until others have set the flag. */
static bool cross_wait(struct timeline *line, const struct npu_step *step)
{
    struct rounds *rounds = &line->rounds[step->event % CROSS_FLAGS];
    if (rounds->waited == rounds->done) {
        halt(line, FLAG, step->event % CROSS_FLAGS);
        return false;
    }
    line->scalar = larger(line->scalar, rounds->at[rounds->waited++ % ROUNDS]);
    return true;
}

static void tell_others(struct replay *replay, const struct timeline *line, int lane, uint32_t number)
{
    replay->told[number] = larger(done(line, lane), line->scalar) + NPU_RATE_TOLD;
    for (int i = 0; i < replay->count; i++) {
        struct timeline *other = &replay->lines[i];
        if (is_halted(other, TOLD, number))
            wake(replay, other);
    }
}

/* Places that others have seen, when the core has come to them. */
static void pass_marks(struct replay *replay, struct timeline *line)
{
    for (; line->mark < line->no_more && line->mark->place.steps <= line->steps; line->mark++)
        tell_others(replay, line, line->mark->place.lane, line->mark->number);
}

/* False: the core has to wait until it is told. */
static bool hear(struct replay *replay, struct timeline *line, const struct npu_step *step)
{
    const double start = line->scalar;
    if (!replay->told[step->count]) {
        halt(line, TOLD, step->count);
        return false;
    }
    line->scalar = larger(start, replay->told[step->count]);
    if (!line->core->aic || line->scalar <= start)
        return true;
    /* An AIC polls for messages: figures of its scalar unit count that as work. */
    count_busy(line, NPU_LANE_S, start, line->scalar);
    if (replay->watched)
        tell(replay, line,
             &(struct npu_timeline_slice){
                 .lane = NPU_LANE_S, .name = "poll", .start = start, .end = line->scalar, .pc = step->work->pc});
    return true;
}

static void meet(struct replay *replay, struct timeline *line, const struct npu_step *step)
{
    struct meeting *meeting = &replay->meetings[step->count];
    join(line);
    meeting->at = larger(meeting->at, line->scalar);
    halt(line, MEETING, step->count);
    if (++meeting->arrived < step->event)
        return;
    for (int i = 0; i < replay->count; i++) {
        struct timeline *other = &replay->lines[i];
        if (!is_halted(other, MEETING, step->count))
            continue;
        wake(replay, other);
        other->scalar = meeting->at + NPU_RATE_MEETING;
        join(other);
    }
}

/* Does one step; false: it is not over: the core waits for others, or a copy is under way. */
static bool do_step(struct replay *replay, struct timeline *line)
{
    const struct npu_step *step = &line->step;
    double start;
    switch ((enum npu_step_kind)step->kind) {
    case NPU_STEP_RUN:
        line->scalar += 1;
        start = give(line, step->lane, step->work);
        if (step->transfers) {
            begin_copy(replay, line, step, start);
            return false;
        }
        run_local(replay, line, step, start);
        break;
    case NPU_STEP_SINCE:
        wait_for_run(line, step);
        break;
    case NPU_STEP_SET:
        set_flag(line, flag_at(line, step), step->lane);
        break;
    case NPU_STEP_WAIT:
        wait_for_flag(replay, line, step);
        break;
    case NPU_STEP_EDGE:
        line->given[step->to]++;
        wait_until(line, step->to, done(line, step->lane));
        break;
    case NPU_STEP_BARRIER:
        wait_until(line, step->to, done(line, step->lane) + NPU_RATE_BARRIER);
        break;
    case NPU_STEP_JOIN:
        join(line);
        break;
    case NPU_STEP_CROSS_SET:
        cross_set(replay, line, step);
        break;
    case NPU_STEP_CROSS_WAIT:
        if (!cross_wait(line, step))
            return false;
        break;
    case NPU_STEP_MEET:
        meet(replay, line, step);
        break;
    case NPU_STEP_TELL:
        tell_others(replay, line, step->lane, step->count);
        break;
    case NPU_STEP_HEAR:
        if (!hear(replay, line, step))
            return false;
        break;
    }
    return true;
}

/* Flags between the lanes of a core are no other core's business and need no turn, which they would ask for more often than all
 * else. What is told or added up in the order of turns does: slices, and work of the scalar unit. */
static void pass_flags(struct replay *replay, struct timeline *line)
{
    struct npu_step_head head;
    if (replay->watched)
        return;
    while (npu_tape_flag(&line->reader, &head)) {
        const int lane = head.lanes % (1 << NPU_TO_BIT), to = head.lanes >> NPU_TO_BIT;
        struct flag *flag = flag_between(line, head.lanes, head.event);
        if (head.kind_and_has == NPU_STEP_SET) {
            set_flag(line, flag, lane);
        } else {
            line->given[to]++;
            wait_until(line, to, goes_at(flag));
        }
    }
}

/* Goes on with a core until a copy begins at `until` or later, or the core waits for others, or ends. */
static void go_on(struct replay *replay, struct timeline *line, double until)
{
    while (!line->ended && can_go_on(line) && line->key < until) {
        struct npu_step *step = &line->step;
        const unsigned kind = step->kind;
        bool over;
        if (line->copy.left) {
            over = go_on_copying(replay, line, step);
        } else {
            add_scalar(replay, line, step->scalar, step->work->pc);
            step->scalar = 0;
            if (line->mark < line->no_more && npu_tape_is_place((enum npu_step_kind)kind))
                pass_marks(replay, line);
            over = do_step(replay, line);
        }
        if (!over)
            continue;
        line->steps += npu_tape_is_place((enum npu_step_kind)kind);
        if (kind == NPU_STEP_RUN || kind == NPU_STEP_SET || kind == NPU_STEP_WAIT)
            pass_flags(replay, line);
        line->ended = !npu_tape_step(&line->reader, step);
    }
    if (!line->ended || !can_go_on(line))
        return;
    add_scalar(replay, line, line->core->recorded.scalar, 0);
    pass_marks(replay, line);
    join(line);
    halt(line, OVER, 0);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void list_turns(struct replay *replay)
{
    replay->turns.count = 0;
    for (int i = 0; i < replay->count; i++)
        if (can_go_on(&replay->lines[i]))
            npu_turns_add(&replay->turns, i, replay->lines[i].key);
}

/* What the next core's turn looks at first: the caches that are near do not hold all cores. */
static void fetch_early(const struct timeline *line)
{
    __builtin_prefetch(line->reader.at);
    __builtin_prefetch(&line->reader);
    __builtin_prefetch(&line->step);
    for (size_t at = offsetof(struct timeline, start); at < offsetof(struct timeline, flags); at += 64)
        __builtin_prefetch((const char *)line + at);
}

/* Cores go on by turns, each until it is a little further than the one behind it. */
static void take_turns(struct replay *replay)
{
    struct npu_turns *turns = &replay->turns;
    struct timeline *lines = replay->lines;
    list_turns(replay);
    while (turns->count) {
        struct timeline *line = &lines[turns->all[0].core];
        if (turns->count > 1)
            fetch_early(&lines[turns->all[1].core]);
        replay->rivals = npu_turns_before(turns, line->key + AHEAD);
        replay->woken = false;
        go_on(replay, line, turns->count > 1 ? turns->all[1].key + AHEAD : HUGE_VAL);
        if (replay->woken)
            list_turns(replay);
        else if (can_go_on(line))
            npu_turns_move_first(turns, line->key);
        else
            npu_turns_drop_first(turns);
    }
}

static int by_place(const void *left, const void *right)
{
    const struct npu_tape_mark *a = left, *b = right;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return (a->place.steps > b->place.steps) - (a->place.steps < b->place.steps);
}

/* The first of the sorted marks of this core or of one after it. */
static const struct npu_tape_mark *first_mark(const struct npu *npu, int core)
{
    size_t low = 0, high = npu->tape_mark_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (npu->tape_marks[middle].core < core)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? npu->tape_marks + low : npu->tape_marks;
}

/* A timeline for a core that begins at `start`, with the memory of a core of the wave before. */
static void replay_begin_line(const struct replay *replay, struct timeline *line, const struct npu_core *core,
                              double start)
{
    static const struct npu_work none;
    double *recent = line->recent;
    struct flag *flags = line->flags;
    memset(recent, 0, sizeof *recent * NPU_LANES * RECENT);
    memset(flags, 0, sizeof *flags * FLAGS * NPU_EVENTS);
    *line = (struct timeline){.core = core, .recent = recent, .flags = flags};
    line->start = line->scalar = line->key = start;
    for (int lane = 0; lane < NPU_LANES; lane++)
        line->free[lane] = line->done[lane] = line->covered[lane] = start;
    line->mark = first_mark(replay->npu, core->index);
    line->no_more = first_mark(replay->npu, core->index + 1);
    line->reader = npu_tape_read(&core->recorded);
    line->step.work = &none;
    line->ended = !npu_tape_step(&line->reader, &line->step);
}

/* What a core of the wave has come to. */
static void replay_add_core(struct replay *replay, const struct timeline *line)
{
    const int aic = line->core->aic;
    const uint32_t peak = line->core->recorded.ub_peak;
    struct npu_timing *timing = &replay->timing;
    struct npu_timing_cores *of = &timing->of[aic];
    const double spent = line->scalar - line->start;
    replay->cores[aic]++;
    replay->last = larger(replay->last, line->scalar);
    replay->over &= line->halt == OVER;
    of->mean += spent;
    of->longest = larger(of->longest, spent);
    for (int lane = 0; lane < NPU_LANES; lane++) {
        of->busy[lane] += line->busy[lane];
        replay->work[aic][lane] += line->work[lane];
        replay->instructions += line->runs[lane];
    }
    timing->ub_peak = peak > timing->ub_peak ? peak : timing->ub_peak;
}

/* The blocks of the wave that begins with this core, each of which begins where one of the wave before has ended. */
static void run_wave(struct replay *replay, int first, int count, double *ends)
{
    const struct npu *npu = replay->npu;
    const int per_block = npu->aic + npu->aiv;
    replay->count = count;
    for (int i = 0; i < count; i++)
        replay_begin_line(replay, &replay->lines[i], &npu->cores[first + i], ends[i / per_block]);
    take_turns(replay);
    for (int i = 0; i < count; i++) {
        double *end = &ends[i / per_block];
        *end = i % per_block ? larger(*end, replay->lines[i].scalar) : replay->lines[i].scalar;
        replay_add_core(replay, &replay->lines[i]);
    }
    qsort(ends, (size_t)(count / per_block), sizeof *ends, by_value);
}

/* From sums over the cores to means. */
static void sum_up_cores(struct replay *replay)
{
    const struct npu *npu = replay->npu;
    for (int aic = 0; aic < 2; aic++) {
        const int at_once = npu->wave_blocks * (aic ? npu->aic : npu->aiv);
        struct npu_timing_cores *of = &replay->timing.of[aic];
        of->cores = replay->cores[aic] < at_once ? replay->cores[aic] : at_once;
        for (int lane = 0; of->cores && lane < NPU_LANES; lane++)
            of->busy[lane] /= of->cores;
        of->mean /= of->cores ? of->cores : 1;
    }
}

/* No schedule is shorter than the work of a pipe of a core, or than what HBM and L2 can move. */
static void find_bound(struct replay *replay)
{
    struct npu_timing *timing = &replay->timing;
    const int waves = replay->npu->stats.waves ? replay->npu->stats.waves : 1;
    double bound = 0;
    timing->bound = NPU_BOUND_LAUNCH;
    for (int i = 0; i < replay->count && waves == 1; i++)
        for (int lane = 0; lane < NPU_LANES; lane++) {
            const struct timeline *line = &replay->lines[i];
            if (line->work[lane] <= bound)
                continue;
            bound = line->work[lane];
            timing->bound = NPU_BOUND_PIPE;
            timing->bound_lane = lane;
            timing->bound_aic = line->core->aic;
        }
    for (int aic = 0; aic < 2 && waves > 1; aic++)
        for (int lane = 0; lane < NPU_LANES; lane++) {
            const double work = replay->work[aic][lane] / (timing->of[aic].cores ? timing->of[aic].cores : 1);
            if (work <= bound)
                continue;
            bound = work;
            timing->bound = NPU_BOUND_PIPE;
            timing->bound_lane = lane;
            timing->bound_aic = aic;
        }
    const double hbm = replay->hbm_all / npu_traffic_hbm(replay->npu->config.soc);
    const double l2 = replay->l2_all / npu_traffic_l2(replay->npu->config.soc);
    if (hbm > bound || l2 > bound)
        timing->bound = hbm > l2 ? NPU_BOUND_HBM : NPU_BOUND_L2;
    bound = larger(bound, larger(hbm, l2));
    if (bound < timing->launch)
        timing->bound = NPU_BOUND_LAUNCH;
    timing->bound_cycles = bound + timing->launch;
}

static void find_slowest_place(struct replay *replay)
{
    struct npu_timing *timing = &replay->timing;
    const struct npu_timing_cores *of = &timing->of[timing->of[1].longest > timing->of[0].longest];
    int busiest = 0;
    for (int lane = 1; lane < NPU_LANES; lane++)
        busiest = of->busy[lane] > of->busy[busiest] ? lane : busiest;
    for (int i = 0; i < PLACES; i++) {
        const struct place *place = &replay->places[i];
        if (!place->pc || place->lane != busiest || place->cycles < timing->slowest_cycles ||
            (place->cycles == timing->slowest_cycles &&
             place->pc > timing->slowest_pc)) /* of equals the lowest address */
            continue;
        timing->slowest_cycles = place->cycles;
        timing->slowest_pc = place->pc;
    }
    timing->slowest_cycles /= of->cores ? of->cores : 1;
}

static double launch_cycles(const struct npu_soc *soc, int cores)
{
    return (NPU_RATE_LAUNCH_US + NPU_RATE_LAUNCH_CORE_US * (cores - 1)) * soc->mhz;
}

/* The launch that fills outputs before this one, on all AIVs: as fast as these and L2 take the bytes, and HBM what L2 has
 * no room for. */
static double fill_cycles(const struct npu_soc *soc, uint64_t bytes)
{
    const double beyond = bytes > soc->l2_bytes ? (double)(bytes - soc->l2_bytes) : 0;
    const double written = larger((double)bytes / (soc->aiv * NPU_RATE_WRITE), (double)bytes / npu_traffic_l2(soc));
    return bytes ? launch_cycles(soc, soc->aiv) + larger(written, beyond * NPU_RATE_HBM_WRITTEN / npu_traffic_hbm(soc))
                 : 0;
}

/* Returns true if the replay has done all that the launch did: it has reached the end of every tape, and its instructions and bytes are
 * those that the machine counted. A core that still waits did not wait in the launch, which ran in another order; the work after its
 * wait would cost nothing. */
static bool covers_launch(const struct replay *replay)
{
    const struct npu *npu = replay->npu;
    uint64_t issued = 0, in = 0, out = 0;
    for (int i = 0; i < npu->core_count; i++) {
        const struct npu_stats *stats = &npu->cores[i].stats;
        issued += stats->instructions;
        in += stats->bytes_in;
        out += stats->bytes_out;
    }
    return replay->over && replay->instructions == issued && replay->timing.read == in && replay->timing.written == out;
}

/* `lines`: cores of a whole wave. */
static void run_all(struct replay *replay, int lines)
{
    struct npu *npu = replay->npu;
    double *ends = zeros((size_t)npu->wave_blocks, sizeof *ends);
    for (int first = 0; first < npu->core_count; first += lines)
        run_wave(replay, first, npu->core_count - first < lines ? npu->core_count - first : lines, ends);
    free(ends);
    struct npu_timing *timing = &replay->timing;
    timing->mhz = npu->config.soc->mhz;
    sum_up_cores(replay);
    const int cores = timing->of[0].cores + timing->of[1].cores;
    timing->launch = launch_cycles(npu->config.soc, cores) + fill_cycles(npu->config.soc, npu->config.filled);
    timing->cycles = replay->last + timing->launch;
    find_bound(replay);
    find_slowest_place(replay);
    timing->known = covers_launch(replay);
}

void npu_replay(struct npu *npu)
{
    const int wave = npu->wave_blocks * (npu->aic + npu->aiv), lines = npu->core_count < wave ? npu->core_count : wave;
    if (npu->tape_cut) /* work that is not on the tapes would cost nothing */
        return;
    struct replay *replay = zeros(1, sizeof *replay);
    replay->npu = npu;
    replay->over = true;
    replay->watched = npu->config.slice != NULL;
    if (npu->tape_mark_count)
        qsort(npu->tape_marks, npu->tape_mark_count, sizeof *npu->tape_marks, by_place);
    replay->traffic = npu_traffic_create(npu->config.soc, npu->gm_low);
    replay->lines = zeros((size_t)lines, sizeof *replay->lines);
    replay->turns.all = zeros((size_t)lines, sizeof *replay->turns.all);
    replay->meetings = zeros((size_t)npu->tape_meetings + 1, sizeof *replay->meetings);
    replay->told = zeros((size_t)npu->tape_told + 1, sizeof *replay->told);
    replay->open = zeros((size_t)lines * CROSS_MODES * CROSS_FLAGS * ROUNDS, sizeof *replay->open);
    for (int i = 0; i < lines; i++) {
        replay->lines[i].recent = zeros((size_t)NPU_LANES * RECENT, sizeof(double));
        replay->lines[i].flags = zeros_aligned((size_t)FLAGS * NPU_EVENTS, sizeof(struct flag));
    }
    run_all(replay, lines);
    npu->timing = replay->timing;
    for (int i = 0; i < lines; i++) {
        free(replay->lines[i].recent);
        free(replay->lines[i].flags);
    }
    free(replay->turns.all);
    free(replay->told);
    free(replay->meetings);
    free(replay->open);
    free(replay->lines);
    npu_traffic_destroy(replay->traffic);
    free(replay);
}
