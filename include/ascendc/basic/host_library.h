/* std::max and its relatives are constexpr, so clang would let device code call them; CANN does not. Seen here first,
 * they are host code, wherever a kernel's own includes declare them again. */
#ifndef ASCENDC_HOST_LIBRARY_H
#define ASCENDC_HOST_LIBRARY_H

#include <limits>
#include <type_traits>
#include <utility>

#ifdef __CUDA__
#define AKGEN_HOST_BEGIN _Pragma("clang attribute push(__attribute__((host)), apply_to = function)")
#define AKGEN_HOST_END   _Pragma("clang attribute pop")
#else
#define AKGEN_HOST_BEGIN
#define AKGEN_HOST_END
#endif

AKGEN_HOST_BEGIN
#include <bits/algorithmfwd.h>
#include <bits/stl_algobase.h>
AKGEN_HOST_END

#endif
