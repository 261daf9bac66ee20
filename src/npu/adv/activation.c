/* Activation functions, element by element over as many elements at a time as the temporary space holds. */
#include "npu/adv/piece.h"

#include <string.h>

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
    if (p->call->flags & NPU_ADV_HIGH_PERFORMANCE) {
        step_reciprocal(p, b, b);
        step_mul(p, d, a, b);
    } else {
        step_div(p, d, a, b);
    }
}

static void run_gelu(struct npu_core *core, const struct npu_adv *call, adv_steps *steps, uint8_t slots)
{
    bool convert = call->flags & NPU_ADV_HIGH_PRECISION;
    struct adv_plan plan = {.steps = steps, .bytes = (uint8_t)(slots * 4)};
    plan.bytes_half = (uint8_t)(convert ? (slots + 1) * 4 : slots * 2);
    plan.convert = convert;
    adv_run(core, call, &plan);
}

/* x / (1 + exp(-y)) with y = 1.5957... * (x + 0.044715 * x^3), as x / (1 + exp(-|y|)) * exp(min(y, 0)), which cannot
 * overflow. */
static void gelu_steps(const struct adv_piece *p)
{
    step_mul(p, T(0), SLOT_SRC, SLOT_SRC);
    step_mul(p, T(1), SLOT_SRC, T(0));
    step_muls(p, T(0), T(1), 0.044715);
    step_add(p, T(1), SLOT_SRC, T(0));
    step_muls(p, T(0), T(1), 1.5957691216057308);
    step_mins(p, T(1), T(0), 0);
    step_exp(p, T(1), T(1));
    step_abs(p, T(0), T(0));
    step_muls(p, T(0), T(0), -1);
    step_exp(p, T(0), T(0));
    step_adds(p, T(0), T(0), 1);
    quotient(p, T(0), SLOT_SRC, T(0));
    step_mul(p, SLOT_DST, T(0), T(1));
}
void adv_gelu(struct npu_core *core, const struct npu_adv *call)
{
    run_gelu(core, call, gelu_steps, 2);
}

/* x / (1 + exp(-1.702 * x)) */
static void faster_gelu_steps(const struct adv_piece *p)
{
    step_muls(p, T(0), SLOT_SRC, -1.702);
    step_exp(p, T(0), T(0));
    step_adds(p, T(0), T(0), 1);
    quotient(p, SLOT_DST, SLOT_SRC, T(0));
}
void adv_faster_gelu(struct npu_core *core, const struct npu_adv *call)
{
    run_gelu(core, call, faster_gelu_steps, 1);
}

/* x * (1/2 + sign(x) * (1/2 - 0.1444 * (min(0.7071 * |x|, 1.769) - 1.769)^2)) */
static void faster_gelu_v2_steps(const struct adv_piece *p)
{
    step_muls(p, T(0), SLOT_SRC, 0.7071);
    step_abs(p, T(0), T(0));
    step_mins(p, T(0), T(0), 1.769);
    step_adds(p, T(0), T(0), -1.769);
    step_mul(p, T(0), T(0), T(0));
    step_muls(p, T(0), T(0), -0.1444);
    step_adds(p, T(0), T(0), 0.5);
    step_adds(p, T(1), SLOT_SRC, 0.000000000001);
    step_abs(p, T(2), T(1));
    quotient(p, T(1), T(1), T(2));
    step_mul(p, T(0), T(0), T(1));
    step_adds(p, T(0), T(0), 0.5);
    step_mul(p, SLOT_DST, SLOT_SRC, T(0));
}
void adv_faster_gelu_v2(struct npu_core *core, const struct npu_adv *call)
{
    run_gelu(core, call, faster_gelu_v2_steps, 3);
}

/* x / (1 + exp(-beta * x)). */
static void swish(const struct adv_piece *p, int d, int x, double minus_beta)
{
    step_muls(p, d, x, minus_beta);
    step_exp(p, d, d);
    step_adds(p, d, d, 1);
    step_div(p, d, x, d);
}

static void silu_steps(const struct adv_piece *p)
{
    swish(p, SLOT_DST, SLOT_SRC, -1);
}
ADV_ROUTINE(silu, .steps = silu_steps)

/* beta is scalar[0], of the tensors' type for Swish and float for SwiGLU. */
static double beta_of(const struct npu_adv *call, uint8_t type)
{
    float single;
    _Float16 half;
    memcpy(&single, &call->scalar[0], sizeof single);
    memcpy(&half, &call->scalar[0], sizeof half);
    return type == AKGEN_FLOAT ? (double)single : (double)half;
}
static void swish_steps(const struct adv_piece *p)
{
    swish(p, SLOT_DST, SLOT_SRC, -beta_of(p->call, p->type));
}
ADV_ROUTINE(swish, .steps = swish_steps)

/* Gated: src[0] * f(src[1]). */
static void swiglu_steps(const struct adv_piece *p)
{
    swish(p, SLOT_DST, SLOT_SRC1, -beta_of(p->call, AKGEN_FLOAT));
    step_mul(p, SLOT_DST, SLOT_SRC, SLOT_DST);
}
static void swiglu_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC1);
    swish(p, T(1), T(0), -beta_of(p->call, AKGEN_FLOAT));
    step_widen(p, T(2), SLOT_SRC);
    step_mul(p, T(1), T(2), T(1));
    step_narrow(p, SLOT_DST, T(1));
}
ADV_ROUTINE(swiglu, .steps = swiglu_steps, .half = swiglu_of_half, .bytes_half = 12, .block = 16)

/* d = x / (1 + exp(-0.0713... * (x^3 + 22.36... * x))) */
static void gate_of_geglu(const struct adv_piece *p, int d, int x)
{
    step_mul(p, d, x, x);
    step_adds(p, d, d, 2.2363860002236e1);
    step_mul(p, d, d, x);
    step_muls(p, d, d, -0.0713548162726);
    step_exp(p, d, d);
    step_adds(p, d, d, 1);
    step_div(p, d, x, d);
}
static void geglu_steps(const struct adv_piece *p)
{
    gate_of_geglu(p, SLOT_DST, SLOT_SRC1);
    step_mul(p, SLOT_DST, SLOT_SRC, SLOT_DST);
}
static void geglu_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC1);
    gate_of_geglu(p, T(1), T(0));
    step_widen(p, T(0), SLOT_SRC);
    step_mul(p, T(1), T(0), T(1));
    step_narrow(p, SLOT_DST, T(1));
}
ADV_ROUTINE(geglu, .steps = geglu_steps, .half = geglu_of_half, .bytes_half = 8, .block = 16)

static void reglu_steps(const struct adv_piece *p)
{
    step_maxs(p, SLOT_DST, SLOT_SRC1, 0);
    step_mul(p, SLOT_DST, SLOT_SRC, SLOT_DST);
}
static void reglu_of_half(const struct adv_piece *p)
{
    step_widen(p, T(0), SLOT_SRC);
    step_widen(p, T(1), SLOT_SRC1);
    step_maxs(p, T(2), T(1), 0);
    step_mul(p, T(2), T(0), T(2));
    step_narrow(p, SLOT_DST, T(2));
}
ADV_ROUTINE(reglu, .steps = reglu_steps, .half = reglu_of_half, .bytes_half = 12)
