// How every message of a host part is printed: AKGEN_OPS_SAY to stderr, AKGEN_OPS_SKIP compiled only. The first
// argument is the operator's name, or the context that knows it; a format is a literal, as in CANN, and may be missing.
#ifndef CANN_BASE_MESSAGES_H
#define CANN_BASE_MESSAGES_H

#include <cstdio>
#include <string>
#include <type_traits>

namespace ops
{
template <typename Name> std::string AkgenName(const Name &name)
{
    if constexpr (std::is_convertible_v<Name, std::string>) {
        if constexpr (std::is_pointer_v<std::decay_t<Name>>)
            return name ? std::string(name) : std::string("nil");
        else
            return std::string(name);
    } else if constexpr (std::is_pointer_v<Name>) {
        return name && name->GetNodeName() ? name->GetNodeName() : "nil";
    } else {
        return "nil";
    }
}
} // namespace ops

#define AKGEN_OPS_SAY(op, ...)                                                                                         \
    do {                                                                                                               \
        std::fprintf(stderr, "[%s] ", ::ops::AkgenName(op).c_str());                                                   \
        std::fprintf(stderr, "" __VA_ARGS__);                                                                          \
        std::fputc('\n', stderr);                                                                                      \
    } while (0)
#define AKGEN_OPS_SKIP(op, ...)                                                                                        \
    do {                                                                                                               \
        if (false)                                                                                                     \
            AKGEN_OPS_SAY(op, __VA_ARGS__);                                                                            \
    } while (0)
#define AKGEN_OPS_LEAVE_IF(condition, log, leave)                                                                      \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            log;                                                                                                       \
            leave;                                                                                                     \
        }                                                                                                              \
    } while (0)
#endif
