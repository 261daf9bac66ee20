#include "task/reference/product.h"

#include "base/memory.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static __typeof__(cblas_dgemm) *multiply;

/* OpenBLAS is loaded for the first product: as it is, it starts a thread for each processor, which waits awake for a
 * while, and most processes compute none. Several cases run at once: more threads inside each would get in each other's
 * way. */
static void load(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*set_threads)(int) = NULL;
    if (library) {
        *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
        *(void **)&multiply = dlsym(library, "cblas_dgemm");
    }
    if (!set_threads || !multiply) {
        fprintf(stderr, "akgen: matrix products need OpenBLAS (Debian: apt-get install libopenblas0): %s\n", dlerror());
        _exit(MEMORY_EXIT);
    }
    set_threads(1);
}

void reference_product(const struct product *shape, const double *a, const double *b, double *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int m = (int)shape->m, k = (int)shape->k, n = (int)shape->n;
    pthread_once(&once, load);
    if (!m || !n)
        return;
    if (!k) {
        memset(c, 0, sizeof *c * (size_t)m * (size_t)n);
        return;
    }
    multiply(CblasRowMajor, shape->a_transposed ? CblasTrans : CblasNoTrans,
             shape->b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a, shape->a_transposed ? m : k, b,
             shape->b_transposed ? k : n, 0, c, n);
}

double *reference_part(const struct task_tensor *tensor, int64_t first, int64_t count)
{
    double *values = memory_alloc((size_t)(count + 1) * sizeof *values);
    task_read_double(tensor, first, (int)count, values);
    return values;
}
