/* Broadcast of a vector or a matrix along one axis. */
#ifndef ASCENDC_ADV_BROADCAST_H
#define ASCENDC_ADV_BROADCAST_H

#include "adv/call.h"

namespace akgen
{
/* A vector is a matrix of one row. */
template <typename T, int32_t dim, int32_t axis>
AKGEN_API npu_adv broadcast(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                            const uint32_t *dstShape, const uint32_t *srcShape)
{
    static_assert(dim == 1 || dim == 2, "BroadCast: dim is 1 or 2");
    static_assert(axis == 0 || axis == 1, "BroadCast: axis is 0 or 1");
    npu_adv call = adv<NPU_ADV_BROADCAST, T>(raw(dst), raw(src), 0);
    call.shape[0] = dim == 1 ? 1 : dstShape[0];
    call.shape[1] = dstShape[dim - 1];
    call.shape[2] = dim == 1 ? 1 : srcShape[0];
    call.shape[3] = srcShape[dim - 1];
    call.shape[4] = axis;
    return call;
}
} // namespace akgen

namespace AscendC
{

/* Both spellings of CANN. */
#define AKGEN_BROADCAST(Name)                                                                                          \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                       \
    AKGEN_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t dstShape[dim],  \
                        const uint32_t srcShape[dim], LocalTensor<uint8_t> &sharedTmpBuffer)                           \
    {                                                                                                                  \
        npu_adv call = akgen::broadcast<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape);                         \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                       \
    AKGEN_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t dstShape[dim],  \
                        const uint32_t srcShape[dim])                                                                  \
    {                                                                                                                  \
        npu_adv call = akgen::broadcast<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape);                         \
        npu_advanced(&call);                                                                                           \
    }
AKGEN_BROADCAST(BroadCast)
AKGEN_BROADCAST(Broadcast)
#undef AKGEN_BROADCAST

} // namespace AscendC

#endif
