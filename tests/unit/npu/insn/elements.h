/* The specification of element-wise instructions, one element at a time and in long double, which holds every integer
 * of 64 bits, every product of two floats, and sums and quotients with enough digits that rounding them once more to
 * float or half is innocuous (Figueroa). */
#ifndef TESTS_NPU_ELEMENTS_H
#define TESTS_NPU_ELEMENTS_H

#include "cast_element.h"

#include "base/half.h"
#include "npu/npu_internal.h"

#include <string.h>

/* The element at bit `bit` behind base: int4 starts at half a byte. */
static inline long double element_load(const uint8_t *base, size_t bit, uint8_t type)
{
    union {
        float f;
        half_t h;
        int8_t s8;
        uint8_t u8;
        int16_t s16;
        uint16_t u16;
        int32_t s32;
        uint32_t u32;
        int64_t s64;
    } v = {.s64 = 0};
    const uint8_t *at = base + bit / 8;
    if (type == AKGEN_INT4)
        return (int8_t)(uint8_t)(*at << (bit % 8 ? 0 : 4)) >> 4;
    memcpy(&v, at, akgen_dtype_size((enum akgen_dtype)type));
    switch (type) {
    case AKGEN_FLOAT:
        return v.f;
    case AKGEN_FLOAT16:
        return (long double)(float)v.h;
    case AKGEN_BF16:
        return bf16_to_float(v.u16);
    case AKGEN_INT8:
        return v.s8;
    case AKGEN_UINT8:
        return v.u8;
    case AKGEN_INT16:
        return v.s16;
    case AKGEN_UINT16:
        return v.u16;
    case AKGEN_INT32:
        return v.s32;
    case AKGEN_UINT32:
        return v.u32;
    default:
        return (long double)v.s64;
    }
}

/* Floating-point types round to nearest even; integers keep their low bits. */
static inline void element_store(uint8_t *base, size_t bit, uint8_t type, long double value)
{
    uint8_t *at = base + bit / 8;
    if (type == AKGEN_FLOAT) {
        float f = (float)value;
        memcpy(at, &f, sizeof f);
    } else if (type == AKGEN_FLOAT16) { /* where double does not hold the value, cast_element rounds it */
        half_t h = (long double)(double)value == value
                       ? (half_t)(double)value
                       : (half_t)(float)cast_element(AKGEN_FLOAT16, AKGEN_DTYPE_NONE, RINT, value, 0);
        memcpy(at, &h, sizeof h);
    } else if (type == AKGEN_BF16) {
        uint16_t b = bf16_from_float((float)cast_element(AKGEN_BF16, AKGEN_DTYPE_NONE, RINT, value, 0));
        memcpy(at, &b, sizeof b);
    } else {
        uint64_t bits = (uint64_t)(int64_t)value;
        if (type == AKGEN_INT4)
            *at = bit % 8 ? (uint8_t)((*at & 0x0f) | bits << 4) : (uint8_t)((*at & 0xf0) | (bits & 0x0f));
        else
            memcpy(at, &bits, akgen_dtype_size((enum akgen_dtype)type));
    }
}

static inline long double element_rounded(long double value, uint8_t type)
{
    uint8_t bytes[8];
    element_store(bytes, 0, type, value);
    return element_load(bytes, 0, type);
}

/* The estimates in integers, as tables of hardware are described: nine bits of the significand go in, its middle with one
 * bit more is `middle` / 1024, and nine bits come out. */
static inline long double element_reciprocal(long double a)
{
    int exponent;
    if (a == 0 || !isfinite(a))
        return 1 / a;
    int first = (int)(frexpl(fabsl(a), &exponent) * 512);
    int middle = 2 * first + 1, twice = (1 << 19) / middle;
    return copysignl(ldexpl((twice + 1) / 2, -8 - exponent), a);
}

/* Eight bits go in: of a significand in [0.25, 0.5) or in [0.5, 1), so that the exponent is even. */
static inline long double element_rsqrt(long double a)
{
    int exponent, twice = 512;
    if (a <= 0 || !isfinite(a))
        return 1 / sqrtl(a);
    long double fraction = frexpl(a, &exponent);
    int odd = exponent & 1;
    int first = (int)(ldexpl(fraction, -odd) * 512);
    int middle = odd ? 2 * first + 1 : 2 * (first | 1);
    while (middle * (twice + 1) * (twice + 1) < 1 << 28)
        twice++;
    return ldexpl((twice + 1) / 2, -8 - (exponent + odd) / 2);
}

/* Relu keeps a NaN and has no -0. */
static inline long double element_relu(long double x)
{
    return isnan(x) || x > 0 ? x : 0;
}

static inline long double element_max(long double a, long double b)
{
    return isnan(a) || isnan(b) ? (long double)NAN : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
static inline long double element_min(long double a, long double b)
{
    return isnan(a) || isnan(b) ? (long double)NAN : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

/* ShiftLeft keeps the sign of a signed type; roundEn adds the last bit that ShiftRight drops from one. */
static inline long double element_shift(const struct npu_insn *insn, int64_t x, int64_t distance)
{
    bool is_signed = insn->src_type == AKGEN_INT16 || insn->src_type == AKGEN_INT32;
    int64_t sign = akgen_dtype_size((enum akgen_dtype)insn->src_type) == 2 ? 0x8000 : INT64_C(0x80000000);
    if (insn->op == NPU_OP_SHIFT_LEFT) {
        int64_t shifted = (int64_t)((uint64_t)x << distance);
        return (long double)(is_signed ? (x & sign) | (shifted & (sign - 1)) : shifted);
    }
    int64_t last = distance ? x >> (distance - 1) & 1 : 0;
    return (long double)((x >> distance) + (insn->mode && is_signed ? last : 0));
}

/* Narrows as Cast with CAST_NONE does where the destination is another type. */
static inline long double element_narrowed(const struct npu_insn *insn, long double x)
{
    return insn->dst_type == insn->src_type ? x : cast_element(insn->dst_type, insn->src_type, RINT, x, 0);
}

/* A NaN becomes 0, and int16 does not wrap around on the way to int8 (附录/Memory矢量计算接口边界值汇总, tables 26,
 * 27). */
static inline long double element_relu_cast(const struct npu_insn *insn, long double sum)
{
    long double x = insn->src_type == AKGEN_INT16 ? sum : element_rounded(sum, insn->src_type);
    return isnan(x) ? 0 : element_narrowed(insn, element_relu(x));
}

/* (a + b) * 2^-17 * scale * 2^17, each step in float. */
static inline long double element_deq_relu(long double sum, uint64_t deq_scale)
{
    float scale = (float)element_load((const uint8_t *)&deq_scale, 0, AKGEN_FLOAT16);
    float x = (float)element_rounded(sum, AKGEN_INT32) * 0x1p-17f;
    volatile float scaled = x * scale;
    return element_relu(element_rounded((long double)(scaled * 0x1p17f), AKGEN_FLOAT16));
}

static inline long double element_compound(const struct npu_insn *insn, uint64_t deq_scale, long double a,
                                           long double b, long double d)
{
    uint8_t s = insn->src_type;
    switch (insn->op) {
    case NPU_OP_ADD_RELU:
        return element_relu(element_rounded(a + b, s));
    case NPU_OP_SUB_RELU:
        return element_relu(element_rounded(a - b, s));
    case NPU_OP_ADD_RELU_CAST:
        return element_relu_cast(insn, a + b);
    case NPU_OP_SUB_RELU_CAST:
        return element_relu_cast(insn, a - b);
    case NPU_OP_MUL_CAST:
        return element_narrowed(insn, element_rounded(a * b, s));
    case NPU_OP_MUL_ADD_DST:
        return element_rounded(a * b, insn->dst_type) + d;
    case NPU_OP_FUSED_MUL_ADD_RELU:
        return element_relu(element_rounded(element_rounded(a * d, s) + b, s));
    default:
        return element_deq_relu(a + b, deq_scale);
    }
}

/* What dst becomes: of src0's element a, of src1's or the scalar b, of dst's old value d. */
static inline long double element_of(const struct npu_insn *insn, uint64_t deq_scale, long double a, long double b,
                                     long double d)
{
    bool integer = insn->src_type != AKGEN_FLOAT && insn->src_type != AKGEN_FLOAT16 && insn->src_type != AKGEN_BF16;
    int64_t x = integer ? (int64_t)a : 0, y = integer ? (int64_t)b : 0;
    switch (insn->op) {
    case NPU_OP_ADD:
    case NPU_OP_ADDS:
        return a + b;
    case NPU_OP_SUB:
        return a - b;
    case NPU_OP_MUL:
    case NPU_OP_MULS:
        return a * b;
    case NPU_OP_DIV:
        return a / b;
    case NPU_OP_MAX:
    case NPU_OP_MAXS:
        return element_max(a, b);
    case NPU_OP_MIN:
    case NPU_OP_MINS:
        return element_min(a, b);
    case NPU_OP_AND:
        return (long double)(x & y);
    case NPU_OP_OR:
        return (long double)(x | y);
    case NPU_OP_NOT:
        return (long double)~x;
    case NPU_OP_SHIFT_LEFT:
    case NPU_OP_SHIFT_RIGHT:
        return element_shift(insn, x, y);
    case NPU_OP_FUSED_MUL_ADD:
        return element_rounded(a * d, insn->dst_type) + b;
    case NPU_OP_AXPY:
        return element_rounded(a * b, insn->dst_type) + d;
    case NPU_OP_LEAKY_RELU:
        return signbit(a) ? a * b : a; /* -0 too */
    case NPU_OP_ABS:
        return fabsl(a);
    case NPU_OP_EXP:
        return expl(a);
    case NPU_OP_LN:
        return logl(a);
    case NPU_OP_SQRT:
        return sqrtl(a);
    case NPU_OP_RSQRT:
        return element_rsqrt(a);
    case NPU_OP_RECIPROCAL:
        return element_reciprocal(a);
    case NPU_OP_RELU:
        return element_relu(a);
    case NPU_OP_CAST:
        return cast_element(insn->dst_type, insn->src_type, insn->mode, a,
                            element_load((const uint8_t *)&deq_scale, 0, AKGEN_FLOAT16));
    default:
        return element_compound(insn, deq_scale, a, b, d);
    }
}

/* The same bits; any NaN equals any NaN; Exp and Ln of float within 1 ulp (the C library's own bound). */
static inline bool element_same(const struct npu_insn *insn, const uint8_t *got, const uint8_t *want, size_t bit)
{
    uint8_t type = insn->dst_type;
    long double a = element_load(got, bit, type), b = element_load(want, bit, type);
    if ((isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b)))
        return true;
    bool loose = type == AKGEN_FLOAT && (insn->op == NPU_OP_EXP || insn->op == NPU_OP_LN);
    return loose && nextafterf((float)a, (float)b) == (float)b;
}

#endif
