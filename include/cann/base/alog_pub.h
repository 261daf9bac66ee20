// CANN's log (base/alog_pub.h): errors go to stderr, what is less is compiled and not printed.
#ifndef CANN_BASE_ALOG_PUB_H
#define CANN_BASE_ALOG_PUB_H

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>

#define DLOG_DEBUG      0
#define DLOG_INFO       1
#define DLOG_WARN       2
#define DLOG_ERROR      3
#define DLOG_NULL       4
#define DLOG_TYPE_DEBUG 0
#define DLOG_TYPE_RUN   1

// Modules that may write; operators are OP.
enum { GE = 45, FE = 46, OP = 63 };

// 1 when a message of this level is written.
inline int32_t AlogCheckDebugLevel(uint32_t, int32_t level)
{
    return level >= DLOG_ERROR;
}
[[gnu::format(printf, 3, 0)]] inline void AkgenLog(int32_t module, int32_t level, const char *format, va_list arguments)
{
    if (level < DLOG_ERROR)
        return;
    std::fprintf(stderr, "[%d] ", module);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
}
// `type`: DLOG_TYPE_DEBUG or DLOG_TYPE_RUN.
[[gnu::format(printf, 4, 5)]] inline int32_t AlogRecord(uint32_t module, uint32_t, int32_t level, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    AkgenLog(static_cast<int32_t>(module), level, format, arguments);
    va_end(arguments);
    return 0;
}
#endif
