/* config.json of any bytes: reading ends with sizes that a layout can be made of, or with an error that names the file. */
#include "fuzz.h"

#include "lm/model.h"

#include <stdlib.h>
#include <string.h>

#define SIZES                                                                                                          \
    "\"vocab_size\":9,\"hidden_size\":4,\"num_hidden_layers\":2,\"num_attention_heads\":2,\"num_key_value_heads\":1,"  \
    "\"head_dim\":2,\"intermediate_size\":6,\"eos_token_id\":[1,2],\"rope_scaling\":null"

void fuzz_seeds(void)
{
    fuzz_seed_text("{\"model_type\":\"qwen3\",\"tie_word_embeddings\":true,\"layer_types\":[\"full_attention\"]," SIZES
                   "}");
    fuzz_seed_text(
        "{\"model_type\":\"qwen3_moe\",\"num_experts\":3,\"num_experts_per_tok\":2,\"moe_intermediate_size\":2,"
        "\"mlp_only_layers\":[1],\"decoder_sparse_step\":1,\"norm_topk_prob\":true," SIZES "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct lm_config config;
    struct lm_layout layout;
    struct akgen_error *error = lm_config_parse("c.json", (const char *)bytes, length, &config);
    if (error) {
        if (strncmp(error->message, "c.json", 6) != 0)
            abort();
        error_free(error);
        return 0;
    }
    if (config.layers > 8 || config.experts > 64) /* only names would take long */
        return 0;
    lm_layout_make(&layout, &config);
    if (layout.size <= 0 || lm_layout_active(&layout) > layout.size || layout.head >= layout.size)
        abort();
    lm_layout_free(&layout);
    return 0;
}
