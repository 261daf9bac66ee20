/* Moving data: GM <-> UB and UB <-> UB. With a count the instruction has form NPU_FORM_COUNT and `count` elements; with
 * parameters it is described by `copy` and its form is NPU_FORM_MASK_REG. Which pipe it uses the positions decide. */
#ifndef ASCENDC_DATA_COPY_H
#define ASCENDC_DATA_COPY_H

#include "basic/issue.h"

namespace akgen
{

template <npu_op op, typename T, typename D, typename S> AKGEN_API npu_insn transfer(const D &dst, const S &src)
{
    static_assert(require_type<op, T>::ok);
    npu_insn insn = start<op, T, T>(raw(dst));
    insn.src0 = raw(src);
    return insn;
}
template <typename T, typename D, typename S> AKGEN_API void copy_count(const D &dst, const S &src, uint32_t count)
{
    npu_insn insn = transfer<NPU_OP_DATA_COPY, T>(dst, src);
    by_count(insn, count);
    npu_issue_copy(&insn);
}
template <npu_op op, typename T, typename D, typename S, typename P>
AKGEN_API npu_insn copy_blocks(const D &dst, const S &src, const P &params)
{
    npu_insn insn = transfer<op, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    insn.copy.block_count = params.blockCount;
    insn.copy.block_len = params.blockLen;
    insn.copy.src_stride = params.srcStride;
    insn.copy.dst_stride = params.dstStride;
    return insn;
}
/* DataCopyPad takes every element type, but B64 with its own padding rules: those are the machine's. */
template <typename T, typename P, typename Q>
AKGEN_API void copy_pad_in(const AscendC::LocalTensor<T> &dst, const AscendC::GlobalTensor<T> &src, const P &params,
                           const Q &pad, uint64_t value)
{
    npu_insn insn = copy_blocks<NPU_OP_DATA_COPY_PAD, T>(dst, src, params);
    insn.copy.pad = pad.isPad;
    insn.copy.left = pad.leftPadding;
    insn.copy.right = pad.rightPadding;
    insn.copy.pad_value = value;
    npu_issue_copy(&insn);
}

} // namespace akgen

namespace AscendC
{

template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count)
{
    akgen::copy_count<T>(dst, src, count);
}
template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count)
{
    akgen::copy_count<T>(dst, src, count);
}
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count)
{
    akgen::copy_count<T>(dst, src, count);
}
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &repeatParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY, T>(dst, src, repeatParams);
    npu_issue_copy(&insn);
}
template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY, T>(dst, src, repeatParams);
    npu_issue_copy(&insn);
}
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY, T>(dst, src, repeatParams);
    npu_issue_copy(&insn);
}

template <typename T>
AKGEN_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &dataCopyParams,
                           const DataCopyPadParams &padParams)
{
    akgen::copy_pad_in<T>(dst, src, dataCopyParams, padParams, padParams.paddingValue);
}
template <typename T>
AKGEN_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                           const DataCopyExtParams &dataCopyParams, const DataCopyPadExtParams<T> &padParams)
{
    akgen::copy_pad_in<T>(dst, src, dataCopyParams, padParams, akgen::bits_of<T>(padParams.paddingValue));
}
template <typename T>
AKGEN_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &dataCopyParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY_PAD, T>(dst, src, dataCopyParams);
    npu_issue_copy(&insn);
}
template <typename T>
AKGEN_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                           const DataCopyExtParams &dataCopyParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY_PAD, T>(dst, src, dataCopyParams);
    npu_issue_copy(&insn);
}

} // namespace AscendC

#endif
