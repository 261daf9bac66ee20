/* ASSERT and printf of the device. */
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "basic/vector_cast.h"

#undef assert
#if defined(ASCENDC_DUMP) && ASCENDC_DUMP == 1
#define ASSERT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            npu_assert_failed(#condition, __FILE__, __LINE__);                                                         \
    } while (0)
#else
/* As in CANN, nothing at all without -DASCENDC_DUMP=1: published kernels have an ASSERT where a statement cannot stand,
 * or with names that are not declared. */
#define ASSERT(...)
#endif
#define assert(...)         ASSERT(__VA_ARGS__)
#define ascendc_assert(...) ASSERT(__VA_ARGS__)

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
} // namespace AscendC

#endif
