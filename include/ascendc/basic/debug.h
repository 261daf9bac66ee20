/* ASSERT and printf of the device. */
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "basic/qualifiers.h"

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

namespace AscendC
{
template <class... Args> AKGEN_API void printf(const __gm__ char *format, Args &&...args)
{
    npu_printf((const char *)format, args...);
}
template <class... Args> AKGEN_API void printf(const char *format, Args &&...args)
{
    npu_printf(format, args...);
}
template <class... Args> AKGEN_API void PRINTF(const char *format, Args &&...args)
{
    npu_printf(format, args...);
}
} // namespace AscendC

#endif
