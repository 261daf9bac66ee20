// The bounded memory functions that CANN's headers bring along. They refuse what does not fit and say so in the result.
#ifndef CANN_SECUREC_H
#define CANN_SECUREC_H

#include <cerrno>
#include <cstring>

using errno_t = int;
#ifndef EOK
#define EOK 0
#endif

inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t count)
{
    if (!to || !from || count > room)
        return ERANGE;
    std::memcpy(to, from, count);
    return EOK;
}
inline errno_t memmove_s(void *to, size_t room, const void *from, size_t count)
{
    if (!to || !from || count > room)
        return ERANGE;
    std::memmove(to, from, count);
    return EOK;
}
inline errno_t memset_s(void *to, size_t room, int value, size_t count)
{
    if (!to || count > room)
        return ERANGE;
    std::memset(to, value, count);
    return EOK;
}
inline errno_t strcpy_s(char *to, size_t room, const char *from)
{
    return from ? memcpy_s(to, room, from, std::strlen(from) + 1) : EINVAL;
}
#endif
