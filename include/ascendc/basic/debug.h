/* printf of the device, and what a failed ASSERT does. */
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "basic/vector_cast.h"

namespace akgen
{
/* What a C variadic call takes: %f prints half and bfloat16_t as well (docs/zh/api, "printf"), and an element of a
 * tensor stands for its value. */
template <typename T> AKGEN_API auto printable(const T &value)
{
    return value;
}
template <size_t size> AKGEN_API const char *printable(const char (&value)[size])
{
    return value;
}
AKGEN_API double printable(half value)
{
    return double(value);
}
AKGEN_API double printable(bfloat16_t value)
{
    return double(AscendC::ToFloat(value));
}
template <typename T> AKGEN_API auto printable(const element<T> &value)
{
    return printable(T(value));
}
} // namespace akgen

namespace AscendC
{
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-security"
template <class... Args> AKGEN_API void printf(const __gm__ char *format, Args &&...args)
{
    npu_printf((const char *)format, akgen::printable(args)...);
}
template <class... Args> AKGEN_API void printf(const char *format, Args &&...args)
{
    npu_printf(format, akgen::printable(args)...);
}
template <class... Args> AKGEN_API void PRINTF(const char *format, Args &&...args)
{
    npu_printf(format, akgen::printable(args)...);
}
#pragma clang diagnostic pop

/* Adds a range to those that CANN's memory checker knows; without it, as always here, nothing. */
template <typename T> AKGEN_API void OOMCheckAddrRange(__gm__ T *, const uint64_t)
{
}
} // namespace AscendC

/* On the device these are nothing: the first two speak in CANN's CPU debugging, the others in its simulator. */
#define ASCENDC_ASSERT(condition, behaviour)
#define KERNEL_LOG(level, format, ...)
#define TRACE_START(...)
#define TRACE_STOP(...)

namespace akgen
{
AKGEN_API void assert_failed(const char *condition, const char *file, int line)
{
    npu_assert_failed(condition, file, line);
}
/* With a message, which is printed first. */
template <class... Args>
AKGEN_API void assert_failed(const char *condition, const char *file, int line, const char *format, const Args &...args)
{
    AscendC::printf(format, args...);
    npu_assert_failed(condition, file, line);
}
} // namespace akgen

#endif
