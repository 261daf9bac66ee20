/* Products of a few rows, those of texts that a model writes, with matrices whose weights are float32 or int8. Such a product takes as long as
 * memory needs to give the weights: they are read once for as many rows as have room for their sums in registers, which is more
 * with AVX-512.
 * Each number is summed in one order of 16 lanes, whatever the rows beside it, the threads and the processor, each product and its sum rounded once,
 * which is not left to the compiler: a text is the same in any batch. */
#include "lm/cpu_internal.h"

#include <dnnl.h>

enum { LANES = 16, HALF = LANES / 2, MOST_ROWS = 8, MOST_OUTS = 8, GROUP = 24 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

/* For the loops below, which are made for a number of rows and outputs, a kind of weights and a processor each. */
#define INLINE static inline __attribute__((always_inline))

INLINE float weight(const struct lm_few *few, bool int8, int64_t at)
{
    return int8 ? (float)few->int8[at] : few->w[at];
}

INLINE float sum_of(const lanes *at)
{
    float sums[HALF];
    for (int i = 0; i < HALF; i++)
        sums[i] = (*at)[i] + (*at)[HALF + i];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* Outputs [o, o + outs) of rows [r, r + rows): enough sums at a time that none waits, and few enough that they stay in registers. */
INLINE void dots(const struct lm_few *few, bool int8, int64_t r, int rows, int64_t o, int outs)
{
    lanes sums[MOST_ROWS * MOST_OUTS] = {0}, w[MOST_OUTS];
    const float *x = few->x + r * few->x_stride;
    int in = few->in, i = 0;
    for (; i + LANES <= in; i += LANES) {
        for (int k = 0; k < outs; k++) {
            int64_t at = (o + k) * in + i;
            if (int8)
                w[k] = __builtin_convertvector(*(const bytes *)(few->int8 + at), lanes);
            else
                w[k] = *(const lanes *)(few->w + at);
            if (!int8)
                __builtin_prefetch(few->w + at + (int64_t)outs * in); /* of the next ones */
        }
        for (int j = 0; j < rows; j++) {
            lanes of = *(const lanes *)(x + j * few->x_stride + i);
            for (int k = 0; k < outs; k++)
                sums[j * outs + k] = __builtin_elementwise_fma(w[k], of, sums[j * outs + k]);
        }
    }
    for (int j = 0; j < rows; j++)
        for (int k = 0; k < outs; k++) {
            float sum = sum_of(&sums[j * outs + k]), *y = few->y + (r + j) * few->y_stride + o + k;
            for (int last = i; last < in; last++)
                sum = __builtin_fmaf(weight(few, int8, (o + k) * in + last), x[j * few->x_stride + last], sum);
            *y = __builtin_fmaf(few->scales ? few->scales[o + k] : few->scale, sum, few->keep ? *y : 0);
        }
}

/* Outputs [o, end) of so many rows, with room for `most` sums. */
INLINE void block(const struct lm_few *few, bool int8, int64_t r, int rows, int64_t o, int64_t end, int most)
{
    int outs = most / rows < MOST_OUTS ? most / rows : MOST_OUTS;
    for (; o + outs <= end; o += outs)
        dots(few, int8, r, rows, o, outs);
    for (; o < end; o++)
        dots(few, int8, r, rows, o, 1);
}

/* A worker's outputs, a group of them for all rows before the next: its weights are near after the first rows. `most` sums, of at most
 * `most_rows` rows. */
INLINE void few_rows(const struct lm_few *few, bool int8, int worker, int workers, int most_rows, int most)
{
    int64_t first, last;
    team_share(few->out, LM_CPU_LINE, worker, workers, &first, &last);
    for (int64_t o = first; o < last; o += GROUP) {
        int64_t end = o + GROUP < last ? o + GROUP : last;
        for (int64_t r = 0; r < few->n; r += most_rows)
            switch (few->n - r < most_rows ? few->n - r : most_rows) {
#define CASE(rows)                                                                                                     \
    case rows:                                                                                                         \
        block(few, int8, r, rows, o, end, most);                                                                       \
        break;
                CASE(1)
                CASE(2)
                CASE(3)
                CASE(4)
                CASE(5)
                CASE(6)
                CASE(7)
                CASE(8)
#undef CASE
            }
    }
}

static void part(void *closure, int worker, int workers)
{
    const struct lm_few *few = closure;
    if (few->int8)
        few_rows(few, true, worker, workers, 3, 6);
    else
        few_rows(few, false, worker, workers, 3, 6);
}

#ifdef __x86_64__
/* The same with 32 registers of 16 lanes. */
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void part_avx512(void *closure, int worker,
                                                                                      int workers)
{
    const struct lm_few *few = closure;
    if (few->int8)
        few_rows(few, true, worker, workers, MOST_ROWS, GROUP);
    else
        few_rows(few, false, worker, workers, MOST_ROWS, GROUP);
}

static bool has_avx512(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}
#else
#define part_avx512 part
static bool has_avx512(void)
{
    return false;
}
#endif

void lm_cpu_few(struct lm_cpu *cpu, struct lm_few *few)
{
    team_run(cpu->team, has_avx512() ? part_avx512 : part, few);
}
