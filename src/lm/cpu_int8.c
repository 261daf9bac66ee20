/* Products with matrices whose weights are int8. A few rows: each weight becomes a float as it is multiplied, and each number is summed in
 * an order that does not depend on how many rows there are. More rows: some of the matrix at a time becomes float32, and oneDNN
 * multiplies that. */
#include "lm/cpu_internal.h"

#define FAST _Pragma("clang fp contract(fast)")

enum { LANES = 8, AT_ONCE = 4, TILE = 64 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

struct product {
    struct lm_cpu *cpu;
    float *y;
    const float *x, *scales;
    const int8_t *w;
    int y_stride, x_stride;
    int n, in, out;
};

/* y[r * y_stride + o] = scales[o] * x[r] . row o of w, of `rows` rows and `outs` outputs: enough sums at a time that none waits. */
static inline __attribute__((always_inline)) void dots(int rows, int outs, float *y, int64_t y_stride, const float *x,
                                                       int64_t x_stride, const int8_t *w, int in, const float *scales)
{
    FAST lanes even[AT_ONCE] = {0}, odd[AT_ONCE] = {0};
    int i = 0;
    for (; i + 2 * LANES <= in; i += 2 * LANES)
        for (int o = 0; o < outs; o++) {
            const int8_t *at = w + (int64_t)o * in + i;
            lanes first = __builtin_convertvector(*(const bytes *)at, lanes);
            lanes second = __builtin_convertvector(*(const bytes *)(at + LANES), lanes);
            for (int r = 0; r < rows; r++) {
                even[o * rows + r] += first * *(const lanes *)(x + r * x_stride + i);
                odd[o * rows + r] += second * *(const lanes *)(x + r * x_stride + i + LANES);
            }
        }
    for (int o = 0; o < outs; o++)
        for (int r = 0; r < rows; r++) {
            lanes sums = even[o * rows + r] + odd[o * rows + r];
            float sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
            for (int j = i; j < in; j++)
                sum += (float)w[(int64_t)o * in + j] * x[r * x_stride + j];
            y[r * y_stride + o] = scales[o] * sum;
        }
}

static void few_part(void *closure, int worker, int workers)
{
    const struct product *p = closure;
    int64_t first, last;
    team_share(p->out, LM_CPU_LINE, worker, workers, &first, &last);
    for (int64_t o = first; o < last; o += AT_ONCE) {
        int outs = last - o < AT_ONCE ? (int)(last - o) : AT_ONCE;
        const int8_t *w = p->w + o * p->in;
        float *y = p->y + o;
        int64_t r = 0;
        for (; r + AT_ONCE <= p->n; r += AT_ONCE)
            for (int i = 0; i < outs; i++)
                dots(AT_ONCE, 1, y + r * p->y_stride + i, p->y_stride, p->x + r * p->x_stride, p->x_stride,
                     w + (int64_t)i * p->in, p->in, p->scales + o + i);
        for (; r < p->n; r++) {
            const float *x = p->x + r * p->x_stride;
            if (outs == AT_ONCE)
                dots(1, AT_ONCE, y + r * p->y_stride, p->y_stride, x, p->x_stride, w, p->in, p->scales + o);
            for (int i = 0; outs < AT_ONCE && i < outs; i++)
                dots(1, 1, y + r * p->y_stride + i, p->y_stride, x, p->x_stride, w + (int64_t)i * p->in, p->in,
                     p->scales + o + i);
        }
    }
}

static void many_part(void *closure, int worker, int workers)
{
    const struct product *p = closure;
    int64_t first, last, in = p->in;
    float *tile = lm_cpu_scratch(p->cpu, worker, TILE * in);
    team_share(p->out, TILE, worker, workers, &first, &last);
    for (int64_t o = first; o < last; o += TILE) {
        int64_t rows = last - o < TILE ? last - o : TILE;
        for (int64_t row = 0; row < rows; row++)
            for (int64_t i = 0; i < in; i++)
                tile[row * in + i] = (float)p->w[(o + row) * in + i] * p->scales[o + row];
        lm_cpu_product(false, true, p->n, rows, in, 1, p->x, p->x_stride, tile, in, 0, p->y + o, p->y_stride);
    }
}

void lm_cpu_linear_int8(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const int8_t *w,
                        const float *scales, int n, int in, int out)
{
    struct product product = {.cpu = lm_cpu_of(backend),
                              .y = y,
                              .x = x,
                              .scales = scales,
                              .w = w,
                              .y_stride = y_stride,
                              .x_stride = x_stride,
                              .n = n,
                              .in = in,
                              .out = out};
    team_run(product.cpu->team, n <= LM_FEW ? few_part : many_part, &product);
}
