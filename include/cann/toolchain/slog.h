// CANN's older log (toolchain/slog.h). Apart from base/alog_pub.h, because published tilings have functions of these
// names.
#ifndef CANN_TOOLCHAIN_SLOG_H
#define CANN_TOOLCHAIN_SLOG_H

#include "base/alog_pub.h"

// 1 when a message of this level is written.
inline int32_t CheckLogLevel(int32_t, int32_t level)
{
    return level >= DLOG_ERROR;
}
[[gnu::format(printf, 3, 4)]] inline void DlogRecord(int32_t module, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    AkgenLog(module, level, format, arguments);
    va_end(arguments);
}
#define dlog_error(module, ...) DlogRecord(module, DLOG_ERROR, __VA_ARGS__)
#define dlog_warn(module, ...)  DlogRecord(module, DLOG_WARN, __VA_ARGS__)
#define dlog_info(module, ...)  DlogRecord(module, DLOG_INFO, __VA_ARGS__)
#define dlog_debug(module, ...) DlogRecord(module, DLOG_DEBUG, __VA_ARGS__)
#endif
