/* A description is read line by line: a line that assigns is a step of the formulas or an attribute, a line that gives a name
 * a shape declares a tensor, the first heading is the operator's name. What it leaves open (the shape of an output, values and
 * sizes) is tried until the task loads and golden is finite. */
#include "gen/describe.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "task/task.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "[A-Za-z_][A-Za-z0-9_]*"
#define BEGIN       "^[[:space:]|>]*([-*+]|[0-9]+[.)])?[[:space:]]*[`*$]*"
#define SET         "(" NAME ")[`*$]*[[:space:]]*=[[:space:]]*"
#define WORD_BYTES  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
#define SHAPE_BYTES WORD_BYTES " ,+-*/()"
enum { GROUPS = 8, MOST_DIMS = 24, MOST_SHAPES = 64, LONGEST_NAME = 64 };

/* What a name stands for. */
enum role { ROLE_STEP, ROLE_OUTPUT, ROLE_INPUT, ROLE_ATTR };
struct name {
    enum role role;
    const char *name, *value; /* value: the right side of a step, the number of an attribute */
    const char *shape;        /* as declared: "N, C"; NULL: it is not */
    bool used;                /* by a step */
    int line;
};
struct gen_description {
    const char *text;
    struct arena *arena;
    const char *path, *op;
    struct name *names;
    int count, capacity;
    const char *dims[MOST_DIMS]; /* the sizes' names, in order */
    int dim_count;
    bool types[3];
};
/* What is tried where the description says nothing. */
struct attempt {
    const char *generate;
    bool even;
    const char *shape; /* of outputs that have none */
};
static const char *const type_names[] = {"float16", "float32", "bfloat16"};

static struct name *find(const struct gen_description *description, const char *name)
{
    for (int i = 0; i < description->count; i++)
        if (strcmp(description->names[i].name, name) == 0)
            return &description->names[i];
    return NULL;
}

static struct name *add(struct gen_description *description, const char *name, enum role role, int line)
{
    struct name *found = find(description, name);
    if (found)
        return found;
    ARRAY_ADD(description->arena, description->names, description->count, description->capacity,
              (struct name){.role = role, .name = name, .line = line});
    return &description->names[description->count - 1];
}

/* Lines. */
/* The groups of the pattern in the line; false if it does not match. A group that takes no part is "". */
static bool matches(struct arena *arena, const char *pattern, const char *line, const char *groups[GROUPS])
{
    regex_t compiled;
    regmatch_t found[GROUPS];
    if (regcomp(&compiled, pattern, REG_EXTENDED))
        return false;
    bool match = regexec(&compiled, line, GROUPS, found, 0) == 0;
    for (int i = 0; match && i < GROUPS; i++)
        groups[i] = found[i].rm_so < 0
                        ? ""
                        : arena_strndup(arena, line + found[i].rm_so, (size_t)(found[i].rm_eo - found[i].rm_so));
    regfree(&compiled);
    return match;
}

/* Without what Markdown and a sentence put behind a formula. */
static const char *trimmed(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    while (length && strchr(" \t\r`$*|.,;", text[length - 1]))
        length--;
    return arena_strndup(arena, text, length);
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end && !isalpha((unsigned char)*text);
}

static void read_title(struct gen_description *description, const char *line)
{
    char *op = arena_strdup(description->arena, line);
    size_t length = 0;
    bool begins = true;
    for (; *line; line++) {
        if (isalnum((unsigned char)*line))
            op[length++] = begins ? (char)toupper((unsigned char)*line) : *line;
        begins = !isalnum((unsigned char)*line);
    }
    op[length] = '\0';
    if (length && length < LONGEST_NAME && isalpha((unsigned char)*op))
        description->op = op;
}

static struct akgen_error *read_step(struct gen_description *description, const char *name, const char *value, int line)
{
    if (strpbrk(value, "\"\\"))
        return error_new("%s:%d: a formula holds neither quotes nor backslashes", description->path, line);
    struct name *known = find(description, name);
    if (known && known->value)
        return error_new("%s:%d: '%s' is assigned a second time, the first one is in line %d", description->path, line,
                         name, known->line);
    known = add(description, name, ROLE_STEP, line);
    known->value = value;
    known->role = is_number(value) ? ROLE_ATTR : ROLE_STEP;
    known->line = line;
    return NULL;
}

/* Steps may share a line. */
static struct akgen_error *read_steps(struct gen_description *description, char *text, int line)
{
    struct akgen_error *error = NULL;
    char *rest;
    for (char *part = strtok_r(text, ";", &rest); part && !error; part = strtok_r(NULL, ";", &rest)) {
        const char *groups[GROUPS];
        if (matches(description->arena, BEGIN SET "([^=].*)$", part, groups))
            error = read_step(description, groups[2], trimmed(description->arena, groups[3]), line);
        else if (part[strspn(part, " \t\r`$*|.")])
            error = error_new("%s:%d: '%s' is no step: expected 'name = expression'", description->path, line, part);
    }
    return error;
}

static void read_types(struct gen_description *description, const char *line)
{
    static const struct {
        const char *pattern;
        int type;
    } words[] = {{"(^|[^a-z])(float16|fp16|half)([^a-z0-9]|$)", 0},
                 {"(^|[^a-z])(float32|fp32|float)([^a-z0-9]|$)", 1},
                 {"(^|[^a-z])(bfloat16|bf16)([^a-z0-9]|$)", 2}};
    const char *groups[GROUPS];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        description->types[words[i].type] |= matches(description->arena, words[i].pattern, line, groups);
}

static struct akgen_error *read_line(struct gen_description *description, const char *line, int number)
{
    static const char tensor[] =
        BEGIN "(" NAME ")[`*$]*[[:space:]]*(:|[|]|of shape|with shape|has shape|is)?[[:space:]|`]*"
              "(\\[([^]]*)\\]|\\(([A-Z0-9][A-Za-z0-9_]*(, *[A-Z0-9][A-Za-z0-9_]*)*),? *\\))";
    static const char number_of[] = BEGIN "(" NAME ")[`*$]*[[:space:]]*[:|(][^0-9]*([-+]?[0-9][-+.0-9e]*)[^0-9]*$";
    struct arena *arena = description->arena;
    const char *groups[GROUPS];
    if (*line == '#') {
        if (!description->op)
            read_title(description, line + strspn(line, "# "));
        return NULL;
    }
    if (matches(arena, BEGIN SET "([^=].*)$", line, groups))
        return read_steps(description, arena_strdup(arena, line), number);
    if (matches(arena, tensor, line, groups)) {
        struct name *name = add(description, groups[2], ROLE_INPUT, number);
        if (name->shape)
            return error_new("%s:%d: '%s' has a second shape, the first one is in line %d", description->path, number,
                             name->name, name->line);
        name->shape = trimmed(arena, *groups[5] ? groups[5] : groups[6]);
        if (strspn(name->shape, SHAPE_BYTES) < strlen(name->shape))
            return error_new(
                "%s:%d: '[%s]': expected sizes that are names, numbers or made of these by + - * //, separated by "
                "commas; a tensor whose shape stands nowhere has that of the others",
                description->path, number, name->shape);
    } else if (matches(arena, number_of, line, groups) && is_number(groups[3])) {
        add(description, groups[2], ROLE_ATTR, number)->value = groups[3];
    }
    for (const char *rest = line;
         matches(arena, "(^|[^A-Za-z0-9_])" SET "[`$]*([-+]?[0-9][-+.0-9e]*)(.*)$", rest, groups); rest = groups[4])
        if (is_number(trimmed(arena, groups[3])))
            add(description, groups[2], ROLE_ATTR, number)->value = trimmed(arena, groups[3]);
    read_types(description, line);
    return NULL;
}

/* Roles. */
/* Calls visit for each name of an expression that is not called as a function. */
static void each_name(const char *text, struct gen_description *description,
                      void (*visit)(struct gen_description *description, const char *name, int line), int line)
{
    while (*text) {
        size_t digits = strspn(text, "0123456789."), length = strspn(text, WORD_BYTES ".");
        if (digits) { /* 1e-6 is no name */
            text += length;
        } else if (length) {
            const char *name = arena_strndup(description->arena, text, length);
            text += length;
            if (text[strspn(text, " ")] != '(' && strcmp(name, "all") != 0)
                visit(description, name, line);
        } else {
            text++;
        }
    }
}

static void use(struct gen_description *description, const char *name, int line)
{
    add(description, name, ROLE_INPUT, line)->used = true;
}

static void add_dim(struct gen_description *description, const char *name, int line)
{
    (void)line;
    for (int i = 0; i < description->dim_count; i++)
        if (strcmp(description->dims[i], name) == 0)
            return;
    if (description->dim_count < MOST_DIMS)
        description->dims[description->dim_count++] = name;
}

/* Which steps are outputs: those with a shape, and those that no step uses. */
static struct akgen_error *find_roles(struct gen_description *description)
{
    int steps = 0;
    for (int i = 0; i < description->count; i++)
        if (description->names[i].value && description->names[i].role == ROLE_STEP)
            each_name(description->names[i].value, description, use, description->names[i].line);
    for (int i = 0; i < description->count; i++) {
        struct name *name = &description->names[i];
        bool step = name->value && !is_number(name->value);
        if (step)
            name->role = name->shape || !name->used ? ROLE_OUTPUT : ROLE_STEP;
        steps += step;
        if (name->shape)
            each_name(name->shape, description, add_dim, name->line);
    }
    if (!steps)
        return error_new(
            "%s: no line says how an output is computed, such as 'y = x * rsqrt(mean(x*x) + eps) * weight'",
            description->path);
    return NULL;
}

/* Texts. */
static bool takes_part(const struct name *name, enum role role)
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
        size_t length = strspn(at, WORD_BYTES);
        if (length && !isdigit((unsigned char)*at))
            text_add(&text, "$");
        text_append(&text, at, length ? length : 1);
        at += length ? length : 1;
    }
    text_add(&text, "]");
    const char *shape = arena_strdup(description->arena, text.bytes);
    text_free(&text);
    return shape;
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

static void add_tensor(const struct gen_description *description, struct text *yaml, const struct name *name,
                       const char *shape)
{
    bool some = description->types[0] || description->types[1] || description->types[2];
    const char *comma = "";
    text_addf(yaml, "  - name: %s\n    shape: \"%s\"\n    dtype: \"$dtype\"\n    types: [", name->name,
              shape_of(description, name, shape));
    for (int i = 0; i < 3; i++)
        if (description->types[i] || !some) {
            text_addf(yaml, "%s%s", comma, type_names[i]);
            comma = ", ";
        }
    text_add(yaml, "]\n");
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
    text_addf(yaml, "%s\ninputs:\n", attempt->even ? " even" : "");
    for (int i = 0; i < description->count; i++)
        if (takes_part(&description->names[i], ROLE_INPUT)) {
            add_tensor(description, yaml, &description->names[i], shape);
            text_addf(yaml, "    generate: \"%s\"\n", attempt->generate);
        }
    text_add(yaml, "outputs:\n");
    for (int i = 0; i < description->count; i++)
        if (takes_part(&description->names[i], ROLE_OUTPUT)) {
            add_tensor(description, yaml, &description->names[i], attempt->shape);
            add_formula(description, yaml, &description->names[i]);
        }
    bool head = false;
    for (int i = 0; i < description->count; i++)
        if (takes_part(&description->names[i], ROLE_ATTR)) {
            const struct name *name = &description->names[i];
            text_addf(yaml, "%s  - name: %s\n    type: %s\n    value: \"%s\"\n", head ? "" : "attrs:\n", name->name,
                      strpbrk(name->value, ".eE") ? "float" : "int", name->value);
            head = true;
        }
}

/* The sizes of the first axis, of those in the middle, of the last one, by case. */
static const int sizes[][3] = {{48, 8, 1024}, {7, 3, 33}, {30, 5, 2001}};
static const int even_sizes[][3] = {{48, 8, 1024}, {6, 4, 34}, {30, 6, 2002}};

static void compose_cases(const struct gen_description *description, const struct attempt *attempt, struct text *cases)
{
    const int(*rows)[3] = attempt->even ? even_sizes : sizes;
    bool some = description->types[0] || description->types[1] || description->types[2];
    int id = 0, dims = description->dim_count;
    text_add(cases, "case_id;");
    for (int d = 0; d < dims; d++)
        text_addf(cases, "%s;", description->dims[d]);
    text_add(cases, dims ? "dtype\n" : "shape;dtype\n");
    for (int row = 0; row < 3; row++)
        for (int type = 0; type < 3; type++) {
            if (some && !description->types[type])
                continue;
            text_addf(cases, "%d;", id++);
            for (int d = 0; d < dims; d++)
                text_addf(cases, "%d;", rows[row][dims == 1 || d == dims - 1 ? 2 : d ? 1 : 0]);
            if (!dims)
                text_addf(cases, "[%d, %s%d];", rows[row][0], row == 2 ? "5, " : "", rows[row][2]);
            text_addf(cases, "%s\n", type_names[type]);
        }
}

/* Trying. */
static struct akgen_error *write_task(const struct gen_description *description, const char *dir,
                                      const struct attempt *attempt)
{
    struct arena *arena = description->arena;
    struct text yaml = {0}, cases = {0};
    compose_yaml(description, attempt, &yaml);
    compose_cases(description, attempt, &cases);
    struct akgen_error *error = files_write(arena_printf(arena, "%s/task.yaml", dir), yaml.bytes, yaml.length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/cases.csv", dir), cases.bytes, cases.length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/desc.md", dir), description->text, strlen(description->text));
    text_free(&yaml);
    text_free(&cases);
    return error;
}

/* The task loads, and golden is finite in the cases. */
static struct akgen_error *check_task(struct arena *arena, const char *dir)
{
    struct task task;
    struct akgen_error *error = task_load(arena, dir, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    for (int i = 1; !error && i < task.case_count; i++) /* case 0 is the largest and no different */
        error = task_check_case(&task, &task.cases[i], 0);
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
            if (!takes_part(name, outputs ? ROLE_OUTPUT : ROLE_INPUT))
                continue;
            text_addf(&text, "%s%s %s", comma, name->name,
                      shape_of(description, name, outputs ? attempt->shape : shape));
            comma = ", ";
        }
    }
    const char *kept = arena_strdup(description->arena, text.bytes ? text.bytes : "");
    text_free(&text);
    return kept;
}

static void fill_draft(const struct gen_description *description, const struct attempt *attempt,
                       struct gen_draft *draft)
{
    struct arena *arena = description->arena;
    const char *formula = "", *open = "";
    for (int i = 0; i < description->count; i++) {
        const struct name *name = &description->names[i];
        if (name->value)
            formula = arena_printf(arena, "%s%s%s = %s", formula, *formula ? "\n" : "", name->name, name->value);
        if (name->role == ROLE_INPUT && !name->used)
            open = arena_printf(arena, "%s'%s' of line %d is not used by a formula and is no input\n", open, name->name,
                                name->line);
        if (takes_part(name, ROLE_OUTPUT) && !name->shape)
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

struct akgen_error *gen_description_read(struct arena *arena, const char *path, const char *text,
                                         struct gen_description **description)
{
    struct gen_description *read = *description = arena_alloc(arena, sizeof *read);
    struct akgen_error *error = NULL;
    char *rest = arena_strdup(arena, text), *line;
    *read = (struct gen_description){.arena = arena, .path = path, .text = text};
    for (int number = 1; (line = strsep(&rest, "\n")) && !error; number++)
        error = read_line(read, line, number);
    if (!error)
        error = find_roles(read);
    if (!error && !read->op)
        error = error_new("%s: no heading names the operator, such as '# RmsNorm'", path);
    return error;
}

const char *gen_description_op(const struct gen_description *description)
{
    return description->op;
}

struct akgen_error *gen_description_draft(struct gen_description *description, const char *dir, struct gen_draft *draft)
{
    static const char *const values[] = {"randn", "uniform(-0.9, 0.9)", "uniform(0.1, 4)"};
    enum { VALUES = sizeof values / sizeof *values };
    struct akgen_error *error = files_make_directory(dir), *first = NULL;
    const char *shapes[MOST_SHAPES];
    if (error)
        return error;
    int count = find_shapes(description, shapes);
    for (int i = 0; i < 2 * VALUES * count; i++) {
        const struct attempt attempt = {
            .shape = shapes[i % count], .generate = values[i / count % VALUES], .even = i / count / VALUES};
        if ((error = write_task(description, dir, &attempt))) {
            error_free(first);
            return error;
        }
        if (!(error = check_task(description->arena, dir))) {
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
