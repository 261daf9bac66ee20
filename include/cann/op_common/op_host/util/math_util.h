// Integer arithmetic of tiling (opbase, op_common/op_host/util/math_util.h).
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_MATH_UTIL_H
#define CANN_OP_COMMON_OP_HOST_UTIL_MATH_UTIL_H

#include "op_common/op_host/util/opbase_export.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace Ops
{
namespace Base
{
// Division by 0 gives the dividend, alignment to 0 gives 0: CANN's contract.
template <typename T> auto FloorDiv(T x, T y) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    return y == 0 ? x : x / y;
}
template <typename T> auto FloorAlign(T x, T align) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    return align == 0 ? 0 : x / align * align;
}
// Rounded up, towards plus infinity.
template <typename T> auto CeilDiv(T x, T y) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    if (x == 0 || y == 0)
        return x;
    const T quotient = x / y;
    const bool positive = (x < 0) == (y < 0);
    return x % y != 0 && positive ? quotient + 1 : quotient;
}
// The largest number of type T where the product would not fit.
template <typename T> auto CeilAlign(T x, T align) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    if (align == 0)
        return 0;
    const T parts = CeilDiv(x, align);
    return parts > std::numeric_limits<T>::max() / align ? std::numeric_limits<T>::max() : parts * align;
}
// Infinities of one sign are equal, NaN equals nothing.
template <typename T> auto IsFloatEqual(T a, T b) -> std::enable_if_t<std::is_floating_point_v<T>, bool>
{
    if (std::isnan(a) || std::isnan(b))
        return false;
    if (std::isinf(a) || std::isinf(b))
        return std::signbit(a) == std::signbit(b);
    return std::fabs(a - b) <= std::numeric_limits<T>::epsilon();
}
// The largest power of two that is not above n; 1 for 0.
inline uint64_t LastPow2(uint64_t n)
{
    return n ? uint64_t(1) << (63 - __builtin_clzll(n)) : 1;
}

struct SplitResult {
    int32_t splitCount = 0;
    int64_t splitFactor = 0;
    int64_t splitTailFactor = 0;
};
// At most `parts` parts of equal length, the last one shorter; false if a number is not positive.
inline bool SplitIntoEqualByParts(int64_t splitLen, int32_t parts, SplitResult &result)
{
    if (splitLen <= 0 || parts <= 0)
        return false;
    result.splitFactor = CeilDiv(splitLen, std::min<int64_t>(splitLen, parts));
    result.splitCount = static_cast<int32_t>(CeilDiv(splitLen, result.splitFactor));
    result.splitTailFactor = splitLen - (result.splitCount - 1) * result.splitFactor;
    return true;
}
// Parts of length `factor`, the last one shorter; a single part is all tail, its factor 0.
inline bool SplitIntoEqualByFactor(int64_t splitLen, int32_t factor, SplitResult &result)
{
    if (splitLen <= 0 || factor <= 0)
        return false;
    const int64_t length = std::min<int64_t>(splitLen, factor);
    result.splitCount = static_cast<int32_t>(CeilDiv(splitLen, length));
    result.splitTailFactor = splitLen - (result.splitCount - 1) * length;
    result.splitFactor = result.splitCount == 1 ? 0 : length;
    return true;
}
} // namespace Base
} // namespace Ops
#endif
