/* Operators over lists of tensors (level 2: Foreach). Tensor t of each list has the shape of tensor t of the output. */
#include "task/reference.h"

#include <stdlib.h>

#define R(value) reference_round(steps, value)

static enum akgen_dtype list_type(const struct reference_call *call)
{
    return call->instance->inputs[0].tensors[0].type;
}

/* Maps lists 0 .. arity - 1 to output 0 with the numbers c of each tensor. */
static void map_lists(struct reference_call *call, reference_op *op, reference_integer_op *integer_op,
                      enum akgen_dtype module_type, int arity, const double *c, int numbers_per_tensor)
{
    for (int t = 0; t < call->outputs[0].count; t++) {
        const struct task_tensor *in[REFERENCE_ARITY], *out = &call->outputs[0].tensors[t];
        for (int a = 0; a < arity; a++)
            in[a] = &call->instance->inputs[a].tensors[t];
        if (task_is_float(in[0]->type))
            reference_map(op, reference_steps(call, module_type), in, arity, c + t * numbers_per_tensor, out);
        else
            reference_map_integer(integer_op, in, arity, c + t * numbers_per_tensor, out);
    }
}

/* y[t] = x1[t] + x2[t] * alpha; alpha (1). The module computes bfloat16 in float32. */
static double add_list_op(enum akgen_dtype steps, const double *x, const double *c)
{
    return R(x[0] + R(x[1] * c[0]));
}

static int64_t add_list_integer(const int64_t *x, const double *c)
{
    return (int64_t)((uint64_t)x[0] + (uint64_t)x[1] * (uint64_t)(int64_t)c[0]);
}

static void foreach_add_list(struct reference_call *call)
{
    double alpha = reference_scalar(call, 2);
    enum akgen_dtype type = list_type(call) == AKGEN_BF16 ? AKGEN_FLOAT : list_type(call);
    map_lists(call, add_list_op, add_list_integer, type, 2, &alpha, 0);
}

/* y[t] = x1[t] + weight (x2[t] - x1[t]), as torch.lerp computes it: from the nearer end, in float32. weight (1). */
static double lerp_scalar_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double difference = R(x[1] - x[0]);
    return c[0] < 0.5 ? R(x[0] + R(c[0] * difference)) : R(x[1] - R(difference * R(1 - c[0])));
}

static void foreach_lerp_scalar(struct reference_call *call)
{
    double weight = reference_scalar(call, 2);
    map_lists(call, lerp_scalar_op, NULL, AKGEN_FLOAT, 2, &weight, 0);
}

/* y[t] = x[t] * scalars[t]; scalars (tensors in the list). torch brings a scalar to the tensor's type first. */
static double mul_scalar_op(enum akgen_dtype steps, const double *x, const double *c)
{
    return R(x[0] * R(c[0]));
}

static int64_t mul_scalar_integer(const int64_t *x, const double *c)
{
    return (int64_t)((uint64_t)x[0] * (uint64_t)(int64_t)c[0]);
}

static void foreach_mul_scalar_list(struct reference_call *call)
{
    const struct task_tensor *list = reference_input(call, 1);
    int room = call->outputs[0].count > (int)list->elements ? call->outputs[0].count : (int)list->elements;
    double *scalars = calloc((size_t)room + 1, sizeof *scalars);
    if (!scalars)
        abort();
    task_read_double(list, 0, (int)list->elements, scalars);
    map_lists(call, mul_scalar_op, mul_scalar_integer, list_type(call), 1, scalars, 1);
    free(scalars);
}

/* x[t] = 0. Output memory starts as zeros. */
static void foreach_zero(struct reference_call *call)
{
    (void)call;
}

const struct task_reference_entry task_references_foreach[] = {
    {"foreach_add_list", foreach_add_list},
    {"foreach_lerp_scalar", foreach_lerp_scalar},
    {"foreach_mul_scalar_list", foreach_mul_scalar_list},
    {"foreach_zero", foreach_zero},
    {NULL, NULL},
};
