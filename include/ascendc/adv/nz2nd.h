/* DataCopy with Nz2NdParamsFull: fractal matrices in UB become matrices by rows in GM. */
#ifndef ASCENDC_ADV_NZ2ND_H
#define ASCENDC_ADV_NZ2ND_H

#include "adv/call.h"

namespace AscendC
{

struct Nz2NdParamsFull {
    AKGEN_API Nz2NdParamsFull()
    {
    }
    AKGEN_API Nz2NdParamsFull(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                              const uint16_t srcNdMatrixStrideIn, const uint16_t srcNStrideIn,
                              const uint16_t dstDStrideIn, const uint16_t dstNdMatrixStrideIn)
        : ndNum(ndNumIn), nValue(nValueIn), dValue(dValueIn), srcNdMatrixStride(srcNdMatrixStrideIn),
          srcNStride(srcNStrideIn), dstDStride(dstDStrideIn), dstNdMatrixStride(dstNdMatrixStrideIn)
    {
    }
    uint16_t ndNum = 1;             /* matrices */
    uint16_t nValue = 0;            /* rows of each */
    uint16_t dValue = 0;            /* columns of each, a multiple of 16 */
    uint16_t srcNdMatrixStride = 1; /* from matrix to matrix in UB, in 256 elements */
    uint16_t srcNStride = 0;        /* from 16 columns to the next 16 in UB, in 16 elements */
    uint16_t dstDStride = 0;        /* from row to row in GM, in elements */
    uint16_t dstNdMatrixStride = 1; /* from matrix to matrix in GM, in elements */
};

template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const Nz2NdParamsFull &intriParams)
{
    npu_adv call = akgen::adv<NPU_ADV_COPY_NZ2ND, T>(dst.akgen_tensor, src.akgen_tensor, 0);
    npu_nz2nd params = {
        intriParams.ndNum,      intriParams.nValue,     intriParams.dValue,           intriParams.srcNdMatrixStride,
        intriParams.srcNStride, intriParams.dstDStride, intriParams.dstNdMatrixStride};
    call.flags = NPU_ADV_NO_TMP;
    call.tiling = &params;
    npu_advanced(&call);
}

} // namespace AscendC

#endif
