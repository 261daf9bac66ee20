/* Order in GM, within one core: a few recent accesses per pair of pipes that can conflict, kept until the later pipe's
 * clock covers them. Most kernels stream, so a window holds two or three entries. Two pipes that only read never
 * meet. */
#include "npu/order/order_gm.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    int8_t consumer, producer;
    bool wrote; /* what the producer did; a pair with reads matters to the consumer's writes only */
} pairs[NPU_GM_PAIRS] = {
    [NPU_GM_MTE2_AFTER_MTE3_WRITE] = {NPU_LANE_MTE2, NPU_LANE_MTE3, true},
    [NPU_GM_MTE2_AFTER_S_WRITE] = {NPU_LANE_MTE2, NPU_LANE_S, true},
    [NPU_GM_MTE3_AFTER_MTE2_READ] = {NPU_LANE_MTE3, NPU_LANE_MTE2, false},
    [NPU_GM_MTE3_AFTER_MTE3_WRITE] = {NPU_LANE_MTE3, NPU_LANE_MTE3, true},
    [NPU_GM_MTE3_AFTER_S_WRITE] = {NPU_LANE_MTE3, NPU_LANE_S, true},
    [NPU_GM_S_AFTER_MTE3_WRITE] = {NPU_LANE_S, NPU_LANE_MTE3, true},
    [NPU_GM_S_AFTER_MTE2_READ] = {NPU_LANE_S, NPU_LANE_MTE2, false},
    [NPU_GM_MTE2_AFTER_FIX_WRITE] = {NPU_LANE_MTE2, NPU_LANE_FIX, true},
    [NPU_GM_FIX_AFTER_MTE2_READ] = {NPU_LANE_FIX, NPU_LANE_MTE2, false},
    [NPU_GM_MTE3_AFTER_FIX_WRITE] = {NPU_LANE_MTE3, NPU_LANE_FIX, true},
    [NPU_GM_FIX_AFTER_MTE3_WRITE] = {NPU_LANE_FIX, NPU_LANE_MTE3, true},
    [NPU_GM_S_AFTER_FIX_WRITE] = {NPU_LANE_S, NPU_LANE_FIX, true},
    [NPU_GM_FIX_AFTER_S_WRITE] = {NPU_LANE_FIX, NPU_LANE_S, true},
};

void npu_order_gm_begin(struct npu_order *order)
{
    order->gm_pairs = order->aic ? NPU_GM_PAIRS : NPU_GM_AIV_PAIRS;
    order->gm = calloc((size_t)order->gm_pairs, sizeof *order->gm);
    if (!order->gm)
        abort();
    for (int pair = 0; pair < order->gm_pairs; pair++) {
        order->gm_checks[pairs[pair].consumer][true] |= 1u << pair;
        order->gm_checks[pairs[pair].consumer][false] |= (uint32_t)pairs[pair].wrote << pair;
        order->gm_keeps[pairs[pair].producer][pairs[pair].wrote] |= 1u << pair;
    }
}

static struct npu_gm_run *entry(struct npu_gm_window *window, uint32_t i)
{
    return &window->runs[(window->first + i) % NPU_GM_RUNS];
}

/* Drops the entries that the consumer's clock covers. They leave in order of their newest instruction. The few that a
 * streaming kernel leaves move to the front again, so that the window stays in the processor's cache. */
static void prune(struct npu_gm_window *window, uint32_t known)
{
    enum { FEW = 4, FAR = 8 };
    while (window->count && entry(window, 0)->newest <= known) {
        window->first = (window->first + 1) % NPU_GM_RUNS;
        window->count--;
    }
    if (window->count > FEW || window->first < FAR || window->first + window->count > NPU_GM_RUNS)
        return;
    memcpy(window->runs, window->runs + window->first, window->count * sizeof *window->runs);
    window->first = 0;
}

/* True if some run of `b` has a byte of [low, high). */
static bool touches(const struct npu_gm_run *b, uint64_t low, uint64_t high)
{
    if (low >= b->high || high <= b->low)
        return false;
    if (b->count == 1)
        return true;
    /* The first run that ends after low. */
    uint64_t stride = (uint64_t)b->stride, i = 0;
    if (low >= b->low + b->bytes)
        i = (low - b->low - b->bytes) / stride + 1;
    return i < b->count && b->low + i * stride < high;
}

static bool overlap(const struct npu_gm_run *a, const struct npu_gm_run *b)
{
    if (a->low >= b->high || b->low >= a->high)
        return false;
    if (a->count == 1)
        return touches(b, a->low, a->high);
    if (b->count == 1)
        return touches(a, b->low, b->high);
    const struct npu_gm_run *few = a->count <= b->count ? a : b, *many = few == a ? b : a;
    for (uint32_t i = 0; i < few->count; i++) {
        uint64_t low = few->low + (uint64_t)few->stride * i;
        if (touches(many, low, low + few->bytes))
            return true;
    }
    return false;
}

/* Windows with the scalar unit on one side merge neighbours, because it seldom synchronises and touches few bytes at a
 * time. A flag set between two merged accesses may order only one of them: the entry is reported only if all of it is
 * unordered, which may miss a conflict and never invents one. */
static bool merge(struct npu_gm_window *window, const struct npu_gm_run *run)
{
    uint32_t reach = window->count < 4 ? window->count : 4;
    for (uint32_t i = 0; i < reach; i++) {
        struct npu_gm_run *last = entry(window, window->count - 1 - i);
        if (last->count != 1 || run->count != 1 || last->atomic != run->atomic || last->raw != run->raw ||
            run->low > last->high || run->high < last->low)
            continue;
        last->low = last->low < run->low ? last->low : run->low;
        last->high = last->high > run->high ? last->high : run->high;
        last->bytes = (uint32_t)(last->high - last->low);
        last->newest = run->newest;
        last->quiet = false;
        return true;
    }
    return false;
}

static void remember(struct npu_gm_window *window, const struct npu_gm_run *run, bool may_merge)
{
    if (!window->count) {
        window->low = run->low;
        window->high = run->high;
    }
    window->low = window->low < run->low ? window->low : run->low;
    window->high = window->high > run->high ? window->high : run->high;
    if (may_merge && merge(window, run))
        return;
    if (window->count == NPU_GM_RUNS) {
        window->first = (window->first + 1) % NPU_GM_RUNS;
        window->count--;
    }
    *entry(window, window->count++) = *run;
}

/* Compares one run with a window. True if it reported a conflict; an edge of auto-sync settles the window. */
static bool compare(struct npu_core *core, int pair, const struct npu_gm_run *run, bool write, bool edges,
                    const char *operand)
{
    struct npu_order *order = core->order;
    struct npu_gm_window *window = &order->gm[pair];
    int lane = pairs[pair].consumer, other = pairs[pair].producer;
    uint32_t known = order->clock[lane].at[other];
    prune(window, known);
    if (!window->count || run->low >= window->high || run->high <= window->low)
        return false;
    for (uint32_t i = window->count; i-- > 0;) {
        const struct npu_gm_run *earlier = entry(window, i);
        if (earlier->oldest <= known || (earlier->atomic && run->atomic) || !overlap(run, earlier))
            continue;
        if (edges && !earlier->raw && (lane == NPU_LANE_S || other == NPU_LANE_S)) {
            npu_order_auto_edge(core, other, lane);
            return false;
        }
        uint64_t low = run->low > earlier->low ? run->low : earlier->low;
        uint64_t high = run->high < earlier->high ? run->high : earlier->high;
        struct npu_conflict conflict = {
            lane, other, earlier->newest, write, pairs[pair].wrote, low, high, operand, earlier->atomic || run->atomic};
        if (!order->weigh) {
            npu_order_report(core, &conflict, true);
            return true;
        }
        npu_weigh_gm(core, &conflict, earlier->quiet);
    }
    return false;
}

static void one_group(struct npu_core *core, int lane, const struct npu_gm_run *run, bool write, bool edges,
                      const char *operand)
{
    bool conflict = false;
    for (uint32_t left = core->order->gm_checks[lane][write]; left && !conflict; left &= left - 1)
        conflict = compare(core, __builtin_ctz(left), run, write, edges, operand);
    for (uint32_t left = core->order->gm_keeps[lane][write]; left; left &= left - 1) {
        int pair = __builtin_ctz(left);
        remember(&core->order->gm[pair], run, lane == NPU_LANE_S || pairs[pair].consumer == NPU_LANE_S);
    }
}

void npu_order_gm_quiet(struct npu_order *order, int lane, uint32_t index)
{
    for (uint32_t left = order->gm_keeps[lane][true]; left; left &= left - 1) {
        struct npu_gm_window *window = &order->gm[__builtin_ctz(left)];
        for (uint32_t i = window->count; i > 0 && entry(window, i - 1)->newest == index; i--)
            entry(window, i - 1)->quiet = entry(window, i - 1)->oldest == index;
    }
}

void npu_order_gm(struct npu_core *core, int lane, const struct npu_access *access, bool edges)
{
    uint32_t index = core->order->last[lane];
    struct npu_gm_run run = {.bytes = access->bytes,
                             .count = access->count,
                             .stride = access->stride,
                             .oldest = index,
                             .newest = index,
                             .atomic = access->atomic,
                             .raw = access->flags & NPU_TENSOR_RAW};
    if (!run.bytes || !run.count)
        return;
    uint64_t start = access->addr;
    if (run.stride < 0) {
        start += (uint64_t)(run.stride * (int64_t)(run.count - 1));
        run.stride = -run.stride;
    }
    if (run.count > 1 && run.stride <= (int64_t)run.bytes) {
        run.bytes += (uint32_t)run.stride * (run.count - 1);
        run.count = 1;
    }
    for (uint32_t j = 0; j < access->count2; j++) {
        run.low = start + (uint64_t)(access->stride2 * j);
        run.high = run.low + run.bytes;
        if (run.count > 1)
            run.high += (uint64_t)run.stride * (run.count - 1);
        one_group(core, lane, &run, access->write, edges, access->operand);
    }
}
