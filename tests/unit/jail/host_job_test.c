/* What goes to akgen-host and what comes back: of the second nothing is believed. */
#include "jail/host_job.h"
#include "jail/wire.h"

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
    struct host_job sent = {.host_so = "/h.so",
                            .op_type = "Add",
                            .soc = "Ascend910B2",
                            .tile = true,
                            .inputs = inputs,
                            .input_count = 2,
                            .outputs = inputs,
                            .output_count = 1,
                            .attrs = &attr,
                            .attr_count = 1};
    struct host_job job = {0};
    size_t length;
    const void *message = wire_encode(&arena, WIRE_HOST_JOB, &sent, &length);
    assert_null(wire_decode(&arena, WIRE_HOST_JOB, message, length, &job));
    assert_true(job.tile);
    assert_string_equal(job.host_so, "/h.so");
    assert_int_equal(job.input_count, 2);
    assert_int_equal(job.inputs[0].tensors[0].dims[2], 5);
    assert_null(job.inputs[0].tensors[0].values);
    assert_true(*(const float *)job.inputs[0].tensors[1].values == 2.5f);
    assert_int_equal(job.inputs[1].count, 0);
    assert_true(json_real_value(job.attrs[0].value) == 0.25);
    json_decref(job.attrs[0].value);
    sent.host_so = NULL;
    message = wire_encode(&arena, WIRE_HOST_JOB, &sent, &length);
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &job);
    assert_string_equal(error->message, "host_job.host_so is empty");
    error_free(error);
    json_decref(attr.value);
    arena_free(&arena);
}

/* A message after what tells the stages. */
struct said {
    char bytes[40000];
    size_t length;
};

static void say(struct said *said, const char *stages, const struct host_result *result)
{
    struct arena arena = {0};
    size_t length = 0;
    const void *message = result ? wire_encode(&arena, WIRE_HOST_RESULT, result, &length) : NULL;
    said->length = strlen(stages) + length;
    assert_true(said->length <= sizeof said->bytes);
    memcpy(said->bytes, stages, strlen(stages));
    if (message)
        memcpy(said->bytes + strlen(stages), message, length);
    arena_free(&arena);
}

static void expect(const struct said *said, enum host_answer answer, enum job_stage stage, enum job_status status)
{
    struct arena arena = {0};
    struct host_result result = {0};
    enum host_answer found = host_result_read(&arena, said->bytes, said->length, &result);
    if (found != answer || result.stage != stage || result.status != status)
        fail_msg("'%.*s': answer %d, stage %d, status %d", (int)said->length, said->bytes, found, result.stage,
                 result.status);
    op_def_release(&result.def);
    arena_free(&arena);
}

/* What a host part may say for itself. */
static void test_answers(void **state)
{
    (void)state;
    static uint8_t bytes[] = {1, 255};
    const struct host_result tiled = {.tiling = {.block_dim = 8, .key = UINT64_MAX, .bytes = bytes, .size = 2}},
                             failed = {.status = JOB_TILING_FAILED, .error = "GRAPH_FAILED"},
                             lacking = {.status = JOB_UNSUPPORTED, .error = "ge::Operator::GetName"},
                             liked = {.status = JOB_UNSUPPORTED, .error = "what I like"},
                             wordless = {.status = JOB_TILING_FAILED}, empty = {0},
                             beyond = {.status = (enum job_status)77, .error = "e"},
                             both = {.tiling = tiled.tiling, .def = {.type = "Add", .combinations = 1}},
                             failed_with_tiling = {.status = JOB_TILING_FAILED, .error = "e", .tiling = tiled.tiling};
    const struct {
        const char *stages;
        const struct host_result *result;
        enum host_answer answer;
        enum job_stage stage;
        enum job_status status;
    } rows[] = {
        {"", NULL, HOST_SILENT, JOB_START, JOB_OK},
        {"load\n", NULL, HOST_SILENT, JOB_LOAD, JOB_OK},
        {"load\ntiling\n", NULL, HOST_SILENT, JOB_TILING, JOB_OK},
        {"report\n", NULL, HOST_FOREIGN, JOB_START, JOB_OK},
        {"load\ntil", NULL, HOST_GARBLED, JOB_LOAD, JOB_OK},
        {"load\n{", &failed, HOST_GARBLED, JOB_LOAD, JOB_OK},
        {"tiling\n", &tiled, HOST_ANSWERED, JOB_TILING, JOB_OK},
        {"", &failed, HOST_ANSWERED, JOB_START, JOB_TILING_FAILED},
        {"", &lacking, HOST_ANSWERED, JOB_START, JOB_UNSUPPORTED},
        {"", &liked, HOST_GARBLED, JOB_START, JOB_OK},
        {"", &wordless, HOST_GARBLED, JOB_START, JOB_OK},
        {"", &empty, HOST_GARBLED, JOB_START, JOB_OK},
        {"", &beyond, HOST_GARBLED, JOB_START, JOB_OK},
        {"", &both, HOST_GARBLED, JOB_START, JOB_OK},
        {"", &failed_with_tiling, HOST_GARBLED, JOB_START, JOB_OK},
    };
    static struct said said;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(&said, rows[i].stages, rows[i].result);
        expect(&said, rows[i].answer, rows[i].stage, rows[i].status);
    }
    /* Another build's hash: nothing that the candidate can have written before it ran, and its own doing afterwards. */
    say(&said, "", &tiled);
    said.bytes[0] ^= 1;
    expect(&said, HOST_FOREIGN, JOB_START, JOB_OK);
    say(&said, "load\n", &tiled);
    said.bytes[5] ^= 1;
    expect(&said, HOST_GARBLED, JOB_LOAD, JOB_OK);
    say(&said, "", &failed);
    said.bytes[said.length++] = 'x';
    expect(&said, HOST_GARBLED, JOB_START, JOB_OK);
}

static struct akgen_error *pass(struct arena *arena, const struct host_result *from, struct host_result *to)
{
    size_t length;
    const void *bytes = wire_encode(arena, WIRE_HOST_RESULT, from, &length);
    return host_result_decode(arena, bytes, length, to);
}

/* A description that the cache has of another build fills nothing, and what stood in the result before is not released. */
static void test_a_message_of_another_build(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct op_attr attrs[1];
    memset(attrs, 0x55, sizeof attrs);
    static const char foreign[64] = "no message of this build";
    struct host_result result;
    memset(&result, 0x55, sizeof result);
    result.def.attr_count = 1;
    result.def.attrs = attrs;
    result.stage = JOB_LOAD;
    struct akgen_error *error = host_result_decode(&arena, foreign, sizeof foreign, &result);
    assert_non_null(error);
    assert_int_equal(result.def.attr_count, 0);
    assert_int_equal(result.stage, JOB_LOAD);
    error_free(error);
    arena_free(&arena);
}

/* Each number has its bound, and nothing may be longer than tiling data. */
static void test_tilings_that_no_function_returns(void **state)
{
    (void)state;
    static uint8_t longest[OP_TILING_CAPACITY + 1];
    const struct {
        struct op_tiling tiling;
        const char *what;
    } rows[] = {
        {{.block_dim = -3}, "tiling.block_dim is -3, not from 1 to 65535"},
        {{.block_dim = 65536}, "tiling.block_dim is 65536, not from 1 to 65535"},
        {{.block_dim = 1, .bytes = longest, .size = sizeof longest}, "tiling.bytes is too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct host_result result = {0}, sent = {.tiling = rows[i].tiling};
        struct akgen_error *error = pass(&arena, &sent, &result);
        if (!error)
            fail_msg("row %zu was believed", i);
        assert_string_equal(error->message, rows[i].what);
        error_free(error);
        arena_free(&arena);
    }
}

static void test_a_tiling_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    static uint8_t bytes[] = {1, 255};
    struct host_result result = {0}, sent = {.tiling = {.block_dim = 8,
                                                        .key = UINT64_MAX,
                                                        .workspace = UINT64_MAX,
                                                        .bytes = bytes,
                                                        .size = 2,
                                                        .need_atomic = true}};
    assert_null(pass(&arena, &sent, &result));
    assert_int_equal(result.tiling.block_dim, 8);
    assert_true(result.tiling.key == UINT64_MAX && result.tiling.workspace == UINT64_MAX);
    assert_true(result.tiling.need_atomic);
    assert_int_equal(result.tiling.size, 2);
    assert_memory_equal(result.tiling.bytes, "\1\xff", 2);
    sent.tiling.size = 0; /* no data is no missing data */
    assert_null(pass(&arena, &sent, &result));
    assert_int_equal(result.tiling.size, 0);
    assert_non_null(result.tiling.bytes);
    arena_free(&arena);
}

/* A definition is refused for the same reasons when it came through the pipe. */
static void test_definitions_are_checked(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct host_result result = {0}, sent = {.def = {.type = "A;d", .combinations = 1}};
    struct akgen_error *error = pass(&arena, &sent, &result);
    assert_string_equal(error->message, "operator type 'A;d' is no identifier");
    error_free(error);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_comes_back),           cmocka_unit_test(test_answers),
        cmocka_unit_test(test_a_message_of_another_build), cmocka_unit_test(test_tilings_that_no_function_returns),
        cmocka_unit_test(test_a_tiling_comes_back),        cmocka_unit_test(test_definitions_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
