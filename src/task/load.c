/* task.yaml and cases.csv -> struct task. libcyaml checks the structure; this file checks what the keys mean. */
#include "base/files.h"
#include "task/csv.h"
#include "task/expr/expr.h"
#include "task/expr/formula.h"
#include "task/reference/reference.h"
#include "task/task.h"
#include "task/task_internal.h"

#include <cyaml/cyaml.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 4 << 20 };

/* The structure of task.yaml. */
struct yaml_param {
    char *name, *kind, *shape, *dtype, *generate, *strict, *special, *present, *in_place, *init, *points_into,
        *compared, *depth, *made_of, *formula;
    char **types;
    unsigned types_count;
    bool optional, value_depend, steep, serial;
};
struct yaml_attr {
    char *name, *type, *value;
};
struct yaml_task {
    char *suite, *category, *op, *op_type, *reference, *derive, *check, *note, *vary, *smaller, *trivial;
    int level;
    struct yaml_param *inputs, *outputs;
    unsigned inputs_count, outputs_count;
    struct yaml_attr *attrs;
    unsigned attrs_count;
};

#define TEXT(key, flags, type, field) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), type, field, 0, 4096)
static const cyaml_schema_value_t word_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 64),
};
static const cyaml_schema_field_t param_fields[] = {
    TEXT("name", CYAML_FLAG_DEFAULT, struct yaml_param, name),
    TEXT("kind", CYAML_FLAG_OPTIONAL, struct yaml_param, kind),
    TEXT("shape", CYAML_FLAG_DEFAULT, struct yaml_param, shape),
    TEXT("dtype", CYAML_FLAG_DEFAULT, struct yaml_param, dtype),
    TEXT("generate", CYAML_FLAG_OPTIONAL, struct yaml_param, generate),
    TEXT("strict", CYAML_FLAG_OPTIONAL, struct yaml_param, strict),
    TEXT("special", CYAML_FLAG_OPTIONAL, struct yaml_param, special),
    TEXT("present", CYAML_FLAG_OPTIONAL, struct yaml_param, present),
    TEXT("in_place", CYAML_FLAG_OPTIONAL, struct yaml_param, in_place),
    TEXT("init", CYAML_FLAG_OPTIONAL, struct yaml_param, init),
    TEXT("points_into", CYAML_FLAG_OPTIONAL, struct yaml_param, points_into),
    TEXT("compared", CYAML_FLAG_OPTIONAL, struct yaml_param, compared),
    TEXT("depth", CYAML_FLAG_OPTIONAL, struct yaml_param, depth),
    TEXT("made_of", CYAML_FLAG_OPTIONAL, struct yaml_param, made_of),
    TEXT("formula", CYAML_FLAG_OPTIONAL, struct yaml_param, formula),
    CYAML_FIELD_SEQUENCE("types", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct yaml_param, types, &word_schema, 1,
                         128),
    CYAML_FIELD_BOOL("optional", CYAML_FLAG_OPTIONAL, struct yaml_param, optional),
    CYAML_FIELD_BOOL("serial", CYAML_FLAG_OPTIONAL, struct yaml_param, serial),
    CYAML_FIELD_BOOL("steep", CYAML_FLAG_OPTIONAL, struct yaml_param, steep),
    CYAML_FIELD_BOOL("value_depend", CYAML_FLAG_OPTIONAL, struct yaml_param, value_depend),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t param_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_param, param_fields),
};
static const cyaml_schema_field_t attr_fields[] = {
    TEXT("name", CYAML_FLAG_DEFAULT, struct yaml_attr, name),
    TEXT("type", CYAML_FLAG_DEFAULT, struct yaml_attr, type),
    TEXT("value", CYAML_FLAG_DEFAULT, struct yaml_attr, value),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t attr_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_attr, attr_fields),
};
static const cyaml_schema_field_t task_fields[] = {
    TEXT("suite", CYAML_FLAG_DEFAULT, struct yaml_task, suite),
    CYAML_FIELD_INT("level", CYAML_FLAG_DEFAULT, struct yaml_task, level),
    TEXT("category", CYAML_FLAG_DEFAULT, struct yaml_task, category),
    TEXT("op", CYAML_FLAG_DEFAULT, struct yaml_task, op),
    TEXT("op_type", CYAML_FLAG_OPTIONAL, struct yaml_task, op_type),
    TEXT("derive", CYAML_FLAG_OPTIONAL, struct yaml_task, derive),
    TEXT("reference", CYAML_FLAG_DEFAULT, struct yaml_task, reference),
    TEXT("check", CYAML_FLAG_OPTIONAL, struct yaml_task, check),
    TEXT("note", CYAML_FLAG_OPTIONAL, struct yaml_task, note),
    TEXT("vary", CYAML_FLAG_OPTIONAL, struct yaml_task, vary),
    TEXT("smaller", CYAML_FLAG_OPTIONAL, struct yaml_task, smaller),
    TEXT("trivial", CYAML_FLAG_OPTIONAL, struct yaml_task, trivial),
    CYAML_FIELD_SEQUENCE("inputs", CYAML_FLAG_POINTER, struct yaml_task, inputs, &param_schema, 1, 32),
    CYAML_FIELD_SEQUENCE("outputs", CYAML_FLAG_POINTER, struct yaml_task, outputs, &param_schema, 1, 32),
    CYAML_FIELD_SEQUENCE("attrs", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct yaml_task, attrs, &attr_schema, 0,
                         32),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t task_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_task, task_fields),
};

/* Loading. */
struct loader {
    struct arena *arena;
    const char *dir;
    char *text;          /* of task.yaml */
    char complaint[512]; /* what libcyaml said */
};

static struct akgen_error *read_text(struct arena *arena, const char *path, char **text)
{
    size_t length;
    struct akgen_error *error = files_read(arena, path, MAX_FILE, text, &length);
    if (error)
        return error;
    return memchr(*text, 0, length) ? error_new("%s: not a text file: it holds a NUL byte", path) : NULL;
}

/* The first error and the innermost place that libcyaml names become one line. */
static void on_complaint(cyaml_log_t level, void *closure, const char *format, va_list args)
{
    struct loader *loader = closure;
    char line[256];
    (void)level;
    vsnprintf(line, sizeof line, format, args);
    char *start = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
    start += strspn(start, " ");
    start[strcspn(start, "\n")] = 0;
    size_t length = strlen(loader->complaint);
    bool first = length == 0, place = strstr(start, "line: ") && !strstr(loader->complaint, "line: ");
    if (first || place)
        snprintf(loader->complaint + length, sizeof loader->complaint - length, "%s%s", first ? "" : ", ", start);
}

/* The first line that has `key`, or 0. */
static int line_with_key(const char *text, const char *key)
{
    int line = 1;
    for (const char *at = text; *at; line++) {
        size_t length = strcspn(at, "\n");
        const char *hit = strstr(at, key);
        if (hit && hit < at + length && hit[strcspn(hit, ": ,\n")] == ':')
            return line;
        at += length + (at[length] == '\n');
    }
    return 0;
}

/* libcyaml names the place of the last thing it understood; for an unknown key its own line is better. */
static struct akgen_error *yaml_error(const struct loader *loader, cyaml_err_t code)
{
    static const char unknown[] = "Unexpected key: ";
    const char *at = strstr(loader->complaint, "line: "), *key = loader->complaint + strlen(unknown);
    int line = at ? atoi(at + 6) : 1;
    if (strncmp(loader->complaint, unknown, strlen(unknown)) == 0) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(key, ","), key);
        int own = line_with_key(loader->text, name);
        line = own ? own : line;
    }
    return error_new("task.yaml:%d: %s", line, *loader->complaint ? loader->complaint : cyaml_strerror(code));
}

/* The line of `key` in the item called `name` of `section`; name NULL: a key of the task itself. */
static int line_of(const struct loader *loader, const char *section, const char *name, const char *key)
{
    int line = 0, found = 1;
    bool in_section = !name, in_item = !name;
    for (const char *at = loader->text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char buffer[512];
        line++;
        snprintf(buffer, sizeof buffer, "%.*s", (int)strcspn(at, "\n"), at);
        if (name && buffer[0] != ' ' && buffer[0] != '-' && buffer[0] != '#')
            in_section = strncmp(buffer, section, strlen(section)) == 0 && buffer[strlen(section)] == ':';
        const char *item = strstr(buffer, "name:");
        if (in_section && name && item) {
            item += 5 + strspn(item + 5, " \"'");
            size_t length = strlen(name);
            in_item = strncmp(item, name, length) == 0 && !isalnum((unsigned char)item[length]) && item[length] != '_';
            if (in_item)
                found = line;
        }
        const char *hit = strstr(buffer, key);
        if (in_section && in_item && hit && hit[strlen(key)] == ':' && (name || hit == buffer))
            return line;
    }
    return found;
}

static const char *keep(const struct loader *loader, const char *text, const char *otherwise)
{
    return text ? arena_strdup(loader->arena, text) : otherwise;
}

static struct akgen_error *check_expression(const struct loader *loader, const char *section, const char *name,
                                            const char *key, const char *text)
{
    struct expr *expr;
    struct akgen_error *error = text ? expr_parse(loader->arena, text, &expr) : NULL;
    return error ? error_prefix(error, "task.yaml:%d: %s", line_of(loader, section, name, key), key) : NULL;
}

static const char *const kinds[] = {
    [TASK_TENSOR] = "tensor",
    [TASK_TENSOR_LIST] = "tensor_list",
    [TASK_SCALAR] = "scalar",
    [TASK_SCALAR_LIST] = "scalar_list",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* "float32, float16, ...": what `types` may hold. */
static const char *dtype_names(struct arena *arena)
{
    const char *names = "";
    for (int code = 0; code < AKGEN_DTYPE_CODES; code++)
        if (akgen_dtype_ge_name((enum akgen_dtype)code))
            names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", akgen_dtype_name((enum akgen_dtype)code));
    return names;
}

static struct akgen_error *load_types(const struct loader *loader, const char *section, const struct yaml_param *from,
                                      struct task_param *to)
{
    to->type_count = (int)from->types_count;
    to->types = arena_alloc(loader->arena, sizeof *to->types * (from->types_count + 1));
    for (unsigned i = 0; i < from->types_count; i++) {
        to->types[i] = akgen_dtype_parse(from->types[i]);
        if (to->types[i] == AKGEN_DTYPE_NONE)
            return error_new("task.yaml:%d: '%s' is no data type, expected one of %s",
                             line_of(loader, section, from->name, "types"), from->types[i], dtype_names(loader->arena));
    }
    return NULL;
}

static struct akgen_error *load_param(const struct loader *loader, const char *section, const struct yaml_param *from,
                                      struct task_param *to)
{
    bool input = strcmp(section, "inputs") == 0;
    int kind = 0;
    while (from->kind && kind < KINDS && strcmp(from->kind, kinds[kind]) != 0)
        kind++;
    if (kind == KINDS)
        return error_new("task.yaml:%d: kind is '%s', expected tensor, tensor_list, scalar or scalar_list",
                         line_of(loader, section, from->name, "kind"), from->kind);
    if (input && !from->generate)
        return error_new("task.yaml:%d: input '%s' lacks 'generate'", line_of(loader, section, from->name, "name"),
                         from->name);
    *to = (struct task_param){
        .name = keep(loader, from->name, NULL),
        .kind = (enum task_param_kind)kind,
        .optional = from->optional,
        .value_depend = from->value_depend,
        .shape = keep(loader, from->shape, NULL),
        .dtype = keep(loader, from->dtype, NULL),
        .generate = keep(loader, from->generate, NULL),
        .strict = keep(loader, from->strict, NULL),
        .special = keep(loader, from->special, ""),
        .present = keep(loader, from->present, ""),
        .in_place = keep(loader, from->in_place, NULL),
        .init = keep(loader, from->init, "poison"),
        .points_into = keep(loader, from->points_into, NULL),
        .compared = keep(loader, from->compared, "true"),
        .depth = keep(loader, from->depth, "1"),
        .made_of = keep(loader, from->made_of, NULL),
        .formula = keep(loader, from->formula, NULL),
        .steep = from->steep,
        .serial = from->serial,
    };
    if (strcmp(to->init, "poison") != 0 && strcmp(to->init, "zero") != 0)
        return error_new("task.yaml:%d: init is '%s', expected poison or zero",
                         line_of(loader, section, from->name, "init"), to->init);
    if (!task_special_known(to->special))
        return error_new("task.yaml:%d: special is '%s', expected words of: zero subnormal inf nan",
                         line_of(loader, section, from->name, "special"), to->special);
    const char *const texts[][2] = {{"shape", from->shape},     {"dtype", from->dtype},   {"generate", from->generate},
                                    {"present", from->present}, {"strict", from->strict}, {"compared", from->compared},
                                    {"depth", from->depth}};
    struct akgen_error *error = load_types(loader, section, from, to);
    for (size_t i = 0; !error && i < sizeof texts / sizeof *texts; i++)
        error = check_expression(loader, section, from->name, texts[i][0], texts[i][1]);
    return error;
}

static struct akgen_error *load_params(const struct loader *loader, const char *section, const struct yaml_param *from,
                                       unsigned count, struct task_param **params)
{
    *params = arena_alloc(loader->arena, sizeof **params * (count + 1));
    for (unsigned i = 0; i < count; i++) {
        struct akgen_error *error = load_param(loader, section, &from[i], &(*params)[i]);
        if (error)
            return error;
    }
    return NULL;
}

static struct akgen_error *load_attrs(const struct loader *loader, const struct yaml_task *yaml, struct task *task)
{
    static const char *const types[] = {"int", "float", "bool", "string", "list_int", "list_float"};
    task->attr_count = (int)yaml->attrs_count;
    task->attrs = arena_alloc(loader->arena, sizeof *task->attrs * (yaml->attrs_count + 1));
    for (int i = 0; i < task->attr_count; i++) {
        const struct yaml_attr *from = &yaml->attrs[i];
        size_t type = 0;
        while (type < sizeof types / sizeof *types && strcmp(types[type], from->type) != 0)
            type++;
        if (type == sizeof types / sizeof *types)
            return error_new("task.yaml:%d: type is '%s', expected int, float, bool, string, list_int or list_float",
                             line_of(loader, "attrs", from->name, "type"), from->type);
        task->attrs[i] =
            (struct task_attr){keep(loader, from->name, NULL), types[type], keep(loader, from->value, NULL)};
        struct akgen_error *error = check_expression(loader, "attrs", from->name, "value", from->value);
        if (error)
            return error;
    }
    return NULL;
}

/* `types` of all parameters are parallel lists, as in an OpDef: row i of each makes combination i. */
static struct akgen_error *load_combinations(const struct loader *loader, struct task *task)
{
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        bool input = i < task->input_count;
        const struct task_param *param = input ? &task->inputs[i] : &task->outputs[i - task->input_count];
        if (!param->type_count && (input || !param->in_place))
            return error_new("task.yaml:%d: '%s' lacks 'types'",
                             line_of(loader, input ? "inputs" : "outputs", param->name, "name"), param->name);
        if (!param->type_count)
            continue;
        if (!task->combination_count)
            task->combination_count = param->type_count;
        if (param->type_count != task->combination_count)
            return error_new("task.yaml:%d: '%s' has %d types, the first input has %d: the lists are parallel",
                             line_of(loader, input ? "inputs" : "outputs", param->name, "types"), param->name,
                             param->type_count, task->combination_count);
        if (task->combination_width == 0)
            task->combinations =
                arena_alloc(loader->arena, sizeof *task->combinations * (size_t)task->combination_count);
        if (task->combination_width == 32)
            return error_new("task.yaml:1: more than 32 inputs and outputs");
        for (int row = 0; row < param->type_count; row++)
            task->combinations[row][task->combination_width] = param->types[row];
        task->combination_width++;
    }
    return NULL;
}

/* Positions need an input to point into and an attribute `dim` that says along which dimension. */
static struct akgen_error *check_positions(const struct loader *loader, const struct task *task,
                                           const struct task_param *output)
{
    int line = line_of(loader, "outputs", output->name, "points_into");
    if (task_input_index(task, output->points_into) < 0)
        return error_new("task.yaml:%d: points_into names '%s', which is no input", line, output->points_into);
    if (task_attr_index(task, "dim") < 0)
        return error_new("task.yaml:%d: points_into needs an attribute 'dim'", line);
    return NULL;
}

/* With the reference `formula` every output has a formula, with another none has one. */
static struct akgen_error *load_formulas(const struct loader *loader, struct task *task)
{
    bool wanted = strcmp(task->reference, "formula") == 0;
    for (int i = 0; i < task->output_count; i++) {
        struct task_param *output = &task->outputs[i];
        int line = line_of(loader, "outputs", output->name, output->formula ? "formula" : "name");
        if (wanted && (!output->formula || output->kind != TASK_TENSOR))
            return error_new("task.yaml:%d: reference is formula: output '%s' must be a tensor with a 'formula'", line,
                             output->name);
        if (!wanted && output->formula)
            return error_new("task.yaml:%d: '%s' has a formula, but the reference is %s, expected formula", line,
                             output->name, task->reference);
        struct akgen_error *error =
            wanted ? formula_parse(loader->arena, output->formula, task, &output->parsed_formula) : NULL;
        if (error)
            return error_prefix(error, "task.yaml:%d: formula", line);
    }
    return NULL;
}

/* `trivial` is "words: reason". */
static const char *words_of(const struct loader *loader, const char *text)
{
    return text ? arena_printf(loader->arena, "%.*s", (int)strcspn(text, ":"), text) : "";
}

static const char *reason_of(const struct loader *loader, const char *text)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    return colon ? arena_strdup(loader->arena, colon + 1 + strspn(colon + 1, " ")) : "";
}

static struct akgen_error *load_description(struct loader *loader, const struct yaml_task *yaml, struct task *task)
{
    *task = (struct task){
        .suite = keep(loader, yaml->suite, NULL),
        .level = yaml->level,
        .category = keep(loader, yaml->category, NULL),
        .op = keep(loader, yaml->op, NULL),
        .name = arena_printf(loader->arena, "level%d/%s/%s", yaml->level, yaml->category, yaml->op),
        .dir = loader->dir,
        .op_type = keep(loader, yaml->op_type ? yaml->op_type : yaml->op, NULL),
        .reference = keep(loader, yaml->reference, NULL),
        .derive = keep(loader, yaml->derive, ""),
        .check = keep(loader, yaml->check, "default"),
        .note = keep(loader, yaml->note, ""),
        .vary = keep(loader, yaml->vary, ""),
        .smaller = keep(loader, yaml->smaller, ""),
        .trivial = words_of(loader, yaml->trivial),
        .trivial_reason = reason_of(loader, yaml->trivial),
        .input_count = (int)yaml->inputs_count,
        .output_count = (int)yaml->outputs_count,
    };
    struct akgen_error *error = load_params(loader, "inputs", yaml->inputs, yaml->inputs_count, &task->inputs);
    if (!error)
        error = load_params(loader, "outputs", yaml->outputs, yaml->outputs_count, &task->outputs);
    if (!error)
        error = load_attrs(loader, yaml, task);
    if (!error)
        error = check_expression(loader, NULL, NULL, "check", task->check);
    if (!error && !task_reference_find(task->reference))
        error = error_new("task.yaml:%d: there is no reference called '%s'%s", line_of(loader, NULL, NULL, "reference"),
                          task->reference, task_reference_hint(loader->arena, task->reference));
    if (!error)
        error = load_formulas(loader, task);
    if (!error && *task->derive && !task_derivation_exists(task->derive))
        error = error_new("task.yaml:%d: there is no derivation called '%s'", line_of(loader, NULL, NULL, "derive"),
                          task->derive);
    if (!error && *task->trivial && !*task->trivial_reason)
        error = error_new("task.yaml:%d: trivial lacks its reason: 'copy: the operator copies'",
                          line_of(loader, NULL, NULL, "trivial"));
    for (int i = 0; !error && i < task->output_count; i++)
        if (task->outputs[i].points_into)
            error = check_positions(loader, task, &task->outputs[i]);
    for (int i = 0; !error && i < task->output_count; i++)
        if (task->outputs[i].in_place && task_input_index(task, task->outputs[i].in_place) < 0)
            error = error_new("task.yaml:%d: in_place names '%s', which is no input",
                              line_of(loader, "outputs", task->outputs[i].name, "in_place"), task->outputs[i].in_place);
    for (int i = 0; !error && i < task->output_count; i++)
        if (task->outputs[i].made_of && task_output_index(task, task->outputs[i].made_of) < 0)
            error = error_new("task.yaml:%d: made_of names '%s', which is no output",
                              line_of(loader, "outputs", task->outputs[i].name, "made_of"), task->outputs[i].made_of);
    return error ? error : load_combinations(loader, task);
}

static struct akgen_error *load_yaml(struct loader *loader, struct task *task)
{
    cyaml_config_t config = {
        .log_fn = on_complaint, .log_ctx = loader, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
    struct yaml_task *yaml = NULL;
    cyaml_err_t code = cyaml_load_data((const uint8_t *)loader->text, strlen(loader->text), &config, &task_schema,
                                       (cyaml_data_t **)&yaml, NULL);
    if (code != CYAML_OK)
        return yaml_error(loader, code);
    struct akgen_error *error = load_description(loader, yaml, task);
    cyaml_free(&config, &task_schema, yaml, 0);
    return error;
}

/* What a case's shapes must be for the formulas, if the task has some. */
static struct akgen_error *check_formulas(const struct task *task, const struct task_case *row)
{
    struct task_instance *instance = NULL;
    if (!task->outputs[0].formula)
        return NULL;
    struct akgen_error *error = task_instance_shapes(task, row, &instance);
    if (!error && (error = formula_fits(instance)))
        error = error_prefix(error, "cases.csv:%d", row->line);
    task_instance_free(instance);
    return error;
}

static struct akgen_error *load_cases(struct loader *loader, struct task *task)
{
    char *text;
    struct csv_table table;
    struct akgen_error *error =
        read_text(loader->arena, arena_printf(loader->arena, "%s/cases.csv", loader->dir), &text);
    if (!error)
        error = csv_parse(loader->arena, "cases.csv", text, &table);
    if (error)
        return error;
    if (!table.row_count)
        return error_new("cases.csv: no case below the header");
    task->cases = arena_alloc(loader->arena, sizeof *task->cases * (size_t)table.row_count);
    task->case_count = table.row_count;
    for (int i = 0; i < table.row_count; i++) {
        struct task_case *row = &task->cases[i];
        char *end;
        *row = (struct task_case){.columns = table.columns,
                                  .values = table.rows[i].values,
                                  .column_count = table.column_count,
                                  .line = table.rows[i].line};
        row->id = (int)strtol(row->values[0], &end, 10);
        if (strcmp(table.columns[0], "case_id") != 0 || end == row->values[0] || *end || row->id < 0)
            return error_new("cases.csv:%d: the first column must be 'case_id', a number", row->line);
        for (int j = 0; j < i; j++)
            if (task->cases[j].id == row->id)
                return error_new("cases.csv:%d: case_id %d appears twice", row->line, row->id);
        if ((error = task_case_measure(task, row)) || (error = check_formulas(task, row)))
            return error;
        if ((error = task_vary_check(loader->arena, task, row)))
            return error_prefix(error, "task.yaml:%d: vary", line_of(loader, NULL, NULL, "vary"));
        struct task_case smaller = *row;
        if ((error = task_case_smaller(loader->arena, task, &smaller)))
            return error_prefix(error, "task.yaml:%d: smaller", line_of(loader, NULL, NULL, "smaller"));
    }
    return NULL;
}

/* "task.yaml:3: ..." becomes "<dir>/task.yaml:3: ...". */
static struct akgen_error *error_in_directory(struct akgen_error *error, const char *dir)
{
    struct akgen_error *placed = error_new("%s/%s", dir, error->message);
    error_free(error);
    return placed;
}

struct akgen_error *task_load(struct arena *arena, const char *dir, struct task *task)
{
    char absolute[PATH_MAX];
    if (!realpath(dir, absolute))
        return error_new("%s: %m", dir);
    struct loader loader = {.arena = arena, .dir = arena_strdup(arena, absolute)};
    struct akgen_error *error = read_text(arena, arena_printf(arena, "%s/task.yaml", loader.dir), &loader.text);
    if (error)
        return error;
    error = load_yaml(&loader, task);
    if (!error)
        error = load_cases(&loader, task);
    return error ? error_in_directory(error, dir) : NULL;
}

bool task_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

int task_input_index(const struct task *task, const char *name)
{
    for (int i = 0; i < task->input_count; i++)
        if (strcmp(task->inputs[i].name, name) == 0)
            return i;
    return -1;
}

int task_output_index(const struct task *task, const char *name)
{
    for (int i = 0; i < task->output_count; i++)
        if (strcmp(task->outputs[i].name, name) == 0)
            return i;
    return -1;
}

int task_attr_index(const struct task *task, const char *name)
{
    for (int i = 0; i < task->attr_count; i++)
        if (!strcmp(task->attrs[i].name, name))
            return i;
    return -1;
}
