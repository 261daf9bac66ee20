/* What a prompt says of its task: description, interface, formulas, cases, the files that are asked for. */
#include "base/files.h"
#include "base/text.h"
#include "gen/prompt_internal.h"
#include "op/op.h"

#include <string.h>

enum { LONGEST_FILE = 1 << 20, TENSORS_SHOWN = 12 };

#define MAKE(name) struct akgen_error *prompt_text_##name(struct prompt_maker *maker, const char **text)

MAKE(task)
{
    *text = arena_printf(maker->arena, "%s/%s", maker->task->suite, maker->task->name);
    return NULL;
}

MAKE(operator)
{
    *text = maker->operator_name;
    return NULL;
}

MAKE(operator_type)
{
    *text = maker->task->op_type;
    return NULL;
}

MAKE(category)
{
    *text = maker->task->category;
    return NULL;
}

/* The text of a growing buffer, which is released. */
static const char *taken(struct arena *arena, struct text *text)
{
    while (text->length && text->bytes[text->length - 1] == '\n')
        text->length--;
    const char *kept = arena_strndup(arena, text->bytes ? text->bytes : "", text->length);
    text_free(text);
    return kept;
}

struct akgen_error *prompt_description(struct arena *arena, const struct task *task, const char **description)
{
    const char *path = arena_printf(arena, "%s/desc.md", task->dir);
    struct text kept = {0};
    char *text;
    bool files = false, fenced = false;
    *description = "";
    if (!files_exists(path))
        return NULL;
    struct akgen_error *error = files_read_inside(arena, task->dir, "desc.md", LONGEST_FILE, &text, NULL);
    if (error)
        return error;
    text_make_utf8(text);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (!line[length - 1])
            length--;
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && *line == '#')
            files = strncmp(line, "## Files\n", 9) == 0;
        bool title = !fenced && strncmp(line, "# ", 2) == 0;
        if (!files && !title && (kept.length || *line != '\n'))
            text_append(&kept, line, length);
        line += length;
    }
    *description = taken(arena, &kept);
    return NULL;
}

MAKE(description)
{
    return prompt_description(maker->arena, maker->task, text);
}

static void add_types(struct text *table, const struct task *task, const struct task_param *param)
{
    const char *behind = "";
    for (int i = 0; i < param->type_count; i++) {
        bool again = false;
        for (int before = 0; before < i; before++)
            again |= param->types[before] == param->types[i];
        if (!again) {
            text_addf(table, "%s%s", behind, akgen_dtype_name(param->types[i]));
            behind = ", ";
        }
    }
    if (!param->type_count && param->in_place != TASK_NONE)
        text_addf(table, "written in place of `%s`", task->inputs[param->in_place].name);
}

static void add_params(struct text *table, const struct task *task, bool output)
{
    const struct task_param *params = output ? task->outputs : task->inputs;
    static const char *const kinds[] = {"tensor", "list of tensors", "scalar", "list of scalars"};
    for (int i = 0; i < (output ? task->output_count : task->input_count); i++) {
        text_addf(table, "| `%s` | %s | %s%s | ", params[i].name, output ? "output" : "input", kinds[params[i].kind],
                  params[i].optional ? ", optional" : "");
        add_types(table, task, &params[i]);
        text_add(table, " |\n");
    }
}

/* Rows are combinations, which several data types of one parameter make. */
static void add_combinations(struct text *table, const struct task *task)
{
    text_add(table, "\nThe OpDef offers these combinations of data types, in this order:\n\n|");
    int width = task->combination_width;
    for (int i = 0; i < task->input_count; i++)
        text_addf(table, " `%s` |", task->inputs[i].name);
    for (int i = 0; i < width - task->input_count; i++)
        text_addf(table, " `%s` (out) |", task->outputs[i].name);
    text_add(table, "\n|");
    for (int i = 0; i < width; i++)
        text_add(table, "---|");
    for (int row = 0; row < task->combination_count; row++) {
        text_add(table, "\n|");
        for (int i = 0; i < width; i++)
            text_addf(table, " %s |", akgen_dtype_name(task->combinations[row][i]));
    }
    text_add(table, "\n");
}

/* For tasks whose description has no table of its own: people's own tasks. */
MAKE(interface)
{
    const struct task *task = maker->task;
    struct text table = {0};
    const char *description;
    struct akgen_error *error = prompt_description(maker->arena, task, &description);
    if (error || strstr(description, "| name | role |"))
        return error;
    text_add(&table, "| name | role | is a | data types |\n|---|---|---|---|\n");
    add_params(&table, task, false);
    add_params(&table, task, true);
    if (task->combination_count > 1)
        add_combinations(&table, task);
    for (int i = 0; i < task->attr_count; i++)
        text_addf(&table, "%s`%s` (%s)", i ? ", " : "\nAttributes: ", task->attrs[i].name,
                  task_attr_type_names[task->attrs[i].type]);
    *text = taken(maker->arena, &table);
    return NULL;
}

MAKE(formulas)
{
    const struct task *task = maker->task;
    struct text formulas = {0};
    for (int i = 0; i < task->output_count; i++)
        if (task->outputs[i].formula)
            text_addf(&formulas, "%s = %s\n", task->outputs[i].name, task->outputs[i].formula->text);
    *text = taken(maker->arena, &formulas);
    return NULL;
}

/* Cases. */
const struct task_case *prompt_case(const struct task *task, int number)
{
    for (int i = 0; i < task->case_count; i++)
        if (number < 0 || task->cases[i].id == number)
            return &task->cases[i];
    return NULL;
}

/* "float16[48, 128]"; "float32[]" is a tensor without dimensions. */
static void add_argument(struct text *row, const struct task_argument *argument)
{
    if (!argument->count)
        text_add(row, " absent");
    for (int t = 0; t < argument->count; t++) {
        const struct task_tensor *tensor = &argument->tensors[t];
        if (t == TENSORS_SHOWN && argument->count > TENSORS_SHOWN + 1) {
            text_addf(row, ", ... %d tensors in all", argument->count);
            return;
        }
        text_addf(row, "%s %s[", t ? "," : "", akgen_dtype_name(tensor->type));
        for (int d = 0; d < tensor->rank; d++)
            text_addf(row, "%s%lld", d ? ", " : "", (long long)tensor->dims[d]);
        text_add(row, "]");
    }
}

static struct akgen_error *add_case(struct text *table, const struct task *task, const struct task_case *task_case)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_shapes(task, task_case, &instance);
    if (error)
        return error;
    text_addf(table, "| %d |", task_case->id);
    for (int i = 0; i < task->input_count; i++) {
        add_argument(table, &instance->inputs[i]);
        text_add(table, " |");
    }
    for (int i = 0; i < task->output_count; i++) {
        add_argument(table, &instance->outputs[i]);
        text_add(table, " |");
    }
    for (int i = 0; i < task->attr_count; i++) {
        char *json = json_dumps(instance->attrs[i], JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
        text_addf(table, " %s%s |", json ? json : "?",
                  strstr(expr_text(task->attrs[i].value), "rand") ? " (drawn anew for other inputs)" : "");
        free(json);
    }
    text_add(table, "\n");
    task_instance_free(instance);
    return NULL;
}

struct akgen_error *prompt_cases(struct arena *arena, const struct task *task, const struct task_case *const *cases,
                                 int count, const char **text)
{
    struct akgen_error *error = NULL;
    struct text table = {0};
    text_add(&table, "| case |");
    for (int i = 0; i < task->input_count; i++)
        text_addf(&table, " `%s` |", task->inputs[i].name);
    for (int i = 0; i < task->output_count; i++)
        text_addf(&table, " `%s` (out) |", task->outputs[i].name);
    for (int i = 0; i < task->attr_count; i++)
        text_addf(&table, " `%s` (attribute) |", task->attrs[i].name);
    text_add(&table, "\n|");
    for (int i = 0; i < 1 + task->input_count + task->output_count + task->attr_count; i++)
        text_add(&table, "---|");
    text_add(&table, "\n");
    for (int i = 0; i < count && !error; i++)
        error = add_case(&table, task, cases[i]);
    *text = taken(arena, &table);
    return error;
}

MAKE(cases)
{
    return prompt_cases(maker->arena, maker->task, maker->cases, maker->case_count, text);
}

/* Files. */
const char *prompt_file(struct arena *arena, const char *path, const char *text)
{
    size_t length = strlen(text);
    return arena_printf(arena, "<%s>\n%s%s</%s>\n", path, text, length && text[length - 1] != '\n' ? "\n" : "", path);
}

/* The files below `folder` of the question as an answer would hold them; NULL: all. */
static struct akgen_error *question_files(struct prompt_maker *maker, const char *folder, const char **files)
{
    struct task_question question;
    struct text text = {0};
    struct akgen_error *error =
        task_question(maker->arena, maker->task, maker->options->scope == EVAL_KERNEL, &question);
    for (size_t i = 0; i < question.count && !error; i++) {
        const struct op_file *file = &question.files[i];
        if (!folder || strncmp(file->path, folder, strlen(folder)) == 0)
            text_add(&text, prompt_file(maker->arena, file->path, file->bytes));
    }
    *files = taken(maker->arena, &text);
    return error;
}

MAKE(files)
{
    return question_files(maker, maker->options->scope == EVAL_KERNEL ? "op_kernel/" : NULL, text);
}

MAKE(given)
{
    return maker->options->scope == EVAL_KERNEL ? question_files(maker, "op_host/", text) : NULL;
}

bool prompt_is_one_case(const struct prompt_maker *maker)
{
    return maker->case_count == 1;
}

bool prompt_is_kernel_scope(const struct prompt_maker *maker)
{
    return maker->options->scope == EVAL_KERNEL;
}

bool prompt_is_several_types(const struct prompt_maker *maker)
{
    return maker->task->combination_count > 1;
}

static bool has_input(const struct task *task, enum task_param_kind kind)
{
    for (int i = 0; i < task->input_count; i++)
        if (task->inputs[i].kind == kind)
            return true;
    return false;
}

bool prompt_is_tensor_lists(const struct prompt_maker *maker)
{
    return has_input(maker->task, TASK_TENSOR_LIST);
}

bool prompt_is_scalars(const struct prompt_maker *maker)
{
    return has_input(maker->task, TASK_SCALAR) || has_input(maker->task, TASK_SCALAR_LIST);
}

bool prompt_is_optional_inputs(const struct prompt_maker *maker)
{
    bool optional = false;
    for (int i = 0; i < maker->task->input_count; i++)
        optional |= maker->task->inputs[i].optional;
    return optional;
}

bool prompt_is_attributes(const struct prompt_maker *maker)
{
    return maker->task->attr_count > 0;
}

bool prompt_is_in_place(const struct prompt_maker *maker)
{
    bool in_place = false;
    for (int i = 0; i < maker->task->output_count; i++)
        in_place |= maker->task->outputs[i].in_place != TASK_NONE;
    return in_place;
}

bool prompt_is_cube(const struct prompt_maker *maker)
{
    struct task_question question;
    struct akgen_error *error =
        task_question(maker->arena, maker->task, maker->options->scope == EVAL_KERNEL, &question);
    bool cube = !error && question.cores == TASK_CORES_CUBE;
    error_free(error);
    return cube;
}

/* ---- The chip */

MAKE(soc)
{
    *text = maker->options->soc->name;
    return NULL;
}

MAKE(vector_cores)
{
    *text = arena_printf(maker->arena, "%d", maker->options->soc->aiv);
    return NULL;
}

MAKE(cube_cores)
{
    *text = arena_printf(maker->arena, "%d", maker->options->soc->aic);
    return NULL;
}

MAKE(ub_bytes)
{
    *text = arena_printf(maker->arena, "%u", maker->options->soc->ub_tiling_bytes);
    return NULL;
}

MAKE(hardware)
{
    const struct npu_soc *soc = maker->options->soc;
    *text =
        arena_printf(maker->arena,
                     "| what | how much |\n"
                     "|---|---|\n"
                     "| chip | %s; an OpDef names its family: `AddConfig(\"%s\")` |\n"
                     "| vector cores (AIV) | %d |\n"
                     "| cube cores (AIC) | %d, each beside %d vector cores |\n"
                     "| Unified Buffer (UB) of a vector core | %u bytes; `GetCoreMemSize(CoreMemType::UB, ..)` tells a "
                     "tiling function "
                     "%u: plan with this figure |\n"
                     "| L1 buffer of a cube core | %u bytes |\n"
                     "| L0A, L0B, L0C of a cube core | %u, %u, %u bytes |\n"
                     "| bias table (BT) of a cube core | %u bytes |\n"
                     "| L2 cache, shared by all cores | %llu MiB |\n"
                     "| global memory (GM) | %llu GiB |\n"
                     "| clock | %d MHz |\n"
                     "| a vector instruction | takes 256 bytes a repeat (64 float, 128 half), at most 255 repeats, in "
                     "blocks of 32 bytes |",
                     soc->name, soc->family, soc->aiv, soc->aic, soc->aiv / soc->aic, soc->ub_bytes,
                     soc->ub_tiling_bytes, soc->l1_bytes, soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes,
                     (unsigned long long)(soc->l2_bytes >> 20), (unsigned long long)(soc->hbm_bytes >> 30), soc->mhz);
    return NULL;
}
