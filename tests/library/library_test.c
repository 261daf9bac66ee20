/* libakgen as another program links it. */
#include "akgen/akgen.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SQRT_REFERENCE AKGEN_SOURCE_DIR "/tasks/npukernelbench/level1/Math/Sqrt/reference"

#define ANSWERS AKGEN_SOURCE_DIR "/tests/cli/responses"

/* Five in cases.csv, and in the strict profile four hidden ones for each of three data types. */
enum { SQRT_CASES = 5 + 4 * 3 };

static void test_a_right_candidate_passes(void **state)
{
    (void)state;
    struct akgen_request request = {.task = "Sqrt", .candidate = SQRT_REFERENCE, .strict = true, .jobs = 2};
    struct akgen_verdict *verdict = akgen_evaluate(&request);
    assert_int_equal(verdict->kind, AKGEN_VERDICT_PASS);
    assert_int_equal(verdict->cases_total, SQRT_CASES);
    assert_int_equal(verdict->cases_passed, SQRT_CASES);
    assert_null(verdict->reason);
    json_t *json = json_loads(verdict->json, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "profile")), "strict");
    assert_int_equal(json_array_size(json_object_get(json, "cases")), SQRT_CASES);
    json_decref(json);
    akgen_verdict_free(verdict);
}

static void test_one_case_of_a_kernel_for_another_task(void **state)
{
    (void)state;
    struct akgen_request request = {.task = "AddCustom", .candidate = SQRT_REFERENCE, .one_case = true, .case_id = 2};
    struct akgen_verdict *verdict = akgen_evaluate(&request);
    assert_int_equal(verdict->kind, AKGEN_VERDICT_COMPILE_ERROR);
    assert_int_equal(verdict->stage, AKGEN_STAGE_PARSE);
    assert_non_null(strstr(verdict->reason, "add_custom"));
    assert_int_equal(verdict->cases_total, 1);
    akgen_verdict_free(verdict);
}

static void test_strict_order(void **state)
{
    (void)state;
    /* V writes zeros over zeros that MTE3 may still be reading. */
    struct akgen_request request = {.task = "UnalignAdd",
                                    .candidate = AKGEN_SOURCE_DIR "/tests/kernels/good/conflict_war_same_bytes",
                                    .kernel_only = true,
                                    .one_case = true};
    for (int strict = 0; strict <= 1; strict++) {
        request.strict_order = strict;
        struct akgen_verdict *verdict = akgen_evaluate(&request);
        assert_int_equal(verdict->kind, strict ? AKGEN_VERDICT_FAULT : AKGEN_VERDICT_PASS);
        akgen_verdict_free(verdict);
    }
}

static void test_requests_that_cannot_be_served(void **state)
{
    (void)state;
    static const struct {
        struct akgen_request request;
        const char *word;
    } rows[] = {
        {{.task = "NoSuchTask", .candidate = SQRT_REFERENCE}, "NoSuchTask"},
        {{.task = "Sqrt", .candidate = "/nowhere"}, "/nowhere"},
        {{.task = "Sqrt", .candidate = SQRT_REFERENCE, .soc = "Ascend310P"}, "Ascend310P"},
        {{.task = "Sqrt", .candidate = SQRT_REFERENCE, .one_case = true, .case_id = 99}, "99"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct akgen_verdict *verdict = akgen_evaluate(&rows[i].request);
        assert_int_equal(verdict->kind, AKGEN_VERDICT_INFRA_ERROR);
        assert_non_null(strstr(verdict->reason, rows[i].word));
        akgen_verdict_free(verdict);
    }
}

static void test_an_answer_in_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum akgen_verdict_kind kind;
        enum akgen_verdict_stage stage;
    } rows[] = {
        {ANSWERS "/relu_fenced.txt", AKGEN_VERDICT_PASS, AKGEN_STAGE_COMPARE},
        {ANSWERS "/relu_missing_variable.txt", AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_PARSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct akgen_request request = {
            .task = "multikernelbench/level1/Activation/Relu", .candidate = rows[i].file, .one_case = true};
        struct akgen_verdict *verdict = akgen_evaluate(&request);
        assert_int_equal(verdict->kind, rows[i].kind);
        assert_int_equal(verdict->stage, rows[i].stage);
        assert_non_null(verdict->json);
        akgen_verdict_free(verdict);
    }
}

/* An answer whose results are 0.3 % too large: `path` gets its file. */
static void write_imprecise(char *path)
{
    static char text[1 << 16];
    static const char call[] = "Relu(y, x, count);";
    FILE *from = fopen(ANSWERS "/relu_fenced.txt", "r");
    assert_non_null(from);
    text[fread(text, 1, sizeof text - 1, from)] = '\0';
    fclose(from);
    char *at = strstr(text, call);
    assert_non_null(at);
    FILE *to = fdopen(mkstemps(path, 4), "w");
    assert_non_null(to);
    at += strlen(call);
    fprintf(to, "%.*s Muls(y, y, (DTYPE_X)1.003f, count);%s", (int)(at - text), text, at);
    assert_int_equal(fclose(to), 0);
}

static void test_the_tolerance_of_a_suite_decides(void **state)
{
    (void)state;
    char path[] = "/tmp/akgen-imprecise-XXXXXX.txt";
    write_imprecise(path);
    static const struct {
        const char *tolerance;
        bool strict;
        enum akgen_verdict_kind kind;
        const char *word; /* of the verdict's JSON */
    } rows[] = {
        {NULL, false, AKGEN_VERDICT_PASS, "tolerance 1e-2"},
        {"1e-2", false, AKGEN_VERDICT_PASS, "tolerance 1e-2"},
        {"1e-4", false, AKGEN_VERDICT_WRONG, "tolerance 1e-4"},
        {"1e-3", false, AKGEN_VERDICT_INFRA_ERROR, "1e-2 or 1e-4"},
        {"1e-4", true, AKGEN_VERDICT_INFRA_ERROR, "limits of its own"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct akgen_request request = {.task = "multikernelbench/level1/Activation/Relu",
                                        .candidate = path,
                                        .one_case = true,
                                        .strict = rows[i].strict,
                                        .tolerance = rows[i].tolerance};
        struct akgen_verdict *verdict = akgen_evaluate(&request);
        assert_int_equal(verdict->kind, rows[i].kind);
        assert_non_null(strstr(verdict->json, rows[i].word));
        akgen_verdict_free(verdict);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_right_candidate_passes),
        cmocka_unit_test(test_one_case_of_a_kernel_for_another_task),
        cmocka_unit_test(test_strict_order),
        cmocka_unit_test(test_requests_that_cannot_be_served),
        cmocka_unit_test(test_an_answer_in_a_file),
        cmocka_unit_test(test_the_tolerance_of_a_suite_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
