/* The task that `akgen task new` begins with: what a reference's signature asks for, with small cases. A variable of
 * the signature becomes a column of cases.csv, which shapes name; so does a data type and an attribute. */
#include "task/reference/reference.h"
#include "task/task.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { CASES = 16, COLUMNS = SIGNATURE_NAMES + 2 * SIGNATURE_PARAMS + SIGNATURE_ATTRS };

struct column {
    const char *name, *values[CASES];
};
struct skeleton {
    struct arena *arena;
    const struct reference_signature *signature;
    struct column columns[COLUMNS];
    int count, cases;
    const char *dtypes[2 * SIGNATURE_PARAMS]; /* of inputs, then outputs: the expression */
    struct text yaml;
};

/* Columns. */
static struct column *column_called(struct skeleton *skeleton, const char *name)
{
    for (int i = 0; i < skeleton->count; i++)
        if (strcmp(skeleton->columns[i].name, name) == 0)
            return &skeleton->columns[i];
    return NULL;
}

static struct column *add_column(struct skeleton *skeleton, const char *name)
{
    struct column *column = &skeleton->columns[skeleton->count++];
    column->name = name;
    return column;
}

static const char *size_of(const struct reference_signature *signature, const char *name)
{
    for (int i = 0; i < signature->size_count; i++)
        if (strcmp(signature->sizes[i].name, name) == 0)
            return signature->sizes[i].value;
    return NULL;
}

/* Runs of a signature whose ranks an attribute counts have one dimension each. */
static bool counts_ranks(const struct reference_signature *signature)
{
    bool counts = false;
    for (int i = 0; i < signature->name_count; i++)
        counts |= signature->names[i].dims != TASK_NONE;
    return counts;
}

/* The value of variable number `index` in a case: small, and another one for each; even and odd cases differ. */
static const char *variable_value(struct skeleton *skeleton, int index, int row)
{
    static const int even[] = {6, 8, 5, 4, 7, 3}, odd[] = {7, 3, 9, 5, 4, 8};
    enum { VALUES = sizeof even / sizeof *even };
    const struct signature_variable *variable = &skeleton->signature->names[index];
    const char *given = size_of(skeleton->signature, variable->name);
    int value = row % 2 ? odd[index % VALUES] : even[index % VALUES];
    if (given)
        return given;
    if (variable->per_tensor)
        return row % 2 ? "[[7, 33]]" : "[[16, 20], [5]]";
    if (variable->run && (row % 2 || counts_ranks(skeleton->signature)))
        return arena_printf(skeleton->arena, "[%d]", value);
    if (variable->run)
        return arena_printf(skeleton->arena, "[%d, 3]", value);
    if (variable->alone)
        return row % 2 ? "[7, 33]" : "[16, 20]";
    return arena_printf(skeleton->arena, "%d", value);
}

static void add_variables(struct skeleton *skeleton)
{
    const struct reference_signature *signature = skeleton->signature;
    for (int i = 0; i < signature->name_count; i++) {
        const struct signature_variable *variable = &signature->names[i];
        bool of_list = variable->per_tensor && !variable->alone; /* within shapes that a column holds whole */
        if (variable->attr != TASK_NONE || variable->list != TASK_NONE || of_list)
            continue;
        struct column *column = add_column(skeleton, variable->name);
        for (int row = 0; row < skeleton->cases; row++)
            column->values[row] = variable_value(skeleton, i, row);
    }
    for (int i = 0; i < signature->size_count; i++) /* shapes of a list */
        if (!column_called(skeleton, signature->sizes[i].name)) {
            struct column *column = add_column(skeleton, signature->sizes[i].name);
            for (int row = 0; row < skeleton->cases; row++)
                column->values[row] = signature->sizes[i].value;
        }
}

static void add_attrs(struct skeleton *skeleton)
{
    const struct reference_signature *signature = skeleton->signature;
    for (int i = 0; i < signature->attr_count; i++) {
        const struct signature_attr *attr = &signature->attrs[i];
        int words = 0;
        while (attr->words[words])
            words++;
        struct column *column = column_called(skeleton, attr->name) ? NULL : add_column(skeleton, attr->name);
        for (int row = 0; column && row < skeleton->cases; row++)
            column->values[row] = words ? attr->words[row % words] : attr->value;
    }
}

/* Data types. */
static const struct signature_param *param_at(const struct skeleton *skeleton, int index)
{
    const struct reference_signature *signature = skeleton->signature;
    return index < signature->input_count ? &signature->inputs[index]
                                          : &signature->outputs[index - signature->input_count];
}

static int param_count(const struct skeleton *skeleton)
{
    return skeleton->signature->input_count + skeleton->signature->output_count;
}

/* The type of a row: all types of the set, one after the other. */
static const char *type_of(uint64_t types, int row)
{
    int skip = row % __builtin_popcountll(types), code = 0;
    for (;; code++)
        if ((types >> code & 1) && skip-- == 0)
            return akgen_dtype_name((enum akgen_dtype)code);
}

/* Inputs with the same choice of types share a column; an output that has its own is one type further. */
static void add_dtypes(struct skeleton *skeleton)
{
    for (int i = 0; i < param_count(skeleton); i++) {
        const struct signature_param *param = param_at(skeleton, i);
        bool output = i >= skeleton->signature->input_count;
        if (param->same_as != TASK_NONE && param->same_as != i) {
            skeleton->dtypes[i] = skeleton->dtypes[param->same_as];
            continue;
        }
        for (int j = 0; j < i && !output; j++)
            if (param_at(skeleton, j)->types == param->types)
                skeleton->dtypes[i] = skeleton->dtypes[j];
        if (__builtin_popcountll(param->types) == 1)
            skeleton->dtypes[i] = type_of(param->types, 0);
        if (skeleton->dtypes[i])
            continue;
        const char *name =
            column_called(skeleton, "dtype") ? arena_printf(skeleton->arena, "%s_dtype", param->name) : "dtype";
        struct column *column = add_column(skeleton, name);
        for (int row = 0; row < skeleton->cases; row++)
            column->values[row] = type_of(param->types, row + output);
        skeleton->dtypes[i] = arena_printf(skeleton->arena, "$%s", name);
    }
}

/* Expressions. */
/* How many tensors the lists have: as many as the first of them has shapes. */
static const char *list_length(const struct skeleton *skeleton)
{
    const struct reference_signature *signature = skeleton->signature;
    int list = 0;
    while (!signature->inputs[list].list)
        list++;
    const struct signature_shape *shape = &signature->inputs[list].shapes[0];
    return shape->counted
               ? arena_printf(skeleton->arena, "len($%s)", signature->names[shape->sizes[0].variables[0]].name)
               : arena_printf(skeleton->arena, "len($%s_shapes)", signature->inputs[list].name);
}

static const char *factor_text(const struct skeleton *skeleton, int index)
{
    const struct signature_variable *variable = &skeleton->signature->names[index];
    if (variable->list != TASK_NONE)
        return list_length(skeleton);
    return arena_printf(skeleton->arena, variable->run ? "product($%s)" : "$%s", variable->name);
}

static const char *size_text(const struct skeleton *skeleton, const struct signature_size *size)
{
    const char *text = "";
    if (size->number != 1 || !size->count)
        text = arena_printf(skeleton->arena, "%" PRId64, size->number);
    for (int i = 0; i < size->count; i++)
        text =
            arena_printf(skeleton->arena, "%s%s%s", text, *text ? "*" : "", factor_text(skeleton, size->variables[i]));
    return size->offset ? arena_printf(skeleton->arena, "%s %c %" PRId64, text, size->offset < 0 ? '-' : '+',
                                       size->offset < 0 ? -size->offset : size->offset)
                        : text;
}

static const char *shape_text(struct skeleton *skeleton, const struct signature_param *param,
                              const struct signature_shape *shape)
{
    const struct reference_signature *signature = skeleton->signature;
    const char *text = "", *open = "";
    const struct signature_variable *only =
        shape->sizes[0].count == 1 ? &signature->names[shape->sizes[0].variables[0]] : NULL;
    if (param->list && !shape->counted)
        return arena_printf(skeleton->arena, "$%s_shapes", param->name);
    if (param->list && !only) /* a number of elements that is the same for all */
        return arena_printf(skeleton->arena, "filled(%s, [%s])", list_length(skeleton),
                            size_text(skeleton, &shape->sizes[0]));
    if (shape->counted && only && only->alone && only->list == TASK_NONE)
        return arena_printf(skeleton->arena, "$%s", only->name);
    for (int i = 0; i < shape->count; i++) {
        const struct signature_size *size = &shape->sizes[i];
        bool run = size->count == 1 && signature->names[size->variables[0]].run && !shape->counted;
        if (run)
            text = arena_printf(skeleton->arena, "%s%s%s$%s", text, *open ? "]" : "", *text ? " + " : "",
                                signature->names[size->variables[0]].name);
        else
            text = arena_printf(skeleton->arena, "%s%s%s", text,
                                *open   ? ", "
                                : *text ? " + ["
                                        : "[",
                                size_text(skeleton, size));
        open = run ? "" : "[";
    }
    return arena_printf(skeleton->arena, "%s%s", *text ? text : "[", *open || !*text ? "]" : "");
}

static const char *param_shape_text(struct skeleton *skeleton, const struct signature_param *param)
{
    const char *first = shape_text(skeleton, param, &param->shapes[0]);
    if (param->chosen_by == TASK_NONE)
        return first;
    return arena_printf(skeleton->arena, "$%s == %s ? %s : %s", skeleton->signature->attrs[param->chosen_by].name,
                        param->word, first, shape_text(skeleton, param, &param->shapes[1]));
}

static const char *generator_text(struct skeleton *skeleton, int index)
{
    const struct signature_param *param = param_at(skeleton, index);
    const char *dtype = skeleton->dtypes[index], *text = "";
    uint64_t types = signature_type_set(skeleton->signature, param), floating = 0;
    bool natural = false;
    if (param->generate)
        return param->generate;
    for (int code = 0; code < 64; code++) {
        const char *name = types >> code & 1 ? akgen_dtype_name((enum akgen_dtype)code) : "";
        floating |= *name && task_is_float((enum akgen_dtype)code) ? UINT64_C(1) << code : 0;
        natural |= *name == 'u';
    }
    if (types == floating)
        return "randn";
    if (types == UINT64_C(1) << AKGEN_BOOL)
        return "randbool";
    if (floating & ~(UINT64_C(1) << AKGEN_COMPLEX64))
        text = arena_printf(skeleton->arena, "is_float(%s) ? randn : ", dtype);
    if (types >> AKGEN_COMPLEX64 & 1)
        text = arena_printf(skeleton->arena, "%s%s == complex64 ? randn : ", text, dtype);
    if (types >> AKGEN_BOOL & 1)
        text = arena_printf(skeleton->arena, "%s%s == bool ? randbool : ", text, dtype);
    return arena_printf(skeleton->arena, "%srandint(%d, 10)", text, natural ? 0 : -9);
}

/* The text. */
static void add_param(struct skeleton *skeleton, int index, int combinations)
{
    const struct reference_signature *signature = skeleton->signature;
    const struct signature_param *param = param_at(skeleton, index);
    bool output = index >= signature->input_count;
    uint64_t types = signature_type_set(skeleton->signature, param);
    text_addf(&skeleton->yaml, "  - name: %s\n%s    shape: \"%s\"\n    dtype: \"%s\"\n    types: [", param->name,
              param->list ? "    kind: tensor_list\n" : "", param_shape_text(skeleton, param), skeleton->dtypes[index]);
    for (int row = 0; row < combinations; row++)
        text_addf(&skeleton->yaml, "%s%s", row ? ", " : "",
                  type_of(types, row + (output && param->same_as == TASK_NONE)));
    text_add(&skeleton->yaml, "]\n");
    if (!output)
        text_addf(&skeleton->yaml, "    generate: \"%s\"\n", generator_text(skeleton, index));
    for (int i = 0; output && i < signature->input_count; i++)
        if (strcmp(signature->inputs[i].name, param->name) == 0)
            text_addf(&skeleton->yaml, "    in_place: %s\n", param->name);
    if (param->optional)
        text_add(&skeleton->yaml, "    optional: true\n");
    if (param->unmade)
        text_add(&skeleton->yaml, "    compared: \"false\"\n");
}

/* Sizes may be varied where nothing but them makes a shape. */
static void add_vary(struct skeleton *skeleton, bool limited)
{
    const struct reference_signature *signature = skeleton->signature;
    if (limited || signature->size_count || signature->derive)
        return;
    for (int i = 0; i < signature->name_count; i++)
        if (signature->names[i].attr != TASK_NONE)
            return;
    text_add(&skeleton->yaml, "vary: sizes");
    for (int i = 0; i < signature->name_count; i++) {
        const struct signature_variable *variable = &signature->names[i];
        if (!variable->run && !variable->per_tensor && !variable->alone && variable->list == TASK_NONE)
            text_addf(&skeleton->yaml, " %s", variable->name);
    }
    text_add(&skeleton->yaml, "\n");
}

static void add_yaml(struct skeleton *skeleton, const char *head, int combinations, bool limited)
{
    const struct reference_signature *signature = skeleton->signature;
    text_addf(&skeleton->yaml, "%sreference: %s\n", head, signature->reference);
    if (signature->derive)
        text_addf(&skeleton->yaml, "derive: %s\n", signature->derive);
    add_vary(skeleton, limited);
    /* Small cases of a new task show little: a line to be deleted once there are more. */
    const char *own = signature->trivial ? signature->trivial : "";
    int word = (int)strcspn(own, ":");
    text_addf(&skeleton->yaml, "trivial: \"%.*s%s" TASK_FEW_CASES "\"\n", word, own, word ? " " : "");
    text_add(&skeleton->yaml, "inputs:                     # in the order of the OpDef\n");
    for (int i = 0; i < param_count(skeleton); i++) {
        if (i == signature->input_count)
            text_add(&skeleton->yaml, "outputs:\n");
        add_param(skeleton, i, combinations);
    }
    for (int i = 0; i < signature->attr_count; i++) {
        const struct signature_attr *attr = &signature->attrs[i];
        bool other = strcmp(attr->name, "dtype") == 0; /* the column of data types */
        text_addf(&skeleton->yaml, "%s  - name: %s\n    type: %s\n    value: \"%s%s\"\n", i ? "" : "attrs:\n",
                  attr->name, task_attr_type_names[attr->type], other ? "" : "$", other ? attr->value : attr->name);
    }
}

static const char *csv_text(struct skeleton *skeleton)
{
    struct text csv = {0};
    text_add(&csv, "case_id");
    for (int i = 0; i < skeleton->count; i++)
        text_addf(&csv, ";%s", skeleton->columns[i].name);
    for (int row = 0; row < skeleton->cases; row++) {
        text_addf(&csv, "\n%d", row);
        for (int i = 0; i < skeleton->count; i++)
            text_addf(&csv, ";%s", skeleton->columns[i].values[row]);
    }
    text_add(&csv, "\n");
    return text_keep(&csv, skeleton->arena);
}

bool task_skeleton(struct arena *arena, const struct task_reference_entry *reference, const char *head,
                   const char **yaml, const char **cases)
{
    struct skeleton *skeleton = arena_alloc(arena, sizeof *skeleton);
    skeleton->arena = arena;
    skeleton->signature = task_reference_signature(arena, reference);
    if (!skeleton->signature)
        return false;
    int combinations = 1;
    for (int i = 0; i < param_count(skeleton); i++) {
        int types = __builtin_popcountll(signature_type_set(skeleton->signature, param_at(skeleton, i)));
        combinations = types > combinations ? types : combinations;
    }
    skeleton->cases = combinations > 3 ? combinations : 3;
    add_dtypes(skeleton);
    add_variables(skeleton);
    add_attrs(skeleton);
    if (skeleton->signature->column && !column_called(skeleton, skeleton->signature->column)) {
        struct column *column = add_column(skeleton, skeleton->signature->column);
        for (int row = 0; row < skeleton->cases; row++)
            column->values[row] = "2";
    }
    add_yaml(skeleton, head, combinations, reference->fits);
    *yaml = arena_strdup(arena, skeleton->yaml.bytes);
    text_free(&skeleton->yaml);
    *cases = csv_text(skeleton);
    return true;
}
