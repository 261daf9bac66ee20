// Shape inference (opbase, op_common/op_host/infershape_broadcast_util.h): compiled, never called, because the task
// says every output's shape.
#ifndef CANN_OP_COMMON_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H
#define CANN_OP_COMMON_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/ge_error_codes.h"

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
inline bool BroadcastShape(const gert::Shape *, const gert::Shape *, gert::Shape *)
{
    akgen_never_run("Ops::Base::BroadcastShape");
}
inline bool BroadcastShape(const std::vector<const gert::Shape *> &, gert::Shape *)
{
    akgen_never_run("Ops::Base::BroadcastShape");
}
} // namespace Base
} // namespace Ops
#endif
