/* A case against a signature: the variables of its shapes are given values, one item after the other, until every shape
 * has been compared. An item with several unknowns waits until others have named them. */
#include "task/reference/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct binding {
    bool bound;
    int64_t value; /* of a run: its product */
    int rank;      /* of a run */
    int64_t dims[TASK_MAX_RANK];
};
struct fit {
    struct arena arena;
    const struct reference_signature *signature;
    const struct task_instance *instance;
    struct binding shared[SIGNATURE_NAMES];
    struct binding *per_tensor; /* (tensors of the lists, SIGNATURE_NAMES) */
    int tensors;                /* of the lists */
};
enum match { FITS, FAILS, WAITS };

static struct binding *binding(struct fit *fit, int variable, int tensor)
{
    return fit->signature->names[variable].per_tensor ? &fit->per_tensor[tensor * SIGNATURE_NAMES + variable]
                                                      : &fit->shared[variable];
}

/* Sizes. */
/* Gives the one variable that has no value yet the value with which the size is `value`. */
static enum match match_size(struct fit *fit, const struct signature_size *size, int tensor, int64_t value)
{
    struct binding *unknown = NULL;
    const struct signature_variable *variable = NULL;
    int64_t product = size->number;
    for (int i = 0; i < size->count; i++) {
        struct binding *known = binding(fit, size->variables[i], tensor);
        if (!known->bound && unknown)
            return WAITS;
        if (known->bound) {
            if (__builtin_mul_overflow(product, known->value, &product))
                return FAILS;
        } else {
            unknown = known;
            variable = &fit->signature->names[size->variables[i]];
        }
    }
    if (!unknown)
        return product + size->offset == value ? FITS : FAILS;
    if (variable->run)
        return WAITS;
    value -= size->offset;
    if (product == 0)
        return value == 0 ? WAITS : FAILS;
    if (value < 0 || value % product || (value == 0 && !variable->alone))
        return FAILS;
    *unknown = (struct binding){.bound = true, .value = value / product};
    return FITS;
}

static bool value_of(struct fit *fit, const struct signature_size *size, int64_t *value)
{
    *value = size->number;
    for (int i = 0; i < size->count; i++) {
        const struct binding *known = binding(fit, size->variables[i], 0);
        if (!known->bound || __builtin_mul_overflow(*value, known->value, value))
            return false;
    }
    return !__builtin_add_overflow(*value, size->offset, value);
}

/* Shapes. */
static bool is_run(const struct fit *fit, const struct signature_size *size)
{
    return size->count == 1 && fit->signature->names[size->variables[0]].run && size->number == 1 && !size->offset;
}

/* Dimensions that a run takes in a tensor; TASK_NONE if nothing says so yet. */
static int run_rank(struct fit *fit, int variable, int tensor, int rank)
{
    const struct binding *run = binding(fit, variable, tensor);
    int dims = fit->signature->names[variable].dims;
    if (run->bound)
        return run->rank;
    if (dims == TASK_NONE || !fit->shared[dims].bound)
        return TASK_NONE;
    int64_t value = fit->shared[dims].value;
    value += value < 0 ? rank : 0;
    return value < 0 || value > rank ? TASK_MAX_RANK + 1 : (int)value;
}

static enum match match_run(struct binding *run, const int64_t *dims, int rank)
{
    if (run->bound)
        return run->rank == rank && memcmp(run->dims, dims, sizeof *dims * (size_t)rank) == 0 ? FITS : FAILS;
    *run = (struct binding){.bound = true, .value = 1, .rank = rank};
    for (int i = 0; i < rank; i++)
        run->value *= run->dims[i] = dims[i];
    return FITS;
}

static enum match match_dims(struct fit *fit, const struct signature_shape *shape, int tensor,
                             const struct task_tensor *given)
{
    int ranks[TASK_MAX_RANK], total = 0, open = TASK_NONE, at = 0;
    for (int i = 0; i < shape->count; i++) {
        ranks[i] = is_run(fit, &shape->sizes[i]) ? run_rank(fit, shape->sizes[i].variables[0], tensor, given->rank) : 1;
        if (ranks[i] == TASK_NONE && open != TASK_NONE)
            return WAITS;
        if (ranks[i] == TASK_NONE)
            open = i;
        else
            total += ranks[i];
    }
    if (open == TASK_NONE ? total != given->rank : total > given->rank)
        return FAILS;
    if (open != TASK_NONE)
        ranks[open] = given->rank - total;
    enum match result = FITS;
    for (int i = 0; i < shape->count; at += ranks[i++]) {
        const struct signature_size *size = &shape->sizes[i];
        enum match match = is_run(fit, size)
                               ? match_run(binding(fit, size->variables[0], tensor), given->dims + at, ranks[i])
                               : match_size(fit, size, tensor, given->dims[at]);
        if (match == FAILS)
            return FAILS;
        result = match == WAITS ? WAITS : result;
    }
    return result;
}

static enum match match_shape(struct fit *fit, const struct signature_shape *shape, int tensor,
                              const struct task_tensor *given)
{
    return shape->counted ? match_size(fit, &shape->sizes[0], tensor, given->elements)
                          : match_dims(fit, shape, tensor, given);
}

/* The first of the shapes that fits, or the one that an attribute chooses. */
static enum match match_param(struct fit *fit, const struct signature_param *param, int tensor,
                              const struct task_tensor *given)
{
    int first = 0, last = param->shape_count - 1;
    if (param->chosen_by != TASK_NONE) {
        const char *word = json_string_value(fit->instance->attrs[param->chosen_by]);
        first = last = strcmp(word, param->word) == 0 ? 0 : 1;
    }
    for (int i = first; i <= last; i++) {
        struct binding before[SIGNATURE_NAMES];
        memcpy(before, fit->shared, sizeof before);
        enum match match = match_shape(fit, &param->shapes[i], tensor, given);
        if (match != FAILS)
            return match;
        memcpy(fit->shared, before, sizeof before);
    }
    return FAILS;
}

/* Messages. */
static const char *dims_text(struct arena *arena, const int64_t *dims, int rank)
{
    const char *text = "[";
    for (int i = 0; i < rank; i++)
        text = arena_printf(arena, "%s%s%" PRId64, text, i ? ", " : "", dims[i]);
    return arena_printf(arena, "%s]", text);
}

/* ", with n = 7 and *rows = [2, 3]": what the variables of an item were found to be elsewhere. */
static const char *known_text(struct fit *fit, const struct signature_param *param, int tensor)
{
    const char *text = "";
    bool told[SIGNATURE_NAMES] = {false};
    for (int s = 0; s < param->shape_count; s++)
        for (int i = 0; i < param->shapes[s].count; i++)
            for (int v = 0; v < param->shapes[s].sizes[i].count; v++) {
                int index = param->shapes[s].sizes[i].variables[v];
                const struct signature_variable *variable = &fit->signature->names[index];
                const struct binding *known = binding(fit, index, tensor);
                if (!known->bound || told[index])
                    continue;
                told[index] = true;
                text = arena_printf(&fit->arena, "%s%s%s%s = %s", text, *text ? ", " : ", where ",
                                    variable->run          ? "*"
                                    : variable->per_tensor ? "@"
                                                           : "",
                                    variable->name,
                                    variable->run ? dims_text(&fit->arena, known->dims, known->rank)
                                                  : arena_printf(&fit->arena, "%" PRId64, known->value));
            }
    return text;
}

static struct akgen_error *shape_error(struct fit *fit, const struct signature_param *param, const char *name,
                                       int tensor, const struct task_tensor *given)
{
    const char *of_list = param->list ? arena_printf(&fit->arena, "tensor %d of ", tensor) : "";
    return error_new("%s'%s' has the shape %s, the reference %s takes %s%s", of_list, name,
                     dims_text(&fit->arena, given->dims, given->rank), fit->signature->reference, param->text,
                     known_text(fit, param, tensor));
}

/* The items of a case: inputs, then outputs. */
static const struct signature_param *param_at(const struct fit *fit, int item, const struct task_argument **argument,
                                              const char **name)
{
    const struct task *task = fit->instance->task;
    bool input = item < fit->signature->input_count;
    int index = input ? item : item - fit->signature->input_count;
    bool there = index < (input ? task->input_count : task->output_count);
    static const struct task_argument none;
    *argument = !there ? &none : input ? &fit->instance->inputs[index] : &fit->instance->outputs[index];
    *name = !there ? "" : input ? task->inputs[index].name : task->outputs[index].name;
    return input ? &fit->signature->inputs[index] : &fit->signature->outputs[index];
}

static int items(const struct fit *fit)
{
    return fit->signature->input_count + fit->signature->output_count;
}

/* Compares what can be compared: items whose shape is one, or also those with two of which the first that fits is
 * taken. */
static struct akgen_error *match_round(struct fit *fit, bool *done, bool choices, bool *progress)
{
    const struct task_argument *argument;
    const char *name;
    *progress = false;
    for (int i = 0; i < items(fit); i++) {
        if (i == fit->signature->input_count && *progress)
            return NULL; /* inputs first: an output is told to be wrong only if they agree */
        const struct signature_param *param = param_at(fit, i, &argument, &name);
        bool choice = param->shape_count > 1 && param->chosen_by == TASK_NONE;
        for (int t = 0; t < argument->count && choice <= choices; t++) {
            bool *matched = &done[i * (fit->tensors + 1) + t];
            enum match match = *matched ? WAITS : match_param(fit, param, t, &argument->tensors[t]);
            if (match == FAILS)
                return shape_error(fit, param, name, t, &argument->tensors[t]);
            *matched |= match == FITS;
            *progress |= match == FITS;
        }
    }
    return NULL;
}

static struct akgen_error *check_shapes(struct fit *fit)
{
    bool *done = arena_alloc(&fit->arena, (size_t)items(fit) * (size_t)(fit->tensors + 1)), progress = true;
    struct akgen_error *error = NULL;
    while (!error && progress)
        if (!(error = match_round(fit, done, false, &progress)) && !progress)
            error = match_round(fit, done, true, &progress);
    return error;
}

/* What is there, and its type. */
static struct akgen_error *check_presence(struct fit *fit)
{
    const struct task_argument *argument;
    const char *name;
    for (int i = 0; i < items(fit); i++) {
        const struct signature_param *param = param_at(fit, i, &argument, &name);
        int output = i - fit->signature->input_count;
        if (!argument->count && !param->optional && !param->unmade)
            return error_new("'%s' is absent, the reference %s needs it: %s", name, fit->signature->reference,
                             param->text);
        if (argument->count && param->unmade &&
            (fit->instance->judging[output].by[TASK_UPSTREAM] || fit->instance->judging[output].by[TASK_STRICT]))
            return error_new("'%s' is compared, but the reference %s does not make it: say 'compared: false'", name,
                             fit->signature->reference);
        if (argument->count && param->list && argument->count != fit->tensors)
            return error_new("'%s' has %d tensors, another list has %d: the reference %s takes as many in each", name,
                             argument->count, fit->tensors, fit->signature->reference);
    }
    return NULL;
}

static struct akgen_error *check_types(struct fit *fit)
{
    const struct task_argument *argument;
    const char *name;
    for (int i = 0; i < items(fit); i++) {
        const struct signature_param *param = param_at(fit, i, &argument, &name);
        if (!argument->count)
            continue;
        enum akgen_dtype type = argument->tensors[0].type;
        uint64_t allowed = param->types;
        const struct task_argument *same = param->same_as == TASK_NONE ? NULL : &fit->instance->inputs[param->same_as];
        if (same)
            allowed = same->count ? UINT64_C(1) << same->tensors[0].type : UINT64_MAX;
        if (!(allowed >> type & 1))
            return error_new("'%s' is %s, the reference %s takes %s here: %s", name, akgen_dtype_name(type),
                             fit->signature->reference, signature_types(&fit->arena, allowed), param->text);
    }
    return NULL;
}

/* Ranges. */
/* "0 to 6", "at least 1"; NULL if both ends are kept to or not known. */
static const char *outside(struct fit *fit, const struct signature_range *range, int64_t least, int64_t most)
{
    int64_t low = 0, high = 0;
    bool from = range->from && value_of(fit, &range->low, &low), to = range->to && value_of(fit, &range->high, &high);
    if (!(from && least < low) && !(to && most > high))
        return NULL;
    return from && to ? arena_printf(&fit->arena, "%" PRId64 " to %" PRId64, low, high)
           : from     ? arena_printf(&fit->arena, "at least %" PRId64, low)
                      : arena_printf(&fit->arena, "at most %" PRId64, high);
}

static struct akgen_error *check_attr(struct fit *fit, int index)
{
    const struct signature_attr *attr = &fit->signature->attrs[index];
    const json_t *value = fit->instance->attrs[index];
    const char *name = fit->instance->task->attrs[index].name, *text = "", *range = NULL;
    const char *given = json_is_true(value) ? "true" : json_is_false(value) ? "false" : json_string_value(value);
    bool known = !attr->words[0];
    for (int i = 0; attr->words[i]; i++) {
        known |= strcmp(given, attr->words[i]) == 0;
        text = arena_printf(&fit->arena, "%s%s%s", text, !i ? "" : attr->words[i + 1] ? ", " : " or ", attr->words[i]);
    }
    if (!known)
        return error_new("attribute '%s' is '%s', the reference %s takes %s", name, given, fit->signature->reference,
                         text);
    if (attr->type == TASK_ATTR_INT)
        range = outside(fit, &attr->range, json_integer_value(value), json_integer_value(value));
    return range ? error_new("attribute '%s' is %" JSON_INTEGER_FORMAT ", the reference %s takes %s", name,
                             json_integer_value(value), fit->signature->reference, range)
                 : NULL;
}

static struct akgen_error *check_attrs(struct fit *fit)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < fit->instance->task->attr_count && !error; i++)
        error = check_attr(fit, i);
    return error;
}

static struct akgen_error *check_values(struct fit *fit)
{
    const struct task_argument *argument;
    const char *name, *range;
    for (int i = 0; i < fit->signature->input_count; i++) {
        const struct signature_param *param = param_at(fit, i, &argument, &name);
        bool limited = (param->range.from || param->range.to) && argument->count && argument->tensors[0].values;
        for (int64_t e = 0; limited && e < argument->tensors[0].elements; e++) {
            int64_t value;
            task_read_integer(&argument->tensors[0], e, 1, &value);
            if ((range = outside(fit, &param->range, value, value)))
                return error_new("'%s' holds %" PRId64 ", the reference %s takes %s: %s", name, value,
                                 fit->signature->reference, range, param->text);
        }
    }
    return NULL;
}

/* A run that a list attribute holds. Too long a list fits no tensor. */
static void bind_list(struct binding *run, const json_t *list)
{
    *run = (struct binding){.bound = true, .value = 1, .rank = (int)json_array_size(list)};
    for (int d = 0; d < run->rank && d < TASK_MAX_RANK; d++) {
        run->dims[d] = json_integer_value(json_array_get(list, (size_t)d));
        if (__builtin_mul_overflow(run->value, run->dims[d], &run->value))
            run->value = -1;
    }
}

/* Attributes, and how many tensors lists have, are variables with a value from the start. */
static void bind_known(struct fit *fit)
{
    const struct task_instance *instance = fit->instance;
    const struct reference_signature *signature = fit->signature;
    for (int i = 0; i < signature->input_count && i < instance->task->input_count; i++)
        if (signature->inputs[i].list)
            fit->tensors = instance->inputs[i].count;
    fit->per_tensor = arena_alloc(&fit->arena, sizeof *fit->per_tensor * (size_t)(fit->tensors + 1) * SIGNATURE_NAMES);
    for (int v = 0; v < signature->name_count; v++) {
        const struct signature_variable *variable = &signature->names[v];
        if (variable->list != TASK_NONE)
            fit->shared[v] = (struct binding){.bound = true, .value = instance->inputs[variable->list].count};
        if (variable->attr == TASK_NONE || (variable->run && variable->attr >= instance->task->attr_count))
            continue;
        if (variable->run)
            bind_list(&fit->shared[v], instance->attrs[variable->attr]);
        if (variable->run || signature->attrs[variable->attr].type != TASK_ATTR_INT)
            continue;
        bool given = variable->attr < instance->task->attr_count;
        fit->shared[v] = (struct binding){
            .bound = true,
            .value = given ? json_integer_value(instance->attrs[variable->attr])
                           : strtoll(signature->attrs[variable->attr].value, NULL, 10),
        };
    }
}

static struct akgen_error *check_column(const struct fit *fit)
{
    const char *column = fit->signature->column;
    const struct expr_value *cell =
        column ? &fit->instance->cells[task_column_index(fit->instance->task, column)] : NULL;
    return !cell || expr_is_number(cell)
               ? NULL
               : error_new("column '%s' is no number, the reference %s reads one", column, fit->signature->reference);
}

struct akgen_error *signature_check_case(const struct reference_signature *signature,
                                         const struct task_instance *instance)
{
    struct fit fit = {.signature = signature, .instance = instance};
    bind_known(&fit);
    struct akgen_error *error = check_presence(&fit);
    if (!error)
        error = check_types(&fit);
    if (!error)
        error = check_shapes(&fit);
    if (!error)
        error = check_attrs(&fit);
    if (!error)
        error = check_column(&fit);
    if (!error)
        error = check_values(&fit);
    arena_free(&fit.arena);
    return error;
}
