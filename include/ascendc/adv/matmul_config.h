/* What a Matmul object is told at compile time: the formats of its matrices, MatmulConfig and the functions that make
 * one, constant tilings. asc-devkit docs, 矩阵计算/Matmul-Kernel侧接口/MatmulConfig, Matmul模板参数, GetNormalConfig
 * and its neighbours. */
#ifndef ASCENDC_ADV_MATMUL_CONFIG_H
#define ASCENDC_ADV_MATMUL_CONFIG_H

#include "basic/enums.h"
#include "basic/qualifiers.h"

constexpr uint32_t SHARED_CO1_BUFFER_SIZE = 64 * 1024;

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT };
enum IterateMode : uint8_t {
    ITERATE_MODE_NORMAL = 1,
    ITERATE_MODE_ALL = 2,
    ITERATE_MODE_BATCH = 4,
    ITERATE_MODE_N_BATCH = 8,
    ITERATE_MODE_DEFAULT = 255
};

/* Look-up tables of other products. */
enum class DecompressionMode {
    DECOMP_NONE,
    DECOMP_2bitTo8bit,
    DECOMP_3bitTo8bit,
    DECOMP_4bitTo8bit,
    DECOMP_16bitTo64bit,
    DECOMP_1bitTo8bit,
    DECOMP_1bitTo4bit,
    DECOMP_2bitTo4bit,
    DECOMP_3bitTo4bit
};

/* In CANN's order: kernels fill it with braces. */
struct MatmulConfig {
    bool doNorm;
    bool doBasicBlock;
    bool doMultiDataLoad;
    uint32_t basicM;
    uint32_t basicN;
    uint32_t basicK;
    bool intrinsicsCheck;
    bool isNBatch;
    bool enVecND2NZ;
    bool doSpecialBasicBlock;
    uint32_t doMTE2Preload;
    uint32_t singleCoreM;
    uint32_t singleCoreN;
    uint32_t singleCoreK;
    uint32_t stepM;
    uint32_t stepN;
    uint32_t baseMN;
    uint32_t singleCoreMN;
    bool enUnitFlag = true;
    bool isPerTensor;
    bool hasAntiQuantOffset;
    bool doIBShareNorm;
    bool doSpecialMDL;
    bool enableInit = true;
    BatchMode batchMode;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = IterateMode::ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse;
    bool enableL1CacheUB;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType;
    bool enableDoubleCache;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = SHARED_CO1_BUFFER_SIZE;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
    DecompressionMode decompMode = DecompressionMode::DECOMP_NONE;
};
/* What GetOffsetC returns. */
struct MatrixOffset {
    int32_t offset, row, col, height, width;
};

enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };
struct MatmulShapeParams {
    uint32_t singleCoreM, singleCoreN, singleCoreK;
    uint32_t basicM, basicN, basicK;
};
struct MatmulQuantParams {
    bool isPerTensor, hasAntiQuantOffset;
};
struct MatmulBatchParams {
    bool isNBatch;
    BatchMode batchMode;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsCheck;
    bool enVecND2NZ;
    bool enableDoubleCache;
    bool enableL1CacheUB;
    uint32_t doMTE2Preload;
    IterateOrder iterateOrder;
    ScheduleType scheduleType;
    bool enableReuse = true;
    bool enableUBReuse;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
};
struct MatmulBiasParams {
    bool enableSetBias = true;
};

namespace akgen
{
constexpr MatmulConfig matmul_config(bool byRows, bool nBatch, bool unitFlag)
{
    MatmulConfig config = {};
    config.intrinsicsCheck = byRows;
    config.isNBatch = nBatch;
    config.enUnitFlag = unitFlag;
    config.enableUBReuse = true;
    return config;
}
constexpr void add_params(MatmulConfig &config, const MatmulShapeParams &p)
{
    config.singleCoreM = p.singleCoreM;
    config.singleCoreN = p.singleCoreN;
    config.singleCoreK = p.singleCoreK;
    config.basicM = p.basicM;
    config.basicN = p.basicN;
    config.basicK = p.basicK;
    config.singleCoreMN = p.singleCoreM * p.singleCoreN;
    config.baseMN = p.basicM * p.basicN;
}
constexpr void add_params(MatmulConfig &config, const MatmulQuantParams &p)
{
    config.isPerTensor = p.isPerTensor;
    config.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void add_params(MatmulConfig &config, const MatmulBatchParams &p)
{
    config.isNBatch = p.isNBatch;
    config.batchMode = p.batchMode;
    config.isBiasBatch = p.isBiasBatch;
    config.bmmOutMode = p.bmmOutMode;
}
constexpr void add_params(MatmulConfig &config, const MatmulFuncParams &p)
{
    config.intrinsicsCheck = p.intrinsicsCheck;
    config.enVecND2NZ = p.enVecND2NZ;
    config.enableDoubleCache = p.enableDoubleCache;
    config.enableL1CacheUB = p.enableL1CacheUB;
    config.doMTE2Preload = p.doMTE2Preload;
    config.iterateOrder = p.iterateOrder;
    config.scheduleType = p.scheduleType;
    config.enableReuse = p.enableReuse;
    config.enableUBReuse = p.enableUBReuse;
    config.isPartialOutput = p.isPartialOutput;
    config.isA2B2Shared = p.isA2B2Shared;
    config.isEnableChannelSplit = p.isEnableChannelSplit;
    config.enableKdimReorderLoad = p.enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = p.enableL1BankConflictOptimise;
    config.enableRelu = p.enableRelu;
}
constexpr void add_params(MatmulConfig &config, const MatmulBiasParams &p)
{
    config.enableSetBias = p.enableSetBias;
}
} // namespace akgen

constexpr MatmulConfig
GetNormalConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
                const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
                const IterateOrder iterateOrder = IterateOrder::UNDEF,
                const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, const bool enUnitFlag = true,
                const bool enableMixDualMaster = false, const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH)
{
    MatmulConfig config = akgen::matmul_config(intrinsicsLimit, batchLoop, enUnitFlag);
    config.doNorm = true;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = iterateOrder;
    config.scheduleType = scheduleType;
    config.enableMixDualMaster = enableMixDualMaster;
    config.bmmOutMode = bmmOutMode;
    return config;
}
constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                    const uint32_t doMTE2Preload = 0, const bool isVecND2NZ = false,
                                    bool isPerTensor = false, bool hasAntiQuantOffset = false,
                                    const bool enUnitFlag = false, const bool isMsgReuse = true,
                                    const bool enableUBReuse = true, const bool enableL1CacheUB = false,
                                    const bool enableMixDualMaster = false, const bool enableKdimReorderLoad = false,
                                    const bool enableL1BankConflictOptimise = false)
{
    MatmulConfig config = akgen::matmul_config(intrinsicsLimit, batchLoop, enUnitFlag);
    config.doMultiDataLoad = true;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = enableL1BankConflictOptimise;
    return config;
}
constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                           const uint32_t doMTE2Preload = 0, const bool isVecND2NZ = false,
                                           bool isPerTensor = false, bool hasAntiQuantOffset = false)
{
    MatmulConfig config = akgen::matmul_config(intrinsicsLimit, batchLoop, false);
    config.doSpecialMDL = true;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    return config;
}
constexpr MatmulConfig GetBasicConfig(const uint32_t basicM, const uint32_t basicN, const uint32_t basicK,
                                      const bool intrinsicsLimit = false, const bool batchLoop = false,
                                      const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1)
{
    MatmulConfig config = akgen::matmul_config(intrinsicsLimit, batchLoop, false);
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    config.batchMode = bmmMode;
    return config;
}
constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                            const bool isVecND2NZ = false,
                                            const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                            const bool isDoubleCache = false, const bool enUnitFlag = true)
{
    MatmulConfig config = akgen::matmul_config(intrinsicsLimit, batchLoop, enUnitFlag);
    config.doIBShareNorm = true;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableDoubleCache = isDoubleCache;
    return config;
}
constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

template <MatmulConfigMode configMode, typename... ArgTypes> constexpr MatmulConfig GetMMConfig(ArgTypes &&...args)
{
    MatmulConfig config = configMode == MatmulConfigMode::CONFIG_MDL          ? GetMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_IBSHARE    ? GetIBShareNormConfig()
                                                                              : GetNormalConfig();
    (akgen::add_params(config, args), ...);
    return config;
}

namespace AscendC
{
/* The type of what L0C holds. */
template <typename SrcT> struct GetMmDstType {
    using Type = float;
};
template <> struct GetMmDstType<int8_t> {
    using Type = int32_t;
};
template <> struct GetMmDstType<int4b_t> {
    using Type = int32_t;
};

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    constexpr static TPosition pos = POSITION;
    constexpr static CubeFormat format = FORMAT;
    using T = TYPE;
    constexpr static bool isTrans = ISTRANS;
    constexpr static LayoutMode layout = LAYOUT;
    constexpr static bool ibShare = IBSHARE;
    constexpr static TPosition srcPos = SRCPOS;
};
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct __attribute__((unavailable("akgen-unsupported: SparseMatmulType"))) SparseMatmulType
    : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE> {
};
template <typename T> class LocalTensor;
/* Functions of the kernel that copy C out, A in and B in, a block at a time. docs, MatmulCallBackFunc. */
template <void (*DATA_COPY_OUT)(const __gm__ void *gm, const LocalTensor<int8_t> &co1Local,
                                const void *dataCopyOutParams, const uint64_t tilingPtr, const uint64_t dataPtr) =
              nullptr,
          void (*COPY_A1)(const LocalTensor<int8_t> &aMatrix, const __gm__ void *gm, int row, int col, int useM,
                          int useK, const uint64_t tilingPtr, const uint64_t dataPtr) = nullptr,
          void (*COPY_B1)(const LocalTensor<int8_t> &bMatrix, const __gm__ void *gm, int row, int col, int useK,
                          int useN, const uint64_t tilingPtr, const uint64_t dataPtr) = nullptr>
struct MatmulCallBackFunc {
    constexpr static auto DataCopyOutPtr = DATA_COPY_OUT;
    constexpr static auto CopyA1Ptr = COPY_A1;
    constexpr static auto CopyB1Ptr = COPY_B1;
};
struct DataCopyOutParams {
    uint8_t quantMode = 0;
    uint16_t cBurstNum = 0, burstLen = 0, srcStride = 0;
    uint32_t dstStride = 0;
    uint16_t oriNSize = 0;
    bool enUnitFlag = false;
    uint64_t quantScalar = 0;
    int curM = 0, curN = 0;
    uint64_t cbufWorkspaceAddr = 0;
};
namespace Impl
{
constexpr int32_t QUEUE_DEPTH = 1;
} // namespace Impl
namespace Impl::Detail
{
template <const auto &MM_CFG, typename...> class MatmulPolicy
{
};
/* The same results by way of three by three blocks in L1. */
template <const auto &MM_CFG, typename...> class NBuffer33MatmulPolicy
{
};
/* Blocks of C whose row of blocks is below (above) their column of blocks are left out. */
template <const auto &MM_CFG, typename...> class TrianUpperMatmulPolicy
{
};
template <const auto &MM_CFG, typename...> class TrianLowerMatmulPolicy
{
};
} // namespace Impl::Detail
} // namespace AscendC
namespace matmul = AscendC;

#endif
