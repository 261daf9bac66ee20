/* Operators that pick elements by position or by order (level 2: Linalg, Mask, TensorMove, level 3: Sort). */
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The dimension that Cross works along: `dim`, counted from the end if negative; -65530, the operator's default, means
 * the first of size 3. -1 if there is none of size 3. */
static int cross_dim(const struct task_tensor *x, int64_t dim)
{
    enum { FIRST_OF_SIZE_3 = -65530 };
    if (dim == FIRST_OF_SIZE_3)
        for (dim = 0; dim < x->rank && x->dims[dim] != 3;)
            dim++;
    dim += dim < 0 ? x->rank : 0;
    return dim >= 0 && dim < x->rank && x->dims[dim] == 3 ? (int)dim : -1;
}

/* A product of integers modulo 2^64. */
static uint64_t wrapped(double x, double y)
{
    return (uint64_t)reference_whole(x) * (uint64_t)reference_whole(y);
}

/* y = x1 x x2 along a dimension of size 3. x1, x2, y (outer, 3, inner). Each product and the difference round. */
static void cross(struct reference_call *call)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    const struct task_tensor *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x1->type);
    int dim = cross_dim(x1, reference_integer(call, 0));
    int64_t inner = 1;
    for (int i = dim + 1; i < x1->rank; i++)
        inner *= x1->dims[i];
    for (int64_t vector = 0; dim >= 0 && vector < y->elements / 3; vector++) {
        int64_t base = vector / inner * 3 * inner + vector % inner;
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            task_read_double(x1, base + k * inner, 1, &a[k]);
            task_read_double(x2, base + k * inner, 1, &b[k]);
        }
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double value =
                reference_round(steps, reference_round(steps, a[i] * b[j]) - reference_round(steps, a[j] * b[i]));
            uint64_t whole = wrapped(a[i], b[j]) - wrapped(a[j], b[i]);
            if (task_is_float(x1->type))
                task_write_double(y, base + k * inner, 1, &value);
            else
                task_write_integer(y, base + k * inner, 1, &(int64_t){(int64_t)whole});
        }
    }
}

/* y[..., i, j] = x[..., i, j] where j - i <= diagonal, else 0. x, y (..., rows, columns). */
static void tril(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    int64_t rows = x->rank > 1 ? x->dims[x->rank - 2] : 1, columns = x->rank ? x->dims[x->rank - 1] : 0;
    int64_t diagonal = reference_integer(call, 0);
    for (int64_t row = 0; columns && row < x->elements / columns; row++)
        for (int64_t j = 0; j < columns && j <= row % rows + diagonal; j++) {
            double value;
            task_read_double(x, row * columns + j, 1, &value);
            task_write_double(y, row * columns + j, 1, &value);
        }
}

/* y[..., i, j] = x[..., i, j] where j - i >= diagonal, else 0. x, y (..., rows, columns). */
static void triu(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    int64_t rows = x->rank > 1 ? x->dims[x->rank - 2] : 1, columns = x->rank ? x->dims[x->rank - 1] : 0;
    int64_t diagonal = reference_integer(call, 0);
    for (int64_t row = 0; columns && row < x->elements / columns; row++) {
        int64_t first = row % rows + diagonal;
        first = first < 0 ? 0 : first > columns ? columns : first;
        reference_copy(x, row * columns + first, y, row * columns + first, columns - first);
    }
}

/* y (count): the elements of x where mask is true. The operator's y has room for all; the result has what is there. */
static void masked_select(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *mask = reference_input(call, 1);
    struct task_tensor *y = reference_result(call, 0);
    const unsigned char *chosen = mask->values;
    int64_t count = 0;
    for (int64_t i = 0; i < x->elements; i++)
        if (chosen[i])
            reference_copy(x, i, y, count++, 1);
    y->dims[0] = y->elements = count;
}

/* y (shape): x repeated along new leading dimensions and dimensions of size 1. */
static void expand(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    size_t size = akgen_dtype_size(x->type);
    int lead = y->rank - x->rank;
    for (int64_t i = 0; lead >= 0 && i < y->elements; i++) {
        int64_t rest = i, from = 0, stride = 1;
        for (int d = y->rank - 1; d >= lead; d--) {
            int64_t at = rest % y->dims[d];
            rest /= y->dims[d];
            from += x->dims[d - lead] == 1 ? 0 : at * stride;
            stride *= x->dims[d - lead];
        }
        memcpy((char *)y->values + (size_t)i * size, (const char *)x->values + (size_t)from * size, size);
    }
}

/* TopKV3: x (outer, n, inner); values, indices (outer, k, inner), best first, of equal ones the first. */
struct ranked {
    double value;
    int64_t index;
};

/* nan counts as larger than any number, as in torch.topk. */
static bool larger(double a, double b)
{
    return isnan(b) ? false : isnan(a) || a > b;
}

/* Puts a candidate where it belongs among the `held` best; returns how many are held then. */
static int64_t rank(struct ranked *best, int64_t held, int64_t k, struct ranked candidate, bool largest)
{
    int64_t at = held;
    while (at > 0 &&
           (largest ? larger(candidate.value, best[at - 1].value) : larger(best[at - 1].value, candidate.value)))
        at--;
    if (at == k)
        return held;
    held += held < k;
    memmove(&best[at + 1], &best[at], sizeof *best * (size_t)(held - 1 - at));
    best[at] = candidate;
    return held;
}

static void top_k(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *values = reference_result(call, 0);
    const struct task_tensor *indices = reference_output(call, 1);
    int dim = (int)reference_integer(call, 1);
    bool largest = reference_flag(call, 2);
    dim += dim < 0 ? x->rank : 0;
    int64_t inner = 1, n = x->dims[dim], k = values->dims[dim];
    for (int d = dim + 1; d < x->rank; d++)
        inner *= x->dims[d];
    struct ranked *best = arena_alloc(call->scratch, sizeof *best * (size_t)(k + 1));
    for (int64_t v = 0; n && v < x->elements / n; v++) {
        int64_t from = v / inner * n * inner + v % inner, to = v / inner * k * inner + v % inner, held = 0;
        for (int64_t i = 0; i < n; i++) {
            struct ranked candidate = {.index = i};
            task_read_double(x, from + i * inner, 1, &candidate.value);
            held = rank(best, held, k, candidate, largest);
        }
        for (int64_t i = 0; i < held; i++) {
            task_write_double(values, to + i * inner, 1, &best[i].value);
            if (indices)
                task_write_integer(indices, to + i * inner, 1, &best[i].index);
        }
    }
}

static struct akgen_error *cross_fits(const struct reference_call *call)
{
    int64_t dim = reference_integer(call, 0);
    return cross_dim(reference_input(call, 0), dim) >= 0
               ? NULL
               : error_new("attribute dim is %" PRId64 ": a product of vectors needs a dimension of size 3", dim);
}

static struct akgen_error *top_k_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *values = reference_output_shape(call, 0);
    int dim = (int)reference_integer(call, 1);
    dim += dim < 0 ? x->rank : 0;
    return values->dims[dim] <= x->dims[dim]
               ? NULL
               : error_new("%" PRId64 " of %" PRId64 " elements cannot be picked", values->dims[dim], x->dims[dim]);
}

static struct akgen_error *expand_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_output_shape(call, 0);
    int lead = y->rank - x->rank;
    if (lead < 0)
        return error_new("x has %d dimensions, more than the %d of the output", x->rank, y->rank);
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] != 1 && x->dims[d] != y->dims[lead + d])
            return error_new("dimension %d of x has size %" PRId64 ", expected 1 or the output's %" PRId64, d,
                             x->dims[d], y->dims[lead + d]);
    return NULL;
}

const struct task_reference_entry task_references_index[] = {
    REFERENCE(cross, "x1 number [*shape], x2 =x1 [*shape] -> y =x1 [*shape]; dim int = -65530 | size shape [4, 3, 5]",
              .fits = cross_fits),
    REFERENCE(tril, "x floating/integer [*planes, columns] -> y =x [*planes, columns]; diagonal int = 0"),
    REFERENCE(triu, "x floating/integer [*planes, columns] -> y =x [*planes, columns]; diagonal int = 0"),
    REFERENCE(masked_select, "x number/uint64/bool/float64 (e), mask bool (e) -> y =x (e)"),
    REFERENCE(top_k,
              "x floating [*a:dim, n, *b], k index (1) in most..most '$most' -> values =x [*a, most, *b], indices? "
              "index [*a, most, *b]; sorted bool = true, dim int = 1, largest bool = true | size most 3",
              .fits = top_k_fits),
    REFERENCE(expand, "x any [*from] -> y =x [*shape]; shape list_int = [4, 3, 5] | size from [3, 1]",
              .fits = expand_fits),
    {NULL, NULL, NULL, NULL},
};
