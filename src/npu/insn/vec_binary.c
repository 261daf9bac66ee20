/* Add Sub Mul Div Max Min And Or: two tensors of one type.
 *
 * half is computed in float and rounded once: float has more than twice half's digits, so + - * / come out correctly
 * rounded (Figueroa, "When is double rounding innocuous?"). Integers wrap around: the CTRL bit that would saturate them
 * is off by default (asc-devkit, SetCtrlSpr). docs/machine.md, "numbers", has what is assumed about NaN. */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"

/* One loop per operation and type: `wide` is the type it is computed in. */
#define LOOP(name, type, wide, expression)                                                                             \
    static void name(const struct npu_run *run, uint64_t scalar)                                                       \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        type *dst = (type *)run->dst;                                                                                  \
        const type *src0 = (const type *)run->src0, *src1 = (const type *)run->src1;                                   \
        for (uint32_t i = 0; i < run->n; i++) {                                                                        \
            wide a = (wide)src0[i], b = (wide)src1[i];                                                                 \
            dst[i] = (type)(expression);                                                                               \
        }                                                                                                              \
    }
#define FLOAT_LOOPS(name, expression)                                                                                  \
    LOOP(name##_f16, npu_f16, float, expression) LOOP(name##_f32, npu_f32, float, expression)
/* Unsigned arithmetic wraps without undefined behaviour; the product of two 16-bit values fits 32 bits. */
#define WRAPPING_LOOPS(name, expression)                                                                               \
    LOOP(name##_s16, npu_u16, uint32_t, expression) LOOP(name##_s32, npu_u32, uint32_t, expression)
#define SIGNED_LOOPS(name, expression)                                                                                 \
    LOOP(name##_s16, npu_s16, int16_t, expression) LOOP(name##_s32, npu_s32, int32_t, expression)

FLOAT_LOOPS(add, a + b)
WRAPPING_LOOPS(add, a + b)
FLOAT_LOOPS(sub, a - b)
WRAPPING_LOOPS(sub, a - b)
FLOAT_LOOPS(mul, a *b)
WRAPPING_LOOPS(mul, a *b)
FLOAT_LOOPS(div, a / b)
/* A NaN operand wins; +0 is larger than -0. */
FLOAT_LOOPS(max, a != a ? a : b != b ? b : a > b ? a : b > a ? b : a == 0 ? a + b : a)
SIGNED_LOOPS(max, a > b ? a : b)
FLOAT_LOOPS(min, a != a ? a : b != b ? b : a < b ? a : b < a ? b : a == 0 ? -(-a - b) : a)
SIGNED_LOOPS(min, a < b ? a : b)
LOOP(and_b16, npu_u16, uint16_t, a &b)
LOOP(or_b16, npu_u16, uint16_t, a | b)

#define ROW(id, name)                                                                                                  \
    [NPU_OP_##id] = {[AKGEN_FLOAT16] = name##_f16,                                                                     \
                     [AKGEN_FLOAT] = name##_f32,                                                                       \
                     [AKGEN_INT16] = name##_s16,                                                                       \
                     [AKGEN_INT32] = name##_s32}
static npu_loop *const loops[NPU_OPS][AKGEN_DTYPE_CODES] = {
    ROW(ADD, add),
    ROW(SUB, sub),
    ROW(MUL, mul),
    [NPU_OP_DIV] = {[AKGEN_FLOAT16] = div_f16, [AKGEN_FLOAT] = div_f32},
    ROW(MAX, max),
    ROW(MIN, min),
    [NPU_OP_AND] = {[AKGEN_INT16] = and_b16, [AKGEN_UINT16] = and_b16},
    [NPU_OP_OR] = {[AKGEN_INT16] = or_b16, [AKGEN_UINT16] = or_b16},
};

int npu_check_binary(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    return npu_check_vector(core, insn, regs, accesses, "src0", "src1");
}

void npu_exec_binary(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_vector_execute(core, insn, regs, loops[insn->op][insn->src_type], false);
}
