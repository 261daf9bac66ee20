/* Abs Exp Ln Sqrt Rsqrt Reciprocal Relu Not: one tensor.
 *
 * Exp and Ln of float are the C library's (glibc: below 1 ulp, as the chip's). Of half they are computed in double and
 * rounded once. Rsqrt and Reciprocal are approximations on the chip whose error the documentation does not state
 * exactly; here they are correctly rounded (docs/machine.md, "numbers"). */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"

#include <math.h>

#define LOOP(name, type, wide, expression)                                                                             \
    static void name(const struct npu_run *run, uint64_t scalar)                                                       \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        type *dst = (type *)run->dst;                                                                                  \
        const type *src = (const type *)run->src0;                                                                     \
        for (uint32_t i = 0; i < run->n; i++) {                                                                        \
            wide a = (wide)src[i];                                                                                     \
            dst[i] = (type)(expression);                                                                               \
        }                                                                                                              \
    }

/* The sign bit is cleared, of a NaN as well. */
LOOP(abs_f16, npu_u16, uint16_t, a & 0x7fff)
LOOP(abs_f32, npu_u32, uint32_t, a & 0x7fffffff)
LOOP(exp_f16, npu_f16, double, float_round_odd(exp(a)))
LOOP(exp_f32, npu_f32, float, expf(a))
LOOP(ln_f16, npu_f16, double, float_round_odd(log(a)))
LOOP(ln_f32, npu_f32, float, logf(a))
/* __builtin_elementwise_sqrt sets no errno, so that the loop vectorises. */
LOOP(sqrt_f16, npu_f16, float, __builtin_elementwise_sqrt(a))
LOOP(sqrt_f32, npu_f32, float, __builtin_elementwise_sqrt(a))
LOOP(rsqrt_f16, npu_f16, double, float_round_odd(1.0 / __builtin_elementwise_sqrt(a)))
LOOP(rsqrt_f32, npu_f32, double, 1.0 / __builtin_elementwise_sqrt(a))
LOOP(reciprocal_f16, npu_f16, float, 1.0f / a)
LOOP(reciprocal_f32, npu_f32, float, 1.0f / a)
/* A NaN stays; -0 becomes +0. */
LOOP(relu_f16, npu_f16, float, a <= 0 ? 0.0f : a)
LOOP(relu_f32, npu_f32, float, a <= 0 ? 0.0f : a)
LOOP(relu_s32, npu_s32, int32_t, a < 0 ? 0 : a)
LOOP(not_b16, npu_u16, uint16_t, ~a)

#define ROW(id, name) [NPU_OP_##id] = {[AKGEN_FLOAT16] = name##_f16, [AKGEN_FLOAT] = name##_f32}
static npu_loop *const loops[NPU_OPS][AKGEN_DTYPE_CODES] = {
    ROW(ABS, abs),
    ROW(EXP, exp),
    ROW(LN, ln),
    ROW(SQRT, sqrt),
    ROW(RSQRT, rsqrt),
    ROW(RECIPROCAL, reciprocal),
    [NPU_OP_RELU] = {[AKGEN_FLOAT16] = relu_f16, [AKGEN_FLOAT] = relu_f32, [AKGEN_INT32] = relu_s32},
    [NPU_OP_NOT] = {[AKGEN_INT16] = not_b16, [AKGEN_UINT16] = not_b16},
};

int npu_check_unary(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                    struct npu_access *accesses)
{
    return npu_check_vector(core, insn, regs, accesses, "src0", NULL);
}

void npu_exec_unary(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_vector_execute(core, insn, regs, loops[insn->op][insn->src_type], false);
}
