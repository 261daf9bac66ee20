/* Operator definitions as JSON from a jail that may be hostile: what is refused, and that no change of a valid text
 * crashes the reader. */
#include "op/op.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const char valid[] =
    "{\"type\":\"Add\",\"combinations\":2,\"has_tiling\":true,\"socs\":[\"ascend910b\"],\"inputs\":[{\"name\":\"x\","
    "\"param_type\":\"required\",\"types\":[0,1],\"formats\":[2,2],\"scalar\":false,\"scalar_list\":false,"
    "\"value_depend\":true,\"shape_depends\":false}],\"outputs\":[{\"name\":\"y\",\"param_type\":\"required\","
    "\"types\":"
    "[0,1],\"formats\":[2,2],\"scalar\":false,\"scalar_list\":false,\"value_depend\":false,\"shape_depends\":false,"
    "\"fills\":[[4,7],[2,-1]]}],\"attrs\":[{\"name\":\"axes\",\"type\":\"list_"
    "int\","
    "\"required\":false,\"value\":[1,2]}],\"tilings\":[{\"key\":\"Add\",\"name\":\"AddTiling\",\"bytes\":32,\"fields\":"
    "["
    "{\"name\":\"n\",\"type\":\"uint32_t\",\"offset\":0,\"bytes\":4,\"array\":0,\"fields\":[]},"
    "{\"name\":\"inner\",\"type\":\"Inner\",\"offset\":8,\"bytes\":16,\"array\":0,\"fields\":["
    "{\"name\":\"a\",\"type\":\"int16_t\",\"offset\":0,\"bytes\":6,\"array\":3,\"fields\":[]}]}]}]}";

static struct akgen_error *read_text(struct arena *arena, const char *text, struct op_def *def)
{
    json_t *json = json_loads(text, 0, NULL);
    struct akgen_error *error = json ? op_def_from_json(arena, json, def) : error_new("not JSON");
    json_decref(json);
    return error;
}

static void reads_a_valid_definition(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct op_def def;
    struct akgen_error *error = read_text(&arena, valid, &def);
    if (error)
        fail_msg("%s", error->message);
    assert_int_equal(def.inputs[0].types[1], AKGEN_FLOAT16);
    assert_null(def.inputs[0].fills);
    assert_int_equal(def.outputs[0].fills[1].bytes, 2);
    assert_true(def.outputs[0].fills[1].element == UINT64_MAX);
    assert_int_equal(def.tilings[0].fields[1].fields[0].array, 3);
    const int16_t bytes[16] = {5, 0, 0, 0, -1, 2, -3};
    json_t *decoded = op_tiling_decode(&def, 0, bytes, 32);
    json_t *expected = json_pack("{s:i,s:{s:[i,i,i]}}", "n", 5, "inner", "a", -1, 2, -3);
    assert_true(json_equal(decoded, expected));
    json_decref(decoded);
    json_decref(expected);
    op_def_release(&def);
    arena_free(&arena);
}

static void refuses(void **state)
{
    (void)state;
    /* In the valid text, replace the first by the second: the error says the third. */
    const char *const changes[][3] = {
        {"\"type\":\"Add\"", "\"type\":\"A;d\"", "operator type 'A;d' is no identifier"},
        {"\"combinations\":2", "\"combinations\":0", "0 dtype combinations"},
        {"\"combinations\":2", "\"combinations\":3", "expected an array of 3 codes"},
        {"\"types\":[0,1]", "\"types\":[0,64]", "item 1 is no code from 0 to 63"},
        {"\"types\":[0,1]", "\"types\":[0,null]", "item 1 is no code"},
        {"\"required\",", "\"needed\",", "param_type is 'needed'"},
        {"\"fills\":[[4,7],[2,-1]]", "\"fills\":[[4,7]]", "expected an array of 2 fills"},
        {"\"fills\":[[4,7],[2,-1]]", "\"fills\":[[4,7],[3,-1]]", "fill 1 is no element of 1, 2, 4 or 8 bytes"},
        {"\"fills\":[[4,7],[2,-1]]", "\"fills\":[[4,7],[2,\"1\"]]", "fill 1 is no element"},
        {"\"value\":[1,2]", "\"value\":[1,\"2\"]", "is no list of integers"},
        {"\"list_int\"", "\"list_tensor\"", "unknown type 'list_tensor'"},
        {"\"socs\":[\"ascend910b\"]", "\"socs\":[1]", "socs[0] is not a string"},
        {"\"socs\":[\"ascend910b\"]", "\"socs\":[],\"more\":1", "more"},
        {"\"bytes\":32", "\"bytes\":31", "multiple of 8"},
        {"\"bytes\":32", "\"bytes\":16", "does not fit"},
        {"\"offset\":8", "\"offset\":2", "does not fit between 4 and 32"},
        {"\"offset\":8", "\"offset\":-8", "outside its structure"},
        {"\"offset\":8", "\"offset\":4294967296", "outside its structure"},
        {"\"array\":3", "\"array\":4", "does not consist of 4 elements"},
        {"\"uint32_t\"", "\"int; system\"", "is no field"},
        {"\"name\":\"n\"", "\"name\":\"n[9]\"", "is no field"},
        {"\"name\":\"AddTiling\"", "\"name\":\"A {\"", "must be identifiers"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct arena arena = {0};
        struct op_def def;
        const char *at = strstr(valid, changes[i][0]);
        assert_non_null(at);
        char *text =
            arena_printf(&arena, "%.*s%s%s", (int)(at - valid), valid, changes[i][1], at + strlen(changes[i][0]));
        struct akgen_error *error = read_text(&arena, text, &def);
        if (!error || !strstr(error->message, changes[i][2]))
            fail_msg("%s: '%s' does not say '%s'", changes[i][1], error ? error->message : "accepted", changes[i][2]);
        error_free(error);
        arena_free(&arena);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct op_def def;
    json_t *fields = json_array();
    for (int i = 0; i < 100; i++)
        fields = json_pack("[{s:s,s:s,s:i,s:i,s:i,s:o}]", "name", "f", "type", "T", "offset", 0, "bytes", 8, "array", 0,
                           "fields", fields);
    json_t *json = json_loads(valid, 0, NULL);
    json_object_set_new(json_array_get(json_object_get(json, "tilings"), 0), "fields", fields);
    struct akgen_error *error = op_def_from_json(&arena, json, &def);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "nested more than 8 deep"));
    error_free(error);
    json_decref(json);
    arena_free(&arena);
}

/* Single-byte changes and cuts of the valid text: every result is accepted or refused, and what is accepted can be
 * used. */
static void survives_mutations(void **state)
{
    (void)state;
    static const char alphabet[] = "0123456789-{}[],:\"eEabnulltrue.";
    char text[sizeof valid];
    unsigned char bytes[64] = {0};
    int accepted = 0;
    srandom(1);
    for (int round = 0; round < 20000; round++) {
        memcpy(text, valid, sizeof valid);
        for (int change = 0; change <= round % 3; change++)
            text[random() % (long)(sizeof valid - 1)] = alphabet[random() % (long)(sizeof alphabet - 1)];
        struct arena arena = {0};
        struct op_def def;
        struct akgen_error *error = read_text(&arena, text, &def);
        if (!error) {
            accepted++;
            json_decref(op_tiling_decode(&def, 1, bytes, sizeof bytes));
            assert_non_null(op_tiling_header(&arena, &def));
            op_def_release(&def);
        }
        error_free(error);
        arena_free(&arena);
    }
    assert_true(accepted > 100); /* else the mutations test the JSON parser only */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_valid_definition),
        cmocka_unit_test(refuses),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(survives_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
