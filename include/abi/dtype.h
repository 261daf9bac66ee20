/* Element types, shared by tasks, operators, the machine and the kernel headers (C and C++). */
#ifndef AKGEN_DTYPE_H
#define AKGEN_DTYPE_H

#include <stddef.h>

enum akgen_dtype {
#define AKGEN_DTYPE(id, code, bytes, name, kernel_type) AKGEN_##id = code,
#include "abi/dtype.def"
#undef AKGEN_DTYPE
    AKGEN_DTYPE_NONE = 28, /* ge::DT_UNDEFINED */
    AKGEN_DTYPE_CODES = 64 /* every code is smaller */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one element; 0 for a code that is no element type. */
size_t akgen_dtype_size(enum akgen_dtype type);
/* "float16", ...; "undefined" for a code that is no element type. The string is static. */
const char *akgen_dtype_name(enum akgen_dtype type);
/* The C++ type a kernel sees, "half", ...; NULL for a code that is no element type. */
const char *akgen_dtype_kernel_type(enum akgen_dtype type);
/* The preprocessor's name, "DT_FLOAT16", ...; NULL for a code that is no element type. */
const char *akgen_dtype_ge_name(enum akgen_dtype type);
/* Reads "float16", and the spellings found in published case tables ("float", "half", "fp16", "fp32", "bf16",
 * "torch.float16"). AKGEN_DTYPE_NONE if it is none of them. */
enum akgen_dtype akgen_dtype_parse(const char *name);

#ifdef __cplusplus
}
#endif
#endif
