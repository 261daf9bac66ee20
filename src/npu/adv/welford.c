/* Welford's mean and variance: WelfordUpdate takes one more value for each element, WelfordFinalize joins the elements.
 * Steps and temporary space: asc-devkit, the APIs' documents and NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/report.h"

enum { CAST_NONE = 0, LANES = ADV_LANES32 };

/* One piece of WelfordUpdate; a, b: temporary space of n floats each (b is not used when x may be overwritten). */
static void update(struct npu_core *core, const struct npu_adv *call, struct npu_tensor x, struct npu_tensor a,
                   struct npu_tensor b, uint32_t first, uint32_t n, float reciprocal)
{
    bool overwrite = call->flags & NPU_ADV_REUSE_SOURCE && call->type == AKGEN_FLOAT;
    struct npu_tensor mean = adv_part(&call->src[0], AKGEN_FLOAT, first, n);
    struct npu_tensor variance = adv_part(&call->src[1], AKGEN_FLOAT, first, n);
    struct npu_tensor new_mean = adv_part(&call->dst[0], AKGEN_FLOAT, first, n);
    struct npu_tensor step = overwrite ? a : b;
    adv_binary(core, NPU_OP_SUB, a, x, mean, AKGEN_FLOAT, n);
    adv_scalar_op(core, NPU_OP_MULS, step, a, reciprocal, AKGEN_FLOAT, n);
    adv_binary(core, NPU_OP_ADD, new_mean, step, mean, AKGEN_FLOAT, n);
    adv_binary(core, NPU_OP_SUB, step, x, new_mean, AKGEN_FLOAT, n);
    if (overwrite) {
        adv_binary(core, NPU_OP_SUB, x, x, mean, AKGEN_FLOAT, n);
        adv_binary(core, NPU_OP_MUL, a, a, x, AKGEN_FLOAT, n);
    } else {
        adv_binary(core, NPU_OP_MUL, a, a, b, AKGEN_FLOAT, n);
    }
    adv_binary(core, NPU_OP_ADD, adv_part(&call->dst[1], AKGEN_FLOAT, first, n), a, variance, AKGEN_FLOAT, n);
}

/* shape = abLength, abComputeLength; count = 1 for isInplace: what is not computed is copied; scalar[0] = nRec. dst =
 * mean, variance; src = mean, variance, x of type `type`. */
void adv_welford_update(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t all = call->shape[0], computed = call->shape[1];
    bool half = call->type == AKGEN_FLOAT16;
    uint32_t buffers = half ? 3 : call->flags & NPU_ADV_REUSE_SOURCE ? 1 : 2;
    uint32_t step = call->tmp.bytes / (NPU_REPEAT * buffers) * LANES;
    if (!computed || computed > all || adv_bytes(call->type, all) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_shape), "para", "WelfordUpdate of %u of %u elements: whole 32-byte blocks, 1 at least",
                 computed, all);
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "WelfordUpdate needs %u bytes of temporary space, it has %u", NPU_REPEAT * buffers, call->tmp.bytes);
    adv_reset_mask(core);
    for (int i = 0; call->count && computed < all && i < 2; i++) {
        uint32_t rest = (all - computed + 7) / 8 * 8, from = all - rest;
        adv_rows_copy(core, adv_nd(adv_part(&call->dst[i], AKGEN_FLOAT, from, rest), AKGEN_FLOAT, 0),
                      adv_nd(adv_part(&call->src[i], AKGEN_FLOAT, from, rest), AKGEN_FLOAT, 0), 1, rest);
    }
    for (uint32_t first = 0; first < computed; first += step) {
        uint32_t n = computed - first < step ? computed - first : step;
        struct npu_tensor x = adv_part(&call->src[2], call->type, first, n);
        struct npu_tensor a = adv_tmp(core, call, 0, step * 4), b = a;
        if (buffers > 1)
            b = adv_tmp(core, call, step * 4, step * 4);
        if (half) {
            struct npu_tensor wide = adv_tmp(core, call, step * 8, step * 4);
            adv_cast(core, wide, AKGEN_FLOAT, x, AKGEN_FLOAT16, CAST_NONE, n);
            x = wide;
        }
        update(core, call, x, a, b, first, n, (float)adv_number(AKGEN_FLOAT, call->scalar[0]));
    }
}

/* WelfordFinalize: dst = mean, variance (8 floats each); src = means, variances, counts (or none). shape = abLength,
 * rnLength, headCount, headCountLength, tailCount, tailCountLength; scalar = abRec, rRec. */

struct finalize {
    const struct npu_adv *call;
    struct npu_tensor sums[2]; /* 64 partial sums of the mean, and of the variance */
    struct npu_tensor a, b;
    uint32_t step, kept; /* kept: partial sums so far */
};

/* x times how often each element counts. */
static void weigh(struct npu_core *core, const struct finalize *f, struct npu_tensor x, struct npu_tensor spare,
                  uint32_t first, uint32_t n)
{
    const struct npu_adv *call = f->call;
    const uint32_t *shape = call->shape;
    if (call->src[2].addr) {
        adv_cast(core, spare, AKGEN_FLOAT, adv_part(&call->src[2], AKGEN_INT32, first, n), AKGEN_INT32, CAST_NONE, n);
        adv_binary(core, NPU_OP_MUL, x, x, spare, AKGEN_FLOAT, n);
        return;
    }
    adv_scalar_op(core, NPU_OP_MULS, x, x, shape[4], AKGEN_FLOAT, n);
    uint32_t head = first >= shape[3] ? 0 : shape[3] - first < n ? shape[3] - first : n;
    if (head)
        adv_scalar_op(core, NPU_OP_MULS, x, x, (float)shape[2] / (float)shape[4], AKGEN_FLOAT, head);
}

/* One more partial sum; 64 of them become one. */
static void keep_sum(struct npu_core *core, struct finalize *f, int which, struct npu_tensor x, uint32_t n)
{
    struct adv_rows row = adv_nd(x, AKGEN_FLOAT, 0), all = adv_nd(f->sums[which], AKGEN_FLOAT, 0);
    uint32_t width = adv_fold(core, row, 1, n);
    adv_row_sums(core, adv_part(&f->sums[which], AKGEN_FLOAT, f->kept++, 1), row, 1, width);
    if (f->kept < LANES)
        return;
    adv_row_sums(core, f->sums[which], all, 1, LANES);
    f->kept = 1;
}

static void mean_piece(struct npu_core *core, struct finalize *f, bool tail, uint32_t first, uint32_t n)
{
    const struct npu_adv *call = f->call;
    struct npu_tensor means = adv_part(&call->src[0], AKGEN_FLOAT, first, n);
    adv_scalar_op(core, NPU_OP_MULS, f->a, means, (float)adv_number(AKGEN_FLOAT, call->scalar[tail]), AKGEN_FLOAT, n);
    if (tail)
        weigh(core, f, f->a, f->b, first, n);
    keep_sum(core, f, 0, f->a, n);
}

static void variance_piece(struct npu_core *core, struct finalize *f, bool tail, uint32_t first, uint32_t n, float mean)
{
    const struct npu_adv *call = f->call;
    struct npu_tensor means = adv_part(&call->src[0], AKGEN_FLOAT, first, n);
    adv_scalar_op(core, NPU_OP_ADDS, f->a, means, -mean, AKGEN_FLOAT, n);
    adv_binary(core, NPU_OP_MUL, f->a, f->a, f->a, AKGEN_FLOAT, n);
    if (tail)
        weigh(core, f, f->a, f->b, first, n);
    else
        adv_scalar_op(core, NPU_OP_MULS, f->a, f->a, call->shape[1], AKGEN_FLOAT, n);
    adv_binary(core, NPU_OP_ADD, f->a, f->a, adv_part(&call->src[1], AKGEN_FLOAT, first, n), AKGEN_FLOAT, n);
    adv_scalar_op(core, NPU_OP_MULS, f->a, f->a, (float)adv_number(AKGEN_FLOAT, call->scalar[1]), AKGEN_FLOAT, n);
    keep_sum(core, f, 1, f->a, n);
}

/* The result in element 0 of the block, zeros behind it. */
static void finish(struct npu_core *core, const struct finalize *f, int which)
{
    enum { ALL_BUT_FIRST = 0xfe };
    struct npu_tensor dst = f->call->dst[which];
    adv_scalar_op(core, NPU_OP_ADDS, dst, f->sums[which], 0, AKGEN_FLOAT, 1);
    struct npu_insn insn = ADV_INSN(NPU_OP_DUPLICATE, MASK_BITS, AKGEN_FLOAT, .mask = {ALL_BUT_FIRST}, .repeat = 1,
                                    .dst_blk = 1, .dst_rep = 8);
    insn.dst = dst;
    adv_issue(core, &insn);
    adv_reset_mask(core);
}

void adv_welford_finalize(struct npu_core *core, const struct npu_adv *call)
{
    enum { SUMS = 2 * LANES, BUFFERS = 2 };
    uint32_t all = call->shape[0], words = call->tmp.bytes / 4;
    struct finalize f = {.call = call, .step = words < SUMS ? 0 : (words - SUMS) / (BUFFERS * LANES) * LANES};
    bool tail = call->src[2].addr || (call->shape[4] && call->shape[5]);
    if (!f.step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "WelfordFinalize needs 1024 bytes of temporary space, it has %u", call->tmp.bytes);
    if (!all || all % 8 || (!call->src[2].addr && call->shape[3] + call->shape[5] != all))
        npu_trap(
            core, FAULT(adv_shape), "para",
            "WelfordFinalize of %u elements, %u in the head and %u in the tail: whole 32-byte blocks, and head and "
            "tail are all of them",
            all, call->shape[3], call->shape[5]);
    f.sums[0] = adv_tmp(core, call, 0, LANES * 4);
    f.sums[1] = adv_tmp(core, call, LANES * 4, LANES * 4);
    f.a = adv_tmp(core, call, SUMS * 4, f.step * 4);
    f.b = adv_tmp(core, call, SUMS * 4 + f.step * 4, f.step * 4);
    adv_reset_mask(core);
    for (uint32_t first = 0; first < all; first += f.step)
        mean_piece(core, &f, tail, first, all - first < f.step ? all - first : f.step);
    adv_row_sums(core, f.sums[0], adv_nd(f.sums[0], AKGEN_FLOAT, 0), 1, f.kept);
    adv_await_vector(core);
    float mean = adv_read_float(core, &f.sums[0], 0);
    f.kept = 0;
    for (uint32_t first = 0; first < all; first += f.step)
        variance_piece(core, &f, tail, first, all - first < f.step ? all - first : f.step, mean);
    adv_row_sums(core, f.sums[1], adv_nd(f.sums[1], AKGEN_FLOAT, 0), 1, f.kept);
    finish(core, &f, 0);
    finish(core, &f, 1);
}
