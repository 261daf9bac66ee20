/* Tensors for people, and as .npy files for programs. */
#include "cli/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PER_LINE = 8, SHOWN = 32 * PER_LINE /* of a longer tensor: half at each end */ };

static void print_head(FILE *out, const char *name, const struct task_tensor *tensor)
{
    fprintf(out, "%s %s[", name, akgen_dtype_name(tensor->type));
    for (int d = 0; d < tensor->rank; d++)
        fprintf(out, "%s%" PRId64, d ? "," : "", tensor->dims[d]);
    fprintf(out, "], %" PRId64 " elements\n", tensor->elements);
}

/* One line of up to PER_LINE elements, and under it what was expected where the line differs from that. */
static void print_row(FILE *out, int64_t first, int n, const double *values, const double *expected)
{
    fprintf(out, "%10" PRId64 ":", first);
    bool differs = false;
    for (int i = 0; i < n; i++) {
        fprintf(out, " %12.7g", values[i]);
        differs |= expected && !(values[i] == expected[i] || (values[i] != values[i] && expected[i] != expected[i]));
    }
    fputc('\n', out);
    if (!differs)
        return;
    fprintf(out, "  expected ");
    for (int i = 0; i < n; i++)
        fprintf(out, " %12.7g", expected[i]);
    fputc('\n', out);
}

void dump_print(FILE *out, const char *name, const struct task_tensor *tensor, const struct task_tensor *expected)
{
    print_head(out, name, tensor);
    bool complex = tensor->type == AKGEN_COMPLEX64; /* two numbers each */
    int64_t elements = tensor->elements << complex, hidden = elements > SHOWN ? elements - SHOWN : 0;
    int64_t gap = hidden ? SHOWN / 2 : elements;
    bool comparable =
        expected && expected->values && expected->elements << (expected->type == AKGEN_COMPLEX64) == elements;
    for (int64_t at = 0; at < elements; at += PER_LINE) {
        if (hidden && at == gap) {
            fprintf(out, "       ...: %" PRId64 " more\n", hidden - hidden % PER_LINE);
            at += hidden - hidden % PER_LINE;
        }
        double values[PER_LINE], wanted[PER_LINE];
        int n = elements - at < PER_LINE ? (int)(elements - at) : PER_LINE;
        task_read_double(tensor, at, n, values);
        if (comparable)
            task_read_double(expected, at, n, wanted);
        print_row(out, at, n, values, comparable ? wanted : NULL);
    }
}

/* NumPy's name of the type; bfloat16, which NumPy lacks, is written as float32. Format: numpy.lib.format, version
 * 1.0. */
static const char *npy_type(enum akgen_dtype type)
{
    static const char *const names[AKGEN_DTYPE_CODES] = {
        [AKGEN_FLOAT] = "<f4", [AKGEN_FLOAT16] = "<f2",   [AKGEN_BF16] = "<f4",  [AKGEN_DOUBLE] = "<f8",
        [AKGEN_INT8] = "|i1",  [AKGEN_UINT8] = "|u1",     [AKGEN_INT16] = "<i2", [AKGEN_UINT16] = "<u2",
        [AKGEN_INT32] = "<i4", [AKGEN_UINT32] = "<u4",    [AKGEN_INT64] = "<i8", [AKGEN_UINT64] = "<u8",
        [AKGEN_BOOL] = "|b1",  [AKGEN_COMPLEX64] = "<c8",
    };
    return names[type];
}

static void write_header(FILE *file, const struct task_tensor *tensor)
{
    char text[512];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_type(tensor->type));
    for (int d = 0; d < tensor->rank; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRId64 ",", tensor->dims[d]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    enum { PREFIX = 10, ALIGN = 64 };
    int length = (PREFIX + n + 1 + ALIGN - 1) / ALIGN * ALIGN - PREFIX;
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(length & 0xff, file);
    fputc(length >> 8, file);
    fprintf(file, "%-*s\n", length - 1, text);
}

static void write_widened(FILE *file, const struct task_tensor *tensor)
{
    for (int64_t at = 0; at < tensor->elements; at++) {
        double value;
        task_read_double(tensor, at, 1, &value);
        float single = (float)value;
        fwrite(&single, sizeof single, 1, file);
    }
}

struct akgen_error *dump_write(const char *path, const struct task_tensor *tensor)
{
    if (!npy_type(tensor->type))
        return error_new("%s: there is no .npy type for %s", path, akgen_dtype_name(tensor->type));
    FILE *file = fopen(path, "wb");
    if (!file)
        return error_new("%s: %m", path);
    write_header(file, tensor);
    if (tensor->type == AKGEN_BF16)
        write_widened(file, tensor);
    else
        fwrite(tensor->values, akgen_dtype_size(tensor->type), (size_t)tensor->elements, file);
    bool bad = ferror(file);
    return fclose(file) || bad ? error_new("%s: %m", path) : NULL;
}
