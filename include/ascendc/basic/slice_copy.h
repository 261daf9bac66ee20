/* DataCopy of a slice of a tensor with up to eight dimensions, the innermost first: a copy for each of its rows
 * (asc-devkit docs, DataCopy, "切片数据搬运"; impl/basic_api/kernel_operator_data_copy_base_impl.h). */
#ifndef ASCENDC_SLICE_COPY_H
#define ASCENDC_SLICE_COPY_H

#include "basic/data_copy.h"

namespace akgen
{

/* Where the slice's rows begin, in elements. */
struct slice_rows {
    const AscendC::SliceInfo *slices;
    uint32_t shape[AscendC::K_MAX_SHAPE_DIM];
    uint32_t dims;

    template <typename Tensor>
    AKGEN_API slice_rows(const AscendC::SliceInfo *slices, uint32_t dims, bool stated, const Tensor &tensor)
        : slices(slices), dims(dims)
    {
        for (uint32_t i = 0; i < dims; i++)
            shape[i] = stated ? slices[i].shapeValue : tensor.GetShapeInfo().shape[i];
    }
    AKGEN_API uint32_t along(uint32_t dim) const
    {
        return (slices[dim].endIndex - slices[dim].startIndex + 1 + slices[dim].stride) / (1 + slices[dim].stride);
    }
    AKGEN_API uint32_t count() const
    {
        uint32_t rows = 1;
        for (uint32_t i = 1; i < dims; i++)
            rows *= along(i);
        return rows;
    }
    AKGEN_API uint32_t start(uint32_t row) const
    {
        uint32_t at = slices[0].startIndex, elements = 1;
        for (uint32_t i = 1; i < dims; i++) {
            elements *= shape[i - 1];
            at += (slices[i].startIndex + row % along(i) * (1 + slices[i].stride)) * elements;
            row /= along(i);
        }
        return at;
    }
};
/* A row: pieces of burstLen blocks with `stride` elements between them; UB counts gaps in blocks, GM in either. */
template <typename T> AKGEN_API uint32_t pieces(const AscendC::SliceInfo &row)
{
    uint32_t piece = row.burstLen * (AscendC::ONE_BLK_SIZE / sizeof(T)) + row.stride;
    return (row.endIndex - row.startIndex + 1 + row.stride) / piece;
}
template <typename T> AKGEN_API bool whole_blocks(uint32_t elements)
{
    return elements * sizeof(T) % AscendC::ONE_BLK_SIZE == 0;
}
template <typename T> AKGEN_API uint16_t in_blocks(uint32_t elements)
{
    return uint16_t(elements * sizeof(T) / AscendC::ONE_BLK_SIZE);
}

} // namespace akgen

namespace AscendC
{

template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSliceInfo[],
                        const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    const SliceInfo &row = srcSliceInfo[0];
    const bool stated = row.shapeValue != 0;
    const akgen::slice_rows from(srcSliceInfo, dimValue, stated, src), to(dstSliceInfo, dimValue, stated, dst);
    const uint16_t count = uint16_t(akgen::pieces<T>(row)), gap = akgen::in_blocks<T>(dstSliceInfo[0].stride);
    for (uint32_t i = 0; i < from.count(); i++) {
        const LocalTensor<T> target = dst[to.start(i)];
        const GlobalTensor<T> source = src[from.start(i)];
        if (akgen::whole_blocks<T>(row.stride))
            DataCopy(target, source,
                     DataCopyParams(count, uint16_t(row.burstLen), akgen::in_blocks<T>(row.stride), gap));
        else
            DataCopyPad(target, source,
                        DataCopyExtParams(count, row.burstLen * ONE_BLK_SIZE, uint32_t(row.stride * sizeof(T)), gap, 0),
                        DataCopyPadExtParams<T>(false, 0, 0, T(0)));
    }
}
template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSliceInfo[],
                        const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    const SliceInfo &row = srcSliceInfo[0];
    const bool stated = row.shapeValue != 0;
    const uint32_t stride = dstSliceInfo[0].stride;
    const akgen::slice_rows from(srcSliceInfo, dimValue, stated, src), to(dstSliceInfo, dimValue, stated, dst);
    const uint16_t count = uint16_t(akgen::pieces<T>(row)), gap = akgen::in_blocks<T>(row.stride);
    for (uint32_t i = 0; i < from.count(); i++) {
        const GlobalTensor<T> target = dst[to.start(i)];
        const LocalTensor<T> source = src[from.start(i)];
        if (akgen::whole_blocks<T>(stride))
            DataCopy(target, source, DataCopyParams(count, uint16_t(row.burstLen), gap, akgen::in_blocks<T>(stride)));
        else
            DataCopyPad(target, source,
                        DataCopyExtParams(count, row.burstLen * ONE_BLK_SIZE, gap, uint32_t(stride * sizeof(T)), 0));
    }
}

} // namespace AscendC

#endif
