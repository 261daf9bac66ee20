/* Operator projects on disk: what is found in them, and what each kind of broken one is told. */
#include "base/inject.h"
#include "op/op.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char work[] = "/tmp/akgen-project-test-XXXXXX";
static struct arena arena;

static const char kernel[] = "#include \"kernel_operator.h\"\n"
                             "/* __global__ void not_me(int) */\n"
                             "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x) {}\n";

static void put(const char *name, const char *text)
{
    char *path = arena_printf(&arena, "%s/%s", work, name);
    for (char *slash = path + strlen(work) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *in(const char *name)
{
    return arena_printf(&arena, "%s/%s", work, name);
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
        assert_string_equal(project.kernel_source, in("good/op_kernel/add_custom.cpp"));
        assert_int_equal(project.host_count, 3);
        assert_string_equal(project.host_sources[1], in("good/op_host/add_custom_def.cpp"));
        assert_string_equal(project.host_sources[2], in("good/op_host/add_tiling.cpp"));
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
    assert_string_equal(project.kernel_source, in("named/op_kernel/add_apt.cpp"));
    put("named/op_host/add_def.cpp", "config.ExtendCfgInfo(\"opFile.value\", \"other\");");
    expect_error("named", "AddCustom", "no kernel source add_custom.cpp; the folder holds add_apt.cpp");
    put("named/op_host/add_def.cpp", def);
    put("named/op_kernel/add_custom.cpp", kernel);
    assert_null(op_project_find(&arena, in("named"), "AddCustom", true, &project));
    assert_string_equal(project.kernel_source, in("named/op_kernel/add_custom.cpp"));
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
    expect_error("nowhere", "AddCustom", "no such directory");
    put("file", "");
    expect_error("file", "AddCustom", "not a directory");
    put("nokernel/op_host/a.cpp", "");
    expect_error("nokernel", "AddCustom", "there is no folder op_kernel");
    struct op_project project;
    struct akgen_error *error = op_project_find(&arena, in("nokernel"), "AddCustom", true, &project);
    assert_string_equal(error->message, "there is no folder op_kernel"); /* wherever it lies */
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

static int remove_work(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", work);
    arena_free(&arena);
    return system(command);
}

/* Of what is there and cannot be read, nothing is concluded about the project. */
static void a_file_that_ends_early(void **state)
{
    (void)state;
    for (int number = 1; number <= 3; number++) { /* the kernel, the host part, CMakeLists.txt */
        struct op_project project;
        inject_arm(INJECT_READ, number, number);
        struct akgen_error *error = op_project_find(&arena, in("good"), "AddCustom", true, &project);
        assert_non_null(error);
        assert_non_null(project.unreadable);
        assert_non_null(strstr(error->message, project.unreadable));
        assert_non_null(strstr(error->message, "could not be read to its end"));
        error_free(error);
    }
    inject_arm(INJECT_READ, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_like_msopgen),
        cmocka_unit_test(finds_a_project),
        cmocka_unit_test(takes_the_source_that_op_file_names),
        cmocka_unit_test(defaults_without_cmake),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(a_file_that_ends_early),
    };
    if (!mkdtemp(work))
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_work);
}
