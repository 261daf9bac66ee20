/* Vector instructions with two tensor operands of one type, in their three forms: bit-wise mask, contiguous mask,
 * count. */
#ifndef ASCENDC_VECTOR_BINARY_H
#define ASCENDC_VECTOR_BINARY_H

#include "basic/issue.h"

namespace AscendC
{

#define AKGEN_BINARY_MASKED(Name, op)                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)             \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)               \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_BINARY(Name, op)                                                                                         \
    AKGEN_BINARY_MASKED(Name, op)                                                                                      \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        const int32_t &count)                                                                          \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }

AKGEN_BINARY(Add, NPU_OP_ADD)
AKGEN_BINARY(Sub, NPU_OP_SUB)
AKGEN_BINARY(Mul, NPU_OP_MUL)
AKGEN_BINARY(Div, NPU_OP_DIV)
AKGEN_BINARY(Max, NPU_OP_MAX)
AKGEN_BINARY(Min, NPU_OP_MIN)
/* dst = src0 * dst + src1 */
AKGEN_BINARY(FusedMulAdd, NPU_OP_FUSED_MUL_ADD)
#undef AKGEN_BINARY

/* By a mask of 16-bit types only. By count of any type, whose memory counts as 16-bit elements, `count` of them: so does
 * kernel_operator_vec_binary_impl.h of NPU_ARCH 2201. */
#define AKGEN_BITWISE(Name, op)                                                                                        \
    AKGEN_BINARY_MASKED(Name, op)                                                                                      \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        const int32_t &count)                                                                          \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, int16_t>(dst.template ReinterpretCast<int16_t>(),                            \
                                                   src0.template ReinterpretCast<int16_t>(),                           \
                                                   src1.template ReinterpretCast<int16_t>());                          \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_BITWISE(And, NPU_OP_AND)
AKGEN_BITWISE(Or, NPU_OP_OR)
#undef AKGEN_BITWISE
#undef AKGEN_BINARY_MASKED

} // namespace AscendC

#endif
