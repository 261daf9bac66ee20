/* DataCopy with SliceInfo: pieces of a tensor of several dimensions between GM and UB. */
#ifndef ASCENDC_ADV_SLICES_H
#define ASCENDC_ADV_SLICES_H

#include "adv/call.h"
#include "basic/params.h"

namespace akgen
{

/* Extents that SliceInfo leaves out are the tensor's own. */
template <typename Tensor>
AKGEN_API void slices_of(npu_slice *to, const Tensor &tensor, const AscendC::SliceInfo *from, uint32_t dims, bool own)
{
    for (uint32_t i = 0; i < dims && i < NPU_SLICE_DIMS; i++)
        to[i] = {from[i].startIndex, from[i].endIndex, from[i].stride, from[i].burstLen,
                 own ? tensor.GetShapeInfo().shape[i] : from[i].shapeValue};
}
template <typename T, typename D, typename S>
AKGEN_API void copy_slices(const D &dst, const S &src, const AscendC::SliceInfo *dstSlices,
                           const AscendC::SliceInfo *srcSlices, uint32_t dims)
{
    npu_adv call = adv<NPU_ADV_COPY_SLICES, T>(dst.akgen_tensor, src.akgen_tensor, 0);
    npu_slices slices;
    slices.dims = dims;
    slices_of(slices.dst, dst, dstSlices, dims, srcSlices[0].shapeValue == 0);
    slices_of(slices.src, src, srcSlices, dims, srcSlices[0].shapeValue == 0);
    call.flags = NPU_ADV_NO_TMP;
    call.tiling = &slices;
    npu_advanced(&call);
}

} // namespace akgen

namespace AscendC
{

template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSliceInfo[],
                        const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    akgen::copy_slices<T>(dst, src, dstSliceInfo, srcSliceInfo, dimValue);
}
template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSliceInfo[],
                        const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    akgen::copy_slices<T>(dst, src, dstSliceInfo, srcSliceInfo, dimValue);
}

} // namespace AscendC

#endif
