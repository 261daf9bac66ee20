/* The files that a candidate begins with: of every task, of task.yaml's keys, of a folder of the task's own. */
#include "task/task.h"

#include "base/files.h"
#include "op/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One of each: a list, an optional scalar, an input whose values tiling reads, an output of its name, defaults. */
static const char yaml[] =
    "suite: test\n"
    "level: 1\n"
    "category: Math\n"
    "op: MulAll\n"
    "reference: formula\n"
    "cores: cube\n"
    "inputs:\n"
    "  - {name: x, kind: tensor_list, shape: '[[4]]', dtype: float16, types: [float16, float32], generate: randn}\n"
    "  - {name: scale, kind: scalar, optional: true, shape: '[]', dtype: float32, types: [float32, float32], generate: "
    "rand}\n"
    "  - {name: at, shape: '[1]', dtype: int64, types: [int64, int64], generate: '0', value_depend: optional}\n"
    "outputs:\n"
    "  - {name: at, shape: '[1]', dtype: int64, types: [int64, int64], in_place: at, formula: at}\n"
    "  - {name: y, shape: '[4]', dtype: int64, types: [int64, int64], formula: at, shape_depends: true}\n"
    "attrs:\n"
    "  - {name: axis, type: int, value: '1', default: -1}\n"
    "  - {name: kind, type: string, value: '\"mean\"', default: mean}\n"
    "  - {name: shape, type: list_int, value: '[1]', default: '{}'}\n"
    "  - {name: eps, type: float, value: '0.1'}\n"
    "  - {name: flag, type: bool, value: 'true', unsaid: true}\n";
/* As msopgen's OpDefs are written; what CANN's documentation of OpParamDef and OpAttrDef calls each. */
static const char opdef[] = "        this->Input(\"x\")\n"
                            "            .ParamType(DYNAMIC)\n"
                            "            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})\n"
                            "            .Format({ge::FORMAT_ND, ge::FORMAT_ND});\n"
                            "        this->Input(\"scale\")\n"
                            "            .ParamType(OPTIONAL)\n"
                            "            .DataType({ge::DT_FLOAT, ge::DT_FLOAT})\n"
                            "            .Format({ge::FORMAT_ND, ge::FORMAT_ND})\n"
                            "            .Scalar();\n"
                            "        this->Input(\"at\")\n"
                            "            .ParamType(REQUIRED)\n"
                            "            .DataType({ge::DT_INT64, ge::DT_INT64})\n"
                            "            .Format({ge::FORMAT_ND, ge::FORMAT_ND})\n"
                            "            .ValueDepend(OPTIONAL);\n"
                            "        this->Output(\"at\")\n"
                            "            .ParamType(REQUIRED)\n"
                            "            .DataType({ge::DT_INT64, ge::DT_INT64})\n"
                            "            .Format({ge::FORMAT_ND, ge::FORMAT_ND});\n"
                            "        this->Output(\"y\")\n"
                            "            .ParamType(REQUIRED)\n"
                            "            .DataType({ge::DT_INT64, ge::DT_INT64})\n"
                            "            .Format({ge::FORMAT_ND, ge::FORMAT_ND})\n"
                            "            .OutputShapeDependOnCompute();\n"
                            "        this->Attr(\"axis\").AttrType(OPTIONAL).Int(-1);\n"
                            "        this->Attr(\"kind\").AttrType(OPTIONAL).String(\"mean\");\n"
                            "        this->Attr(\"shape\").AttrType(OPTIONAL).ListInt({});\n"
                            "        this->Attr(\"eps\").AttrType(REQUIRED).Float();\n"
                            "        this->Attr(\"flag\").Bool();\n"
                            "        this->AICore().SetTiling(optiling::TilingFunc);\n";
static const char entry[] = "extern \"C\" __global__ __aicore__ void mul_all(GM_ADDR x, GM_ADDR scale, GM_ADDR at, "
                            "GM_ADDR at_out, GM_ADDR y,\n"
                            "    GM_ADDR shape_out, GM_ADDR workspace, GM_ADDR tiling)\n{\n";

static void load(struct arena *arena, const char *dir, struct task *task)
{
    struct akgen_error *error = task_of_texts(arena, dir, yaml, "case_id\n0\n", task);
    if (error)
        fail_msg("%s", error->message);
}

static void keys_are_written(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    struct task_question question;
    load(&arena, "/nowhere", &task);
    for (int given = 0; given < 2; given++) {
        assert_null(task_question(&arena, &task, given, &question));
        assert_int_equal(question.count, 2);
        assert_int_equal(question.cores, TASK_CORES_CUBE);
        assert_string_equal(question.files[0].path, "op_host/mul_all.cpp");
        assert_string_equal(question.files[1].path, "op_kernel/mul_all.cpp");
        assert_non_null(strstr(question.files[0].bytes, opdef));
        assert_non_null(strstr(question.files[0].bytes, "context->SetBlockDim(platform.GetCoreNumAic());"));
        assert_int_equal(!!strstr(question.files[0].bytes, "// The host part is given"), given);
        assert_non_null(strstr(question.files[1].bytes, entry));
        assert_int_equal(!!strstr(question.files[1].bytes, "GET_TILING_DATA"), !given);
        assert_int_equal(question.files[0].length, strlen(question.files[0].bytes));
    }
    arena_free(&arena);
}

static void every_task_has_them(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task *tasks;
    int count, cubes = 0;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++)
        for (int given = 0; given < 2; given++) {
            struct task_question question;
            const char *name = op_snake_case(&arena, tasks[i].op_type);
            assert_null(task_question(&arena, &tasks[i], given, &question));
            assert_int_equal(question.count, 2);
            assert_string_equal(question.files[1].path, arena_printf(&arena, "op_kernel/%s.cpp", name));
            assert_non_null(strstr(question.files[0].bytes, arena_printf(&arena, "OP_ADD(%s);", tasks[i].op_type)));
            cubes += given && question.cores == TASK_CORES_CUBE;
        }
    assert_int_equal(cubes, 15); /* the products of level3/GMM but Gemv and FlashAttentionScore */
    arena_free(&arena);
}

static void put(struct arena *arena, const char *dir, const char *path, const char *text)
{
    const char *whole = arena_printf(arena, "%s/%s", dir, path);
    assert_null(files_make_directory(arena_strndup(arena, whole, (size_t)(strrchr(whole, '/') - whole))));
    assert_null(files_write(whole, text, strlen(text)));
}

static void own_folder_stands_in(void **state)
{
    (void)state;
    char dir[] = "/tmp/akgen-question-test-XXXXXX";
    struct arena arena = {0};
    struct task task;
    struct task_question question;
    assert_non_null(mkdtemp(dir));
    load(&arena, dir, &task);
    put(&arena, dir, "question/kernel/op_host/mine.cpp", "context->SetBlockDim(platform.GetCoreNumAiv());\n");
    put(&arena, dir, "question/kernel/op_host/deep/mine.h", "#pragma once\n");
    put(&arena, dir, "question/kernel/op_kernel/mul_all.cpp", "// mine; not GetCoreNumAic()\n");
    assert_null(task_question(&arena, &task, true, &question));
    assert_int_equal(question.count, 3);
    assert_string_equal(question.files[0].path, "op_host/deep/mine.h");
    assert_string_equal(question.files[1].path, "op_host/mine.cpp");
    assert_string_equal(question.files[2].bytes, "// mine; not GetCoreNumAic()\n");
    assert_int_equal(question.cores, TASK_CORES_VECTOR);
    put(&arena, dir, "question/kernel/op_host/mine.cpp", "context->SetBlockDim(8);\n");
    assert_null(task_question(&arena, &task, true, &question));
    assert_int_equal(question.cores, TASK_CORES_UNKNOWN);
    assert_null(task_question(&arena, &task, false, &question)); /* the other scope has no folder */
    assert_int_equal(question.count, 2);

    const char *copy = arena_printf(&arena, "%s/copy", dir);
    char *text;
    assert_null(task_question_write(&arena, &task, true, copy));
    assert_null(files_read(&arena, arena_printf(&arena, "%s/op_host/deep/mine.h", copy), 100, &text, NULL));
    assert_string_equal(text, "#pragma once\n");
    files_remove_tree(dir);
    arena_free(&arena);
}

static void values_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *wrong, *message;
    } rows[] = {
        {"cores: cube", "cores: aic", "task.yaml:6: cores is 'aic', expected vector or cube"},
        {"value_depend: optional", "value_depend: maybe",
         "task.yaml:10: value_depend is 'maybe', expected false, true, optional or unsaid"},
        {"default: mean", "default: '\"); system(\"'",
         "task.yaml:16: default is '\"); system(\"', expected a number, true, false, a word or a list {1, 2}"},
        {"default: '{}'", "default: '{1'", "task.yaml:17: default is '{1', expected a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct task task;
        const char *at = strstr(yaml, rows[i].key);
        const char *text =
            arena_printf(&arena, "%.*s%s%s", (int)(at - yaml), yaml, rows[i].wrong, at + strlen(rows[i].key));
        struct akgen_error *error = task_of_texts(&arena, "/nowhere", text, "case_id\n0\n", &task);
        assert_non_null(error);
        if (!strstr(error->message, rows[i].message))
            fail_msg("'%s' instead of '%s'", error->message, rows[i].message);
        error_free(error);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_written),
        cmocka_unit_test(every_task_has_them),
        cmocka_unit_test(own_folder_stands_in),
        cmocka_unit_test(values_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
