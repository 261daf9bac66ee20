// Shape inference (opbase, op_common/op_host/infershape_elewise_util.h): compiled, never called, because the task says
// every output's shape.
#ifndef CANN_OP_COMMON_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H
#define CANN_OP_COMMON_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/ge_error_codes.h"

#include <vector>

namespace Ops
{
namespace Base
{
inline ge::graphStatus InferShape4Elewise(gert::InferShapeContext *)
{
    akgen_never_run("Ops::Base::InferShape4Elewise");
}
} // namespace Base
} // namespace Ops
#endif
