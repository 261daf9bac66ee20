#include "abi/dtype.h"

#include <string.h>

struct dtype_row {
    size_t bytes;
    const char *name, *kernel_type, *ge_name;
};

static const struct dtype_row rows[AKGEN_DTYPE_CODES] = {
#define AKGEN_DTYPE(id, code, bytes, name, kernel_type) [code] = {bytes, name, kernel_type, "DT_" #id},
#include "abi/dtype.def"
#undef AKGEN_DTYPE
};

/* Spellings that case tables and task descriptions use besides the canonical names. */
static const struct {
    const char *name;
    enum akgen_dtype type;
} aliases[] = {
    {"float", AKGEN_FLOAT},  {"fp32", AKGEN_FLOAT}, {"half", AKGEN_FLOAT16},
    {"fp16", AKGEN_FLOAT16}, {"bf16", AKGEN_BF16},  {"double", AKGEN_DOUBLE},
    {"int", AKGEN_INT32},    {"long", AKGEN_INT64}, {"fp64", AKGEN_DOUBLE},
};

static const struct dtype_row *dtype_row(enum akgen_dtype type)
{
    static const struct dtype_row none;
    return (unsigned)type < AKGEN_DTYPE_CODES ? &rows[type] : &none;
}

size_t akgen_dtype_size(enum akgen_dtype type)
{
    return dtype_row(type)->bytes;
}

const char *akgen_dtype_name(enum akgen_dtype type)
{
    const char *name = dtype_row(type)->name;
    return name ? name : "undefined";
}

const char *akgen_dtype_kernel_type(enum akgen_dtype type)
{
    return dtype_row(type)->kernel_type;
}

const char *akgen_dtype_ge_name(enum akgen_dtype type)
{
    return dtype_row(type)->ge_name;
}

enum akgen_dtype akgen_dtype_parse(const char *name)
{
    if (strncmp(name, "torch.", 6) == 0)
        name += 6;
    for (int code = 0; code < AKGEN_DTYPE_CODES; code++)
        if (rows[code].name && strcmp(rows[code].name, name) == 0)
            return (enum akgen_dtype)code;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return aliases[i].type;
    return AKGEN_DTYPE_NONE;
}
