/* A description as a whole: a task is drafted only of formulas that parse and that go with what the description declares. */
#include "gen/describe_internal.h"
#include "task/expr/formula.h"

#include <string.h>
#include <strings.h>

static bool has_number(const struct name *name)
{
    return name->value && describe_is_number(name->value);
}

/* Parses a step over the names of inputs and numbers and of the steps before it; `own`: over its own name too. */
static struct akgen_error *parse_step(const struct gen_description *description, const struct name *step, bool own)
{
    struct formula_name names[FORMULA_MAX_NAMES];
    const struct formula *formula;
    int count = 0;
    for (const struct name *name = description->names; name < step + own; name++) {
        if (!name->used && !name->value)
            continue;
        if (count == FORMULA_MAX_NAMES) /* loading the task says so */
            return NULL;
        names[count++] = (struct formula_name){.name = name->name};
    }
    return formula_parse(description->arena, step->value, names, count, NULL, own ? "" : step->name, 0, &formula);
}

/* Checks that steps parse. They come after all other names, and after those that they need. */
static struct akgen_error *check_steps(const struct gen_description *description)
{
    for (int i = 0; i < description->count; i++) {
        const struct name *step = &description->names[i];
        struct akgen_error *error = NULL, *otherwise = NULL;
        if (!step->value || has_number(step) || !(error = parse_step(description, step, false)))
            continue;
        otherwise = parse_step(description, step, true);
        if (!otherwise) {
            error_free(error);
            return error_new("%s:%d: '%s' is computed from itself: give the result a name of its own, such as "
                             "'%s_new = %s'",
                             description->path, step->line, step->name, step->name, step->value);
        }
        error_free(otherwise);
        return error_prefix(error, "%s:%d", description->path, step->line);
    }
    return NULL;
}

static bool is_size(const struct gen_description *description, const char *name)
{
    bool size = false;
    for (int i = 0; i < description->dim_count; i++)
        size |= strcmp(description->dims[i], name) == 0;
    return size;
}

/* Names that formulas use for numbers; no tensor is called so unless a line says so. */
static bool is_constant(const char *name)
{
    static const char *const constants[] = {"e", "eps", "epsilon", "pi"};
    bool constant = false;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        constant |= strcasecmp(constants[i], name) == 0;
    return constant;
}

/* The description gives some tensor a shape or a data type; without any, tensors are the names that formulas use. */
static bool declares_tensors(const struct gen_description *description)
{
    bool declares = false;
    for (int i = 0; i < description->count; i++)
        declares |= description->names[i].declared && !has_number(&description->names[i]);
    return declares;
}

static struct akgen_error *undeclared(const struct gen_description *description, const struct name *name)
{
    struct arena *arena = description->arena;
    const char *unused = "";
    for (int i = 0; i < description->count; i++) {
        const struct name *other = &description->names[i];
        if (other->declared && !other->used && (other->role == ROLE_INPUT || other->role == ROLE_ATTR))
            unused = arena_printf(arena, "%s%s%s", unused, *unused ? ", " : " (declared, but not used: ", other->name);
    }
    if (is_size(description, name->name))
        return error_new("%s:%d: '%s' is a size, which a formula does not take: write size(x) for the length of x's "
                         "rows, size(x, axis) for that of an axis",
                         description->path, name->line, name->name);
    return error_new("%s:%d: a formula uses '%s', which no line declares%s%s: '- %s: [N, C]' declares a tensor, "
                     "'%s = 0.5' a number, '%s = ...' a step",
                     description->path, name->line, name->name, unused, *unused ? ")" : "", name->name, name->name,
                     name->name);
}

/* Returns an error that says what a declared name lacks, NULL if nothing. */
static struct akgen_error *check_declared(const struct gen_description *description, const struct name *name)
{
    if (has_number(name) && name->shape)
        return error_new("%s:%d: '%s' has the value %s, and the shape [%s] in line %d: a tensor is an input without a "
                         "value, or computed by a formula",
                         description->path, name->line, name->name, name->value, name->shape, name->shape_line);
    if (has_number(name) && name->declared && !name->used && !is_size(description, name->name))
        return error_new("%s:%d: '%s' is %s, but no formula uses it: use it in one, or leave it out", description->path,
                         name->line, name->name, name->value);
    if (name->role == ROLE_INPUT && name->declared && !name->used)
        return error_new(
            "%s:%d: '%s' is declared, but no formula uses or computes it: use it in a formula, compute it, "
            "'%s = ...', or leave it out",
            description->path, name->shape ? name->shape_line : name->line, name->name, name->name);
    return NULL;
}

struct akgen_error *describe_check(const struct gen_description *description)
{
    const bool declares = declares_tensors(description);
    struct akgen_error *error = check_steps(description);
    bool inputs = false;
    for (int i = 0; i < description->count; i++)
        inputs |= describe_takes_part(&description->names[i], ROLE_INPUT);
    if (!error && !inputs)
        return error_new("%s: no formula uses a tensor: every name has a value", description->path);
    for (int i = 0; i < description->count && !error; i++) {
        const struct name *name = &description->names[i];
        bool known = name->role != ROLE_INPUT || name->shape || name->mentioned;
        if (name->used && !known && (declares || is_constant(name->name) || is_size(description, name->name)))
            error = undeclared(description, name);
    }
    for (int i = 0; i < description->count && !error; i++)
        error = check_declared(description, &description->names[i]);
    return error;
}
