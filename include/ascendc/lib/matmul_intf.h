/* Matmul and its registration. A kernel that defines ASCENDC_CUBE_ONLY before this header has objects that run on the
 * AIC where they stand; otherwise an object on an AIV sends its calls to the AIC of its block, which REGIST_MATMUL_OBJ
 * lets serve them until the AIVs are done. asc-devkit docs, Matmul-Kernel侧接口/REGIST_MATMUL_OBJ, Matmul使用说明. */
#ifndef ASCENDC_LIB_MATMUL_INTF_H
#define ASCENDC_LIB_MATMUL_INTF_H

#include "adv/matmul.h"
#include "kernel_operator.h"

namespace AscendC
{
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto & = MM_CFG, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
#ifdef ASCENDC_CUBE_ONLY
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
#else
using Matmul = MatmulClient<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
#endif

/* In this header alone: so has CANN (highlevel_api/impl/matmul/utils/matmul_utils.h of 8.1). */
template <typename T> AKGEN_CONSTANT T Align(T num1, T num2)
{
    return num2 == 0 ? 0 : (num1 + num2 - 1) / num2 * num2;
}
template <typename T> AKGEN_CONSTANT T AlignDown(T num1, T num2)
{
    return num2 == 0 ? 0 : num1 / num2 * num2;
}
template <typename T> AKGEN_CONSTANT T CeilNoLog(T num1, T num2)
{
    return num2 == 0 ? 0 : (num1 + num2 - 1) / num2;
}
template <typename T> AKGEN_API T Ceil(T num1, T num2)
{
    return (num1 + num2 - 1) / num2;
}
template <typename T> AKGEN_API T CeilAlign(T num1, T num2)
{
    return (num1 + num2 - 1) / num2 * num2;
}
AKGEN_API uint16_t CeilAlign(uint16_t num1, uint16_t num2)
{
    return uint16_t((num1 + num2 - 1) / num2 * num2);
}
AKGEN_API uint16_t CeilDiv(uint16_t num1, uint16_t num2)
{
    return uint16_t((num1 + num2 - 1) / num2);
}
} // namespace AscendC

#if defined(ASCENDC_CUBE_ONLY) && defined(__DAV_C220_CUBE__)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) akgen::matmul_register(tpipe, __VA_ARGS__)
#elif defined(ASCENDC_CUBE_ONLY)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) return
#elif defined(__DAV_C220_CUBE__)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                                       \
    akgen::matmul_serve_objects(0, __VA_ARGS__);                                                                       \
    npu_matmul_serve(reinterpret_cast<uint64_t>(workspace));                                                           \
    return
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                                       \
    akgen::matmul_client akgen_client(reinterpret_cast<uint64_t>(workspace));                                          \
    akgen::matmul_register(tpipe, __VA_ARGS__)
#endif
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ

#endif
