/* Jobs as messages: what goes in comes out, and what is no job is refused. */
#include "base/memory.h"
#include "jail/job_exchange.h"
#include "jail/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* Sends it and takes it in again. */
static struct akgen_error *pass(struct arena *arena, enum wire_message message, const void *from, void *to)
{
    size_t length;
    const void *bytes = wire_encode(arena, message, from, &length);
    return wire_decode(arena, message, bytes, length, to);
}

static struct job example(void)
{
    static struct job_tensor tensors[] = {
        {.shape = {.type = AKGEN_BF16, .format = 2, .rank = 3, .dims = {2, 0, 5}},
         .offset = 512,
         .bytes = 20,
         .defined = true},
        {.shape = {.type = AKGEN_INT64, .format = 2, .rank = 0}, .offset = 1536, .bytes = 8}};
    static struct job_argument inputs[] = {
        {.name = "x", .tensors = tensors, .count = 2, .list = true, .alias = -1, .written = true}, {.alias = -1}};
    static struct job_argument output = {.tensors = tensors, .count = 1, .alias = 0};
    static uint8_t bytes[] = {0, 0xab, 0xff};
    static const struct npu_racing_read racing[] = {{47, 2, 9, 32, 64}, {47, 2, UINT32_MAX, 0, 0}};
    return (struct job){.nonce = "n",
                        .kernel_so = "/k.so",
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
}

static void test_job_comes_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct job job = {0}, sent = example();
    assert_null(pass(&arena, WIRE_JOB, &sent, &job));
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
    assert_string_equal(job.inputs[0].name, "x");
    assert_string_equal(job.inputs[1].name, "");
    assert_string_equal(job.nonce, "n");
    arena_free(&arena);
}

/* A struct that holds it, and what the reader says of it. */
static void expect_refused(enum wire_message message, const void *sent, const char *what)
{
    struct arena arena = {0};
    union {
        struct job job;
        struct job_result result;
    } read = {0};
    struct akgen_error *error = pass(&arena, message, sent, &read);
    if (!error || !strstr(error->message, what))
        fail_msg("'%s' does not say '%s'", error ? error->message : "accepted", what);
    error_free(error);
    arena_free(&arena);
}

static void test_what_is_no_job_is_refused(void **state)
{
    (void)state;
    struct job right = example(), job;
#define REFUSED(field, value, what)                                                                                    \
    job = right;                                                                                                       \
    job.field = value;                                                                                                 \
    expect_refused(WIRE_JOB, &job, what)
    REFUSED(tiling.block_dim, 0, "tiling.block_dim is 0, not from 1 to 65535");
    REFUSED(gm_bytes, UINT64_MAX, "job.gm_bytes is -1, not from 0");
    REFUSED(kernel_so, NULL, "job.kernel_so is empty");
    REFUSED(sync, (enum npu_sync)2, "job.sync is 2, not from 0 to 1");
    REFUSED(entry, "", "job.entry is empty");
    REFUSED(soc, NULL, "job.soc is empty");
    REFUSED(inferred_type, -1, "job.inferred_type is -1");
    REFUSED(nonce, "0123456789012345678901234567890123456789012345678901234567890123456789", "job.nonce is too long");
#undef REFUSED
    static uint8_t longest[OP_TILING_CAPACITY + 1];
    static struct job_argument arguments[257];
    job = right;
    job.tiling.bytes = longest;
    job.tiling.size = sizeof longest;
    expect_refused(WIRE_JOB, &job, "tiling.bytes is too long");
    job = right;
    job.inputs = arguments;
    job.input_count = 257;
    expect_refused(WIRE_JOB, &job, "job.inputs is too long");
    struct job_argument argument = {.alias = 256};
    right.outputs = &argument;
    expect_refused(WIRE_JOB, &right, "job_argument.alias is 256, not from -1 to 255");
    struct job_tensor tensor = {.shape = {.rank = OP_MAX_RANK + 1}};
    argument = (struct job_argument){.tensors = &tensor, .count = 1};
    expect_refused(WIRE_JOB, &right, "shape.rank is 26, not from -1 to 25");
    tensor = (struct job_tensor){.offset = UINT64_MAX};
    expect_refused(WIRE_JOB, &right, "job_tensor.offset is -1");
}

static void test_results_that_are_refused(void **state)
{
    (void)state;
    struct job_finding finding = {.kind = (enum npu_kind)5};
    struct job_endless endless = {.cores = 0};
    const struct {
        struct job_result result;
        const char *what;
    } rows[] = {{{.status = (enum job_status)9}, "job_result.status is 9, not from 0 to 8"},
                {{.run_seconds = __builtin_nan("")}, "job_result.run_seconds is nan"},
                {{.run_seconds = __builtin_inf()}, "job_result.run_seconds is inf"},
                {{.stats = {.blocks = -1}}, "stats.blocks is -1"},
                {{.findings = &finding, .finding_count = 1}, "finding.kind is 5, not from 0 to 4"},
                {{.endless = &endless, .endless_count = 1}, "endless.cores is 0, not from 1"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_refused(WIRE_JOB_RESULT, &rows[i].result, rows[i].what);
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
    struct job_result sent = {.status = JOB_OK,
                              .stats = {.instructions = 9, .kernel_type = -1},
                              .findings = &finding,
                              .finding_count = 1,
                              .racing = racing,
                              .racing_count = 1,
                              .undefined = undefined,
                              .undefined_first = first,
                              .undefined_count = 1};
    struct job_result result = {0};
    assert_null(pass(&arena, WIRE_JOB_RESULT, &sent, &result));
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
    sent.undefined_first = NULL;
    struct akgen_error *error = pass(&arena, WIRE_JOB_RESULT, &sent, &result);
    assert_string_equal(error->message, "job_result.undefined_first is not as long as the list before it");
    error_free(error);
    arena_free(&arena);
}

/* The time that a launch would take, all of it. */
static struct job_timing example_timing(void)
{
    return (struct job_timing){
        .model = {.known = true,
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
    assert_null(pass(&arena, WIRE_JOB_RESULT, &sent, &result));
    const struct npu_timing *timing = &result.timing.model;
    assert_true(timing->known && timing->bound_aic);
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
    arena_free(&arena);
}

/* A time that cannot be is none; the result stands. */
static void test_timing_out_of_range(void **state)
{
    (void)state;
    const struct job_timing right = example_timing();
    struct job_timing rows[12];
    int count = 0;
#define WRONG(field, value)                                                                                            \
    rows[count] = right;                                                                                               \
    rows[count++].field = value
    WRONG(model.cycles, -1);
    WRONG(model.cycles, 1e300);
    WRONG(model.launch, __builtin_nan(""));
    WRONG(model.bound_cycles, __builtin_inf());
    WRONG(model.mhz, 0);
    WRONG(model.read, (uint64_t)-5);
    WRONG(model.bound, (enum npu_bound)4);
    WRONG(model.bound_lane, NPU_LANES);
    WRONG(model.bound_lane, -1);
    WRONG(place.object, (enum job_object)3);
    WRONG(model.of[1].cores, -1);
    WRONG(model.of[0].busy[NPU_LANES - 1], -1);
#undef WRONG
    for (int i = 0; i < count; i++) {
        const struct job_result sent = {.status = JOB_OK, .timing = rows[i], .error = "after it"};
        struct arena arena = {0};
        struct job_result result = {0};
        assert_null(pass(&arena, WIRE_JOB_RESULT, &sent, &result));
        if (result.timing.model.known)
            fail_msg("row %d is believed", i);
        assert_true(result.timing.model.cycles == 0);
        assert_string_equal(result.error, "after it");
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

/* Jobs side by side take no more together than the machine has, besides what their tensors explain; alone each has what it would have had on
 * any large machine. */
static void test_jobs_share_the_memory(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    const uint64_t gib = UINT64_C(1) << 30;
    struct job_tensor tensor = {.bytes = 0};
    struct job_argument input = {.tensors = &tensor, .count = 1};
    struct job job = {.inputs = &input, .input_count = 1, .side_by_side = MANY};
    const uint64_t shared = job_memory_limit(&job, false), alone = job_memory_limit(&job, true);
    job.side_by_side = 1;
    assert_true(job_memory_limit(&job, false) == alone);
    const uint64_t machine = memory_of_machine(), most = machine < 16 * gib ? machine : 16 * gib;
    assert_true(alone - shared == most - machine / MANY);
    assert_true(shared >= gib); /* cores, stacks and tapes */
    tensor.bytes = 40 * gib;
    job.gm_bytes = 41 * gib;
    assert_true(job_memory_limit(&job, true) >= alone + 3 * tensor.bytes); /* GM, and what is known of each byte */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_comes_back),
        cmocka_unit_test(test_what_is_no_job_is_refused),
        cmocka_unit_test(test_result_comes_back),
        cmocka_unit_test(test_timing_comes_back),
        cmocka_unit_test(test_timing_out_of_range),
        cmocka_unit_test(test_results_that_are_refused),
        cmocka_unit_test(test_marks_that_cannot_be_feigned),
        cmocka_unit_test(test_jobs_share_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
