/* Operator projects: what is found in them, and what each kind of broken one is told. */
#include "op/op.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>

static struct arena arena;

static const char kernel[] = "#include \"kernel_operator.h\"\n"
                             "/* __global__ void not_me(int) */\n"
                             "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x) {}\n";

/* Files of several projects, "good/op_host/add.cpp". */
static struct op_file files[64];
static size_t file_count;

static void put(const char *path, const char *text)
{
    size_t i = 0;
    while (i < file_count && strcmp(files[i].path, path) != 0)
        i++;
    assert_true(i < sizeof files / sizeof *files);
    files[i] = (struct op_file){path, text, strlen(text)};
    file_count += i == file_count;
}

/* The files of one project. */
static const struct op_files *in(const char *project)
{
    struct op_file found[sizeof files / sizeof *files];
    struct op_files *all = arena_alloc(&arena, sizeof *all);
    size_t count = 0, length = strlen(project);
    for (size_t i = 0; i < file_count; i++)
        if (strncmp(files[i].path, project, length) == 0 && files[i].path[length] == '/') {
            found[count] = files[i];
            found[count++].path += length + 1;
        }
    *all = op_files_of(&arena, found, count);
    return all;
}

static void expect_error(const char *dir, const char *op_type, const char *part)
{
    struct op_project project;
    struct akgen_error *error = op_project_find(&arena, in(dir), op_type, true, &project);
    assert_non_null(error);
    if (!strstr(error->message, part))
        fail_msg("'%s' does not say '%s'", error->message, part);
    error_free(error);
}

static const char *repeated(const char *piece, size_t times)
{
    size_t length = strlen(piece);
    char *text = arena_alloc(&arena, length * times + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * length, piece, length);
    text[length * times] = '\0';
    return text;
}

/* Megabytes are read once, not once for each word in them: each of these would take minutes and gigabytes. */
static void a_long_file_is_read_once(void **state)
{
    (void)state;
    static const char entry[] = "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x) {}";
    const double enough = 10; /* seconds of the processor; it takes less than one */
    clock_t start = clock();
    put("many/op_kernel/add_custom.cpp", repeated("__global__ void f(int); ", 100000));
    expect_error("many", "AddCustom",
                 "is called f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, ..., expected");
    put("nothing/op_kernel/add_custom.cpp", repeated("__global__ ", 400000));
    expect_error("nothing", "AddCustom", "no __global__ function");
    put("options/op_host/add_custom.cpp", "OP_ADD(AddCustom);");
    put("options/op_kernel/add_custom.cpp", entry);
    put("options/CMakeLists.txt",
        arena_printf(&arena, "%s%s", repeated("add_ops_compile_options(", 100000), repeated(")", 100000)));
    struct op_project project;
    assert_null(op_project_find(&arena, in("options"), "AddCustom", true, &project));
    put("options/CMakeLists.txt", arena_printf(&arena, "add_ops_compile_options(%s)", repeated("-DA ", 400000)));
    expect_error("options", "AddCustom", "CMakeLists.txt: more than 4096 bytes of compile options");
    if ((double)(clock() - start) / CLOCKS_PER_SEC > enough)
        fail_msg("%.1f s", (double)(clock() - start) / CLOCKS_PER_SEC);
}

static void names_like_msopgen(void **state)
{
    (void)state;
    const char *const pairs[][2] = {
        {"AddCustom", "add_custom"},
        {"Sqrt", "sqrt"},
        {"TopKV3", "top_kv3"},
        {"GeGluV2", "ge_glu_v2"},
        {"ApplyAdamWV2", "apply_adam_wv2"},
        {"SelectReduceMaxDSubExpReduceSumDRealDiv", "select_reduce_max_d_sub_exp_reduce_sum_d_real_div"},
        {"MseLossGradV2", "mse_loss_grad_v2"},
        {"ForeachLog1p", "foreach_log1p"},
        {"CastMath", "cast_math"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(op_snake_case(&arena, pairs[i][0]), pairs[i][1]);
}

static void finds_a_project(void **state)
{
    (void)state;
    put("good/op_kernel/add_custom.cpp", kernel);
    put("good/op_kernel/helper.h", "");
    put("good/op_host/add_custom.cpp", "#include \"register/op_def_registry.h\"\n");
    put("good/op_host/add_custom_def.cpp", "#include \"register/op_def_registry.h\"\n");
    put("good/op_host/aclnn_add.cpp", "#include \"aclnn/aclnn_base.h\"\n");
    put("good/op_host/add_l0.cpp", "#include \"opdev/op_log.h\"\n// no TilingContext\n");
    put("good/op_host/add_tiling.cpp", "#include \"aclnn/opdev/platform.h\"\nbool f(gert::TilingContext *);\n");
    put("good/CMakeLists.txt", "# --cce-auto-sync=on in a comment\n"
                               "add_ops_compile_options(\n OP_NAME AddCustom\n OPTIONS --cce-auto-sync=off -DTILE=4\n"
                               " -Werror -DSHELL=$(id) -Iinclude -I/etc -I../up -fplugin=x -UOLD)\n");
    struct op_project project;
    const char *const types[] = {"AddCustom", NULL};
    for (int i = 0; i < 2; i++) {
        assert_null(op_project_find(&arena, in("good"), types[i], true, &project));
        assert_string_equal(project.entry, "add_custom");
        assert_string_equal(project.kernel_source, "op_kernel/add_custom.cpp");
        assert_int_equal(project.host_count, 3);
        assert_string_equal(project.host_sources[1], "op_host/add_custom_def.cpp");
        assert_string_equal(project.host_sources[2], "op_host/add_tiling.cpp");
        assert_int_equal(project.sync, NPU_SYNC_MANUAL);
        assert_true(project.sync_stated);
        assert_string_equal(project.options, "-DTILE=4 -Iinclude -UOLD");
    }
}

/* The OpDef may give the kernel's source another name. */
static void takes_the_source_that_op_file_names(void **state)
{
    (void)state;
    static const char def[] = "config950.ExtendCfgInfo(\"opFile.value\", \"../x\");\n"
                              "config.ExtendCfgInfo(\"opFile.value\",\n                     \"add_apt\");\n";
    put("named/op_kernel/add_apt.cpp", kernel);
    put("named/op_host/add_def.cpp", def);
    struct op_project project;
    assert_null(op_project_find(&arena, in("named"), "AddCustom", true, &project));
    assert_string_equal(project.entry, "add_custom");
    assert_string_equal(project.kernel_source, "op_kernel/add_apt.cpp");
    put("named/op_host/add_def.cpp", "config.ExtendCfgInfo(\"opFile.value\", \"other\");");
    expect_error("named", "AddCustom", "no kernel source add_custom.cpp; the folder holds add_apt.cpp");
    put("named/op_host/add_def.cpp", def);
    put("named/op_kernel/add_custom.cpp", kernel);
    assert_null(op_project_find(&arena, in("named"), "AddCustom", true, &project));
    assert_string_equal(project.kernel_source, "op_kernel/add_custom.cpp");
}

static void defaults_without_cmake(void **state)
{
    (void)state;
    put("bare/op_kernel/add_custom.cpp", kernel);
    struct op_project project;
    assert_null(op_project_find(&arena, in("bare"), "AddCustom", false, &project));
    assert_int_equal(project.host_count, 0);
    assert_int_equal(project.sync, NPU_SYNC_AUTO);
    assert_false(project.sync_stated);
    assert_string_equal(project.options, "");
    expect_error("bare", "AddCustom", "there is no folder op_host");
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    expect_error("nowhere", "AddCustom", "there is no folder op_kernel");
    put("file/op_kernel", "");
    expect_error("file", "AddCustom", "there is no folder op_kernel");
    put("nokernel/op_host/a.cpp", "");
    expect_error("nokernel", "AddCustom", "there is no folder op_kernel");
    struct op_project project;
    struct akgen_error *error = op_project_find(&arena, in("nokernel"), "AddCustom", true, &project);
    assert_string_equal(error->message, "there is no folder op_kernel");
    error_free(error);
    put("headers/op_kernel/a.h", "");
    expect_error("headers", "AddCustom", "no kernel source");
    put("other/op_kernel/mul_custom.cpp", kernel);
    expect_error("other", "AddCustom", "no kernel source add_custom.cpp; the folder holds mul_custom.cpp");
    put("empty/op_kernel/add_custom.cpp", "// nothing but a comment\n \n");
    expect_error("empty", "AddCustom", "the kernel source is empty");
    put("noentry/op_kernel/add_custom.cpp",
        "void add_custom(int) {} // __global__\n#define G __global__ void x(int)\n");
    expect_error("noentry", "AddCustom", "no __global__ function");
    expect_error("noentry", NULL, "no source has a __global__ function");
    put("ratio/op_kernel/add_custom.cpp", "__global__ __mix__(1, 2) __attribute__((used)) void add(int a) {}");
    expect_error("ratio", "AddCustom", "is called add, expected add_custom");
    put("misnamed/op_kernel/add_custom.cpp", "extern\"C\" __global__ __aicore__ void add(int a) {}");
    expect_error("misnamed", "AddCustom", "is called add, expected add_custom");
    put("several/op_kernel/a.cpp", kernel);
    put("several/op_kernel/b.cpp", kernel);
    expect_error("several", NULL, "several sources have a __global__ function (a.cpp, b.cpp)");
    put("onlyapi/op_kernel/add_custom.cpp", kernel);
    put("onlyapi/op_host/aclnn.cpp", "#include <aclnn/opdev/op_log.h>\n");
    expect_error("onlyapi", "AddCustom", "no host source");
}

/* A folder comes before what is in it, and names are compared part by part, as a walk through folders meets them. */
static void files_have_one_order(void **state)
{
    (void)state;
    static const char *const expected[] = {"a/", "a/b/", "a/b/c", "a/z", "a.b", "b"};
    static const char *const orders[][4] = {{"b", "a.b", "a/z", "a/b/c"}, {"a/b/c", "a/z", "a.b", "b"}};
    const char *digests[2];
    for (int i = 0; i < 2; i++) {
        struct op_file given[4];
        for (int k = 0; k < 4; k++)
            given[k] = (struct op_file){orders[i][k], orders[i][k], strlen(orders[i][k])};
        const struct op_files found = op_files_of(&arena, given, 4);
        assert_int_equal(found.count, 6);
        for (int k = 0; k < 6; k++)
            assert_string_equal(found.items[k].path, expected[k]);
        assert_true(op_file_is_folder(op_files_find(&found, "a/b/")));
        assert_string_equal(op_files_find(&found, "a/b/c")->bytes, "a/b/c");
        assert_null(op_files_find(&found, "a/b"));
        digests[i] = op_files_digest(&arena, &found);
    }
    assert_string_equal(digests[0], digests[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_like_msopgen),
        cmocka_unit_test(finds_a_project),
        cmocka_unit_test(takes_the_source_that_op_file_names),
        cmocka_unit_test(defaults_without_cmake),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(files_have_one_order),
        cmocka_unit_test(a_long_file_is_read_once),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
