/* Names that CANN has and AKGen lacks. Using one is a compile error whose text begins with "akgen-unsupported: " and
 * the name, which the toolchain turns into the verdict `unsupported`. The functions take anything by const reference,
 * so that a kernel's own function of the same name is the better match. */
#ifndef ASCENDC_UNSUPPORTED_H
#define ASCENDC_UNSUPPORTED_H

#include "basic/enums.h"

#define AKGEN_LACKS(Name) __attribute__((unavailable("akgen-unsupported: " #Name)))

/* Explicit template arguments may be types, values, or types first and values then. */
#define AKGEN_LACKS_FUNCTION(Name)                                                                                     \
    template <class... E, class... A> AKGEN_LACKS(Name) AKGEN_DEVICE void Name(const A &...);                          \
    template <class E, auto V0, auto... V, class... A> AKGEN_LACKS(Name) AKGEN_DEVICE void Name(const A &...);         \
    template <class E, class F, auto V0, auto... V, class... A>                                                        \
    AKGEN_LACKS(Name)                                                                                                  \
    AKGEN_DEVICE void Name(const A &...);                                                                              \
    template <auto V0, auto... V, class... A> AKGEN_LACKS(Name) AKGEN_DEVICE void Name(const A &...);
/* Complete, so that the first thing wrong with a use is that it is used. */
#define AKGEN_LACKS_TYPE(Name)                                                                                         \
    struct AKGEN_LACKS(Name) Name {                                                                                    \
        template <class... A> AKGEN_DEVICE constexpr Name(const A &...)                                                \
        {                                                                                                              \
        }                                                                                                              \
    };
#define AKGEN_LACKS_VALUE(Name) AKGEN_LACKS(Name) constexpr int Name = 0;

namespace AscendC
{

template <typename T> class LocalTensor;

/* The cube unit and what feeds it. */
AKGEN_LACKS_FUNCTION(MmadWithSparse)
AKGEN_LACKS_FUNCTION(LoadDataWithSparse)
AKGEN_LACKS_FUNCTION(LoadImageToLocal)
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
AKGEN_LACKS_TYPE(BroadcastTiling)
AKGEN_LACKS_TYPE(KfcWorkspace)
template <class... Types> class AKGEN_LACKS(Hccl) Hccl;

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
AKGEN_LACKS_FUNCTION(get_max_min_cnt)
AKGEN_LACKS_FUNCTION(dc_preload)
AKGEN_LACKS_FUNCTION(ld_dev)
AKGEN_LACKS_FUNCTION(st_dev)
AKGEN_LACKS_FUNCTION(set_st_atomic_cfg)
AKGEN_LACKS_FUNCTION(get_st_atomic_cfg)
AKGEN_LACKS_FUNCTION(set_ffts_base_addr)
#undef AKGEN_LACKS_FUNCTION
#undef AKGEN_LACKS_TYPE
#undef AKGEN_LACKS_VALUE
#undef AKGEN_LACKS

#endif
