/* The task of a description: task.yaml and cases.csv. What is left open, the shape of an output, values and sizes, is tried until
 * the task loads, golden is finite and no terms cancel. */
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "gen/describe_internal.h"
#include "task/task.h"

#include <ctype.h>
#include <string.h>

enum { MOST_SHAPES = 64 };
/* What is tried where the description says nothing. */
struct attempt {
    const char *generate;
    bool even;
    const char *shape; /* of outputs that have none */
};

/* Texts. */
bool describe_takes_part(const struct name *name, enum role role)
{
    return name->role == role && (role == ROLE_OUTPUT || name->used);
}

static const char *shape_of(const struct gen_description *description, const struct name *name, const char *otherwise)
{
    struct text text = {0};
    if (!name->shape)
        return otherwise;
    text_add(&text, "[");
    for (const char *at = name->shape; *at;) {
        size_t length = strspn(at, DESCRIBE_WORD);
        if (length && !isdigit((unsigned char)*at))
            text_add(&text, "$");
        text_append(&text, at, length ? length : 1);
        at += length ? length : 1;
    }
    text_add(&text, "]");
    return text_keep(&text, description->arena);
}

/* The largest declared shape, which tensors have that are declared none. */
static const char *main_shape(const struct gen_description *description)
{
    const struct name *largest = NULL;
    int most = -1;
    for (int i = 0; i < description->count; i++) {
        const struct name *name = &description->names[i];
        int commas = 0;
        for (const char *at = name->shape ? name->shape : ""; *at; at++)
            commas += *at == ',';
        if (name->shape && commas > most) {
            most = commas;
            largest = name;
        }
    }
    return largest ? shape_of(description, largest, NULL) : "$shape";
}

static bool is_floating(const char *type)
{
    return strstr(type, "float");
}

/* Some tensors have other floating types than others in the same case. */
static bool is_mixed(const struct gen_description *description)
{
    const char *first = NULL;
    bool mixed = false;
    for (int i = 0; i < description->count; i++) {
        const char *type = description->names[i].type;
        bool tensor = describe_takes_part(&description->names[i], ROLE_INPUT) ||
                      describe_takes_part(&description->names[i], ROLE_OUTPUT);
        if (!tensor || !type || !is_floating(type))
            continue;
        mixed |= first && strcmp(first, type) != 0;
        first = type;
    }
    return mixed;
}

/* The data type that a tensor has in all cases, NULL if it is a case's. */
static const char *fixed_type(const struct gen_description *description, const struct name *name)
{
    return name->type && (!is_floating(name->type) || is_mixed(description)) ? name->type : NULL;
}

static void add_tensor(const struct gen_description *description, struct text *yaml, const struct name *name,
                       const char *shape)
{
    bool some = description->types[0] || description->types[1] || description->types[2];
    const char *comma = "", *type = fixed_type(description, name);
    text_addf(yaml, "  - name: %s\n    shape: \"%s\"\n    dtype: \"%s\"\n    types: [", name->name,
              shape_of(description, name, shape), type ? type : "$dtype");
    for (int i = 0; i < 3; i++)
        if (description->types[i] || !some) {
            text_addf(yaml, "%s%s", comma, type ? type : describe_types[i]);
            comma = ", ";
        }
    text_add(yaml, "]\n");
}

static const char *values_of(const struct gen_description *description, const struct name *name,
                             const struct attempt *attempt)
{
    static const char *const values[][2] = {
        {"int8", "randint(-128, 128)"}, {"uint8", "randint(0, 256)"}, {"bool", "randbool"}};
    const char *type = fixed_type(description, name);
    if (name->generate)
        return name->generate;
    for (size_t i = 0; type && i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], type) == 0)
            return values[i][1];
    return type && !is_floating(type) ? "randint(-100, 100)" : attempt->generate;
}

static void add_formula(const struct gen_description *description, struct text *yaml, const struct name *output)
{
    bool behind = true; /* steps in front of the output, behind the one before */
    text_add(yaml, "    formula: \"");
    int from = 0;
    for (int i = 0; &description->names[i] != output; i++)
        if (description->names[i].role == ROLE_OUTPUT)
            from = i + 1;
    for (int i = from; &description->names[i] != output && behind; i++)
        if (description->names[i].role == ROLE_STEP && description->names[i].value)
            text_addf(yaml, "%s = %s; ", description->names[i].name, description->names[i].value);
    text_addf(yaml, "%s\"\n", output->value);
}

static void compose_yaml(const struct gen_description *description, const struct attempt *attempt, struct text *yaml)
{
    const char *shape = main_shape(description);
    text_addf(yaml,
              "# Made of a description (desc.md); docs/tasks.md explains every key.\n"
              "suite: mine\nlevel: 1\ncategory: Math\nop: %s\nreference: formula\n",
              description->op);
    if (description->dim_count) {
        text_add(yaml, "vary:");
        for (int i = 0; i < description->dim_count; i++)
            text_addf(yaml, " %s", description->dims[i]);
    } else {
        text_add(yaml, "vary: sizes");
    }
    text_addf(yaml, "%s\ntrivial: \"" TASK_FEW_CASES "\"\ninputs:\n", attempt->even ? " even" : "");
    for (int i = 0; i < description->count; i++)
        if (describe_takes_part(&description->names[i], ROLE_INPUT)) {
            add_tensor(description, yaml, &description->names[i], shape);
            text_addf(yaml, "    generate: \"%s\"\n", values_of(description, &description->names[i], attempt));
        }
    text_add(yaml, "outputs:\n");
    for (int i = 0; i < description->count; i++)
        if (describe_takes_part(&description->names[i], ROLE_OUTPUT)) {
            add_tensor(description, yaml, &description->names[i], attempt->shape);
            add_formula(description, yaml, &description->names[i]);
        }
    bool head = false;
    for (int i = 0; i < description->count; i++)
        if (describe_takes_part(&description->names[i], ROLE_ATTR)) {
            const struct name *name = &description->names[i];
            text_addf(yaml, "%s  - name: %s\n    type: %s\n    value: \"%s\"\n", head ? "" : "attrs:\n", name->name,
                      strpbrk(name->value, ".eE") ? "float" : "int", name->value);
            head = true;
        }
}

/* The sizes of the first axis, of those in the middle, of the last one, by case. */
static const int sizes[][3] = {{48, 8, 1024}, {7, 3, 33}, {30, 5, 2001}};
static const int even_sizes[][3] = {{48, 8, 1024}, {6, 4, 34}, {30, 6, 2002}};

/* Trying. */
static struct akgen_error *write_task(const struct gen_description *description, const char *dir,
                                      const struct attempt *attempt)
{
    struct arena *arena = description->arena;
    struct text yaml = {0}, cases = {0};
    compose_yaml(description, attempt, &yaml);
    const int(*rows)[3] = attempt->even ? even_sizes : sizes;
    bool some = description->types[0] || description->types[1] || description->types[2];
    int id = 0, dims = description->dim_count;
    text_add(&cases, "case_id;");
    for (int d = 0; d < dims; d++)
        text_addf(&cases, "%s;", description->dims[d]);
    text_add(&cases, dims ? "dtype\n" : "shape;dtype\n");
    for (int row = 0; row < 3; row++)
        for (int type = 0; type < 3; type++) {
            if (some && !description->types[type])
                continue;
            text_addf(&cases, "%d;", id++);
            for (int d = 0; d < dims; d++)
                text_addf(&cases, "%d;", rows[row][dims == 1 || d == dims - 1 ? 2 : d ? 1 : 0]);
            if (!dims)
                text_addf(&cases, "[%d, %s%d];", rows[row][0], row == 2 ? "5, " : "", rows[row][2]);
            text_addf(&cases, "%s\n", describe_types[type]);
        }
    struct akgen_error *error = files_write(arena_printf(arena, "%s/task.yaml", dir), yaml.bytes, yaml.length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/cases.csv", dir), cases.bytes, cases.length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/desc.md", dir), description->text, strlen(description->text));
    text_free(&yaml);
    text_free(&cases);
    return error;
}

/* True if in some case an output is not what float32 makes of it, to half of what strict allows: terms cancel. */
static bool cancels(const struct task *task)
{
    bool cancel = false;
    for (int i = 1; i < task->case_count && !cancel; i++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_make(task, &task->cases[i], 0, false, &instance);
        cancel = error || task_formulas_cancel(instance);
        error_free(error);
        if (!error)
            task_instance_free(instance);
    }
    return cancel;
}

/* The task loads, and golden is finite in the cases; `sound`: nor do terms cancel. */
static struct akgen_error *check_task(struct arena *arena, const char *dir, bool sound)
{
    struct task task;
    struct akgen_error *error = task_load(arena, dir, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    for (int i = 1; !error && i < task.case_count; i++) /* case 0 is the largest and no different */
        error = task_check_case(&task, &task.cases[i], 0);
    if (!error && sound && cancels(&task))
        error = error_new("%s: terms cancel", dir);
    return error;
}

static const char *tensors_text(const struct gen_description *description, const struct attempt *attempt)
{
    struct text text = {0};
    const char *shape = main_shape(description);
    for (int outputs = 0; outputs < 2; outputs++) {
        const char *comma = outputs ? " -> " : "";
        for (int i = 0; i < description->count; i++) {
            const struct name *name = &description->names[i];
            if (!describe_takes_part(name, outputs ? ROLE_OUTPUT : ROLE_INPUT))
                continue;
            text_addf(&text, "%s%s %s", comma, name->name,
                      shape_of(description, name, outputs ? attempt->shape : shape));
            comma = ", ";
        }
    }
    return text_keep(&text, description->arena);
}

static void fill_draft(const struct gen_description *description, const struct attempt *attempt,
                       struct gen_draft *draft)
{
    struct arena *arena = description->arena;
    const char *formula = "", *open = "";
    for (int i = 0; i < description->count; i++) {
        const struct name *name = &description->names[i];
        if (name->value && (name->used || name->role != ROLE_ATTR))
            formula = arena_printf(arena, "%s%s%s = %s", formula, *formula ? "\n" : "", name->name, name->value);
        if (name->role == ROLE_INPUT && !name->used && name->shape)
            open = arena_printf(arena, "'%s' of line %d is read as a word, not as a tensor\n%s", name->name,
                                name->shape_line, open);
        if (describe_takes_part(name, ROLE_INPUT) &&
            strcmp(values_of(description, name, attempt), attempt->generate) != 0)
            open =
                arena_printf(arena, "%svalues of '%s': %s\n", open, name->name, values_of(description, name, attempt));
        if (describe_takes_part(name, ROLE_OUTPUT) && !name->shape)
            open = arena_printf(arena, "'%s' has the shape %s\n%s", name->name, attempt->shape, open);
    }
    if (!description->types[0] && !description->types[1] && !description->types[2])
        open = arena_printf(arena, "%sdata types: float16, float32, bfloat16\n", open);
    open = arena_printf(arena, "%svalues: %s%s\n", open, attempt->generate, attempt->even ? "; sizes are even" : "");
    *draft = (struct gen_draft){.formulas = formula, .tensors = tensors_text(description, attempt), .chosen = open};
}

static void add_shape(const char *shapes[], int *count, const char *shape)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(shapes[i], shape) == 0)
            return;
    if (*count < MOST_SHAPES)
        shapes[(*count)++] = shape;
}

/* The shapes that an output without one may have, smaller ones first, since a value may be stretched: one number, one for each
 * row of the largest tensor, parts of its rows, those of other tensors, that of the largest. */
static int find_shapes(const struct gen_description *description, const char *shapes[MOST_SHAPES])
{
    const char *main = main_shape(description), *comma = strrchr(main, ',');
    int count = 0;
    add_shape(shapes, &count, "[1]");
    if (strcmp(main, "$shape") == 0)
        add_shape(shapes, &count, "$shape[:-1]");
    else if (comma)
        add_shape(shapes, &count, arena_printf(description->arena, "%.*s]", (int)(comma - main), main));
    for (int i = 0; i < description->dim_count && comma; i++) /* parts of rows */
        add_shape(shapes, &count,
                  arena_printf(description->arena, "%.*s, $%s]", (int)(comma - main), main, description->dims[i]));
    for (int i = description->count - 1; i >= 0; i--)
        if (description->names[i].shape && strcmp(shape_of(description, &description->names[i], NULL), main) != 0)
            add_shape(shapes, &count, shape_of(description, &description->names[i], NULL));
    add_shape(shapes, &count, main);
    return count;
}

struct akgen_error *gen_description_draft(struct gen_description *description, const char *dir, struct gen_draft *draft)
{
    static const char *const values[] = {"randn", "uniform(-0.9, 0.9)", "uniform(0.1, 4)"};
    enum { VALUES = sizeof values / sizeof *values };
    struct akgen_error *error = files_make_directory(dir), *first = NULL;
    const char *shapes[MOST_SHAPES];
    if (error)
        return error;
    int count = find_shapes(description, shapes), attempts = 2 * VALUES * count;
    for (int i = 0; i < 2 * attempts; i++) {
        const struct attempt attempt = {
            .shape = shapes[i % count], .generate = values[i / count % VALUES], .even = i % attempts / count / VALUES};
        if ((error = write_task(description, dir, &attempt))) {
            error_free(first);
            return error;
        }
        if (!(error = check_task(description->arena, dir, i < attempts))) {
            fill_draft(description, &attempt, draft);
            error_free(first);
            return NULL;
        }
        if (i == count - 1) /* the largest shape, what a formula without sums has */
            first = error;
        else
            error_free(error);
    }
    return first;
}
