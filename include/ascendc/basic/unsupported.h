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

/* The cube unit and what feeds it. */
AKGEN_LACKS_FUNCTION(MmadWithSparse)
AKGEN_LACKS_FUNCTION(LoadDataWithSparse)
AKGEN_LACKS_FUNCTION(LoadImageToLocal)
AKGEN_LACKS_FUNCTION(SetAippFunctions)
AKGEN_LACKS_FUNCTION(Conv2D)
AKGEN_LACKS_FUNCTION(Gemm)
AKGEN_LACKS_FUNCTION(BroadCastVecToMM)
AKGEN_LACKS_FUNCTION(SetMMLayoutTransform)
AKGEN_LACKS_FUNCTION(CreateCubeResGroup)
AKGEN_LACKS_TYPE(Nz2NdParamsFull)

/* Other basic instructions. */
AKGEN_LACKS_FUNCTION(CheckLocalMemoryIA)
AKGEN_LACKS_TYPE(CheckLocalMemoryIAParam)

/* High-level APIs. */
/* One name a line: the list shrinks. */
/* clang-format off */
#define AKGEN_LACKS_ADVANCED(X) \
    X(SoftmaxFlashV3) \
    X(TransData)
/* clang-format on */
AKGEN_LACKS_ADVANCED(AKGEN_LACKS_FUNCTION)
#undef AKGEN_LACKS_ADVANCED
AKGEN_LACKS_TYPE(TransDataConfig)
AKGEN_LACKS_TYPE(SoftMaxParams)
AKGEN_LACKS_TYPE(SortConfig)
AKGEN_LACKS_TYPE(BroadcastTiling)
AKGEN_LACKS_TYPE(KfcWorkspace)

/* Communication between cards. */
template <auto... Values> class AKGEN_LACKS(Hccl) Hccl
{
};
enum HcclServerType { HCCL_SERVER_TYPE_AICPU = 0 };
AKGEN_LACKS_TYPE(HcclDataType)
AKGEN_LACKS_TYPE(HcclReduceOp)
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

/* Compiler instructions and types outside the namespace. */
AKGEN_LACKS_FUNCTION(vsel)
AKGEN_LACKS_FUNCTION(vgather)
AKGEN_LACKS_FUNCTION(vgatherb)
AKGEN_LACKS_FUNCTION(vreducev2)
AKGEN_LACKS_FUNCTION(vbitsort)
AKGEN_LACKS_FUNCTION(vmrgsort4)
AKGEN_LACKS_FUNCTION(vaddreluconv_f162s8)
AKGEN_LACKS_FUNCTION(vaddreluconv_f322f16)
AKGEN_LACKS_FUNCTION(vaddreluconv_s162s8)
AKGEN_LACKS_FUNCTION(vsubreluconv_f162s8)
AKGEN_LACKS_FUNCTION(vsubreluconv_f322f16)
AKGEN_LACKS_FUNCTION(vsubreluconv_s162s8)
AKGEN_LACKS_FUNCTION(vld_va_reg)
AKGEN_LACKS_FUNCTION(set_cmpmask)
AKGEN_LACKS_FUNCTION(get_cmpmask)
AKGEN_LACKS_FUNCTION(dc_preload)
AKGEN_LACKS_FUNCTION(ld_dev)
AKGEN_LACKS_FUNCTION(st_dev)
AKGEN_LACKS_FUNCTION(set_st_atomic_cfg)
AKGEN_LACKS_FUNCTION(get_st_atomic_cfg)
AKGEN_LACKS_FUNCTION(set_ffts_base_addr)

#endif
