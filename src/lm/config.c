/* Every field of config.json that changes what a Qwen3 model computes is read or has to have the value that this code
 * computes; the others (dropout, caches, versions) do not matter to the result. */
#include "lm/config.h"

#include "base/arena.h"
#include "base/files.h"
#include "base/jsons.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_FILE = 1 << 20, LARGEST_SIZE = 1 << 24 };
#define MOST_PARAMETERS 1099511627776.0 /* 2^40 */

/* A config.json while it is read; the first error stays. */
struct reading {
    const char *path;
    const json_t *fields;
    struct akgen_error *error;
};

static const json_t *field_of(const struct reading *reading, const char *name)
{
    const json_t *value = json_object_get(reading->fields, name);
    return json_is_null(value) ? NULL : value;
}

static void refuse_value(struct reading *reading, const char *name, const json_t *value, const char *expected)
{
    if (reading->error)
        return;
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    reading->error = text ? error_new("%s: '%s' is %.80s, expected %s", reading->path, name, text, expected)
                          : error_new("%s: '%s' is missing, expected %s", reading->path, name, expected);
    free(text);
}

static void refuse(struct reading *reading, const char *name, const char *expected)
{
    refuse_value(reading, name, json_object_get(reading->fields, name), expected);
}

/* A whole number from 1 on; `absent` where the field is not there, or an error if that is 0. */
static int size_of(struct reading *reading, const char *name, int absent)
{
    const json_t *value = field_of(reading, name);
    if (!value && absent)
        return absent;
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    if (number >= 1 && number <= LARGEST_SIZE)
        return (int)number;
    refuse(reading, name, "a whole number from 1 to 16777216");
    return 1;
}

static float positive_value(struct reading *reading, const char *name, const json_t *value)
{
    double number = json_number_value(value);
    if (isfinite((float)number) && (float)number > 0)
        return (float)number;
    refuse_value(reading, name, value, "a number above 0");
    return 1;
}

static float positive_of(struct reading *reading, const char *name, double absent)
{
    const json_t *value = field_of(reading, name);
    return value ? positive_value(reading, name, value) : (float)absent;
}

static bool truth_of(struct reading *reading, const char *name, bool absent)
{
    const json_t *value = field_of(reading, name);
    if (value && !json_is_boolean(value))
        refuse(reading, name, "true or false");
    return value ? json_is_true(value) : absent;
}

static int token_of(struct reading *reading, const char *name)
{
    const json_t *value = field_of(reading, name);
    if (json_is_array(value))
        value = json_array_get(value, 0);
    if (!value)
        return LM_NO_TOKEN;
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || number >= LARGEST_SIZE)
        refuse(reading, name, "a token's number");
    return (int)number;
}

static void want_whole_rotation(struct reading *reading, const char *name, const json_t *value)
{
    if (value && json_number_value(value) != 1)
        refuse_value(reading, name, value, "1: all channels of a head are rotated");
}

static void take_theta(struct reading *reading, const char *name, const json_t *value, struct lm_config *config)
{
    float theta = positive_value(reading, name, value);
    if (config->rope_theta != 0 && theta != config->rope_theta)
        refuse_value(reading, name, value, "the same rope_theta everywhere in the file");
    config->rope_theta = theta;
}

/* Reads an object of rotary angles: rope_theta, and what may only say that they are neither scaled nor other ones in some layers. */
static void read_rope_object(struct reading *reading, const char *name, struct lm_config *config)
{
    static const char *const types[] = {"rope_type", "type"};
    const json_t *rope = field_of(reading, name);
    const char *key, *type;
    json_t *value;
    char whole[96];
    if (rope && !json_is_object(rope))
        refuse(reading, name, "an object or null");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) { /* first: it names what the other keys belong to */
        snprintf(whole, sizeof whole, "%s.%s", name, types[i]);
        type = json_string_value(value = json_object_get(rope, types[i]));
        if (value && (!type || strcmp(type, "default") != 0))
            refuse_value(reading, whole, value, "\"default\": angles are not scaled");
    }
    json_object_foreach((json_t *)rope, key, value)
    {
        snprintf(whole, sizeof whole, "%s.%.60s", name, key);
        if (json_is_null(value) || strcmp(key, "rope_type") == 0 || strcmp(key, "type") == 0)
            continue;
        if (strcmp(key, "rope_theta") == 0)
            take_theta(reading, whole, value, config);
        else if (strcmp(key, "partial_rotary_factor") == 0)
            want_whole_rotation(reading, whole, value);
        else
            refuse_value(reading, whole, value, "no such key: angles are not scaled, and the same in all layers");
    }
}

/* Rotary angles, as transformers writes them from version 5 on (rope_parameters) and before (rope_theta and rope_scaling). */
static void read_rope(struct reading *reading, struct lm_config *config)
{
    if (field_of(reading, "rope_theta"))
        take_theta(reading, "rope_theta", field_of(reading, "rope_theta"), config);
    want_whole_rotation(reading, "partial_rotary_factor", field_of(reading, "partial_rotary_factor"));
    read_rope_object(reading, "rope_parameters", config);
    read_rope_object(reading, "rope_scaling", config);
    if (config->rope_theta == 0)
        config->rope_theta = 10000;
}

/* Fields that may only say what this code computes. */
static void read_fixed(struct reading *reading)
{
    const char *activation = json_string_value(field_of(reading, "hidden_act"));
    if (field_of(reading, "hidden_act") && (!activation || strcmp(activation, "silu") != 0))
        refuse(reading, "hidden_act", "\"silu\"");
    if (truth_of(reading, "attention_bias", false))
        refuse(reading, "attention_bias", "false: Qwen3 has none");
    if (truth_of(reading, "use_sliding_window", false))
        refuse(reading, "use_sliding_window", "false: attention reaches back to the first token");
    const json_t *layers = field_of(reading, "layer_types"); /* newer versions of transformers write it */
    if (layers && !json_is_array(layers))
        refuse(reading, "layer_types", "a list");
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const char *kind = json_string_value(json_array_get(layers, i));
        if (!kind || strcmp(kind, "full_attention") != 0)
            refuse(reading, "layer_types", "\"full_attention\" for each layer");
    }
}

static void read_experts(struct reading *reading, struct lm_config *config)
{
    int step = size_of(reading, "decoder_sparse_step", 1);
    const json_t *dense = field_of(reading, "mlp_only_layers");
    /* transformers 5 writes num_local_experts. */
    bool local = field_of(reading, "num_local_experts");
    config->experts = size_of(reading, local ? "num_local_experts" : "num_experts", 128);
    if (local && field_of(reading, "num_experts") && size_of(reading, "num_experts", 0) != config->experts)
        refuse(reading, "num_experts", "the same as num_local_experts");
    config->experts_per_token = size_of(reading, "num_experts_per_tok", 8);
    config->expert_intermediate = size_of(reading, "moe_intermediate_size", 768);
    config->normalise_experts = truth_of(reading, "norm_topk_prob", false);
    if (config->experts_per_token > config->experts)
        refuse(reading, "num_experts_per_tok", "at most num_experts");
    for (int layer = 0; layer < config->layers && layer < LM_MAX_LAYERS; layer++)
        config->dense_layer[layer] = (layer + 1) % step != 0;
    for (size_t i = 0; i < json_array_size(dense); i++) {
        const json_t *value = json_array_get(dense, i);
        json_int_t layer = json_is_integer(value) ? json_integer_value(value) : -1;
        if (layer < 0 || layer >= config->layers)
            refuse(reading, "mlp_only_layers", "numbers of layers");
        else
            config->dense_layer[layer] = true;
    }
}

static double parameters_of(const struct lm_config *config)
{
    double mlp = config->experts ? (double)config->experts * config->expert_intermediate : 0;
    mlp = fmax(mlp, config->intermediate);
    double layer = config->hidden * (2.0 * config->head_size * (config->heads + config->kv_heads) + 3 * mlp);
    return config->layers * layer + 2.0 * config->vocabulary * config->hidden;
}

/* What is absent has the value that transformers gives it. */
static void read_sizes(struct reading *reading, struct lm_config *config, bool experts)
{
    config->vocabulary = size_of(reading, "vocab_size", 0);
    config->hidden = size_of(reading, "hidden_size", 0);
    config->layers = size_of(reading, "num_hidden_layers", 0);
    config->heads = size_of(reading, "num_attention_heads", 0);
    config->kv_heads = size_of(reading, "num_key_value_heads", experts ? 4 : 32);
    config->head_size = size_of(reading, "head_dim", experts ? config->hidden / config->heads : 128);
    config->intermediate = size_of(reading, "intermediate_size", 0);
    config->max_positions = size_of(reading, "max_position_embeddings", 32768);
    if (config->layers > LM_MAX_LAYERS)
        refuse(reading, "num_hidden_layers", "at most 1024");
    if (config->heads % config->kv_heads)
        refuse(reading, "num_key_value_heads", "a divisor of num_attention_heads");
    if (config->head_size % 2)
        refuse(reading, "head_dim", "an even number: rotary angles turn pairs");
}

struct akgen_error *lm_config_parse(const char *path, const char *json, size_t length, struct lm_config *config)
{
    json_error_t problem;
    json_t *root = jsons_read(json, length, JSON_REJECT_DUPLICATES, &problem);
    if (!root)
        return error_of_the_file(error_new("%s:%d: %s", path, problem.line, problem.text));
    struct reading reading = {.path = path, .fields = root};
    const char *type = json_string_value(json_object_get(root, "model_type"));
    *config = (struct lm_config){0};
    bool experts = type && strcmp(type, "qwen3_moe") == 0;
    if (!json_is_object(root))
        reading.error = error_new("%s: the file holds no object, expected a model's configuration", path);
    else if (!experts && (!type || strcmp(type, "qwen3") != 0))
        refuse(&reading, "model_type", "\"qwen3\" or \"qwen3_moe\"");
    else
        read_sizes(&reading, config, experts);
    if (!reading.error) {
        config->norm_eps = positive_of(&reading, "rms_norm_eps", 1e-6);
        config->initial_spread = positive_of(&reading, "initializer_range", 0.02);
        config->tied = truth_of(&reading, "tie_word_embeddings", false);
        config->begin_token = token_of(&reading, "bos_token_id");
        config->end_token = token_of(&reading, "eos_token_id");
        read_rope(&reading, config);
        read_fixed(&reading);
        if (experts)
            read_experts(&reading, config);
    }
    if (!reading.error && parameters_of(config) > MOST_PARAMETERS)
        reading.error = error_new("%s: the sizes make %.3g parameters, expected at most %.0f", path,
                                  parameters_of(config), MOST_PARAMETERS);
    json_decref(root);
    return reading.error ? error_of_the_file(reading.error) : NULL;
}

struct akgen_error *lm_config_read(const char *path, struct lm_config *config)
{
    struct arena arena = {0};
    char *bytes;
    size_t length;
    struct akgen_error *error = files_read(&arena, path, LONGEST_FILE, &bytes, &length);
    if (!error)
        error = lm_config_parse(path, bytes, length, config);
    arena_free(&arena);
    return error;
}

static json_t *token_json(int token)
{
    return token == LM_NO_TOKEN ? json_null() : json_integer(token);
}

static void put_experts(json_t *root, const struct lm_config *config)
{
    json_t *dense = json_array();
    for (int layer = 0; layer < config->layers; layer++)
        if (config->dense_layer[layer])
            json_array_append_new(dense, json_integer(layer));
    json_object_set_new(root, "num_experts", json_integer(config->experts));
    json_object_set_new(root, "num_experts_per_tok", json_integer(config->experts_per_token));
    json_object_set_new(root, "moe_intermediate_size", json_integer(config->expert_intermediate));
    json_object_set_new(root, "norm_topk_prob", json_boolean(config->normalise_experts));
    json_object_set_new(root, "decoder_sparse_step", json_integer(1));
    json_object_set_new(root, "mlp_only_layers", dense);
}

/* The shortest decimal number that is this float. */
static json_t *float_json(float value)
{
    char text[32];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    return json_real(strtod(text, NULL));
}

struct akgen_error *lm_config_write(const char *path, const struct lm_config *config, const char *dtype)
{
    bool experts = config->experts > 0;
    json_t *root = json_pack(
        "{s:[s] s:s s:s s:i s:i s:i s:i s:i s:i s:i s:i s:o s:o s:o s:b s:o s:o s:s s:b s:b s:f s:n s:b}",
        "architectures", experts ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM", "model_type",
        experts ? "qwen3_moe" : "qwen3", "hidden_act", "silu", "vocab_size", config->vocabulary, "hidden_size",
        config->hidden, "num_hidden_layers", config->layers, "num_attention_heads", config->heads,
        "num_key_value_heads", config->kv_heads, "head_dim", config->head_size, "intermediate_size",
        config->intermediate, "max_position_embeddings", config->max_positions, "rope_theta",
        float_json(config->rope_theta), "rms_norm_eps", float_json(config->norm_eps), "initializer_range",
        float_json(config->initial_spread), "tie_word_embeddings", config->tied, "bos_token_id",
        token_json(config->begin_token), "eos_token_id", token_json(config->end_token), "torch_dtype", dtype,
        "attention_bias", 0, "use_sliding_window", 0, "attention_dropout", 0.0, "rope_scaling", "use_cache", 1);
    if (experts)
        put_experts(root, config);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(root);
    size_t length = strlen(text);
    text[length] = '\n'; /* in the place of its NUL */
    struct akgen_error *error = files_write(path, text, length + 1);
    free(text);
    return error;
}
