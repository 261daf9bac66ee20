/* Log, Log2, Log10, and Exp with a chosen precision. */
#include "npu/adv/piece.h"

static void log_steps(const struct adv_piece *p)
{
    step_ln(p, SLOT_DST, SLOT_SRC);
}
ADV_ROUTINE(log, .steps = log_steps)

static void log10_steps(const struct adv_piece *p)
{
    step_ln(p, SLOT_DST, SLOT_SRC);
    step_muls(p, SLOT_DST, SLOT_DST, 0.43429448190325176);
}
ADV_ROUTINE(log10, .steps = log10_steps)

static void log2_steps(const struct adv_piece *p)
{
    step_ln(p, SLOT_DST, SLOT_SRC);
    step_muls(p, SLOT_DST, SLOT_DST, 1.4426950408889634);
}
ADV_ROUTINE(log2, .steps = log2_steps, .bytes_half = 4, .convert = true)

/* d = e^whole * (1 + f + f^2 / 2! + ... + f^n / n!) with x = whole + f; f holds x, n is scalar[0]. */
static void exp_taylor(const struct adv_piece *p, int d, int f, int power, int whole)
{
    step_round(p, whole, f, ROUND_FLOOR);
    step_sub(p, f, f, whole);
    step_exp(p, whole, whole);
    step_adds(p, power, f, 0);
    step_adds(p, d, f, 0);
    step_adds(p, d, d, 1);
    for (uint64_t i = 2; i <= p->call->scalar[0]; i++) {
        step_mul(p, power, f, power);
        step_muls(p, power, power, 1.0F / (float)i);
        step_add(p, d, d, power);
    }
    step_mul(p, d, d, whole);
}
static void exp_steps(const struct adv_piece *p)
{
    int f = p->reuse ? SLOT_SRC : T(2);
    step_adds(p, f, SLOT_SRC, 0);
    exp_taylor(p, SLOT_DST, f, T(0), T(1));
}
static void exp_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC);
    exp_taylor(p, T(2), T(0), T(1), T(3));
    step_narrow(p, SLOT_DST, T(2));
}
/* Level 0 is the instruction itself and needs no temporary space. */
void adv_exp(struct npu_core *core, const struct npu_adv *call)
{
    static const struct adv_plan floats = {
        .steps = exp_steps, .bytes = 12, .bytes_reuse = 8, .block = NPU_BLOCK / sizeof(float)};
    static const struct adv_plan halves = {.half = exp_of_half, .bytes_half = 16, .block = NPU_BLOCK / 2};
    if (!call->scalar[0])
        adv_unary(core, NPU_OP_EXP, call->dst[0], call->src[0], call->type, call->count);
    else
        adv_run(core, call, call->type == AKGEN_FLOAT16 ? &halves : &floats);
}
