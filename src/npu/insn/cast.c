/* Cast: every conversion of cast.def in every rounding mode.
 *
 * To integers: round to an integral value in the mode, then saturate; NaN becomes 0. To half and bfloat16: find the
 * neighbour towards zero, then step away from zero if the mode says so; overflow follows IEEE 754 (the runtime starts
 * kernels with Inf/NaN on). CAST_NONE is CAST_RINT where the conversion can lose digits.
 * Source: asc-devkit docs/zh/api/SIMD-API, "数据结构/precision_conversion", table 1 and the section of each pair. */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/report.h"

#include <string.h>

enum cast_mode { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD, CAST_MODES };

static const char *const mode_names[CAST_MODES] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                                   "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};

/* To an integral value. */
static inline float integral_rint(float x)
{
    return __builtin_elementwise_roundeven(x);
}
static inline float integral_floor(float x)
{
    return __builtin_elementwise_floor(x);
}
static inline float integral_ceil(float x)
{
    return __builtin_elementwise_ceil(x);
}
static inline float integral_trunc(float x)
{
    return __builtin_elementwise_trunc(x);
}
/* Halves away from zero. The difference is exact. */
static inline float integral_round(float x)
{
    float t = __builtin_elementwise_trunc(x), d = x - t;
    return d >= 0.5f ? t + 1 : d <= -0.5f ? t - 1 : t;
}

static inline int32_t saturate_s32(float x)
{
    return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)x;
}
static inline int64_t saturate_s64(float x)
{
    return x != x ? 0 : x >= 0x1p63f ? INT64_MAX : x < -0x1p63f ? INT64_MIN : (int64_t)x;
}
/* For ranges whose ends are exact in float. */
static inline int32_t clamp(float x, float low, float high)
{
    return x != x ? 0 : (int32_t)(x > high ? high : x < low ? low : x);
}
static inline int16_t saturate_s16(float x)
{
    return (int16_t)clamp(x, INT16_MIN, INT16_MAX);
}
static inline int8_t saturate_s8(float x)
{
    return (int8_t)clamp(x, INT8_MIN, INT8_MAX);
}
static inline uint8_t saturate_u8(float x)
{
    return (uint8_t)clamp(x, 0, UINT8_MAX);
}
/* A zero comes out as +0: 附录/Memory矢量计算接口边界值汇总, note on table 32. */
static inline float saturate_f32(float x)
{
    return x + 0.0f;
}

static inline float widen_f16(npu_f16 x)
{
    return (float)x;
}
static inline float widen_bf16(npu_u16 x)
{
    return bf16_to_float(x);
}
static inline float widen_f32(npu_f32 x)
{
    return x;
}

#define INTEGRAL_LOOP(name, src_type, widen, dst_type, saturate, mode)                                                 \
    static void name##_##mode(const struct npu_run *run, uint64_t scalar)                                              \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        dst_type *dst = (dst_type *)run->dst;                                                                          \
        const src_type *src = (const src_type *)run->src0;                                                             \
        for (uint32_t i = 0; i < run->n; i++)                                                                          \
            dst[i] = saturate(integral_##mode(widen(src[i])));                                                         \
    }
/* Two elements a byte, the first in the low half. */
#define INT4_LOOP(name, src_type, widen, dst_type, saturate, mode)                                                     \
    static void name##_##mode(const struct npu_run *run, uint64_t scalar)                                              \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        const src_type *src = (const src_type *)run->src0;                                                             \
        for (uint32_t i = 0; i < run->n; i += 2) {                                                                     \
            int32_t low = clamp(integral_##mode(widen(src[i])), -8, 7);                                                \
            int32_t high = clamp(integral_##mode(widen(src[i + 1])), -8, 7);                                           \
            run->dst[i / 2] = (uint8_t)((low & 15) | (high & 15) << 4);                                                \
        }                                                                                                              \
    }
#define FIVE_MODES(LOOP, name, src_type, widen, dst_type, saturate)                                                    \
    LOOP(name, src_type, widen, dst_type, saturate, rint)                                                              \
    LOOP(name, src_type, widen, dst_type, saturate, floor)                                                             \
    LOOP(name, src_type, widen, dst_type, saturate, ceil)                                                              \
    LOOP(name, src_type, widen, dst_type, saturate, round)                                                             \
    LOOP(name, src_type, widen, dst_type, saturate, trunc)                                                             \
    static npu_loop *const name[CAST_MODES] = {name##_rint, name##_rint,  name##_floor,                                \
                                               name##_ceil, name##_round, name##_trunc};

FIVE_MODES(INT4_LOOP, loops_FLOAT16_INT4, npu_f16, widen_f16, npu_u8, clamp)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT16_INT8, npu_f16, widen_f16, npu_s8, saturate_s8)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT16_UINT8, npu_f16, widen_f16, npu_u8, saturate_u8)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT16_INT16, npu_f16, widen_f16, npu_s16, saturate_s16)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT16_INT32, npu_f16, widen_f16, npu_s32, saturate_s32)
FIVE_MODES(INTEGRAL_LOOP, loops_BF16_INT32, npu_u16, widen_bf16, npu_s32, saturate_s32)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT_INT16, npu_f32, widen_f32, npu_s16, saturate_s16)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT_INT32, npu_f32, widen_f32, npu_s32, saturate_s32)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT_INT64, npu_f32, widen_f32, npu_s64, saturate_s64)
FIVE_MODES(INTEGRAL_LOOP, loops_FLOAT_FLOAT, npu_f32, widen_f32, npu_f32, saturate_f32)

/* To a shorter floating-point type. */
/* Whether to step away from zero. `rest` is what the neighbour towards zero leaves: below, at or above half a step. */
enum rest { REST_BELOW_HALF, REST_HALF, REST_ABOVE_HALF };
static inline bool steps_away(enum cast_mode mode, bool negative, bool odd, enum rest rest)
{
    switch (mode) {
    case CAST_FLOOR:
        return negative;
    case CAST_CEIL:
        return !negative;
    case CAST_ROUND:
        return rest >= REST_HALF;
    case CAST_TRUNC:
        return false;
    case CAST_ODD:
        return !odd;
    default:
        return rest == REST_ABOVE_HALF || (rest == REST_HALF && odd);
    }
}

static uint16_t f16_bits(float x, enum cast_mode mode)
{
    half_t nearest = (half_t)x;
    uint16_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if ((float)nearest == x || x != x)
        return bits;
    double magnitude = x < 0 ? -(double)x : x;
    if ((x < 0 ? -(double)nearest : (double)nearest) > magnitude)
        bits--;
    /* Beyond the largest half the next step would be 2^16. */
    uint16_t up_bits = (uint16_t)((bits & 0x7fff) + 1), down_bits = bits & 0x7fff;
    half_t up_half, down_half;
    memcpy(&up_half, &up_bits, sizeof up_half);
    memcpy(&down_half, &down_bits, sizeof down_half);
    double up = up_bits == 0x7c00 ? 0x1p16 : (double)up_half, twice = 2 * magnitude, middle = up + (double)down_half;
    enum rest rest = twice < middle ? REST_BELOW_HALF : twice > middle ? REST_ABOVE_HALF : REST_HALF;
    return (uint16_t)(bits + steps_away(mode, x < 0, bits & 1, rest));
}

static uint16_t bf16_bits(float x, enum cast_mode mode)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t lost = bits & 0xffff;
    if (!lost || x != x)
        return bf16_from_float(x);
    enum rest rest = lost < 0x8000 ? REST_BELOW_HALF : lost > 0x8000 ? REST_ABOVE_HALF : REST_HALF;
    return (uint16_t)((bits >> 16) + steps_away(mode, x < 0, bits >> 16 & 1, rest));
}

/* An integer to `digits` binary digits, as a float. digits is at most 24. */
static float round_integer(int64_t value, int digits, enum cast_mode mode)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    if (magnitude >> digits == 0)
        return (float)value;
    int shift = 64 - __builtin_clzll(magnitude) - digits;
    uint64_t kept = magnitude >> shift, lost = magnitude & ((UINT64_C(1) << shift) - 1),
             half = UINT64_C(1) << (shift - 1);
    enum rest rest = lost < half ? REST_BELOW_HALF : lost > half ? REST_ABOVE_HALF : REST_HALF;
    if (lost)
        kept += steps_away(mode, value < 0, kept & 1, rest);
    float result = (float)kept * (float)(UINT64_C(1) << shift);
    return value < 0 ? -result : result;
}

#define SHORTEN_LOOP(name, src_type, dst_type, mode, expression)                                                       \
    static void name##_##mode(const struct npu_run *run, uint64_t scalar)                                              \
    {                                                                                                                  \
        (void)scalar;                                                                                                  \
        dst_type *dst = (dst_type *)run->dst;                                                                          \
        const src_type *src = (const src_type *)run->src0;                                                             \
        for (uint32_t i = 0; i < run->n; i++) {                                                                        \
            src_type x = src[i];                                                                                       \
            dst[i] = (dst_type)(expression);                                                                           \
        }                                                                                                              \
    }
/* `nearest` is the fast way to round to nearest, `other(x, mode)` the general one. */
#define SHORTEN_MODES(name, src_type, dst_type, nearest, other)                                                        \
    SHORTEN_LOOP(name, src_type, dst_type, rint, nearest)                                                              \
    SHORTEN_LOOP(name, src_type, dst_type, floor, other(CAST_FLOOR))                                                   \
    SHORTEN_LOOP(name, src_type, dst_type, ceil, other(CAST_CEIL))                                                     \
    SHORTEN_LOOP(name, src_type, dst_type, round, other(CAST_ROUND))                                                   \
    SHORTEN_LOOP(name, src_type, dst_type, trunc, other(CAST_TRUNC))
#define SHORTEN_TABLE(name, ...)                                                                                       \
    static npu_loop *const name[CAST_MODES] = {name##_rint, name##_rint,  name##_floor,                                \
                                               name##_ceil, name##_round, name##_trunc __VA_OPT__(, ) __VA_ARGS__};

static inline uint16_t f16_nearest(float x)
{
    half_t half = (half_t)x;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}
#define F16_OF(mode)         f16_bits(x, mode)
#define BF16_OF(mode)        bf16_bits(x, mode)
#define F32_OF_INTEGER(mode) round_integer(x, 24, mode)
#define F16_OF_INTEGER(mode) round_integer(x, 11, mode)
SHORTEN_MODES(loops_FLOAT_FLOAT16, npu_f32, npu_u16, f16_nearest(x), F16_OF)
SHORTEN_LOOP(loops_FLOAT_FLOAT16, npu_f32, npu_u16, odd, f16_bits(x, CAST_ODD))
SHORTEN_TABLE(loops_FLOAT_FLOAT16, loops_FLOAT_FLOAT16_odd)
SHORTEN_MODES(loops_FLOAT_BF16, npu_f32, npu_u16, bf16_from_float(x), BF16_OF)
SHORTEN_TABLE(loops_FLOAT_BF16)
SHORTEN_MODES(loops_INT32_FLOAT, npu_s32, npu_f32, x, F32_OF_INTEGER)
SHORTEN_TABLE(loops_INT32_FLOAT)
SHORTEN_MODES(loops_INT64_FLOAT, npu_s64, npu_f32, x, F32_OF_INTEGER)
SHORTEN_TABLE(loops_INT64_FLOAT)
SHORTEN_MODES(loops_INT16_FLOAT16, npu_s16, npu_f16, (float)x, F16_OF_INTEGER)
SHORTEN_TABLE(loops_INT16_FLOAT16)

/* Exact, and between integers. */
#define SINGLE(name, src_type, dst_type, expression)                                                                   \
    SHORTEN_LOOP(name, src_type, dst_type, none, expression)                                                           \
    static npu_loop *const name[CAST_MODES] = {name##_none};
SINGLE(loops_INT8_FLOAT16, npu_s8, npu_f16, (float)x)
SINGLE(loops_UINT8_FLOAT16, npu_u8, npu_f16, (float)x)
SINGLE(loops_INT16_FLOAT, npu_s16, npu_f32, x)
SINGLE(loops_FLOAT16_FLOAT, npu_f16, npu_f32, x)
SINGLE(loops_BF16_FLOAT, npu_u16, npu_f32, bf16_to_float(x))
SINGLE(loops_INT32_INT16, npu_s32, npu_s16, x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x)
SINGLE(loops_INT32_INT64, npu_s32, npu_s64, x)
SINGLE(loops_INT64_INT32, npu_s64, npu_s32, x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x)

static void int4_to_f16(const struct npu_run *run, uint64_t scalar)
{
    (void)scalar;
    npu_f16 *dst = (npu_f16 *)run->dst;
    for (uint32_t i = 0; i < run->n; i += 2) {
        uint8_t pair = run->src0[i / 2];
        dst[i] = (half_t)(float)((int8_t)(pair << 4) >> 4);
        dst[i + 1] = (half_t)(float)((int8_t)pair >> 4);
    }
}
static npu_loop *const loops_INT4_FLOAT16[CAST_MODES] = {int4_to_f16};

/* x times the half in the DEQSCALE register; the product is exact in double and rounds once. */
static void dequantize(const struct npu_run *run, uint64_t deq_scale)
{
    npu_f16 *dst = (npu_f16 *)run->dst;
    const npu_s32 *src = (const npu_s32 *)run->src0;
    half_t scale;
    memcpy(&scale, &deq_scale, sizeof scale);
    for (uint32_t i = 0; i < run->n; i++)
        dst[i] = (half_t)float_round_odd((double)src[i] * (double)scale);
}
static npu_loop *const loops_INT32_FLOAT16[CAST_MODES] = {dequantize, dequantize, dequantize, dequantize,
                                                          dequantize, dequantize, dequantize};

/* The instruction. */
struct cast_pair {
    uint8_t dst, src, modes;
    npu_loop *const *loops; /* by mode */
};
static const struct cast_pair pairs[] = {
#define NPU_CAST(dst, src, modes, rate) {AKGEN_##dst, AKGEN_##src, (uint8_t)(modes), loops_##src##_##dst},
#include "abi/cast.def"
#undef NPU_CAST
};

static const struct cast_pair *find_pair(const struct npu_insn *insn)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].dst == insn->dst_type && pairs[i].src == insn->src_type)
            return &pairs[i];
    return NULL;
}

static bool has_mode(const struct cast_pair *pair, uint8_t mode)
{
    return mode < CAST_MODES && (pair->modes >> mode & 1);
}

/* Two int4 share a byte, so they go in pairs (Cast.md, constraints). */
static void check_int4(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (insn->form == NPU_FORM_COUNT || insn->form == NPU_FORM_MASK_LEN) {
        uint64_t elements = insn->form == NPU_FORM_COUNT ? insn->count : insn->mask[0];
        if (elements % 2)
            npu_trap(core, FAULT(cast_int4), "mask",
                     "Cast of %llu int4 elements: their number must be even, two share a byte",
                     (unsigned long long)elements);
        return;
    }
    const uint64_t *mask = insn->form == NPU_FORM_MASK_BITS ? insn->mask : regs->mask;
    const uint64_t first = UINT64_C(0x5555555555555555);
    bool odd = regs->counter ? mask[0] % 2 : ((mask[0] >> 1 ^ mask[0]) & first) || ((mask[1] >> 1 ^ mask[1]) & first);
    if (odd)
        npu_trap(core, FAULT(cast_int4), "mask", "the mask of Cast splits a pair of int4 elements that share a byte");
}

int npu_check_cast(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                   struct npu_access *accesses)
{
    const struct cast_pair *pair = find_pair(insn);
    if (!pair)
        npu_trap(core, FAULT(vec_dtype), "dst", "Cast has no conversion from %s to %s on this chip",
                 akgen_dtype_name((enum akgen_dtype)insn->src_type),
                 akgen_dtype_name((enum akgen_dtype)insn->dst_type));
    if (insn->dst_type == AKGEN_INT4 || insn->src_type == AKGEN_INT4)
        check_int4(core, insn, regs);
    int n = npu_check_vector(core, insn, regs, accesses, "src0", NULL);
    if (has_mode(pair, insn->mode))
        return n;
    npu_note(core, false, FAULT(cast_round_mode), "roundMode", 0,
             "Cast from %s to %s has no %s: the chip converts nothing and dst keeps what it held",
             akgen_dtype_name((enum akgen_dtype)insn->src_type), akgen_dtype_name((enum akgen_dtype)insn->dst_type),
             insn->mode < CAST_MODES ? mode_names[insn->mode] : "such round mode");
    return 0;
}

void npu_exec_cast(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    const struct cast_pair *pair = find_pair(insn);
    if (!has_mode(pair, insn->mode))
        return;
    struct npu_insn with_scale = *insn;
    with_scale.scalar = regs->deq_scale;
    npu_vector_execute(core, &with_scale, regs, pair->loops[insn->mode], false);
}
