/* Parameters: their places, their names in files, reading and writing. */
#include "lm/model.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A layout while it is made. */
struct laying {
    struct lm_layout *layout;
    int capacity;
};

/* The next parameter: (rows, cols), or (rows) where cols is 0. Returns its offset. */
static int64_t lay(struct laying *laying, char *name, int64_t rows, int64_t cols)
{
    struct lm_layout *layout = laying->layout;
    if (layout->count == laying->capacity) {
        struct lm_parameter *old = layout->parameters;
        laying->capacity = laying->capacity ? 2 * laying->capacity : 64;
        layout->parameters = arena_alloc(&layout->arena, (size_t)laying->capacity * sizeof *old);
        if (old)
            memcpy(layout->parameters, old, (size_t)layout->count * sizeof *old);
    }
    int64_t offset = layout->size, count = cols ? rows * cols : rows;
    layout->parameters[layout->count++] = (struct lm_parameter){
        .name = name, .rank = cols ? 2 : 1, .shape = {rows, cols}, .offset = offset, .count = count};
    layout->size += count;
    return offset;
}

/* gate, up and down of an MLP whose names begin with `prefix`. */
static void lay_mlp(struct laying *laying, struct lm_layer *layer, const char *prefix, int inner, int hidden)
{
    struct arena *arena = &laying->layout->arena;
    layer->inner = inner;
    layer->gate = lay(laying, arena_printf(arena, "%sgate_proj.weight", prefix), inner, hidden);
    layer->up = lay(laying, arena_printf(arena, "%sup_proj.weight", prefix), inner, hidden);
    layer->down = lay(laying, arena_printf(arena, "%sdown_proj.weight", prefix), hidden, inner);
}

static void lay_layer(struct laying *laying, int number)
{
    const struct lm_config *config = &laying->layout->config;
    struct lm_layer *layer = &laying->layout->layers[number];
    struct arena *arena = &laying->layout->arena;
    const char *at = arena_printf(arena, "model.layers.%d.", number);
    int64_t hidden = config->hidden, size = config->head_size, heads = config->heads, kv_heads = config->kv_heads;
    layer->router = -1;
    layer->attention_norm = lay(laying, arena_printf(arena, "%sinput_layernorm.weight", at), hidden, 0);
    layer->q = lay(laying, arena_printf(arena, "%sself_attn.q_proj.weight", at), heads * size, hidden);
    layer->k = lay(laying, arena_printf(arena, "%sself_attn.k_proj.weight", at), kv_heads * size, hidden);
    layer->v = lay(laying, arena_printf(arena, "%sself_attn.v_proj.weight", at), kv_heads * size, hidden);
    layer->q_norm = lay(laying, arena_printf(arena, "%sself_attn.q_norm.weight", at), size, 0);
    layer->k_norm = lay(laying, arena_printf(arena, "%sself_attn.k_norm.weight", at), size, 0);
    layer->out = lay(laying, arena_printf(arena, "%sself_attn.o_proj.weight", at), hidden, heads * size);
    layer->mlp_norm = lay(laying, arena_printf(arena, "%spost_attention_layernorm.weight", at), hidden, 0);
    if (!lm_config_sparse(config, number)) {
        lay_mlp(laying, layer, arena_printf(arena, "%smlp.", at), config->intermediate, config->hidden);
        return;
    }
    struct lm_layer other;
    layer->router = lay(laying, arena_printf(arena, "%smlp.gate.weight", at), config->experts, hidden);
    layer->expert_size = 3 * hidden * config->expert_intermediate;
    for (int expert = 0; expert < config->experts; expert++)
        lay_mlp(laying, expert ? &other : layer, arena_printf(arena, "%smlp.experts.%d.", at, expert),
                config->expert_intermediate, config->hidden);
}

void lm_layout_make(struct lm_layout *layout, const struct lm_config *config)
{
    *layout = (struct lm_layout){.config = *config};
    struct laying laying = {.layout = layout};
    layout->layers = arena_alloc(&layout->arena, (size_t)config->layers * sizeof *layout->layers);
    layout->embedding = lay(&laying, "model.embed_tokens.weight", config->vocabulary, config->hidden);
    for (int layer = 0; layer < config->layers; layer++)
        lay_layer(&laying, layer);
    layout->norm = lay(&laying, "model.norm.weight", config->hidden, 0);
    layout->head =
        config->tied ? layout->embedding : lay(&laying, "lm_head.weight", config->vocabulary, config->hidden);
}

void lm_layout_free(struct lm_layout *layout)
{
    arena_free(&layout->arena);
    *layout = (struct lm_layout){0};
}

int64_t lm_layout_active(const struct lm_layout *layout)
{
    int64_t active = layout->size;
    for (int layer = 0; layer < layout->config.layers; layer++)
        if (layout->layers[layer].router >= 0)
            active -= (layout->config.experts - layout->config.experts_per_token) * layout->layers[layer].expert_size;
    return active;
}

static float *weights_alloc(const struct lm_layout *layout)
{
    size_t bytes = (size_t)layout->size * sizeof(float);
    float *weights = memory_vectors(bytes);
    if (!weights)
        memory_exhausted(bytes);
    return weights;
}

void lm_model_new(struct lm_model *model, const struct lm_config *config, struct rng *rng)
{
    lm_layout_make(&model->layout, config);
    model->weights = weights_alloc(&model->layout);
    for (int i = 0; i < model->layout.count; i++) {
        const struct lm_parameter *parameter = &model->layout.parameters[i];
        float *weights = model->weights + parameter->offset;
        for (int64_t j = 0; j < parameter->count; j++)
            weights[j] = parameter->rank == 1 ? 1 : (float)(config->initial_spread * rng_normal(rng));
    }
}

static int by_parameter_name(const void *left, const void *right)
{
    const struct lm_parameter *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* A tied model's files may hold the output matrix too: it has to be the embedding. */
static struct akgen_error *check_tied(const struct lm_tensors *tensors, const struct lm_tensor *head,
                                      const struct lm_model *model)
{
    enum { PIECE = 4096 };
    float piece[PIECE];
    const char *path = tensors->paths[head->file];
    const float *embedding = model->weights + model->layout.embedding;
    int64_t count = model->layout.config.vocabulary * (int64_t)model->layout.config.hidden;
    if (head->count != count)
        return error_of_the_file(
            error_new("%s: tensor 'lm_head.weight' is not the embedding, to which config.json ties it", path));
    for (int64_t at = 0; at < count; at += PIECE) {
        int64_t n = count - at < PIECE ? count - at : PIECE;
        struct akgen_error *error = lm_tensors_read(tensors, head, at, n, piece);
        if (error)
            return error;
        if (memcmp(piece, embedding + at, (size_t)n * sizeof *piece) != 0)
            return error_of_the_file(
                error_new("%s: tensor 'lm_head.weight' is not the embedding, to which config.json ties it", path));
    }
    return NULL;
}

/* What the files hold has to be the model's parameters, all of them and nothing else. */
static struct akgen_error *check_names(const struct lm_tensors *tensors, const struct lm_layout *layout)
{
    const struct lm_parameter **sorted = memory_alloc((size_t)layout->count * sizeof *sorted);
    struct akgen_error *error = NULL;
    for (int i = 0; i < layout->count; i++)
        sorted[i] = &layout->parameters[i];
    qsort(sorted, (size_t)layout->count, sizeof *sorted, by_parameter_name);
    for (int i = 0; i < tensors->count && !error; i++) {
        struct lm_parameter key = {.name = (char *)tensors->items[i].name};
        const struct lm_parameter *wanted = &key;
        if (bsearch(&wanted, sorted, (size_t)layout->count, sizeof *sorted, by_parameter_name) ||
            (layout->config.tied && strcmp(key.name, "lm_head.weight") == 0))
            continue;
        error =
            error_of_the_file(error_new("%s: tensor '%.200s' is no parameter of the model that config.json describes",
                                        tensors->paths[tensors->items[i].file], key.name));
    }
    free(sorted);
    return error;
}

struct akgen_error *lm_weights_read(const struct lm_tensors *tensors, const struct lm_tensor *tensor, float *weights)
{
    struct akgen_error *error = lm_tensors_read(tensors, tensor, 0, tensor->count, weights);
    for (int64_t i = 0; !error && i < tensor->count; i++)
        if (!isfinite(weights[i]))
            error = error_of_the_file(error_new("%s: element %lld of tensor '%s' is %s, no finite number",
                                                tensors->paths[tensor->file], (long long)i, tensor->name,
                                                isnan(weights[i]) ? "NaN" : "infinite"));
    return error;
}

static struct akgen_error *read_parameter(const struct lm_tensors *tensors, const struct lm_parameter *parameter,
                                          float *weights, const char *folder)
{
    const struct lm_tensor *tensor = lm_tensors_find(tensors, parameter->name);
    if (!tensor)
        return error_of_the_file(error_new("%s: no file of the model holds '%s'", folder, parameter->name));
    bool same = tensor->rank == parameter->rank;
    for (int i = 0; i < parameter->rank && same; i++)
        same = tensor->shape[i] == parameter->shape[i];
    if (!same)
        return error_of_the_file(
            error_new("%s: tensor '%s' has another shape than config.json says: expected [%lld%s%.0lld]",
                      tensors->paths[tensor->file], parameter->name, (long long)parameter->shape[0],
                      parameter->rank == 2 ? ", " : "", (long long)parameter->shape[1]));
    return lm_weights_read(tensors, tensor, weights + parameter->offset);
}

struct akgen_error *lm_model_read(struct lm_model *model, const char *folder)
{
    struct arena arena = {0};
    struct lm_config config;
    struct lm_tensors tensors = {0};
    *model = (struct lm_model){0};
    struct akgen_error *error = lm_config_read(arena_printf(&arena, "%s/config.json", folder), &config);
    if (!error)
        error = lm_tensors_open(folder, &tensors);
    if (!error) {
        lm_layout_make(&model->layout, &config);
        error = check_names(&tensors, &model->layout);
    }
    for (int i = 0; !error && i < model->layout.count; i++) { /* before memory for all is asked for */
        const struct lm_tensor *tensor = lm_tensors_find(&tensors, model->layout.parameters[i].name);
        if (!tensor || tensor->count != model->layout.parameters[i].count)
            error = read_parameter(&tensors, &model->layout.parameters[i], NULL, folder);
    }
    if (!error)
        model->weights = weights_alloc(&model->layout);
    for (int i = 0; !error && i < model->layout.count; i++)
        error = read_parameter(&tensors, &model->layout.parameters[i], model->weights, folder);
    const struct lm_tensor *head = config.tied && !error ? lm_tensors_find(&tensors, "lm_head.weight") : NULL;
    if (head)
        error = check_tied(&tensors, head, model);
    lm_tensors_close(&tensors);
    arena_free(&arena);
    if (error)
        lm_model_free(model);
    return error;
}

struct akgen_error *lm_model_type(const char *folder, enum lm_dtype *dtype)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(folder, &tensors);
    if (error)
        return error;
    const struct lm_tensor *embedding = lm_tensors_find(&tensors, "model.embed_tokens.weight");
    *dtype = embedding ? embedding->dtype : LM_F32;
    lm_tensors_close(&tensors);
    return NULL;
}

struct akgen_error *lm_model_write(const struct lm_model *model, const char *folder, enum lm_dtype dtype,
                                   int64_t largest)
{
    static const char *const torch_names[] = {[LM_F32] = "float32", [LM_F16] = "float16", [LM_BF16] = "bfloat16"};
    const struct lm_layout *layout = &model->layout;
    struct lm_tensor *tensors = memory_alloc((size_t)layout->count * sizeof *tensors);
    struct arena arena = {0};
    for (int i = 0; i < layout->count; i++) {
        const struct lm_parameter *parameter = &layout->parameters[i];
        tensors[i] = (struct lm_tensor){.name = parameter->name,
                                        .rank = parameter->rank,
                                        .shape = {parameter->shape[0], parameter->shape[1]},
                                        .count = parameter->count,
                                        .values = model->weights + parameter->offset};
    }
    struct akgen_error *error = lm_tensors_write(folder, tensors, layout->count, dtype, largest);
    if (!error)
        error = lm_config_write(arena_printf(&arena, "%s/config.json", folder), &layout->config, torch_names[dtype]);
    free(tensors);
    arena_free(&arena);
    return error;
}

void lm_model_free(struct lm_model *model)
{
    free(model->weights);
    lm_layout_free(&model->layout);
    *model = (struct lm_model){0};
}
