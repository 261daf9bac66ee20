/* What makes samples of one kind, presets, prices; and the key, which is hidden in whatever spelling it comes back. */
#include "base/files.h"
#include "gen/client_internal.h"
#include "gen/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct gen_model model_of(const char *provider)
{
    struct gen_model model = {.endpoint = {.model = "m", .key = "sk-0123456789"},
                              .sampling = {.temperature = NAN, .top_p = NAN, .min_p = NAN}};
    struct akgen_error *error = gen_model_provider(&model, provider);
    if (error)
        fail_msg("%s: %s", provider, error->message);
    return model;
}

static void test_settings(void **state)
{
    (void)state;
    struct gen_model model = model_of("openai:HTTP://localhost:8000/v1/completions/");
    assert_string_equal(
        gen_model_settings(&arena, &model),
        "{\"api\":\"completions\",\"model\":\"m\",\"prompt\":{\"language\":\"ascendc\",\"variant\":\"zero-shot\"},"
        "\"sampling\":{},\"url\":\"http://localhost:8000/v1\"}");
    gen_preset_apply(gen_preset_find("multikernelbench-5"), &model.sampling);
    model.endpoint.model = "says sk-0123456789";
    model.seeded = true;
    model.seed = 7;
    assert_string_equal(
        gen_model_settings(&arena, &model),
        "{\"api\":\"completions\",\"model\":\"says ***\",\"prompt\":{\"language\":\"ascendc\",\"variant\":"
        "\"zero-shot\"},\"sampling\":{\"max_tokens\":8192,\"seed\":7,\"temperature\":0.2,\"top_p\":0.95},"
        "\"url\":\"http://localhost:8000/v1\"}");
    gen_model_free(&model);
}

/* Templates and documents count by what they hold. */
static void test_settings_follow_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/akgen_model_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *file = arena_printf(&arena, "%s/a.md", folder);
    struct gen_model model = model_of("exec:cat");
    model.prompt.templates = folder;
    model.prompt.documents = &file;
    model.prompt.document_count = 1;
    const char *texts[3], *contents[] = {"one", "two", "one"};
    for (int i = 0; i < 3; i++) {
        error_free(files_write(file, contents[i], 3));
        texts[i] = gen_model_settings(&arena, &model);
    }
    assert_string_not_equal(texts[0], texts[1]);
    assert_string_equal(texts[0], texts[2]);
    assert_null(strstr(texts[0], folder));
    assert_non_null(strstr(texts[0], "\"command\":\"cat\""));
    files_remove_tree(folder);
}

static void test_presets(void **state)
{
    (void)state;
    struct gen_sampling sampling = {.temperature = NAN, .top_p = 0.5, .min_p = NAN, .max_tokens = 9};
    gen_preset_apply(gen_preset_find("multikernelbench"), &sampling);
    assert_true(sampling.temperature == 0 && sampling.top_p == 0.5 && isnan(sampling.min_p) &&
                sampling.max_tokens == 9);
    assert_int_equal(gen_preset_find("ascendkernelgen")->samples, 100);
    assert_true(isnan(gen_preset_find("ascendkernelgen")->sampling.temperature));
    assert_null(gen_preset_find("x"));
    const struct gen_model model = {.prompt_price = 2, .answer_price = 10};
    assert_true(fabs(gen_model_cost(&model, 500000, 250000) - 3.5) < 1e-12);
}

static void test_key_is_hidden(void **state)
{
    (void)state;
    static const char key[] = "sk-ab/cd+12";
    static const struct {
        const char *text, *hidden;
    } rows[] = {
        {"", ""},
        {"no key, sk-ab/cd+13 neither", "no key, sk-ab/cd+13 neither"},
        {"sk-ab/cd+12", "***"},
        {"sk-ab/cd+12sk-ab/cd+12.", "******."},
        {"sssk-ab/cd+12k", "ss***k"},
        {"\"sk-ab\\/cd\\u002B12\"", "\"***\""},
        {"\\u0073k-ab/cd+12\\", "***\\"},
        {"cut off in sk-ab/cd", "cut off in ***"},
        {"too little of it: sk-ab/c", "too little of it: sk-ab/c"},
        {"\\\\u00zz \\u00", "\\\\u00zz \\u00"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(gen_without_key(&arena, rows[i].text, key), rows[i].hidden);
    assert_string_equal(gen_without_key(&arena, "EMPTY", "EMPTY"), "EMPTY");
    assert_string_equal(gen_without_key(&arena, "x", NULL), "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings), cmocka_unit_test(test_settings_follow_files),
                                       cmocka_unit_test(test_presets), cmocka_unit_test(test_key_is_hidden)};
    return cmocka_run_group_tests(tests, NULL, drop);
}
