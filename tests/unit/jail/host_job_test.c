/* What goes to akgen-host and what comes back: of the second nothing is believed. */
#include "jail/host_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_a_job_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    const float value = 2.5f;
    struct op_tensor tensors[] = {{.type = AKGEN_BF16, .format = 2, .rank = 3, .dims = {2, 0, 5}},
                                  {.type = AKGEN_FLOAT, .format = 2, .rank = 0, .values = &value}};
    struct op_argument inputs[] = {{.tensors = tensors, .count = 2}, {0}};
    struct op_attr attr = {.name = "alpha", .type = OP_ATTR_FLOAT, .value = json_real(0.25)};
    const struct host_job sent = {.host_so = "/h.so",
                                  .op_type = "Add",
                                  .soc = "Ascend910B2",
                                  .tile = true,
                                  .inputs = inputs,
                                  .input_count = 2,
                                  .outputs = inputs,
                                  .output_count = 1,
                                  .attrs = &attr,
                                  .attr_count = 1};
    struct host_job job;
    json_t *json = host_job_to_json(&sent);
    assert_null(host_job_from_json(&arena, json, &job));
    assert_true(job.tile);
    assert_string_equal(job.host_so, "/h.so");
    assert_int_equal(job.input_count, 2);
    assert_int_equal(job.inputs[0].tensors[0].dims[2], 5);
    assert_null(job.inputs[0].tensors[0].values);
    assert_true(*(const float *)job.inputs[0].tensors[1].values == 2.5f);
    assert_int_equal(job.inputs[1].count, 0);
    assert_true(json_real_value(job.attrs[0].value) == 0.25);
    json_decref(job.attrs[0].value);
    json_object_set_new(json, "soc", json_null());
    struct akgen_error *error = host_job_from_json(&arena, json, &job);
    assert_non_null(error);
    error_free(error);
    json_decref(json);
    json_decref(attr.value);
    arena_free(&arena);
}

/* What a host part may say for itself. */
static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum host_answer answer;
        enum job_stage stage;
        enum job_status status;
    } rows[] = {
        {"", HOST_SILENT, JOB_START, JOB_OK},
        {"load\n", HOST_SILENT, JOB_LOAD, JOB_OK},
        {"load\ntiling\n", HOST_SILENT, JOB_TILING, JOB_OK},
        {"report\n", HOST_GARBLED, JOB_START, JOB_OK},
        {"load\ntil", HOST_GARBLED, JOB_LOAD, JOB_OK},
        {"tiling\n{\"status\": 0, \"tiling\": {\"block_dim\": 8, \"key\": -1, \"workspace\": 0, \"bytes\": \"01ff\"}}",
         HOST_ANSWERED, JOB_TILING, JOB_OK},
        {"{\"status\": 1, \"error\": \"GRAPH_FAILED\"}", HOST_ANSWERED, JOB_START, JOB_TILING_FAILED},
        {"{\"status\": 2, \"error\": \"ge::Operator::GetName\"}", HOST_ANSWERED, JOB_START, JOB_UNSUPPORTED},
        {"{\"status\": 2, \"error\": \"what I like\"}", HOST_GARBLED, JOB_START, JOB_OK},
        {"{\"status\": 1}", HOST_GARBLED, JOB_START, JOB_OK},
        {"{\"status\": 0}", HOST_GARBLED, JOB_START, JOB_OK},
        {"{\"status\": 77}", HOST_GARBLED, JOB_START, JOB_OK},
        {"[]", HOST_GARBLED, JOB_START, JOB_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct host_result result = {0};
        enum host_answer answer = host_result_read(&arena, rows[i].text, strlen(rows[i].text), &result);
        if (answer != rows[i].answer || result.stage != rows[i].stage || result.status != rows[i].status)
            fail_msg("'%s': answer %d, stage %d, status %d", rows[i].text, answer, result.stage, result.status);
        arena_free(&arena);
    }
}

static json_t *tiling(void)
{
    static uint8_t bytes[] = {1, 255};
    const struct host_result result = {
        .tiling = {.block_dim = 8, .key = UINT64_MAX, .workspace = UINT64_MAX, .bytes = bytes, .size = 2}};
    return host_result_to_json(&result);
}

/* Each number has its bound, and no text may be longer than tiling data. */
static void test_tilings_that_no_function_returns(void **state)
{
    (void)state;
    static char longest[2 * OP_TILING_CAPACITY + 3];
    memset(longest, '0', sizeof longest - 1);
    const struct {
        const char *key;
        json_t *value;
    } rows[] = {
        {"block_dim", json_integer(0)},  {"block_dim", json_integer(-3)},   {"block_dim", json_integer(65536)},
        {"block_dim", json_string("8")}, {"bytes", json_string("0")},       {"bytes", json_string("0g")},
        {"bytes", json_string("0G")},    {"bytes", json_stringn("0\0", 2)}, {"bytes", json_null()},
        {"bytes", json_string(longest)}, {"key", json_real(1.5)},           {"workspace", json_null()},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct host_result result = {0};
        json_t *json = tiling();
        json_object_set_new(json_object_get(json, "tiling"), rows[i].key, rows[i].value);
        struct akgen_error *error = host_result_from_json(&arena, json, &result);
        if (!error)
            fail_msg("row %zu: '%s' was believed", i, rows[i].key);
        assert_non_null(strstr(error->message, rows[i].key));
        error_free(error);
        json_decref(json);
        arena_free(&arena);
    }
}

static void test_a_tiling_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct host_result result = {0};
    json_t *json = tiling();
    assert_null(host_result_from_json(&arena, json, &result));
    assert_int_equal(result.tiling.block_dim, 8);
    assert_true(result.tiling.key == UINT64_MAX && result.tiling.workspace == UINT64_MAX);
    assert_int_equal(result.tiling.size, 2);
    assert_memory_equal(result.tiling.bytes, "\1\xff", 2);
    /* One or the other, not both. */
    json_object_set_new(json, "def", json_object());
    struct akgen_error *error = host_result_from_json(&arena, json, &result);
    assert_non_null(error);
    error_free(error);
    json_decref(json);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_comes_back),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_tilings_that_no_function_returns),
        cmocka_unit_test(test_a_tiling_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
