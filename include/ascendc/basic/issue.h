/* How API functions fill struct npu_insn: operands, forms and strides. */
#ifndef ASCENDC_ISSUE_H
#define ASCENDC_ISSUE_H

#include "basic/tensor.h"

namespace akgen
{

/* An instruction with its destination and element types; everything else zero. */
template <npu_op op, typename D, typename S> AKGEN_API npu_insn start(const npu_tensor &dst)
{
    npu_insn insn = {};
    insn.op = op;
    insn.dst_type = dtype_of<D>::value;
    insn.src_type = dtype_of<S>::value;
    insn.dst = dst;
    return insn;
}
AKGEN_API void by_count(npu_insn &insn, int64_t count)
{
    insn.form = NPU_FORM_COUNT;
    insn.count = uint32_t(count);
}
/* isSetMask = false: one repeat under the mask registers (in counter mode: as many as they say); `count` is not
 * read. */
template <bool isSetMask> AKGEN_API void by_count_or_registers(npu_insn &insn, int64_t count)
{
    if (isSetMask) {
        by_count(insn, count);
        return;
    }
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = 1;
    insn.dst_blk = insn.src0_blk = insn.src1_blk = 1;
    insn.dst_rep = insn.src0_rep = insn.src1_rep = 8;
}
template <bool isSetMask = true> AKGEN_API void by_mask(npu_insn &insn, uint64_t mask, uint32_t repeat)
{
    insn.form = isSetMask ? NPU_FORM_MASK_LEN : NPU_FORM_MASK_REG;
    insn.mask[0] = mask;
    insn.repeat = repeat;
}
template <bool isSetMask = true> AKGEN_API void by_mask(npu_insn &insn, const uint64_t mask[], uint32_t repeat)
{
    insn.form = isSetMask ? NPU_FORM_MASK_BITS : NPU_FORM_MASK_REG;
    if (isSetMask) {
        insn.mask[0] = mask[0];
        insn.mask[1] = mask[1];
    }
    insn.repeat = repeat;
}
AKGEN_API void strides(npu_insn &insn, const AscendC::BinaryRepeatParams &p)
{
    insn.dst_blk = p.dstBlkStride;
    insn.src0_blk = p.src0BlkStride;
    insn.src1_blk = p.src1BlkStride;
    insn.dst_rep = p.dstRepStride;
    insn.src0_rep = p.src0RepStride;
    insn.src1_rep = p.src1RepStride;
}
AKGEN_API void strides(npu_insn &insn, const AscendC::UnaryRepeatParams &p)
{
    insn.dst_blk = p.dstBlkStride;
    insn.src0_blk = p.srcBlkStride;
    insn.dst_rep = p.dstRepStride;
    insn.src0_rep = p.srcRepStride;
}

/* dst = op(src0, src1) */
template <npu_op op, typename T>
AKGEN_API npu_insn binary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src0,
                          const AscendC::LocalTensor<T> &src1)
{
    static_assert(require_type<op, T>::ok);
    npu_insn insn = start<op, T, T>(raw(dst));
    insn.src1_type = insn.src_type;
    insn.src0 = raw(src0);
    insn.src1 = raw(src1);
    return insn;
}
/* dst = op(src) */
template <npu_op op, typename T>
AKGEN_API npu_insn unary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src)
{
    static_assert(require_type<op, T>::ok);
    npu_insn insn = start<op, T, T>(raw(dst));
    insn.src0 = raw(src);
    return insn;
}
/* dst = op(src, scalar) */
template <npu_op op, typename T>
AKGEN_API npu_insn with_scalar(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, T scalar)
{
    npu_insn insn = unary<op, T>(dst, src);
    insn.scalar = bits_of<T>(scalar);
    return insn;
}

} // namespace akgen

#endif
