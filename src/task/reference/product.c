#include "task/reference/product.h"

#include "base/memory.h"

#include <cblas.h>
#include <pthread.h>
#include <string.h>

/* Several cases run at once: more threads inside each would only get in each other's way. */
static void use_one_thread(void)
{
    openblas_set_num_threads(1);
}

void reference_product(const struct product *shape, const double *a, const double *b, double *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int m = (int)shape->m, k = (int)shape->k, n = (int)shape->n;
    pthread_once(&once, use_one_thread);
    if (!m || !n)
        return;
    if (!k) {
        memset(c, 0, sizeof *c * (size_t)m * (size_t)n);
        return;
    }
    cblas_dgemm(CblasRowMajor, shape->a_transposed ? CblasTrans : CblasNoTrans,
                shape->b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a, shape->a_transposed ? m : k, b,
                shape->b_transposed ? k : n, 0, c, n);
}

double *reference_part(const struct task_tensor *tensor, int64_t first, int64_t count)
{
    double *values = memory_alloc((size_t)(count + 1) * sizeof *values);
    task_read_double(tensor, first, (int)count, values);
    return values;
}
