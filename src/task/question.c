/* The files that a candidate to a task begins with: the OpDef, a tiling function and the kernel's entry, written from task.yaml. A task may bring
 * files of its own in a folder `question`, which stand in for them. docs/tasks.md. */
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "op/op.h"
#include "task/task.h"

#include <string.h>

enum { LONGEST_FILE = 1 << 20 };

/* MultiKernelBench's operators have one data type each: an operand is one line, and nothing is said of tiling keys. */
static bool question_is_compact(const struct task *task)
{
    return strcmp(task->suite, "multikernelbench") == 0;
}

static void question_add_operand(struct text *out, const struct task *task, const struct task_param *param, bool output,
                                 int column)
{
    static const char *const scalars[TASK_KINDS] = {[TASK_SCALAR] = "Scalar()", [TASK_SCALAR_LIST] = "ScalarList()"};
    static const char *const depends[TASK_VALUE_UNSAID + 1] = {
        [TASK_VALUE_REQUIRED] = "ValueDepend(REQUIRED)", [TASK_VALUE_OPTIONAL] = "ValueDepend(OPTIONAL)"};
    const char *next = question_is_compact(task) ? "." : "\n            .";
    const char *const more[] = {depends[param->value_depend], scalars[param->kind],
                                param->shape_depends ? "OutputShapeDependOnCompute()" : NULL};
    text_addf(out, "        this->%s(\"%s\")%sParamType(%s)%sDataType({", output ? "Output" : "Input", param->name,
              next,
              param->kind == TASK_TENSOR_LIST ? "DYNAMIC"
              : param->optional               ? "OPTIONAL"
                                              : "REQUIRED",
              next);
    for (int c = 0; c < task->combination_count; c++)
        text_addf(out, "%sge::%s", c ? ", " : "", akgen_dtype_ge_name(task->combinations[c][column]));
    text_addf(out, "})%sFormat({", next);
    for (int c = 0; c < task->combination_count; c++)
        text_addf(out, "%sge::FORMAT_ND", c ? ", " : "");
    text_add(out, "})");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i])
            text_addf(out, "%s%s", next, more[i]);
    text_add(out, ";\n");
}

static void question_add_attr(struct text *out, const struct task_attr *attr)
{
    static const char *const types[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = "Int",       [TASK_ATTR_FLOAT] = "Float",      [TASK_ATTR_BOOL] = "Bool",
        [TASK_ATTR_STRING] = "String", [TASK_ATTR_LIST_INT] = "ListInt", [TASK_ATTR_LIST_FLOAT] = "ListFloat"};
    const char *quote = attr->initial && attr->type == TASK_ATTR_STRING ? "\"" : "";
    text_addf(out, "        this->Attr(\"%s\")%s.%s(%s%s%s);\n", attr->name,
              attr->initial  ? ".AttrType(OPTIONAL)"
              : attr->unsaid ? ""
                             : ".AttrType(REQUIRED)",
              types[attr->type], quote, attr->initial ? attr->initial : "", quote);
}

/* False of an output that only its input stands for: the OpDef has no such output. */
static bool question_declares(const struct task_param *output)
{
    return output->in_place == TASK_NONE || output->type_count;
}

static void question_add_tiling(struct text *out, const struct task *task, bool host_given)
{
    text_add(out,
             host_given ? "// The host part is given: it only sets the block count.\n"
             : question_is_compact(task)
                 ? "// To write: choose the split over cores and tiles from the shapes, save it as tiling data and "
                   "set the block count.\n"
                 : "// To write: choose the split over cores and tiles from the shapes, save it as tiling data, set "
                   "the block count and,\n// with several data types, the tiling key.\n");
    text_addf(out,
              "static ge::graphStatus TilingFunc(gert::TilingContext *context)\n{\n"
              "    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n"
              "    context->SetBlockDim(platform.GetCoreNum%s());\n    return ge::GRAPH_SUCCESS;\n}\n",
              task->cores == TASK_CORES_CUBE ? "Aic" : "Aiv");
}

static void question_add_host(struct text *out, const struct task *task, bool host_given)
{
    int column = 0;
    text_addf(out,
              "// %s: operator definition and tiling.\n#include \"register/op_def_registry.h\"\n"
              "#include \"tiling/platform/platform_ascendc.h\"\n\nnamespace optiling {\n",
              task->op);
    question_add_tiling(out, task, host_given);
    text_addf(out,
              "} // namespace optiling\n\nnamespace ops {\nclass %s : public OpDef {\npublic:\n"
              "    explicit %s(const char *name) : OpDef(name)\n    {\n",
              task->op_type, task->op_type);
    for (int i = 0; i < task->input_count; i++)
        question_add_operand(out, task, &task->inputs[i], false, column++);
    for (int i = 0; i < task->output_count; i++)
        if (question_declares(&task->outputs[i]))
            question_add_operand(out, task, &task->outputs[i], true, column++);
    for (int i = 0; i < task->attr_count; i++)
        question_add_attr(out, &task->attrs[i]);
    text_addf(out,
              "        this->AICore().SetTiling(optiling::TilingFunc);\n"
              "        this->AICore().AddConfig(\"ascend910b\");\n"
              "        this->AICore().AddConfig(\"ascend910_93\");\n    }\n};\nOP_ADD(%s);\n} // namespace ops\n",
              task->op_type);
}

/* Adds the parameters of an entry, whose line is `line` characters long so far, broken into lines as the published files have them: in Foreach, and
 * with the last parameter, a line has 110 characters at most, elsewhere 112; a compact entry of more than 110 has its last two in the second line. */
static void question_add_parameters(struct text *out, const struct task *task, size_t line, const char *const *names,
                                    int count)
{
    enum { WIDEST = 110, WIDEST_OPEN = 112 };
    const bool foreach = strcmp(task->category, "Foreach") == 0;
    size_t whole = line;
    for (int i = 0; i < count; i++)
        whole += (i ? 2 : 1) + strlen(names[i]);
    for (int i = 0; i < count; i++) {
        const bool last = i == count - 1;
        size_t length = strlen(names[i]) + 1; /* and the comma behind it */
        bool breaks = question_is_compact(task)
                          ? whole > WIDEST && i == count - 2
                          : i && line + 1 + length > (size_t)(last || foreach ? WIDEST : WIDEST_OPEN);
        text_addf(out, "%s%s%s", !i ? "" : breaks ? "\n    " : " ", names[i], last ? ")\n" : ",");
        line = length + (breaks ? 4 : line + (i > 0));
    }
}

static void question_add_kernel(struct arena *arena, struct text *out, const struct task *task, bool host_given)
{
    const char *names[2 * TASK_MAX_PARAMS + 3];
    /* An output of an input's name gets another one. */
    const char *renamed = task->output_count == 1 ? "_ref" : "_out";
    int count = 0;
    bool shape = false;
    for (int i = 0; i < task->input_count; i++)
        names[count++] = arena_printf(arena, "GM_ADDR %s", task->inputs[i].name);
    for (int i = 0; i < task->output_count; i++) {
        const struct task_param *output = &task->outputs[i];
        shape |= output->shape_depends;
        if (question_declares(output))
            names[count++] = arena_printf(arena, "GM_ADDR %s%s", output->name,
                                          task_input_index(task, output->name) == TASK_NONE ? "" : renamed);
    }
    if (shape)
        names[count++] = "GM_ADDR shape_out";
    names[count++] = "GM_ADDR workspace";
    names[count++] = "GM_ADDR tiling";
    const char *head =
        arena_printf(arena, "extern \"C\" __global__ __aicore__ void %s(", op_snake_case(arena, task->op_type));
    text_addf(out, "// %s: the kernel.\n#include \"kernel_operator.h\"\n\n%s", task->op, head);
    question_add_parameters(out, task, strlen(head), names, count);
    text_addf(out, "{\n    // To write%s\n}\n",
              host_given ? ": the shapes are those of the case at hand."
                         : ", with GET_TILING_DATA(data, tiling) for what the tiling function saved.");
}

static struct op_file question_file(struct arena *arena, const char *folder, const struct task *task, struct text *text)
{
    struct op_file file = {arena_printf(arena, "%s/%s.cpp", folder, op_snake_case(arena, task->op_type)),
                           arena_strndup(arena, text->bytes, text->length), text->length};
    text_free(text);
    return file;
}

static void question_write(struct arena *arena, const struct task *task, bool host_given,
                           struct task_question *question)
{
    struct op_file *items = arena_alloc(arena, 2 * sizeof *items);
    struct text host = {0}, kernel = {0};
    question_add_host(&host, task, host_given);
    question_add_kernel(arena, &kernel, task, host_given);
    items[0] = question_file(arena, "op_host", task, &host);
    items[1] = question_file(arena, "op_kernel", task, &kernel);
    question->files = items;
    question->count = 2;
    question->cores = task->cores;
}

/* Reads the files of a task's own question. */
static struct akgen_error *question_read(struct arena *arena, const char *dir, struct task_question *question)
{
    static const char *const folders[] = {"op_host", "op_kernel"};
    struct op_file *files = NULL;
    size_t capacity = 0;
    struct akgen_error *error = NULL;
    for (size_t f = 0; f < sizeof folders / sizeof *folders && !error; f++) {
        const char **paths;
        size_t count = 0;
        error = files_list(arena, arena_printf(arena, "%s/%s", dir, folders[f]), &paths, &count);
        for (size_t i = 0; i < count && !error; i++) {
            struct op_file file = {.path = arena_printf(arena, "%s/%s", folders[f], paths[i])};
            char *bytes;
            error = files_read(arena, arena_printf(arena, "%s/%s", dir, file.path), LONGEST_FILE, &bytes, &file.length);
            file.bytes = bytes;
            if (!error)
                ARRAY_ADD(arena, files, question->count, capacity, file);
        }
    }
    question->files = files;
    return error;
}

/* The cores that somebody's host part asks for. */
static enum task_cores question_cores(const struct task_question *question)
{
    enum task_cores cores = TASK_CORES_UNKNOWN;
    for (size_t i = 0; i < question->count && cores != TASK_CORES_CUBE; i++)
        if (strncmp(question->files[i].path, "op_host/", 8) == 0)
            cores = strstr(question->files[i].bytes, "GetCoreNumAic()")   ? TASK_CORES_CUBE
                    : strstr(question->files[i].bytes, "GetCoreNumAiv()") ? TASK_CORES_VECTOR
                                                                          : cores;
    return cores;
}

struct akgen_error *task_question(struct arena *arena, const struct task *task, bool host_given,
                                  struct task_question *question)
{
    const char *dir = arena_printf(arena, "%s/question/%s", task->dir, host_given ? "kernel" : "project");
    struct akgen_error *error = NULL;
    *question = (struct task_question){0};
    if (files_exists(dir)) {
        error = question_read(arena, dir, question);
        question->cores = question_cores(question);
    } else
        question_write(arena, task, host_given, question);
    return error;
}

struct akgen_error *task_question_write(struct arena *arena, const struct task *task, bool host_given, const char *dir)
{
    struct task_question question;
    struct akgen_error *error = task_question(arena, task, host_given, &question);
    for (size_t i = 0; i < question.count && !error; i++) {
        const struct op_file *file = &question.files[i];
        error = files_write_path(arena_printf(arena, "%s/%s", dir, file->path), file->bytes, file->length);
    }
    return error;
}
