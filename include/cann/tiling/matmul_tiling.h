// Tiling of matrix products: matmul_tiling::MatmulApiTiling for one core, MultiCoreMatmulTiling for several.
#ifndef CANN_TILING_MATMUL_TILING_H
#define CANN_TILING_MATMUL_TILING_H

#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_structs.h"
#include "tiling/unsupported.h"

#include <algorithm>

namespace matmul_tiling
{
enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_DUAL_SUB_INT8 = 14,
    DT_DUAL_SUB_UINT8 = 15,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_QINT8 = 18,
    DT_QINT16 = 19,
    DT_QINT32 = 20,
    DT_QUINT8 = 21,
    DT_QUINT16 = 22,
    DT_RESOURCE = 23,
    DT_STRING_REF = 24,
    DT_DUAL = 25,
    DT_VARIANT = 26,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_BFLOAT16 = 33
};
enum class TPosition : int32_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    MAX
};
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };
enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };

struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};
struct PlatformInfo {
    platform_ascendc::SocVersion socVersion;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};
struct MatmulConfigParams {
    int32_t mmConfigType;
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;
    MatmulConfigParams(int32_t type = 1, bool l1_cache_ub = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse order = MatrixTraverse::NOSET, bool vector_nd2nz = false)
        : mmConfigType(type), enableL1CacheUB(l1_cache_ub), scheduleType(schedule), traverse(order),
          enVecND2NZ(vector_nd2nz)
    {
    }
};

class MatmulApiTilingBase
{
  public:
    MatmulApiTilingBase()
    {
        akgen_matmul_init(&matmul_);
    }
    // The chip of the run decides; its memories are what these would tell.
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &) : MatmulApiTilingBase()
    {
    }
    explicit MatmulApiTilingBase(const PlatformInfo &) : MatmulApiTilingBase()
    {
    }
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition position, CubeFormat format, DataType type, bool transposed = false)
    {
        return SetOperand(matmul_.a, position, format, type, transposed);
    }
    int32_t SetBType(TPosition position, CubeFormat format, DataType type, bool transposed = false)
    {
        return SetOperand(matmul_.b, position, format, type, transposed);
    }
    int32_t SetCType(TPosition position, CubeFormat format, DataType type)
    {
        return SetOperand(matmul_.c, position, format, type, false);
    }
    int32_t SetBiasType(TPosition position, CubeFormat format, DataType type)
    {
        return SetOperand(matmul_.bias, position, format, type, false);
    }
    int32_t SetDequantType(DequantType)
    {
        return 0;
    }
    AKGEN_UNSUPPORTED("SetScaleAType") int32_t SetScaleAType(TPosition, CubeFormat, bool = false);
    AKGEN_UNSUPPORTED("SetScaleBType") int32_t SetScaleBType(TPosition, CubeFormat, bool = true);
    AKGEN_UNSUPPORTED("SetSparse") int32_t SetSparse(bool = false);
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k)
    {
        matmul_.m = m;
        matmul_.n = n;
        matmul_.k = k;
        return 0;
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k)
    {
        return SetOrgShape(m, n, k, k);
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
    {
        matmul_.org_m = m;
        matmul_.org_n = n;
        matmul_.org_ka = ka;
        matmul_.org_kb = kb;
        return 0;
    }
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        return SetLayout(0, b, s, n, g, d);
    }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        return SetLayout(5, b, s, n, g, d);
    }
    int32_t SetCLayout(int32_t b, int32_t s1, int32_t n, int32_t g, int32_t s2)
    {
        return SetLayout(10, b, s1, n, g, s2);
    }
    int32_t SetBatchInfoForNormal(int32_t batch_a, int32_t batch_b, int32_t m, int32_t n, int32_t k)
    {
        SetALayout(batch_a, m, 1, 1, k);
        SetBLayout(batch_b, n, 1, 1, k);
        return SetCLayout(batch_a > batch_b ? batch_a : batch_b, m, 1, 1, n);
    }
    int32_t SetBatchNum(int32_t batch)
    {
        matmul_.batch_number = batch;
        return 0;
    }
    int32_t EnableBias(bool bias = false)
    {
        matmul_.has_bias = bias;
        return 0;
    }
    int32_t SetBias(bool bias = false)
    {
        return EnableBias(bias);
    }
    int32_t SetFixSplit(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        return akgen_matmul_fix_split(&matmul_, m, n, k);
    }
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1)
    {
        return akgen_matmul_buffer_space(&matmul_, l1, l0c, ub, bt);
    }
    int32_t SetTraverse(MatrixTraverse order)
    {
        matmul_.n_first = order == MatrixTraverse::FIRSTN;
        return 0;
    }
    int32_t SetMadType(MatrixMadType)
    {
        return 0;
    }
    int32_t SetSplitRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1, int32_t min_m = -1,
                          int32_t min_n = -1, int32_t min_k = -1)
    {
        matmul_.max_base_m = max_m;
        matmul_.max_base_n = max_n;
        matmul_.max_base_k = max_k;
        matmul_.min_base_m = min_m;
        matmul_.min_base_n = min_n;
        matmul_.min_base_k = min_k;
        return 0;
    }
    // Which buffers are doubled follows from what fits.
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true)
    {
        return 0;
    }
    void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse order = MatrixTraverse::NOSET, bool = false)
    {
        if (order != MatrixTraverse::NOSET)
            SetTraverse(order);
    }
    void SetMatmulConfigParams(const MatmulConfigParams &parameters)
    {
        SetMatmulConfigParams(parameters.mmConfigType, false, parameters.scheduleType, parameters.traverse);
    }
    int32_t GetBaseM() const
    {
        return made_.baseM;
    }
    int32_t GetBaseN() const
    {
        return made_.baseN;
    }
    int32_t GetBaseK() const
    {
        return made_.baseK;
    }
    virtual int64_t GetTiling(optiling::TCubeTiling &tiling)
    {
        return Make(AscendC::AkgenPlain<akgen_TCubeTiling>(tiling));
    }
    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling &tiling)
    {
        return Make(&tiling);
    }

  protected:
    akgen_matmul matmul_;
    akgen_TCubeTiling made_;

  private:
    static int32_t SetOperand(akgen_matmul_operand &operand, TPosition position, CubeFormat format, DataType type,
                              bool transposed)
    {
        operand.position = static_cast<int>(position);
        operand.format = static_cast<int>(format);
        operand.dtype = static_cast<int>(type);
        operand.transposed = transposed;
        return 0;
    }
    int32_t SetLayout(size_t first, int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        const int32_t sizes[] = {b, s, n, g, d};
        std::copy(sizes, sizes + 5, matmul_.layout + first);
        return 0;
    }
    int64_t Make(akgen_TCubeTiling *tiling)
    {
        const int64_t status = akgen_matmul_tiling(&matmul_, &made_);
        if (status == 0)
            *tiling = made_;
        return status;
    }
};

class MatmulApiTiling : public MatmulApiTilingBase
{
  public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    // L1 has no banks here.
    bool EnableL1BankConflictOptimise()
    {
        return false;
    }
};

// One core's product, several times.
class BatchMatmulTiling : public MatmulApiTilingBase
{
  public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t SetBatch(int32_t m, int32_t n)
    {
        batch_m_ = m;
        batch_n_ = n;
        return 0;
    }
    int32_t SetSingleBatch(int32_t m, int32_t n)
    {
        single_batch_m_ = m > 0 ? m : single_batch_m_;
        single_batch_n_ = n > 0 ? n : single_batch_n_;
        return 0;
    }
    int32_t GetCoreNum(int32_t &cores, int32_t &rows, int32_t &columns, int32_t &batch_rows, int32_t &batch_columns)
    {
        cores = made_.usedCoreNum;
        rows = Parts(made_.M, made_.singleCoreM);
        columns = Parts(made_.N, made_.singleCoreN);
        batch_rows = Parts(batch_m_, single_batch_m_);
        batch_columns = Parts(batch_n_, single_batch_n_);
        return 0;
    }

  private:
    static int32_t Parts(int32_t whole, int32_t part)
    {
        return part > 0 ? (whole + part - 1) / part : 0;
    }
    int32_t batch_m_ = 1, batch_n_ = 1, single_batch_m_ = 1, single_batch_n_ = 1;
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase
{
  public:
    MultiCoreMatmulTiling()
    {
        matmul_.cores = 1;
    }
    explicit MultiCoreMatmulTiling(const platform_ascendc::PlatformAscendC &) : MultiCoreMatmulTiling()
    {
    }
    explicit MultiCoreMatmulTiling(const PlatformInfo &) : MultiCoreMatmulTiling()
    {
    }
    int32_t SetDim(int32_t cores)
    {
        matmul_.cores = cores;
        return 0;
    }
    virtual int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        matmul_.single_m = m > 0 ? m : matmul_.single_m;
        matmul_.single_n = n > 0 ? n : matmul_.single_n;
        matmul_.single_k = k > 0 ? k : matmul_.single_k;
        return 0;
    }
    virtual int32_t SetSingleRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1, int32_t min_m = -1,
                                   int32_t min_n = -1, int32_t min_k = -1)
    {
        matmul_.max_single_m = max_m;
        matmul_.max_single_n = max_n;
        matmul_.max_single_k = max_k;
        matmul_.min_single_m = min_m;
        matmul_.min_single_n = min_n;
        matmul_.min_single_k = min_k;
        return 0;
    }
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t k)
    {
        matmul_.align_m = m > 0 ? m : matmul_.align_m;
        matmul_.align_n = n > 0 ? n : matmul_.align_n;
        matmul_.align_k = k > 0 ? k : matmul_.align_k;
        return 0;
    }
    void EnableMultiCoreSplitK(bool split)
    {
        matmul_.split_k = split;
    }
    void SetSplitK(bool split)
    {
        EnableMultiCoreSplitK(split);
    }
    bool EnableL1BankConflictOptimise()
    {
        return false;
    }
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k)
    {
        m = made_.singleCoreM;
        n = made_.singleCoreN;
        k = made_.singleCoreK;
        return 0;
    }
    int32_t GetCoreNum(int32_t &cores, int32_t &rows, int32_t &columns)
    {
        cores = made_.usedCoreNum;
        rows = made_.singleCoreM > 0 ? (matmul_.m + made_.singleCoreM - 1) / made_.singleCoreM : 0;
        columns = made_.singleCoreN > 0 ? (matmul_.n + made_.singleCoreN - 1) / made_.singleCoreN : 0;
        return 0;
    }
};
} // namespace matmul_tiling

inline int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &size)
{
    size.l1Size = std::max(size.l1Size, tiling.shareL1Size);
    size.l0cSize = std::max(size.l0cSize, tiling.shareL0CSize);
    size.ubSize = std::max(size.ubSize, tiling.shareUbSize);
    return 0;
}
inline int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &size)
{
    return MatmulGetTmpBufSizeV2(*AscendC::AkgenPlain<akgen_TCubeTiling>(tiling), size);
}
inline int32_t MultiCoreMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling &tiling,
                                              matmul_tiling::SysTilingTempBufSize &size)
{
    return MatmulGetTmpBufSizeV2(tiling, size);
}
inline int32_t BatchMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling &tiling,
                                          matmul_tiling::SysTilingTempBufSize &size)
{
    return MatmulGetTmpBufSizeV2(tiling, size);
}
inline int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &size)
{
    return MatmulGetTmpBufSize(tiling, size);
}
inline int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &size)
{
    return MatmulGetTmpBufSize(tiling, size);
}
#endif
