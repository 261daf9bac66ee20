// DEVICE_IMPL_OP_OPTILING: a tiling function that graphs run on the device's own CPU. A single call of an operator runs
// the host's (asc-devkit docs, Utils-API/Tiling下沉), so that registering it has no effect here.
#ifndef CANN_REGISTER_DEVICE_OP_IMPL_REGISTRY_H
#define CANN_REGISTER_DEVICE_OP_IMPL_REGISTRY_H

#include "exe_graph/runtime/tiling_context.h"

#include <functional>

namespace optiling
{
using SinkTilingFunc = std::function<ge::graphStatus(gert::TilingContext *)>;

class DeviceOpImplRegister
{
  public:
    DeviceOpImplRegister(const char *)
    {
    }
    DeviceOpImplRegister &Tiling(SinkTilingFunc)
    {
        return *this;
    }
};
} // namespace optiling

#define DEVICE_IMPL_OP_OPTILING(optype)                                                                                \
    [[maybe_unused]] static optiling::DeviceOpImplRegister g_deviceOpImplRegister##optype =                            \
        optiling::DeviceOpImplRegister(#optype)
#endif
