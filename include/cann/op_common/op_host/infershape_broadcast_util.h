// Broadcasting shapes (opbase, op_common/op_host/infershape_broadcast_util.h). Inference is compiled and never called,
// because the task says every output's shape.
#ifndef CANN_OP_COMMON_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H
#define CANN_OP_COMMON_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/ge_error_codes.h"

#include <algorithm>
#include <vector>

namespace Ops
{
namespace Base
{
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *)
{
    akgen_never_run("Ops::Base::InferShape4Broadcast");
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *, size_t)
{
    akgen_never_run("Ops::Base::InferShape4Broadcast");
}
// Tiling may ask this one: the shape to which all of `shapes` broadcast; false if there is none.
inline bool BroadcastShape(const std::vector<const gert::Shape *> &shapes, gert::Shape *out)
{
    size_t rank = 0;
    for (const gert::Shape *shape : shapes)
        rank = std::max(rank, shape->GetDimNum());
    gert::Shape result;
    result.SetDimNum(rank);
    for (size_t back = 1; back <= rank; back++) {
        int64_t size = 1;
        for (const gert::Shape *shape : shapes) {
            const int64_t dim = back <= shape->GetDimNum() ? shape->GetDim(shape->GetDimNum() - back) : 1;
            if (dim != size && dim != 1 && size != 1)
                return false;
            size = size == 1 ? dim : size;
        }
        result.SetDim(rank - back, size);
    }
    *out = result;
    return !shapes.empty();
}
inline bool BroadcastShape(const gert::Shape *first, const gert::Shape *second, gert::Shape *out)
{
    return BroadcastShape({first, second}, out);
}
} // namespace Base
} // namespace Ops
#endif
