/* Vector instructions with one tensor operand. */
#ifndef ASCENDC_VECTOR_UNARY_H
#define ASCENDC_VECTOR_UNARY_H

#include "basic/issue.h"

namespace AscendC
{

#define AKGEN_UNARY(Name, op)                                                                                          \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[],                         \
                        const uint8_t repeatTime, const UnaryRepeatParams &repeatParams)                               \
    {                                                                                                                  \
        npu_insn insn = akgen::unary<op, T>(dst, src);                                                                 \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const uint8_t repeatTime, \
                        const UnaryRepeatParams &repeatParams)                                                         \
    {                                                                                                                  \
        npu_insn insn = akgen::unary<op, T>(dst, src);                                                                 \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)                    \
    {                                                                                                                  \
        npu_insn insn = akgen::unary<op, T>(dst, src);                                                                 \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }

AKGEN_UNARY(Abs, NPU_OP_ABS)
AKGEN_UNARY(Exp, NPU_OP_EXP)
AKGEN_UNARY(Ln, NPU_OP_LN)
AKGEN_UNARY(Sqrt, NPU_OP_SQRT)
AKGEN_UNARY(Rsqrt, NPU_OP_RSQRT)
AKGEN_UNARY(Reciprocal, NPU_OP_RECIPROCAL)
AKGEN_UNARY(Relu, NPU_OP_RELU)
AKGEN_UNARY(Not, NPU_OP_NOT)
#undef AKGEN_UNARY

} // namespace AscendC

#endif
