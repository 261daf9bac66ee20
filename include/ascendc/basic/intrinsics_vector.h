/* The compiler's vector instructions on plain __ubuf__ pointers: the same instructions as the API's, under the mask
 * registers, without what the API does around them. Auto-sync does not see plain pointers (NPU_TENSOR_RAW). Argument
 * order and types as NPU_ARCH 2201 has them (asc-devkit, impl/basic_api). */
#ifndef ASCENDC_INTRINSICS_VECTOR_H
#define ASCENDC_INTRINSICS_VECTOR_H

#include "basic/vector_arrange.h"
#include "basic/vector_compound.h"
#include "basic/vector_reduce.h"

namespace akgen
{
template <typename P> AKGEN_API npu_tensor raw_ub(P *pointer)
{
    return {reinterpret_cast<uint64_t>(pointer), 0, NPU_VECCALC, NPU_TENSOR_RAW, 0};
}
/* dst and src0 of an instruction under the mask registers. */
template <npu_op op, typename D, typename S>
AKGEN_API npu_insn raw_insn(const npu_tensor &dst, const npu_tensor &src0, uint32_t repeat, uint16_t dst_blk,
                            uint16_t src0_blk, uint16_t dst_rep, uint16_t src0_rep)
{
    npu_insn insn = start<op, D, S>(dst);
    insn.form = NPU_FORM_MASK_REG;
    insn.src0 = src0;
    insn.src1_type = insn.src_type;
    insn.repeat = repeat;
    insn.dst_blk = dst_blk;
    insn.src0_blk = src0_blk;
    insn.dst_rep = dst_rep;
    insn.src0_rep = src0_rep;
    return insn;
}
} // namespace akgen

/* dst, src0, src1, repeat; the strides of blocks, then of repeats, of dst, src0, src1. */
#define AKGEN_RAW_BINARY(name, op, D, S)                                                                               \
    AKGEN_API void name(__ubuf__ D *dst, __ubuf__ S *src0, __ubuf__ S *src1, uint8_t repeat, uint8_t dstBlockStride,   \
                        uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                     \
                        uint8_t src0RepeatStride, uint8_t src1RepeatStride)                                            \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_##op, D, S>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, dstBlockStride,        \
                                               src0BlockStride, dstRepeatStride, src0RepeatStride);                    \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_RAW_SAME(KIND, name, op, T) KIND(name, op, T, T)
#define AKGEN_RAW_FLOATS(KIND, name, op)                                                                               \
    AKGEN_RAW_SAME(KIND, name, op, half)                                                                               \
    AKGEN_RAW_SAME(KIND, name, op, float)
#define AKGEN_RAW_ARITH(KIND, name, op)                                                                                \
    AKGEN_RAW_FLOATS(KIND, name, op)                                                                                   \
    AKGEN_RAW_SAME(KIND, name, op, int16_t)                                                                            \
    AKGEN_RAW_SAME(KIND, name, op, int32_t)
#define AKGEN_RAW_BITS(KIND, name, op)                                                                                 \
    AKGEN_RAW_SAME(KIND, name, op, int16_t)                                                                            \
    AKGEN_RAW_SAME(KIND, name, op, uint16_t)
AKGEN_RAW_ARITH(AKGEN_RAW_BINARY, vadd, ADD)
AKGEN_RAW_ARITH(AKGEN_RAW_BINARY, vsub, SUB)
AKGEN_RAW_ARITH(AKGEN_RAW_BINARY, vmul, MUL)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vdiv, DIV)
AKGEN_RAW_ARITH(AKGEN_RAW_BINARY, vmax, MAX)
AKGEN_RAW_ARITH(AKGEN_RAW_BINARY, vmin, MIN)
AKGEN_RAW_BITS(AKGEN_RAW_BINARY, vand, AND)
AKGEN_RAW_BITS(AKGEN_RAW_BINARY, vor, OR)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vmadd, FUSED_MUL_ADD)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vmaddrelu, FUSED_MUL_ADD_RELU)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vmla, MUL_ADD_DST)
AKGEN_RAW_BINARY(vmla, MUL_ADD_DST, float, half)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vaddrelu, ADD_RELU)
AKGEN_RAW_SAME(AKGEN_RAW_BINARY, vaddrelu, ADD_RELU, int16_t)
AKGEN_RAW_FLOATS(AKGEN_RAW_BINARY, vsubrelu, SUB_RELU)
AKGEN_RAW_SAME(AKGEN_RAW_BINARY, vsubrelu, SUB_RELU, int16_t)
AKGEN_RAW_BINARY(vmulconv_f162s8, MUL_CAST, int8_t, half)
AKGEN_RAW_BINARY(vmulconv_f162u8, MUL_CAST, uint8_t, half)

/* dst, src, repeat; strides of blocks of dst and src, of repeats. */
#define AKGEN_RAW_UNARY(name, op, D, S)                                                                                \
    AKGEN_API void name(__ubuf__ D *dst, __ubuf__ S *src, uint8_t repeat, uint16_t dstBlockStride,                     \
                        uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride)                   \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_##op, D, S>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, dstBlockStride,         \
                                               srcBlockStride, dstRepeatStride, srcRepeatStride);                      \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vabs, ABS)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vexp, EXP)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vln, LN)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vsqrt, SQRT)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vrsqrt, RSQRT)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vrec, RECIPROCAL)
AKGEN_RAW_FLOATS(AKGEN_RAW_UNARY, vrelu, RELU)
AKGEN_RAW_SAME(AKGEN_RAW_UNARY, vrelu, RELU, int32_t)
AKGEN_RAW_BITS(AKGEN_RAW_UNARY, vnot, NOT)
AKGEN_RAW_SAME(AKGEN_RAW_UNARY, vcopy, COPY, uint16_t)
AKGEN_RAW_SAME(AKGEN_RAW_UNARY, vcopy, COPY, uint32_t)

/* dst, src, scalar, repeat; strides as above. */
#define AKGEN_RAW_SCALAR(name, op, D, S)                                                                               \
    AKGEN_API void name(__ubuf__ D *dst, __ubuf__ S *src, S value, uint8_t repeat, uint16_t dstBlockStride,            \
                        uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride)                   \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_##op, D, S>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, dstBlockStride,         \
                                               srcBlockStride, dstRepeatStride, srcRepeatStride);                      \
        insn.scalar = akgen::bits_of<S>(value);                                                                        \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_ARITH(AKGEN_RAW_SCALAR, vadds, ADDS)
AKGEN_RAW_ARITH(AKGEN_RAW_SCALAR, vmuls, MULS)
AKGEN_RAW_ARITH(AKGEN_RAW_SCALAR, vmaxs, MAXS)
AKGEN_RAW_ARITH(AKGEN_RAW_SCALAR, vmins, MINS)
AKGEN_RAW_FLOATS(AKGEN_RAW_SCALAR, vlrelu, LEAKY_RELU)
AKGEN_RAW_FLOATS(AKGEN_RAW_SCALAR, vaxpy, AXPY)
AKGEN_RAW_SCALAR(vaxpy, AXPY, float, half)

/* Shifts; the distance has a type of its own, and vshr says whether it rounds. */
#define AKGEN_RAW_SHIFT(T, distance_type)                                                                              \
    AKGEN_API void vshl(__ubuf__ T *dst, __ubuf__ T *src, uint32_t distance, uint8_t repeat, uint16_t dstBlockStride,  \
                        uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride)                   \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_SHIFT_LEFT, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, dstBlockStride,   \
                                                     srcBlockStride, dstRepeatStride, srcRepeatStride);                \
        insn.scalar = distance;                                                                                        \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    AKGEN_API void vshr(__ubuf__ T *dst, __ubuf__ T *src, distance_type distance, uint8_t repeat,                      \
                        uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,                    \
                        uint16_t srcRepeatStride, bool round = false)                                                  \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_SHIFT_RIGHT, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, dstBlockStride,  \
                                                      srcBlockStride, dstRepeatStride, srcRepeatStride);               \
        insn.scalar = uint32_t(distance);                                                                              \
        insn.mode = round;                                                                                             \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_SHIFT(int16_t, int32_t)
AKGEN_RAW_SHIFT(uint16_t, uint32_t)
AKGEN_RAW_SHIFT(int32_t, int32_t)
AKGEN_RAW_SHIFT(uint32_t, uint32_t)

#define AKGEN_RAW_DUP(T)                                                                                               \
    AKGEN_API void vector_dup(__ubuf__ T *dst, T value, uint8_t repeat, uint16_t dstBlockStride, uint16_t,             \
                              uint8_t dstRepeatStride, uint8_t)                                                        \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_DUPLICATE, T, T>(akgen::raw_ub(dst), {}, repeat, dstBlockStride, 0,     \
                                                                dstRepeatStride, 0);                                   \
        insn.scalar = akgen::bits_of<T>(value);                                                                        \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_DUP(half)
AKGEN_RAW_DUP(bfloat16_t)
AKGEN_RAW_DUP(float)
AKGEN_RAW_DUP(int16_t)
AKGEN_RAW_DUP(uint16_t)
AKGEN_RAW_DUP(int32_t)
AKGEN_RAW_DUP(uint32_t)

#define AKGEN_RAW_BRCB(T)                                                                                              \
    AKGEN_API void vbrcb(__ubuf__ T *dst, __ubuf__ T *src, uint16_t dstBlockStride, uint16_t dstRepeatStride,          \
                         uint8_t repeat)                                                                               \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_BRCB, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat,             \
                                                           dstBlockStride, 0, dstRepeatStride, 0);                     \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_BRCB(uint16_t)
AKGEN_RAW_BRCB(uint32_t)

/* Conversions: the letter behind the types is the rounding. */
#define AKGEN_RAW_CONV(name, D, S, rounding)                                                                           \
    AKGEN_API void vconv_##name(__ubuf__ D *dst, __ubuf__ S *src, uint8_t repeat, uint16_t dstBlockStride,             \
                                uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride)           \
    {                                                                                                                  \
        static_assert(akgen::require_cast<D, S>::ok);                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_CAST, D, S>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, dstBlockStride,         \
                                               srcBlockStride, dstRepeatStride, srcRepeatStride);                      \
        insn.mode = uint8_t(AscendC::RoundMode::CAST_##rounding);                                                      \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_RAW_CONV_ROUNDED(name, D, S)                                                                             \
    AKGEN_RAW_CONV(name##r, D, S, RINT)                                                                                \
    AKGEN_RAW_CONV(name##f, D, S, FLOOR)                                                                               \
    AKGEN_RAW_CONV(name##c, D, S, CEIL)                                                                                \
    AKGEN_RAW_CONV(name##a, D, S, ROUND)                                                                               \
    AKGEN_RAW_CONV(name##z, D, S, TRUNC)
AKGEN_RAW_CONV(f162f32, float, half, NONE)
AKGEN_RAW_CONV_ROUNDED(f162s32, int32_t, half)
AKGEN_RAW_CONV_ROUNDED(f162s16, int16_t, half)
AKGEN_RAW_CONV(f162s8, int8_t, half, NONE)
AKGEN_RAW_CONV_ROUNDED(f162s8, int8_t, half)
AKGEN_RAW_CONV(f162u8, uint8_t, half, NONE)
AKGEN_RAW_CONV_ROUNDED(f162u8, uint8_t, half)
AKGEN_RAW_CONV(f322f16, half, float, NONE)
AKGEN_RAW_CONV(f322f16o, half, float, ODD)
AKGEN_RAW_CONV_ROUNDED(f322f16, half, float)
AKGEN_RAW_CONV_ROUNDED(f322bf16, bfloat16_t, float)
AKGEN_RAW_CONV_ROUNDED(f322f32, float, float)
AKGEN_RAW_CONV_ROUNDED(f322s64, int64_t, float)
AKGEN_RAW_CONV_ROUNDED(f322s32, int32_t, float)
AKGEN_RAW_CONV_ROUNDED(f322s16, int16_t, float)
AKGEN_RAW_CONV(bf162f32, float, bfloat16_t, NONE)
AKGEN_RAW_CONV_ROUNDED(bf162s32, int32_t, bfloat16_t)
AKGEN_RAW_CONV(s82f16, half, int8_t, NONE)
AKGEN_RAW_CONV(u82f16, half, uint8_t, NONE)
AKGEN_RAW_CONV(s162f16, half, int16_t, NONE)
AKGEN_RAW_CONV_ROUNDED(s162f16, half, int16_t)
AKGEN_RAW_CONV(s162f32, float, int16_t, NONE)
AKGEN_RAW_CONV(s322f32, float, int32_t, NONE)
AKGEN_RAW_CONV_ROUNDED(s322f32, float, int32_t)
AKGEN_RAW_CONV(s322s16, int16_t, int32_t, NONE)
AKGEN_RAW_CONV(s322s64, int64_t, int32_t, NONE)
AKGEN_RAW_CONV(s642s32, int32_t, int64_t, NONE)
AKGEN_RAW_CONV_ROUNDED(s642f32, float, int64_t)
/* int32 times the half in the DEQSCALE register. */
AKGEN_RAW_CONV(deq, half, int32_t, NONE)

/* Reductions: dst, src, repeat, stride of dst's repeats, strides of src. */
#define AKGEN_RAW_REDUCE(name, op, T)                                                                                  \
    AKGEN_API void name(__ubuf__ T *dst, __ubuf__ T *src, uint8_t repeat, uint16_t dstRepeatStride,                    \
                        uint16_t srcBlockStride, uint16_t srcRepeatStride)                                             \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_##op, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, 1,          \
                                                           srcBlockStride, dstRepeatStride, srcRepeatStride);          \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_REDUCE(vcgadd, BLOCK_REDUCE_SUM, half)
AKGEN_RAW_REDUCE(vcgadd, BLOCK_REDUCE_SUM, float)
AKGEN_RAW_REDUCE(vcgmax, BLOCK_REDUCE_MAX, half)
AKGEN_RAW_REDUCE(vcgmax, BLOCK_REDUCE_MAX, float)
AKGEN_RAW_REDUCE(vcgmin, BLOCK_REDUCE_MIN, half)
AKGEN_RAW_REDUCE(vcgmin, BLOCK_REDUCE_MIN, float)
AKGEN_RAW_REDUCE(vcpadd, PAIR_REDUCE_SUM, half)
AKGEN_RAW_REDUCE(vcpadd, PAIR_REDUCE_SUM, float)
enum Order_t { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
#define AKGEN_RAW_EXTREME(name, op, T)                                                                                 \
    AKGEN_API void name(__ubuf__ T *dst, __ubuf__ T *src, uint8_t repeat, uint16_t dstRepeatStride,                    \
                        uint16_t srcBlockStride, uint16_t srcRepeatStride, Order_t order)                              \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_##op, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src), repeat, 1,          \
                                                           srcBlockStride, dstRepeatStride, srcRepeatStride);          \
        insn.mode = uint8_t(order);                                                                                    \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_EXTREME(vcmax, WHOLE_REDUCE_MAX, half)
AKGEN_RAW_EXTREME(vcmax, WHOLE_REDUCE_MAX, float)
AKGEN_RAW_EXTREME(vcmin, WHOLE_REDUCE_MIN, half)
AKGEN_RAW_EXTREME(vcmin, WHOLE_REDUCE_MIN, float)

/* Comparisons of float and half: into CMPMASK (one repeat), into bits at dst, with a scalar; and int32 for equality. */
#define AKGEN_RAW_COMPARE(comparison, letters, T)                                                                      \
    AKGEN_API void vcmp_##letters(__ubuf__ T *src0, __ubuf__ T *src1, uint8_t repeat, uint8_t,                         \
                                  uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t, uint8_t src0RepeatStride, \
                                  uint8_t src1RepeatStride)                                                            \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_COMPARE, uint8_t, T>({}, akgen::raw_ub(src0), repeat, 1,                \
                                                                    src0BlockStride, 8, src0RepeatStride);             \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        insn.mode = uint8_t(AscendC::CMPMODE::comparison);                                                             \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    AKGEN_RAW_COMPARE_INTO(comparison, letters, T)
#define AKGEN_RAW_COMPARE_INTO(comparison, letters, T)                                                                 \
    AKGEN_API void vcmpv_##letters(__ubuf__ uint8_t *dst, __ubuf__ T *src0, __ubuf__ T *src1, uint8_t repeat,          \
                                   uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,           \
                                   uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride)        \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_COMPARE, uint8_t, T>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat,   \
                                                                    dstBlockStride, src0BlockStride, dstRepeatStride,  \
                                                                    src0RepeatStride);                                 \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        insn.mode = uint8_t(AscendC::CMPMODE::comparison);                                                             \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    AKGEN_API void vcmpvs_##letters(__ubuf__ uint8_t *dst, __ubuf__ T *src, T value, uint8_t repeat,                   \
                                    uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,        \
                                    uint16_t srcRepeatStride)                                                          \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_COMPARE_SCALAR, uint8_t, T>(akgen::raw_ub(dst), akgen::raw_ub(src),     \
                                                                           repeat, dstBlockStride, srcBlockStride,     \
                                                                           dstRepeatStride, srcRepeatStride);          \
        insn.flags = NPU_INSN_SCALAR_SRC1;                                                                             \
        insn.scalar = akgen::bits_of<T>(value);                                                                        \
        insn.mode = uint8_t(AscendC::CMPMODE::comparison);                                                             \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_RAW_COMPARE_FLOATS(comparison, letters)                                                                  \
    AKGEN_RAW_COMPARE(comparison, letters, half)                                                                       \
    AKGEN_RAW_COMPARE(comparison, letters, float)
AKGEN_RAW_COMPARE_FLOATS(LT, lt)
AKGEN_RAW_COMPARE_FLOATS(GT, gt)
AKGEN_RAW_COMPARE_FLOATS(EQ, eq)
AKGEN_RAW_COMPARE_FLOATS(LE, le)
AKGEN_RAW_COMPARE_FLOATS(GE, ge)
AKGEN_RAW_COMPARE_FLOATS(NE, ne)
AKGEN_RAW_COMPARE_INTO(EQ, eq, int32_t)
#undef AKGEN_RAW_COMPARE
#undef AKGEN_RAW_COMPARE_INTO
#undef AKGEN_RAW_COMPARE_FLOATS

#undef AKGEN_RAW_BINARY
#undef AKGEN_RAW_UNARY
#undef AKGEN_RAW_SCALAR
#undef AKGEN_RAW_SHIFT
#undef AKGEN_RAW_SAME
#undef AKGEN_RAW_FLOATS
#undef AKGEN_RAW_ARITH
#undef AKGEN_RAW_BITS
#undef AKGEN_RAW_DUP
#undef AKGEN_RAW_BRCB
#undef AKGEN_RAW_CONV
#undef AKGEN_RAW_CONV_ROUNDED
#undef AKGEN_RAW_REDUCE
#undef AKGEN_RAW_EXTREME

namespace AscendC
{
/* Internal functions of CANN that published kernels call. */
template <typename T> AKGEN_API void DuplicateImpl(__ubuf__ T *dst, const T &scalarValue, const int32_t &count)
{
    static_assert(akgen::require_type<NPU_OP_DUPLICATE, T>::ok);
    npu_insn insn = akgen::start<NPU_OP_DUPLICATE, T, T>(akgen::raw_ub(dst));
    insn.scalar = akgen::bits_of<T>(scalarValue);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
template <typename T, bool isSetMask = true>
AKGEN_API void DuplicateImpl(__ubuf__ T *dst, const T &scalarValue, uint64_t mask, const uint8_t repeatTime,
                             const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
    static_assert(akgen::require_type<NPU_OP_DUPLICATE, T>::ok);
    npu_insn insn = akgen::start<NPU_OP_DUPLICATE, T, T>(akgen::raw_ub(dst));
    insn.scalar = akgen::bits_of<T>(scalarValue);
    akgen::by_mask<isSetMask>(insn, mask, repeatTime);
    insn.dst_blk = dstBlockStride;
    insn.dst_rep = dstRepeatStride;
    npu_issue(&insn);
}
} // namespace AscendC

#endif
