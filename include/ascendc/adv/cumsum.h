/* CumSum: running sums along one axis of a matrix. */
#ifndef ASCENDC_ADV_CUMSUM_H
#define ASCENDC_ADV_CUMSUM_H

#include "adv/call.h"

namespace AscendC
{

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0}; /* a row fills whole blocks of 32 bytes */
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true};

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
AKGEN_API void CumSum(LocalTensor<T> &dstTensor, LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor,
                      LocalTensor<uint8_t> &sharedTmpBuffer, const CumSumInfo &cumSumInfo)
{
    npu_adv call = akgen::adv<NPU_ADV_CUMSUM, T>(dstTensor.akgen_tensor, srcTensor.akgen_tensor, 0);
    if (config.outputLastRow)
        call.dst[1] = lastRowTensor.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    call.shape[0] = cumSumInfo.outter;
    call.shape[1] = cumSumInfo.inner;
    call.shape[2] = config.isLastAxis;
    call.shape[3] = config.outputLastRow;
    npu_advanced(&call);
}
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
AKGEN_API void CumSum(LocalTensor<T> &dstTensor, LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor,
                      const CumSumInfo &cumSumInfo)
{
    LocalTensor<uint8_t> none;
    none.akgen_tensor = npu_tensor{};
    CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, none, cumSumInfo);
}

} // namespace AscendC

#endif
