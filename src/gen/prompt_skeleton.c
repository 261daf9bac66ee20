/* The files that are asked for, of a task that brings none along: the OpDef is written, tiling and kernel are not. */
#include "base/text.h"
#include "gen/prompt_internal.h"
#include "op/op.h"

static void add_operand(struct text *out, const struct task *task, const struct task_param *param, const char *role,
                        int column)
{
    static const char *const scalars[TASK_KINDS] = {
        [TASK_SCALAR] = "\n            .Scalar()", [TASK_SCALAR_LIST] = "\n            .ScalarList()"};
    text_addf(out, "        this->%s(\"%s\")\n            .ParamType(%s)\n            .DataType({", role, param->name,
              param->kind == TASK_TENSOR_LIST ? "DYNAMIC"
              : param->optional               ? "OPTIONAL"
                                              : "REQUIRED");
    for (int c = 0; c < task->combination_count; c++)
        text_addf(out, "%sge::%s", c ? ", " : "", akgen_dtype_ge_name(task->combinations[c][column]));
    text_add(out, "})\n            .Format({");
    for (int c = 0; c < task->combination_count; c++)
        text_addf(out, "%sge::FORMAT_ND", c ? ", " : "");
    text_addf(out, "})%s%s;\n", param->value_depend ? "\n            .ValueDepend(REQUIRED)" : "",
              scalars[param->kind] ? scalars[param->kind] : "");
}

/* An output that its input alone stands for is none of the OpDef's. */
static bool is_declared(const struct task_param *output)
{
    return output->in_place == TASK_NONE || output->type_count;
}

static void add_operands(struct text *out, const struct task *task)
{
    int column = 0;
    for (int i = 0; i < task->input_count; i++)
        add_operand(out, task, &task->inputs[i], "Input", column++);
    for (int i = 0; i < task->output_count; i++)
        if (is_declared(&task->outputs[i]))
            add_operand(out, task, &task->outputs[i], "Output", column++);
}

static const char *host_part(struct arena *arena, const struct task *task)
{
    static const char *const types[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = "Int",       [TASK_ATTR_FLOAT] = "Float",      [TASK_ATTR_BOOL] = "Bool",
        [TASK_ATTR_STRING] = "String", [TASK_ATTR_LIST_INT] = "ListInt", [TASK_ATTR_LIST_FLOAT] = "ListFloat"};
    struct text out = {0};
    text_addf(
        &out,
        "// %s: operator definition and tiling.\n#include \"register/op_def_registry.h\"\n"
        "#include \"tiling/platform/platform_ascendc.h\"\n\nnamespace optiling {\n"
        "// To write: choose the split over cores and tiles from the shapes, save it as tiling data, set the block "
        "count.\n"
        "static ge::graphStatus TilingFunc(gert::TilingContext *context)\n{\n"
        "    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n"
        "    context->SetBlockDim(platform.GetCoreNumAiv());\n    return ge::GRAPH_SUCCESS;\n}\n"
        "} // namespace optiling\n\nnamespace ops {\nclass %s : public OpDef {\npublic:\n"
        "    explicit %s(const char *name) : OpDef(name)\n    {\n",
        task->op_type, task->op_type, task->op_type);
    add_operands(&out, task);
    for (int i = 0; i < task->attr_count; i++)
        text_addf(&out, "        this->Attr(\"%s\").AttrType(REQUIRED).%s();\n", task->attrs[i].name,
                  types[task->attrs[i].type]);
    text_addf(&out,
              "        this->AICore().SetTiling(optiling::TilingFunc);\n"
              "        this->AICore().AddConfig(\"ascend910b\");\n"
              "        this->AICore().AddConfig(\"ascend910_93\");\n    }\n};\nOP_ADD(%s);\n} // namespace ops\n",
              task->op_type);
    const char *kept = arena_strdup(arena, out.bytes);
    text_free(&out);
    return kept;
}

static const char *kernel_part(struct arena *arena, const struct task *task)
{
    struct text out = {0};
    text_addf(&out, "// %s: the kernel.\n#include \"kernel_operator.h\"\n\nextern \"C\" __global__ __aicore__ void %s(",
              task->op_type, op_snake_case(arena, task->op_type));
    for (int i = 0; i < task->input_count; i++)
        text_addf(&out, "GM_ADDR %s, ", task->inputs[i].name);
    for (int i = 0; i < task->output_count; i++)
        if (is_declared(&task->outputs[i]))
            text_addf(&out, "GM_ADDR %s%s, ", task->outputs[i].name,
                      task_input_index(task, task->outputs[i].name) == TASK_NONE ? "" : "_out");
    text_add(&out, "GM_ADDR workspace, GM_ADDR tiling)\n{\n"
                   "    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.\n}\n");
    const char *kept = arena_strdup(arena, out.bytes);
    text_free(&out);
    return kept;
}

const char *prompt_skeleton(struct arena *arena, const struct task *task, bool host)
{
    return host ? host_part(arena, task) : kernel_part(arena, task);
}
