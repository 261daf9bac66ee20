/* Floor, Ceil, Round, Trunc, Frac, Fmod, Sign, ClampMax, ClampMin, Xor: what needs few steps. half is rounded as float,
 * since Cast has no rounding form for it. */
#include "npu/adv/piece.h"

static void floor_steps(const struct adv_piece *p)
{
    step_round(p, SLOT_DST, SLOT_SRC, ROUND_FLOOR);
}
ADV_ROUTINE(floor, .steps = floor_steps, .bytes_half = 4, .convert = true)

/* Ceil and Trunc cut floats into pieces as well, though they put nothing into the temporary space. */
static void ceil_steps(const struct adv_piece *p)
{
    step_round(p, SLOT_DST, SLOT_SRC, ROUND_CEIL);
}
ADV_ROUTINE(ceil, .steps = ceil_steps, .bytes = 4, .bytes_half = 4, .convert = true)

static void trunc_steps(const struct adv_piece *p)
{
    step_round(p, SLOT_DST, SLOT_SRC, ROUND_TRUNC);
}
ADV_ROUTINE(trunc, .steps = trunc_steps, .bytes = 4, .bytes_half = 4, .convert = true)

/* To the nearest integer, ties to even. */
static void round_steps(const struct adv_piece *p)
{
    step_round(p, SLOT_DST, SLOT_SRC, ROUND_RINT);
}
ADV_ROUTINE(round, .steps = round_steps, .bytes_half = 4, .convert = true)

/* x - trunc(x) */
static void frac_steps(const struct adv_piece *p)
{
    step_round(p, SLOT_DST, SLOT_SRC, ROUND_TRUNC);
    step_sub(p, SLOT_DST, SLOT_SRC, SLOT_DST);
}
static void frac_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC);
    step_round(p, T(1), T(0), ROUND_TRUNC);
    step_sub(p, T(1), T(0), T(1));
    step_narrow(p, SLOT_DST, T(1));
}
ADV_ROUTINE(frac, .steps = frac_steps, .half = frac_of_half, .bytes_half = 8)

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
    step_widen(p, T(1), SLOT_SRC);
    step_widen(p, T(2), SLOT_SRC1);
    fmod_of_float(p->core, p->slot[T(0)], p->slot[T(1)], p->slot[T(2)], p->call, p->slot[T(3)], p->count);
    step_narrow(p, SLOT_DST, T(0));
}
void adv_fmod(struct npu_core *core, const struct npu_adv *call)
{
    static const struct adv_plan plan = {.half = fmod_of_half, .bytes_half = 16};
    if (call->type == AKGEN_FLOAT16)
        adv_run(core, call, &plan);
    else
        fmod_of_float(core, call->dst[0], call->src[0], call->src[1], call, call->tmp, call->count);
}

/* (x > 0 ? 1 : 0) + (x < 0 ? -1 : 0), as two selections of the zeros in dst where the opposite holds. */
static void sign_steps(const struct adv_piece *p)
{
    step_fill(p, SLOT_DST, 0);
    step_compare_slots(p, M(0), SLOT_SRC, COMPARE_LT, SLOT_DST);
    step_compare_slots(p, M(1), SLOT_SRC, COMPARE_GT, SLOT_DST);
    step_fill(p, T(0), 1); /* where CMPMASK takes the scalar from */
    step_select(p, T(1), M(0), SLOT_DST, 1);
    step_fill(p, T(0), -1);
    step_select(p, SLOT_DST, M(1), SLOT_DST, -1);
    step_add(p, SLOT_DST, T(1), SLOT_DST);
}
ADV_ROUTINE(sign, .steps = sign_steps, .bytes = 12, .bytes_half = 6, .masks = 2)

/* The bound is scalar[0]. */
static void clamp(struct npu_core *core, const struct npu_adv *call, enum npu_op op)
{
    struct npu_insn insn = ADV_INSN(op, COUNT, call->type, .count = call->count, .dst = call->dst[0],
                                    .src0 = call->src[0], .scalar = call->scalar[0]);
    adv_issue(core, &insn);
}
void adv_clamp_max(struct npu_core *core, const struct npu_adv *call)
{
    clamp(core, call, NPU_OP_MINS);
}
void adv_clamp_min(struct npu_core *core, const struct npu_adv *call)
{
    clamp(core, call, NPU_OP_MAXS);
}

/* (x | y) & ~(x & y) */
static void xor_steps(const struct adv_piece *p)
{
    step_binary(p, NPU_OP_AND, SLOT_DST, SLOT_SRC, SLOT_SRC1);
    step_binary(p, NPU_OP_OR, T(0), SLOT_SRC, SLOT_SRC1);
    step_unary(p, NPU_OP_NOT, SLOT_DST, SLOT_DST);
    step_binary(p, NPU_OP_AND, SLOT_DST, T(0), SLOT_DST);
}
ADV_ROUTINE(xor, .steps = xor_steps, .bytes = 2)
