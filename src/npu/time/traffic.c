/* L2 and HBM.
 *
 * L2 keeps lines of 128 bytes; what it replaces is counted in segments of 4 KiB, the one that was not used for the longest time
 * first (asc-devkit's counters: 128 bytes a request; a set larger than L2 that is read in a circle is never found in it). A
 * line that was written is written to HBM when its segment goes.
 *
 * Bandwidth is a calendar: of each stretch of WINDOW cycles it says how many bytes are taken. A transfer takes what is free from
 * its start on, at most at its own rate. So transfers need not be looked at in the order of their starts, and those at the
 * same time share. */
#include "npu/time/traffic.h"

#include "npu/time/rates.h"

#include <stdlib.h>
#include <string.h>

#define FULL 0.98 /* of a window */
enum {
    LINE = 128,
    SEGMENT = 4096,
    LINES = SEGMENT / LINE,
    WINDOW = 256,
    RIVALS = 128 /* more cores than a chip has */
};

struct segment {
    uint64_t number;      /* from the first of the machine's memory on */
    uint32_t held, dirty; /* lines */
    uint32_t next;        /* of its bucket: 1 + index; 0: none */
    uint32_t older, newer;
};
_Static_assert(sizeof(struct segment) == 32, "a segment is in one line of the host's cache");

struct calendar {
    float *taken; /* bytes, by window */
    size_t windows;
    double rate;          /* bytes per cycle */
    double window, full;  /* bytes of a whole window, and from which on its last bytes come at its end */
    double whole;         /* windows per byte */
    double times[RIVALS]; /* cycles per byte, of each of so many */
};

/* Reads of one segment at about the same time. */
enum { CROWDS_BITS = 12, CROWDS = 1 << CROWDS_BITS, MOMENT = 4096 /* cycles */ };
struct crowd {
    uint64_t number;
    double since;
    uint64_t blocks; /* by number, of 64 */
};

struct npu_traffic {
    uint64_t first; /* number of the first segment */
    struct crowd crowds[CROWDS];
    struct segment *segments;
    uint32_t count, room;
    uint32_t *buckets, bucket_count;
    uint32_t oldest, newest; /* 1 + index */
    struct calendar l2, hbm;
};

static void *zeros(size_t count, size_t each)
{
    void *memory = calloc(count ? count : 1, each);
    if (!memory)
        abort();
    return memory;
}

double npu_traffic_hbm(const struct npu_soc *soc)
{
    const double whole = 64.0 * (1 << 30); /* bytes */
    return NPU_RATE_HBM_GBS * 1e3 / soc->mhz * ((double)soc->hbm_bytes / whole);
}

double npu_traffic_l2(const struct npu_soc *soc)
{
    return NPU_RATE_L2_AIC * soc->aic;
}

static void open_calendar(struct calendar *calendar, double rate)
{
    calendar->rate = rate;
    calendar->window = rate * WINDOW;
    calendar->full = calendar->window * FULL;
    calendar->whole = 1 / calendar->window;
    for (int rivals = 1; rivals < RIVALS; rivals++)
        calendar->times[rivals] = rivals / rate;
}

struct npu_traffic *npu_traffic_create(const struct npu_soc *soc, uint64_t low)
{
    struct npu_traffic *traffic = zeros(1, sizeof *traffic);
    traffic->first = low / SEGMENT;
    traffic->room = (uint32_t)(soc->l2_bytes / SEGMENT);
    traffic->segments =
        aligned_alloc(2 * sizeof *traffic->segments, (traffic->room + 1) / 2 * 2 * sizeof *traffic->segments);
    if (!traffic->segments)
        abort();
    traffic->bucket_count = 1;
    while (traffic->bucket_count < traffic->room)
        traffic->bucket_count *= 2;
    traffic->buckets = zeros(traffic->bucket_count, sizeof *traffic->buckets);
    open_calendar(&traffic->l2, npu_traffic_l2(soc));
    open_calendar(&traffic->hbm, npu_traffic_hbm(soc));
    return traffic;
}

void npu_traffic_destroy(struct npu_traffic *traffic)
{
    free(traffic->segments);
    free(traffic->buckets);
    free(traffic->l2.taken);
    free(traffic->hbm.taken);
    free(traffic);
}

/* L2. */
static uint64_t hash_of(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t number_of(const struct npu_traffic *traffic, uint64_t addr)
{
    return addr / SEGMENT - traffic->first;
}

static uint32_t *bucket_of(struct npu_traffic *traffic, uint64_t number)
{
    return &traffic->buckets[(hash_of(number) >> 32) & (traffic->bucket_count - 1)];
}

static void unlink_age(struct npu_traffic *traffic, uint32_t index)
{
    struct segment *segment = &traffic->segments[index - 1];
    *(segment->older ? &traffic->segments[segment->older - 1].newer : &traffic->oldest) = segment->newer;
    *(segment->newer ? &traffic->segments[segment->newer - 1].older : &traffic->newest) = segment->older;
}

static void link_newest(struct npu_traffic *traffic, uint32_t index)
{
    struct segment *segment = &traffic->segments[index - 1];
    segment->older = traffic->newest;
    segment->newer = 0;
    *(traffic->newest ? &traffic->segments[traffic->newest - 1].newer : &traffic->oldest) = index;
    traffic->newest = index;
}

/* Room for one more segment; what was written of the one that goes is to be written to HBM. */
static uint32_t take_segment(struct npu_traffic *traffic, int64_t *evicted)
{
    if (traffic->count < traffic->room)
        return ++traffic->count;
    uint32_t index = traffic->oldest;
    struct segment *segment = &traffic->segments[index - 1];
    *evicted += (int64_t)__builtin_popcount(segment->dirty) * LINE;
    uint32_t *link = bucket_of(traffic, segment->number);
    while (*link != index)
        link = &traffic->segments[*link - 1].next;
    *link = segment->next;
    unlink_age(traffic, index);
    return index;
}

/* The segment, the newest from now on; NULL: it is not there. */
static struct segment *find_segment(struct npu_traffic *traffic, uint64_t number)
{
    uint32_t index = *bucket_of(traffic, number);
    while (index && traffic->segments[index - 1].number != number)
        index = traffic->segments[index - 1].next;
    if (!index)
        return NULL;
    if (index != traffic->newest) {
        unlink_age(traffic, index);
        link_newest(traffic, index);
    }
    return &traffic->segments[index - 1];
}

static struct segment *add_segment(struct npu_traffic *traffic, uint64_t number, int64_t *evicted)
{
    uint32_t index = take_segment(traffic, evicted);
    uint32_t *bucket = bucket_of(traffic, number);
    traffic->segments[index - 1] = (struct segment){.number = number, .next = *bucket};
    *bucket = index;
    link_newest(traffic, index);
    return &traffic->segments[index - 1];
}

static uint32_t lines_between(uint32_t first, uint32_t last)
{
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

/* The segment that the core touched a little while ago: it is new enough where it is. */
static struct segment *recent_segment(struct npu_traffic *traffic, uint64_t number, uint32_t index)
{
    return index && traffic->segments[index - 1].number == number ? &traffic->segments[index - 1] : NULL;
}

/* A run of contiguous bytes. */
static void look_up_run(struct npu_traffic *traffic, uint64_t addr, uint64_t bytes, const struct npu_transfer *transfer,
                        uint32_t *recent, struct npu_looked_up *found)
{
    const bool write = transfer->write, past = transfer->past_l2;
    for (uint64_t end = addr + bytes; addr < end;) {
        const uint64_t stop = (addr / SEGMENT + 1) * SEGMENT < end ? (addr / SEGMENT + 1) * SEGMENT : end;
        const uint64_t number = number_of(traffic, addr);
        uint32_t lines = lines_between((uint32_t)(addr % SEGMENT / LINE), (uint32_t)((stop - 1) % SEGMENT / LINE));
        uint32_t *known = &recent[hash_of(number) >> (64 - NPU_TRAFFIC_RECENT_BITS)];
        struct segment *segment = recent_segment(traffic, number, *known);
        segment = segment ? segment : find_segment(traffic, number);
        const int64_t part = (int64_t)(stop - addr);
        uint32_t missing = segment ? lines & ~segment->held : lines;
        const int64_t fetched = (int64_t)__builtin_popcount(missing) * LINE;
        addr = stop;
        if (past && !segment) {
            *(write ? &found->hbm_written : &found->hbm_read) += part;
            continue;
        }
        if (!segment)
            segment = add_segment(traffic, number, &found->hbm_written);
        segment->held |= lines;
        segment->dirty |= write ? lines : 0;
        *known = (uint32_t)(segment - traffic->segments) + 1;
        found->l2 += part;
        found->hbm_read += write ? 0 : fetched < part ? fetched : part;
    }
}

struct npu_looked_up npu_traffic_look_up(struct npu_traffic *traffic, const struct npu_transfer *transfer,
                                         uint32_t recent[NPU_TRAFFIC_RECENT])
{
    struct npu_looked_up found = {0};
    if (transfer->count == 1 && transfer->count2 == 1) {
        look_up_run(traffic, transfer->addr, transfer->bytes, transfer, recent, &found);
        return found;
    }
    for (uint32_t group = 0; group < transfer->count2; group++) {
        const uint64_t addr = transfer->addr + (uint64_t)(transfer->stride2 * group);
        const bool one = transfer->stride == (int64_t)transfer->bytes || transfer->count == 1;
        for (uint32_t run = 0; run < (one ? 1 : transfer->count); run++)
            look_up_run(traffic, addr + (uint64_t)(transfer->stride * run),
                        (uint64_t)transfer->bytes * (one ? transfer->count : 1), transfer, recent, &found);
    }
    return found;
}

int npu_traffic_readers(struct npu_traffic *traffic, uint64_t addr, int block, double now)
{
    const uint64_t number = number_of(traffic, addr);
    struct crowd *crowd = &traffic->crowds[hash_of(number) >> (64 - CROWDS_BITS)];
    if (crowd->number != number || now > crowd->since + MOMENT)
        *crowd = (struct crowd){.number = number, .since = now};
    crowd->blocks |= UINT64_C(1) << block % 64;
    return __builtin_popcountll(crowd->blocks);
}

/* The calendar. */
double npu_traffic_load(const struct npu_traffic *traffic, double time)
{
    const size_t window = (size_t)(int64_t)(time / WINDOW);
    return window < traffic->hbm.windows ? traffic->hbm.taken[window] * traffic->hbm.whole : 0;
}

static void add_windows(struct calendar *calendar, size_t window)
{
    size_t more = calendar->windows ? calendar->windows * 2 : 1024;
    more = window >= more ? window + 1024 : more;
    float *grown = realloc(calendar->taken, more * sizeof *grown);
    if (!grown)
        abort();
    memset(grown + calendar->windows, 0, (more - calendar->windows) * sizeof *grown);
    calendar->taken = grown;
    calendar->windows = more;
}

/* What needs more than is free of the window that it begins in, or more time than that has left. */
static __attribute__((noinline)) double take_more(struct calendar *calendar, double start, double needed, double bytes)
{
    const double own = bytes / needed;
    double at = start;
    for (size_t window = (size_t)(int64_t)(start / WINDOW);; window++) {
        if (window >= calendar->windows)
            add_windows(calendar, window);
        double end = (double)(int64_t)(window + 1) * WINDOW, free = calendar->window - calendar->taken[window];
        double can = own * (end - at);
        double now = can < free ? can : free;
        if (now >= bytes) {
            calendar->taken[window] += (float)bytes;
            const double finish = at + (at == start ? needed : bytes / own);
            if (calendar->taken[window] < calendar->full)
                return finish;
            const double full = calendar->taken[window] / calendar->rate + (double)(int64_t)window * WINDOW;
            return finish > full ? finish : full;
        }
        if (now > 0) {
            calendar->taken[window] += (float)now;
            bytes -= now;
        }
        at = end;
    }
}

static inline double take(struct calendar *calendar, double start, double least, int rivals, double bytes)
{
    const double shared = bytes * calendar->times[rivals < RIVALS ? rivals : RIVALS - 1];
    const double needed = shared > least ? shared : least; /* else its own rate bounds it */
    const int64_t window = (int64_t)(start / WINDOW);
    if (bytes <= 0)
        return start + least;
    if (window < (int64_t)calendar->windows && start + needed <= (double)(window + 1) * WINDOW) {
        const float taken = calendar->taken[window] + (float)bytes;
        if (taken < calendar->full) {
            calendar->taken[window] = taken;
            return start + needed;
        }
    }
    return take_more(calendar, start, needed, bytes);
}

double npu_traffic_take(struct npu_traffic *traffic, double start, double least, int rivals,
                        const struct npu_demand *demand)
{
    double from_hbm = take(&traffic->hbm, start, least, rivals, demand->hbm);
    double from_l2 = take(&traffic->l2, start, least, rivals, demand->l2);
    return from_hbm > from_l2 ? from_hbm : from_l2;
}
