/* Compound instructions: AddRelu SubRelu AddReluCast SubReluCast MulCast MulAddDst FusedMulAddRelu AddDeqRelu.
 *
 * They compute what their parts would one after the other: asc-devkit "复合计算/概述" says that a compound instruction
 * adds precision only where the destination is wider than the sources. So half is rounded after each step, int16 wraps
 * around, and MulAddDst of half into float multiplies exactly. Conversions are those of Cast with CAST_NONE, which
 * rounds to nearest even and saturates; but AddReluCast and SubReluCast make 0 of a NaN and do not wrap int16 around
 * on the way to int8 (附录/Memory矢量计算接口边界值汇总, tables 26 and 27). AddDeqRelu is the API's own program: int32
 * sum, to float, times 2^-17, times the scale of SetDeqScale, times 2^17, to half, at least 0. The sums go through the
 * reserved UB, 2048 at a time; the floats are left where src0 was, the halves where src1 was (CANN 8.1). */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/insn/reserved.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <string.h>

#define RELU(x) ((x) <= 0 ? 0 : (x))

static inline int32_t saturate(float x, int32_t low, int32_t high)
{
    return x != x ? 0 : x >= (float)high ? high : x <= (float)low ? low : (int32_t)__builtin_elementwise_roundeven(x);
}
/* What AddReluCast and SubReluCast convert: 0 in place of a NaN. */
static inline float number(float x)
{
    return x != x ? 0 : x;
}
static inline float half_add(float a, float b)
{
    return (float)(half_t)(a + b);
}
static inline float half_mul(float a, float b)
{
    return (float)(half_t)(a * b);
}

/* a, b: src0, src1 in `wide`; d: the old dst. */
#define LOOP(name, dst_t, src_t, wide, expression)                                                                     \
    static void name(const struct npu_run *run, uint64_t scalar)                                                       \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        dst_t *dst = (dst_t *)run->dst;                                                                                \
        const src_t *src0 = (const src_t *)run->src0, *src1 = (const src_t *)run->src1;                                \
        for (uint32_t i = 0; i < run->n; i++) {                                                                        \
            wide a = (wide)src0[i], b = (wide)src1[i];                                                                 \
            dst[i] = (dst_t)(expression);                                                                              \
        }                                                                                                              \
    }
/* The sum or difference of two int16 as the instruction leaves it: wrapped around. */
#define WRAP16(x) ((int16_t)(uint16_t)(x))

LOOP(add_relu_f16, npu_f16, npu_f16, float, RELU(half_add(a, b)))
LOOP(add_relu_f32, npu_f32, npu_f32, float, RELU(a + b))
LOOP(add_relu_s16, npu_s16, npu_s16, int32_t, RELU(WRAP16(a + b)))
LOOP(sub_relu_f16, npu_f16, npu_f16, float, RELU(half_add(a, -b)))
LOOP(sub_relu_f32, npu_f32, npu_f32, float, RELU(a - b))
LOOP(sub_relu_s16, npu_s16, npu_s16, int32_t, RELU(WRAP16(a - b)))
LOOP(add_relu_f16_s8, npu_s8, npu_f16, float, saturate(RELU(half_add(a, b)), INT8_MIN, INT8_MAX))
LOOP(add_relu_f32_f16, npu_f16, npu_f32, float, number(RELU(a + b)))
LOOP(add_relu_s16_s8, npu_s8, npu_s16, int32_t, saturate((float)RELU(a + b), INT8_MIN, INT8_MAX))
LOOP(sub_relu_f16_s8, npu_s8, npu_f16, float, saturate(RELU(half_add(a, -b)), INT8_MIN, INT8_MAX))
LOOP(sub_relu_f32_f16, npu_f16, npu_f32, float, number(RELU(a - b)))
LOOP(sub_relu_s16_s8, npu_s8, npu_s16, int32_t, saturate((float)RELU(a - b), INT8_MIN, INT8_MAX))
LOOP(mul_f16_s8, npu_s8, npu_f16, float, saturate(half_mul(a, b), INT8_MIN, INT8_MAX))
LOOP(mul_f16_u8, npu_u8, npu_f16, float, saturate(half_mul(a, b), 0, UINT8_MAX))
LOOP(mul_add_f16, npu_f16, npu_f16, float, half_mul(a, b) + (float)dst[i])
LOOP(mul_add_f32, npu_f32, npu_f32, float, a *b + dst[i])
LOOP(mul_add_f16_f32, npu_f32, npu_f16, float, a *b + dst[i])
LOOP(fused_relu_f16, npu_f16, npu_f16, float, RELU(half_add(half_mul(a, (float)dst[i]), b)))
LOOP(fused_relu_f32, npu_f32, npu_f32, float, RELU(a *dst[i] + b))

static void add_deq_relu(const struct npu_run *run, uint64_t deq_scale)
{
    npu_f16 *dst = (npu_f16 *)run->dst;
    const npu_u32 *src0 = (const npu_u32 *)run->src0, *src1 = (const npu_u32 *)run->src1;
    half_t scale;
    memcpy(&scale, &deq_scale, sizeof scale);
    for (uint32_t i = 0; i < run->n; i++) {
        float sum = (float)(int32_t)(src0[i] + src1[i]);
        half_t scaled = (half_t)(sum * 0x1p-17f * (float)scale * 0x1p17f);
        dst[i] = RELU(scaled);
    }
}

struct compound_form {
    uint16_t op;
    uint8_t src_type, dst_type;
    npu_loop *loop;
};
static const struct compound_form forms[] = {
    {NPU_OP_ADD_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, add_relu_f16},
    {NPU_OP_ADD_RELU, AKGEN_FLOAT, AKGEN_FLOAT, add_relu_f32},
    {NPU_OP_ADD_RELU, AKGEN_INT16, AKGEN_INT16, add_relu_s16},
    {NPU_OP_SUB_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, sub_relu_f16},
    {NPU_OP_SUB_RELU, AKGEN_FLOAT, AKGEN_FLOAT, sub_relu_f32},
    {NPU_OP_SUB_RELU, AKGEN_INT16, AKGEN_INT16, sub_relu_s16},
    {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8, add_relu_f16_s8},
    {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16, add_relu_f32_f16},
    {NPU_OP_ADD_RELU_CAST, AKGEN_INT16, AKGEN_INT8, add_relu_s16_s8},
    {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8, sub_relu_f16_s8},
    {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16, sub_relu_f32_f16},
    {NPU_OP_SUB_RELU_CAST, AKGEN_INT16, AKGEN_INT8, sub_relu_s16_s8},
    {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_INT8, mul_f16_s8},
    {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_UINT8, mul_f16_u8},
    {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT16, AKGEN_FLOAT16, mul_add_f16},
    {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT, AKGEN_FLOAT, mul_add_f32},
    {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT16, AKGEN_FLOAT, mul_add_f16_f32},
    {NPU_OP_FUSED_MUL_ADD_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, fused_relu_f16},
    {NPU_OP_FUSED_MUL_ADD_RELU, AKGEN_FLOAT, AKGEN_FLOAT, fused_relu_f32},
    {NPU_OP_ADD_DEQ_RELU, AKGEN_INT32, AKGEN_FLOAT16, add_deq_relu},
};

static npu_loop *find_loop(const struct npu_insn *insn)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].op == insn->op && forms[i].src_type == insn->src_type && forms[i].dst_type == insn->dst_type)
            return forms[i].loop;
    return NULL;
}

static bool reads_dst(const struct npu_insn *insn)
{
    return insn->op == NPU_OP_MUL_ADD_DST || insn->op == NPU_OP_FUSED_MUL_ADD_RELU;
}

/* Of the reserved UB. */
static uint32_t reserved_bytes(const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_vector v = npu_vector_shape(insn, regs, 32);
    uint64_t bytes = ((uint64_t)(v.repeats - 1) * v.per_repeat + v.last) * sizeof(int32_t);
    return bytes < NPU_RESERVED_BYTES ? (uint32_t)bytes : NPU_RESERVED_BYTES;
}

/* The sources are written as well, and the reserved UB. */
static int list_deq_relu(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                         struct npu_access *accesses, int n)
{
    for (int i = 0, listed = n; i < listed; i++)
        if (!accesses[i].write) {
            accesses[n] = accesses[i];
            accesses[n++].write = true;
        }
    return npu_list_reserved(core, accesses, n, reserved_bytes(insn, regs));
}

int npu_check_compound(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                       struct npu_access *accesses)
{
    if (!find_loop(insn))
        npu_trap(core, FAULT(vec_dtype), "dst", "%s has no form from %s to %s on this chip", npu_isa[insn->op].name,
                 akgen_dtype_name((enum akgen_dtype)insn->src_type),
                 akgen_dtype_name((enum akgen_dtype)insn->dst_type));
    int n = npu_check_vector(core, insn, regs, accesses, "src0", "src1");
    if (insn->op == NPU_OP_ADD_DEQ_RELU)
        return n ? list_deq_relu(core, insn, regs, accesses, n) : 0;
    return reads_dst(insn) ? npu_list_dst_as_source(accesses, n) : n;
}

/* dst is written last: where it lies over a source it holds the result. */
struct result {
    const uint8_t *low, *high;
};
static void find_result(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                        const struct npu_run *run, void *closure)
{
    (void)core, (void)insn, (void)regs;
    struct result *result = closure;
    const uint8_t *end = run->dst + run->n * sizeof(half_t);
    result->low = !result->low || run->dst < result->low ? run->dst : result->low;
    result->high = end > result->high ? end : result->high;
}

static void lose(struct npu_core *core, const struct result *result, const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes, *front = end < result->low ? end : result->low;
    if (at < front)
        npu_ub_undefine(core, at, (size_t)(front - at));
    at = at > result->high ? at : result->high;
    if (at < end)
        npu_ub_undefine(core, at, (size_t)(end - at));
}

static void lose_sources(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                         const struct npu_run *run, void *closure)
{
    (void)insn, (void)regs;
    lose(core, closure, run->src0, run->n * sizeof(float));
    lose(core, closure, run->src1, run->n * sizeof(float));
}

/* What the steps before the last have left in the sources and in the reserved UB is CANN's own affair and undefined for
 * the kernel. */
static void leave_deq_relu(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    static const uint8_t zeros[NPU_RESERVED_BYTES];
    struct result result = {0};
    npu_lanes(core, insn, regs, find_result, &result);
    npu_write_reserved(core, zeros, reserved_bytes(insn, regs), "AddDeqRelu");
    npu_lanes(core, insn, regs, lose_sources, &result);
}

void npu_exec_compound(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_insn with_scale = *insn;
    with_scale.scalar = regs->deq_scale;
    npu_vector_execute(core, &with_scale, regs, find_loop(insn), reads_dst(insn));
    if (insn->op == NPU_OP_ADD_DEQ_RELU && npu_vector_shape(insn, regs, 32).repeats)
        leave_deq_relu(core, insn, regs);
}
