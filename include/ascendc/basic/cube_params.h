/* Parameter structures, enumerations and constants of the cube's instructions. Members, order and default values as in
 * CANN 8.1 for NPU_ARCH 2201: kernels fill them by name and by position. */
#ifndef ASCENDC_CUBE_PARAMS_H
#define ASCENDC_CUBE_PARAMS_H

#include "basic/params.h"

enum QuantMode_t {
    NoQuant = NPU_QUANT_NONE,
    F322F16 = NPU_QUANT_F322F16,
    F322BF16 = NPU_QUANT_F322BF16,
    DEQF16 = NPU_QUANT_DEQF16,
    VDEQF16 = NPU_QUANT_VDEQF16,
    QF322B8_PRE = NPU_QUANT_QF322B8,
    VQF322B8_PRE = NPU_QUANT_VQF322B8,
    REQ8 = NPU_QUANT_REQ8,
    VREQ8 = NPU_QUANT_VREQ8
};
enum pad_t : uint8_t {
    PAD_NONE,
    PAD_MODE1,
    PAD_MODE2,
    PAD_MODE3,
    PAD_MODE4,
    PAD_MODE5,
    PAD_MODE6,
    PAD_MODE7,
    PAD_MODE8
};

/* LoadData2DParams::addrMode, an enumeration of CANN's compiler. */
enum addr_cal_mode_t { inc = 0, dec = 1 };

namespace AscendC
{

constexpr uint8_t PAD_SIZE = 4;
/* Without what the queue between Matmul objects and the AIC keeps. */
constexpr uint32_t TOTAL_L1_SIZE = 512 * 1024 - 128;
constexpr uint32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0B_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0C_SIZE = 128 * 1024;

enum class HF32Mode { ENABLE, DISABLE };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };
enum class CO2Layout : uint8_t { NZ, ROW_MAJOR, COLUMN_MAJOR };
enum class FmatrixMode : uint8_t { FMATRIX_LEFT, FMATRIX_RIGHT };
enum class BlockMode : uint8_t {
    BLOCK_MODE_NORMAL,
    BLOCK_MODE_MATRIX,
    BLOCK_MODE_VECTOR,
    BLOCK_MODE_SMALL_CHANNEL,
    BLOCK_MODE_DEPTHWISE
};
enum class DeqScale : uint8_t { DEQ_NONE, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };

struct Nd2NzParams {
    AKGEN_CONSTANT Nd2NzParams()
    {
    }
    AKGEN_CONSTANT Nd2NzParams(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                               const uint16_t srcNdMatrixStrideIn, const uint16_t srcDValueIn,
                               const uint16_t dstNzC0StrideIn, const uint16_t dstNzNStrideIn,
                               const uint16_t dstNzMatrixStrideIn)
        : ndNum(ndNumIn), nValue(nValueIn), dValue(dValueIn), srcNdMatrixStride(srcNdMatrixStrideIn),
          srcDValue(srcDValueIn), dstNzC0Stride(dstNzC0StrideIn), dstNzNStride(dstNzNStrideIn),
          dstNzMatrixStride(dstNzMatrixStrideIn)
    {
    }
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;
};

struct DataCopyEnhancedParams {
    AKGEN_CONSTANT DataCopyEnhancedParams()
    {
    }
    AKGEN_CONSTANT DataCopyEnhancedParams(const BlockMode blockModeIn, const DeqScale deqScaleIn,
                                          const uint64_t deqValueIn, const uint8_t sidStoreModeIn, const bool isReluIn,
                                          const pad_t padModeIn, const uint64_t padValueIn)
        : blockMode(blockModeIn), deqScale(deqScaleIn), deqValue(deqValueIn), sidStoreMode(sidStoreModeIn),
          isRelu(isReluIn), padMode(padModeIn), padValue(padValueIn)
    {
    }
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
    pad_t padMode = pad_t::PAD_NONE;
    uint64_t padValue = 0;
    uint64_t deqTensorAddr = 0;
};

struct DataCopyCO12DstParams {
    AKGEN_CONSTANT DataCopyCO12DstParams()
    {
    }
    AKGEN_CONSTANT DataCopyCO12DstParams(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint32_t dstStrideIn,
                                         const uint16_t srcStrideIn, const QuantMode_t quantPreIn,
                                         const uint8_t reluPreIn, const bool channelSplitIn, const bool nz2ndEnIn)
        : nSize(nSizeIn), mSize(mSizeIn), dstStride(dstStrideIn), srcStride(srcStrideIn), quantPre(quantPreIn),
          reluPre(reluPreIn), channelSplit(channelSplitIn), nz2ndEn(nz2ndEnIn)
    {
    }
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

struct LoadData2DParams {
    AKGEN_CONSTANT LoadData2DParams()
    {
    }
    AKGEN_CONSTANT LoadData2DParams(const uint16_t startIndexIn, const uint8_t repeatTimesIn,
                                    const uint16_t srcStrideIn, const uint8_t sidIn, const uint16_t dstGapIn,
                                    const bool ifTransposeIn, const uint8_t addrModeIn)
        : startIndex(startIndexIn), dstGap(dstGapIn), srcStride(srcStrideIn), ifTranspose(ifTransposeIn),
          repeatTimes(repeatTimesIn), sid(sidIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = 0;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2dTransposeParams {
    AKGEN_CONSTANT LoadData2dTransposeParams()
    {
    }
    AKGEN_CONSTANT LoadData2dTransposeParams(const uint16_t startIndexIn, const uint8_t repeatTimesIn,
                                             const uint16_t srcStrideIn, const uint16_t dstGapIn,
                                             const uint16_t dstfracGapIn, const uint8_t addrModeIn = 0)
        : startIndex(startIndexIn), repeatTimes(repeatTimesIn), srcStride(srcStrideIn), dstGap(dstGapIn),
          dstFracGap(dstfracGapIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};

/* Parameters of other products: those of an Ascend 910B do nothing with them (basic/unsupported.h). */
struct LoadData2DParamsV2 {
    AKGEN_CONSTANT LoadData2DParamsV2()
    {
    }
    AKGEN_CONSTANT LoadData2DParamsV2(const uint32_t mStartPositionIn, const uint32_t kStartPositionIn,
                                      const uint16_t mStepIn, const uint16_t kStepIn, const int32_t srcStrideIn,
                                      const uint16_t dstStrideIn, const bool ifTransposeIn, const uint8_t sidIn)
        : mStartPosition(mStartPositionIn), kStartPosition(kStartPositionIn), mStep(mStepIn), kStep(kStepIn),
          srcStride(srcStrideIn), dstStride(dstStrideIn), ifTranspose(ifTransposeIn), sid(sidIn)
    {
    }
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};
struct LoadData2dTransposeParamsV2 {
    AKGEN_CONSTANT LoadData2dTransposeParamsV2()
    {
    }
    AKGEN_CONSTANT LoadData2dTransposeParamsV2(const uint16_t startIndexIn, const uint8_t repeatTimesIn,
                                               const uint16_t srcStrideIn, const uint16_t dstGapIn,
                                               const uint16_t dstFracGapIn, const uint16_t srcFracGapIn,
                                               const uint8_t addrModeIn = 0)
        : startIndex(startIndexIn), repeatTimes(repeatTimesIn), srcStride(srcStrideIn), dstGap(dstGapIn),
          dstFracGap(dstFracGapIn), srcFracGap(srcFracGapIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint16_t srcFracGap = 0;
    uint8_t addrMode = 0;
};

template <typename T> struct LoadData3DParamsV2 {
    AKGEN_CONSTANT LoadData3DParamsV2()
    {
    }
    AKGEN_CONSTANT LoadData3DParamsV2(const uint8_t padListIn[PAD_SIZE], const uint16_t l1HIn, const uint16_t l1WIn,
                                      const uint16_t channelSizeIn, const uint16_t kExtensionIn,
                                      const uint16_t mExtensionIn, const uint16_t kStartPtIn, const uint16_t mStartPtIn,
                                      const uint8_t strideWIn, const uint8_t strideHIn, const uint8_t filterWIn,
                                      const uint8_t filterHIn, const uint8_t dilationFilterWIn,
                                      const uint8_t dilationFilterHIn, const bool enTransposeIn, const bool enSmallKIn,
                                      const T padValueIn, const bool filterSizeWIn = false,
                                      const bool filterSizeHIn = false, const bool fMatrixCtrlIn = false)
        : l1H(l1HIn), l1W(l1WIn), channelSize(channelSizeIn), kExtension(kExtensionIn), mExtension(mExtensionIn),
          kStartPt(kStartPtIn), mStartPt(mStartPtIn), strideW(strideWIn), strideH(strideHIn), filterW(filterWIn),
          filterH(filterHIn), dilationFilterW(dilationFilterWIn), dilationFilterH(dilationFilterHIn),
          enTranspose(enTransposeIn), enSmallK(enSmallKIn), padValue(padValueIn), filterSizeW(filterSizeWIn),
          filterSizeH(filterSizeHIn), fMatrixCtrl(fMatrixCtrlIn)
    {
        for (int32_t i = 0; i < PAD_SIZE; i++)
            padList[i] = padListIn[i];
    }
    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue{};
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

struct LoadData3DParamsV2Pro {
    AKGEN_CONSTANT LoadData3DParamsV2Pro()
    {
    }
    AKGEN_CONSTANT LoadData3DParamsV2Pro(const uint16_t channelSizeIn, const bool enTransposeIn, const bool enSmallKIn,
                                         const bool filterSizeWIn, const bool filterSizeHIn, const bool fMatrixCtrlIn,
                                         const uint64_t extConfigIn, const uint64_t filterConfigIn)
        : channelSize(channelSizeIn), enTranspose(enTransposeIn), enSmallK(enSmallKIn), filterSizeW(filterSizeWIn),
          filterSizeH(filterSizeHIn), fMatrixCtrl(fMatrixCtrlIn), extConfig(extConfigIn), filterConfig(filterConfigIn)
    {
    }
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;
    uint64_t filterConfig = 0x10101010101;
};
struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

struct LoadDataRepeatParam {
    AKGEN_CONSTANT LoadDataRepeatParam()
    {
    }
    AKGEN_CONSTANT LoadDataRepeatParam(const uint16_t repeatStrideIn, const uint8_t repeatTimeIn,
                                       const uint8_t repeatModeIn)
        : repeatStride(repeatStrideIn), repeatTime(repeatTimeIn), repeatMode(repeatModeIn)
    {
    }
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
    uint8_t reserved = 0;
};

template <typename T> struct InitConstValueParams {
    AKGEN_CONSTANT InitConstValueParams()
    {
    }
    AKGEN_CONSTANT InitConstValueParams(const uint16_t repeatTimesIn, const uint16_t blockNumIn,
                                        const uint16_t dstGapIn, const T initValueIn)
        : repeatTimes(repeatTimesIn), blockNum(blockNumIn), dstGap(dstGapIn), initValue(initValueIn)
    {
    }
    AKGEN_CONSTANT InitConstValueParams(const uint16_t repeatTimesIn, const T initValueIn)
        : repeatTimes(repeatTimesIn), initValue(initValueIn)
    {
    }
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = T(0);
};

struct MmadParams {
    AKGEN_CONSTANT MmadParams()
    {
    }
    AKGEN_CONSTANT MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool isBiasIn,
                              const int32_t fmOffsetIn, const bool enSsparseIn, const bool enWinogradAIn,
                              const bool enWinogradBIn)
        : m(mIn), n(nIn), k(kIn), isBias(isBiasIn), fmOffset(fmOffsetIn), enSsparse(enSsparseIn),
          enWinogradA(enWinogradAIn), enWinogradB(enWinogradBIn)
    {
    }
    AKGEN_CONSTANT MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t unitFlagIn,
                              const bool cmatrixSourceIn, const bool cmatrixInitValIn)
        : m(mIn), n(nIn), k(kIn), unitFlag(unitFlagIn), cmatrixSource(cmatrixSourceIn), cmatrixInitVal(cmatrixInitValIn)
    {
    }
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
    AKGEN_CONSTANT FixpipeParamsV220()
    {
    }
    AKGEN_CONSTANT FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn,
                                     const uint32_t dstStrideIn, const bool reluEnIn)
        : nSize(nSizeIn), mSize(mSizeIn), srcStride(srcStrideIn), dstStride(dstStrideIn), reluEn(reluEnIn)
    {
    }
    AKGEN_CONSTANT FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn,
                                     const uint32_t dstStrideIn, const bool reluEnIn, const QuantMode_t quantPreIn,
                                     const int64_t deqScalarIn, const uint16_t ndNumIn, const uint16_t srcNdStrideIn,
                                     const uint16_t dstNdStrideIn, const uint8_t unitFlagIn,
                                     const bool isChannelSplitIn = false)
        : nSize(nSizeIn), mSize(mSizeIn), srcStride(srcStrideIn), dstStride(dstStrideIn), quantPre(quantPreIn),
          deqScalar(uint64_t(deqScalarIn)), ndNum(ndNumIn), srcNdStride(srcNdStrideIn), dstNdStride(dstNdStrideIn),
          reluEn(reluEnIn), unitFlag(unitFlagIn), isChannelSplit(isChannelSplitIn)
    {
    }
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

/* What Fixpipe takes in CANN 8.1 beside FixpipeParamsV220: the matrix as cburstNum columns of fractals, each burstLen
 * blocks of 32 bytes of 32-bit elements long; strides as gaps between them. */
struct QuantParams {
    AKGEN_CONSTANT QuantParams()
    {
    }
    AKGEN_CONSTANT QuantParams(const QuantMode_t quantPreIn) : quantPre(quantPreIn)
    {
    }
    AKGEN_CONSTANT QuantParams(const QuantMode_t quantPreIn, const uint64_t deqScalarIn)
        : quantPre(quantPreIn), deqScalar(deqScalarIn)
    {
    }
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
};
struct Nz2NdParams {
    AKGEN_CONSTANT Nz2NdParams()
    {
    }
    AKGEN_CONSTANT Nz2NdParams(const bool nz2ndEnIn, const uint16_t ndNumIn, const uint16_t srcNdStrideIn,
                               const uint16_t dstNdStrideIn, const uint16_t originalNSizeIn)
        : nz2ndEn(nz2ndEnIn), ndNum(ndNumIn), srcNdStride(srcNdStrideIn), dstNdStride(dstNdStrideIn),
          originalNSize(originalNSizeIn)
    {
    }
    bool nz2ndEn = false;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    uint16_t originalNSize = 0;
};
template <typename T = int32_t> struct FixpipeParams {
    AKGEN_CONSTANT FixpipeParams()
    {
    }
    AKGEN_CONSTANT FixpipeParams(const uint16_t count, const uint16_t len, const uint16_t srcStrideIn,
                                 const uint32_t dstStrideIn)
        : cburstNum(count), burstLen(len), dstStride(dstStrideIn), srcStride(srcStrideIn)
    {
    }
    uint16_t cburstNum = 1;
    uint16_t burstLen = 1;
    uint32_t dstStride = 0;
    uint16_t srcStride = 0;
    QuantParams quantParams;
    bool reluEn = false;
    Nz2NdParams nz2ndParams;
    uint8_t unitFlag = 0;
};

} // namespace AscendC

#endif
