/* ASSERT and printf of the device. */
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "basic/qualifiers.h"

#undef assert
#define ASSERT(condition)                                                                                               \
    do {                                                                                                                \
        if (!(condition))                                                                                               \
            npu_assert_failed(#condition, __FILE__, __LINE__);                                                          \
    } while (0)
#define assert(condition, ...) ASSERT(condition)
#define ascendc_assert(condition, ...) ASSERT(condition)

namespace akgen {
/* printf arguments as the C variadic call wants them: __gm__ strings and pointers become plain addresses. */
template <typename T> AKGEN_API T printable(T value) { return value; }
} // namespace akgen

namespace AscendC {
template <class... Args> AKGEN_API void printf(const __gm__ char *format, Args &&...args)
{
    npu_printf((const char *)format, args...);
}
template <class... Args> AKGEN_API void printf(const char *format, Args &&...args) { npu_printf(format, args...); }
template <class... Args> AKGEN_API void PRINTF(const char *format, Args &&...args) { npu_printf(format, args...); }
} // namespace AscendC

#endif
