/* Reductions of a matrix with a pattern: R stands for an axis that is reduced, A for one that stays. NPU_ARCH 2201 has
 * AR and RA, of rows that are whole 32-byte blocks in memory (srcInnerPad). */
#ifndef ASCENDC_ADV_PATTERN_H
#define ASCENDC_ADV_PATTERN_H

#include "adv/call.h"

namespace AscendC
{
namespace Pattern
{
namespace Reduce
{
struct R {
};
struct AR {
};
struct RA {
};
struct ARA {
};
struct ARAR {
};
struct RAR {
};
struct RARA {
};
} // namespace Reduce
} // namespace Pattern
} // namespace AscendC

namespace akgen
{
template <npu_adv_op op, typename T, typename pattern>
AKGEN_API npu_adv by_pattern(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                             const uint32_t *shape, bool reuse)
{
    namespace P = AscendC::Pattern::Reduce;
    static_assert(std::is_same_v<pattern, P::AR> || std::is_same_v<pattern, P::RA>,
                  "the patterns of Ascend910B are Pattern::Reduce::AR and RA");
    npu_adv call = adv<op, T>(raw(dst), raw(src), 0, reuse);
    call.shape[0] = shape[0];
    call.shape[1] = shape[1];
    call.shape[2] = std::is_same_v<pattern, P::RA>;
    return call;
}
} // namespace akgen

namespace AscendC
{

#define AKGEN_BY_PATTERN(Name, op)                                                                                     \
    template <class T, class pattern, bool isReuseSource = false>                                                      \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor,                              \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t srcShape[], bool srcInnerPad)      \
    {                                                                                                                  \
        npu_adv call = akgen::by_pattern<op, T, pattern>(dstTensor, srcTensor, srcShape, isReuseSource);               \
        call.tmp = sharedTmpBuffer.akgen_tensor;                                                                       \
        npu_advanced(&call);                                                                                           \
    }                                                                                                                  \
    template <class T, class pattern, bool isReuseSource = false>                                                      \
    AKGEN_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t srcShape[],   \
                        bool srcInnerPad)                                                                              \
    {                                                                                                                  \
        npu_adv call = akgen::by_pattern<op, T, pattern>(dstTensor, srcTensor, srcShape, isReuseSource);               \
        npu_advanced(&call);                                                                                           \
    }
AKGEN_BY_PATTERN(ReduceSum, NPU_ADV_PATTERN_SUM)
AKGEN_BY_PATTERN(ReduceMean, NPU_ADV_PATTERN_MEAN)
AKGEN_BY_PATTERN(ReduceMax, NPU_ADV_PATTERN_MAX)
AKGEN_BY_PATTERN(ReduceMin, NPU_ADV_PATTERN_MIN)
AKGEN_BY_PATTERN(ReduceProd, NPU_ADV_PATTERN_PROD)
AKGEN_BY_PATTERN(ReduceAny, NPU_ADV_PATTERN_ANY)
AKGEN_BY_PATTERN(ReduceAll, NPU_ADV_PATTERN_ALL)
#undef AKGEN_BY_PATTERN

/* dstTensor[0] = sum of src0Tensor[i] ^ src1Tensor[i]; CANN takes the result and the space by reference. */
template <typename T, bool isReuseSource = false>
AKGEN_API void ReduceXorSum(LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,
                            const LocalTensor<T> &src1Tensor, LocalTensor<uint8_t> &sharedTmpBuffer,
                            const uint32_t calCount)
{
    npu_adv call =
        akgen::adv<NPU_ADV_XOR_SUM, T>(dstTensor.akgen_tensor, src0Tensor.akgen_tensor, calCount, isReuseSource);
    call.src[1] = src1Tensor.akgen_tensor;
    call.tmp = sharedTmpBuffer.akgen_tensor;
    npu_advanced(&call);
}
template <typename T, bool isReuseSource = false>
AKGEN_API void ReduceXorSum(LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor,
                            const LocalTensor<T> &src1Tensor, const uint32_t calCount)
{
    LocalTensor<uint8_t> none;
    ReduceXorSum<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, none, calCount);
}

} // namespace AscendC

#endif
