/* config.json: what is read, and what is refused by its name. tests/peers/lm_model_test.py reads what transformers writes. */
#include "lm/config.h"
#include "base/arena.h"
#include "base/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZES                                                                                                          \
    "\"vocab_size\":100,\"hidden_size\":64,\"num_hidden_layers\":3,\"num_attention_heads\":4,\"num_key_value_heads\":" \
    "2,"                                                                                                               \
    "\"intermediate_size\":96"
#define DENSE(more)  "{\"model_type\":\"qwen3\"," SIZES more "}"
#define SPARSE(more) "{\"model_type\":\"qwen3_moe\"," SIZES more "}"

static struct lm_config read_config(const char *json)
{
    struct lm_config config;
    struct akgen_error *error = lm_config_parse("config.json", json, strlen(json), &config);
    if (error)
        fail_msg("%s", error->message);
    return config;
}

static void what_is_absent_is_as_transformers_has_it(void **state)
{
    (void)state;
    struct lm_config config = read_config(DENSE(""));
    assert_int_equal(config.head_size, 128);
    assert_int_equal(config.max_positions, 32768);
    assert_true(config.rope_theta == 10000 && config.norm_eps == 1e-6F && !config.tied);
    assert_int_equal(config.experts, 0);
    assert_int_equal(config.end_token, LM_NO_TOKEN);
    config = read_config(SPARSE(",\"decoder_sparse_step\":2,\"eos_token_id\":[7,8]"));
    assert_int_equal(config.head_size, 16);
    assert_int_equal(config.experts, 128);
    assert_int_equal(config.experts_per_token, 8);
    assert_int_equal(config.end_token, 7);
    assert_false(lm_config_sparse(&config, 0));
    assert_true(lm_config_sparse(&config, 1));
    assert_false(lm_config_sparse(&config, 2));
}

/* The config.json that transformers 5.24 saves of Qwen3Config(rope_theta=1e6) and Qwen3MoeConfig(num_experts=16), but for the sizes. */
static void files_of_transformers_5_are_read(void **state)
{
    (void)state;
#define FIVE                                                                                                           \
    ",\"dtype\":\"bfloat16\",\"pad_token_id\":null,\"rope_parameters\":{\"rope_theta\":1000000.0,\"rope_type\":"       \
    "\"default\"},\"sliding_window\":null,\"transformers_version\":\"5.24.0\",\"use_sliding_window\":false"
    struct lm_config config =
        read_config(DENSE(FIVE ",\"layer_types\":[\"full_attention\",\"full_attention\",\"full_attention\"]"));
    assert_true(config.rope_theta == 1e6F);
    config = read_config(SPARSE(FIVE ",\"num_local_experts\":16"));
    assert_true(config.rope_theta == 1e6F);
    assert_int_equal(config.experts, 16);
    /* Both spellings may say the same, and lengths may have no limit. */
    config =
        read_config(DENSE(",\"rope_theta\":5000000,\"rope_scaling\":{\"type\":\"default\"},\"rope_parameters\":{\"rope_"
                          "theta\":5e6,\"rope_type\":\"default\",\"partial_rotary_factor\":1.0}"));
    assert_true(config.rope_theta == 5e6F);
    config = read_config(DENSE(",\"rope_parameters\":{},\"max_length\":1000000000000000019884624838656"));
    assert_true(config.rope_theta == 10000);
}

static void what_is_not_understood_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"model_type\":\"llama\"," SIZES "}", "'model_type' is \"llama\", expected \"qwen3\" or \"qwen3_moe\""},
        {"{" SIZES "}", "'model_type' is missing"},
        {"[]", "the file holds no object"},
        {"{\"model_type\":", "config.json:1: "},
        {"{\"model_type\":\"qwen3\"}", "'vocab_size' is missing, expected a whole number from 1 to 16777216"},
        {DENSE(",\"head_dim\":7"), "'head_dim' is 7, expected an even number"},
        {DENSE(",\"hidden_act\":\"gelu\""), "'hidden_act' is \"gelu\", expected \"silu\""},
        {DENSE(",\"attention_bias\":true"), "'attention_bias' is true, expected false"},
        {DENSE(",\"use_sliding_window\":true"), "'use_sliding_window'"},
        {DENSE(",\"layer_types\":[\"full_attention\",\"sliding_attention\"]"), "'layer_types'"},
        {DENSE(",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4.0}"),
         "'rope_scaling.rope_type' is \"yarn\", expected \"default\": angles are not scaled"},
        {DENSE(",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2.0}"), "'rope_scaling.type' is \"linear\""},
        {DENSE(",\"rope_scaling\":{\"type\":\"default\",\"rope_type\":\"dynamic\"}"),
         "'rope_scaling.rope_type' is \"dynamic\""},
        {DENSE(",\"rope_scaling\":\"linear\""), "'rope_scaling' is \"linear\", expected an object or null"},
        {DENSE(",\"rope_scaling\":{\"factor\":2.0}"), "'rope_scaling.factor' is 2.0, expected no such key"},
        {DENSE(",\"rope_parameters\":{\"factor\":4.0,\"original_max_position_embeddings\":32,\"rope_theta\":1e6,"
               "\"rope_type\":\"yarn\"}"),
         "'rope_parameters.rope_type' is \"yarn\", expected \"default\": angles are not scaled"},
        {DENSE(",\"rope_parameters\":{\"rope_theta\":1e6,\"rope_type\":\"llama3\"}"),
         "'rope_parameters.rope_type' is \"llama3\""},
        {DENSE(",\"rope_parameters\":{\"rope_theta\":1e6,\"rope_type\":null}"), "'rope_parameters.rope_type' is null"},
        {DENSE(",\"rope_parameters\":{\"full_attention\":{\"rope_theta\":1e6,\"rope_type\":\"default\"}}"),
         "'rope_parameters.full_attention' is {"},
        {DENSE(",\"rope_parameters\":{\"partial_rotary_factor\":0.5,\"rope_type\":\"default\"}"),
         "'rope_parameters.partial_rotary_factor' is 0.5, expected 1"},
        {DENSE(",\"rope_parameters\":{\"mrope_section\":[8,8]}"), "'rope_parameters.mrope_section' is [8,8]"},
        {DENSE(",\"rope_parameters\":[]"), "'rope_parameters' is [], expected an object or null"},
        {DENSE(",\"rope_parameters\":{\"rope_theta\":\"1e6\"}"),
         "'rope_parameters.rope_theta' is \"1e6\", expected a number above 0"},
        {DENSE(",\"partial_rotary_factor\":0.25"), "'partial_rotary_factor' is 0.25, expected 1"},
        {DENSE(",\"rope_theta\":1e4,\"rope_parameters\":{\"rope_theta\":1e6}"),
         "'rope_parameters.rope_theta' is 1000000.0, expected the same rope_theta everywhere in the file"},
        {DENSE(",\"rope_scaling\":{\"rope_theta\":1e5},\"rope_parameters\":{\"rope_theta\":1e6}"),
         "'rope_scaling.rope_theta' is 100000.0, expected the same rope_theta"},
        {DENSE(",\"layer_types\":\"sliding_attention\""), "'layer_types' is \"sliding_attention\", expected a list"},
        {"{\"model_type\":\"qwen3\",\"vocab_size\":1000000000000000019884624838656}",
         "'vocab_size' is 1e30, expected a whole number from 1 to 16777216"},
        {DENSE(",\"rms_norm_eps\":0"), "'rms_norm_eps' is 0, expected a number above 0"},
        {DENSE(",\"rope_theta\":1e400"), "config.json:1: "},
        {DENSE(",\"eos_token_id\":-3"), "'eos_token_id' is -3"},
        {DENSE(",\"tie_word_embeddings\":1"), "'tie_word_embeddings' is 1, expected true or false"},
        {"{\"model_type\":\"qwen3\",\"vocab_size\":16777216,\"hidden_size\":16777216,\"num_hidden_layers\":1024,"
         "\"num_attention_heads\":1,\"num_key_value_heads\":1,\"intermediate_size\":16777216}",
         "parameters, expected at most"},
        {"{\"model_type\":\"qwen3\",\"vocab_size\":1e3," SIZES "}", "duplicate"},
        {"{\"model_type\":\"qwen3\",\"vocab_size\":100,\"hidden_size\":1,\"num_hidden_layers\":1025,\"num_attention_"
         "heads\":3,"
         "\"num_key_value_heads\":2,\"intermediate_size\":1}",
         "'num_hidden_layers' is 1025, expected at most 1024"},
        {SPARSE(",\"num_experts\":4,\"num_experts_per_tok\":5"),
         "'num_experts_per_tok' is 5, expected at most num_experts"},
        {SPARSE(",\"num_local_experts\":16,\"num_experts\":8"),
         "'num_experts' is 8, expected the same as num_local_experts"},
        {SPARSE(",\"num_local_experts\":4"), "'num_experts_per_tok' is missing, expected at most num_experts"},
        {SPARSE(",\"mlp_only_layers\":[3]"), "'mlp_only_layers' is [3], expected numbers of layers"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lm_config config;
        struct akgen_error *error = lm_config_parse("config.json", wrong[i][0], strlen(wrong[i][0]), &config);
        if (!error)
            fail_msg("read: %s", wrong[i][0]);
        if (!strstr(error->message, wrong[i][1]) || strncmp(error->message, "config.json", 11) != 0)
            fail_msg("%s", error->message);
        assert_true(error->of_the_file);
        error_free(error);
    }
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    static const char *const texts[] = {DENSE(",\"tie_word_embeddings\":true,\"rope_theta\":1000000,\"rms_norm_eps\":"
                                              "1e-5,\"bos_token_id\":1,\"eos_token_id\":2"),
                                        SPARSE(",\"num_experts\":6,\"num_experts_per_tok\":3,\"moe_intermediate_size\":"
                                               "10,\"mlp_only_layers\":[1],\"norm_topk_prob\":true")};
    char path[] = "/tmp/akgen-config-XXXXXX";
    close(mkstemp(path));
    for (size_t i = 0; i < 2; i++) {
        struct lm_config config = read_config(texts[i]), again;
        assert_null(lm_config_write(path, &config, "float32"));
        struct akgen_error *error = lm_config_read(path, &again);
        if (error)
            fail_msg("%s", error->message);
        assert_memory_equal(&config, &again, sizeof config);
    }
    unlink(path);
    struct lm_config config;
    struct akgen_error *error = lm_config_read(path, &config);
    assert_non_null(strstr(error->message, path));
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_as_transformers_has_it),
        cmocka_unit_test(files_of_transformers_5_are_read),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(what_is_written_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
