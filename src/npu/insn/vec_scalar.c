/* Adds Muls Maxs Mins ShiftLeft ShiftRight LeakyRelu: a tensor and a scalar of its type.
 *
 * Arithmetic as in vec_binary.c. Shifts of signed types are arithmetic in both directions: ShiftLeft keeps the sign bit
 * and drops the bit below it (asc-devkit "逻辑计算/ShiftLeft": 0b1010101010101010 << 1 is 0b1101010101010100).
 * ShiftRight with roundEn adds the last bit that was shifted out ("逻辑计算/ShiftRight"). */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <inttypes.h>
#include <string.h>

/* `b` is the scalar: its low bytes are the bits of a `type`. */
#define LOOP(name, type, wide, expression)                                                                             \
    static void name(const struct npu_run *run, uint64_t scalar)                                                       \
    {                                                                                                                  \
        type *dst = (type *)run->dst;                                                                                  \
        const type *src = (const type *)run->src0;                                                                     \
        type scalar_value;                                                                                             \
        memcpy(&scalar_value, &scalar, sizeof scalar_value);                                                           \
        const wide b = (wide)scalar_value;                                                                             \
        for (uint32_t i = 0; i < run->n; i++) {                                                                        \
            wide a = (wide)src[i];                                                                                     \
            dst[i] = (type)(expression);                                                                               \
        }                                                                                                              \
    }
#define FLOAT_LOOPS(name, expression)                                                                                  \
    LOOP(name##_f16, npu_f16, float, expression) LOOP(name##_f32, npu_f32, float, expression)
#define WRAPPING_LOOPS(name, expression)                                                                               \
    LOOP(name##_s16, npu_u16, uint32_t, expression) LOOP(name##_s32, npu_u32, uint32_t, expression)
#define SIGNED_LOOPS(name, expression)                                                                                 \
    LOOP(name##_s16, npu_s16, int16_t, expression) LOOP(name##_s32, npu_s32, int32_t, expression)

FLOAT_LOOPS(adds, a + b)
WRAPPING_LOOPS(adds, a + b)
FLOAT_LOOPS(muls, a *b)
WRAPPING_LOOPS(muls, a *b)
FLOAT_LOOPS(maxs, a != a ? a : b != b ? b : a > b ? a : b > a ? b : a == 0 ? a + b : a)
SIGNED_LOOPS(maxs, a > b ? a : b)
FLOAT_LOOPS(mins, a != a ? a : b != b ? b : a < b ? a : b < a ? b : a == 0 ? -(-a - b) : a)
SIGNED_LOOPS(mins, a < b ? a : b)
/* -0 is negative: 附录/Memory矢量计算接口边界值汇总, table 19. */
FLOAT_LOOPS(leaky_relu, __builtin_signbit(a) ? a *b : a)

/* Computed in 64 bits, so that a shift by the whole width is defined. b is 0 to the width. */
LOOP(shift_left_u16, npu_u16, uint64_t, a << b)
LOOP(shift_left_u32, npu_u32, uint64_t, a << b)
LOOP(shift_left_s16, npu_u16, uint64_t, (a & 0x8000) | ((a << b) & 0x7fff))
LOOP(shift_left_s32, npu_u32, uint64_t, (a & 0x80000000) | ((a << b) & 0x7fffffff))
LOOP(shift_right_u16, npu_u16, uint64_t, a >> b)
LOOP(shift_right_u32, npu_u32, uint64_t, a >> b)
LOOP(shift_right_s16, npu_s16, int64_t, a >> b)
LOOP(shift_right_s32, npu_s32, int64_t, a >> b)
LOOP(shift_round_s16, npu_s16, int64_t, b ? (a >> b) + (a >> (b - 1) & 1) : a)
LOOP(shift_round_s32, npu_s32, int64_t, b ? (a >> b) + (a >> (b - 1) & 1) : a)

#define ROW(id, name)                                                                                                  \
    [NPU_OP_##id] = {[AKGEN_FLOAT16] = name##_f16,                                                                     \
                     [AKGEN_FLOAT] = name##_f32,                                                                       \
                     [AKGEN_INT16] = name##_s16,                                                                       \
                     [AKGEN_INT32] = name##_s32}
static npu_loop *const loops[NPU_OPS][AKGEN_DTYPE_CODES] = {
    ROW(ADDS, adds),
    ROW(MULS, muls),
    ROW(MAXS, maxs),
    ROW(MINS, mins),
    [NPU_OP_LEAKY_RELU] = {[AKGEN_FLOAT16] = leaky_relu_f16, [AKGEN_FLOAT] = leaky_relu_f32},
    [NPU_OP_SHIFT_LEFT] = {[AKGEN_INT16] = shift_left_s16,
                           [AKGEN_UINT16] = shift_left_u16,
                           [AKGEN_INT32] = shift_left_s32,
                           [AKGEN_UINT32] = shift_left_u32},
    [NPU_OP_SHIFT_RIGHT] = {[AKGEN_INT16] = shift_right_s16,
                            [AKGEN_UINT16] = shift_right_u16,
                            [AKGEN_INT32] = shift_right_s32,
                            [AKGEN_UINT32] = shift_right_u32},
};

int npu_check_scalar(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    if (insn->op == NPU_OP_SHIFT_LEFT || insn->op == NPU_OP_SHIFT_RIGHT) {
        uint32_t width = npu_element_bits(insn->src_type);
        uint64_t distance = insn->scalar & (UINT64_MAX >> (64 - width));
        if (distance > width)
            npu_trap(core, FAULT(vec_shift), "scalarValue",
                     "%s by %" PRId64 " bits; the documentation allows 0 to %" PRIu32, npu_isa[insn->op].name,
                     width == 16 ? (int64_t)(int16_t)distance : (int64_t)(int32_t)distance, width);
    }
    return npu_check_vector(core, insn, regs, accesses, "src0", NULL);
}

void npu_exec_scalar(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_loop *loop = loops[insn->op][insn->src_type];
    if (insn->op == NPU_OP_SHIFT_RIGHT && insn->mode) {
        /* roundEn has no effect on unsigned types. */
        if (insn->src_type == AKGEN_INT16)
            loop = shift_round_s16;
        else if (insn->src_type == AKGEN_INT32)
            loop = shift_round_s32;
    }
    npu_vector_execute(core, insn, regs, loop, false);
}
