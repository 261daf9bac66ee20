/* GroupNorm: mean and variance of each group of channels, then gamma and beta of each channel. A part of the groups at
 * a time, as the tiling says. dst = output, mean, variance; src = x, gamma, beta; scalar[0] = epsilon. A channel is hw
 * elements in whole 32-byte blocks; what pads it counts in the sum for the mean, so it has to be zero. Steps and
 * temporary space: asc-devkit, GroupNorm, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/report.h"

enum { CAST_NONE = 0, LANES = 64, EIGHT = 8 };

struct groups {
    struct npu_core *core;
    const struct npu_adv *call;
    const struct GroupNormTiling *t;
    bool half;
    float epsilon;
    uint32_t first, count;            /* groups of this part */
    struct npu_tensor a, b, c;        /* floats of the temporary space, or the source */
    struct npu_tensor mean, variance; /* float, of all groups */
};

/* One element of 64: dst, src0 and src1 are where lane 0 lies; a scalar is no tensor. */
static void one_lane(const struct groups *g, enum npu_op op, uint32_t lane, struct npu_tensor dst,
                     struct npu_tensor src0, struct npu_tensor src1, double value)
{
    struct npu_insn insn =
        ADV_INSN(op, MASK_BITS, AKGEN_FLOAT, .mask = {UINT64_C(1) << lane}, .repeat = 1, .dst_blk = 1, .src0_blk = 1,
                 .src1_blk = 1, .dst_rep = EIGHT, .src0_rep = EIGHT, .src1_rep = EIGHT, .dst = dst, .src0 = src0,
                 .src1 = src1, .scalar = adv_scalar(AKGEN_FLOAT, value));
    adv_issue(g->core, &insn);
}

static void whole_sums(const struct groups *g, struct npu_tensor dst, uint32_t apart, struct npu_tensor src,
                       uint32_t lanes, uint32_t repeats)
{
    for (uint32_t done = 0; done < repeats; done += NPU_MAX_REPEAT) {
        struct npu_insn insn =
            ADV_INSN(NPU_OP_WHOLE_REDUCE_SUM, MASK_LEN, AKGEN_FLOAT, .mask = {lanes}, .dst_rep = (uint16_t)apart,
                     .src0_blk = 1, .src0_rep = (uint16_t)(lanes / EIGHT));
        insn.repeat = repeats - done < NPU_MAX_REPEAT ? repeats - done : NPU_MAX_REPEAT;
        insn.dst = adv_behind(&dst, AKGEN_FLOAT, done * apart);
        insn.src0 = adv_behind(&src, AKGEN_FLOAT, done * lanes);
        adv_issue(g->core, &insn);
    }
}

/* The sums of the groups at src, times factor, to where the groups' numbers lie in `dst`. A small group is folded to
 * blocks with one sum each, and those to one. */
static void averages(const struct groups *g, const struct npu_tensor *dst, struct npu_tensor src,
                     struct npu_tensor scratch)
{
    uint32_t group = g->t->dhwAlignSize, lanes = group < LANES ? group : LANES;
    if (g->t->smallShape) {
        while (group % lanes)
            lanes -= EIGHT;
        adv_duplicate(g->core, scratch, 0, AKGEN_FLOAT, g->count * (group / lanes) * EIGHT);
        whole_sums(g, scratch, EIGHT, src, lanes, g->count * (group / lanes));
        whole_sums(g, adv_behind(dst, AKGEN_FLOAT, g->first), 1, scratch, group / lanes * EIGHT, g->count);
    }
    for (uint32_t i = 0; i < g->count && !g->t->smallShape; i++) {
        struct npu_insn sum = ADV_INSN(
            NPU_OP_REDUCE_SUM, COUNT, AKGEN_FLOAT, .count = group, .dst = adv_behind(dst, AKGEN_FLOAT, g->first + i),
            .src0 = adv_behind(&src, AKGEN_FLOAT, i * group), .aux = adv_behind(&scratch, AKGEN_FLOAT, i * group));
        adv_issue(g->core, &sum);
    }
    for (uint32_t i = g->first; i < g->first + g->count; i++) {
        struct npu_tensor none = {0}, window = adv_behind(dst, AKGEN_FLOAT, i / LANES * LANES);
        one_lane(g, NPU_OP_MULS, i % LANES, window, window, none, g->t->factor);
    }
}

/* to = x - mean, a channel at a time: its padding stays what it was in `to`. */
static void centre(const struct groups *g, struct npu_tensor to, struct npu_tensor x)
{
    const struct GroupNormTiling *t = g->t;
    adv_await_vector(g->core);
    for (uint32_t i = 0; i < g->count; i++) {
        double mean = -(double)adv_read_float(g->core, &g->mean, g->first + i);
        uint32_t at = i * t->dhwAlignSize;
        adv_rows_scalar(g->core, NPU_OP_ADDS, adv_nd(adv_behind(&to, AKGEN_FLOAT, at), AKGEN_FLOAT, t->hwAlignSize),
                        adv_nd(adv_behind(&x, AKGEN_FLOAT, at), AKGEN_FLOAT, t->hwAlignSize), mean, t->d, t->hw);
    }
}

/* y *= 1 / sqrt(variance + epsilon). Each group's root lies in a lane of `root` that the variance's place gives. */
static void scale(const struct groups *g, struct npu_tensor y, struct npu_tensor root, struct npu_tensor ones)
{
    uint32_t base = g->first / EIGHT * EIGHT;
    for (uint32_t i = g->first; i < g->first + g->count; i++) {
        uint32_t window = (i - base) / LANES * LANES, lane = (i - base) % LANES;
        struct npu_tensor none = {0}, r = adv_behind(&root, AKGEN_FLOAT, window),
                          one = adv_behind(&ones, AKGEN_FLOAT, window);
        one_lane(g, NPU_OP_ADDS, lane, r, adv_behind(&g->variance, AKGEN_FLOAT, base + window), none, g->epsilon);
        one_lane(g, NPU_OP_DUPLICATE, lane, one, none, none, 1);
        one_lane(g, NPU_OP_SQRT, lane, r, r, none, 0);
        one_lane(g, NPU_OP_DIV, lane, r, one, r, 0);
    }
    adv_await_vector(g->core);
    for (uint32_t i = 0; i < g->count; i++) {
        struct npu_tensor group = adv_behind(&y, AKGEN_FLOAT, i * g->t->dhwAlignSize);
        adv_scalar_op(g->core, NPU_OP_MULS, group, group, adv_read_float(g->core, &root, g->first - base + i),
                      AKGEN_FLOAT, g->t->dhwAlignSize);
    }
}

/* Every channel with its own number. */
static void by_channel(const struct groups *g, enum npu_op op, struct npu_tensor y, const struct npu_tensor *numbers)
{
    uint32_t first = g->first * g->t->d;
    for (uint32_t i = 0; i < g->count * g->t->d; i++) {
        struct npu_tensor channel = adv_behind(&y, AKGEN_FLOAT, i * g->t->hwAlignSize);
        adv_scalar_op(g->core, op, channel, channel, adv_read_float(g->core, numbers, (first + i) % g->t->c),
                      AKGEN_FLOAT, g->t->hw);
    }
}

static void part(const struct groups *g)
{
    struct npu_core *core = g->core;
    const struct npu_adv *call = g->call;
    uint32_t at = g->first * g->t->dhwAlignSize, count = g->count * g->t->dhwAlignSize;
    struct npu_tensor x = adv_behind(&call->src[0], call->type, at), out = adv_behind(&call->dst[0], call->type, at);
    struct npu_tensor y = g->half ? g->b : out, gamma = call->src[1], beta = call->src[2];
    if (g->half) {
        adv_cast(core, g->b, AKGEN_FLOAT, x, AKGEN_FLOAT16, CAST_NONE, count);
        x = g->b;
    }
    averages(g, &g->mean, x, g->half || g->t->smallShape ? g->c : out);
    if (!g->half)
        adv_duplicate(core, out, 0, AKGEN_FLOAT, count);
    centre(g, y, x);
    adv_binary(core, NPU_OP_MUL, g->c, y, y, AKGEN_FLOAT, count);
    averages(g, &g->variance, g->c, g->t->smallShape ? g->a : g->c);
    scale(g, y, g->a, g->half ? g->c : g->b);
    if (g->half) {
        adv_cast(core, g->a, AKGEN_FLOAT, gamma, AKGEN_FLOAT16, CAST_NONE, g->t->c);
        adv_cast(core, g->c, AKGEN_FLOAT, beta, AKGEN_FLOAT16, CAST_NONE, g->t->c);
        gamma = g->a;
        beta = g->c;
        adv_await_vector(core);
    }
    by_channel(g, NPU_OP_MULS, y, &gamma);
    by_channel(g, NPU_OP_ADDS, y, &beta);
    if (g->half)
        adv_cast(core, out, AKGEN_FLOAT16, y, AKGEN_FLOAT, CAST_NONE, count);
}

void adv_group_norm(struct npu_core *core, const struct npu_adv *call)
{
    const struct GroupNormTiling *t = call->tiling;
    bool half = call->type == AKGEN_FLOAT16, reuse = call->flags & NPU_ADV_REUSE_SOURCE && !half;
    uint32_t all = t->n * t->g, step = t->bsCurLength;
    if (!all || !step || !t->hw || t->hw > t->hwAlignSize || adv_bytes(call->type, t->hwAlignSize) % NPU_BLOCK ||
        t->d * t->g != t->c || t->dhwAlignSize != t->d * t->hwAlignSize || step * t->dhwAlignSize > t->oneTmpSize)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "GroupNorm has a tiling of %u x %u channels of %u elements in %u groups, %u groups at a time: the "
                 "host's tiling function makes one that works",
                 t->n, t->c, t->hw, t->g, step);
    struct groups g = {
        .core = core, .call = call, .t = t, .half = half, .epsilon = (float)adv_number(call->type, call->scalar[0])};
    uint32_t bytes = t->oneTmpSize * 4;
    struct npu_tensor first = adv_tmp(core, call, t->firstTmpStartPos * 4, bytes);
    struct npu_tensor second = adv_tmp(core, call, t->secondTmpStartPos * 4, bytes);
    g.b = reuse ? first : second;
    g.c = reuse ? second : adv_tmp(core, call, t->thirdTmpStartPos * 4, bytes);
    g.mean = half ? adv_tmp(core, call, t->meanTmpTensorPos * 4, all * 4) : call->dst[1];
    g.variance = half ? adv_tmp(core, call, t->varianceTmpTensorPos * 4, all * 4) : call->dst[2];
    adv_reset_mask(core);
    for (g.first = 0; g.first < all; g.first += step) {
        g.count = all - g.first < step ? all - g.first : step;
        g.a = reuse ? call->src[0] : first;
        part(&g);
    }
    for (int i = 1; half && i < 3; i++)
        adv_cast(core, call->dst[i], AKGEN_FLOAT16, i == 1 ? g.mean : g.variance, AKGEN_FLOAT, CAST_NONE, all);
    adv_reset_mask(core);
}
