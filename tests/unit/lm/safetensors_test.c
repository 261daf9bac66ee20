/* safetensors: what is written is read again, in one file or several; files that lie are refused. */
#include "lm/safetensors.h"
#include "base/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[40];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/akgen-tensors-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    files_remove_tree(folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Some values that all three types have. */
static const float values[] = {0, 1, -2, 0.5F, 96, -0.25F};
static const struct lm_tensor three[] = {
    {.name = "b.weight", .rank = 2, .shape = {2, 3}, .count = 6, .values = values},
    {.name = "a", .rank = 1, .shape = {4}, .count = 4, .values = values},
    {.name = "none", .rank = 1, .shape = {0}, .count = 0, .values = values},
};

static void check_three(enum lm_dtype dtype, int files)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(folder, &tensors);
    if (error)
        fail_msg("%s", error->message);
    assert_int_equal(tensors.count, 3);
    assert_int_equal(tensors.file_count, files);
    assert_null(lm_tensors_find(&tensors, "c"));
    for (int i = 0; i < 3; i++) {
        float read[6] = {0};
        const struct lm_tensor *tensor = lm_tensors_find(&tensors, three[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->dtype, dtype);
        assert_int_equal(tensor->rank, three[i].rank);
        assert_memory_equal(tensor->shape, three[i].shape, sizeof *tensor->shape * (size_t)tensor->rank);
        assert_null(lm_tensors_read(&tensors, tensor, 0, tensor->count, read));
        assert_memory_equal(read, values, (size_t)tensor->count * sizeof *read);
        if (tensor->count == 6) {
            assert_null(lm_tensors_read(&tensors, tensor, 4, 2, read));
            assert_memory_equal(read, values + 4, 2 * sizeof *read);
        }
    }
    lm_tensors_close(&tensors);
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    for (enum lm_dtype dtype = LM_F32; dtype <= LM_BF16; dtype++) {
        assert_null(lm_tensors_write(folder, three, 3, dtype, 1000));
        check_three(dtype, 1);
        assert_null(
            lm_tensors_write(folder, three, 3, dtype, 6L * lm_dtype_bytes(dtype))); /* "b.weight" fills a file */
        assert_false(files_exists(in_folder("model.safetensors")));
        check_three(dtype, 2);
    }
    assert_null(lm_tensors_write(folder, three, 3, LM_F16, 1000));
    assert_false(files_exists(in_folder("model.safetensors.index.json")));
    check_three(LM_F16, 1);
}

static void roundings(void **state)
{
    (void)state;
    static const float written[] = {1.00390625F, 1.01171875F, 3.0e38F, 70000, 1e-8F};
    static const float as_bf16[] = {1, 1.015625F, 0x1.c4p127F, 70144, 0x1.58p-27F};
    struct lm_tensors tensors;
    const struct lm_tensor tensor = {.name = "x", .rank = 1, .shape = {5}, .count = 5, .values = written};
    float read[5];
    assert_null(lm_tensors_write_file(in_folder("model.safetensors"), &tensor, 1, LM_BF16));
    assert_null(lm_tensors_open(folder, &tensors));
    assert_null(lm_tensors_read(&tensors, lm_tensors_find(&tensors, "x"), 0, 5, read));
    assert_memory_equal(read, as_bf16, sizeof read);
    lm_tensors_close(&tensors);
}

/* A file of a header, whose length is said to be `length` (0: what it is), and `bytes` bytes behind it. */
static void write_file(const char *header, uint64_t length, size_t bytes)
{
    char zeros[64] = {0};
    uint64_t said = length ? length : strlen(header);
    FILE *file = fopen(in_folder("model.safetensors"), "w");
    fwrite(&said, 8, 1, file);
    fwrite(header, 1, strlen(header), file);
    fwrite(zeros, 1, bytes, file);
    fclose(file);
}

static void refused(const char *expected)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(folder, &tensors);
    if (!error)
        fail_msg("opened; expected: %s", expected);
    if (!strstr(error->message, expected) || strncmp(error->message, folder, strlen(folder)) != 0)
        fail_msg("%s, expected %s", error->message, expected);
    error_free(error);
}

#define ONE(dtype, shape, offsets) "{\"x\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void files_that_lie(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint64_t length;
        size_t bytes;
        const char *expected;
    } lies[] = {
        {ONE("\"F32\"", "[2]", "[0,8]"), 1000, 8, "its first 8 bytes say that the header has 1000 bytes, the file has"},
        {ONE("\"F32\"", "[2]", "[0,8]"), UINT64_MAX, 8, "its first 8 bytes say"},
        {"{\"x\":", 0, 8, "the header is no JSON object: "},
        {"[1]", 0, 8, "the header is no JSON object"},
        {ONE("\"F32\"", "[2]", "[0,8]"), 0, 4, "'data_offsets' leave the file"},
        {ONE("\"F32\"", "[2]", "[0,8]"), 0, 12, "there are bytes behind the last tensor"},
        {ONE("\"F32\"", "[2]", "[4,12]"), 0, 12, "or there are bytes before it"},
        {ONE("\"F32\"", "[3]", "[0,8]"), 0, 8, "disagree about how many bytes"},
        {ONE("\"F32\"", "[4294967296,4294967296,4]", "[0,0]"), 0, 0, "too large a one"},
        {ONE("\"F32\"", "[4611686018427387904]", "[0,0]"), 0, 0, "disagree"},
        {ONE("\"F32\"", "[-1]", "[0,8]"), 0, 8, "what is no size"},
        {ONE("\"F32\"", "[1,1,1,1,2]", "[0,8]"), 0, 8, "at most 4 sizes"},
        {ONE("\"F32\"", "[2]", "[8,0]"), 0, 8, "'data_offsets' leave the file"},
        {ONE("\"F32\"", "[2]", "[-8,0]"), 0, 8, "'data_offsets' leave the file"},
        {ONE("\"F32\"", "[2]", "[0]"), 0, 8, "'data_offsets' has to be"},
        {ONE("\"I8\"", "[8]", "[0,8]"), 0, 8, "'dtype' is 'I8', expected F32, F16 or BF16"},
        {ONE("3", "[8]", "[0,8]"), 0, 8, "'dtype' is 'missing'"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"y\":{\"dtype\":\"F32\",\"shape\":[2],"
         "\"data_offsets\":[4,12]}}",
         0, 12, "overlap"},
        {"{\"x\":1}", 0, 0, "'dtype' is 'missing'"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        write_file(lies[i].header, lies[i].length, lies[i].bytes);
        refused(lies[i].expected);
    }
    FILE *file = fopen(in_folder("model.safetensors"), "w");
    fwrite("1234", 1, 4, file);
    fclose(file);
    refused("shorter than the 8 bytes");
    unlink(in_folder("model.safetensors"));
    refused("model.safetensors: No such file");
}

static void indexes_that_lie(void **state)
{
    (void)state;
    static const char *const lies[][2] = {
        {"{\"weight_map\":{\"a\":\"../../etc/passwd\"}}", "'weight_map' has to name a file of the same folder"},
        {"{\"weight_map\":{\"a\":7}}", "'weight_map' has to name a file of the same folder"},
        {"{\"weight_map\":{}}", "'weight_map' has to map"},
        {"{", "'weight_map' has to map"},
        {"{\"weight_map\":{\"a\":\"absent.safetensors\"}}", "absent.safetensors: No such file"},
        {"{\"weight_map\":{\"q\":\"model-00001-of-00002.safetensors\"}}", "the file that should hold it does not"},
        {"{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\",\"b.weight\":\"model-00002-of-00002."
         "safetensors\"}}",
         "another file holds it than the index says"},
    };
    assert_null(lm_tensors_write(folder, three, 3, LM_F32, 24));
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        assert_null(files_write(in_folder("model.safetensors.index.json"), lies[i][0], strlen(lies[i][0])));
        refused(lies[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_again, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(roundings, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_that_lie, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(indexes_that_lie, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
