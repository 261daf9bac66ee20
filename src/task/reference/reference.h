/* The reference operators, one function per published module (DESIGN D13). Each is written as the module's steps in
 * double with a rounding after every step: `upstream` rounds to the type that the module computes in, `golden` rounds
 * to float64, that is, not at all. For + - * / and sqrt that equals computing in the type itself, because double has
 * more than twice the digits (Figueroa, 1995). docs/tasks.md lists the references. */
#ifndef TASK_REFERENCE_REFERENCE_H
#define TASK_REFERENCE_REFERENCE_H

#include "task/reference/signature.h"

struct reference_call {
    const struct task_instance *instance;
    enum task_profile profile;
    /* One per output of the task, shaped as instance->outputs[i]; type: the output's, or float64 for a floating output
     * of TASK_STRICT; values to be written. Not judged: count 0. */
    struct task_argument *outputs;
    double lean;           /* of formulas that jump (task_reference_leaning), else 0 */
    bool rounded;          /* formulas round each step to float32, although it is golden */
    struct arena *scratch; /* what the reference needs until it returns */
};
typedef void task_reference_function(struct reference_call *call);
/* What a signature cannot say of a case: an error about its shapes, and about the inputs' values where they have been
 * made. The case fits the signature; `outputs` is NULL. */
typedef struct akgen_error *task_reference_fit(const struct reference_call *call);
/* A file's references: `const struct task_reference_entry task_references_FAMILY[]`, ends with a NULL name.
 * families.def lists the families, and nothing else does. */
struct task_reference_entry {
    const char *name; /* as in task.yaml */
    task_reference_function *compute;
    const char *needs;        /* its signature (signature.h); NULL: what the task's formulas name */
    task_reference_fit *fits; /* NULL: the signature says it all */
};
/* An entry; the name is the function's, or another. Then `.fits = ...` if there is one. */
#define REFERENCE(function, ...) REFERENCE_CALLED(#function, function, __VA_ARGS__)
#define REFERENCE_CALLED(own_name, function, signature, ...)                                                           \
    {.name = (own_name), .compute = (function), .needs = (signature), __VA_ARGS__}
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
/* A Python number that a tensor is multiplied with or divided by: torch on a CPU, where upstream runs its modules (2.5.1),
 * keeps it in float32 for half types since 2.1. What is added takes the tensor's type: reference_round. */
static inline double reference_factor(enum akgen_dtype steps, double value)
{
    return steps == AKGEN_DOUBLE ? value : (double)(float)value;
}
/* The module's result has this type (wider than the operator's output): replaces the tensors of an output. Golden
 * outputs keep float64. */
void reference_retype(struct reference_call *call, int output, enum akgen_dtype type);
/* An integer output that is a rounded real number: golden keeps that number, in float64. */
void reference_quantized(struct reference_call *call, int output);
/* Such a number as int8: clamped, and rounded half to even unless the call is for golden. */
double reference_int8(const struct reference_call *call, double value);
/* Outputs: tensor 0 of one that the signature demands, judged or not; all tensors of such a list; tensor 0 of any, NULL
 * if it is not there or not judged. Asking for what the signature does not have ends the process. */
struct task_tensor *reference_result(const struct reference_call *call, int index);
const struct task_argument *reference_results(const struct reference_call *call, int index);
const struct task_tensor *reference_output(const struct reference_call *call, int index);
/* Its shape, in every call. */
const struct task_tensor *reference_output_shape(const struct reference_call *call, int index);
/* Stores elements first .. first + n - 1 of an output if it is judged. */
void reference_store(const struct reference_call *call, int output, int64_t first, int64_t n, const double *values);
/* Memory for `length` numbers, zeroed; all elements of a tensor. They last until the reference returns. */
double *reference_numbers(const struct reference_call *call, int64_t length);
double *reference_read_all(const struct reference_call *call, const struct task_tensor *tensor);
/* x Phi(x): Phi is the normal distribution's, or its approximation by tanh. */
double reference_gelu(double x, bool tanh_form);
/* Tensors that are split in two along `dim` (negative: from the end): how many elements one half has in each block. */
int64_t reference_half(const struct task_tensor *x, int dim);

/* Inputs as the signature has them: tensor 0 of one that is always there; NULL if an optional one is not; a list. */
const struct task_tensor *reference_input(const struct reference_call *call, int index);
const struct task_tensor *reference_optional(const struct reference_call *call, int index);
const struct task_argument *reference_list(const struct reference_call *call, int index);
/* Elements of an optional input, NULL if it is not there. */
double *reference_read_optional(const struct reference_call *call, int index);
/* Element 0 of an input. */
double reference_scalar(const struct reference_call *call, int index);
/* Attributes by position: a number, an optional one's default if the task lacks it; an int, at most 2^40 (no tensor has
 * more elements); a bool; a text; a list's length and one of its integers. */
double reference_attr(const struct reference_call *call, int index);
int64_t reference_integer(const struct reference_call *call, int index);
bool reference_flag(const struct reference_call *call, int index);
const char *reference_text(const struct reference_call *call, int index);
int64_t reference_item_count(const struct reference_call *call, int index);
int64_t reference_item(const struct reference_call *call, int index, int64_t item);
/* Copies elements as they are; into a float64 tensor they are widened. */
void reference_copy(const struct task_tensor *from, int64_t from_at, const struct task_tensor *to, int64_t to_at,
                    int64_t elements);
/* The number in a column of cases.csv. */
double reference_column(const struct reference_call *call, const char *column);

/* A number without its fraction; 0 if int64 cannot hold it. */
static inline int64_t reference_whole(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : 0;
}

/* True if any element of a list of floating tensors is inf or nan. */
bool reference_any_not_finite(const struct task_argument *list);

/* One element of an elementwise operator: x[i] is input i, c holds numbers of the whole tensor. */
typedef double reference_op(enum akgen_dtype steps, const double *x, const double *c);
typedef int64_t reference_integer_op(const int64_t *x, const double *c);
/* One whose value is a formula. */
#define REFERENCE_OP(name, formula)                                                                                    \
    static double name(enum akgen_dtype steps, const double *x, const double *c)                                       \
    {                                                                                                                  \
        (void)steps;                                                                                                   \
        (void)x;                                                                                                       \
        (void)c;                                                                                                       \
        return formula;                                                                                                \
    }
#define REFERENCE_INTEGER_OP(name, formula)                                                                            \
    static int64_t name(const int64_t *x, const double *c)                                                             \
    {                                                                                                                  \
        (void)x;                                                                                                       \
        (void)c;                                                                                                       \
        return formula;                                                                                                \
    }
/* out[i] = op(in[0][i], in[1][i], ...); in: `arity` tensors of the size of out. */
void reference_map(reference_op *op, enum akgen_dtype steps, const struct task_tensor *const *in, int arity,
                   const double *c, const struct task_tensor *out);
/* The same in int64, wrapped to the type of out. */
void reference_map_integer(reference_integer_op *op, const struct task_tensor *const *in, int arity, const double *c,
                           const struct task_tensor *out);
/* Maps inputs 0 .. arity - 1 to output 0: op for floating types, with steps in that type; integer_op for the others. */
void reference_elementwise(struct reference_call *call, reference_op *op, reference_integer_op *integer_op, int arity,
                           const double *c);
/* A reference that is another function with arguments. */
#define REFERENCE_VARIANT(name, function, ...)                                                                         \
    static void name(struct reference_call *call)                                                                      \
    {                                                                                                                  \
        function(call, __VA_ARGS__);                                                                                   \
    }

#endif
