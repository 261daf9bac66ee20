/* JSON that others wrote: integers beyond 64 bits become reals, all others stay exact. */
#include "base/jsons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdint.h>
#include <string.h>

static json_t *read_text(const char *text, size_t flags)
{
    json_error_t problem;
    json_t *json = jsons_read(text, strlen(text), flags, &problem);
    if (!json)
        fail_msg("%s: %s", text, problem.text);
    return json;
}

static void huge_integers_are_reals(void **state)
{
    (void)state;
    json_t *json = read_text("{\"model_max_length\":1000000000000000019884624838656,\"low\":-9223372036854775809,"
                             "\"last\":9223372036854775807,\"first\":-9223372036854775808,\"id\":9007199254740993,"
                             "\"real\":0.1234567890123456789012345,\"far\":1e20}",
                             JSON_REJECT_DUPLICATES);
    assert_true(json_is_real(json_object_get(json, "model_max_length")));
    assert_true(json_number_value(json_object_get(json, "model_max_length")) == 1e30);
    assert_true(json_number_value(json_object_get(json, "low")) == -9223372036854775808.0);
    assert_true(json_integer_value(json_object_get(json, "last")) == INT64_MAX);
    assert_true(json_integer_value(json_object_get(json, "first")) == INT64_MIN);
    assert_true(json_integer_value(json_object_get(json, "id")) == 9007199254740993);
    assert_true(json_number_value(json_object_get(json, "real")) == 0.1234567890123456789012345);
    assert_true(json_number_value(json_object_get(json, "far")) == 1e20);
    json_decref(json);
}

static void texts_stay_as_they_are(void **state)
{
    (void)state;
    json_t *json = read_text("[99999999999999999999, \"99999999999999999999\", \"\\\"-99999999999999999999\\\\\",\n"
                             "-99999999999999999999]",
                             0);
    assert_true(json_number_value(json_array_get(json, 0)) == 1e20);
    assert_string_equal(json_string_value(json_array_get(json, 1)), "99999999999999999999");
    assert_string_equal(json_string_value(json_array_get(json, 2)), "\"-99999999999999999999\\");
    assert_true(json_number_value(json_array_get(json, 3)) == -1e20);
    json_decref(json);
}

/* Other mistakes are still errors, with their line. */
static void other_errors_remain(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
        int line;
    } wrong[] = {
        {"[99999999999999999999,\n1e400]", "real number overflow", 2},
        {"[99999999999999999999,\n\n{]", "string or '}' expected", 3},
        {"{\"a\":99999999999999999999,\n\"a\":1}", "duplicate object key", 2},
        {"[99999999999999999999, \"\\", "", 1},
        {"[99999999999999999999, -", "", 1},
        {"[1,", "", 1},
        {"", "", 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_error_t problem;
        assert_null(jsons_read(wrong[i].text, strlen(wrong[i].text), JSON_REJECT_DUPLICATES, &problem));
        assert_int_equal(problem.line, wrong[i].line);
        assert_non_null(strstr(problem.text, wrong[i].expected));
        assert_null(jsons_read(wrong[i].text, strlen(wrong[i].text), JSON_REJECT_DUPLICATES, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_integers_are_reals),
        cmocka_unit_test(texts_stay_as_they_are),
        cmocka_unit_test(other_errors_remain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
