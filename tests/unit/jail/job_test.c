/* Jobs as JSON: what goes in comes out, and what is no job is refused. */
#include "jail/job_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static json_t *example(void)
{
    struct job_tensor tensors[] = {
        {.shape = {.type = AKGEN_BF16, .format = 2, .rank = 3, .dims = {2, 0, 5}},
         .offset = 512,
         .bytes = 20,
         .defined = true},
        {.shape = {.type = AKGEN_INT64, .format = 2, .rank = 0}, .offset = 1536, .bytes = 8}};
    struct job_argument inputs[] = {{.tensors = tensors, .count = 2, .list = true, .alias = -1, .written = true},
                                    {.alias = -1}};
    struct job_argument output = {.tensors = tensors, .count = 1, .alias = 0};
    static uint8_t bytes[] = {0, 0xab, 0xff};
    const struct npu_racing_read racing[] = {{47, 2, 9, 32, 64}, {47, 2, UINT32_MAX, 0, 0}};
    const struct job job = {.kernel_so = "/k.so",
                            .cube_so = "/c.so",
                            .tiling = {.block_dim = 7, .key = UINT64_MAX, .workspace = 5, .bytes = bytes, .size = 3},
                            .entry = "e",
                            .soc = "Ascend910B2",
                            .sync = NPU_SYNC_MANUAL,
                            .random_order = true,
                            .weigh = true,
                            .racing = racing,
                            .racing_count = 2,
                            .seed = UINT64_MAX - 3,
                            .inputs = inputs,
                            .input_count = 2,
                            .outputs = &output,
                            .output_count = 1,
                            .gm_bytes = 4096};
    return job_to_json(&job);
}

static void test_job_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct job job;
    json_t *json = example();
    assert_null(job_from_json(&arena, json, &job));
    assert_int_equal(job.tiling.block_dim, 7);
    assert_true(job.tiling.key == UINT64_MAX);
    assert_int_equal(job.tiling.size, 3);
    assert_memory_equal(job.tiling.bytes, "\0\xab\xff", 3);
    assert_string_equal(job.kernel_so, "/k.so");
    assert_string_equal(job.cube_so, "/c.so");
    assert_true(job.seed == UINT64_MAX - 3);
    assert_true(job.random_order && job.weigh);
    assert_int_equal(job.racing_count, 2);
    assert_int_equal(job.racing[0].core, 47);
    assert_int_equal(job.racing[0].low, 32);
    assert_int_equal(job.racing[0].high, 64);
    assert_int_equal(job.racing[1].lane, 2);
    assert_int_equal(job.racing[1].index, UINT32_MAX);
    assert_int_equal(job.sync, NPU_SYNC_MANUAL);
    assert_int_equal(job.input_count, 2);
    assert_true(job.inputs[0].list && job.inputs[0].written);
    assert_int_equal(job.inputs[0].count, 2);
    assert_int_equal(job.inputs[0].tensors[0].shape.dims[2], 5);
    assert_int_equal(job.inputs[0].tensors[0].shape.type, AKGEN_BF16);
    assert_true(job.inputs[0].tensors[0].defined);
    assert_int_equal(job.inputs[0].tensors[1].shape.rank, 0);
    assert_int_equal(job.inputs[1].count, 0);
    assert_int_equal(job.inputs[1].alias, -1);
    assert_int_equal(job.outputs[0].alias, 0);
    json_decref(json);
    arena_free(&arena);
}

static void test_what_is_no_job_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        json_int_t value;
    } rows[] = {{"tiling", 7}, {"inputs", 1}, {"gm_bytes", -1}, {"kernel_so", 3}, {"sync", 2}, {"entry", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct job job;
        json_t *json = example();
        json_object_set_new(json, rows[i].key, json_integer(rows[i].value));
        struct akgen_error *error = job_from_json(&arena, json, &job);
        assert_non_null(error);
        assert_non_null(strstr(error->message, strcmp(rows[i].key, "tiling") == 0 ? "block_dim" : rows[i].key));
        error_free(error);
        json_decref(json);
        arena_free(&arena);
    }
}

static void test_result_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct npu_racing_read racing[] = {{3, 1, 70000, 0, 512}};
    struct job_finding finding = {.fault = "ub_overflow",
                                  .kind = NPU_UNDEFINED,
                                  .message = "m",
                                  .api = "Add",
                                  .operand = "dst",
                                  .pipe = "V",
                                  .fatal = true,
                                  .core = 3,
                                  .count = 2,
                                  .place = {JOB_CUBE, 0x77}};
    uint64_t undefined[] = {64}, first[] = {128};
    const struct job_result sent = {.status = JOB_OK,
                                    .stats = {.instructions = 9, .kernel_type = -1},
                                    .findings = &finding,
                                    .finding_count = 1,
                                    .racing = racing,
                                    .racing_count = 1,
                                    .undefined = undefined,
                                    .undefined_first = first,
                                    .undefined_count = 1};
    struct job_result result = {0};
    json_t *json = job_result_to_json(&sent);
    assert_null(job_result_from_json(&arena, json, &result));
    assert_true(result.fault);
    assert_string_equal(result.findings[0].fault, "ub_overflow");
    assert_int_equal(result.findings[0].kind, NPU_UNDEFINED);
    assert_int_equal(result.findings[0].place.object, JOB_CUBE);
    assert_int_equal(result.findings[0].place.address, 0x77);
    assert_int_equal(result.racing_count, 1);
    assert_int_equal(result.racing[0].index, 70000);
    assert_int_equal(result.racing[0].high, 512);
    assert_int_equal(result.findings[0].place_other.object, JOB_NOWHERE);
    assert_int_equal(result.undefined[0], 64);
    assert_int_equal(result.undefined_first[0], 128);
    assert_int_equal(result.stats.instructions, 9);
    assert_int_equal(result.stats.kernel_type, -1);
    json_array_clear(json_object_get(json, "undefined_first"));
    struct akgen_error *error = job_result_from_json(&arena, json, &result);
    assert_non_null(error);
    error_free(error);
    json_decref(json);
    arena_free(&arena);
}

/* The time that a launch would take, all of it. */
static struct job_timing example_timing(void)
{
    return (struct job_timing){
        .model = {.known = true,
                  .shortened = true,
                  .mhz = 1800,
                  .cycles = 20000.5,
                  .launch = 3000,
                  .of = {{.cores = 48, .mean = 15000, .longest = 16000, .busy = {1, 2, 3, 4, 5, 6, 7.5}}},
                  .read = 1 << 20,
                  .written = 1 << 19,
                  .read_l2 = 1 << 18,
                  .hbm_read = 1 << 17,
                  .hbm_written = 1 << 16,
                  .copies_in = 64,
                  .copies_out = 32,
                  .ub_peak = 196352,
                  .bound = NPU_BOUND_PIPE,
                  .bound_aic = true,
                  .bound_lane = NPU_LANE_FIX,
                  .bound_cycles = 14000,
                  .slowest_cycles = 9000},
        .place = {JOB_CUBE, 0x2a4}};
}

static void test_timing_comes_back(void **state)
{
    (void)state;
    const struct job_result sent = {.status = JOB_OK, .timing = example_timing()};
    struct arena arena = {0};
    struct job_result result = {0};
    json_t *json = job_result_to_json(&sent);
    assert_null(job_result_from_json(&arena, json, &result));
    const struct npu_timing *timing = &result.timing.model;
    assert_true(timing->known && timing->shortened && timing->bound_aic);
    assert_float_equal(timing->cycles, 20000.5, 0);
    assert_float_equal(timing->of[0].busy[NPU_LANE_FIX], 7.5, 0);
    assert_float_equal(timing->of[0].longest, 16000, 0);
    assert_int_equal(timing->of[1].cores, 0);
    assert_int_equal(timing->hbm_written, 1 << 16);
    assert_int_equal(timing->copies_out, 32);
    assert_int_equal(timing->ub_peak, 196352);
    assert_int_equal(timing->bound_lane, NPU_LANE_FIX);
    assert_int_equal(result.timing.place.object, JOB_CUBE);
    assert_int_equal(result.timing.place.address, 0x2a4);
    json_decref(json);
    arena_free(&arena);
}

/* A time that cannot be is none; the result stands. */
static void test_timing_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value; /* in JSON */
    } rows[] = {{"cycles", "-1"},    {"cycles", "1e300"},     {"cycles", "\"x\""},
                {"mhz", "0"},        {"read", "-5"},          {"bound", "4"},
                {"bound_lane", "7"}, {"bound_lane", "-1"},    {"slowest", "{}"},
                {"of", "[]"},        {"of", "[{}, {}]"},      {"ub_peak", "4294967296"},
                {"launch", "null"},  {"bound_cycles", "true"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct job_result sent = {.status = JOB_OK, .timing = example_timing()};
        struct arena arena = {0};
        struct job_result result = {0};
        json_t *json = job_result_to_json(&sent);
        json_object_set_new(json_object_get(json, "timing"), rows[i].key,
                            json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
        assert_null(job_result_from_json(&arena, json, &result));
        if (result.timing.model.known)
            fail_msg("%s is %s", rows[i].key, rows[i].value);
        assert_true(result.timing.model.cycles == 0);
        json_decref(json);
        arena_free(&arena);
    }
}

/* The stages in which nothing of the candidate runs are told by what it does not know. */
static void test_marks_that_cannot_be_feigned(void **state)
{
    (void)state;
    const struct job_mark untouched = {.proof = "what the caller put there"};
    struct job_mark mark = untouched;
    assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), JOB_START);
    for (enum job_stage stage = JOB_LOAD; stage <= JOB_REPORT; stage++) {
        job_mark_set(&mark, stage, "nonce");
        assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), stage);
    }
    job_mark_set(&mark, JOB_REPORT, "another");
    assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), JOB_LOAD);
    job_mark_set(&mark, JOB_REPORT, NULL);
    assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), JOB_LOAD);
    job_mark_set(&mark, JOB_START, "nonce");
    assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), JOB_LOAD);
    memset(&mark, 'x', sizeof mark);
    assert_int_equal(job_mark_stage(&mark, &untouched, "nonce"), JOB_LOAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_comes_back),      cmocka_unit_test(test_what_is_no_job_is_refused),
        cmocka_unit_test(test_result_comes_back),   cmocka_unit_test(test_timing_comes_back),
        cmocka_unit_test(test_timing_out_of_range), cmocka_unit_test(test_marks_that_cannot_be_feigned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
