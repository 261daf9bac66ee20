/* Messages from a hostile writer: what the decoder refuses, and in what words. */
#include "jail/wire.h"
#include "jail/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { HEADER = 12 };

static struct arena arena;

/* A definition with something of every kind. */
static const struct host_result *example(void)
{
    static enum akgen_dtype types[] = {AKGEN_FLOAT, AKGEN_BF16};
    static int formats[] = {2, 2};
    static struct op_fill fills[] = {{4, 7}, {2, UINT64_MAX}};
    static struct op_param x = {.name = "x", .types = types, .formats = formats, .count = 2},
                           y = {.name = "y", .types = types, .formats = formats, .count = 2, .fills = fills};
    static struct op_tiling_field inner = {.name = "n", .type = "uint32_t", .bytes = 4};
    static struct op_tiling_field field = {
        .name = "in", .type = "Inner", .bytes = 8, .fields = &inner, .field_count = 1};
    static struct op_tiling_struct tiling = {
        .key = "Add", .name = "AddTiling", .bytes = 8, .fields = &field, .count = 1};
    static const char *socs[] = {"ascend910b"};
    static struct op_attr attrs[6];
    static struct host_result result = {.def = {.type = "Add",
                                                .combinations = 2,
                                                .inputs = &x,
                                                .input_count = 1,
                                                .outputs = &y,
                                                .output_count = 1,
                                                .attrs = attrs,
                                                .attr_count = 6,
                                                .tilings = &tiling,
                                                .tiling_count = 1,
                                                .socs = socs,
                                                .soc_count = 1,
                                                .has_tiling = true}};
    static const struct op_attr kinds[] = {{.name = "none", .type = OP_ATTR_INT},
                                           {.name = "flag", .type = OP_ATTR_BOOL},
                                           {.name = "number", .type = OP_ATTR_INT, .required = true},
                                           {.name = "real", .type = OP_ATTR_FLOAT},
                                           {.name = "text", .type = OP_ATTR_STRING},
                                           {.name = "rows", .type = OP_ATTR_LIST_LIST_INT}};
    if (!attrs[1].value) {
        memcpy(attrs, kinds, sizeof attrs);
        attrs[1].value = json_true();
        attrs[2].value = json_integer(INT64_MIN);
        attrs[3].value = json_real(0.1);
        attrs[4].value = json_string("\xc3\xa4");
        attrs[5].value = json_loads("[[1, 2], [], [3]]", 0, NULL);
    }
    return &result;
}

static void test_a_definition_comes_back(void **state)
{
    (void)state;
    const struct op_def *sent = &example()->def;
    struct host_result result = {0};
    size_t length;
    const void *message = wire_encode(&arena, WIRE_HOST_RESULT, example(), &length);
    assert_null(wire_decode(&arena, WIRE_HOST_RESULT, message, length, &result));
    const struct op_def *def = &result.def;
    assert_string_equal(def->type, "Add");
    assert_int_equal(def->inputs[0].types[1], AKGEN_BF16);
    assert_null(def->inputs[0].fills);
    assert_int_equal(def->outputs[0].fills[1].bytes, 2);
    assert_true(def->outputs[0].fills[1].element == UINT64_MAX);
    assert_string_equal(def->tilings[0].fields[0].fields[0].type, "uint32_t");
    assert_string_equal(def->socs[0], "ascend910b");
    assert_null(def->attrs[0].value);
    for (int i = 1; i < def->attr_count; i++)
        assert_true(json_equal(def->attrs[i].value, sent->attrs[i].value));
    size_t again_length;
    const void *again = wire_encode(&arena, WIRE_HOST_RESULT, &result, &again_length);
    assert_int_equal(again_length, length);
    assert_memory_equal(again, message, length);
    op_def_release(&result.def);
}

/* Every beginning of a message is refused, and so is one with a byte more. */
static void test_cuts(void **state)
{
    (void)state;
    size_t length;
    const uint8_t *message = wire_encode(&arena, WIRE_HOST_RESULT, example(), &length);
    for (size_t cut = 0; cut < length; cut++) {
        struct host_result result = {0};
        struct akgen_error *error = wire_decode(&arena, WIRE_HOST_RESULT, message, cut, &result);
        if (!error)
            fail_msg("%zu of %zu bytes were enough", cut, length);
        for (int i = 0; i < result.def.attr_count; i++)
            assert_null(result.def.attrs[i].value);
        error_free(error);
    }
    uint8_t *longer = arena_alloc(&arena, length + 1);
    memcpy(longer, message, length);
    struct host_result result = {0};
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_RESULT, longer, length + 1, &result);
    assert_string_equal(error->message, "host_result is followed by 1 bytes more");
    error_free(error);
}

/* A message is of one build and of one kind. */
static void test_foreign_messages(void **state)
{
    (void)state;
    size_t length;
    uint8_t *message = wire_encode(&arena, WIRE_HOST_RESULT, example(), &length);
    struct job job = {0};
    struct host_result result = {0};
    assert_true(wire_is(WIRE_HOST_RESULT, message, length));
    assert_false(wire_is(WIRE_HOST_RESULT, message, HEADER - 1));
    assert_false(wire_is(WIRE_JOB, message, length));
    struct akgen_error *error = wire_decode(&arena, WIRE_JOB, message, length, &job);
    assert_string_equal(error->message, "no job of this build");
    error_free(error);
    for (int bit = 0; bit < 8 * HEADER; bit++) {
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        error = wire_decode(&arena, WIRE_HOST_RESULT, message, length, &result);
        assert_string_equal(error->message, "no host_result of this build");
        error_free(error);
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static const struct host_result said = {.status = JOB_TILING_FAILED, .error = "GRAPH_FAILED"};

/* Changes bytes of a failure's message, from the header's end on: status, two absent parts, the text. */
static void expect_refused(size_t at, const void *bytes, size_t count, const char *what)
{
    size_t length;
    uint8_t *message = wire_encode(&arena, WIRE_HOST_RESULT, &said, &length);
    struct host_result result = {0};
    memcpy(message + HEADER + at, bytes, count);
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_RESULT, message, length, &result);
    if (!error || strcmp(error->message, what) != 0)
        fail_msg("'%s' instead of '%s'", error ? error->message : "accepted", what);
    error_free(error);
}

static void test_texts_and_lengths(void **state)
{
    (void)state;
    enum { STATUS = 0, DEF = 4, TILING = 8, LENGTH = 12, TEXT = 16 };
    expect_refused(STATUS, "\xff\xff\xff\xff", 4, "host_result.status is -1, not from 0 to 8");
    expect_refused(DEF, "\xff\xff\xff\x7f", 4, "host_result.def is too long");
    expect_refused(TILING, "\x01\0\0\0", 4, "tiling.block_dim is cut off");
    expect_refused(TEXT, "\xc3(", 2, "host_result.error is no text in UTF-8");
    expect_refused(TEXT, "\xed\xa0\x80", 3, "host_result.error is no text in UTF-8");
    expect_refused(TEXT, "\0", 1, "host_result.error is no text in UTF-8");
    expect_refused(LENGTH, "\x0e\0\0\0", 4, "host_result.error is cut off");
    expect_refused(LENGTH, "\xff\xff\xff\xff", 4, "host_result.error is too long");
    expect_refused(LENGTH, "\x0c\0\0\0", 4, "host_result is followed by 1 bytes more");
}

/* Bytes that are no UTF-8 are sent as '?'. */
static void test_texts_that_are_none(void **state)
{
    (void)state;
    const struct host_result sent = {.status = JOB_TILING_FAILED, .error = "a\xff\xc3\xa4\xc3"};
    struct host_result result = {0};
    size_t length;
    const void *message = wire_encode(&arena, WIRE_HOST_RESULT, &sent, &length);
    assert_null(wire_decode(&arena, WIRE_HOST_RESULT, message, length, &result));
    assert_string_equal(result.error, "a?\xc3\xa4?");
}

/* A count costs nothing before its records are there: 4 bytes that ask for 1024 parameters, or for a value of 2^32 items. */
static void test_counts_that_the_message_does_not_hold(void **state)
{
    (void)state;
    struct host_job job = {.host_so = "h"}, read = {0};
    size_t length;
    uint8_t *message = wire_encode(&arena, WIRE_HOST_JOB, &job, &length);
    memcpy(message + length - 4, &(uint32_t){OP_MAX_ITEMS}, 4);
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "host_job.attrs is cut off");
    error_free(error);
    struct op_attr attr = {.name = "a", .type = OP_ATTR_LIST_INT, .value = json_array()};
    job.attrs = &attr;
    job.attr_count = 1;
    message = wire_encode(&arena, WIRE_HOST_JOB, &job, &length);
    memset(message + length - 4, 0xff, 4);
    error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "attr.value is too long");
    error_free(error);
    message[length - 5] = 7;
    error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "attr.value is no value");
    error_free(error);
    json_decref(attr.value);
    /* A flag is 0 or 1. */
    attr = (struct op_attr){.name = "a"};
    message = wire_encode(&arena, WIRE_HOST_JOB, &job, &length);
    message[length - 2] = 2;
    error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "attr.required is 2, not from 0 to 1");
    error_free(error);
    /* Elements are as many as their shape says. */
    struct op_tensor tensor = {.type = AKGEN_FLOAT, .rank = 1, .dims = {2}, .values = "abcdefg"};
    struct op_argument argument = {.tensors = &tensor, .count = 1};
    job = (struct host_job){.host_so = "h", .inputs = &argument, .input_count = 1};
    message = wire_encode(&arena, WIRE_HOST_JOB, &job, &length);
    assert_null(wire_decode(&arena, WIRE_HOST_JOB, message, length, &read));
    assert_memory_equal(read.inputs[0].tensors[0].values, "abcdefg", 8);
    for (size_t i = HEADER; i + 8 <= length; i++)
        if (!memcmp(message + i, &(int64_t){2}, 8))
            message[i] = 3;
    error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "host_tensor.values has another size than its shape");
    error_free(error);
}

/* Lists within lists, and structures within structures, end the decoder before they end its stack. */
static void test_nesting(void **state)
{
    (void)state;
    enum { DEEP = 5000 };
    json_t *value = json_array();
    for (int i = 0; i < DEEP; i++)
        value = json_pack("[o]", value);
    struct op_attr attr = {.name = "a", .type = OP_ATTR_LIST_INT, .value = value};
    const struct host_job job = {.host_so = "h", .attrs = &attr, .attr_count = 1};
    struct host_job read = {0};
    size_t length;
    const void *message = wire_encode(&arena, WIRE_HOST_JOB, &job, &length);
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_JOB, message, length, &read);
    assert_string_equal(error->message, "attr.value is no value");
    error_free(error);
    json_decref(value);
    struct op_tiling_field *fields = arena_alloc(&arena, DEEP * sizeof *fields);
    for (int i = 0; i < DEEP; i++)
        fields[i] = (struct op_tiling_field){
            .name = "f", .type = "T", .bytes = 8, .fields = i ? &fields[i - 1] : NULL, .field_count = i > 0};
    struct op_tiling_struct tiling = {.key = "K", .name = "N", .fields = &fields[DEEP - 1], .count = 1};
    const struct host_result sent = {.def = {.type = "T", .combinations = 1, .tilings = &tiling, .tiling_count = 1}};
    struct host_result result = {0};
    message = wire_encode(&arena, WIRE_HOST_RESULT, &sent, &length);
    error = wire_decode(&arena, WIRE_HOST_RESULT, message, length, &result);
    assert_string_equal(error->message, "tiling_field.fields is nested too deep");
    error_free(error);
}

/* Changed bytes: each message is accepted or refused, and what is accepted can be sent again and used. */
static void test_mutations(void **state)
{
    (void)state;
    size_t length;
    const uint8_t *message = wire_encode(&arena, WIRE_HOST_RESULT, example(), &length);
    unsigned char bytes[64] = {0};
    int accepted = 0;
    srandom(1);
    for (int round = 0; round < 20000; round++) {
        struct arena scratch = {0};
        uint8_t *changed = arena_copy(&scratch, message, length);
        for (int change = 0; change <= round % 3; change++)
            changed[HEADER + (size_t)random() % (length - HEADER)] ^= (uint8_t)(1 << random() % 8);
        struct host_result result = {0};
        struct akgen_error *error = host_result_decode(&scratch, changed, length, &result);
        if (!error && result.def.type) {
            accepted++;
            json_decref(op_tiling_decode(&result.def, 1, bytes, sizeof bytes));
            assert_non_null(op_tiling_header(&scratch, &result.def));
        }
        op_def_release(&result.def);
        error_free(error);
        arena_free(&scratch);
    }
    assert_true(accepted > 100); /* else the mutations test the lengths only */
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    for (int i = 0; i < example()->def.attr_count; i++)
        json_decref(example()->def.attrs[i].value);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_definition_comes_back),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_foreign_messages),
        cmocka_unit_test(test_texts_and_lengths),
        cmocka_unit_test(test_texts_that_are_none),
        cmocka_unit_test(test_counts_that_the_message_does_not_hold),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
