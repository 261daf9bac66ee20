/* Vector instructions with two tensor operands of one type, in their three forms: bit-wise mask, contiguous mask,
 * count. */
#ifndef ASCENDC_VECTOR_BINARY_H
#define ASCENDC_VECTOR_BINARY_H

#include "basic/issue.h"

namespace AscendC
{

#define AKGEN_BINARY(Name, op)                                                                                         \
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
    }                                                                                                                  \
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
AKGEN_BINARY(And, NPU_OP_AND)
AKGEN_BINARY(Or, NPU_OP_OR)
/* dst = src0 * dst + src1 */
AKGEN_BINARY(FusedMulAdd, NPU_OP_FUSED_MUL_ADD)
#undef AKGEN_BINARY

} // namespace AscendC

#endif
