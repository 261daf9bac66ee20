/* opbase, op_common/op_kernel/math_util.h: of positive numbers. */
#ifndef ASCENDC_OP_KERNEL_MATH_UTIL_H
#define ASCENDC_OP_KERNEL_MATH_UTIL_H

#include "kernel_operator.h"

namespace Ops
{
namespace Base
{
template <typename T> AKGEN_API T CeilDiv(T a, T b)
{
    return T((uint64_t(a) + uint64_t(b) - 1) / uint64_t(b));
}
template <typename T> AKGEN_API T FloorDiv(T a, T b)
{
    return a / b;
}
template <typename T> AKGEN_API T CeilAlign(T a, T b)
{
    return T((uint64_t(a) + uint64_t(b) - 1) / uint64_t(b) * uint64_t(b));
}
template <typename T> AKGEN_API T FloorAlign(T a, T b)
{
    return a / b * b;
}
} // namespace Base
} // namespace Ops

#endif
