/* The operations of a Qwen3 layer and their gradients, one loop nest a formula. */
#include "lm/plain.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

void lm_plain_linear(float *y, const float *x, const float *w, int n, int in, int out)
{
    for (int i = 0; i < n; i++)
        for (int o = 0; o < out; o++) {
            double sum = 0;
            for (int c = 0; c < in; c++)
                sum += (double)x[(int64_t)i * in + c] * w[(int64_t)o * in + c];
            y[(int64_t)i * out + o] = (float)sum;
        }
}

void lm_plain_linear_back(float *dx, float *dw, const float *dy, const float *x, const float *w, int n, int in, int out)
{
    for (int i = 0; dx && i < n; i++)
        for (int c = 0; c < in; c++) {
            double sum = 0;
            for (int o = 0; o < out; o++)
                sum += (double)dy[(int64_t)i * out + o] * w[(int64_t)o * in + c];
            dx[(int64_t)i * in + c] += (float)sum;
        }
    for (int o = 0; dw && o < out; o++)
        for (int c = 0; c < in; c++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += (double)dy[(int64_t)i * out + o] * x[(int64_t)i * in + c];
            dw[(int64_t)o * in + c] += (float)sum;
        }
}

/* 1 / sqrt(mean of squares + eps). */
static double norm_scale(const float *x, float eps, int c)
{
    double squares = 0;
    for (int j = 0; j < c; j++)
        squares += (double)x[j] * x[j];
    return 1 / sqrt(squares / c + eps);
}

void lm_plain_norm(float *y, const float *x, const float *w, float eps, int n, int c)
{
    for (int64_t i = 0; i < n; i++) {
        double r = norm_scale(x + i * c, eps, c);
        for (int j = 0; j < c; j++)
            y[i * c + j] = (float)(x[i * c + j] * r * w[j]);
    }
}

/* With r the scale and g = dy * w:  dx = r * g - x * r^3 / c * sum(g * x). */
void lm_plain_norm_back(float *dx, float *dw, const float *dy, const float *x, const float *w, float eps, int n, int c)
{
    for (int64_t i = 0; i < n; i++) {
        const float *xi = x + i * c, *dyi = dy + i * c;
        double r = norm_scale(xi, eps, c), dot = 0;
        for (int j = 0; j < c; j++)
            dot += (double)dyi[j] * w[j] * xi[j];
        for (int j = 0; j < c; j++) {
            dx[i * c + j] += (float)(r * dyi[j] * w[j] - xi[j] * r * r * r / c * dot);
            dw[j] += (float)(dyi[j] * xi[j] * r);
        }
    }
}

void lm_plain_rotate(float *x, const int *positions, float theta, int sign, int n, int heads, int d)
{
    int half = d / 2;
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < half; j++) {
            /* In float, as transformers has it: far out, the angle's rounding is more than that of what it turns. */
            float angle = (float)positions[i] * (1 / powf(theta, (float)(2 * j) / (float)d));
            float cosine = cosf(angle), sine = (float)sign * sinf(angle);
            for (int h = 0; h < heads; h++) {
                float *low = x + (i * heads + h) * d + j, *high = low + half, a = *low, b = *high;
                *low = a * cosine - b * sine;
                *high = b * cosine + a * sine;
            }
        }
}

void lm_plain_attention(float *out, float *p, const float *q, const float *k, const float *v, int n, int heads,
                        int kv_heads, int d)
{
    double scale = 1 / sqrt(d);
    for (int h = 0; h < heads; h++)
        for (int64_t i = 0; i < n; i++) {
            int kv = h / (heads / kv_heads);
            float *pi = p + ((int64_t)h * n + i) * n;
            const float *qi = q + (i * heads + h) * d;
            double largest = -INFINITY, total = 0;
            for (int64_t j = 0; j <= i; j++) {
                double score = 0;
                for (int c = 0; c < d; c++)
                    score += (double)qi[c] * k[(j * kv_heads + kv) * d + c];
                pi[j] = (float)(score * scale);
                largest = fmax(largest, pi[j]);
            }
            for (int64_t j = 0; j <= i; j++)
                total += exp(pi[j] - largest);
            for (int64_t j = 0; j <= i; j++)
                pi[j] = (float)(exp(pi[j] - largest) / total);
            for (int c = 0; c < d; c++) {
                double sum = 0;
                for (int64_t j = 0; j <= i; j++)
                    sum += (double)pi[j] * v[(j * kv_heads + kv) * d + c];
                out[(i * heads + h) * d + c] = (float)sum;
            }
        }
}

/* dp = dout v^T;  the softmax's ds = p * (dp - sum(p * dp));  dq = scale * ds k;  dk = scale * ds^T q;  dv = p^T dout. */
void lm_plain_attention_back(float *dq, float *dk, float *dv, const float *dout, const float *p, const float *q,
                             const float *k, const float *v, int n, int heads, int kv_heads, int d)
{
    double scale = 1 / sqrt(d);
    double *dp = memory_alloc((size_t)n * sizeof *dp);
    for (int h = 0; h < heads; h++)
        for (int64_t i = 0; i < n; i++) {
            int kv = h / (heads / kv_heads);
            const float *pi = p + ((int64_t)h * n + i) * n;
            int64_t row = (i * heads + h) * d;
            double mean = 0;
            for (int64_t j = 0; j <= i; j++) {
                dp[j] = 0;
                for (int c = 0; c < d; c++)
                    dp[j] += (double)dout[row + c] * v[(j * kv_heads + kv) * d + c];
                mean += pi[j] * dp[j];
            }
            for (int64_t j = 0; j <= i; j++) {
                double ds = scale * pi[j] * (dp[j] - mean);
                for (int c = 0; c < d; c++) {
                    int64_t key = (j * kv_heads + kv) * d + c;
                    dq[row + c] += (float)(ds * k[key]);
                    dk[key] += (float)(ds * q[row + c]);
                    dv[key] += pi[j] * dout[row + c];
                }
            }
        }
    free(dp);
}

void lm_plain_swiglu(float *y, const float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(gate[i] / (1 + exp(-(double)gate[i])) * up[i]);
}

void lm_plain_swiglu_back(float *dgate, float *dup, const float *dy, const float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double s = 1 / (1 + exp(-(double)gate[i]));
        dgate[i] += (float)(dy[i] * up[i] * s * (1 + gate[i] * (1 - s)));
        dup[i] += (float)(dy[i] * gate[i] * s);
    }
}

static void softmax(double *p, const float *scores, int count)
{
    double largest = -INFINITY, total = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, scores[i]);
    for (int i = 0; i < count; i++)
        total += p[i] = exp(scores[i] - largest);
    for (int i = 0; i < count; i++)
        p[i] /= total;
}

void lm_plain_route(int *chosen, float *weights, const float *scores, bool normalise, int n, int e, int k)
{
    double *p = memory_alloc((size_t)e * sizeof *p);
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        softmax(p, scores + i * e, e);
        for (int j = 0; j < k; j++) {
            int best = 0;
            for (int expert = 1; expert < e; expert++)
                if (p[expert] > p[best])
                    best = expert;
            chosen[i * k + j] = best;
            weights[i * k + j] = (float)p[best];
            total += p[best];
            p[best] = -1;
        }
        for (int j = 0; normalise && j < k; j++)
            weights[i * k + j] = (float)(weights[i * k + j] / total);
    }
    free(p);
}

/* With p the softmax over all experts, s the sum of the chosen ones (1 where they are not normalised) and g = dweights:
 * dp = (g - sum(g * p / s)) / s for the chosen ones where they are normalised, else g;  dscores = p * (dp - sum(p * dp)). */
void lm_plain_route_back(float *dscores, const float *dweights, const float *scores, const int *chosen, bool normalise,
                         int n, int e, int k)
{
    double *p = memory_alloc((size_t)e * sizeof *p), *dp = memory_alloc((size_t)e * sizeof *dp);
    for (int64_t i = 0; i < n; i++) {
        const float *g = dweights + i * k;
        double s = 0, dot = 0, mean = 0;
        softmax(p, scores + i * e, e);
        for (int expert = 0; expert < e; expert++)
            dp[expert] = 0;
        for (int j = 0; j < k; j++)
            s += p[chosen[i * k + j]];
        for (int j = 0; j < k; j++)
            dot += g[j] * p[chosen[i * k + j]] / s;
        for (int j = 0; j < k; j++)
            dp[chosen[i * k + j]] = normalise ? (g[j] - dot) / s : g[j];
        for (int expert = 0; expert < e; expert++)
            mean += p[expert] * dp[expert];
        for (int expert = 0; expert < e; expert++)
            dscores[i * e + expert] += (float)(p[expert] * (dp[expert] - mean));
    }
    free(p);
    free(dp);
}
