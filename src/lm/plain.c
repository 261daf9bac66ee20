/* The pass through all layers, and back. Names: x is what flows between the layers, (N, C); what a layer makes of it is kept
 * until the gradients have come back through it. */
#include "lm/plain.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An MLP's activations: of all tokens, or of those that an expert got. */
struct mlp {
    float *gate, *up, *inner; /* (n, I) each */
    float *out;               /* (n, C) */
    int *tokens;              /* with experts: whose they are (n) */
    int *ranks;               /* and the how manieth expert of the token this is */
    int count;                /* n */
};
struct layer {
    float *x, *normed;          /* (N, C): what comes in, and its norm */
    float *q_raw, *k_raw;       /* (N, H, D), (N, KV, D): before their norms, ... */
    float *q, *k, *v;           /* ... after the norms and the rotation; v (N, KV, D) */
    float **p;                  /* for each text of n tokens (H, n, n) */
    float *heads;               /* (N, H, D): attention's result */
    float *middle, *mlp_normed; /* (N, C): x + attention, and its norm */
    struct mlp *mlps;           /* one, or one for each expert */
    float *scores, *weights;    /* the router's (N, E), and those of the chosen ones (N, K) */
    int *chosen;                /* (N, K) */
};
struct pass {
    struct arena arena;
    const struct lm_model *model;
    const struct lm_config *config;
    const struct lm_batch *batch;
    int n; /* tokens */
    int *positions;
    struct layer *layers;
    float *x, *normed, *logits; /* the last layer's (N, C), its norm, (N, V) */
};

static float *floats(struct pass *pass, int64_t count)
{
    return arena_alloc(&pass->arena, (size_t)count * sizeof(float));
}

static float *copy_of(struct pass *pass, const float *from, int64_t count)
{
    return arena_copy(&pass->arena, (void *)from, (size_t)count * sizeof *from);
}

static void add(float *to, const float *what, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += what[i];
}

static void attention(struct pass *pass, struct layer *at, const struct lm_layer *layer)
{
    const struct lm_config *config = pass->config;
    const float *w = pass->model->weights;
    int n = pass->n, c = config->hidden, d = config->head_size, heads = config->heads, kv_heads = config->kv_heads;
    at->normed = floats(pass, (int64_t)n * c);
    at->q_raw = floats(pass, (int64_t)n * heads * d);
    at->k_raw = floats(pass, (int64_t)n * kv_heads * d);
    at->q = floats(pass, (int64_t)n * heads * d);
    at->k = floats(pass, (int64_t)n * kv_heads * d);
    at->v = floats(pass, (int64_t)n * kv_heads * d);
    at->heads = floats(pass, (int64_t)n * heads * d);
    at->middle = floats(pass, (int64_t)n * c);
    at->p = arena_alloc(&pass->arena, (size_t)pass->batch->texts * sizeof *at->p);
    lm_plain_norm(at->normed, at->x, w + layer->attention_norm, config->norm_eps, n, c);
    lm_plain_linear(at->q_raw, at->normed, w + layer->q, n, c, heads * d);
    lm_plain_linear(at->k_raw, at->normed, w + layer->k, n, c, kv_heads * d);
    lm_plain_linear(at->v, at->normed, w + layer->v, n, c, kv_heads * d);
    lm_plain_norm(at->q, at->q_raw, w + layer->q_norm, config->norm_eps, n * heads, d);
    lm_plain_norm(at->k, at->k_raw, w + layer->k_norm, config->norm_eps, n * kv_heads, d);
    lm_plain_rotate(at->q, pass->positions, config->rope_theta, 1, n, heads, d);
    lm_plain_rotate(at->k, pass->positions, config->rope_theta, 1, n, kv_heads, d);
    for (int text = 0; text < pass->batch->texts; text++) {
        int64_t first = pass->batch->starts[text], length = pass->batch->starts[text + 1] - first;
        at->p[text] = floats(pass, heads * length * length);
        lm_plain_attention(at->heads + first * heads * d, at->p[text], at->q + first * heads * d,
                           at->k + first * kv_heads * d, at->v + first * kv_heads * d, (int)length, heads, kv_heads, d);
    }
    lm_plain_linear(at->middle, at->heads, w + layer->out, n, heads * d, c);
    add(at->middle, at->x, (int64_t)n * c);
}

static void attention_back(struct pass *pass, const struct layer *at, const struct lm_layer *layer,
                           const float *dmiddle, float *dx, float *dw)
{
    const struct lm_config *config = pass->config;
    const float *w = pass->model->weights;
    int n = pass->n, c = config->hidden, d = config->head_size, heads = config->heads, kv_heads = config->kv_heads;
    int64_t of_q = (int64_t)n * heads * d, of_k = (int64_t)n * kv_heads * d;
    float *dheads = floats(pass, of_q), *dq = floats(pass, of_q), *dq_raw = floats(pass, of_q);
    float *dk = floats(pass, of_k), *dk_raw = floats(pass, of_k), *dv = floats(pass, of_k);
    float *dnormed = floats(pass, (int64_t)n * c);
    lm_plain_linear_back(dheads, dw + layer->out, dmiddle, at->heads, w + layer->out, n, heads * d, c);
    for (int text = 0; text < pass->batch->texts; text++) {
        int64_t first = pass->batch->starts[text], length = pass->batch->starts[text + 1] - first;
        int64_t q = first * heads * d, k = first * kv_heads * d;
        lm_plain_attention_back(dq + q, dk + k, dv + k, dheads + q, at->p[text], at->q + q, at->k + k, at->v + k,
                                (int)length, heads, kv_heads, d);
    }
    lm_plain_rotate(dq, pass->positions, config->rope_theta, -1, n, heads, d);
    lm_plain_rotate(dk, pass->positions, config->rope_theta, -1, n, kv_heads, d);
    lm_plain_norm_back(dq_raw, dw + layer->q_norm, dq, at->q_raw, w + layer->q_norm, config->norm_eps, n * heads, d);
    lm_plain_norm_back(dk_raw, dw + layer->k_norm, dk, at->k_raw, w + layer->k_norm, config->norm_eps, n * kv_heads, d);
    lm_plain_linear_back(dnormed, dw + layer->q, dq_raw, at->normed, w + layer->q, n, c, heads * d);
    lm_plain_linear_back(dnormed, dw + layer->k, dk_raw, at->normed, w + layer->k, n, c, kv_heads * d);
    lm_plain_linear_back(dnormed, dw + layer->v, dv, at->normed, w + layer->v, n, c, kv_heads * d);
    lm_plain_norm_back(dx, dw + layer->attention_norm, dnormed, at->x, w + layer->attention_norm, config->norm_eps, n,
                       c);
    add(dx, dmiddle, (int64_t)n * c);
}

/* down(silu(gate(x)) * up(x)) of n rows; `from`: elements from the layer's first expert's matrices to this one's. */
static void mlp_forward(struct pass *pass, struct mlp *mlp, const struct lm_layer *layer, const float *x, int64_t from)
{
    const float *w = pass->model->weights + from;
    int n = mlp->count, c = pass->config->hidden, inner = layer->inner;
    mlp->gate = floats(pass, (int64_t)n * inner);
    mlp->up = floats(pass, (int64_t)n * inner);
    mlp->inner = floats(pass, (int64_t)n * inner);
    mlp->out = floats(pass, (int64_t)n * c);
    lm_plain_linear(mlp->gate, x, w + layer->gate, n, c, inner);
    lm_plain_linear(mlp->up, x, w + layer->up, n, c, inner);
    lm_plain_swiglu(mlp->inner, mlp->gate, mlp->up, (int64_t)n * inner);
    lm_plain_linear(mlp->out, mlp->inner, w + layer->down, n, inner, c);
}

static void mlp_back(struct pass *pass, const struct mlp *mlp, const struct lm_layer *layer, const float *x,
                     int64_t from, const float *dout, float *dx, float *dw)
{
    const float *w = pass->model->weights + from;
    int n = mlp->count, c = pass->config->hidden, inner = layer->inner;
    float *dinner = floats(pass, (int64_t)n * inner), *dgate = floats(pass, (int64_t)n * inner),
          *dup = floats(pass, (int64_t)n * inner);
    dw += from;
    lm_plain_linear_back(dinner, dw + layer->down, dout, mlp->inner, w + layer->down, n, inner, c);
    lm_plain_swiglu_back(dgate, dup, dinner, mlp->gate, mlp->up, (int64_t)n * inner);
    lm_plain_linear_back(dx, dw + layer->gate, dgate, x, w + layer->gate, n, c, inner);
    lm_plain_linear_back(dx, dw + layer->up, dup, x, w + layer->up, n, c, inner);
}

/* The rows of x whose tokens an expert got. */
static float *rows_of(struct pass *pass, const struct mlp *mlp, const float *x)
{
    int64_t c = pass->config->hidden;
    float *rows = floats(pass, mlp->count * c);
    for (int i = 0; i < mlp->count; i++)
        memcpy(rows + i * c, x + mlp->tokens[i] * c, (size_t)c * sizeof *x);
    return rows;
}

static void give_to_experts(struct pass *pass, struct layer *at)
{
    const struct lm_config *config = pass->config;
    int k = config->experts_per_token;
    for (int expert = 0; expert < config->experts; expert++) {
        struct mlp *mlp = &at->mlps[expert];
        mlp->tokens = arena_alloc(&pass->arena, (size_t)pass->n * sizeof *mlp->tokens);
        mlp->ranks = arena_alloc(&pass->arena, (size_t)pass->n * sizeof *mlp->ranks);
    }
    for (int i = 0; i < pass->n; i++)
        for (int rank = 0; rank < k; rank++) {
            struct mlp *mlp = &at->mlps[at->chosen[i * k + rank]];
            mlp->tokens[mlp->count] = i;
            mlp->ranks[mlp->count++] = rank;
        }
}

/* x (N, C) += the MLP, or the chosen experts by their weights, of mlp_normed. */
static void experts(struct pass *pass, struct layer *at, const struct lm_layer *layer, float *x)
{
    const struct lm_config *config = pass->config;
    int n = pass->n, c = config->hidden, k = config->experts_per_token;
    if (layer->router < 0) {
        at->mlps = arena_alloc(&pass->arena, sizeof *at->mlps);
        at->mlps->count = n;
        mlp_forward(pass, at->mlps, layer, at->mlp_normed, 0);
        add(x, at->mlps->out, (int64_t)n * c);
        return;
    }
    at->mlps = arena_alloc(&pass->arena, (size_t)config->experts * sizeof *at->mlps);
    at->scores = floats(pass, (int64_t)n * config->experts);
    at->weights = floats(pass, (int64_t)n * k);
    at->chosen = arena_alloc(&pass->arena, (size_t)n * (size_t)k * sizeof *at->chosen);
    lm_plain_linear(at->scores, at->mlp_normed, pass->model->weights + layer->router, n, c, config->experts);
    lm_plain_route(at->chosen, at->weights, at->scores, config->normalise_experts, n, config->experts, k);
    give_to_experts(pass, at);
    for (int expert = 0; expert < config->experts; expert++) {
        struct mlp *mlp = &at->mlps[expert];
        mlp_forward(pass, mlp, layer, rows_of(pass, mlp, at->mlp_normed), expert * layer->expert_size);
        for (int i = 0; i < mlp->count; i++)
            for (int j = 0; j < c; j++)
                x[(int64_t)mlp->tokens[i] * c + j] +=
                    at->weights[mlp->tokens[i] * k + mlp->ranks[i]] * mlp->out[(int64_t)i * c + j];
    }
}

/* dmlp_normed (N, C) += what dx makes of it. */
static void experts_back(struct pass *pass, const struct layer *at, const struct lm_layer *layer, const float *dx,
                         float *dmlp_normed, float *dw)
{
    const struct lm_config *config = pass->config;
    int n = pass->n, c = config->hidden, k = config->experts_per_token;
    if (layer->router < 0) {
        mlp_back(pass, at->mlps, layer, at->mlp_normed, 0, dx, dmlp_normed, dw);
        return;
    }
    float *dweights = floats(pass, (int64_t)n * k), *dscores = floats(pass, (int64_t)n * config->experts);
    for (int expert = 0; expert < config->experts; expert++) {
        const struct mlp *mlp = &at->mlps[expert];
        float *dout = rows_of(pass, mlp, dx), *drows = floats(pass, (int64_t)mlp->count * c);
        for (int i = 0; i < mlp->count; i++) {
            double dot = 0;
            int64_t weight = mlp->tokens[i] * k + mlp->ranks[i];
            for (int j = 0; j < c; j++) {
                dot += (double)dout[(int64_t)i * c + j] * mlp->out[(int64_t)i * c + j];
                dout[(int64_t)i * c + j] *= at->weights[weight];
            }
            dweights[weight] = (float)dot;
        }
        mlp_back(pass, mlp, layer, rows_of(pass, mlp, at->mlp_normed), expert * layer->expert_size, dout, drows, dw);
        for (int i = 0; i < mlp->count; i++)
            add(dmlp_normed + (int64_t)mlp->tokens[i] * c, drows + (int64_t)i * c, c);
    }
    lm_plain_route_back(dscores, dweights, at->scores, at->chosen, config->normalise_experts, n, config->experts, k);
    lm_plain_linear_back(dmlp_normed, dw + layer->router, dscores, at->mlp_normed, pass->model->weights + layer->router,
                         n, c, config->experts);
}

static void forward(struct pass *pass)
{
    const struct lm_config *config = pass->config;
    const struct lm_layout *layout = &pass->model->layout;
    const float *w = pass->model->weights;
    int n = pass->n, c = config->hidden;
    float *x = floats(pass, (int64_t)n * c);
    for (int64_t i = 0; i < n; i++)
        memcpy(x + i * c, w + layout->embedding + (int64_t)pass->batch->tokens[i] * c, (size_t)c * sizeof *x);
    for (int l = 0; l < config->layers; l++) {
        struct layer *at = &pass->layers[l];
        const struct lm_layer *layer = &layout->layers[l];
        at->x = x;
        attention(pass, at, layer);
        at->mlp_normed = floats(pass, (int64_t)n * c);
        lm_plain_norm(at->mlp_normed, at->middle, w + layer->mlp_norm, config->norm_eps, n, c);
        x = copy_of(pass, at->middle, (int64_t)n * c);
        experts(pass, at, layer, x);
    }
    pass->x = x;
    pass->normed = floats(pass, (int64_t)n * c);
    pass->logits = floats(pass, (int64_t)n * config->vocabulary);
    lm_plain_norm(pass->normed, x, w + layout->norm, config->norm_eps, n, c);
    lm_plain_linear(pass->logits, pass->normed, w + layout->head, n, c, config->vocabulary);
}

/* `dx` (N, C): the gradient behind the last layer; it comes back as that before the first. */
static void layers_back(struct pass *pass, float *dx, float *dw)
{
    const struct lm_config *config = pass->config;
    int n = pass->n, c = config->hidden;
    for (int l = config->layers - 1; l >= 0; l--) {
        const struct layer *at = &pass->layers[l];
        const struct lm_layer *layer = &pass->model->layout.layers[l];
        float *dmlp_normed = floats(pass, (int64_t)n * c), *dmiddle = copy_of(pass, dx, (int64_t)n * c);
        experts_back(pass, at, layer, dx, dmlp_normed, dw);
        lm_plain_norm_back(dmiddle, dw + layer->mlp_norm, dmlp_normed, at->middle,
                           pass->model->weights + layer->mlp_norm, config->norm_eps, n, c);
        memset(dx, 0, (size_t)n * (size_t)c * sizeof *dx);
        attention_back(pass, at, layer, dmiddle, dx, dw);
    }
}

/* The logarithm of a label's probability; with `factor`, the scores become its gradient times that. */
static double log_prob(float *scores, int vocabulary, int label, float factor)
{
    double largest = -INFINITY, total = 0, score = scores[label];
    for (int v = 0; v < vocabulary; v++)
        largest = fmax(largest, scores[v]);
    for (int v = 0; v < vocabulary; v++)
        total += exp(scores[v] - largest);
    for (int v = 0; v < vocabulary; v++)
        scores[v] = (float)(factor * ((v == label) - exp(scores[v] - largest) / total));
    return score - largest - log(total);
}

static void backward(struct pass *pass, const float *dlogits, float *dw)
{
    const struct lm_config *config = pass->config;
    const struct lm_layout *layout = &pass->model->layout;
    const float *w = pass->model->weights;
    int n = pass->n, c = config->hidden;
    float *dnormed = floats(pass, (int64_t)n * c), *dx = floats(pass, (int64_t)n * c);
    lm_plain_linear_back(dnormed, dw + layout->head, dlogits, pass->normed, w + layout->head, n, c, config->vocabulary);
    lm_plain_norm_back(dx, dw + layout->norm, dnormed, pass->x, w + layout->norm, config->norm_eps, n, c);
    layers_back(pass, dx, dw);
    for (int64_t i = 0; i < n; i++)
        add(dw + layout->embedding + (int64_t)pass->batch->tokens[i] * c, dx + i * c, c);
}

void lm_plain_pass(const struct lm_model *model, const struct lm_batch *batch, float *logits, float *log_probs,
                   const float *factors, float *gradients)
{
    int n = lm_batch_tokens(batch);
    int64_t vocabulary = model->layout.config.vocabulary;
    struct pass pass = {.model = model, .config = &model->layout.config, .batch = batch, .n = n};
    pass.positions = arena_alloc(&pass.arena, (size_t)n * sizeof *pass.positions);
    pass.layers = arena_alloc(&pass.arena, (size_t)model->layout.config.layers * sizeof *pass.layers);
    for (int text = 0; text < batch->texts; text++)
        for (int i = batch->starts[text]; i < batch->starts[text + 1]; i++)
            pass.positions[i] = i - batch->starts[text];
    forward(&pass);
    if (logits)
        memcpy(logits, pass.logits, (size_t)n * (size_t)vocabulary * sizeof *logits);
    for (int i = 0; i < n && (log_probs || gradients); i++) {
        float *scores = pass.logits + i * vocabulary;
        bool learned = batch->labels && batch->labels[i] != LM_NO_LABEL;
        double probability =
            learned ? log_prob(scores, (int)vocabulary, batch->labels[i], factors ? factors[i] : 0) : 0;
        if (!learned)
            memset(scores, 0, (size_t)vocabulary * sizeof *scores);
        if (log_probs)
            log_probs[i] = (float)probability;
    }
    if (gradients)
        backward(&pass, pass.logits, gradients);
    arena_free(&pass.arena);
}
