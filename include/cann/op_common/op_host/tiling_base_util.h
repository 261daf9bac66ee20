// opbase, op_common/op_host/tiling_base_util.h
#ifndef CANN_OP_COMMON_OP_HOST_TILING_BASE_UTIL_H
#define CANN_OP_COMMON_OP_HOST_TILING_BASE_UTIL_H

#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops
{
namespace Base
{
// Whether the chip's vector unit works on registers (DAV_3510, DAV_5102). No simulated chip does.
inline bool IsRegbaseSocVersion(const gert::TilingParseContext *)
{
    return false;
}
inline bool IsRegbaseSocVersion(const gert::TilingContext *)
{
    return false;
}
// The shape, or [1] for a scalar's.
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape)
{
    static const gert::Shape one = {1};
    return shape.IsScalar() ? one : shape;
}
} // namespace Base
} // namespace Ops
#endif
