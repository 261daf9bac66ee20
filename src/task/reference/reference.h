/* The reference operators, one function per published module (DESIGN D13). Each is written as the module's steps in
 * double with a rounding after every step: `upstream` rounds to the type that the module computes in, `golden` rounds
 * to float64, that is, not at all. For + - * / and sqrt that equals computing in the type itself, because double has
 * more than twice the digits (Figueroa, 1995). docs/tasks.md lists the references. */
#ifndef TASK_REFERENCE_H
#define TASK_REFERENCE_H

#include "task/model/model.h"

struct reference_call {
    const struct task_instance *instance;
    enum task_profile profile;
    /* One per output of the task, shaped as instance->outputs[i]; type: the output's, or float64 for a floating output
     * of TASK_STRICT; values to be written. Not judged: count 0. */
    struct task_argument *outputs;
};
typedef void task_reference_function(struct reference_call *call);
/* A file's references: `const struct task_reference_entry task_references_FAMILY[]`, ends with a NULL name.
 * families.def lists the families, and nothing else does. */
struct task_reference_entry {
    const char *name; /* as in task.yaml */
    task_reference_function *compute;
};
enum { REFERENCE_BLOCK = 512, REFERENCE_ARITY = 4 };

/* The type to round steps to: `module_type` (what the module computes in) for upstream, float64 for golden. */
static inline enum akgen_dtype reference_steps(const struct reference_call *call, enum akgen_dtype module_type)
{
    return call->profile == TASK_STRICT ? AKGEN_DOUBLE : module_type;
}
/* One step's result in a type. */
static inline double reference_round(enum akgen_dtype type, double value)
{
    return task_round(type, value);
}
/* The module's result has this type (wider than the operator's output): replaces the tensors of an output. Golden
 * outputs keep float64. */
void reference_retype(struct reference_call *call, int output, enum akgen_dtype type);
/* An integer output that is a rounded real number: golden keeps that number, in float64. */
void reference_quantized(struct reference_call *call, int output);
/* Such a number as int8: clamped, and rounded half to even unless the call is for golden. */
double reference_int8(const struct reference_call *call, double value);
/* Tensor 0 of an output, NULL if it is not judged. */
const struct task_tensor *reference_output(const struct reference_call *call, int index);
/* Stores elements first .. first + n - 1 of an output if it is judged. */
void reference_store(const struct reference_call *call, int output, int64_t first, int64_t n, const double *values);
/* Memory for `length` numbers, zeroed; all elements of a tensor. The caller frees them. */
double *reference_numbers(int64_t length);
double *reference_read_all(const struct task_tensor *tensor);
/* x Phi(x): Phi is the normal distribution's, or its approximation by tanh. */
double reference_gelu(double x, bool tanh_form);
/* Tensors that are split in two along `dim` (negative: from the end): how many elements one half has in each block. */
int64_t reference_half(const struct task_tensor *x, int dim);

/* Tensor 0 of an input. */
static inline const struct task_tensor *reference_input(const struct reference_call *call, int index)
{
    return &call->instance->inputs[index].tensors[0];
}
/* Element 0 of an input. */
double reference_scalar(const struct reference_call *call, int index);
/* A numeric attribute by position. */
double reference_attr(const struct reference_call *call, int index);
/* Copies elements as they are; into a float64 tensor they are widened. */
void reference_copy(const struct task_tensor *from, int64_t from_at, const struct task_tensor *to, int64_t to_at,
                    int64_t elements);
/* The number in a column of cases.csv. */
double reference_column(const struct reference_call *call, const char *column);

/* True if any element of a list of floating tensors is inf or nan. */
bool reference_any_not_finite(const struct task_argument *list);

/* One element of an elementwise operator: x[i] is input i, c holds numbers of the whole tensor. */
typedef double reference_op(enum akgen_dtype steps, const double *x, const double *c);
typedef int64_t reference_integer_op(const int64_t *x, const double *c);
/* out[i] = op(in[0][i], in[1][i], ...); in: `arity` tensors of the size of out. */
void reference_map(reference_op *op, enum akgen_dtype steps, const struct task_tensor *const *in, int arity,
                   const double *c, const struct task_tensor *out);
/* The same in int64, wrapped to the type of out. */
void reference_map_integer(reference_integer_op *op, const struct task_tensor *const *in, int arity, const double *c,
                           const struct task_tensor *out);
/* Maps inputs 0 .. arity - 1 to output 0: op for floating types, with steps in that type; integer_op for the others. */
void reference_elementwise(struct reference_call *call, reference_op *op, reference_integer_op *integer_op, int arity,
                           const double *c);

#endif
