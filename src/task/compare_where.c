/* Where the wrong elements of a tensor lie and what stands there, as far as either has a pattern: the tail of each row, the
 * end of the tensor, zeros, a factor; and how far off they are. Whoever looks for the mistake asks that first. */
#include "task/compare_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 4 /* so few wrong elements have no pattern in their values */ };
#define ALIKE 0.02 /* factors and offsets that differ by less, relative to themselves, are one */

/* Elements between two of a column: complex64 counts as two. */
static int64_t row_length(const struct task_tensor *tensor)
{
    int64_t scalars = task_scalars(tensor), length = tensor->rank ? tensor->dims[tensor->rank - 1] : 1;
    return tensor->elements && scalars > tensor->elements ? 2 * length : length;
}

static void widen(struct pattern_range *range, double value, bool first)
{
    range->least = first || value < range->least ? value : range->least;
    range->most = first || value > range->most ? value : range->most;
}

void pattern_note(struct pattern *pattern, const struct task_tensor *tensor, int64_t index, double expected,
                  double actual)
{
    bool first = pattern->wrong++ == 0;
    if (first || index >= pattern->row_end) {
        int64_t length = row_length(tensor);
        pattern->row = index - index % length;
        pattern->row_end = pattern->row + length;
        pattern->rows++;
    }
    int64_t column = index - pattern->row;
    if (first) {
        pattern->first = index;
        pattern->first_column = pattern->last_column = column;
    }
    pattern->last = index;
    pattern->first_column = column < pattern->first_column ? column : pattern->first_column;
    pattern->last_column = column > pattern->last_column ? column : pattern->last_column;
    pattern->infinite += !isfinite(actual) && !isnan(actual);
    pattern->nan += isnan(actual);
    widen(&pattern->value, actual, first);
    widen(&pattern->offset, actual - expected, first);
    widen(&pattern->factor, actual / expected, first);
}

/* Tells the place; nothing where the wrong elements lie all over. */
static int tell_place(const struct pattern *pattern, const struct task_tensor *tensor, char *text, size_t size)
{
    int64_t all = task_scalars(tensor), length = row_length(tensor), rows = all / length;
    int64_t wrong = (int64_t)pattern->wrong;
    bool whole = pattern->last - pattern->first + 1 == wrong, several = rows > 1 && length > 1;
    int64_t tail = length - pattern->first_column, head = pattern->last_column + 1;
    if (wrong == all)
        return snprintf(text, size, "all elements are wrong");
    if (whole && pattern->last == all - 1)
        return snprintf(text, size, "everything from element %" PRId64 " on is wrong, the last %" PRId64 " of %" PRId64,
                        pattern->first, wrong, all);
    if (whole && pattern->first == 0)
        return snprintf(text, size, "only the first %" PRId64 " of %" PRId64 " elements are wrong", wrong, all);
    if (several && pattern->rows == 1 && whole && wrong == length)
        return snprintf(text, size, "only row %" PRId64 " of %" PRId64 " is wrong", pattern->first / length, rows);
    if (several && pattern->last_column == length - 1 && pattern->first_column > 0 &&
        10 * wrong >= 9 * pattern->rows * tail)
        return snprintf(text, size,
                        "only the last %" PRId64 " of the %" PRId64 " elements of a row are wrong, in %" PRId64
                        " of %" PRId64 " rows",
                        tail, length, pattern->rows, rows);
    if (several && pattern->first_column == 0 && head < length && 10 * wrong >= 9 * pattern->rows * head)
        return snprintf(text, size,
                        "only the first %" PRId64 " of the %" PRId64 " elements of a row are wrong, in %" PRId64
                        " of %" PRId64 " rows",
                        head, length, pattern->rows, rows);
    if (whole && wrong > 1)
        return snprintf(text, size, "only elements %" PRId64 " to %" PRId64 " of %" PRId64 " are wrong", pattern->first,
                        pattern->last, all);
    return 0;
}

/* The middle of a range that is one value but for roundings. */
static bool is_one(const struct pattern_range *range, double *middle)
{
    *middle = (range->least + range->most) / 2;
    return isfinite(range->least) && isfinite(range->most) && range->most - range->least <= ALIKE * fabs(*middle);
}

static int tell_values(const struct pattern *pattern, char *text, size_t size)
{
    double middle;
    bool few = pattern->wrong < FEW;
    if (pattern->nan == pattern->wrong)
        return snprintf(text, size, "what stands there is nan");
    if (pattern->infinite == pattern->wrong)
        return snprintf(text, size, "what stands there is infinite");
    if (pattern->nan || pattern->infinite)
        return 0;
    if (pattern->value.least == 0 && pattern->value.most == 0)
        return snprintf(text, size, "what stands there is 0");
    if (!few && pattern->value.least == pattern->value.most)
        return snprintf(text, size, "what stands there is %.6g everywhere", pattern->value.least);
    if (!few && is_one(&pattern->factor, &middle) && fabs(middle - 1) > ALIKE)
        return snprintf(text, size, "what stands there is %.4g times what is expected", middle);
    if (!few && is_one(&pattern->offset, &middle))
        return snprintf(text, size, "what stands there is what is expected %c %.4g", middle < 0 ? '-' : '+',
                        fabs(middle));
    return 0;
}

void pattern_tell(const struct pattern *pattern, const struct task_tensor *tensor, char *text, size_t size)
{
    text[0] = '\0';
    if (!pattern->wrong || !task_scalars(tensor))
        return;
    int length = tell_place(pattern, tensor, text, size);
    if (length > 0 && (size_t)length + 3 < size) {
        memcpy(text + length, "; ", 3);
        if (!tell_values(pattern, text + length + 2, size - (size_t)length - 2))
            text[length] = '\0';
    } else if (!length) {
        tell_values(pattern, text, size);
    }
}

/* "7 ulps", "not finite", "off by 3". */
static int tell_ulps(enum akgen_dtype type, double ulps, bool beyond, char *text, size_t size)
{
    if (isinf(ulps))
        return snprintf(text, size, beyond ? "beyond the type" : "not finite");
    if (!task_is_float(type))
        return snprintf(text, size, "off by %.6g", ulps);
    return snprintf(text, size, ulps < 1e7 ? "%.0f ulp%s" : "%.3g ulp%s", ulps, ulps == 1 ? "" : "s");
}

void distance_tell(struct task_mismatch *result)
{
    const bool finite = isfinite(result->actual) && isfinite(result->expected);
    char *text = result->distance;
    size_t size = sizeof result->distance;
    int length = snprintf(text, size, "(");
    length += tell_ulps(result->type, result->ulps, finite, text + length, size - (size_t)length);
    if (task_is_float(result->type) && isfinite(result->ulps))
        length += snprintf(text + length, size - (size_t)length, " of %s",
                           akgen_dtype_name(result->type == AKGEN_COMPLEX64 ? AKGEN_FLOAT : result->type));
    length += snprintf(text + length, size - (size_t)length, ")");
    if (result->wrong < 2)
        return;
    length += snprintf(text + length, size - (size_t)length, "; worst ");
    tell_ulps(result->type, result->worst.ulps, isfinite(result->worst.actual) && isfinite(result->worst.expected),
              text + length, size - (size_t)length);
}
