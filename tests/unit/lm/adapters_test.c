/* LoRA adapters: their places, PEFT's files and back, and what is refused. */
/* test: builds=both */
#include "base/files.h"
#include "lm/adapters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lm_config small = {.vocabulary = 11,
                                       .hidden = 8,
                                       .layers = 2,
                                       .heads = 2,
                                       .kv_heads = 1,
                                       .head_size = 4,
                                       .intermediate = 6,
                                       .max_positions = 16,
                                       .rope_theta = 10000,
                                       .norm_eps = 1e-6F,
                                       .initial_spread = 0.1F};
static char folder[40];
static struct lm_layout layout;

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/akgen-adapters-XXXXXX");
    lm_layout_make(&layout, &small);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    lm_layout_free(&layout);
    files_remove_tree(folder);
    return 0;
}

static void refused(struct akgen_error *error, const char *expected)
{
    if (!error)
        fail_msg("not refused; expected: %s", expected);
    if (!strstr(error->message, expected))
        fail_msg("%s, expected %s", error->message, expected);
    error_free(error);
}

static const struct lm_adapters_options two = {.rank = 2, .alpha = 3, .targets = {[LM_K] = true, [LM_DOWN] = true}};

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    struct lm_adapters adapters, again;
    struct rng rng;
    float *read;
    rng_seed(&rng, 1);
    assert_null(lm_adapters_make(&adapters, &layout, &two));
    /* In each of 2 layers k_proj (4, 8) and down_proj (8, 6). */
    assert_int_equal(adapters.layout.count, 8);
    assert_int_equal(adapters.layout.size, 2 * (2 * (8 + 4) + 2 * (6 + 8)));
    float *weights = lm_adapters_new(&adapters, &rng);
    for (int64_t i = 0; i < adapters.layout.size; i++)
        weights[i] += (float)i;
    assert_null(lm_adapters_write(&adapters, weights, folder, "some/base"));
    struct akgen_error *error = lm_adapters_read(folder, &layout, &again, &read);
    if (error)
        fail_msg("%s", error->message);
    assert_memory_equal(&again.options, &adapters.options, sizeof again.options);
    assert_memory_equal(read, weights, (size_t)adapters.layout.size * sizeof *read);
    free(read);
    free(weights);
    lm_adapters_free(&adapters);
    lm_adapters_free(&again);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct lm_adapters adapters;
    struct lm_layout experts = layout;
    struct lm_adapters_options options = two;
    options.rank = 0;
    refused(lm_adapters_make(&adapters, &layout, &options), "rank of LoRA adapters is 0");
    refused(lm_adapters_make(&adapters, &layout, &(struct lm_adapters_options){.rank = 1}), "need a matrix to adapt");
    experts.config.experts = 4;
    refused(lm_adapters_make(&adapters, &experts, &two), "models with experts are not supported");
}

static void files_that_lie(void **state)
{
    (void)state;
    static const char *const lies[][2] = {
        {"{", "adapter_config.json:1: "},
        {"[]", "'peft_type' is 'missing'"},
        {"{\"peft_type\":\"LOHA\"}", "'peft_type' is 'LOHA', expected LORA"},
        {"{\"peft_type\":\"LORA\",\"r\":0}", "'r' has to be a whole number from 1 to 4096"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":\"x\"}", "'lora_alpha' has to be a number"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1}", "'target_modules' has to be a list"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1,\"target_modules\":[\"lm_head\"]}",
         "'target_modules' holds 'lm_head'"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1,\"target_modules\":[7]}", "what is no name"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1,\"target_modules\":[\"k_proj\"],\"use_dora\":true}",
         "have to be false"},
        {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":1,\"target_modules\":[\"k_proj\"]}",
         "is missing or not [3, 8]"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1,\"target_modules\":[\"q_proj\"]}",
         "is missing or not [2, 8]"},
        {"{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":1,\"target_modules\":[\"k_proj\"]}",
         "it holds 8 tensors, expected the 4 of the adapters"},
    };
    struct lm_adapters adapters;
    struct rng rng;
    float *read;
    char path[100];
    rng_seed(&rng, 1);
    assert_null(lm_adapters_make(&adapters, &layout, &two));
    float *weights = lm_adapters_new(&adapters, &rng);
    assert_null(lm_adapters_write(&adapters, weights, folder, "base"));
    free(weights);
    lm_adapters_free(&adapters);
    snprintf(path, sizeof path, "%s/adapter_config.json", folder);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        assert_null(files_write(path, lies[i][0], strlen(lies[i][0])));
        refused(lm_adapters_read(folder, &layout, &adapters, &read), lies[i][1]);
        assert_null(read);
    }
    unlink(path);
    refused(lm_adapters_read(folder, &layout, &adapters, &read), "adapter_config.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_lie, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
