#include "task/reference/reference.h"

#include "task/expr/expr.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct task_reference_entry *const families[] = {
    task_references_math,       task_references_creation,       task_references_norm,        task_references_foreach,
    task_references_activation, task_references_index,          task_references_elementary,  task_references_blas,
    task_references_move,       task_references_matmul,         task_references_attention,   task_references_mhc,
    task_references_norm_grad,  task_references_gelu,           task_references_loss,        task_references_optim,
    task_references_fused,      task_references_mkb_activation, task_references_mkb_along,   task_references_mkb_loss,
    task_references_mkb_norm,   task_references_mkb_optimizer,  task_references_mkb_pooling, task_references_formula,
};

const struct task_reference_entry *task_reference_find(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct task_reference_entry *entry = families[i]; entry->name; entry++)
            if (strcmp(entry->name, name) == 0)
                return entry;
    return NULL;
}

const char *task_reference_name(int index)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct task_reference_entry *entry = families[i]; entry->name; entry++)
            if (index-- == 0)
                return entry->name;
    return NULL;
}

const char *task_reference_hint(struct arena *arena, const char *name)
{
    const char *text = "", *other;
    int shown = 0;
    for (int d = 0; d <= (int)strlen(name) / 3 + 1 && shown < 3; d++)
        for (int i = 0; (other = task_reference_name(i)) && shown < 3; i++)
            if (task_name_distance(name, other) == d)
                text = arena_printf(arena, "%s%s%s", text, shown++ ? ", " : "; did you mean ", other);
    return shown ? arena_printf(arena, "%s?", text) : "; 'akgen task references' lists them";
}

/* Outputs: one allocation, the arguments first, so that the caller frees one pointer. */
struct outputs {
    struct task_argument *arguments; /* what the caller holds points here + sizeof(struct outputs) */
    int count;
};

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void free_values(struct task_argument *argument)
{
    for (int t = 0; t < argument->count; t++)
        free(argument->tensors[t].values);
}

static void allocate_values(struct task_argument *argument, enum akgen_dtype type)
{
    for (int t = 0; t < argument->count; t++) {
        struct task_tensor *tensor = &argument->tensors[t];
        if (type == AKGEN_DOUBLE && tensor->type == AKGEN_COMPLEX64) { /* pairs of doubles */
            tensor->dims[tensor->rank++] = 2;
            tensor->elements *= 2;
        }
        tensor->type = type;
        tensor->values = checked(calloc((size_t)tensor->elements + 1, akgen_dtype_size(type)));
    }
}

void reference_retype(struct reference_call *call, int output, enum akgen_dtype type)
{
    if (call->profile == TASK_STRICT)
        return;
    free_values(&call->outputs[output]);
    allocate_values(&call->outputs[output], type);
}

void reference_quantized(struct reference_call *call, int output)
{
    if (call->profile == TASK_UPSTREAM || !call->outputs[output].count)
        return;
    free_values(&call->outputs[output]);
    allocate_values(&call->outputs[output], AKGEN_DOUBLE);
}

static struct outputs *outputs_new(const struct task_instance *instance, enum task_profile profile)
{
    int count = instance->task->output_count;
    struct outputs *outputs = checked(calloc(1, sizeof *outputs + sizeof(struct task_argument) * (size_t)count));
    outputs->count = count;
    outputs->arguments = (struct task_argument *)(outputs + 1);
    for (int i = 0; i < count; i++) {
        const struct task_argument *shape = &instance->outputs[i];
        struct task_argument *argument = &outputs->arguments[i];
        if (!shape->count || !task_output_judged(instance, i, profile))
            continue;
        argument->count = shape->count;
        argument->tensors = checked(calloc((size_t)shape->count, sizeof *shape->tensors));
        memcpy(argument->tensors, shape->tensors, sizeof *shape->tensors * (size_t)shape->count);
        enum akgen_dtype type = shape->tensors[0].type;
        allocate_values(argument, profile == TASK_STRICT && task_is_float(type) ? AKGEN_DOUBLE : type);
    }
    return outputs;
}

void task_outputs_free(struct task_argument *arguments)
{
    if (!arguments)
        return;
    struct outputs *outputs = (struct outputs *)arguments - 1;
    for (int i = 0; i < outputs->count; i++) {
        free_values(&arguments[i]);
        free(arguments[i].tensors);
    }
    free(outputs);
}

struct akgen_error *task_reference(const struct task_instance *instance, enum task_profile profile,
                                   struct task_argument **result)
{
    const struct task_reference_entry *entry = task_reference_find(instance->task->reference);
    *result = NULL;
    if (!entry)
        return error_new("there is no reference called '%s'", instance->task->reference);
    struct reference_call call = {instance, profile, outputs_new(instance, profile)->arguments};
    entry->compute(&call);
    *result = call.outputs;
    return NULL;
}

/* A floating tensor in float64 with its elements moved; the values live in the arena. */
static void move_tensor(struct arena *arena, struct task_tensor *tensor, double relative,
                        double (*factor)(void *state, int64_t index), void *state)
{
    double *values = arena_alloc(arena, sizeof *values * (size_t)(tensor->elements + 1));
    for (int64_t first = 0; first < tensor->elements; first += REFERENCE_BLOCK) {
        int64_t rest = tensor->elements - first;
        task_read_double(tensor, first, rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK, values + first);
    }
    for (int64_t i = 0; tensor->elements > 1 && i < tensor->elements; i++)
        values[i] *= 1 + relative * (factor ? factor(state, i) : 1);
    tensor->values = values;
    tensor->type = AKGEN_DOUBLE;
}

struct task_argument *task_reference_moved(const struct task_instance *instance, double relative,
                                           double (*factor)(void *state, int64_t index), void *state)
{
    struct arena arena = {0};
    int count = instance->task->input_count;
    struct task_instance moved = *instance;
    struct task_argument *outputs;
    moved.inputs = arena_alloc(&arena, sizeof *moved.inputs * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        struct task_argument *input = &moved.inputs[i];
        *input = instance->inputs[i];
        input->tensors = arena_alloc(&arena, sizeof *input->tensors * (size_t)(input->count + 1));
        for (int t = 0; t < input->count; t++) {
            input->tensors[t] = instance->inputs[i].tensors[t];
            if (task_is_float(input->tensors[t].type) && input->tensors[t].type != AKGEN_COMPLEX64)
                move_tensor(&arena, &input->tensors[t], relative, factor, state);
        }
    }
    error_free(task_reference(&moved, TASK_STRICT, &outputs)); /* the same call has succeeded for the case itself */
    arena_free(&arena);
    return outputs;
}

/* Arguments. */
double reference_scalar(const struct reference_call *call, int index)
{
    double value;
    task_read_double(reference_input(call, index), 0, 1, &value);
    return value;
}

double reference_attr(const struct reference_call *call, int index)
{
    return json_number_value(call->instance->attrs[index]);
}

void reference_copy(const struct task_tensor *from, int64_t from_at, const struct task_tensor *to, int64_t to_at,
                    int64_t elements)
{
    if (from->type == to->type) {
        size_t size = akgen_dtype_size(from->type);
        memcpy((char *)to->values + (size_t)to_at * size, (const char *)from->values + (size_t)from_at * size,
               (size_t)elements * size);
        return;
    }
    int scalars = from->type == AKGEN_COMPLEX64 ? 2 : 1;
    double values[2 * REFERENCE_BLOCK];
    for (int64_t first = 0; first < elements; first += REFERENCE_BLOCK) {
        int n = elements - first < REFERENCE_BLOCK ? (int)(elements - first) : REFERENCE_BLOCK;
        task_read_double(from, (from_at + first) * scalars, n * scalars, values);
        task_write_double(to, (to_at + first) * scalars, n * scalars, values);
    }
}

double reference_column(const struct reference_call *call, const char *column)
{
    const struct task_case *row = call->instance->task_case;
    double number = 0;
    for (int i = 0; i < row->column_count; i++)
        if (strcmp(row->columns[i], column) == 0) {
            struct arena arena = {0};
            struct expr_value value = expr_cell(&arena, call->instance->values[i]);
            number = expr_is_number(&value) ? expr_number(&value) : 0;
            arena_free(&arena);
        }
    return number;
}

bool reference_any_not_finite(const struct task_argument *list)
{
    bool found = false;
    double x[REFERENCE_BLOCK];
    for (int t = 0; t < list->count; t++)
        for (int64_t first = 0; first < list->tensors[t].elements; first += REFERENCE_BLOCK) {
            int64_t rest = list->tensors[t].elements - first;
            int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
            task_read_double(&list->tensors[t], first, n, x);
            for (int i = 0; i < n; i++)
                found |= !isfinite(x[i]);
        }
    return found;
}

double reference_int8(const struct reference_call *call, double value)
{
    return fmax(-128, fmin(127, call->profile == TASK_STRICT ? value : rint(value)));
}

const struct task_tensor *reference_output(const struct reference_call *call, int index)
{
    return call->outputs[index].count ? &call->outputs[index].tensors[0] : NULL;
}

void reference_store(const struct reference_call *call, int output, int64_t first, int64_t n, const double *values)
{
    if (call->outputs[output].count)
        task_write_double(&call->outputs[output].tensors[0], first, (int)n, values);
}

double *reference_numbers(int64_t length)
{
    return checked(calloc((size_t)length + 1, sizeof(double)));
}

double *reference_read_all(const struct task_tensor *tensor)
{
    double *values = reference_numbers(tensor->elements);
    task_read_double(tensor, 0, (int)tensor->elements, values);
    return values;
}

double reference_gelu(double x, bool tanh_form)
{
    if (tanh_form)
        return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}

int64_t reference_half(const struct task_tensor *x, int dim)
{
    dim += dim < 0 ? x->rank : 0;
    int64_t half = x->dims[dim] / 2;
    for (int i = dim + 1; i < x->rank; i++)
        half *= x->dims[i];
    return half;
}

/* Maps. */
static int block_at(const struct task_tensor *out, int64_t first)
{
    int64_t rest = task_scalars(out) - first;
    return rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
}

void reference_map(reference_op *op, enum akgen_dtype steps, const struct task_tensor *const *in, int arity,
                   const double *c, const struct task_tensor *out)
{
    double x[REFERENCE_ARITY][REFERENCE_BLOCK], y[REFERENCE_BLOCK];
    for (int64_t first = 0; first < task_scalars(out); first += REFERENCE_BLOCK) {
        int n = block_at(out, first);
        for (int a = 0; a < arity; a++)
            task_read_double(in[a], first, n, x[a]);
        for (int i = 0; i < n; i++) {
            double element[REFERENCE_ARITY];
            for (int a = 0; a < arity; a++)
                element[a] = x[a][i];
            y[i] = op(steps, element, c);
        }
        task_write_double(out, first, n, y);
    }
}

void reference_map_integer(reference_integer_op *op, const struct task_tensor *const *in, int arity, const double *c,
                           const struct task_tensor *out)
{
    int64_t x[REFERENCE_ARITY][REFERENCE_BLOCK], y[REFERENCE_BLOCK];
    for (int64_t first = 0; first < task_scalars(out); first += REFERENCE_BLOCK) {
        int n = block_at(out, first);
        for (int a = 0; a < arity; a++)
            task_read_integer(in[a], first, n, x[a]);
        for (int i = 0; i < n; i++) {
            int64_t element[REFERENCE_ARITY];
            for (int a = 0; a < arity; a++)
                element[a] = x[a][i];
            y[i] = op(element, c);
        }
        task_write_integer(out, first, n, y);
    }
}

void reference_elementwise(struct reference_call *call, reference_op *op, reference_integer_op *integer_op, int arity,
                           const double *c)
{
    assert(arity >= 1 && arity <= REFERENCE_ARITY);
    const struct task_tensor *in[REFERENCE_ARITY], *out = &call->outputs[0].tensors[0];
    for (int i = 0; i < arity; i++)
        in[i] = reference_input(call, i);
    if (task_is_float(in[0]->type))
        reference_map(op, reference_steps(call, in[0]->type), in, arity, c, out);
    else
        reference_map_integer(integer_op, in, arity, c, out);
}
