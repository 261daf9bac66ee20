/* Names that CANN has and AKGen lacks. Using one is a compile error whose text begins with "akgen-unsupported: " and
 * the name, which the toolchain turns into the verdict `unsupported`. The functions take anything by const reference,
 * so that a kernel's own function of the same name is the better match. */
#ifndef ASCENDC_UNSUPPORTED_H
#define ASCENDC_UNSUPPORTED_H

#include "basic/enums.h"
#include "basic/lacks.h"

namespace AscendC
{

template <typename T> class LocalTensor;
template <typename T> class GlobalTensor;
struct LoadData2DParamsV2;
struct LoadData2dTransposeParamsV2;
struct DataCopyParams;
struct DataCopyExtParams;
struct Nd2NzParams;

/* The cube unit and what feeds it. */
AKGEN_LACKS_FUNCTION(MmadWithSparse)
AKGEN_LACKS_FUNCTION(LoadDataWithSparse)
AKGEN_LACKS_FUNCTION(LoadImageToLocal)
AKGEN_LACKS_TYPE(LoadImageToLocalParams)
AKGEN_LACKS_FUNCTION(SetAippFunctions)
template <class... Types> struct AKGEN_LACKS(AippParams) AippParams {
};
enum class AKGEN_LACKS(AippInputFormat) AippInputFormat : uint8_t {
    YUV420SP_U8 = 0,
    XRGB8888_U8 = 1,
    RGB888_U8 = 4,
    YUV400_U8 = 9
};
AKGEN_LACKS_FUNCTION(Conv2D)
AKGEN_LACKS_FUNCTION(Gemm)
AKGEN_LACKS_FUNCTION(BroadCastVecToMM)
AKGEN_LACKS_FUNCTION(SetMMLayoutTransform)
AKGEN_LACKS_FUNCTION(CreateCubeResGroup)

/* Forms that other products have. CANN declares them for an Ascend 910B and does nothing there. */
template <typename T>
AKGEN_LACKS(LoadData2DParamsV2)
AKGEN_DEVICE void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParamsV2 &params);
template <typename T>
AKGEN_LACKS(LoadData2DParamsV2)
AKGEN_DEVICE void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParamsV2 &params);
template <typename T>
AKGEN_LACKS(LoadData2dTransposeParamsV2)
AKGEN_DEVICE void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                        const LoadData2dTransposeParamsV2 &params);

/* From UB into TSCM, which is the AIC's L1: a way that its server has to go. */
#define AKGEN_LACKS_TSCM(Name, ...)                                                                                    \
    template <typename T>                                                                                              \
    __attribute__((unavailable("akgen-unsupported: " #Name " with Nd2NzParams from UB to TSCM"))) AKGEN_DEVICE void    \
    Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, __VA_ARGS__ const Nd2NzParams &nd2nzParams);
AKGEN_LACKS_TSCM(DataCopyPad, const DataCopyParams &dataCopyParams, )
AKGEN_LACKS_TSCM(DataCopyPad, const DataCopyExtParams &dataCopyParams, )
#undef AKGEN_LACKS_TSCM

/* Other basic instructions. */
AKGEN_LACKS_FUNCTION(CheckLocalMemoryIA)
AKGEN_LACKS_TYPE(CheckLocalMemoryIAParam)

/* High-level APIs. */
/* One name a line: the list shrinks. */
/* clang-format off */
#define AKGEN_LACKS_ADVANCED(X) \
    X(TransData)
/* clang-format on */
AKGEN_LACKS_ADVANCED(AKGEN_LACKS_FUNCTION)
#undef AKGEN_LACKS_ADVANCED
AKGEN_LACKS_TYPE(TransDataConfig)
AKGEN_LACKS_TYPE(SortConfig)
AKGEN_LACKS_TYPE(BroadcastTiling)
AKGEN_LACKS_FUNCTION(GetBroadcastTilingInfo)
AKGEN_LACKS_TYPE(KfcWorkspace)

/* What Matmul is made of: kernels that put modules of their own into it. Its policies and callbacks are here. */
} // namespace AscendC
namespace akgen::lacks
{
AKGEN_LACKS_TYPE(MATMUL_USE_MODULE)
AKGEN_LACKS_TYPE(MATMUL_USE_MODULE_ON)
AKGEN_LACKS_TYPE(MATMUL_ALLOW_USING)
AKGEN_LACKS_TYPE(MATMUL_ALLOW_USING_TEMPLATE)
AKGEN_LACKS_TYPE(MATMUL_ALLOW_USING_PRIVATE)
AKGEN_LACKS_TYPE(MATMUL_ALLOW_USING_TEMPLATE_PRIVATE)
} // namespace akgen::lacks
namespace AscendC
{
#define MATMUL_USE_MODULE(...)                   AKGEN_LACKS_MACRO(MATMUL_USE_MODULE)
#define MATMUL_USE_MODULE_ON(...)                AKGEN_LACKS_MACRO(MATMUL_USE_MODULE_ON)
#define MATMUL_ALLOW_USING(...)                  AKGEN_LACKS_MACRO(MATMUL_ALLOW_USING)
#define MATMUL_ALLOW_USING_TEMPLATE(...)         AKGEN_LACKS_MACRO(MATMUL_ALLOW_USING_TEMPLATE)
#define MATMUL_ALLOW_USING_PRIVATE(...)          AKGEN_LACKS_MACRO(MATMUL_ALLOW_USING_PRIVATE)
#define MATMUL_ALLOW_USING_TEMPLATE_PRIVATE(...) AKGEN_LACKS_MACRO(MATMUL_ALLOW_USING_TEMPLATE_PRIVATE)

/* Communication between cards. */
template <auto... Values> class AKGEN_LACKS(Hccl) Hccl
{
};
enum HcclServerType { HCCL_SERVER_TYPE_AICPU = 0 };
AKGEN_LACKS_TYPE(HcclServerConfig)
enum AKGEN_LACKS(HcclDataType) HcclDataType {
    HCCL_DATA_TYPE_INT8,
    HCCL_DATA_TYPE_INT16,
    HCCL_DATA_TYPE_INT32,
    HCCL_DATA_TYPE_FP16,
    HCCL_DATA_TYPE_FP32,
    HCCL_DATA_TYPE_INT64,
    HCCL_DATA_TYPE_UINT64,
    HCCL_DATA_TYPE_UINT8,
    HCCL_DATA_TYPE_UINT16,
    HCCL_DATA_TYPE_UINT32,
    HCCL_DATA_TYPE_FP64,
    HCCL_DATA_TYPE_BFP16
};
enum AKGEN_LACKS(HcclReduceOp) HcclReduceOp {
    HCCL_REDUCE_SUM,
    HCCL_REDUCE_PROD,
    HCCL_REDUCE_MAX,
    HCCL_REDUCE_MIN,
    HCCL_REDUCE_RESERVED
};
AKGEN_LACKS_TYPE(HcclCMDType)
AKGEN_LACKS_TYPE(HcclHandle)
AKGEN_LACKS_FUNCTION(SetHcclContext)
AKGEN_LACKS_FUNCTION(GetHcclContext)

/* Groups of cores. */
enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };
template <auto... Values> struct AKGEN_LACKS(GroupBarrier) GroupBarrier {
    template <class... A> AKGEN_DEVICE constexpr GroupBarrier(const A &...)
    {
    }
};
template <class... Types> class AKGEN_LACKS(CubeResGroupHandle) CubeResGroupHandle
{
};

/* Shapes and layouts as types. Layout itself is a name that kernels give to things of their own. */
AKGEN_LACKS_FUNCTION(MakeShape)
AKGEN_LACKS_FUNCTION(MakeStride)
AKGEN_LACKS_FUNCTION(MakeLayout)
AKGEN_LACKS_FUNCTION(MakeCoord)
AKGEN_LACKS_FUNCTION(Crd2Idx)
AKGEN_LACKS_FUNCTION(MakeTensorTrait)
template <class... Types> struct AKGEN_LACKS(TensorTrait) TensorTrait {
};

} // namespace AscendC

/* Tiling of the communication between cards. */
AKGEN_LACKS_TYPE(Mc2InitTiling)
AKGEN_LACKS_TYPE(Mc2CcTiling)

/* Compiler instructions and types outside the namespace. */
/* Arguments of those below. */
enum bm_t { BM_DISABLE, BM_ENABLE };
enum unit_flag_t { UFMode0, UFMode1, UFMode2, UFMode3 };
/* Those of the cube unit and what feeds it. */
AKGEN_LACKS_FUNCTION(mad)
AKGEN_LACKS_FUNCTION(mad_s4)
AKGEN_LACKS_FUNCTION(mad_sp)
AKGEN_LACKS_FUNCTION(load_gm_to_cbuf)
AKGEN_LACKS_FUNCTION(load_gm_to_ca)
AKGEN_LACKS_FUNCTION(load_gm_to_cb)
AKGEN_LACKS_FUNCTION(load_cbuf_to_ca)
AKGEN_LACKS_FUNCTION(load_cbuf_to_cb)
AKGEN_LACKS_FUNCTION(load_cbuf_to_ca_s4)
AKGEN_LACKS_FUNCTION(load_cbuf_to_cb_s4)
AKGEN_LACKS_FUNCTION(load_cbuf_to_ca_transpose)
AKGEN_LACKS_FUNCTION(load_cbuf_to_cb_transpose)
AKGEN_LACKS_FUNCTION(load_cbuf_to_cb_transpose_s4)
AKGEN_LACKS_FUNCTION(load_cbuf_to_cb_sp)
AKGEN_LACKS_FUNCTION(load_image_to_cbuf)
AKGEN_LACKS_FUNCTION(img2colv2_cbuf_to_ca)
AKGEN_LACKS_FUNCTION(img2colv2_cbuf_to_ca_s4)
AKGEN_LACKS_FUNCTION(img2colv2_cbuf_to_cb)
AKGEN_LACKS_FUNCTION(create_cbuf_matrix)
AKGEN_LACKS_FUNCTION(create_cbuf_matrix_bf16)
AKGEN_LACKS_FUNCTION(create_ca_matrix)
AKGEN_LACKS_FUNCTION(create_ca_matrix_bf16)
AKGEN_LACKS_FUNCTION(create_cb_matrix)
AKGEN_LACKS_FUNCTION(create_cb_matrix_bf16)
AKGEN_LACKS_FUNCTION(copy_matrix_cc_to_gm)
AKGEN_LACKS_FUNCTION(copy_matrix_cc_to_cbuf)
AKGEN_LACKS_FUNCTION(copy_gm_to_cbuf)
AKGEN_LACKS_FUNCTION(copy_gm_to_cbuf_multi_nd2nz_b8)
AKGEN_LACKS_FUNCTION(copy_gm_to_cbuf_multi_nd2nz_b16)
AKGEN_LACKS_FUNCTION(copy_gm_to_cbuf_multi_nd2nz_b32s)
AKGEN_LACKS_FUNCTION(copy_cbuf_to_gm)
AKGEN_LACKS_FUNCTION(copy_cbuf_to_bt)
AKGEN_LACKS_FUNCTION(copy_cbuf_to_fbuf)
AKGEN_LACKS_FUNCTION(set_nd_para)
AKGEN_LACKS_FUNCTION(set_fpc)
AKGEN_LACKS_FUNCTION(set_quant_pre)
AKGEN_LACKS_FUNCTION(set_fmatrix)
AKGEN_LACKS_FUNCTION(set_fmatrix_b)
AKGEN_LACKS_FUNCTION(set_l3d_rpt)
AKGEN_LACKS_FUNCTION(vld_va_reg)
AKGEN_LACKS_FUNCTION(vaddreluconv_vdeqs162b8)
AKGEN_LACKS_FUNCTION(vsubreluconv_vdeqs162b8)
AKGEN_LACKS_FUNCTION(get_overflow_status)
AKGEN_LACKS_FUNCTION(set_condition_flag)
AKGEN_LACKS_FUNCTION(get_condition_flag)
AKGEN_LACKS_FUNCTION(hset_flag)
AKGEN_LACKS_FUNCTION(hwait_flag)
AKGEN_LACKS_FUNCTION(set_st_atomic_cfg)
AKGEN_LACKS_FUNCTION(get_st_atomic_cfg)

#endif
