// Questions about shapes (opbase, op_common/op_host/util/shape_util.h). -1 is a dimension that is not known, a rank
// that is not known is the shape [-2].
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_SHAPE_UTIL_H
#define CANN_OP_COMMON_OP_HOST_UTIL_SHAPE_UTIL_H

#include "exe_graph/runtime/shape.h"
#include "op_common/op_host/util/opbase_export.h"

namespace Ops
{
namespace Base
{
// Whether -dimNum <= axis < dimNum; a scalar has axis 0.
template <typename T1, typename T2> bool CheckAxisBounds(const T1 dimNum, const T2 axis)
{
    const int64_t rank = static_cast<int64_t>(dimNum), at = static_cast<int64_t>(axis);
    return rank == 0 ? at == 0 : at >= -rank && at < rank;
}
inline void SetUnknownRank(gert::Shape &shape)
{
    shape.SetDimNum(0);
    shape.AppendDim(-2);
}
inline bool IsUnknownRank(const gert::Shape &shape)
{
    return shape.GetDimNum() == 1 && shape.GetDim(0) == -2;
}
inline void SetUnknownShape(int64_t rank, gert::Shape &shape)
{
    if (rank < 0)
        return;
    shape.SetDimNum(static_cast<size_t>(rank));
    for (size_t i = 0; i < static_cast<size_t>(rank); i++)
        shape.SetDim(i, -1);
}
inline bool IsUnknownShape(const gert::Shape &shape)
{
    for (size_t i = 0; i < shape.GetDimNum(); i++)
        if (shape.GetDim(i) == -1)
            return true;
    return false;
}
} // namespace Base
} // namespace Ops
#endif
