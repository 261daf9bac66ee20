/* Select between a tensor and a scalar by a mask of whole elements. */
#ifndef ASCENDC_ADV_SELECT_H
#define ASCENDC_ADV_SELECT_H

#include "adv/call.h"

namespace AscendC
{

struct SelectWithBytesMaskShapeInfo {
    AKGEN_API SelectWithBytesMaskShapeInfo()
    {
    }
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

} // namespace AscendC

namespace akgen
{
template <typename T, typename U, bool isReuseMask, bool reverse>
AKGEN_API void select_bytes(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, T scalar,
                            const AscendC::LocalTensor<U> &mask, const AscendC::LocalTensor<uint8_t> &sharedTmpBuffer,
                            const AscendC::SelectWithBytesMaskShapeInfo &info)
{
    static_assert(std::is_integral_v<U> && sizeof(U) <= 4,
                  "SelectWithBytesMask: the mask's type is bool, or an integer of 8, 16 or 32 bits");
    npu_adv call = adv<NPU_ADV_SELECT_BYTES, T>(raw(dst), raw(src), src.GetSize());
    call.flags = (reverse ? NPU_ADV_REVERSE : 0) | (isReuseMask ? 0 : NPU_ADV_KEEP_MASK);
    call.src[1] = raw(mask);
    call.scalar[0] = bits_of<T>(scalar);
    call.tmp = raw(sharedTmpBuffer);
    call.shape[0] = info.firstAxis;
    call.shape[1] = info.srcLastAxis;
    call.shape[2] = info.maskLastAxis;
    call.shape[3] = sizeof(U);
    npu_advanced(&call);
}
} // namespace akgen

namespace AscendC
{

/* CANN's name today and the one before. 0 in the mask takes the first source. */
#define AKGEN_SELECT_BYTES(Name)                                                                                       \
    template <typename T, typename U, bool isReuseMask = true>                                                         \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,     \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const SelectWithBytesMaskShapeInfo &info)         \
    {                                                                                                                  \
        akgen::select_bytes<T, U, isReuseMask, false>(dst, src0, src1, mask, sharedTmpBuffer, info);                   \
    }                                                                                                                  \
    template <typename T, typename U, bool isReuseMask = true>                                                         \
    AKGEN_API void Name(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,     \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const SelectWithBytesMaskShapeInfo &info)         \
    {                                                                                                                  \
        akgen::select_bytes<T, U, isReuseMask, true>(dst, src1, src0, mask, sharedTmpBuffer, info);                    \
    }
AKGEN_SELECT_BYTES(SelectWithBytesMask)
AKGEN_SELECT_BYTES(Select)
#undef AKGEN_SELECT_BYTES

} // namespace AscendC

#endif
