/* Floor, Ceil, Round, Trunc, Frac, Fmod, Sign, ClampMax, ClampMin, Xor: what needs few steps. half is rounded as float,
 * since Cast has no rounding form for it. */
#include "npu/adv/piece.h"

ADV_ROUTINE(floor, .steps = STEPS(ROUND(DST, SRC, FLOOR)), .bytes_half = 4, .convert = true)

/* Ceil and Trunc cut floats into pieces as well, though they put nothing into the temporary space. */
ADV_ROUTINE(ceil, .steps = STEPS(ROUND(DST, SRC, CEIL)), .bytes = 4, .bytes_half = 4, .convert = true)

ADV_ROUTINE(trunc, .steps = STEPS(ROUND(DST, SRC, TRUNC)), .bytes = 4, .bytes_half = 4, .convert = true)

/* To the nearest integer, ties to even. */
ADV_ROUTINE(round, .steps = STEPS(ROUND(DST, SRC, RINT)), .bytes_half = 4, .convert = true)

/* x - trunc(x) */
ADV_ROUTINE(frac, .steps = STEPS(ROUND(DST, SRC, TRUNC), SUB(DST, SRC, DST)),
            .half = STEPS(WIDEN(T(0), SRC), ROUND(T(1), T(0), TRUNC), SUB(T(1), T(0), T(1)), NARROW(DST, T(1))),
            .bytes_half = 8)

/* x - trunc(x / y) * y. The temporary space of Trunc is what the rest leaves. */
static void fmod_of_float(struct npu_core *core, struct npu_tensor dst, struct npu_tensor x, struct npu_tensor y,
                          const struct npu_adv *call, struct npu_tensor tmp, uint32_t count)
{
    struct npu_adv trunc = *call;
    trunc.type = trunc.dst_type = AKGEN_FLOAT;
    trunc.count = count;
    trunc.dst[0] = trunc.src[0] = dst;
    trunc.tmp = tmp;
    adv_binary(core, NPU_OP_DIV, dst, x, y, AKGEN_FLOAT, count);
    adv_trunc(core, &trunc);
    adv_binary(core, NPU_OP_MUL, dst, dst, y, AKGEN_FLOAT, count);
    adv_binary(core, NPU_OP_SUB, dst, x, dst, AKGEN_FLOAT, count);
}
static void fmod_of_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(1), SRC), WIDEN(T(2), SRC1));
    fmod_of_float(p->core, p->slot[T(0)], p->slot[T(1)], p->slot[T(2)], p->call, p->slot[T(3)], p->count);
    RUN(p, NARROW(DST, T(0)));
}
void adv_fmod(struct npu_core *core, const struct npu_adv *call)
{
    static const struct adv_plan plan = {.half_body = fmod_of_half, .bytes_half = 16};
    if (call->type == AKGEN_FLOAT16)
        adv_run(core, call, &plan);
    else
        fmod_of_float(core, call->dst[0], call->src[0], call->src[1], call, call->tmp, call->count);
}

/* (x > 0 ? 1 : 0) + (x < 0 ? -1 : 0), as two selections of the zeros in dst where the opposite holds. */
ADV_ROUTINE(sign,
            .steps = STEPS(FILL(DST, 0), COMPARE_SLOTS(M(0), SRC, LT, DST), COMPARE_SLOTS(M(1), SRC, GT, DST),
                           FILL(T(0), 1) /* where CMPMASK takes the scalar from */, SELECT(T(1), M(0), DST, 1),
                           FILL(T(0), -1), SELECT(DST, M(1), DST, -1), ADD(DST, T(1), DST)),
            .bytes = 12, .bytes_half = 6, .masks = 2)

/* The bound is scalar[0]. */
static void clamp(struct npu_core *core, const struct npu_adv *call, enum npu_op op)
{
    struct npu_insn insn = ADV_INSN(op, COUNT, call->type, .count = call->count, .dst = call->dst[0],
                                    .src0 = call->src[0], .scalar = call->scalar[0]);
    adv_issue(core, &insn);
}
ADV_VARIANT(clamp_max, clamp, NPU_OP_MINS)
void adv_clamp_min(struct npu_core *core, const struct npu_adv *call)
{
    clamp(core, call, NPU_OP_MAXS);
}

/* (x | y) & ~(x & y) */
ADV_ROUTINE(xor, .steps = STEPS(AND(DST, SRC, SRC1), OR(T(0), SRC, SRC1), NOT(DST, DST), AND(DST, T(0), DST)),
            .bytes = 2)
