// Messages for CANN's error manager (base/err_msg.h): they go to stderr.
#ifndef CANN_BASE_ERR_MSG_H
#define CANN_BASE_ERR_MSG_H

#include "base/messages.h"

#include <vector>

namespace ops
{
// One message of predefined text: its code, and each key with its value.
inline void AkgenPredefined(const char *code, const std::vector<const char *> &keys,
                            const std::vector<const char *> &values)
{
    std::fprintf(stderr, "[%s]", code);
    for (size_t i = 0; i < keys.size() && i < values.size(); i++)
        std::fprintf(stderr, " %s=%s", keys[i], values[i]);
    std::fputc('\n', stderr);
}
} // namespace ops

// A code, a format and its arguments.
#define REPORT_INNER_ERR_MSG(code, ...)        AKGEN_OPS_SAY(code, __VA_ARGS__)
#define REPORT_INNER_ERROR(code, ...)          AKGEN_OPS_SAY(code, __VA_ARGS__)
#define REPORT_CALL_ERROR(code, ...)           AKGEN_OPS_SAY(code, __VA_ARGS__)
#define REPORT_USER_DEFINED_ERR_MSG(code, ...) AKGEN_OPS_SAY(code, __VA_ARGS__)
#define REPORT_PREDEFINED_ERR_MSG(code, ...)   ::ops::AkgenPredefined(code, __VA_ARGS__)
#define REPORT_INPUT_ERROR(code, ...)          ::ops::AkgenPredefined(code, __VA_ARGS__)
#define REPORT_ENV_ERROR(code, ...)            ::ops::AkgenPredefined(code, __VA_ARGS__)
#endif
