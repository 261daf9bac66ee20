/* Manifold-constrained hyper-connections (arXiv 2512.24880): n residual streams per token. h_res[k, i] says how much of
 * stream k goes into stream i. Products are rounded to float32, their sums are kept in double and rounded once. */
#include "task/reference/product.h"
#include "task/reference/reference.h"

#define R(value) reference_round(steps, value)

/* One token's part of each input, and the sizes: n streams of d elements. */
struct token {
    enum akgen_dtype steps;
    int64_t n, d;
    double *dy, *x, *h_res, *h_out, *h_post;
};

static void token_read(struct token *token, const struct task_tensor *const *tensors, int64_t index)
{
    int64_t n = token->n, d = token->d, sizes[] = {n * d, n * d, n * n, d, n};
    double *parts[] = {token->dy, token->x, token->h_res, token->h_out, token->h_post};
    for (int i = 0; i < 5; i++)
        if (tensors[i])
            task_read_double(tensors[i], index * sizes[i], (int)sizes[i], parts[i]);
}

static struct token token_new(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t n = x->dims[x->rank - 2], d = x->dims[x->rank - 1];
    return (struct token){.steps = reference_steps(call, AKGEN_FLOAT),
                          .n = n,
                          .d = d,
                          .dy = reference_numbers(call, n * d),
                          .x = reference_numbers(call, n * d),
                          .h_res = reference_numbers(call, n * n),
                          .h_out = reference_numbers(call, d),
                          .h_post = reference_numbers(call, n)};
}

static int64_t token_count(const struct reference_call *call, const struct token *token)
{
    int64_t size = token->n * token->d;
    return size ? reference_input(call, 0)->elements / size : 0;
}

/* y[i, d] = h_post[i] h_out[d] + sum of h_res[k, i] x[k, d] over k. Inputs: x, h_res, h_out, h_post. */
static void mhc_post(struct reference_call *call)
{
    const struct task_tensor *tensors[] = {NULL, reference_input(call, 0), reference_input(call, 1),
                                           reference_input(call, 2), reference_input(call, 3)};
    struct token token = token_new(call);
    enum akgen_dtype steps = token.steps;
    int64_t n = token.n, d = token.d;
    double *y = reference_numbers(call, n * d);
    for (int64_t at = 0; at < token_count(call, &token); at++) {
        token_read(&token, tensors, at);
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < d; e++) {
                double sum = 0;
                for (int64_t k = 0; k < n; k++)
                    sum += R(token.h_res[k * n + i] * token.x[k * d + e]);
                y[i * d + e] = R(R(token.h_post[i] * token.h_out[e]) + R(sum));
            }
        task_write_double(reference_result(call, 0), at * n * d, (int)(n * d), y);
    }
}

/* Sum of the rounded products a[i a_step] b[i b_step], i < count. */
static double dot(enum akgen_dtype steps, int64_t count, const double *a, int64_t a_step, const double *b,
                  int64_t b_step)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += R(a[i * a_step] * b[i * b_step]);
    return R(sum);
}

/* The gradients of one token: dx (n, d), dh_res (n, n), dh_out (d), dh_post (n). */
static void token_gradients(const struct token *token, double *const *gradient)
{
    enum akgen_dtype steps = token->steps;
    int64_t n = token->n, d = token->d;
    for (int64_t k = 0; k < n; k++) {
        for (int64_t e = 0; e < d; e++)
            gradient[0][k * d + e] = dot(steps, n, token->h_res + k * n, 1, token->dy + e, d);
        for (int64_t i = 0; i < n; i++)
            gradient[1][k * n + i] = dot(steps, d, token->x + k * d, 1, token->dy + i * d, 1);
        gradient[3][k] = dot(steps, d, token->h_out, 1, token->dy + k * d, 1);
    }
    for (int64_t e = 0; e < d; e++)
        gradient[2][e] = dot(steps, n, token->h_post, 1, token->dy + e, d);
}

/* Inputs: dy, x, h_res, h_out, h_post. Outputs: dx, dh_res, dh_out, dh_post. */
static void mhc_post_grad(struct reference_call *call)
{
    const struct task_tensor *tensors[5];
    for (int i = 0; i < 5; i++)
        tensors[i] = reference_input(call, i);
    struct token token = token_new(call);
    int64_t n = token.n, d = token.d, sizes[] = {n * d, n * n, d, n};
    double *gradient[4];
    for (int i = 0; i < 4; i++)
        gradient[i] = reference_numbers(call, sizes[i]);
    for (int64_t at = 0; at < token_count(call, &token); at++) {
        token_read(&token, tensors, at);
        token_gradients(&token, gradient);
        for (int i = 0; i < 4; i++)
            task_write_double(reference_result(call, i), at * sizes[i], (int)sizes[i], gradient[i]);
    }
}

const struct task_reference_entry task_references_mhc[] = {
    REFERENCE(mhc_post, "x floating [*tokens, n, d], h_res floating [*tokens, n, n], h_out floating [*tokens, d], "
                        "h_post floating [*tokens, n] -> y =x [*tokens, n, d]"),
    REFERENCE(mhc_post_grad,
              "dy floating [*tokens, n, d], x =dy [*tokens, n, d], h_res floating [*tokens, n, n], h_out floating "
              "[*tokens, d], h_post floating [*tokens, n] -> dx =dy [*tokens, n, d], dh_res floating [*tokens, n, n], "
              "dh_out floating [*tokens, d], dh_post floating [*tokens, n]"),
    {NULL, NULL, NULL, NULL},
};
