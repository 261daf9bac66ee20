/* Does a kernel compile that stands alone? The toolchain builds projects, so it gets one: the text as its kernel, and a host part that says
 * no more than which tensors there are. */
#ifndef COT_SNIPPET_H
#define COT_SNIPPET_H

#include "candidate/candidate.h"

#include <stdbool.h>

/* Whether the text has a kernel's entry, a __global__ function. */
bool snippet_is_kernel(const char *text);
/* The name of the first entry; NULL: there is none. */
const char *snippet_entry(struct arena *arena, const char *text);
/* Compiles it. `tilings`: definitions of tiling data, BEGIN_TILING_DATA_DEF to END_TILING_DATA_DEF and REGISTER_TILING_DATA_CLASS, that
 * GET_TILING_DATA needs; "" if none. *why: the first error; NULL: it compiles. *dtype: the type that
 * its tensors have where it asks for that (DTYPE_X), the first of float16, float32 and int32 that it compiles with; else NULL. Errors are
 * our own failures. */
struct akgen_error *snippet_compile(struct arena *arena, const char *text, const char *tilings, const char **why,
                                    const char **dtype);

/* The host part of a kernel that is compiled for its own sake. */
struct snippet_host {
    const char *type, *tilings; /* "AddCustom"; definitions of tiling data, or "" */
    const char *data_type;      /* "DT_FLOAT16" */
    const char *const *tensors; /* names of the entry's; the last one is the output */
    int count;
};
/* Makes a project for the kernel: op_kernel/ENTRY.cpp and op_host/ENTRY.cpp, which launches one core. */
void snippet_candidate(struct arena *arena, const char *entry, const char *kernel, const struct snippet_host *host,
                       struct candidate *candidate);

#endif
