/* Matrix products for references, by a BLAS, and the buffers they need. */
#ifndef TASK_REFERENCE_PRODUCT_H
#define TASK_REFERENCE_PRODUCT_H

#include "task/tensor/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* One matrix product: a (m, k) times b (k, n). A transposed operand is stored the other way round: a as (k, m), b as
 * (n, k). Rows are contiguous. */
struct product {
    int64_t m, k, n;
    bool a_transposed, b_transposed;
};
/* c (m, n) = a b in float64; c is zero if k is 0. Runs in the caller's thread. */
void reference_product(const struct product *shape, const double *a, const double *b, double *c);

/* Elements first .. first + count - 1 of a tensor as doubles; free them. */
double *reference_part(const struct task_tensor *tensor, int64_t first, int64_t count);

#endif
