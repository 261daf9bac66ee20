/* Abs Exp Ln Sqrt Rsqrt Reciprocal Relu Not: one tensor.
 *
 * Exp and Ln of float are the C library's (glibc: below 1 ulp, as the chip's). Of half they are computed in double and
 * rounded once. Reciprocal and Rsqrt are estimates, as on the chip: below. */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <math.h>
#include <string.h>

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

/* Estimates. The instruction looks at the first bits of the significand alone, takes the middle of the values that begin
 * with them, and gives its reciprocal (root) rounded to nine significant bits: a table of 256 entries in hardware, as
 * FRECPE and FRSQRTE of Arm are. This reproduces every result of Reciprocal and Rsqrt that a document prints
 * (docs/machine.md, "Numbers"). Zeros, infinities and NaN give what "附录/Memory矢量计算接口边界值汇总" lists.
 *
 * In `type`, which has `fraction` bits behind the leading 1 and holds argument and result as normal numbers: float is
 * enough for half, double for float. Rounding never meets a tie, since no reciprocal (root) of a middle ends there. */
enum { RECIPROCAL_BITS = 8, RSQRT_BITS = 7, RESULT_BITS = 8 }; /* behind the leading 1 */
#define ESTIMATES(type, word, fraction)                                                                                \
    static inline bool is_ordinary_##type(word bits) /* neither zero nor infinite nor NaN */                           \
    {                                                                                                                  \
        word magnitude = bits & ~(word)0 >> 1, infinity = ((word)~0 >> 1) >> (fraction) << (fraction);                 \
        return magnitude - 1 < infinity - 1;                                                                           \
    }                                                                                                                  \
    static inline type middle_##type(type a, int kept)                                                                 \
    {                                                                                                                  \
        word bits, unit = (word)1 << ((fraction) - kept);                                                              \
        memcpy(&bits, &a, sizeof bits);                                                                                \
        bits = is_ordinary_##type(bits) ? (bits & -unit) | unit / 2 : bits;                                            \
        memcpy(&a, &bits, sizeof bits);                                                                                \
        return a;                                                                                                      \
    }                                                                                                                  \
    static inline type rounded_##type(type a)                                                                          \
    {                                                                                                                  \
        word bits, unit = (word)1 << ((fraction) - RESULT_BITS);                                                       \
        memcpy(&bits, &a, sizeof bits);                                                                                \
        bits = is_ordinary_##type(bits) ? (bits + unit / 2) & -unit : bits;                                            \
        memcpy(&a, &bits, sizeof bits);                                                                                \
        return a;                                                                                                      \
    }                                                                                                                  \
    static inline type reciprocal_##type(type a)                                                                       \
    {                                                                                                                  \
        return rounded_##type(1 / middle_##type(a, RECIPROCAL_BITS));                                                  \
    }                                                                                                                  \
    static inline type rsqrt_##type(type a)                                                                            \
    {                                                                                                                  \
        return rounded_##type(1 / __builtin_elementwise_sqrt(middle_##type(a, RSQRT_BITS)));                           \
    }
ESTIMATES(float, uint32_t, 23)
ESTIMATES(double, uint64_t, 52)

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
LOOP(rsqrt_f16, npu_f16, float, rsqrt_float(a))
LOOP(rsqrt_f32, npu_f32, double, rsqrt_double(a))
LOOP(reciprocal_f16, npu_f16, float, reciprocal_float(a))
LOOP(reciprocal_f32, npu_f32, double, reciprocal_double(a))
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
    if (insn->op == NPU_OP_RECIPROCAL || insn->op == NPU_OP_RSQRT)
        npu_note(core, false, FAULT(vec_estimate), NULL, 0,
                 "%s is an estimate whose relative error reaches 0.3 %%: %s, or Newton steps, are as exact as the type",
                 npu_isa[insn->op].name, insn->op == NPU_OP_RSQRT ? "Sqrt and Div" : "Div");
    return npu_check_vector(core, insn, regs, accesses, "src0", NULL);
}

void npu_exec_unary(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_vector_execute(core, insn, regs, loops[insn->op][insn->src_type], false);
}
