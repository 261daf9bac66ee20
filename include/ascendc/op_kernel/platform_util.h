/* opbase, op_common/op_kernel/platform_util.h: bytes. */
#ifndef ASCENDC_OP_KERNEL_PLATFORM_UTIL_H
#define ASCENDC_OP_KERNEL_PLATFORM_UTIL_H

#include "kernel_operator.h"

namespace Ops
{
namespace Base
{
constexpr AKGEN_API uint32_t GetUbBlockSize()
{
    return 32;
}
constexpr AKGEN_API uint32_t GetVRegSize()
{
    return 256;
}
} // namespace Base
} // namespace Ops

#endif
