/* TopK. */
#ifndef ASCENDC_ADV_TOPK_H
#define ASCENDC_ADV_TOPK_H

#include "adv/call.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC
{

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
/* inner: n rounded up to a multiple of 32. */
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
AKGEN_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal,
                    const LocalTensor<T> &srcLocal, const LocalTensor<int32_t> &srcIndexLocal,
                    const LocalTensor<bool> &finishLocal, const LocalTensor<uint8_t> &tmpLocal, const int32_t k,
                    const TopkTiling &tilling, const TopKInfo &topKInfo, const bool isLargest = true)
{
    npu_adv call = akgen::adv<NPU_ADV_TOPK, T>(dstValueLocal.akgen_tensor, srcLocal.akgen_tensor, k);
    call.dst[1] = dstIndexLocal.akgen_tensor;
    call.src[1] = srcIndexLocal.akgen_tensor;
    call.src[2] = finishLocal.akgen_tensor;
    call.tmp = tmpLocal.akgen_tensor;
    call.tiling = &tilling;
    call.shape[0] = topKInfo.outter;
    call.shape[1] = topKInfo.inner;
    call.shape[2] = topKInfo.n;
    call.shape[3] = isLargest;
    call.shape[4] = isInitIndex;
    call.shape[5] = isHasfinish;
    call.shape[6] = topkMode == TopKMode::TOPK_NSMALL;
    npu_advanced(&call);
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
AKGEN_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal,
                    const LocalTensor<T> &srcLocal, const LocalTensor<int32_t> &srcIndexLocal,
                    const LocalTensor<bool> &finishLocal, const int32_t k, const TopkTiling &tilling,
                    const TopKInfo &topKInfo, const bool isLargest = true)
{
    const LocalTensor<uint8_t> none;
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal,
                                                            finishLocal, none, k, tilling, topKInfo, isLargest);
}

} // namespace AscendC

#endif
