/* DropOut: a mask of a byte or a bit for each element. */
#ifndef ASCENDC_ADV_DROPOUT_H
#define ASCENDC_ADV_DROPOUT_H

#include "adv/call.h"

namespace AscendC
{

constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;

struct DropOutShapeInfo {
    AKGEN_API DropOutShapeInfo()
    {
    }
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

/* dropOutMode 0: told from the two last axes. */
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
AKGEN_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal,
                       const LocalTensor<uint8_t> &maskLocal, const LocalTensor<uint8_t> &sharedTmpBuffer,
                       const float keepProb, const DropOutShapeInfo &info)
{
    static_assert(dropOutMode <= DROPOUT_MODE_BIT_MISALIGN, "DropOut: dropOutMode is 0 to 4");
    npu_adv call = akgen::adv<NPU_ADV_DROPOUT, T>(dstLocal.akgen_tensor, srcLocal.akgen_tensor, 0);
    call.flags = isInitBitMode ? NPU_ADV_PREPARED : 0;
    call.src[1] = maskLocal.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.scalar[0] = akgen::bits_of<float>(keepProb);
    call.shape[0] = info.firstAxis;
    call.shape[1] = info.srcLastAxis;
    call.shape[2] = info.maskLastAxis;
    call.shape[3] = dropOutMode;
    if (dropOutMode == 0)
        call.shape[3] = info.srcLastAxis < info.maskLastAxis        ? DROPOUT_MODE_BYTE_MISALIGN
                        : info.srcLastAxis == info.maskLastAxis     ? DROPOUT_MODE_BYTE_ALIGN
                        : info.srcLastAxis == info.maskLastAxis * 8 ? DROPOUT_MODE_BIT_ALIGN
                                                                    : DROPOUT_MODE_BIT_MISALIGN;
    npu_advanced(&call);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
AKGEN_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal,
                       const LocalTensor<uint8_t> &maskLocal, const float keepProb, const DropOutShapeInfo &info)
{
    const LocalTensor<uint8_t> none;
    DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, none, keepProb, info);
}

} // namespace AscendC

#endif
