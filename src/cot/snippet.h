/* Does a kernel compile that stands alone? The toolchain builds projects, so it gets one: the text as its kernel, and a host part that says
 * no more than which tensors there are. */
#ifndef COT_SNIPPET_H
#define COT_SNIPPET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

/* Whether the text has a kernel's entry, a __global__ function. */
bool snippet_is_kernel(const char *text);
/* The name of the first entry; NULL: there is none. */
const char *snippet_entry(struct arena *arena, const char *text);
/* Compiles it. `tilings`: definitions of tiling data, BEGIN_TILING_DATA_DEF to END_TILING_DATA_DEF and REGISTER_TILING_DATA_CLASS, that
 * GET_TILING_DATA needs; "" if none. `scratch`: a folder, the caller's alone. *why: the first error; NULL: it compiles. Errors are our
 * own failures. */
struct akgen_error *snippet_compile(struct arena *arena, const char *text, const char *tilings, const char *scratch,
                                    const char **why);

#endif
