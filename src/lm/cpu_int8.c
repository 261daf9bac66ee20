/* Products with matrices whose weights are int8. Few rows are cpu_few.c's and cpu_few_tiles.c's. Of more, some of the matrix at a time becomes float32,
 * and oneDNN multiplies that. */
#include "lm/cpu_internal.h"

enum { TILE = 64 };

struct product {
    struct lm_cpu *cpu;
    struct lm_few rows; /* which are not so few */
};

static void part(void *closure, int worker, int workers)
{
    const struct product *product = closure;
    const struct lm_few *p = &product->rows;
    int64_t first, last, in = p->in;
    float *tile = lm_cpu_scratch(product->cpu, worker, TILE * in);
    team_share(p->out, TILE, worker, workers, &first, &last);
    for (int64_t o = first; o < last; o += TILE) {
        int64_t rows = last - o < TILE ? last - o : TILE;
        for (int64_t row = 0; row < rows; row++)
            for (int64_t i = 0; i < in; i++)
                tile[row * in + i] = (float)p->int8[(o + row) * in + i] * p->scales[o + row];
        lm_cpu_product(false, true, p->n, rows, in, 1, p->x, p->x_stride, tile, in, 0, p->y + o, p->y_stride);
    }
}

void lm_cpu_linear_int8(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const int8_t *w,
                        const float *scales, int n, int in, int out)
{
    struct product product = {.cpu = lm_cpu_of(backend),
                              .rows = {.n = n,
                                       .in = in,
                                       .out = out,
                                       .x = x,
                                       .x_stride = x_stride,
                                       .int8 = w,
                                       .scales = scales,
                                       .y = y,
                                       .y_stride = y_stride}};
    if (n > LM_FEW)
        team_run(product.cpu->team, part, &product);
    else if (!product.cpu->tiles || !lm_cpu_few_tiles(product.cpu, &product.rows))
        lm_cpu_few(product.cpu, &product.rows);
}
