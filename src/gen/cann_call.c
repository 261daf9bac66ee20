/* The program of an exported project: a function a case, which calls aclnn's two stages. What stands in it comes from an OpDef that
 * a candidate wrote, so names become identifiers and texts are escaped.
 *
 * Parameters of aclnnXxxGetWorkspaceSize ("Single-operator API calls" in the operator development guide of CANN 8.x): the inputs, the
 * attributes, the outputs, in the order of the OpDef. An output with an input's name is that parameter; an input with Scalar or ScalarList
 * is an aclScalar(List), one with ValueDepend an array on the host, a dynamic one an aclTensorList; an optional one that is absent is nullptr.
 * Attributes: bool, int64_t, double for a float, char *, and arrays. */
#include "gen/cann_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *cann_name(struct arena *arena, const char *side, int index, const char *name)
{
    char *result = arena_printf(arena, "%s%d_%.64s", side, index, name);
    for (char *at = result; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at >= 128)
            *at = '_';
    return result;
}

static int same_name(const struct op_def *def, int output)
{
    for (int i = 0; output < def->output_count && i < def->input_count; i++)
        if (strcmp(def->outputs[output].name, def->inputs[i].name) == 0)
            return i;
    return -1;
}

int cann_memory_of(const struct cann *cann, int output)
{
    int same = same_name(&cann->verdict->build.def, output);
    return same >= 0 ? same : cann->task->outputs[output].in_place; /* TASK_NONE is -1 */
}

bool cann_is_parameter(const struct cann *cann, int output)
{
    const struct op_def *def = &cann->verdict->build.def;
    return output < def->output_count && same_name(def, output) < 0;
}

/* Data type, format and shape of a tensor, as the constructors take them. */
static void add_kind(struct text *text, const struct op_tensor *shape)
{
    text_addf(text, "%d, %d, ", (int)shape->type, shape->format);
    text_add(text, "Dims{");
    for (int i = 0; i < shape->rank; i++)
        text_addf(text, "%s%" PRId64, i ? ", " : "", shape->dims[i]);
    text_add(text, "}");
}

/* An array on the host, which aclnn takes of an input with ValueDepend; NULL: a tensor. */
static const char *host_array(const struct op_param *param, const struct task_argument *argument)
{
    enum akgen_dtype type = argument->count ? argument->tensors[0].type : AKGEN_FLOAT16;
    if (!param->value_depend || param->param_type == OP_DYNAMIC)
        return NULL;
    return type == AKGEN_INT64   ? "IntArray"
           : type == AKGEN_FLOAT ? "FloatArray"
           : type == AKGEN_BOOL  ? "BoolArray"
                                 : NULL;
}

static void add_input(struct cann *cann, const struct task_instance *instance, const struct eval_call *call, int i)
{
    const struct op_param *param = &cann->verdict->build.def.inputs[i];
    const struct task_argument *argument = &instance->inputs[i];
    const char *name = cann_name(cann->arena, "in", i, param->name);
    const char *path = arena_printf(cann->arena, "cases/%d/%s", instance->task_case->id, name);
    const char *array = host_array(param, argument);
    struct text *text = &cann->program;
    if (!argument->count)
        return;
    const struct task_tensor *first = &argument->tensors[0];
    if (param->scalar)
        text_addf(text, "    Scalar %s(\"%s.0.bin\", %d);\n", name, path, (int)first->type);
    else if (param->scalar_list)
        text_addf(text, "    ScalarList %s(\"%s.0.bin\", %d, %zu);\n", name, path, (int)first->type,
                  akgen_dtype_size(first->type));
    else if (array)
        text_addf(text, "    %s %s(read_file(\"%s.0.bin\"));\n", array, name, path);
    else if (param->param_type != OP_DYNAMIC) {
        text_addf(text, "    Tensor %s(\"%s.0.bin\", ", name, path);
        add_kind(text, &call->inputs[i].tensors[0].shape);
        text_add(text, ");\n");
    } else {
        text_addf(text, "    TensorList %s;\n", name);
        for (int t = 0; t < argument->count; t++) {
            text_addf(text, "    %s.add(\"%s.%d.bin\", ", name, path, t);
            add_kind(text, &call->inputs[i].tensors[t].shape);
            text_add(text, ");\n");
        }
    }
}

/* An output with memory of its own, or that of an input. */
static void add_output(struct cann *cann, const struct task_instance *instance, const struct eval_call *call, int i)
{
    const struct op_def *def = &cann->verdict->build.def;
    const struct job_argument *output = &call->outputs[i];
    const char *name = cann_name(cann->arena, "out", i, instance->task->outputs[i].name);
    int memory = cann_memory_of(cann, i);
    const char *input = memory < 0 ? NULL : cann_name(cann->arena, "in", memory, def->inputs[memory].name);
    bool list = def->outputs[i].param_type == OP_DYNAMIC, lists = input && def->inputs[memory].param_type == OP_DYNAMIC;
    struct text *text = &cann->program;
    if (list && output->count)
        text_addf(text, "    TensorList %s;\n", name);
    for (int t = 0; t < output->count && (list || !t); t++) {
        text_addf(text, list ? "    %s.add(" : "    Tensor %s(", name);
        if (input)
            text_addf(text, lists ? "%s[%d], " : "%s, ", input, t);
        else
            text_addf(text, "%" PRIu64 ", %s, ", output->tensors[t].bytes,
                      instance->task->outputs[i].zeroed ? "'\\0'" : "'Z'");
        add_kind(text, &output->tensors[t].shape);
        text_add(text, ");\n");
    }
}

static void add_real(struct text *text, double value)
{
    if (isfinite(value))
        text_addf(text, "%.17g", value);
    else
        text_add(text, isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY");
}

static void add_integer(struct text *text, json_int_t value)
{
    if (value == INT64_MIN)
        text_add(text, "INT64_MIN");
    else
        text_addf(text, "%lldLL", (long long)value);
}

/* The variable of an attribute that is a list: its array of values, and aclnn's of that. */
static void add_list(struct text *text, const char *name, const struct op_attr *attr)
{
    const char *type = attr->type == OP_ATTR_LIST_INT ? "int64_t" : attr->type == OP_ATTR_LIST_FLOAT ? "float" : "bool";
    const char *array = attr->type == OP_ATTR_LIST_INT     ? "IntArray"
                        : attr->type == OP_ATTR_LIST_FLOAT ? "FloatArray"
                                                           : "BoolArray";
    size_t count = json_array_size(attr->value);
    text_addf(text, "    const %s %s_values[%zu] = {", type, name, count + 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(attr->value, i);
        text_add(text, i ? ", " : "");
        if (attr->type == OP_ATTR_LIST_INT)
            add_integer(text, json_integer_value(item));
        else if (attr->type == OP_ATTR_LIST_BOOL)
            text_add(text, json_is_true(item) || json_integer_value(item) ? "true" : "false");
        else {
            text_add(text, "static_cast<float>(");
            add_real(text, json_number_value(item));
            text_add(text, ")");
        }
    }
    text_addf(text, "};\n    %s %s(%s_values, %zu);\n", array, name, name, count);
}

/* An attribute as a parameter. */
static void add_attr(struct text *text, const char *name, const struct op_attr *attr)
{
    switch (attr->type) {
    case OP_ATTR_BOOL:
        text_add(text, json_is_true(attr->value) || json_integer_value(attr->value) ? "true" : "false");
        break;
    case OP_ATTR_INT:
        text_add(text, "static_cast<int64_t>(");
        add_integer(text, json_is_boolean(attr->value) ? json_is_true(attr->value) : json_integer_value(attr->value));
        text_add(text, ")");
        break;
    case OP_ATTR_FLOAT:
        text_add(text, "static_cast<double>(");
        add_real(text, json_number_value(attr->value));
        text_add(text, ")");
        break;
    case OP_ATTR_STRING:
        text_add(text, "const_cast<char *>(");
        /* A text in quotes of C++. */
        text_add(text, "\"");
        for (const unsigned char *at =
                 (const unsigned char *)(json_is_string(attr->value) ? json_string_value(attr->value) : "");
             *at; at++)
            text_addf(text, isalnum(*at) || *at == ' ' || *at == '_' || *at == '-' ? "%c" : "\\%03o", *at);
        text_add(text, "\"");
        text_add(text, ")");
        break;
    default:
        text_add(text, name);
    }
}

/* The first stage: all parameters. */
static void add_parameters(struct cann *cann, const struct task_instance *instance, const struct eval_call *call)
{
    const struct op_def *def = &cann->verdict->build.def;
    struct text *text = &cann->program;
    for (int i = 0; i < def->input_count; i++)
        text_addf(text, "%s, ",
                  instance->inputs[i].count ? cann_name(cann->arena, "in", i, def->inputs[i].name) : "nullptr");
    for (int i = 0; i < def->attr_count; i++) {
        add_attr(text, cann_name(cann->arena, "attr", i, def->attrs[i].name), &call->attrs[i]);
        text_add(text, ", ");
    }
    for (int i = 0; i < def->output_count; i++)
        if (cann_is_parameter(cann, i))
            text_addf(text, "%s, ",
                      call->outputs[i].count ? cann_name(cann->arena, "out", i, instance->task->outputs[i].name)
                                             : "nullptr");
}

/* Each of the task's outputs goes to out/, from the tensor that has its memory. */
static void add_saves(struct cann *cann, const struct task_instance *instance, const struct eval_call *call)
{
    const struct op_def *def = &cann->verdict->build.def;
    for (int i = 0; i < instance->task->output_count; i++) {
        const char *name = cann_name(cann->arena, "out", i, instance->task->outputs[i].name), *variable = name;
        if (!cann_is_parameter(cann, i))
            variable = cann_name(cann->arena, "in", cann_memory_of(cann, i), def->inputs[cann_memory_of(cann, i)].name);
        if (call->outputs[i].count)
            text_addf(&cann->program, "    %s.save(\"out/%d/%s\");\n", variable, instance->task_case->id, name);
    }
}

struct akgen_error *cann_add_call(struct cann *cann, const struct task_instance *instance)
{
    const struct op_def *def = &cann->verdict->build.def;
    struct text *text = &cann->program;
    struct eval_call call;
    const char *why = eval_bind(cann->arena, cann->verdict, instance, &call);
    if (why)
        return error_new("case %d: %s", instance->task_case->id, why);
    text_addf(text, "\nstatic void case_%d(const Device &device)\n{\n", instance->task_case->id);
    for (int i = 0; i < def->input_count; i++)
        add_input(cann, instance, &call, i);
    for (int i = 0; i < def->attr_count; i++) {
        if (def->attrs[i].type == OP_ATTR_LIST_LIST_INT)
            return error_new("attribute '%s' is a list of lists, for which an aclnn call has no parameter",
                             def->attrs[i].name);
        if (call.attrs[i].type == OP_ATTR_LIST_BOOL || call.attrs[i].type == OP_ATTR_LIST_INT ||
            call.attrs[i].type == OP_ATTR_LIST_FLOAT)
            add_list(text, cann_name(cann->arena, "attr", i, def->attrs[i].name), &call.attrs[i]);
    }
    for (int i = 0; i < def->output_count; i++)
        if (cann_is_parameter(cann, i))
            add_output(cann, instance, &call, i);
    text_addf(text,
              "    uint64_t bytes = 0;\n    aclOpExecutor *executor = nullptr;\n    check(aclnn%sGetWorkspaceSize(",
              def->type);
    add_parameters(cann, instance, &call);
    text_addf(text,
              "&bytes, &executor),\n          \"aclnn%sGetWorkspaceSize\");\n    execute(device, aclnn%s, bytes, "
              "executor, \"aclnn%s\");\n",
              def->type, def->type, def->type);
    add_saves(cann, instance, &call);
    text_add(text, "}\n");
    text_addf(&cann->calls, "    {%d, case_%d},\n", instance->task_case->id, instance->task_case->id);
    return NULL;
}
