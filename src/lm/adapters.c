/* The places of adapters, their files, and what they make of a model. */
#include "lm/adapters.h"

#include "base/files.h"
#include "base/jsons.h"
#include "base/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_CONFIG = 1 << 20, LARGEST_RANK = 4096 };

const char *const lm_target_names[LM_TARGETS] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                 "gate_proj", "up_proj", "down_proj"};

void lm_target_matrix(const struct lm_config *config, const struct lm_layer *layer, enum lm_target target,
                      int64_t *offset, int *in, int *out)
{
    int q = config->heads * config->head_size, kv = config->kv_heads * config->head_size, c = config->hidden,
        inner = layer->inner;
    const struct {
        int64_t offset;
        int in, out;
    } matrices[LM_TARGETS] = {
        [LM_Q] = {layer->q, c, q},          [LM_K] = {layer->k, c, kv},          [LM_V] = {layer->v, c, kv},
        [LM_OUT] = {layer->out, q, c},      [LM_GATE] = {layer->gate, c, inner}, [LM_UP] = {layer->up, c, inner},
        [LM_DOWN] = {layer->down, inner, c}};
    *offset = matrices[target].offset;
    *in = matrices[target].in;
    *out = matrices[target].out;
}

static int64_t lay(struct lm_layout *layout, char *name, int rows, int cols)
{
    int64_t offset = layout->size;
    layout->parameters[layout->count++] = (struct lm_parameter){
        .name = name, .rank = 2, .shape = {rows, cols}, .offset = offset, .count = (int64_t)rows * cols};
    layout->size += (int64_t)rows * cols;
    return offset;
}

struct akgen_error *lm_adapters_make(struct lm_adapters *adapters, const struct lm_layout *model,
                                     const struct lm_adapters_options *options)
{
    const struct lm_config *config = &model->config;
    struct lm_layout *layout = &adapters->layout;
    int targets = 0;
    *adapters = (struct lm_adapters){.options = *options, .layout = {.config = *config}};
    for (int target = 0; target < LM_TARGETS; target++)
        targets += options->targets[target];
    if (config->experts)
        return error_new("LoRA adapters of models with experts are not supported");
    if (options->rank < 1 || options->rank > LARGEST_RANK)
        return error_new("the rank of LoRA adapters is %d, expected 1 to %d", options->rank, LARGEST_RANK);
    if (!targets)
        return error_new(
            "LoRA adapters need a matrix to adapt: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj or down_proj");
    adapters->layers = arena_alloc(&layout->arena, (size_t)config->layers * sizeof *adapters->layers);
    layout->parameters =
        arena_alloc(&layout->arena, (size_t)config->layers * (size_t)targets * 2 * sizeof *layout->parameters);
    for (int l = 0; l < config->layers; l++)
        for (int target = 0; target < LM_TARGETS; target++) {
            int64_t offset;
            int in, out;
            adapters->layers[l][target] = (struct lm_adapter){-1, -1};
            if (!options->targets[target])
                continue;
            const char *at = arena_printf(&layout->arena, "base_model.model.model.layers.%d.%s.%s", l,
                                          target <= LM_OUT ? "self_attn" : "mlp", lm_target_names[target]);
            lm_target_matrix(config, &model->layers[l], (enum lm_target)target, &offset, &in, &out);
            adapters->layers[l][target].a =
                lay(layout, arena_printf(&layout->arena, "%s.lora_A.weight", at), options->rank, in);
            adapters->layers[l][target].b =
                lay(layout, arena_printf(&layout->arena, "%s.lora_B.weight", at), out, options->rank);
        }
    return NULL;
}

void lm_adapters_free(struct lm_adapters *adapters)
{
    lm_layout_free(&adapters->layout);
    *adapters = (struct lm_adapters){0};
}

float *lm_adapters_new(const struct lm_adapters *adapters, struct rng *rng)
{
    float *weights = memory_alloc((size_t)adapters->layout.size * sizeof *weights);
    for (int i = 0; i < adapters->layout.count; i += 2) { /* A; B, which follows, stays zero */
        const struct lm_parameter *a = &adapters->layout.parameters[i];
        double bound = 1 / sqrt((double)a->shape[1]);
        for (int64_t j = 0; j < a->count; j++)
            weights[a->offset + j] = (float)(bound * (2 * rng_uniform(rng) - 1));
    }
    return weights;
}

void lm_adapters_merge(const struct lm_adapters *adapters, const float *weights, struct lm_model *model)
{
    const struct lm_config *config = &model->layout.config;
    int rank = adapters->options.rank;
    double scale = adapters->options.alpha / rank;
    for (int l = 0; l < config->layers; l++)
        for (int target = 0; target < LM_TARGETS; target++) {
            const struct lm_adapter *adapter = &adapters->layers[l][target];
            int64_t offset;
            int in, out;
            lm_target_matrix(config, &model->layout.layers[l], (enum lm_target)target, &offset, &in, &out);
            double *sums = memory_alloc((size_t)in * sizeof *sums);
            for (int64_t o = 0; o < out && adapter->a >= 0; o++) {
                memset(sums, 0, (size_t)in * sizeof *sums);
                for (int r = 0; r < rank; r++) { /* rows of A, which lie as they are added */
                    const float *a = weights + adapter->a + (int64_t)r * in;
                    double b = weights[adapter->b + o * rank + r];
                    for (int c = 0; c < in; c++)
                        sums[c] += b * a[c];
                }
                for (int c = 0; c < in; c++)
                    model->weights[offset + o * in + c] += (float)(scale * sums[c]);
            }
            free(sums);
        }
}

static struct akgen_error *parse_config(const char *path, const char *json, size_t length,
                                        struct lm_adapters_options *options)
{
    json_error_t problem;
    json_t *root = jsons_read(json, length, JSON_REJECT_DUPLICATES, &problem), *name;
    const json_t *rank = json_object_get(root, "r"), *alpha = json_object_get(root, "lora_alpha"),
                 *targets = json_object_get(root, "target_modules");
    const char *type = json_string_value(json_object_get(root, "peft_type"));
    struct akgen_error *error = NULL;
    size_t i;
    *options = (struct lm_adapters_options){0};
    if (!root)
        error = error_new("%s:%d: %s", path, problem.line, problem.text);
    else if (!type || strcmp(type, "LORA") != 0)
        error = error_new("%s: 'peft_type' is '%.40s', expected LORA", path, type ? type : "missing");
    else if (!json_is_integer(rank) || json_integer_value(rank) < 1 || json_integer_value(rank) > LARGEST_RANK)
        error = error_new("%s: 'r' has to be a whole number from 1 to %d", path, LARGEST_RANK);
    else if (!json_is_number(alpha) || !isfinite((float)json_number_value(alpha)))
        error = error_new("%s: 'lora_alpha' has to be a number", path);
    else if (!json_is_array(targets))
        error = error_new("%s: 'target_modules' has to be a list of names", path);
    else if (json_is_true(json_object_get(root, "use_dora")) || json_is_true(json_object_get(root, "use_rslora")))
        error = error_new("%s: 'use_dora' and 'use_rslora' have to be false", path);
    else if (json_object_size(json_object_get(root, "alpha_pattern")) ||
             json_object_size(json_object_get(root, "rank_pattern")) ||
             json_array_size(json_object_get(root, "modules_to_save")))
        error = error_new("%s: 'alpha_pattern', 'rank_pattern' and 'modules_to_save' have to be empty", path);
    if (!error) {
        options->rank = (int)json_integer_value(rank);
        options->alpha = (float)json_number_value(alpha);
        json_array_foreach(targets, i, name)
        {
            int target = 0;
            while (target < LM_TARGETS &&
                   strcmp(json_is_string(name) ? json_string_value(name) : "", lm_target_names[target]) != 0)
                target++;
            if (target == LM_TARGETS && !error)
                error = error_new("%s: 'target_modules' holds '%.40s', expected q_proj, k_proj, v_proj, o_proj, "
                                  "gate_proj, up_proj or down_proj",
                                  path, json_is_string(name) ? json_string_value(name) : "what is no name");
            else
                options->targets[target] = true;
        }
    }
    json_decref(root);
    return error ? error_of_the_file(error) : NULL;
}

static struct akgen_error *read_weights(const struct lm_adapters *adapters, const char *path, float *weights)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(path, &tensors);
    for (int i = 0; !error && i < adapters->layout.count; i++) {
        const struct lm_parameter *parameter = &adapters->layout.parameters[i];
        const struct lm_tensor *tensor = lm_tensors_find(&tensors, parameter->name);
        if (!tensor || tensor->rank != 2 || tensor->shape[0] != parameter->shape[0] ||
            tensor->shape[1] != parameter->shape[1])
            error = error_of_the_file(
                error_new("%s: '%s' is missing or not [%lld, %lld], as adapter_config.json and the model say", path,
                          parameter->name, (long long)parameter->shape[0], (long long)parameter->shape[1]));
        else
            error = lm_weights_read(&tensors, tensor, weights + parameter->offset);
    }
    if (!error && tensors.count != adapters->layout.count)
        error = error_of_the_file(error_new("%s: it holds %d tensors, expected the %d of the adapters", path,
                                            tensors.count, adapters->layout.count));
    lm_tensors_close(&tensors);
    return error;
}

struct akgen_error *lm_adapters_read(const char *folder, const struct lm_layout *model, struct lm_adapters *adapters,
                                     float **weights)
{
    struct arena arena = {0};
    struct lm_adapters_options options;
    const char *path = arena_printf(&arena, "%s/adapter_config.json", folder);
    char *bytes;
    size_t length;
    *adapters = (struct lm_adapters){0};
    *weights = NULL;
    struct akgen_error *error = files_read(&arena, path, LONGEST_CONFIG, &bytes, &length);
    if (!error)
        error = parse_config(path, bytes, length, &options);
    if (!error && (error = lm_adapters_make(adapters, model, &options)))
        error = error_prefix(error, "%s", path);
    if (!error) {
        *weights = memory_alloc((size_t)adapters->layout.size * sizeof **weights);
        error = read_weights(adapters, arena_printf(&arena, "%s/adapter_model.safetensors", folder), *weights);
    }
    arena_free(&arena);
    if (error) {
        free(*weights);
        *weights = NULL;
        lm_adapters_free(adapters);
    }
    return error;
}

struct akgen_error *lm_model_read_merged(struct lm_model *model, const char *folder, const char *adapter)
{
    struct lm_adapters adapters;
    float *weights;
    struct akgen_error *error = lm_model_read(model, folder);
    if (error || !adapter)
        return error;
    error = lm_adapters_read(adapter, &model->layout, &adapters, &weights);
    if (error) {
        lm_model_free(model);
        return error;
    }
    lm_adapters_merge(&adapters, weights, model);
    free(weights);
    lm_adapters_free(&adapters);
    return NULL;
}

struct akgen_error *lm_adapters_write(const struct lm_adapters *adapters, const float *weights, const char *folder,
                                      const char *base)
{
    struct arena arena = {0};
    const struct lm_layout *layout = &adapters->layout;
    struct lm_tensor *tensors = arena_alloc(&arena, (size_t)layout->count * sizeof *tensors);
    json_t *targets = json_array();
    for (int i = 0; i < layout->count; i++)
        tensors[i] = (struct lm_tensor){.name = layout->parameters[i].name,
                                        .rank = 2,
                                        .count = layout->parameters[i].count,
                                        .shape = {layout->parameters[i].shape[0], layout->parameters[i].shape[1]},
                                        .values = weights + layout->parameters[i].offset};
    for (int target = 0; target < LM_TARGETS; target++)
        if (adapters->options.targets[target])
            json_array_append_new(targets, json_string(lm_target_names[target]));
    struct akgen_error *error = lm_tensors_write_file(arena_printf(&arena, "%s/adapter_model.safetensors", folder),
                                                      tensors, layout->count, LM_F32);
    json_t *root = json_pack("{s:s s:s s:s s:i s:f s:f s:s s:o s:b}", "peft_type", "LORA", "task_type", "CAUSAL_LM",
                             "base_model_name_or_path", base, "r", adapters->options.rank, "lora_alpha",
                             (double)adapters->options.alpha, "lora_dropout", 0.0, "bias", "none", "target_modules",
                             targets, "inference_mode", 1);
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!error)
        error = files_write(arena_printf(&arena, "%s/adapter_config.json", folder), text, strlen(text));
    free(text);
    arena_free(&arena);
    return error;
}
