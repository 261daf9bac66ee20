/* Log, Log2, Log10, and Exp with a chosen precision. */
#include "npu/adv/piece.h"

ADV_ROUTINE(log, .steps = STEPS(LN(DST, SRC)))

ADV_ROUTINE(log10, .steps = STEPS(LN(DST, SRC), MULS(DST, DST, 0.43429448190325176)))

ADV_ROUTINE(log2, .steps = STEPS(LN(DST, SRC), MULS(DST, DST, 1.4426950408889634)), .bytes_half = 4, .convert = true)

/* d = e^whole * (1 + f + f^2 / 2! + ... + f^n / n!) with x = whole + f; f holds x, n is scalar[0]. */
static void exp_taylor(const struct adv_piece *p, int d, int f, int power, int whole)
{
    RUN(p, ROUND(whole, f, FLOOR), SUB(f, f, whole), EXP(whole, whole), ADDS(power, f, 0), ADDS(d, f, 0),
        ADDS(d, d, 1));
    for (uint64_t i = 2; i <= p->call->scalar[0]; i++)
        RUN(p, MUL(power, f, power), MULS(power, power, 1.0F / (float)i), ADD(d, d, power));
    RUN(p, MUL(d, d, whole));
}
static void exp_steps(const struct adv_piece *p)
{
    int f = p->reuse ? SRC : T(2);
    RUN(p, ADDS(f, SRC, 0));
    exp_taylor(p, DST, f, T(0), T(1));
}
static void exp_of_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(0), SRC));
    exp_taylor(p, T(2), T(0), T(1), T(3));
    RUN(p, NARROW(DST, T(2)));
}
/* Level 0 is the instruction itself and needs no temporary space. */
void adv_exp(struct npu_core *core, const struct npu_adv *call)
{
    static const struct adv_plan floats = {
        .body = exp_steps, .bytes = 12, .bytes_reuse = 8, .block = NPU_BLOCK / sizeof(float)};
    static const struct adv_plan halves = {.half_body = exp_of_half, .bytes_half = 16, .block = NPU_BLOCK / 2};
    if (!call->scalar[0])
        adv_unary(core, NPU_OP_EXP, call->dst[0], call->src[0], call->type, call->count);
    else
        adv_run(core, call, call->type == AKGEN_FLOAT16 ? &halves : &floats);
}
