// What g++ does with `int a[n] = {1, 2};` when n is known at run time: the elements that have no value are 0. The toolchain
// makes a call of such an initializer, because clang has none for these arrays (src/toolchain/host_gnu.c).
#ifndef CANN_BASE_RUN_TIME_ARRAY_H
#define CANN_BASE_RUN_TIME_ARRAY_H

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>

template <typename T> struct akgen_same {
    using type = T;
};
template <typename T>
std::nullptr_t akgen_array(T *first, size_t count, std::initializer_list<typename akgen_same<T>::type> values)
{
    size_t at = 0;
    if constexpr (std::is_trivially_copyable_v<T>) {
        std::memset(static_cast<void *>(first), 0, count * sizeof(T));
        for (const T &value : values)
            if (at < count)
                std::memcpy(static_cast<void *>(first + at++), &value, sizeof value);
    } else {
        for (const T &value : values)
            if (at < count)
                first[at++] = value;
    }
    return nullptr;
}
#endif
