/* A compiled program as an answer in MultiKernelBench's format. */
#include "candidate/response.h"
#include "dsl/lower.h"
#include "base/text.h"

#include <string.h>

/* C++'s and Python's type of an attribute; NULL: the binding has none. */
static const char *const cpp_types[TASK_ATTR_TYPES] = {
    [TASK_ATTR_INT] = "int64_t", [TASK_ATTR_FLOAT] = "double", [TASK_ATTR_BOOL] = "bool"};
static const char *const python_types[TASK_ATTR_TYPES] = {
    [TASK_ATTR_INT] = "int", [TASK_ATTR_FLOAT] = "float", [TASK_ATTR_BOOL] = "bool"};

static struct akgen_error *check(const struct dsl_opdef *opdef)
{
    for (int i = 0; i < opdef->input_count; i++)
        if (opdef->inputs[i].list || opdef->inputs[i].scalar || opdef->inputs[i].scalar_list)
            return error_new("%s: input '%s' is no tensor, which the binding would need", opdef->type,
                             opdef->inputs[i].name);
    for (int i = 0; i < opdef->output_count; i++)
        if (!opdef->outputs[i].like)
            return error_new("%s: output '%s' has a shape that no input has: the binding cannot make it", opdef->type,
                             opdef->outputs[i].name);
    for (int i = 0; i < opdef->attr_count; i++)
        if (!cpp_types[opdef->attrs[i].type])
            return error_new("%s: attribute '%s' is a list or a text, which the binding does not pass", opdef->type,
                             opdef->attrs[i].name);
    return NULL;
}

/* {"name", "param_type", "format", "type"} of msopgen's description. */
static void add_operands(struct text *text, const char *key, const struct dsl_operand *operands, int count,
                         int combinations)
{
    text_addf(text, "        \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        text_addf(text, "%s\n            {\"name\": \"%s\", \"param_type\": \"%s\", \"format\": [", i ? "," : "",
                  operands[i].name, operands[i].optional ? "optional" : "required");
        for (int c = 0; c < combinations; c++)
            text_addf(text, "%s\"ND\"", c ? ", " : "");
        text_add(text, "], \"type\": [");
        for (int c = 0; c < combinations; c++)
            text_addf(text, "%s\"%s\"", c ? ", " : "", akgen_dtype_name(operands[i].types[c]));
        text_add(text, "]}");
    }
    text_add(text, "\n        ],\n");
}

static void add_binding(struct text *text, const struct dsl_opdef *opdef)
{
    bool several = opdef->output_count > 1;
    text_add(text, "python_bind_src = r'''#include <torch/extension.h>\n#include \"pytorch_npu_helper.hpp\"\n\n");
    text_addf(text, "%s %s_npu(", several ? "std::vector<at::Tensor>" : "at::Tensor", opdef->entry);
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(text, "%sconst at::Tensor &%s", i ? ", " : "", opdef->inputs[i].name);
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(text, ", %s %s", cpp_types[opdef->attrs[i].type], opdef->attrs[i].name);
    text_add(text, ")\n{\n");
    for (int i = 0; i < opdef->output_count; i++)
        text_addf(text, "    at::Tensor result%d = at::empty_like(%s);\n", i + 1, opdef->outputs[i].like);
    text_addf(text, "    EXEC_NPU_CMD(aclnn%s", opdef->type);
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(text, ", %s", opdef->inputs[i].name);
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(text, ", %s", opdef->attrs[i].name);
    for (int i = 0; i < opdef->output_count; i++)
        text_addf(text, ", result%d", i + 1);
    text_add(text, ");\n    return ");
    for (int i = 0; i < opdef->output_count; i++)
        text_addf(text, "%sresult%d", i ? ", " : several ? "{" : "", i + 1);
    text_addf(text,
              "%s;\n}\n\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m)\n{\n    m.def(\"%s\", &%s_npu, \"%s\");\n}\n'''\n\n",
              several ? "}" : "", opdef->entry, opdef->entry, opdef->type);
}

struct akgen_error *op_response_of_program(struct arena *arena, const struct dsl_lowered *lowered,
                                           const struct dsl_opdef *opdef, const char **answer)
{
    static const char *const names[] = {"host_tiling_src", "host_operator_src", "kernel_src"};
    struct text text = {0};
    struct akgen_error *error = check(opdef);
    if (error)
        return error;
    text_add(&text, "```python\n");
    text_addf(&text, "project_json_src = '''[\n    {\n        \"op\": \"%s\",\n        \"language\": \"cpp\",\n",
              opdef->type);
    add_operands(&text, "input_desc", opdef->inputs, opdef->input_count, opdef->combinations);
    add_operands(&text, "output_desc", opdef->outputs, opdef->output_count, opdef->combinations);
    text_add(&text, "        \"attr\": [");
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(&text, "%s{\"name\": \"%s\", \"param_type\": \"required\", \"type\": \"%s\"}", i ? ", " : "",
                  opdef->attrs[i].name, python_types[opdef->attrs[i].type]);
    text_add(&text, "]\n    }\n]'''\n\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_addf(&text, "%s = r'''%s'''\n\n", names[i], lowered->files[i].text);
    add_binding(&text, opdef);
    text_add(&text, "model_src = '''\nimport torch\nimport torch_npu\nimport custom_ops_lib\n\n\n"
                    "class ModelNew(torch.nn.Module):\n    def __init__(self");
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(&text, ", %s: %s", opdef->attrs[i].name, python_types[opdef->attrs[i].type]);
    text_add(&text, "):\n        super().__init__()\n");
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(&text, "        self.%s = %s\n", opdef->attrs[i].name, opdef->attrs[i].name);
    text_add(&text, "\n    def forward(self");
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(&text, ", %s: torch.Tensor", opdef->inputs[i].name);
    text_addf(&text, "):\n        return custom_ops_lib.%s(", opdef->entry);
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(&text, "%s%s", i ? ", " : "", opdef->inputs[i].name);
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(&text, ", self.%s", opdef->attrs[i].name);
    text_add(&text, ")\n'''\n");
    text_add(&text, "```\n");
    *answer = arena_strdup(arena, text.bytes);
    text_free(&text);
    return NULL;
}
