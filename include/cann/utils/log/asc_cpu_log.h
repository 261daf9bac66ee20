// Logging of tiling functions (asc-devkit docs, Utils-API/log). CANN writes to its own log, which nobody reads here;
// the compiler checks formats and arguments.
#ifndef CANN_UTILS_LOG_ASC_CPU_LOG_H
#define CANN_UTILS_LOG_ASC_CPU_LOG_H

#include <cstdio>

#define AKGEN_CPU_LOG(...)                                                                                             \
    do {                                                                                                               \
        if (false)                                                                                                     \
            std::printf(__VA_ARGS__);                                                                                  \
    } while (0)
#define ASC_CPU_LOG_ERROR(...)   AKGEN_CPU_LOG(__VA_ARGS__)
#define ASC_CPU_LOG_INFO(...)    AKGEN_CPU_LOG(__VA_ARGS__)
#define ASC_CPU_LOG_WARNING(...) AKGEN_CPU_LOG(__VA_ARGS__)
#define ASC_CPU_LOG_DEBUG(...)   AKGEN_CPU_LOG(__VA_ARGS__)

#endif
