/* c = a + b and its relatives on LocalTensors: the assignment issues the instruction over the destination's extent. */
#ifndef ASCENDC_OPERATORS_H
#define ASCENDC_OPERATORS_H

#include "basic/vector_compare.h"

namespace akgen
{
template <npu_op op, typename D, typename T>
AKGEN_API void assign(const AscendC::LocalTensor<D> &dst, const tensor_expression<op, T> &e, uint32_t elements)
{
    static_assert(require_type<op, T>::ok);
    npu_insn insn = start<op, D, T>(raw(dst));
    insn.src1_type = insn.src_type;
    insn.src0 = e.src0;
    insn.src1 = e.src1;
    insn.mode = e.mode;
    by_count(insn, elements);
    npu_issue(&insn);
}
} // namespace akgen

namespace AscendC
{
#define AKGEN_ASSIGN(op)                                                                                               \
    template <typename T> AKGEN_API void LocalTensor<T>::operator=(const akgen::tensor_expression<op, T> &e)           \
    {                                                                                                                  \
        akgen::assign(*this, e, GetSize());                                                                            \
    }
AKGEN_ASSIGN(NPU_OP_ADD)
AKGEN_ASSIGN(NPU_OP_SUB)
AKGEN_ASSIGN(NPU_OP_MUL)
AKGEN_ASSIGN(NPU_OP_DIV)
AKGEN_ASSIGN(NPU_OP_OR)
AKGEN_ASSIGN(NPU_OP_AND)
#undef AKGEN_ASSIGN
/* The result has one bit per element: as many elements as the sources hold. */
template <typename T> AKGEN_API void LocalTensor<T>::operator=(const akgen::tensor_expression<NPU_OP_COMPARE, float> &e)
{
    static_assert(akgen::require_bits<T>::ok);
    akgen::assign(*this, e, e.src0.bytes / sizeof(float));
}
template <typename T> AKGEN_API void LocalTensor<T>::operator=(const akgen::tensor_expression<NPU_OP_COMPARE, half> &e)
{
    static_assert(akgen::require_bits<T>::ok);
    akgen::assign(*this, e, e.src0.bytes / sizeof(half));
}
} // namespace AscendC

#endif
