/* Operator definitions from a jail that may be hostile: what is refused. */
#include "op/op.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

/* A definition whose parts a test may change. */
struct example {
    enum akgen_dtype types[2];
    int formats[2];
    struct op_fill fills[2];
    struct op_param x, y;
    struct op_attr axes;
    struct op_tiling_field inner, fields[2];
    struct op_tiling_struct tiling;
    struct op_def def;
};

static void make(struct example *example)
{
    *example = (struct example){
        .types = {AKGEN_FLOAT, AKGEN_FLOAT16},
        .formats = {2, 2},
        .fills = {{4, 7}, {2, UINT64_MAX}},
        .x = {.name = "x", .types = example->types, .formats = example->formats, .count = 2, .value_depend = true},
        .y = {.name = "y", .types = example->types, .formats = example->formats, .count = 2, .fills = example->fills},
        .axes = {.name = "axes", .type = OP_ATTR_LIST_INT, .value = json_pack("[i,i]", 1, 2)},
        .inner = {.name = "a", .type = "int16_t", .bytes = 6, .array = 3},
        .fields =
            {{.name = "n", .type = "uint32_t", .bytes = 4},
             {.name = "inner", .type = "Inner", .offset = 8, .bytes = 16, .fields = &example->inner, .field_count = 1}},
        .tiling = {.key = "Add", .name = "AddTiling", .bytes = 32, .fields = example->fields, .count = 2},
        .def = {.type = "Add",
                .combinations = 2,
                .has_tiling = true,
                .inputs = &example->x,
                .input_count = 1,
                .outputs = &example->y,
                .output_count = 1,
                .attrs = &example->axes,
                .attr_count = 1,
                .tilings = &example->tiling,
                .tiling_count = 1}};
}

static void accepts_a_valid_definition(void **state)
{
    (void)state;
    struct example example;
    make(&example);
    struct akgen_error *error = op_def_check(&example.def);
    if (error)
        fail_msg("%s", error->message);
    const int16_t bytes[16] = {5, 0, 0, 0, -1, 2, -3};
    json_t *decoded = op_tiling_decode(&example.def, 0, bytes, 32);
    json_t *expected = json_pack("{s:i,s:{s:[i,i,i]}}", "n", 5, "inner", "a", -1, 2, -3);
    assert_true(json_equal(decoded, expected));
    json_decref(decoded);
    json_decref(expected);
    op_def_release(&example.def);
}

static void expect(struct example *example, const char *what)
{
    struct akgen_error *error = op_def_check(&example->def);
    if (!error || !strstr(error->message, what))
        fail_msg("'%s' does not say '%s'", error ? error->message : "accepted", what);
    error_free(error);
    op_def_release(&example->def);
}

static void refuses(void **state)
{
    (void)state;
    struct example example;
#define REFUSED(member, value, what)                                                                                   \
    make(&example);                                                                                                    \
    example.member = value;                                                                                            \
    expect(&example, what)
    REFUSED(def.type, "A;d", "operator type 'A;d' is no identifier");
    REFUSED(def.type, "\xff\xfe", "operator type '?' is no identifier");
    REFUSED(def.combinations, 0, "0 dtype combinations");
    REFUSED(def.combinations, 3, "inputs[0]: parameter 'x' has 2 combinations, expected 3");
    REFUSED(types[1], (enum akgen_dtype)64, "inputs[0]: parameter 'x': types: item 1 is no code from 0 to 63");
    REFUSED(types[0], (enum akgen_dtype) - 1, "item 0 is no code");
    REFUSED(formats[1], 1 << 24, "formats: item 1 is no code");
    REFUSED(formats[1], -1, "formats: item 1 is no code");
    REFUSED(y.name, "a-b", "outputs[0]: parameter name 'a-b' is no identifier");
    REFUSED(y.name, "", "parameter name '' is no identifier");
    REFUSED(fills[1].bytes, 3, "outputs[0]: parameter 'y': fill 1 is no element of 1, 2, 4 or 8 bytes");
    REFUSED(axes.type, OP_ATTR_LIST_BOOL, "attribute 'axes' is no list of true and false");
    REFUSED(axes.name, "a b", "attribute name 'a b' is no identifier");
    REFUSED(tiling.bytes, 31, "tiling structure 'AddTiling': size must be a multiple of 8");
    REFUSED(tiling.bytes, (1 << 20) + 8, "a multiple of 8 up to 1048576");
    REFUSED(tiling.bytes, 16, "tiling structure 'AddTiling': field 'inner' at 8, 16 bytes, does not fit");
    REFUSED(fields[1].offset, 2, "does not fit between 4 and 32");
    REFUSED(fields[1].offset, (uint32_t)-8, "field 'inner' lies outside its structure of 32 bytes");
    REFUSED(fields[0].bytes, UINT32_MAX, "field 'n' lies outside its structure of 32 bytes");
    REFUSED(inner.array, 4, "does not consist of 4 elements");
    REFUSED(inner.array, 17, "field 'a' lies outside its structure of 16 bytes");
    REFUSED(fields[1].array, 1, "field 'inner' of 16 bytes does not consist");
    REFUSED(fields[0].type, "int; system", "'int; system n' is no field");
    REFUSED(fields[0].name, "n[9]", "'uint32_t n[9]' is no field");
    REFUSED(tiling.name, "A {", "tiling structure 'A {' under 'Add': both must be identifiers");
    REFUSED(tiling.key, "1", "both must be identifiers");
#undef REFUSED
}

/* Each list has its limit, which is looked at before its items. */
static void long_lists_are_refused(void **state)
{
    (void)state;
    struct example example;
    static const char *const names[] = {"inputs", "outputs", "tilings", "socs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make(&example);
        int *const counts[] = {&example.def.input_count, &example.def.output_count, &example.def.tiling_count,
                               &example.def.soc_count};
        *counts[i] = OP_MAX_ITEMS + 1;
        char what[64];
        snprintf(what, sizeof what, "%s has 1025 items, more than 1024", names[i]);
        expect(&example, what);
    }
    make(&example);
    example.tiling.count = OP_MAX_ITEMS + 1;
    expect(&example, "fields has 1025 items, more than 1024");
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEEP = 100 };
    struct op_tiling_field fields[DEEP];
    struct example example;
    make(&example);
    for (int i = 0; i < DEEP; i++)
        fields[i] = (struct op_tiling_field){
            .name = "f", .type = "T", .bytes = 8, .fields = i ? &fields[i - 1] : NULL, .field_count = i > 0};
    example.tiling.fields = &fields[DEEP - 1];
    example.tiling.count = 1;
    expect(&example, "nested more than 8 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_valid_definition),
        cmocka_unit_test(refuses),
        cmocka_unit_test(long_lists_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
