/* Host parts compiled from tests/unit/op/samples with the headers of include/cann, loaded, described and tiled. */
#include "abi/op_abi.h"
#include "jail/host_job.h"
#include "jail/wire.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES AKGEN_SOURCE_DIR "/tests/unit/op/samples/"

static char work[] = "/tmp/akgen-host-test-XXXXXX";
static struct arena arena;

static void run_compiler(const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command,
             "clang++-19 -std=c++17 -O0 -fPIC -Wall -Wextra -Werror -I" AKGEN_SOURCE_DIR
             "/include/cann -I" AKGEN_SOURCE_DIR "/include %s",
             arguments);
    assert_int_equal(system(command), 0);
}

/* What akgen-host has compiled for all host parts. */
static const char *types(void)
{
    const char *object = arena_printf(&arena, "%s/types.o", work);
    if (access(object, R_OK) != 0)
        run_compiler(arena_printf(&arena, "-c " AKGEN_SOURCE_DIR "/src/jail/inside/host/types.cpp -o %s", object));
    return object;
}

static const char *build(const char *sample)
{
    const char *so = arena_printf(&arena, "%s/%s.so", work, sample);
    if (access(so, R_OK) != 0)
        run_compiler(arena_printf(&arena, "-shared " SAMPLES "%s.cpp %s -o %s", sample, types(), so));
    return so;
}

static void expect_error(struct akgen_error *error, const char *part)
{
    assert_non_null(error);
    if (!strstr(error->message, part))
        fail_msg("'%s' does not say '%s'", error->message, part);
    error_free(error);
}

/* As akgen-host does, but for the way in which it is loaded. */
static struct akgen_error *describe(struct arena *into, const char *so, const char *type, const struct npu_soc *soc,
                                    struct op_def *def)
{
    op_registry_loading(so);
    void *loaded = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    op_registry_loading(NULL);
    if (!loaded)
        fail_msg("%s", dlerror());
    return op_describe(into, so, type, soc, def);
}

static void describe_probe(struct op_def *def)
{
    struct akgen_error *error = describe(&arena, build("probe_op"), "Probe", NULL, def);
    if (error)
        fail_msg("%s", error->message);
}

static void describes_parameters(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    assert_string_equal(def.type, "Probe");
    assert_int_equal(def.combinations, 2);
    assert_int_equal(def.input_count, 5);
    assert_int_equal(def.output_count, 2);
    assert_true(def.has_tiling);
    assert_string_equal(def.inputs[2].name, "list");
    assert_int_equal(def.inputs[0].param_type, OP_REQUIRED);
    assert_int_equal(def.inputs[1].param_type, OP_OPTIONAL);
    assert_int_equal(def.inputs[2].param_type, OP_DYNAMIC);
    assert_int_equal(def.inputs[0].types[0], AKGEN_FLOAT16);
    assert_int_equal(def.inputs[0].types[1], AKGEN_FLOAT);
    assert_int_equal(def.inputs[3].types[1], AKGEN_INT64);
    assert_true(def.inputs[3].value_depend && !def.inputs[3].scalar);
    assert_true(def.inputs[4].scalar && !def.inputs[4].value_depend);
    assert_int_equal(def.outputs[1].types[1], AKGEN_FLOAT);
    assert_true(def.outputs[1].shape_depends);
    assert_int_equal(def.soc_count, 2);
    assert_string_equal(def.socs[1], "ascend910_93");
    op_def_release(&def);
}

static void describes_attributes(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    assert_int_equal(def.attr_count, 5);
    assert_int_equal(def.attrs[0].type, OP_ATTR_FLOAT);
    assert_true(json_real_value(def.attrs[0].value) == 0.5);
    assert_true(def.attrs[1].required && !def.attrs[1].value);
    assert_false(def.attrs[2].required);
    assert_int_equal(json_integer_value(json_array_get(def.attrs[2].value, 1)), -1);
    assert_true(json_is_true(def.attrs[3].value));
    assert_string_equal(json_string_value(def.attrs[4].value), "mean");
    op_def_release(&def);
}

static void refuses_to_describe(void **state)
{
    (void)state;
    struct op_def def;
    expect_error(describe(&arena, build("no_op"), NULL, NULL, &def), "OP_ADD is missing");
    expect_error(describe(&arena, build("plain_op"), NULL, NULL, &def), "several operators (PlainSecond, PlainFirst)");
    expect_error(describe(&arena, build("plain_op"), "Other", NULL, &def), "expected OP_ADD(Other)");
    expect_error(describe(&arena, build("plain_op"), "PlainSecond", NULL, &def),
                 "input 'y' lists 1 data types, but 'x' lists 2");
}

/* Two alternatives of x with each of the three combinations of y. */
static void multiplies_type_lists(void **state)
{
    (void)state;
    struct op_def def;
    assert_null(describe(&arena, build("plain_op"), "PlainFirst", NULL, &def));
    assert_int_equal(def.combinations, 6);
    const enum akgen_dtype x[] = {AKGEN_FLOAT, AKGEN_FLOAT, AKGEN_FLOAT, AKGEN_BF16, AKGEN_BF16, AKGEN_BF16};
    const enum akgen_dtype y[] = {AKGEN_INT32, AKGEN_INT8, AKGEN_INT16, AKGEN_INT32, AKGEN_INT8, AKGEN_INT16};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(def.inputs[0].types[i], x[i]);
        assert_int_equal(def.inputs[1].types[i], y[i]);
    }
    op_def_release(&def);
}

/* Tiling. */

struct probe_call {
    struct op_tensor x, list[2], k, s, out[2];
    struct op_argument inputs[5], outputs[2];
    struct op_attr attrs[5];
    struct op_call call;
};

static const int64_t k_value[] = {123456789012};
static const float s_value[] = {2.5f};

static void make_call(struct probe_call *c, int mode)
{
    memset(c, 0, sizeof *c);
    c->x = (struct op_tensor){.type = AKGEN_FLOAT, .format = 2, .rank = 3, .dims = {2, 3, 5}};
    c->list[0] = (struct op_tensor){.type = AKGEN_FLOAT, .format = 2, .rank = 1, .dims = {11}};
    c->list[1] = (struct op_tensor){.type = AKGEN_FLOAT, .format = 2, .rank = 1, .dims = {13}};
    c->k = (struct op_tensor){.type = AKGEN_INT64, .format = 2, .rank = 1, .dims = {1}, .values = k_value};
    c->s = (struct op_tensor){.type = AKGEN_FLOAT, .format = 2, .rank = 1, .dims = {1}, .values = s_value};
    c->inputs[0] = (struct op_argument){&c->x, 1};
    c->inputs[2] = (struct op_argument){c->list, 2};
    /* k is input 3 of the OpDef and, with w absent and two tensors in the list, also position 3. */
    c->inputs[3] = (struct op_argument){&c->k, 1};
    c->inputs[4] = (struct op_argument){&c->s, 1};
    c->out[0] = c->x;
    c->outputs[0] = (struct op_argument){&c->out[0], 1};
    c->outputs[1] = (struct op_argument){c->list, 2};
    c->attrs[1].value = json_integer(mode);
    c->call = (struct op_call){.soc = npu_soc_find("Ascend910B4"),
                               .inputs = c->inputs,
                               .outputs = c->outputs,
                               .attrs = c->attrs,
                               .input_count = 5,
                               .output_count = 2,
                               .attr_count = 5};
}

static void tiles_what_it_sees(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    struct probe_call c;
    make_call(&c, 6);
    struct op_tiling tiling;
    struct akgen_error *error = op_tile(&def, &c.call, &tiling);
    if (error)
        fail_msg("%s", error->message);
    assert_int_equal(tiling.block_dim, 40);
    assert_int_equal(tiling.key, 3);
    assert_int_equal(tiling.workspace, 1024);
    json_t *decoded = op_tiling_decode(&def, tiling.key, tiling.bytes, tiling.size);
    json_t *expected =
        json_pack("{s:i,s:i,s:i,s:{s:i,s:[i,i,i],s:i},s:i,s:i,s:f,s:i,s:[i,i],s:i,s:i,s:i,s:i,s:f,s:I,s:i}", "inputs",
                  5, "elements", 30, "absent", 1, "inner", "small", 9, "trio", 10, 20, 30, "last", 30, "dtype", 0,
                  "listDim", 13, "scale", 0.5, "mode", 6, "axes", 3, -1, "flag", 1, "nameLength", 4, "ub", 196352,
                  "cores", 40, "scalarValue", 2.5, "kValue", (json_int_t)k_value[0], "listStart", 1);
    if (!json_equal(decoded, expected))
        fail_msg("%s", json_dumps(decoded, JSON_COMPACT));
    json_decref(decoded);
    json_decref(expected);
    json_decref(c.attrs[1].value);
    free(tiling.bytes);
    op_def_release(&def);
}

static void reads_values_as_opbase_does(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    struct probe_call c;
    make_call(&c, 8);
    struct op_tiling tiling;
    assert_null(op_tile(&def, &c.call, &tiling));
    assert_int_equal(tiling.key, 8);
    json_decref(c.attrs[1].value);
    free(tiling.bytes);
    op_def_release(&def);
}

/* CANN 8.1, data/platform_config: the two series have names of their own. */
static void the_chip_says_its_series(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"Ascend910B2", "Ascend910B"}, {"Ascend910_9392", "Ascend910_93"}};
    for (int i = 0; i < 2; i++) {
        const struct akgen_platform *chip = (const struct akgen_platform *)npu_soc_find(names[i][0]);
        assert_string_equal(akgen_platform_resource(chip, "version", "Short_SoC_version"), names[i][1]);
        assert_string_equal(akgen_platform_resource(chip, "version", "SoC_version"), names[i][0]);
    }
}

static void selects_by_key(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    struct probe_call c;
    make_call(&c, 7);
    struct op_tiling tiling;
    assert_null(op_tile(&def, &c.call, &tiling));
    assert_int_equal(tiling.size, 8);
    assert_string_equal(op_tiling_select(&def, 7)->name, "ProbeSmall");
    assert_string_equal(op_tiling_select(&def, 77)->name, "ProbeTilingData");
    json_t *decoded = op_tiling_decode(&def, tiling.key, tiling.bytes, tiling.size);
    assert_int_equal(json_integer_value(json_object_get(decoded, "only")), -5);
    json_decref(decoded);
    /* Fewer bytes than the structure has: null, not a read past the end. */
    decoded = op_tiling_decode(&def, 3, tiling.bytes, tiling.size);
    assert_true(json_is_null(json_object_get(decoded, "ub")));
    assert_true(json_is_integer(json_object_get(decoded, "elements")));
    json_decref(decoded);
    json_decref(c.attrs[1].value);
    free(tiling.bytes);
    op_def_release(&def);
}

static void expect_tiling_error(struct probe_call *c, const char *part)
{
    struct op_def def;
    struct op_tiling tiling;
    describe_probe(&def);
    expect_error(op_tile(&def, &c->call, &tiling), part);
    assert_null(tiling.bytes);
    json_decref(c->attrs[1].value);
    op_def_release(&def);
}

static void refuses_to_tile(void **state)
{
    (void)state;
    struct probe_call c;
    make_call(&c, -1);
    expect_tiling_error(&c, "returned GRAPH_FAILED");
    make_call(&c, -2);
    expect_tiling_error(&c, "did not call SetBlockDim");
    make_call(&c, -3);
    expect_tiling_error(&c, "block dim of 0");
    make_call(&c, -4);
    expect_tiling_error(&c, "ProbeTilingData is 112 bytes long, the buffer has room for 8");
    make_call(&c, 6);
    json_decref(c.attrs[1].value);
    c.attrs[1].value = NULL;
    expect_tiling_error(&c, "attribute 'mode' is required");
    make_call(&c, 6);
    json_decref(c.attrs[1].value);
    c.attrs[1].value = json_string("six");
    expect_tiling_error(&c, "attribute 'mode' is no integer");
    make_call(&c, 6);
    c.inputs[0].count = 0;
    expect_tiling_error(&c, "input 'x' is required");
    make_call(&c, 6);
    c.call.output_count = 1;
    expect_tiling_error(&c, "has 2 outputs, the call has 1");
}

static void tiles_plain_structures(void **state)
{
    (void)state;
    struct op_def def;
    assert_null(describe(&arena, build("plain_op"), "PlainFirst", NULL, &def));
    struct op_tensor tensor = {.type = AKGEN_FLOAT, .format = 2, .rank = 1, .dims = {77}};
    struct op_argument inputs[2] = {{&tensor, 1}, {&tensor, 1}};
    struct op_call call = {.soc = npu_soc_find("Ascend910B4"), .inputs = inputs, .input_count = 2};
    struct op_tiling tiling;
    struct akgen_error *error = op_tile(&def, &call, &tiling);
    if (error)
        fail_msg("%s", error->message);
    const struct {
        uint32_t length, cores;
        uint64_t ub, ub_reserved, l1, ub_whole;
        uint32_t mix_blocks, too_many_blocks;
    } *plain = tiling.bytes;
    assert_int_equal(tiling.size, sizeof *plain);
    assert_int_equal(plain->length, 77);
    assert_int_equal(plain->cores, 20);
    assert_int_equal(plain->ub, 196352);
    assert_int_equal(plain->ub_reserved, 196352 - 16384);
    assert_int_equal(plain->l1, 524288 - 256);
    assert_int_equal(plain->ub_whole, 196608);
    assert_int_equal(plain->mix_blocks, 20); /* 39 slices on 20 pairs of vector cores */
    assert_int_equal(plain->too_many_blocks, 0);
    assert_null(op_tiling_select(&def, 0));
    free(tiling.bytes);
    op_def_release(&def);
    def = (struct op_def){.type = "NeverRegistered"};
    expect_error(op_tile(&def, &call, &tiling), "has no tiling function");
}

/* The header for the kernel has the host's layout: a C++ compiler checks the offsets. */
static void header_has_the_layout(void **state)
{
    (void)state;
    struct op_def def;
    describe_probe(&def);
    const char *path = arena_printf(&arena, "%s/tiling.h", work);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(op_tiling_header(&arena, &def), file);
    assert_int_equal(fclose(file), 0);
    run_compiler(arena_printf(&arena, "-fsyntax-only -include %s -include %s " SAMPLES "probe_layout.cpp", path, path));
    op_def_release(&def);
}

static void message_round_trip(void **state)
{
    (void)state;
    struct host_result sent = {0}, copy = {0};
    describe_probe(&sent.def);
    size_t length, again;
    const void *message = wire_encode(&arena, WIRE_HOST_RESULT, &sent, &length);
    struct akgen_error *error = host_result_decode(&arena, message, length, &copy);
    if (error)
        fail_msg("%s", error->message);
    assert_memory_equal(wire_encode(&arena, WIRE_HOST_RESULT, &copy, &again), message, length);
    assert_int_equal(again, length);
    assert_string_equal(op_tiling_header(&arena, &sent.def), op_tiling_header(&arena, &copy.def));
    op_def_release(&copy.def);
    op_def_release(&sent.def);
}

/* CANN's names that the runtime lacks are named by the compiler, which is how a verdict tells them from errors. */
static void names_what_is_unsupported(void **state)
{
    (void)state;
    const char *const lines[][2] = {
        {"void f() { matmul_tiling::BatchMatmulTiling t; t.SetScaleAType(matmul_tiling::TPosition::GM, "
         "matmul_tiling::CubeFormat::ND); }",
         "akgen-unsupported: SetScaleAType"},
        {"namespace optiling { BEGIN_TILING_DATA_DEF(All) TILING_DATA_FIELD_DEF_STRUCT(Mc2InitTiling, init); "
         "END_TILING_DATA_DEF; }",
         "akgen-unsupported: Mc2InitTiling"},
        {"void f() { AscendC::Mc2CcTilingConfig c(\"group\", 1, \"\"); }", "akgen-unsupported: Mc2CcTilingConfig"},
        {"unsigned f(platform_ascendc::PlatformAscendC &p) { return p.GetVecRegLen(); }",
         "akgen-unsupported: GetVecRegLen"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *source = arena_printf(&arena, "%s/unsupported.cpp", work),
                   *output = arena_printf(&arena, "%s.txt", source);
        FILE *file = fopen(source, "w");
        assert_non_null(file);
        fprintf(file, "#include \"tiling/tiling_api.h\"\n%s\n", lines[i][0]);
        assert_int_equal(fclose(file), 0);
        const char *command = arena_printf(&arena,
                                           "clang++-19 -std=c++17 -fsyntax-only -I" AKGEN_SOURCE_DIR
                                           "/include/cann -I" AKGEN_SOURCE_DIR "/include %s 2>%s",
                                           source, output);
        assert_int_not_equal(system(command), 0);
        char text[8192] = "";
        file = fopen(output, "r");
        assert_non_null(file);
        assert_true(fread(text, 1, sizeof text - 1, file) > 0);
        fclose(file);
        if (!strstr(text, lines[i][1]))
            fail_msg("%s", text);
    }
}

/* Keys of template arguments: a type by its value, a number by its place in ranges and lists, a switch behind them. */
static void keys_hold_template_arguments(void **state)
{
    (void)state;
    const char *source = arena_printf(&arena, "%s/key.cpp", work);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs("#include \"ascendc/host_api/tiling/template_argument.h\"\n"
          "ASCENDC_TPL_ARGS_DECL(Add, ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_BF16),\n"
          "    ASCENDC_TPL_UINT_DECL(N, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_MIX, 2, 1, 2, 8, 9, 100),\n"
          "    ASCENDC_TPL_UINT_DECL(M, 3, ASCENDC_TPL_UI_LIST, 7, 5), ASCENDC_TPL_BOOL_DECL(S, 0, 1),);\n"
          "ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_BOOL_SEL(S, 0, 1)));\n"
          "struct { void SetTilingKey(uint64_t key) { std::printf(\"%llu\\n\", (unsigned long long)key); } } context;\n"
          "int main() { auto *to = &context; ASCENDC_TPL_SEL_PARAM(to, C_DT_BF16, 100, 5, 1);\n"
          "    ASCENDC_TPL_SEL_PARAM(to, C_DT_FLOAT, 3, 7, 0); return 0; }\n",
          file);
    assert_int_equal(fclose(file), 0);
    const char *command = arena_printf(&arena,
                                       "clang++-19 -std=c++17 -I" AKGEN_SOURCE_DIR "/include/cann -I" AKGEN_SOURCE_DIR
                                       "/include %s -o %s.out && %s.out",
                                       source, source, source);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    char text[512] = "";
    assert_true(fread(text, 1, sizeof text - 1, output) > 0);
    assert_int_equal(pclose(output), 0);
    /* 27 | 4 << 8 | 1 << 12 | 1 << 15 */
    assert_string_equal(text, "37915\n[ERROR] ASCENDC_TPL_UINT_DECL of N has no value 3\n18446744073709551615\n");
}

static int remove_work(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", work);
    arena_free(&arena);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_parameters),      cmocka_unit_test(describes_attributes),
        cmocka_unit_test(refuses_to_describe),       cmocka_unit_test(multiplies_type_lists),
        cmocka_unit_test(tiles_what_it_sees),        cmocka_unit_test(reads_values_as_opbase_does),
        cmocka_unit_test(the_chip_says_its_series),  cmocka_unit_test(selects_by_key),
        cmocka_unit_test(refuses_to_tile),           cmocka_unit_test(tiles_plain_structures),
        cmocka_unit_test(header_has_the_layout),     cmocka_unit_test(message_round_trip),
        cmocka_unit_test(names_what_is_unsupported), cmocka_unit_test(keys_hold_template_arguments),
    };
    if (!mkdtemp(work))
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_work);
}
