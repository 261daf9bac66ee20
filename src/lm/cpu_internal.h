/* What the files of the CPU's backend share. */
#ifndef LM_CPU_INTERNAL_H
#define LM_CPU_INTERNAL_H

#include "base/team.h"
#include "lm/cpu.h"

#include <stdatomic.h>

enum { LM_CPU_LINE = 16 }; /* floats of a cache line */

/* Loops over numbers are compiled for AVX-512 as well, and which is taken is decided as the program begins. */
#ifdef __x86_64__
#define LM_CPU_WIDE __attribute__((target_clones("avx512f", "default")))
#else
#define LM_CPU_WIDE
#endif

struct lm_cpu {
    struct lm_backend backend;
    struct team *team;
    struct {
        float *floats;
        int64_t count;
    } *scratch;                      /* for each worker, grown by lm_cpu_scratch */
    struct lm_cpu_bf16 *products;    /* by instructions for bfloat16, or NULL: by oneDNN in float32 */
    struct lm_cpu_bf16 *bf16;        /* the same where operands are rounded, attention's too; else NULL */
    bool tiles;                      /* lm_cpu_has_tiles */
    struct lm_operations operations; /* where they are not: the same ones under another name */
};

static inline struct lm_cpu *lm_cpu_of(struct lm_backend *backend)
{
    return (struct lm_cpu *)backend; /* its first member */
}
/* At least `count` floats that are this worker's until it asks again; what they hold is anything. */
float *lm_cpu_scratch(struct lm_cpu *cpu, int worker, int64_t count);

/* c (m, n) = alpha * a b + beta * c, in the calling thread. `a` and `b` are turned over where `a_turned` or `b_turned`: they lie as
 * (k, m) and (n, k). */
void lm_cpu_product(bool a_turned, bool b_turned, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                    int64_t a_stride, const float *b, int64_t b_stride, float beta, float *c, int64_t c_stride);

/* Whatever oneDNN does for this thread from now on it does in it alone. */
void lm_cpu_alone(void);

/* c (m, n) = alpha * a b + beta * c for all workers; beta is 0 or 1. */
struct lm_product {
    bool a_turned, b_turned;
    int64_t m, n, k;
    const float *a, *b;
    int64_t a_stride, b_stride;
    float alpha, beta;
    float *c;
    int64_t c_stride;
};
/* Whether it is cut by rows of its result, else by columns. */
static inline bool lm_product_by_rows(int64_t m, int64_t n, int workers)
{
    return m >= n || m >= (int64_t)workers * 64;
}
/* The same of operands that are rounded to bfloat16, or of three parts of bfloat16 each, which is float32 (NULL: the processor has no AMX), where the
 * product is large enough that it is faster. */
struct lm_cpu_bf16 *lm_cpu_bf16_new(void);
struct lm_cpu_bf16 *lm_cpu_bf16_new_split(void);
void lm_cpu_bf16_free(struct lm_cpu_bf16 *bf16);
bool lm_product_is_bf16(const struct lm_cpu *cpu, const struct lm_product *product);
void lm_product_bf16(struct lm_cpu *cpu, const struct lm_product *product);
/* The same in the calling thread, c (m, n) = alpha * a b + keep * c, of operands that were rounded and laid out before: a first one (m, k), a second one
 * (k, n), which lie as (k, m) and (n, k) where they are `turned`; so many bfloat16 each, 64 bytes aligned. `b_rows`: with how many rows the second one was laid
 * out, of which the product takes the first k. Between begin and end, which a NULL does nothing in. */
int64_t lm_bf16_first_size(int64_t m, int64_t k);
int64_t lm_bf16_second_size(int64_t k, int64_t n);
void lm_bf16_first(uint16_t *to, const float *a, int64_t m, int64_t k, int64_t stride, bool turned);
void lm_bf16_second(uint16_t *to, const float *b, int64_t k, int64_t n, int64_t stride, bool turned);
void lm_bf16_begin(const struct lm_cpu_bf16 *bf16);
void lm_bf16_end(const struct lm_cpu_bf16 *bf16);
void lm_bf16_multiply(const struct lm_cpu_bf16 *bf16, const uint16_t *a, const uint16_t *b, int64_t b_rows, int64_t m,
                      int64_t n, int64_t k, float alpha, bool keep, float *c, int64_t c_stride);

/* y (n, out) = scales[o] * x (n, in) . row o of w (out, in), or scale where there are none, + y where it is kept: at most LM_FEW rows. The bits of a
 * row do not depend on the others. */
struct lm_few {
    int n, in, out;
    const float *x;
    int64_t x_stride;
    const float *w;     /* or NULL: they are int8 */
    const int8_t *int8; /* or NULL */
    float scale;
    const float *scales; /* of outputs, or NULL */
    float *y;
    int64_t y_stride;
    bool keep;
};
void lm_cpu_few(struct lm_cpu *cpu, struct lm_few *few);
/* The same of int8 where the processor multiplies tiles of them (AMX, and lm_cpu.tiles says so); false: rows are too long for it. */
bool lm_cpu_few_tiles(struct lm_cpu *cpu, const struct lm_few *few);
bool lm_cpu_has_tiles(void);

/* e^x to about 2 units in the last place; 0 below -87. By Cephes' polynomial on [-ln 2 / 2, ln 2 / 2]. */
static inline float lm_exp(float x)
{
    float bounded = x < -87.0F ? -87.0F : x > 88.0F ? 88.0F : x;
    float whole = __builtin_rintf(bounded * 1.44269504F);
    float rest = bounded - whole * 0.693359375F + whole * 2.12194440e-4F;
    float y = 1.9875691500e-4F;
    y = y * rest + 1.3981999507e-3F;
    y = y * rest + 8.3334519073e-3F;
    y = y * rest + 4.1665795894e-2F;
    y = y * rest + 1.6666665459e-1F;
    y = y * rest + 5.0000001201e-1F;
    y = y * rest * rest + rest + 1.0F;
    int bits = ((int)whole + 127) << 23;
    float power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return x < -87.0F ? 0.0F : y * power;
}

/* The largest of at least one number, by lanes: compilers take them one by one, for some might be no numbers. */
static inline float lm_largest(const float *x, int64_t count)
{
    float most[LM_CPU_LINE];
    int64_t i = 0;
    for (int l = 0; l < LM_CPU_LINE; l++)
        most[l] = x[0];
    for (; i + LM_CPU_LINE <= count; i += LM_CPU_LINE)
        for (int l = 0; l < LM_CPU_LINE; l++)
            most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
    for (; i < count; i++)
        most[0] = x[i] > most[0] ? x[i] : most[0];
    for (int l = 1; l < LM_CPU_LINE; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

/* The operations, a file each. */
void lm_cpu_linear(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const void *w, int n,
                   int in, int out, float scale, int keep);
void lm_cpu_linear_int8(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const int8_t *w,
                        const float *scales, int n, int in, int out);
void lm_cpu_linear_dx(struct lm_backend *backend, void *dx, int dx_stride, const void *dy, int dy_stride, const void *w,
                      int n, int in, int out, float scale, int keep);
void lm_cpu_linear_dw(struct lm_backend *backend, float *dw, const void *dy, int dy_stride, const void *x, int x_stride,
                      int n, int in, int out, float scale, int keep);
void lm_cpu_norm(struct lm_backend *backend, void *y, float *scales, void *sum, const void *x, const void *more,
                 const void *w, float eps, int n, int c);
void lm_cpu_norm_again(struct lm_backend *backend, void *y, const float *scales, const void *x, const void *w, int n,
                       int c);
void lm_cpu_norm_back(struct lm_backend *backend, void *dx, float *dw, const void *dy, const float *scales,
                      const void *x, const void *w, int n, int c);
void lm_cpu_rotate(struct lm_backend *backend, void *q, void *k, const void *qkv, const void *q_norm,
                   const void *k_norm, const float *angles, const struct lm_heads *shape);
void lm_cpu_rotate_back(struct lm_backend *backend, void *dqkv, float *dq_norm, float *dk_norm, const void *dq,
                        const void *dk, const void *qkv, const void *q_norm, const void *k_norm, const float *angles,
                        const struct lm_heads *shape);
void lm_cpu_attention(struct lm_backend *backend, void *out, float *sums, const void *q, const void *k, const void *v,
                      int v_stride, const struct lm_attention *shape);
void lm_cpu_attention_back(struct lm_backend *backend, void *dq, void *dk, void *dv, int dv_stride, const void *dout,
                           const void *out, const float *sums, const void *q, const void *k, const void *v,
                           int v_stride, const struct lm_attention *shape);
/* Floats of scratch that a worker needs in float32 for a text of so many keys. */
int64_t lm_cpu_attention_room(const struct lm_heads *heads, int64_t keys, bool back);
void lm_cpu_swiglu(struct lm_backend *backend, void *y, const void *gate_up, int n, int inner);
void lm_cpu_swiglu_back(struct lm_backend *backend, void *dgate_up, const void *dy, const void *gate_up, int n,
                        int inner);
void lm_cpu_log_probs(struct lm_backend *backend, float *log_probs, void *scores, const int32_t *labels,
                      const float *factors, int n, int vocabulary);

double lm_cpu_squares(struct lm_backend *backend, const float *gradient, int64_t count);
void lm_cpu_adamw(struct lm_backend *backend, float *weights, void *elements, float *m, float *v, const float *gradient,
                  int64_t count, const struct lm_adamw *step);

#endif
