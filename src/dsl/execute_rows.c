/* The interpreter: operations on rows and columns in a buffer, and the sort. Element (r, c) of a matrix is
 * buffer[r * pitch + c]; what lies between cols and pitch is never read, and has no value once the matrix was written. */
#include "base/memory.h"
#include "dsl/interpret_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
    int64_t rows, cols, pitch;
};

static bool integer_of(struct core *core, const struct dsl_expr *call, const char *name, int64_t *integer)
{
    struct value value;
    bool good = call_value(core, call, name, &value);
    *integer = value.integer;
    return good;
}

/* rows= and cols=, and the pitch, which is the argument `pitch`. */
static bool matrix_of(struct core *core, const struct dsl_expr *call, const char *pitch, struct matrix *matrix)
{
    if (!integer_of(core, call, "rows", &matrix->rows) || !integer_of(core, call, "cols", &matrix->cols) ||
        !integer_of(core, call, pitch, &matrix->pitch))
        return false;
    return (matrix->rows >= 1 && matrix->cols >= 1) ||
           CORE_FAIL(core, call->place, DSL_RULE_bounds, "skip what has no rows or no columns", "%lld rows of %lld",
                     (long long)matrix->rows, (long long)matrix->cols);
}

/* Whether the buffer has room for so many elements from there. */
static bool has_room(struct core *core, const struct dsl_expr *call, const struct value *buffer, int64_t elements)
{
    if (elements <= buffer->length)
        return memory_holds(core, call, buffer->memory, buffer->offset, elements);
    return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "%lld elements of '%s', which has %lld from there",
                     (long long)elements, buffer->memory->name, (long long)buffer->length);
}

/* Whether a buffer can hold a matrix: its rows take up rows * pitch elements and are aligned. */
static bool holds_matrix(struct core *core, const struct dsl_expr *call, const struct value *buffer,
                         const struct matrix *matrix)
{
    int64_t unit = akgen_dtype_size(buffer->memory->tensor.type) == 1 ? 2 * DSL_PITCH : DSL_PITCH, elements;
    if (matrix->pitch < matrix->cols)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, "the pitch of rows is tl.pitch(cols)",
                         "%lld columns at a pitch of %lld", (long long)matrix->cols, (long long)matrix->pitch);
    if (matrix->pitch % unit || buffer->offset % unit)
        return CORE_FAIL(core, call->place, DSL_RULE_alignment, "the pitch of rows is tl.pitch(cols)",
                         "rows of '%s' begin at element %lld, %lld apart: no multiples of %lld", buffer->memory->name,
                         (long long)buffer->offset, (long long)matrix->pitch, (long long)unit);
    return core_offset(core, call, 0, matrix->rows, matrix->pitch, &elements) && has_room(core, call, buffer, elements);
}

/* Whether a source has the destination's data type, and none of its elements unless `same`, all of them. */
static bool goes_with(struct core *core, const struct dsl_expr *call, const struct value *dst, int64_t dst_elements,
                      const struct value *src, int64_t src_elements, bool same)
{
    if (src->memory->tensor.type != dst->memory->tensor.type)
        return CORE_FAIL(
            core, call->place, DSL_RULE_types,
            "one data type computes: make both buffers with it, dtype= of tl.alloc_ub, or tl.cast one into another",
            "'%s' holds %s and '%s' %s", src->memory->name, akgen_dtype_name(src->memory->tensor.type),
            dst->memory->name, akgen_dtype_name(dst->memory->tensor.type));
    bool apart = src->memory != dst->memory || src->offset + src_elements <= dst->offset ||
                 dst->offset + dst_elements <= src->offset;
    return apart || (same && src->offset == dst->offset) ||
           CORE_FAIL(core, call->place, DSL_RULE_undefined, "compute into another buffer",
                     "source and destination overlap: '%s' from %lld and from %lld on", dst->memory->name,
                     (long long)src->offset, (long long)dst->offset);
}

static bool has_type(struct core *core, const struct dsl_expr *call, const struct value *dst, bool has)
{
    return has || CORE_FAIL(core, call->place, DSL_RULE_types, NULL, "tl.%s has no %s", call->operation->name,
                            akgen_dtype_name(dst->memory->tensor.type));
}

static void forget(struct dsl_memory *memory, int64_t first, int64_t n)
{
    memset(memory->state + first, STATE_UNDEFINED, (size_t)n);
}

/* A matrix was written: what lies between its columns and the pitch has no value. */
static void forget_gaps(const struct value *buffer, const struct matrix *matrix)
{
    for (int64_t r = 0; r < matrix->rows; r++)
        forget(buffer->memory, buffer->offset + r * matrix->pitch + matrix->cols, matrix->pitch - matrix->cols);
}

/* What lies between the columns and the pitch becomes `other`. */
static bool fill_gaps(struct core *core, const struct dsl_expr *call, const struct value *buffer,
                      const struct matrix *matrix, struct value other)
{
    struct element element;
    if (!element_of(core, call, buffer->memory, other, &element))
        return false;
    for (int64_t r = 0; r < matrix->rows; r++)
        for (int64_t c = matrix->cols; c < matrix->pitch; c++)
            if (!element_write(core, call, buffer->memory, buffer->offset + r * matrix->pitch + c, element))
                return false;
    return true;
}

/* tl.load_rows, tl.store_rows: element (r, c) of the buffer and element address + r * gm_pitch + c of the tensor. */
static bool transfer_rows(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value address, buffer, other;
    struct matrix matrix;
    int64_t gm_pitch;
    bool load = call_argument(call, "dst") != NULL;
    (void)lane;
    if (!call_memory(core, call, "address", &address) || !call_memory(core, call, load ? "dst" : "src", &buffer) ||
        !matrix_of(core, call, "pitch", &matrix) || !integer_of(core, call, "gm_pitch", &gm_pitch) ||
        !call_value(core, call, "other", &other) || !holds_matrix(core, call, &buffer, &matrix) ||
        !memory_converts(core, call, address.memory, buffer.memory))
        return false;
    if (gm_pitch < matrix.cols && !(load && gm_pitch == 0))
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "rows of %lld elements, %lld apart in '%s'",
                         (long long)matrix.cols, (long long)gm_pitch, address.memory->name);
    struct dsl_memory *from = load ? address.memory : buffer.memory, *to = load ? buffer.memory : address.memory;
    for (int64_t r = 0; r < matrix.rows; r++) {
        int64_t place, row = buffer.offset + r * matrix.pitch;
        if (!core_offset(core, call, address.offset, r, gm_pitch, &place) ||
            !memory_holds(core, call, address.memory, place, matrix.cols))
            return false;
        for (int64_t c = 0; c < matrix.cols; c++) {
            struct element element;
            if (!element_read(core, call, from, (load ? place : row) + c, &element) ||
                !element_write(core, call, to, (load ? row : place) + c, element))
                return false;
        }
    }
    if (load && other.type != DSL_TYPE_NONE)
        return fill_gaps(core, call, &buffer, &matrix, other);
    if (load)
        forget_gaps(&buffer, &matrix);
    return true;
}

/* dst[r] = the elements of row r taken together, or dst[c] = those of column c, one after the other. */
static bool reduce_lines(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, src;
    struct matrix matrix;
    bool by_row = strncmp(call->operation->name, "row", 3) == 0;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !matrix_of(core, call, "pitch", &matrix))
        return false;
    int64_t lines = by_row ? matrix.rows : matrix.cols, length = by_row ? matrix.cols : matrix.rows;
    int64_t step = by_row ? 1 : matrix.pitch, next_line = by_row ? matrix.pitch : 1;
    if (!holds_matrix(core, call, &src, &matrix) || !has_room(core, call, &dst, lines) ||
        !has_type(core, call, &dst, memory_is_real(dst.memory) || !by_row || dst.memory->tensor.type == AKGEN_INT32) ||
        !goes_with(core, call, &dst, lines, &src, matrix.rows * matrix.pitch, false))
        return false;
    bool sums = strcmp(lane->name, "vadd") == 0 && memory_is_real(src.memory) && length > 1;
    for (int64_t line = 0; line < lines; line++) {
        int64_t first = src.offset + line * next_line;
        struct element all, next;
        if (!element_read(core, call, src.memory, first, &all))
            return false;
        for (int64_t i = 1; i < length; i++) {
            if (!element_read(core, call, src.memory, first + i * step, &next))
                return false;
            if (sums)
                next.real = machine_approximation(core->machine, src.memory->tensor.type, next.real);
            all = lane_result(lane, all, next);
        }
        if (sums)
            all.real = machine_approximation(core->machine, src.memory->tensor.type, all.real);
        if (!element_write(core, call, dst.memory, dst.offset + line, all))
            return false;
    }
    return true;
}

/* dst[r] = where in row r the element stands that the lane keeps: the first NaN, or the first of equal ones. */
static bool place_in_rows(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, src;
    struct matrix matrix;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !matrix_of(core, call, "pitch", &matrix) || !holds_matrix(core, call, &src, &matrix) ||
        !has_room(core, call, &dst, matrix.rows) ||
        !has_type(core, call, &dst, dst.memory->tensor.type == AKGEN_INT32) ||
        !has_type(core, call, &src, src.memory->tensor.type == AKGEN_FLOAT))
        return false;
    for (int64_t r = 0; r < matrix.rows; r++) {
        struct element best = {0}, next;
        int64_t place = -1;
        for (int64_t c = 0; c < matrix.cols; c++) {
            if (!element_read(core, call, src.memory, src.offset + r * matrix.pitch + c, &next))
                return false;
            double kept = place < 0 ? next.real : lane_result(lane, best, next).real;
            if (place >= 0 && (kept == best.real || isnan(best.real)))
                continue;
            best.real = kept;
            place = c;
        }
        if (!element_write(core, call, dst.memory, dst.offset + r, (struct element){.integer = place}))
            return false;
    }
    return true;
}

/* dst(r, c) = lane(a(r, c), row[c]) or lane(a(r, c), col[r]); of tl.broadcast_* row[c] or col[r]. An element without a value
 * makes one without a value. */
static bool combine(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, a = {0}, line;
    struct matrix matrix;
    bool by_row = call_argument(call, "row") != NULL, alone = !call_argument(call, "a");
    if (!call_memory(core, call, "dst", &dst) || (!alone && !call_memory(core, call, "a", &a)) ||
        !call_memory(core, call, by_row ? "row" : "col", &line) || !matrix_of(core, call, "pitch", &matrix))
        return false;
    int64_t elements = matrix.rows * matrix.pitch, length = by_row ? matrix.cols : matrix.rows;
    if (!holds_matrix(core, call, &dst, &matrix) || (!alone && !holds_matrix(core, call, &a, &matrix)) ||
        !has_room(core, call, &line, length) || !has_type(core, call, &dst, lane_takes(lane, dst.memory)) ||
        (!alone && !goes_with(core, call, &dst, elements, &a, elements, true)) ||
        !goes_with(core, call, &dst, elements, &line, length, false))
        return false;
    for (int64_t i = 0; i < matrix.rows * matrix.cols; i++) {
        int64_t r = i / matrix.cols, c = i % matrix.cols, at = r * matrix.pitch + c;
        int64_t of_line = line.offset + (by_row ? c : r);
        struct element x = {0}, y;
        if ((!alone && a.memory->state[a.offset + at] == STATE_UNDEFINED) ||
            line.memory->state[of_line] == STATE_UNDEFINED)
            forget(dst.memory, dst.offset + at, 1);
        else if ((!alone && !element_read(core, call, a.memory, a.offset + at, &x)) ||
                 !element_read(core, call, line.memory, of_line, &y) ||
                 !element_write(core, call, dst.memory, dst.offset + at, lane_result(lane, x, y)))
            return false;
    }
    forget_gaps(&dst, &matrix);
    return true;
}

/* dst[c * dst_pitch + r] = src[r * src_pitch + c]. */
static bool transpose(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, src;
    struct matrix from, to;
    (void)lane;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !matrix_of(core, call, "src_pitch", &from) || !integer_of(core, call, "dst_pitch", &to.pitch))
        return false;
    to.rows = from.cols;
    to.cols = from.rows;
    size_t size = akgen_dtype_size(dst.memory->tensor.type);
    if (!holds_matrix(core, call, &src, &from) || !holds_matrix(core, call, &dst, &to) ||
        !has_type(core, call, &dst, size == 2 || size == 4) ||
        !goes_with(core, call, &dst, to.rows * to.pitch, &src, from.rows * from.pitch, false))
        return false;
    for (int64_t i = 0; i < from.rows * from.cols; i++) {
        int64_t r = i / from.cols, c = i % from.cols;
        int64_t source = src.offset + r * from.pitch + c, destination = dst.offset + c * to.pitch + r;
        struct element element;
        if (src.memory->state[source] == STATE_UNDEFINED)
            forget(dst.memory, destination, 1);
        else if (!element_read(core, call, src.memory, source, &element) ||
                 !element_write(core, call, dst.memory, destination, element))
            return false;
    }
    forget_gaps(&dst, &to);
    return true;
}

struct sorted {
    double value;
    int64_t index;
};

/* Descending; NaN before all numbers; equal ones as they stood. */
static int in_order(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    bool equal = x->value == y->value || (isnan(x->value) && isnan(y->value));
    bool first = isnan(x->value) || x->value > y->value;
    if (equal)
        return x->index < y->index ? -1 : 1;
    return first ? -1 : 1;
}

static bool sort(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value values, indices, src;
    int64_t count;
    (void)lane;
    if (!call_memory(core, call, "values", &values) || !call_memory(core, call, "indices", &indices) ||
        !call_memory(core, call, "src", &src) || !integer_of(core, call, "count", &count))
        return false;
    if (count < 1)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "a sort of %lld elements", (long long)count);
    if (!has_room(core, call, &values, count) || !has_room(core, call, &indices, count) ||
        !has_room(core, call, &src, count) ||
        !has_type(core, call, &values, values.memory->tensor.type == AKGEN_FLOAT) ||
        !has_type(core, call, &indices, indices.memory->tensor.type == AKGEN_INT32) ||
        !goes_with(core, call, &values, count, &src, count, false))
        return false;
    struct sorted *all = memory_alloc((size_t)count * sizeof *all);
    bool good = true;
    for (int64_t i = 0; i < count && good; i++) {
        struct element element;
        good = element_read(core, call, src.memory, src.offset + i, &element);
        all[i] = (struct sorted){element.real, i};
    }
    if (good)
        qsort(all, (size_t)count, sizeof *all, in_order);
    for (int64_t i = 0; i < count && good; i++)
        good = element_write(core, call, values.memory, values.offset + i, (struct element){.real = all[i].value}) &&
               element_write(core, call, indices.memory, indices.offset + i, (struct element){.integer = all[i].index});
    free(all);
    return good;
}

bool core_execute_rows(struct core *core, const struct dsl_expr *call, bool *good)
{
    static const struct {
        const char *name;
        bool (*execute)(struct core *core, const struct dsl_expr *call, const struct lane *lane);
        const char *lane; /* the operation that does with two elements what this one does; NULL: none */
    } operations[] = {
        {"load_rows", transfer_rows, NULL},    {"store_rows", transfer_rows, NULL},
        {"row_sum", reduce_lines, "vadd"},     {"row_max", reduce_lines, "vmax"},
        {"row_min", reduce_lines, "vmin"},     {"col_sum", reduce_lines, "vadd"},
        {"col_max", reduce_lines, "vmax"},     {"col_min", reduce_lines, "vmin"},
        {"vadd_row", combine, "vadd"},         {"vsub_row", combine, "vsub"},
        {"vmul_row", combine, "vmul"},         {"vdiv_row", combine, "vdiv"},
        {"vmax_row", combine, "vmax"},         {"vmin_row", combine, "vmin"},
        {"vadd_col", combine, "vadd"},         {"vsub_col", combine, "vsub"},
        {"vmul_col", combine, "vmul"},         {"vdiv_col", combine, "vdiv"},
        {"vmax_col", combine, "vmax"},         {"vmin_col", combine, "vmin"},
        {"broadcast_row", combine, "vconst"},  {"broadcast_col", combine, "vconst"},
        {"transpose", transpose, NULL},        {"sort", sort, NULL},
        {"row_argmax", place_in_rows, "vmax"}, {"row_argmin", place_in_rows, "vmin"},
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(call->operation->name, operations[i].name) == 0) {
            const char *lane = operations[i].lane;
            *good = operations[i].execute(core, call, lane ? lane_find(lane) : NULL);
            return true;
        }
    return false;
}
