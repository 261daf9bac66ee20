/* Activation functions, element by element over as many elements at a time as the temporary space holds. */
#include "npu/adv/piece.h"

/* 1 / (1 + exp(-x)). The temporary space holds the ones that are divided. Steps: asc-devkit, Sigmoid. */
void adv_sigmoid(struct npu_core *core, const struct npu_adv *call)
{
    uint8_t type = call->type;
    uint32_t step = adv_split(core, call, type, 1);
    for (uint32_t first = 0; first < call->count; first += step) {
        uint32_t count = call->count - first < step ? call->count - first : step;
        struct npu_tensor dst = adv_part(&call->dst[0], type, first, count);
        struct npu_tensor src = adv_part(&call->src[0], type, first, count);
        struct npu_tensor ones = adv_tmp(core, call, 0, adv_bytes(type, count));
        adv_scalar_op(core, NPU_OP_MULS, dst, src, -1, type, count);
        adv_unary(core, NPU_OP_EXP, dst, dst, type, count);
        adv_scalar_op(core, NPU_OP_ADDS, dst, dst, 1, type, count);
        adv_duplicate(core, ones, 1, type, count);
        adv_binary(core, NPU_OP_DIV, dst, ones, dst, type, count);
    }
}

/* The Gelu family: NPU_ADV_HIGH_PRECISION computes half in float, NPU_ADV_HIGH_PERFORMANCE divides by a reciprocal. */
/* d = a / b; b is overwritten. */
static void quotient(const struct adv_piece *p, int d, int a, int b)
{
    if (p->call->flags & NPU_ADV_HIGH_PERFORMANCE)
        RUN(p, RECIPROCAL(b, b), MUL(d, a, b));
    else
        RUN(p, DIV(d, a, b));
}

static void run_gelu(struct npu_core *core, const struct npu_adv *call, adv_body *body, uint8_t slots)
{
    bool convert = call->flags & NPU_ADV_HIGH_PRECISION;
    struct adv_plan plan = {.body = body, .bytes = (uint8_t)(slots * 4)};
    plan.bytes_half = (uint8_t)(convert ? (slots + 1) * 4 : slots * 2);
    plan.convert = convert;
    adv_run(core, call, &plan);
}

/* x / (1 + exp(-y)) with y = 1.5957... * (x + 0.044715 * x^3), as x / (1 + exp(-|y|)) * exp(min(y, 0)), which cannot
 * overflow. */
static void gelu_steps(const struct adv_piece *p)
{
    RUN(p, MUL(T(0), SRC, SRC), MUL(T(1), SRC, T(0)), MULS(T(0), T(1), 0.044715), ADD(T(1), SRC, T(0)),
        MULS(T(0), T(1), 1.5957691216057308), MINS(T(1), T(0), 0), EXP(T(1), T(1)), ABS(T(0), T(0)),
        MULS(T(0), T(0), -1), EXP(T(0), T(0)), ADDS(T(0), T(0), 1));
    quotient(p, T(0), SRC, T(0));
    RUN(p, MUL(DST, T(0), T(1)));
}
ADV_VARIANT(gelu, run_gelu, gelu_steps, 2)

/* x / (1 + exp(-1.702 * x)) */
static void faster_gelu_steps(const struct adv_piece *p)
{
    RUN(p, MULS(T(0), SRC, -1.702), EXP(T(0), T(0)), ADDS(T(0), T(0), 1));
    quotient(p, DST, SRC, T(0));
}
ADV_VARIANT(faster_gelu, run_gelu, faster_gelu_steps, 1)

/* x * (1/2 + sign(x) * (1/2 - 0.1444 * (min(0.7071 * |x|, 1.769) - 1.769)^2)) */
static void faster_gelu_v2_steps(const struct adv_piece *p)
{
    RUN(p, MULS(T(0), SRC, 0.7071), ABS(T(0), T(0)), MINS(T(0), T(0), 1.769), ADDS(T(0), T(0), -1.769),
        MUL(T(0), T(0), T(0)), MULS(T(0), T(0), -0.1444), ADDS(T(0), T(0), 0.5), ADDS(T(1), SRC, 0.000000000001),
        ABS(T(2), T(1)));
    quotient(p, T(1), T(1), T(2));
    RUN(p, MUL(T(0), T(0), T(1)), ADDS(T(0), T(0), 0.5), MUL(DST, SRC, T(0)));
}
ADV_VARIANT(faster_gelu_v2, run_gelu, faster_gelu_v2_steps, 3)

/* x / (1 + exp(-beta * x)). */
#define SWISH(d, x, minus_beta) MULS(d, x, minus_beta), EXP(d, d), ADDS(d, d, 1), DIV(d, x, d)
ADV_ROUTINE(silu, .steps = STEPS(SWISH(DST, SRC, -1)))

/* beta is scalar[0], of the tensors' type for Swish and float for SwiGLU. */
static void swish_steps(const struct adv_piece *p)
{
    RUN(p, SWISH(DST, SRC, -adv_number(p->type, p->call->scalar[0])));
}
ADV_ROUTINE(swish, .body = swish_steps)

/* Gated: src[0] * f(src[1]). */
static void swiglu_steps(const struct adv_piece *p)
{
    RUN(p, SWISH(DST, SRC1, -adv_number(AKGEN_FLOAT, p->call->scalar[0])), MUL(DST, SRC, DST));
}
static void swiglu_of_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(0), SRC1), SWISH(T(1), T(0), -adv_number(AKGEN_FLOAT, p->call->scalar[0])), WIDEN(T(2), SRC),
        MUL(T(1), T(2), T(1)), NARROW(DST, T(1)));
}
ADV_ROUTINE(swiglu, .body = swiglu_steps, .half_body = swiglu_of_half, .bytes_half = 12, .block = 16)

/* d = x / (1 + exp(-0.0713... * (x^3 + 22.36... * x))) */
#define GATE_OF_GEGLU(d, x)                                                                                            \
    MUL(d, x, x), ADDS(d, d, 2.2363860002236e1), MUL(d, d, x), MULS(d, d, -0.0713548162726), EXP(d, d), ADDS(d, d, 1), \
        DIV(d, x, d)
ADV_ROUTINE(geglu, .steps = STEPS(GATE_OF_GEGLU(DST, SRC1), MUL(DST, SRC, DST)),
            .half = STEPS(WIDEN(T(0), SRC1), GATE_OF_GEGLU(T(1), T(0)), WIDEN(T(0), SRC), MUL(T(1), T(0), T(1)),
                          NARROW(DST, T(1))),
            .bytes_half = 8, .block = 16)

ADV_ROUTINE(reglu, .steps = STEPS(MAXS(DST, SRC1, 0), MUL(DST, SRC, DST)),
            .half = STEPS(WIDEN(T(0), SRC), WIDEN(T(1), SRC1), MAXS(T(2), T(1), 0), MUL(T(2), T(0), T(2)),
                          NARROW(DST, T(2))),
            .bytes_half = 12)
