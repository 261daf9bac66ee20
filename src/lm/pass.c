/* A layer there:    x -> norm -> qkv -> rotate -> attention -> out -> + x = middle -> norm -> gate, up -> swiglu -> down -> + middle
 * and back, in the opposite order. Norms and the MLP's inner channels are made again on the way back: that takes less time than
 * to store and load them. */
#include "lm/pass.h"

#include "base/memory.h"
#include "lm/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCORES_BYTES = 64 << 20, FEWEST_ROWS = 32 };

/* What is kept of a layer; arrays of N rows. */
struct kept {
    void *x;        /* C: what comes in */
    float *scales;  /* 1: of the first norm */
    void *qkv;      /* (H + 2 KV) D */
    void *q, *k;    /* H D, KV D: normed and turned */
    void *heads;    /* H D: what attention makes */
    float *sums;    /* H: its sums' logarithms */
    void *middle;   /* C */
    float *scales2; /* 1: of the second norm */
    void *gate_up;  /* 2 I */
};
struct lm_pass {
    struct lm_backend *backend;
    const struct lm_operations *ops;
    const struct lm_layout *layout;
    struct lm_pass_options options;
    void *weights; /* elements */
    bool own_weights;
    void *adapter_weights; /* elements */
    void *lowered;         /* (N, rank): what goes into an adapter's second matrix */
    struct lm_heads heads;
    int64_t widest; /* inner channels of a layer or an expert */
    int rows;       /* of scores at a time */

    /* The batch. */
    const struct lm_batch *batch;
    int n;
    struct lm_cache *cache; /* or NULL: texts begin here */
    int32_t *cache_rows;    /* (N), in the backend's memory: where the batch's keys and values go in it */
    struct lm_text *texts;
    int32_t *tokens, *labels; /* in the backend's memory */
    float *angles;            /* (N, D) */
    float *turns;             /* those of the first positions, on the host, ... */
    int turned;               /* ... and of how many */
    int32_t *labelled;        /* rows that have a label, on the host, ... */
    int labelled_count;
    int32_t *chunk_rows, *chunk_labels; /* ... and some of them in the backend's memory */
    float *chunk_factors, *chunk_log_probs;
    int32_t *expert_rows;  /* the tokens that one expert got, ... */
    float *expert_factors; /* ... and its weights in them */

    struct kept *kept; /* a layer each; where they are made again, or not needed, the first one's for all */
    void **inputs;     /* each layer's x where they are made again */
    int kept_count;
    /* What a layer needs for a moment. */
    void *normed, *delta, *inner;
    void *last; /* (N, C): behind the last layer */
    float *last_scales;
    void *scores; /* (rows, V) */
    void *score_rows, *dscore_rows;
    void *dx, *dnormed, *dqkv, *dq, *dk, *dheads, *dgate_up, *dinner;
    void **arrays; /* all of the above that is in the backend's memory */
    int array_count;
    int64_t allocated;
    bool failed;
    bool renewed; /* gradients of matrices hold anything */
};

struct lm_cache {
    struct lm_pass *pass;
    void **k, **v; /* of each layer, (cells, KV D) */
};

static void *elements(const struct lm_pass *pass, const void *array, int64_t offset)
{
    return (char *)array + offset * pass->ops->element;
}

static void *weight(const struct lm_pass *pass, int64_t offset)
{
    return elements(pass, pass->weights, offset);
}

static void *allocate(struct lm_pass *pass, int64_t bytes)
{
    void *array = pass->failed ? NULL : pass->ops->allocate(pass->backend, bytes);
    pass->allocated += bytes;
    pass->failed |= !array;
    pass->arrays = memory_grow(pass->arrays, (size_t)(pass->array_count + 1) * sizeof *pass->arrays);
    pass->arrays[pass->array_count++] = array;
    return array;
}

static float adapter_scale(const struct lm_pass *pass)
{
    const struct lm_adapters_options *options = &pass->options.adapters->options;
    return options->alpha / (float)options->rank;
}

/* Sizes of a row, in elements. */
static int64_t qkv_width(const struct lm_config *config)
{
    return (int64_t)(config->heads + 2 * config->kv_heads) * config->head_size;
}

static int64_t q_width(const struct lm_config *config)
{
    return (int64_t)config->heads * config->head_size;
}

static int64_t k_width(const struct lm_config *config)
{
    return (int64_t)config->kv_heads * config->head_size;
}

static int score_rows(const struct lm_config *config, const struct lm_pass_options *options, int element)
{
    int64_t rows = SCORES_BYTES / ((int64_t)config->vocabulary * element);
    rows = rows < FEWEST_ROWS ? FEWEST_ROWS : rows;
    return (int)(rows < options->tokens ? rows : options->tokens);
}

static int64_t widest_layer(const struct lm_config *config)
{
    int64_t widest = config->expert_intermediate;
    for (int layer = 0; layer < config->layers; layer++)
        if (!lm_config_sparse(config, layer) && widest < config->intermediate)
            widest = config->intermediate;
    return widest < (config->experts + 1) / 2 ? (config->experts + 1) / 2
                                              : widest; /* the router's scores go there too */
}

static void allocate_kept(struct lm_pass *pass, struct kept *kept)
{
    const struct lm_config *config = &pass->layout->config;
    int64_t n = pass->options.tokens, element = pass->ops->element;
    kept->x = allocate(pass, n * config->hidden * element);
    kept->scales = allocate(pass, n * 4);
    kept->qkv = allocate(pass, n * qkv_width(config) * element);
    kept->q = allocate(pass, n * q_width(config) * element);
    kept->k = allocate(pass, n * k_width(config) * element);
    kept->heads = allocate(pass, n * q_width(config) * element);
    kept->sums = allocate(pass, n * config->heads * 4);
    kept->middle = allocate(pass, n * config->hidden * element);
    kept->scales2 = allocate(pass, n * 4);
    kept->gate_up = allocate(pass, n * 2 * pass->widest * element);
}

/* Where a layer's activations go. */
static struct kept kept_of(const struct lm_pass *pass, int layer)
{
    struct kept kept = pass->kept[pass->kept_count > 1 ? layer : 0];
    if (pass->inputs[layer])
        kept.x = pass->inputs[layer];
    return kept;
}

static void allocate_batch(struct lm_pass *pass)
{
    int64_t n = pass->options.tokens;
    pass->tokens = allocate(pass, n * 4);
    pass->labels = allocate(pass, n * 4);
    pass->angles = allocate(pass, n * pass->heads.size * 4);
    pass->cache_rows = allocate(pass, n * 4);
    pass->chunk_rows = allocate(pass, pass->rows * 4L);
    pass->chunk_labels = allocate(pass, pass->rows * 4L);
    pass->chunk_factors = allocate(pass, pass->rows * 4L);
    pass->chunk_log_probs = allocate(pass, pass->rows * 4L);
    if (pass->layout->config.experts) {
        pass->expert_rows = allocate(pass, n * 4);
        pass->expert_factors = allocate(pass, n * 4);
    }
}

static void allocate_scratch(struct lm_pass *pass)
{
    const struct lm_config *config = &pass->layout->config;
    int64_t element = pass->ops->element, n = pass->options.tokens * element, c = config->hidden;
    pass->normed = allocate(pass, n * c);
    pass->delta = allocate(pass, n * c);
    pass->inner = allocate(pass, n * pass->widest);
    pass->last = allocate(pass, n * c);
    pass->last_scales = allocate(pass, pass->options.tokens * 4L);
    pass->scores = allocate(pass, (int64_t)pass->rows * config->vocabulary * element);
    pass->score_rows = allocate(pass, pass->rows * c * element);
    if (!pass->options.training)
        return;
    pass->dscore_rows = allocate(pass, pass->rows * c * element);
    pass->dx = allocate(pass, n * c);
    pass->dnormed = allocate(pass, n * c);
    pass->dqkv = allocate(pass, n * qkv_width(config));
    pass->dq = allocate(pass, n * q_width(config));
    pass->dk = allocate(pass, n * k_width(config));
    pass->dheads = allocate(pass, n * q_width(config));
    pass->dgate_up = allocate(pass, n * 2 * pass->widest);
    pass->dinner = allocate(pass, n * pass->widest);
}

struct akgen_error *lm_pass_new(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                const struct lm_pass_options *options, struct lm_pass **made)
{
    const struct lm_config *config = &layout->config;
    *made = NULL;
    if (options->training && config->experts)
        return error_new("models with experts are not trained here; akgen lm train --engine torchrun does that");
    if (options->training && options->int8)
        return error_new("weights that are int8 are not trained");
    struct lm_pass *pass = *made = memory_alloc(sizeof *pass);
    *pass = (struct lm_pass){.backend = backend, .ops = backend->operations, .layout = layout, .options = *options};
    pass->heads = (struct lm_heads){
        .heads = config->heads, .kv_heads = config->kv_heads, .size = config->head_size, .eps = config->norm_eps};
    pass->widest = widest_layer(config);
    pass->rows = score_rows(config, options, pass->ops->element);
    pass->kept = memory_alloc((size_t)config->layers * sizeof *pass->kept);
    pass->inputs = memory_alloc((size_t)config->layers * sizeof *pass->inputs);
    pass->kept_count = options->training && !options->checkpoint ? config->layers : 1;
    for (int layer = 0; layer < pass->kept_count; layer++)
        allocate_kept(pass, &pass->kept[layer]);
    for (int layer = 0; layer < config->layers && options->training && options->checkpoint; layer++)
        pass->inputs[layer] = allocate(pass, (int64_t)options->tokens * config->hidden * pass->ops->element);
    allocate_batch(pass);
    allocate_scratch(pass);
    pass->own_weights = !backend->operations->on_host;
    if (pass->own_weights)
        pass->weights = allocate(pass, layout->size * pass->ops->element);
    if (options->adapters)
        pass->lowered = allocate(pass, (int64_t)options->tokens * options->adapters->options.rank * pass->ops->element);
    if (options->adapters && pass->own_weights)
        pass->adapter_weights = allocate(pass, options->adapters->layout.size * pass->ops->element);
    if (pass->failed) {
        struct akgen_error *error =
            error_new("%s has not the %.2f GB that batches of %d tokens need besides what it holds", pass->ops->name,
                      (double)pass->allocated / 1e9, options->tokens);
        lm_pass_free(pass);
        *made = NULL;
        return error;
    }
    lm_pass_weights(pass, weights);
    lm_pass_adapters(pass, options->adapter_weights);
    return NULL;
}

void lm_pass_weights(struct lm_pass *pass, const float *weights)
{
    if (!pass->own_weights)
        pass->weights = (float *)weights; /* which no operation writes */
    else
        pass->ops->narrow(pass->backend, pass->weights, weights, pass->layout->size);
}

void lm_pass_adapters(struct lm_pass *pass, const float *weights)
{
    if (!pass->own_weights)
        pass->adapter_weights = (float *)weights; /* as above */
    else if (pass->options.adapters)
        pass->ops->narrow(pass->backend, pass->adapter_weights, weights, pass->options.adapters->layout.size);
}

void *lm_pass_elements(struct lm_pass *pass)
{
    if (!pass->own_weights)
        return NULL;
    return pass->options.adapters ? pass->adapter_weights : pass->weights;
}

void lm_pass_free(struct lm_pass *pass)
{
    if (!pass)
        return;
    for (int i = 0; i < pass->array_count; i++)
        pass->ops->release(pass->backend, pass->arrays[i]);
    free(pass->arrays);
    free(pass->kept);
    free(pass->inputs);
    free(pass->labelled);
    free(pass->texts);
    free(pass->turns);
    free(pass);
}

/* Makes the angles of positions up to `longest`, (longest, D): cosines, then sines. They stay, for a batch has thousands of them. */
static void make_turns(struct lm_pass *pass, int longest)
{
    int d = pass->heads.size, half = d / 2;
    float theta = pass->layout->config.rope_theta;
    if (longest <= pass->turned)
        return;
    pass->turns = memory_grow(pass->turns, (size_t)longest * (size_t)d * sizeof *pass->turns);
    for (int64_t i = pass->turned; i < longest; i++)
        for (int j = 0; j < half; j++) {
            float angle = (float)i * (1 / powf(theta, (float)(2 * j) / (float)d));
            pass->turns[i * d + j] = cosf(angle);
            pass->turns[i * d + half + j] = sinf(angle);
        }
    pass->turned = longest;
}

/* The angles of the batch's positions, (N, D). `past`: tokens before each text's, or NULL. */
static void upload_angles(struct lm_pass *pass, const int *past)
{
    int64_t d = pass->heads.size;
    float *angles = memory_alloc((size_t)pass->n * (size_t)d * sizeof *angles);
    for (int text = 0; text < pass->batch->texts; text++) {
        int64_t first = pass->batch->starts[text], length = pass->batch->starts[text + 1] - first,
                before = past ? past[text] : 0;
        make_turns(pass, (int)(before + length));
        memcpy(angles + first * d, pass->turns + before * d, (size_t)(length * d) * sizeof *angles);
    }
    pass->ops->upload(pass->backend, pass->angles, angles, pass->n * d * 4);
    free(angles);
}

static void take_batch(struct lm_pass *pass, const struct lm_batch *batch)
{
    pass->batch = batch;
    pass->cache = NULL;
    pass->n = pass->heads.n = lm_batch_tokens(batch);
    pass->labelled_count = 0;
    pass->labelled = memory_grow(pass->labelled, (size_t)(pass->n + 1) * sizeof *pass->labelled);
    pass->texts = memory_grow(pass->texts, (size_t)(batch->texts + 1) * sizeof *pass->texts);
    pass->ops->upload(pass->backend, pass->tokens, batch->tokens, pass->n * 4L);
    for (int i = 0; batch->labels && i < pass->n; i++)
        if (batch->labels[i] != LM_NO_LABEL)
            pass->labelled[pass->labelled_count++] = i;
    for (int t = 0; t < batch->texts; t++) {
        int first = batch->starts[t], length = batch->starts[t + 1] - first;
        pass->texts[t] = (struct lm_text){.query = first, .queries = length, .key = first, .keys = length};
    }
}

/* The texts' keys are in the cache. */
static void take_cache(struct lm_pass *pass, struct lm_cache *cache, const int64_t *cells, const int *past)
{
    int32_t *rows = memory_alloc((size_t)(pass->n + 1) * sizeof *rows);
    pass->cache = cache;
    for (int t = 0; t < pass->batch->texts; t++) {
        struct lm_text *text = &pass->texts[t];
        text->key = cells[t];
        text->keys = past[t] + text->queries;
        for (int i = 0; i < text->queries; i++)
            rows[text->query + i] = (int32_t)(cells[t] + past[t] + i);
    }
    pass->ops->upload(pass->backend, pass->cache_rows, rows, pass->n * 4L);
    free(rows);
}

/* Matrices of a layer that have the same input lie together and are multiplied at once; each of them may have an adapter. */
enum part { QKV, OUT, GATE_UP, DOWN };
static const struct {
    enum lm_target first, last;
} parts[] = {[QKV] = {LM_Q, LM_V}, [OUT] = {LM_OUT, LM_OUT}, [GATE_UP] = {LM_GATE, LM_UP}, [DOWN] = {LM_DOWN, LM_DOWN}};

/* A part as one matrix (out, in). */
static int64_t part_matrix(const struct lm_pass *pass, int l, enum part part, int *in, int *out)
{
    int64_t offset = 0;
    int width;
    *out = 0;
    for (int target = (int)parts[part].last; target >= (int)parts[part].first; target--) {
        lm_target_matrix(&pass->layout->config, &pass->layout->layers[l], (enum lm_target)target, &offset, in, &width);
        *out += width;
    }
    return offset;
}

/* y (n, out) = x (n, in) W^T. */
static void multiply(const struct lm_pass *pass, void *y, const void *x, int64_t offset, int n, int in, int out)
{
    const struct lm_int8 *int8 = pass->options.int8;
    if (int8)
        pass->ops->linear_int8(pass->backend, y, out, x, in, int8->weights + offset, lm_int8_scales(int8, offset), n,
                               in, out);
    else
        pass->ops->linear(pass->backend, y, out, x, in, weight(pass, offset), n, in, out, 1, 0);
}

/* y (n, out) = x (n, in) W^T, and for each adapter in its columns of y:  + scale * (x A^T) B^T. */
static void forward_part(struct lm_pass *pass, int l, enum part part, void *y, const void *x)
{
    int n = pass->n, in, out, width, rank = pass->options.adapters ? pass->options.adapters->options.rank : 0;
    int64_t offset = part_matrix(pass, l, part, &in, &out), columns = 0;
    multiply(pass, y, x, offset, n, in, out);
    for (int target = (int)parts[part].first; pass->options.adapters && target <= (int)parts[part].last; target++) {
        const struct lm_adapter *adapter = &pass->options.adapters->layers[l][target];
        lm_target_matrix(&pass->layout->config, &pass->layout->layers[l], (enum lm_target)target, &offset, &in, &width);
        if (adapter->a >= 0) {
            pass->ops->linear(pass->backend, pass->lowered, rank, x, in,
                              elements(pass, pass->adapter_weights, adapter->a), n, in, rank, 1, 0);
            pass->ops->linear(pass->backend, elements(pass, y, columns), out, pass->lowered, rank,
                              elements(pass, pass->adapter_weights, adapter->b), n, rank, width, adapter_scale(pass),
                              1);
        }
        columns += width;
    }
}

/* dx (n, in) = dy W, and what is trained gets its gradient: W, or the adapters,
 *   dB += scale * dy^T (x A^T);  with d = scale * dy B:  dA += d^T x,  dx += d A. */
static void part_back(struct lm_pass *pass, int l, enum part part, void *dx, const void *dy, const void *x,
                      float *gradients)
{
    int n = pass->n, in, out, width, rank = pass->options.adapters ? pass->options.adapters->options.rank : 0;
    int64_t offset = part_matrix(pass, l, part, &in, &out), columns = 0;
    pass->ops->linear_dx(pass->backend, dx, in, dy, out, weight(pass, offset), n, in, out, 1, 0);
    if (!pass->options.adapters)
        pass->ops->linear_dw(pass->backend, gradients + offset, dy, out, x, in, n, in, out, 1, !pass->renewed);
    for (int target = (int)parts[part].first; pass->options.adapters && target <= (int)parts[part].last; target++) {
        const struct lm_adapter *adapter = &pass->options.adapters->layers[l][target];
        lm_target_matrix(&pass->layout->config, &pass->layout->layers[l], (enum lm_target)target, &offset, &in, &width);
        if (adapter->a >= 0) {
            const void *a = elements(pass, pass->adapter_weights, adapter->a),
                       *b = elements(pass, pass->adapter_weights, adapter->b);
            const void *dy_columns = elements(pass, dy, columns);
            pass->ops->linear(pass->backend, pass->lowered, rank, x, in, a, n, in, rank, 1, 0);
            pass->ops->linear_dw(pass->backend, gradients + adapter->b, dy_columns, out, pass->lowered, rank, n, rank,
                                 width, adapter_scale(pass), 1);
            pass->ops->linear_dx(pass->backend, pass->lowered, rank, dy_columns, out, b, n, rank, width,
                                 adapter_scale(pass), 0);
            pass->ops->linear_dw(pass->backend, gradients + adapter->a, pass->lowered, rank, x, in, n, in, rank, 1, 1);
            pass->ops->linear_dx(pass->backend, dx, in, pass->lowered, rank, a, n, in, rank, 1, 1);
        }
        columns += width;
    }
}

/* Where the gradient of a parameter of the model goes; NULL: only adapters are trained. */
static float *gradient_at(const struct lm_pass *pass, float *gradients, int64_t offset)
{
    return pass->options.adapters ? NULL : gradients + offset;
}

/* A layer's experts, chosen on the host: delta (N, C) = the weighted sum of theirs. */
static void experts(struct lm_pass *pass, const struct lm_layer *layer, void *gate_up)
{
    const struct lm_config *config = &pass->layout->config;
    int n = pass->n, c = config->hidden, k = config->experts_per_token, e = config->experts, inner = layer->inner;
    float *scores = memory_alloc((size_t)n * (size_t)e * sizeof *scores),
          *weights = memory_alloc((size_t)n * (size_t)k * sizeof *weights);
    int *chosen = memory_alloc((size_t)n * (size_t)k * sizeof *chosen);
    int32_t *rows = memory_alloc((size_t)n * sizeof *rows);
    float *factors = memory_alloc((size_t)n * sizeof *factors);
    pass->ops->linear(pass->backend, gate_up, e, pass->normed, c, weight(pass, layer->router), n, c, e, 1, 0);
    pass->ops->widen(pass->backend, scores, gate_up, (int64_t)n * e);
    lm_plain_route(chosen, weights, scores, config->normalise_experts, n, e, k);
    pass->ops->zero(pass->backend, pass->delta, (int64_t)n * c * pass->ops->element);
    void *given = pass->last; /* which nobody needs before the last layer's end */
    for (int expert = 0; expert < e; expert++) {
        int count = 0;
        for (int i = 0; i < n * k; i++)
            if (chosen[i] == expert) {
                rows[count] = i / k;
                factors[count++] = weights[i];
            }
        if (!count)
            continue;
        int64_t from = expert * layer->expert_size;
        pass->ops->upload(pass->backend, pass->expert_rows, rows, count * 4L);
        pass->ops->upload(pass->backend, pass->expert_factors, factors, count * 4L);
        pass->ops->take_rows(pass->backend, given, pass->normed, pass->expert_rows, count, c);
        multiply(pass, gate_up, given, layer->gate + from, count, c, 2 * inner);
        pass->ops->swiglu(pass->backend, pass->inner, gate_up, count, inner);
        multiply(pass, given, pass->inner, layer->down + from, count, inner, c);
        pass->ops->add_rows(pass->backend, pass->delta, given, pass->expert_rows, pass->expert_factors, count, c);
    }
    free(scores);
    free(weights);
    free(chosen);
    free(rows);
    free(factors);
}

static void attend(struct lm_pass *pass, int l, const struct kept *kept)
{
    const struct lm_config *config = &pass->layout->config;
    const struct lm_attention shape = {.heads = pass->heads, .texts = pass->texts, .count = pass->batch->texts};
    int qkv = (int)qkv_width(config), kv = (int)k_width(config);
    const void *k = kept->k, *v = elements(pass, kept->qkv, q_width(config) + kv);
    int v_stride = qkv;
    if (pass->cache) {
        pass->ops->put_rows(pass->backend, pass->cache->k[l], k, kv, pass->cache_rows, pass->n, kv);
        pass->ops->put_rows(pass->backend, pass->cache->v[l], v, qkv, pass->cache_rows, pass->n, kv);
        k = pass->cache->k[l];
        v = pass->cache->v[l];
        v_stride = kv;
    }
    pass->ops->attention(pass->backend, kept->heads, kept->sums, kept->q, k, v, v_stride, &shape);
}

/* A layer whose input, its norm and the norm's scales are there; delta is what it adds to middle. */
static void layer_forward(struct lm_pass *pass, int l, const struct kept *kept)
{
    const struct lm_layer *layer = &pass->layout->layers[l];
    const struct lm_config *config = &pass->layout->config;
    int n = pass->n, c = config->hidden;
    forward_part(pass, l, QKV, kept->qkv, pass->normed);
    pass->ops->rotate(pass->backend, kept->q, kept->k, kept->qkv, weight(pass, layer->q_norm),
                      weight(pass, layer->k_norm), pass->angles, &pass->heads);
    attend(pass, l, kept);
    forward_part(pass, l, OUT, pass->delta, kept->heads);
    pass->ops->norm(pass->backend, pass->normed, kept->scales2, kept->middle, kept->x, pass->delta,
                    weight(pass, layer->mlp_norm), config->norm_eps, n, c);
    if (layer->router >= 0) {
        experts(pass, layer, kept->gate_up);
        return;
    }
    forward_part(pass, l, GATE_UP, kept->gate_up, pass->normed);
    pass->ops->swiglu(pass->backend, pass->inner, kept->gate_up, n, layer->inner);
    forward_part(pass, l, DOWN, pass->delta, pass->inner);
}

static void forward(struct lm_pass *pass)
{
    const struct lm_config *config = &pass->layout->config;
    int n = pass->n, c = config->hidden;
    void *middle = NULL; /* of the layer before */
    for (int l = 0; l < config->layers; l++) {
        const struct lm_layer *layer = &pass->layout->layers[l];
        const struct kept kept = kept_of(pass, l);
        if (l == 0) {
            pass->ops->embed(pass->backend, kept.x, weight(pass, pass->layout->embedding), pass->tokens, n, c);
            pass->ops->norm(pass->backend, pass->normed, kept.scales, NULL, kept.x, NULL,
                            weight(pass, layer->attention_norm), config->norm_eps, n, c);
        } else {
            pass->ops->norm(pass->backend, pass->normed, kept.scales, kept.x, middle, pass->delta,
                            weight(pass, layer->attention_norm), config->norm_eps, n, c);
        }
        layer_forward(pass, l, &kept);
        middle = kept.middle;
    }
    pass->ops->norm(pass->backend, pass->normed, pass->last_scales, pass->last, middle, pass->delta,
                    weight(pass, pass->layout->norm), config->norm_eps, n, c);
}

void lm_pass_forward(struct lm_pass *pass, const struct lm_batch *batch)
{
    take_batch(pass, batch);
    upload_angles(pass, NULL);
    forward(pass);
}

void lm_pass_continue(struct lm_pass *pass, const struct lm_batch *batch, struct lm_cache *cache, const int64_t *cells,
                      const int *past)
{
    take_batch(pass, batch);
    take_cache(pass, cache, cells, past);
    upload_angles(pass, past);
    forward(pass);
}

int64_t lm_cache_bytes(const struct lm_pass *pass)
{
    const struct lm_config *config = &pass->layout->config;
    return 2 * k_width(config) * config->layers * pass->ops->element;
}

struct akgen_error *lm_cache_new(struct lm_pass *pass, int64_t cells, struct lm_cache **made)
{
    int layers = pass->layout->config.layers;
    int64_t bytes = cells * k_width(&pass->layout->config) * pass->ops->element;
    struct lm_cache *cache = *made = memory_alloc(sizeof *cache);
    bool failed = false;
    cache->pass = pass;
    cache->k = memory_alloc((size_t)layers * sizeof *cache->k);
    cache->v = memory_alloc((size_t)layers * sizeof *cache->v);
    for (int l = 0; l < layers && !failed; l++) {
        cache->k[l] = pass->ops->allocate(pass->backend, bytes);
        cache->v[l] = pass->ops->allocate(pass->backend, bytes);
        failed = !cache->k[l] || !cache->v[l];
    }
    if (!failed)
        return NULL;
    lm_cache_free(cache);
    *made = NULL;
    return error_new("%s has not the %.2f GB that the keys and values of %lld tokens need", pass->ops->name,
                     (double)lm_cache_bytes(pass) * (double)cells / 1e9, (long long)cells);
}

void lm_cache_free(struct lm_cache *cache)
{
    if (!cache)
        return;
    for (int l = 0; l < cache->pass->layout->config.layers; l++) {
        cache->pass->ops->release(cache->pass->backend, cache->k[l]);
        cache->pass->ops->release(cache->pass->backend, cache->v[l]);
    }
    free(cache->k);
    free(cache->v);
    free(cache);
}

void lm_cache_copy(struct lm_cache *cache, int64_t to, int64_t from, int64_t count)
{
    const struct lm_pass *pass = cache->pass;
    int64_t row = k_width(&pass->layout->config);
    for (int l = 0; l < pass->layout->config.layers; l++) {
        void *const arrays[] = {cache->k[l], cache->v[l]};
        for (int i = 0; i < 2; i++)
            pass->ops->upload(pass->backend, elements(pass, arrays[i], to * row), elements(pass, arrays[i], from * row),
                              count * row * pass->ops->element);
    }
}

/* The scores of some rows, of which pass->score_rows then holds the last norm. */
static void chunk_scores(struct lm_pass *pass, const int32_t *rows, int count)
{
    const struct lm_config *config = &pass->layout->config;
    pass->ops->upload(pass->backend, pass->chunk_rows, rows, count * 4L);
    pass->ops->take_rows(pass->backend, pass->score_rows, pass->normed, pass->chunk_rows, count, config->hidden);
    multiply(pass, pass->scores, pass->score_rows, pass->layout->head, count, config->hidden, config->vocabulary);
}

/* The log-probabilities of some labelled rows; with factors, the scores become their gradient. */
static void chunk_log_probs(struct lm_pass *pass, const int32_t *rows, int count, const float *factors,
                            float *log_probs)
{
    int32_t *labels = memory_alloc((size_t)count * sizeof *labels);
    float *values = memory_alloc((size_t)count * sizeof *values);
    chunk_scores(pass, rows, count);
    for (int i = 0; i < count; i++) {
        labels[i] = pass->batch->labels[rows[i]];
        values[i] = factors ? factors[rows[i]] : 0;
    }
    pass->ops->upload(pass->backend, pass->chunk_labels, labels, count * 4L);
    if (factors)
        pass->ops->upload(pass->backend, pass->chunk_factors, values, count * 4L);
    pass->ops->log_probs(pass->backend, pass->chunk_log_probs, pass->scores, pass->chunk_labels,
                         factors ? pass->chunk_factors : NULL, count, pass->layout->config.vocabulary);
    if (log_probs) {
        pass->ops->download(pass->backend, values, pass->chunk_log_probs, count * 4L);
        for (int i = 0; i < count; i++)
            log_probs[rows[i]] = values[i];
    }
    free(labels);
    free(values);
}

void lm_pass_scores(struct lm_pass *pass, const int32_t *rows, int count, float *scores)
{
    int64_t vocabulary = pass->layout->config.vocabulary;
    for (int at = 0; at < count; at += pass->rows) {
        int taken = count - at < pass->rows ? count - at : pass->rows;
        chunk_scores(pass, rows + at, taken);
        pass->ops->widen(pass->backend, scores + at * vocabulary, pass->scores, taken * vocabulary);
    }
}

void lm_pass_log_probs(struct lm_pass *pass, float *log_probs)
{
    memset(log_probs, 0, (size_t)pass->n * sizeof *log_probs);
    for (int at = 0; at < pass->labelled_count; at += pass->rows)
        chunk_log_probs(pass, pass->labelled + at,
                        pass->labelled_count - at < pass->rows ? pass->labelled_count - at : pass->rows, NULL,
                        log_probs);
}

/* dx (N, C) = the gradient behind the last layer. */
static void head_back(struct lm_pass *pass, const float *factors, float *log_probs, float *gradients)
{
    const struct lm_config *config = &pass->layout->config;
    int n = pass->n, c = config->hidden, vocabulary = config->vocabulary;
    int64_t bytes = (int64_t)n * c * pass->ops->element;
    pass->ops->zero(pass->backend, pass->dnormed, bytes);
    if (pass->renewed && !pass->labelled_count)
        pass->ops->zero(pass->backend, gradients + pass->layout->head,
                        (int64_t)vocabulary * c * (int64_t)sizeof *gradients);
    for (int at = 0; at < pass->labelled_count; at += pass->rows) {
        int count = pass->labelled_count - at < pass->rows ? pass->labelled_count - at : pass->rows;
        chunk_log_probs(pass, pass->labelled + at, count, factors, log_probs);
        pass->ops->linear_dx(pass->backend, pass->dscore_rows, c, pass->scores, vocabulary,
                             weight(pass, pass->layout->head), count, c, vocabulary, 1, 0);
        if (!pass->options.adapters)
            pass->ops->linear_dw(pass->backend, gradients + pass->layout->head, pass->scores, vocabulary,
                                 pass->score_rows, c, count, c, vocabulary, 1, at || !pass->renewed);
        pass->ops->add_rows(pass->backend, pass->dnormed, pass->dscore_rows, pass->chunk_rows, NULL, count, c);
    }
    pass->ops->zero(pass->backend, pass->dx, bytes);
    pass->ops->norm_back(pass->backend, pass->dx, gradient_at(pass, gradients, pass->layout->norm), pass->dnormed,
                         pass->last_scales, pass->last, weight(pass, pass->layout->norm), n, c);
}

static void mlp_back(struct lm_pass *pass, int l, const struct kept *kept, float *gradients)
{
    const struct lm_layer *layer = &pass->layout->layers[l];
    int n = pass->n, c = pass->layout->config.hidden, inner = layer->inner;
    const void *norm = weight(pass, layer->mlp_norm);
    pass->ops->swiglu(pass->backend, pass->inner, kept->gate_up, n, inner);
    part_back(pass, l, DOWN, pass->dinner, pass->dx, pass->inner, gradients);
    pass->ops->swiglu_back(pass->backend, pass->dgate_up, pass->dinner, kept->gate_up, n, inner);
    pass->ops->norm_again(pass->backend, pass->normed, kept->scales2, kept->middle, norm, n, c);
    part_back(pass, l, GATE_UP, pass->dnormed, pass->dgate_up, pass->normed, gradients);
    pass->ops->norm_back(pass->backend, pass->dx, gradient_at(pass, gradients, layer->mlp_norm), pass->dnormed,
                         kept->scales2, kept->middle, norm, n, c);
}

static void attention_back(struct lm_pass *pass, int l, const struct kept *kept, float *gradients)
{
    const struct lm_layer *layer = &pass->layout->layers[l];
    const struct lm_config *config = &pass->layout->config;
    int n = pass->n, c = config->hidden, qkv = (int)qkv_width(config);
    int64_t v = q_width(config) + k_width(config);
    const struct lm_attention shape = {.heads = pass->heads, .texts = pass->texts, .count = pass->batch->texts};
    const void *norm = weight(pass, layer->attention_norm);
    part_back(pass, l, OUT, pass->dheads, pass->dx, kept->heads, gradients);
    pass->ops->attention_back(pass->backend, pass->dq, pass->dk, elements(pass, pass->dqkv, v), qkv, pass->dheads,
                              kept->heads, kept->sums, kept->q, kept->k, elements(pass, kept->qkv, v), qkv, &shape);
    pass->ops->rotate_back(pass->backend, pass->dqkv, gradient_at(pass, gradients, layer->q_norm),
                           gradient_at(pass, gradients, layer->k_norm), pass->dq, pass->dk, kept->qkv,
                           weight(pass, layer->q_norm), weight(pass, layer->k_norm), pass->angles, &pass->heads);
    pass->ops->norm_again(pass->backend, pass->normed, kept->scales, kept->x, norm, n, c);
    part_back(pass, l, QKV, pass->dnormed, pass->dqkv, pass->normed, gradients);
    pass->ops->norm_back(pass->backend, pass->dx, gradient_at(pass, gradients, layer->attention_norm), pass->dnormed,
                         kept->scales, kept->x, norm, n, c);
}

/* With checkpoints: a layer's activations from what came into it. */
static void make_again(struct lm_pass *pass, int l, const struct kept *kept)
{
    const struct lm_layer *layer = &pass->layout->layers[l];
    const struct lm_config *config = &pass->layout->config;
    pass->ops->norm(pass->backend, pass->normed, kept->scales, NULL, kept->x, NULL, weight(pass, layer->attention_norm),
                    config->norm_eps, pass->n, config->hidden);
    layer_forward(pass, l, kept);
}

void lm_pass_backward(struct lm_pass *pass, const float *factors, float *log_probs, float *gradients)
{
    const struct lm_config *config = &pass->layout->config;
    if (log_probs)
        memset(log_probs, 0, (size_t)pass->n * sizeof *log_probs);
    head_back(pass, factors, log_probs, gradients);
    for (int l = config->layers - 1; l >= 0; l--) {
        const struct kept kept = kept_of(pass, l);
        if (pass->options.checkpoint)
            make_again(pass, l, &kept);
        mlp_back(pass, l, &kept, gradients);
        attention_back(pass, l, &kept, gradients);
    }
    pass->renewed = false;
    if (pass->options.adapters)
        return;
    pass->ops->embed_back(pass->backend, gradients + pass->layout->embedding, pass->dx, pass->tokens, pass->n,
                          config->hidden);
}

void lm_pass_renew(struct lm_pass *pass, float *gradients)
{
    const struct lm_layout *layout = pass->options.adapters ? &pass->options.adapters->layout : pass->layout;
    pass->renewed = !pass->options.adapters;
    if (!pass->renewed) {
        pass->ops->zero(pass->backend, gradients, layout->size * (int64_t)sizeof *gradients);
        return;
    }
    for (int i = 0; i < layout->count; i++) {
        const struct lm_parameter *parameter = &layout->parameters[i];
        if (parameter->rank == 1 || (parameter->offset == layout->embedding && layout->embedding != layout->head))
            pass->ops->zero(pass->backend, gradients + parameter->offset,
                            parameter->count * (int64_t)sizeof *gradients);
    }
}
