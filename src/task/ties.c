/* Positions among equal values: an operator that yields indices may pick any of several equal elements. */
#include "task/task_internal.h"

#include <stdlib.h>
#include <string.h>

/* The vector of x and of the indices that is under judgment: element i lies at base + i * stride. */
struct vector {
    const struct task_tensor *x, *expected, *actual;
    int64_t x_base, base, stride;
    int64_t n, k; /* sizes of the dimension in x and in the indices */
};

static int64_t index_at(const struct task_tensor *indices, int64_t at)
{
    int64_t index;
    task_read_integer(indices, at, 1, &index);
    return index;
}

/* Equal as numbers; nan is as good as nan. */
static bool picks_equal(const struct vector *vector, int64_t a, int64_t b)
{
    double left, right;
    if (a < 0 || a >= vector->n || b < 0 || b >= vector->n)
        return false;
    task_read_double(vector->x, vector->x_base + a * vector->stride, 1, &left);
    task_read_double(vector->x, vector->x_base + b * vector->stride, 1, &right);
    return left == right || (left != left && right != right);
}

/* Replaces every index that picks what the expected one picks, and that did not occur before, by the expected one. */
static void forgive(const struct vector *vector, const struct task_tensor *judged, unsigned char *seen)
{
    memset(seen, 0, (size_t)vector->n);
    for (int64_t i = 0; i < vector->k; i++) {
        int64_t at = vector->base + i * vector->stride;
        int64_t expected = index_at(vector->expected, at), actual = index_at(vector->actual, at);
        bool right = picks_equal(vector, actual, expected) && !seen[actual];
        if (actual >= 0 && actual < vector->n)
            seen[actual] = 1;
        /* A repeated index must not pass even where it is the expected one. */
        int64_t result = right ? expected : actual == expected ? -1 : actual;
        task_write_integer(judged, at, 1, &result);
    }
}

struct task_tensor task_forgive_ties(const struct task_tensor *x, int dim, const struct task_tensor *expected,
                                     const struct task_tensor *actual)
{
    struct task_tensor judged = *actual;
    size_t bytes = (size_t)actual->elements * akgen_dtype_size(actual->type);
    dim += dim < 0 ? x->rank : 0;
    unsigned char *seen = malloc((size_t)x->dims[dim] + 1);
    judged.values = malloc(bytes + 1);
    if (!judged.values || !seen)
        abort();
    struct vector vector = {.x = x, .expected = expected, .actual = actual, .stride = 1};
    vector.n = x->dims[dim];
    vector.k = actual->dims[dim];
    for (int d = dim + 1; d < x->rank; d++)
        vector.stride *= x->dims[d];
    int64_t vectors = x->elements / (vector.n ? vector.n : 1);
    for (int64_t v = 0; v < vectors; v++) {
        int64_t outer = v / vector.stride, inner = v % vector.stride;
        vector.x_base = outer * vector.n * vector.stride + inner;
        vector.base = outer * vector.k * vector.stride + inner;
        forgive(&vector, &judged, seen);
    }
    free(seen);
    return judged;
}
