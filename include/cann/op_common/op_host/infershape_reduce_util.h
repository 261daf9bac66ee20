// Reduced shapes (opbase, op_common/op_host/infershape_reduce_util.h). Inference is compiled and never called, because the
// task says every output's shape.
#ifndef CANN_OP_COMMON_OP_HOST_INFERSHAPE_REDUCE_UTIL_H
#define CANN_OP_COMMON_OP_HOST_INFERSHAPE_REDUCE_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/ge_error_codes.h"
#include "op_common/log/log.h"
#include "op_common/op_host/util/shape_util.h"

#include <vector>

namespace Ops
{
namespace Base
{
inline ge::graphStatus InferShape4Reduce(gert::InferShapeContext *)
{
    akgen_never_run("Ops::Base::InferShape4Reduce");
}
// Tiling may ask these as well: the shape without the axes, or with 1 in their place; axes below 0 count from the end. A
// rank that is not known stays so, a scalar stays one.
template <typename T>
ge::graphStatus AkgenReduceDims(const gert::Shape *x, const T *axes, int32_t count, bool keep, gert::Shape *out)
{
    if (IsUnknownRank(*x)) {
        SetUnknownRank(*out);
        return ge::GRAPH_SUCCESS;
    }
    const int64_t rank = static_cast<int64_t>(x->GetDimNum());
    bool reduced[gert::Shape::kMaxDimNum] = {};
    for (int32_t i = 0; i < count; i++) {
        // Without dimensions nothing looks at the axes unless they are kept.
        if ((rank || keep) && !CheckAxisBounds(rank ? rank : 1, axes[i])) {
            OP_LOGE("reduce", "axis %ld of a shape of rank %ld", static_cast<long>(axes[i]), static_cast<long>(rank));
            return ge::GRAPH_FAILED;
        }
        if (rank)
            reduced[axes[i] < 0 ? static_cast<int64_t>(axes[i]) + rank : static_cast<int64_t>(axes[i])] = true;
    }
    const gert::Shape from = *x;
    out->SetDimNum(0);
    for (int64_t i = 0; i < rank; i++)
        if (!reduced[i] || keep)
            out->AppendDim(reduced[i] ? 1 : from.GetDim(static_cast<size_t>(i)));
    return ge::GRAPH_SUCCESS;
}
template <typename T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape *x, const T *axes, int32_t count, gert::Shape *out)
{
    return AkgenReduceDims(x, axes, count, true, out);
}
template <typename T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape *x, const T *axes, int32_t count, gert::Shape *out)
{
    return AkgenReduceDims(x, axes, count, false, out);
}
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape *x, const gert::Tensor *axes, int32_t count, const bool keep,
                           gert::Shape *out)
{
    return AkgenReduceDims(x, axes->GetData<T>(), count, keep, out);
}
} // namespace Base
} // namespace Ops
#endif
