/* The Matmul object: it forwards every call to the machine (abi/npu_matmul.h). asc-devkit docs, 矩阵计算/
 * Matmul-Kernel侧接口. */
#ifndef ASCENDC_ADV_MATMUL_H
#define ASCENDC_ADV_MATMUL_H

#include "adv/matmul_constant.h"
#include "basic/lacks.h"
#include "basic/load_data.h"
#include "basic/tensor.h"
#include "basic/tpipe.h"
#include "kernel_tiling/kernel_tiling.h"

AKGEN_DEVICE_BEGIN
#include "abi/npu_matmul.h"
AKGEN_DEVICE_END

namespace akgen
{

template <class TYPE> AKGEN_API npu_matmul_type matmul_type()
{
    return {uint8_t(TYPE::pos),     uint8_t(TYPE::format), dtype_of<typename TYPE::T>::value,
            uint8_t(TYPE::isTrans), uint8_t(TYPE::layout), uint8_t(TYPE::ibShare)};
}
/* docs, Matmul使用说明, table 2: what an Ascend 910B multiplies, and what can become of it. */
template <typename A, typename B, typename C>
constexpr bool matmul_takes =
    std::is_same_v<A, B> &&
    (std::is_same_v<A, int4b_t> ? std::is_same_v<C, int32_t> || std::is_same_v<C, half>
     : std::is_same_v<A, int8_t>
         ? std::is_same_v<C, int32_t> || std::is_same_v<C, half> || std::is_same_v<C, int8_t>
         : (std::is_same_v<A, half> || std::is_same_v<A, bfloat16_t> || std::is_same_v<A, float>) &&
               (std::is_same_v<C, float> || std::is_same_v<C, half> || std::is_same_v<C, bfloat16_t> ||
                (std::is_same_v<C, int8_t> && !std::is_same_v<A, float>)));

} // namespace akgen

namespace AscendC
{

/* What objects on either kind of core have in common. */
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto &MM_CFG, class MM_CB,
          template <const auto &, typename...> class MATMUL_POLICY>
class MatmulBase
{
  public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using CallBack = MM_CB;

  protected:
    using SrcAT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    static constexpr MatmulConfig config = ToMatmulConfig(MM_CFG);
    static constexpr MatmulApiStaticTiling constants = akgen::matmul_constants(MM_CFG);
    static constexpr bool is_static = akgen::matmul_is_static(MM_CFG);
    static_assert(!is_static || akgen::matmul_bytes<SrcAT>(constants.baseM * constants.baseK) *
                                        akgen::matmul_l0_buffers(constants) <=
                                    akgen::MATMUL_L0,
                  "BaseM * baseK should be no larger than L0ASize.");
    static_assert(!is_static || akgen::matmul_bytes<SrcBT>(constants.baseN * constants.baseK) *
                                        akgen::matmul_l0_buffers(constants) <=
                                    akgen::MATMUL_L0,
                  "BaseN * baseK should be no larger than L0BSize.");
    static_assert(!is_static ||
                      constants.baseM * constants.baseN * 4 * (constants.dbL0C == 2 ? 2 : 1) <= 2 * akgen::MATMUL_L0,
                  "BaseM * baseN should be no larger than L0CSize.");
    static_assert(
        akgen::matmul_takes<SrcAT, SrcBT, DstT>,
        "Matmul: this combination of data types is not supported on Ascend910B; supported: half or bfloat16_t "
        "to float, half, bfloat16_t or int8_t, float to float, half or bfloat16_t, int8_t to int32_t, half or "
        "int8_t, int4b_t to int32_t or half");
    static constexpr bool upper = std::is_same_v<MATMUL_POLICY<MM_CFG>, Impl::Detail::TrianUpperMatmulPolicy<MM_CFG>>;
    static constexpr bool lower = std::is_same_v<MATMUL_POLICY<MM_CFG>, Impl::Detail::TrianLowerMatmulPolicy<MM_CFG>>;
    static constexpr bool n_buffer = std::is_same_v<MATMUL_POLICY<MM_CFG>, Impl::Detail::NBuffer33MatmulPolicy<MM_CFG>>;
    static_assert(upper || lower || n_buffer ||
                      std::is_same_v<MATMUL_POLICY<MM_CFG>, Impl::Detail::MatmulPolicy<MM_CFG>>,
                  "akgen-unsupported: MatmulPolicy");
    static_assert(!config.intraBlockPartSum, "akgen-unsupported: MatmulConfig::intraBlockPartSum");
    static_assert(config.decompMode == DecompressionMode::DECOMP_NONE, "akgen-unsupported: MatmulConfig::decompMode");

    npu_matmul akgen_matmul = {};
    int16_t akgen_sub_block = -1; /* SetSubBlockIdx; -1: the core's own */

    AKGEN_API void akgen_source(int matrix, const npu_tensor &tensor, bool transposed)
    {
        npu_matmul_set_source(&akgen_matmul, matrix, &tensor, 0, transposed);
    }
    AKGEN_API void akgen_init(uint64_t tiling)
    {
        static_assert(offsetof(MatmulApiStaticTiling, cfg) == NPU_MATMUL_CONSTANTS * sizeof(int32_t));
        const MatmulApiStaticTiling known = constants;
        akgen_describe();
        npu_matmul_init(&akgen_matmul, tiling, sizeof(TCubeTiling), &known.usedCoreNum);
        akgen_call_back(akgen_matmul.id);
    }
    AKGEN_API static npu_matmul_output akgen_output(bool sync, uint8_t atomic, bool sequential)
    {
        npu_matmul_output out = {};
        out.sync = sync;
        out.atomic = atomic;
        out.sequential = sequential;
        return out;
    }
    AKGEN_API void akgen_describe()
    {
        akgen_matmul.types[NPU_MATMUL_A] = akgen::matmul_type<A_TYPE>();
        akgen_matmul.types[NPU_MATMUL_B] = akgen::matmul_type<B_TYPE>();
        akgen_matmul.types[NPU_MATMUL_C] = akgen::matmul_type<C_TYPE>();
        akgen_matmul.types[NPU_MATMUL_BIAS] = akgen::matmul_type<BIAS_TYPE>();
        akgen_matmul.flags = (config.intrinsicsCheck ? NPU_MATMUL_BY_ROWS : 0) |
                             (config.isEnableChannelSplit ? NPU_MATMUL_SPLIT : 0) |
                             (config.enableRelu ? NPU_MATMUL_RELU : 0) |
                             (config.isBiasBatch ? 0 : NPU_MATMUL_ONE_BIAS) | (is_static ? NPU_MATMUL_FIXED : 0) |
                             (config.doMultiDataLoad || config.doSpecialMDL ? NPU_MATMUL_LARGE : 0) |
                             (config.isPartialOutput ? NPU_MATMUL_PARTIAL : 0) | (upper ? NPU_MATMUL_UPPER : 0) |
                             (config.scheduleType == ScheduleType::OUTER_PRODUCT ? NPU_MATMUL_OUTER : 0) |
                             (lower ? NPU_MATMUL_LOWER : 0) | (MM_CB::DataCopyOutPtr ? NPU_MATMUL_OWN_C : 0) |
                             (MM_CB::CopyA1Ptr ? NPU_MATMUL_OWN_A : 0) | (MM_CB::CopyB1Ptr ? NPU_MATMUL_OWN_B : 0) |
                             (config.enUnitFlag ? NPU_MATMUL_UNIT_FLAG : 0) | (n_buffer ? NPU_MATMUL_N_BUFFER : 0) |
                             (config.doMTE2Preload == 1 ? NPU_MATMUL_AHEAD_M : 0) |
                             (config.doMTE2Preload == 2 ? NPU_MATMUL_AHEAD_N : 0) |
                             (config.enableKdimReorderLoad ? NPU_MATMUL_AROUND_K : 0);
        akgen_matmul.order = int32_t(config.iterateOrder);
    }

    /* CANN's functions as the machine calls them. */
    static AKGEN_DEVICE void akgen_copy_out(uint64_t gm, const npu_tensor *l0c, const npu_matmul_copied *block,
                                            uint64_t tiling, uint64_t data)
    {
        LocalTensor<int8_t> co1;
        co1.akgen_tensor = *l0c;
        DataCopyOutParams params;
        params.quantMode = block->quantised;
        params.cBurstNum = block->bursts;
        params.burstLen = block->burst_len;
        params.dstStride = block->stride;
        params.oriNSize = block->n;
        params.enUnitFlag = config.enUnitFlag;
        params.quantScalar = block->quant;
        params.curM = block->row;
        params.curN = block->column;
        params.cbufWorkspaceAddr = block->vector;
        MM_CB::DataCopyOutPtr(reinterpret_cast<const __gm__ void *>(gm), co1, &params, tiling, data);
    }
    template <auto FUNCTION>
    static AKGEN_DEVICE void akgen_copy_in(const npu_tensor *l1, uint64_t gm, int row, int column, int rows,
                                           int columns, uint64_t tiling, uint64_t data)
    {
        LocalTensor<int8_t> matrix;
        matrix.akgen_tensor = *l1;
        FUNCTION(matrix, reinterpret_cast<const __gm__ void *>(gm), row, column, rows, columns, tiling, data);
    }

  public:
    AKGEN_API MatmulBase()
    {
    }
    /* On an AIC: what the object, or the one of this number on an AIV, has the kernel do itself. */
    AKGEN_API static void akgen_call_back(uint32_t id)
    {
#ifdef __DAV_C220_CUBE__
        npu_matmul_callbacks callbacks = {};
        if constexpr (MM_CB::DataCopyOutPtr != nullptr)
            callbacks.c = akgen_copy_out;
        if constexpr (MM_CB::CopyA1Ptr != nullptr)
            callbacks.inputs[NPU_MATMUL_A] = akgen_copy_in<MM_CB::CopyA1Ptr>;
        if constexpr (MM_CB::CopyB1Ptr != nullptr)
            callbacks.inputs[NPU_MATMUL_B] = akgen_copy_in<MM_CB::CopyB1Ptr>;
        npu_matmul_call_back(id, &callbacks);
#endif
    }
    AKGEN_API void akgen_register()
    {
        akgen_describe();
        npu_matmul_register(&akgen_matmul);
    }
    AKGEN_API void Init(const TCubeTiling *__restrict cubeTiling, TPipe *tpipe = nullptr)
    {
        akgen_init(reinterpret_cast<uint64_t>(cubeTiling));
    }
    AKGEN_API void Init(const __gm__ TCubeTiling *gmCubeTiling, TPipe *tpipe = nullptr)
    {
        akgen_init(reinterpret_cast<uint64_t>(gmCubeTiling));
    }
    AKGEN_API void SetOrgShape(int orgM, int orgN, int orgK)
    {
        npu_matmul_set_shape(&akgen_matmul, NPU_MATMUL_ORG_SHAPE, orgM, orgN, orgK, orgK, 0);
    }
    AKGEN_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0)
    {
        npu_matmul_set_shape(&akgen_matmul, NPU_MATMUL_ORG_SHAPE, orgM, orgN, orgKa, orgKb, orgKc);
    }
    AKGEN_API void SetSingleShape(int singleM, int singleN, int singleK)
    {
        npu_matmul_set_shape(&akgen_matmul, NPU_MATMUL_SINGLE_SHAPE, singleM, singleN, singleK, 0, 0);
    }
    AKGEN_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1)
    {
        npu_matmul_set_shape(&akgen_matmul, NPU_MATMUL_TAIL, tailM, tailN, tailK, 0, 0);
    }
    AKGEN_API void SetTensorA(const GlobalTensor<SrcAT> &gm, bool isTransposeA = false)
    {
        akgen_source(NPU_MATMUL_A, akgen::raw(gm), isTransposeA);
    }
    AKGEN_API void SetTensorA(const LocalTensor<SrcAT> &leftMatrix, bool isTransposeA = false)
    {
        akgen_source(NPU_MATMUL_A, akgen::raw(leftMatrix), isTransposeA);
    }
    AKGEN_API void SetTensorA(SrcAT aScalar)
    {
        static_assert(std::is_same_v<SrcAT, half> || std::is_same_v<SrcAT, float>,
                      "SetTensorA: a scalar is half or float on Ascend910B");
        npu_matmul_set_source(&akgen_matmul, NPU_MATMUL_A, nullptr, akgen::bits_of<SrcAT>(aScalar), false);
    }
    AKGEN_API void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false)
    {
        akgen_source(NPU_MATMUL_B, akgen::raw(gm), isTransposeB);
    }
    AKGEN_API void SetTensorB(const LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false)
    {
        akgen_source(NPU_MATMUL_B, akgen::raw(rightMatrix), isTransposeB);
    }
    AKGEN_API void SetTensorB(SrcBT bScalar)
    {
        static_assert(std::is_same_v<SrcBT, half> || std::is_same_v<SrcBT, float>,
                      "SetTensorB: a scalar is half or float on Ascend910B");
        npu_matmul_set_source(&akgen_matmul, NPU_MATMUL_B, nullptr, akgen::bits_of<SrcBT>(bScalar), false);
    }
    AKGEN_API void SetBias(const GlobalTensor<BiasT> &biasGlobal)
    {
        akgen_source(NPU_MATMUL_BIAS, akgen::raw(biasGlobal), false);
    }
    AKGEN_API void SetBias(const LocalTensor<BiasT> &inputBias)
    {
        akgen_source(NPU_MATMUL_BIAS, akgen::raw(inputBias), false);
    }
    __attribute__((unavailable("akgen-unsupported: SetSparseIndex"))) AKGEN_DEVICE void
    SetSparseIndex(const GlobalTensor<uint8_t> &indexGlobal);
    template <bool isTurnOnDebug = true> AKGEN_LACKS(GetOffsetC) AKGEN_DEVICE MatrixOffset GetOffsetC();
    AKGEN_API void DisableBias()
    {
        npu_matmul_clear_bias(&akgen_matmul);
    }
    AKGEN_API void ClearBias()
    {
        npu_matmul_clear_bias(&akgen_matmul);
    }
    AKGEN_API void SetQuantScalar(const uint64_t quantScalar)
    {
        npu_matmul_set_quant(&akgen_matmul, quantScalar);
    }
    AKGEN_API void SetQuantVector(const GlobalTensor<uint64_t> &quantTensor)
    {
        akgen_source(NPU_MATMUL_QUANT, akgen::raw(quantTensor), false);
    }
    AKGEN_API void SetQuantVector(const LocalTensor<uint64_t> &quantTensor)
    {
        akgen_source(NPU_MATMUL_QUANT, akgen::raw(quantTensor), false);
    }
    AKGEN_API void SetHF32(bool enableHF32 = false, int32_t transMode = 0)
    {
        npu_matmul_set_hf32(&akgen_matmul, enableHF32, transMode);
    }
    template <class T> AKGEN_API void SetWorkspace(__gm__ const T *addr, int size)
    {
        npu_matmul_set_workspace(&akgen_matmul, reinterpret_cast<uint64_t>(addr));
    }
    template <class T> AKGEN_API void SetWorkspace(GlobalTensor<T> &addr)
    {
        npu_matmul_set_workspace(&akgen_matmul, akgen::raw(addr).addr);
    }
    /* Space in UB that a 910B does not use for it. */
    AKGEN_API void SetLocalWorkspace(const LocalTensor<uint8_t> &tmpBuffer)
    {
    }
    AKGEN_API void SetSubBlockIdx(uint8_t subBlockIdx)
    {
        akgen_sub_block = subBlockIdx;
    }
    AKGEN_API uint8_t GetSubBlockIdx()
    {
        return akgen_sub_block < 0 ? uint8_t(npu_sub_block_idx()) : uint8_t(akgen_sub_block);
    }
    AKGEN_API void SetUserDefInfo(const uint64_t tilingPtr)
    {
        npu_matmul_set_user(&akgen_matmul, tilingPtr, akgen_matmul.user_data);
    }
    AKGEN_API void SetSelfDefineData(const uint64_t dataPtr)
    {
        npu_matmul_set_user(&akgen_matmul, akgen_matmul.user_tiling, dataPtr);
    }

    template <bool sync = true> AKGEN_API bool Iterate(bool enPartialSum = false)
    {
        return npu_matmul_iterate(&akgen_matmul, sync, enPartialSum, nullptr);
    }
    template <bool sync = true, typename T>
    AKGEN_API bool Iterate(bool enPartialSum, const LocalTensor<T> &localCmatrix)
    {
        static_assert(C_TYPE::pos == TPosition::CO1 && C_TYPE::format == CubeFormat::NZ,
                      "Iterate into a LocalTensor: C is (TPosition::CO1, CubeFormat::NZ)");
        return npu_matmul_iterate(&akgen_matmul, sync, enPartialSum, &akgen::raw(localCmatrix));
    }
    template <bool sync = true>
    AKGEN_API void IterateAll(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                              bool waitIterateAll = false, bool fakeMsg = false)
    {
        npu_matmul_output out = akgen_output(sync, enAtomic, enSequentialWrite);
        out.gm = akgen::raw(gm);
        out.wait = waitIterateAll;
        out.fake = fakeMsg;
        npu_matmul_iterate_all(&akgen_matmul, &out);
    }
    template <bool sync = true> AKGEN_API void IterateAll(const LocalTensor<DstT> &ubCmatrix, uint8_t enAtomic = 0)
    {
        npu_matmul_output out = akgen_output(sync, enAtomic, false);
        out.local = akgen::raw(ubCmatrix);
        npu_matmul_iterate_all(&akgen_matmul, &out);
    }
    template <bool sync = true>
    AKGEN_API void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false)
    {
        npu_matmul_output out = akgen_output(sync, enAtomic, enSequentialWrite);
        out.gm = akgen::raw(gm);
        npu_matmul_get_c(&akgen_matmul, &out);
    }
    template <bool sync = true, bool doPad = false>
    AKGEN_API void GetTensorC(const LocalTensor<DstT> &c, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                              uint32_t height = 0, uint32_t width = 0, uint32_t srcGap = 0, uint32_t dstGap = 0)
    {
        static_assert(!doPad, "akgen-unsupported: GetTensorC with doPad");
        npu_matmul_output out = akgen_output(true, enAtomic, enSequentialWrite);
        out.local = akgen::raw(c);
        npu_matmul_get_c(&akgen_matmul, &out);
    }
    template <bool sync = true>
    AKGEN_API void GetTensorC(const GlobalTensor<DstT> &gm, const LocalTensor<DstT> &co2Local, uint8_t enAtomic = 0,
                              bool enSequentialWrite = false)
    {
        npu_matmul_output out = akgen_output(true, enAtomic, enSequentialWrite);
        out.gm = akgen::raw(gm);
        out.local = akgen::raw(co2Local);
        npu_matmul_get_c(&akgen_matmul, &out);
    }
    AKGEN_API void End()
    {
        npu_matmul_end(&akgen_matmul);
    }
};

/* On the AIC where it stands. */
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto & = MM_CFG, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
class MatmulImpl : public MatmulBase<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>
{
    using DstT = typename C_TYPE::T;

  public:
    AKGEN_API MatmulImpl()
    {
    }
    AKGEN_API void SetBatchNum(int32_t batchA, int32_t batchB)
    {
        npu_matmul_set_batch(&this->akgen_matmul, batchA, batchB);
    }
    AKGEN_API void IterateBatch(const GlobalTensor<DstT> &gm, bool enPartialSum, uint8_t enAtomic,
                                bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0)
    {
        npu_matmul_output out = this->akgen_output(true, enAtomic, enSequentialWrite);
        out.gm = akgen::raw(gm);
        out.partial_sum = enPartialSum;
        npu_matmul_batch batch = {0, 0, 1, matrixStrideA, matrixStrideB};
        npu_matmul_iterate_batch(&this->akgen_matmul, &batch, &out);
    }
    AKGEN_API void IterateBatch(const LocalTensor<DstT> &ubCmatrix, bool enPartialSum, uint8_t enAtomic,
                                bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0)
    {
        npu_matmul_output out = this->akgen_output(true, enAtomic, enSequentialWrite);
        out.local = akgen::raw(ubCmatrix);
        out.partial_sum = enPartialSum;
        npu_matmul_batch batch = {0, 0, 1, matrixStrideA, matrixStrideB};
        npu_matmul_iterate_batch(&this->akgen_matmul, &batch, &out);
    }
};

/* On an AIV, which asks its AIC. */
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto & = MM_CFG, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
class MatmulClient : public MatmulBase<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>
{
    using Base = MatmulBase<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
    using DstT = typename C_TYPE::T;

    static_assert(!Base::config.enableMixDualMaster, "akgen-unsupported: MatmulConfig::enableMixDualMaster");

  public:
    AKGEN_API MatmulClient()
    {
    }
    using Base::GetTensorC;
    template <bool sync = true>
    AKGEN_API GlobalTensor<DstT> GetTensorC(uint8_t enAtomic = 0, bool enSequentialWrite = false)
    {
        const uint64_t addr = npu_matmul_next_cached(&this->akgen_matmul);
        GlobalTensor<DstT> block;
        block.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(addr));
        return block;
    }
    AKGEN_API void AsyncGetTensorC(const LocalTensor<DstT> &c)
    {
        npu_matmul_get_cached(&this->akgen_matmul, &akgen::raw(c));
    }
    AKGEN_API void WaitGetTensorC()
    {
        npu_matmul_wait_get(&this->akgen_matmul);
    }
    AKGEN_API void WaitIterateAll()
    {
        npu_matmul_wait(&this->akgen_matmul);
    }
    AKGEN_API void WaitIterateBatch()
    {
        npu_matmul_wait(&this->akgen_matmul);
    }
    template <bool sync = true, bool waitIterateBatch = false>
    AKGEN_API void IterateBatch(const GlobalTensor<DstT> &gm, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                                const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                                const uint32_t matrixStrideC = 0, const bool enPartialSum = false,
                                const uint8_t enAtomic = 0)
    {
        npu_matmul_output out = this->akgen_output(sync, enAtomic, enSequentialWrite);
        out.gm = akgen::raw(gm);
        out.wait = waitIterateBatch;
        out.partial_sum = enPartialSum;
        npu_matmul_batch batch = {batchA, batchB, 1, matrixStrideA, matrixStrideB};
        npu_matmul_iterate_batch(&this->akgen_matmul, &batch, &out);
    }
    template <bool sync = true>
    AKGEN_API void IterateBatch(const LocalTensor<DstT> &ubCmatrix, uint32_t batchA, uint32_t batchB,
                                bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0,
                                const bool enPartialSum = false, const uint8_t enAtomic = 0)
    {
        npu_matmul_output out = this->akgen_output(true, enAtomic, enSequentialWrite);
        out.local = akgen::raw(ubCmatrix);
        out.partial_sum = enPartialSum;
        npu_matmul_batch batch = {batchA, batchB, 1, matrixStrideA, matrixStrideB};
        npu_matmul_iterate_batch(&this->akgen_matmul, &batch, &out);
    }
    template <bool sync = true, bool waitIterateBatch = false>
    AKGEN_API void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                                 const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                                 const uint32_t matrixStrideC = 0, const bool enPartialSum = false,
                                 const uint8_t enAtomic = 0)
    {
        static_assert(A_TYPE::layout != LayoutMode::NONE && B_TYPE::layout != LayoutMode::NONE &&
                          A_TYPE::layout != LayoutMode::NORMAL && B_TYPE::layout != LayoutMode::NORMAL &&
                          C_TYPE::layout != LayoutMode::NORMAL,
                      "BMM does not support the layout being NONE or NORMAL");
        if constexpr (Base::config.isNBatch) {
            npu_matmul_output out = this->akgen_output(sync, enAtomic, enSequentialWrite);
            out.wait = waitIterateBatch;
            out.partial_sum = enPartialSum;
            npu_matmul_batch batch = {batchA, batchB, batchLoop, matrixStrideA, matrixStrideB};
            npu_matmul_iterate_batch(&this->akgen_matmul, &batch, &out);
        }
    }
    template <bool sync = true>
    AKGEN_API GlobalTensor<DstT> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false)
    {
        GlobalTensor<DstT> batch;
        if constexpr (Base::config.isNBatch)
            batch.SetGlobalBuffer(
                reinterpret_cast<__gm__ DstT *>(npu_matmul_next_batch(&this->akgen_matmul, batchA, batchB)));
        return batch;
    }
    template <bool sync = true>
    AKGEN_API void GetBatchTensorC(const LocalTensor<DstT> &c, uint32_t batchA, uint32_t batchB,
                                   bool enSequentialWrite = false)
    {
        if constexpr (Base::config.isNBatch)
            npu_matmul_get_batch(&this->akgen_matmul, &akgen::raw(c), batchA, batchB);
    }
    template <bool sync = true>
    AKGEN_API GlobalTensor<DstT> GetBatchC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false)
    {
        return GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite);
    }
    template <bool sync = true>
    AKGEN_API void GetBatchC(const LocalTensor<DstT> &c, uint32_t batchA, uint32_t batchB,
                             bool enSequentialWrite = false)
    {
        GetBatchTensorC<sync>(c, batchA, batchB, enSequentialWrite);
    }
};

} // namespace AscendC

namespace akgen
{

/* The arguments of REGIST_MATMUL_OBJ: objects, each with its tiling or without. */
AKGEN_API void matmul_register(AscendC::TPipe *)
{
}
template <class T, class... Rest> AKGEN_API void matmul_register(AscendC::TPipe *pipe, T &object, Rest &&...rest);
template <class T, class... Rest>
AKGEN_API void matmul_with_tiling(AscendC::TPipe *pipe, T &object, const TCubeTiling *tiling, Rest &&...rest)
{
    object.Init(tiling, pipe);
    matmul_register(pipe, rest...);
}
template <class T, class... Rest>
AKGEN_API void matmul_with_tiling(AscendC::TPipe *pipe, T &object, const __gm__ TCubeTiling *tiling, Rest &&...rest)
{
    object.Init(tiling, pipe);
    matmul_register(pipe, rest...);
}
/* CANN's own Rfft1D has '(void *)&tiling', which CANN's compiler takes. */
template <class T, class... Rest>
AKGEN_API void matmul_with_tiling(AscendC::TPipe *pipe, T &object, void *tiling, Rest &&...rest)
{
    matmul_with_tiling(pipe, object, static_cast<const TCubeTiling *>(tiling), rest...);
}
template <class T, class... Rest> AKGEN_API void matmul_register(AscendC::TPipe *pipe, T &object, Rest &&...rest)
{
    object.akgen_register();
    if constexpr (sizeof...(rest) > 0)
        matmul_with_tiling(pipe, object, rest...);
}
/* On the AIC that serves them the objects are known by their numbers; what they are must be right all the same. */
template <class T, typename = void> constexpr bool is_matmul = false;
template <class T>
constexpr bool is_matmul<T, std::void_t<typename T::AType, typename T::CType, typename T::CallBack>> = true;
template <class T, class... Rest> AKGEN_API void matmul_serve_objects(uint32_t id, T &&, Rest &&...rest)
{
    using object = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (is_matmul<object>)
        object::akgen_call_back(++id);
    else
        static_assert(std::is_convertible_v<object, const __gm__ void *> || std::is_convertible_v<object, const void *>,
                      "REGIST_MATMUL_OBJ takes Matmul objects and their tilings in turn");
    if constexpr (sizeof...(rest) > 0)
        matmul_serve_objects(id, rest...);
}
/* An AIV's side of the service, which ends with the scope of its objects. */
struct matmul_client {
    AKGEN_API explicit matmul_client(uint64_t workspace)
    {
        npu_matmul_open(workspace);
    }
    AKGEN_API ~matmul_client()
    {
        npu_matmul_close();
    }
    matmul_client(const matmul_client &) = delete;
};

} // namespace akgen

#endif
