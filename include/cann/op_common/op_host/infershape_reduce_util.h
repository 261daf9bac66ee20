// Shape inference (opbase, op_common/op_host/infershape_reduce_util.h): compiled, never called, because the task says
// every output's shape.
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
template <typename T> ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape *, const T *, int32_t, gert::Shape *)
{
    akgen_never_run("Ops::Base::ReduceDimsWithKeepDims");
}
template <typename T> ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape *, const T *, int32_t, gert::Shape *)
{
    akgen_never_run("Ops::Base::ReduceDimsWithoutKeepDims");
}
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape *, const gert::Tensor *, int32_t, const bool, gert::Shape *)
{
    akgen_never_run("Ops::Base::ReduceDims");
}
} // namespace Base
} // namespace Ops
#endif
