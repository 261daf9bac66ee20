/* High-level APIs that compute element by element: one source, one result, with or without sharedTmpBuffer and
 * calCount. */
#ifndef ASCENDC_ADV_ELEMENTWISE_H
#define ASCENDC_ADV_ELEMENTWISE_H

#include "adv/call.h"

namespace AscendC
{

#define AKGEN_ADV_UNARY(Name, op)                                                                                      \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                              \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount)                          \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                              \
                        const LocalTensor<uint8_t> &sharedTmpBuffer)                                                   \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize());                            \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount)     \
    {                                                                                                                  \
        npu_adv call = akgen::adv<op, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, calCount, isReuseSource);     \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor)                              \
    {                                                                                                                  \
        Name<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());                                             \
    }

AKGEN_ADV_UNARY(Sigmoid, NPU_ADV_SIGMOID)

} // namespace AscendC

#endif
