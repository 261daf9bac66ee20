/* Fused chains with a reduction or a softmax in them (level 2: Reduce, Activation). Sums are kept in double and rounded
 * to the type in which the module computes. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* out[b, j] = sum over i of sigmoid((x[b, i, j] + row[j]) factor) column[b, i] y[b, i, j], in half; the sigmoid is a
 * reciprocal. Inputs: x, row, factor, column, y. */
static void add_sigmoid_mul_reduce_sum(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_input(call, 4);
    enum akgen_dtype steps = reference_steps(call, x->type);
    double *row = reference_read_all(call, reference_input(call, 1)),
           *column = reference_read_all(call, reference_input(call, 3));
    double factor = reference_scalar(call, 2);
    int64_t depth = x->dims[1], length = x->dims[2];
    double *a = reference_numbers(call, length), *b = reference_numbers(call, length),
           *sums = reference_numbers(call, length);
    for (int64_t outer = 0; outer < x->dims[0]; outer++) {
        for (int64_t j = 0; j < length; j++)
            sums[j] = 0;
        for (int64_t i = outer * depth; i < (outer + 1) * depth; i++) {
            task_read_double(x, i * length, (int)length, a);
            task_read_double(y, i * length, (int)length, b);
            for (int64_t j = 0; j < length; j++) {
                double sigmoid = R(1 / R(1 + R(exp(-R(R(a[j] + row[j]) * factor)))));
                sums[j] += R(R(sigmoid * column[i]) * b[j]);
            }
        }
        reference_store(call, 0, outer * length, length, sums);
    }
}

/* m = a b c; k = gamma / sqrt(variance(m) + add_y); out = beta - k mean(m) + k m. a, b, out (rows, length); c, add_y
 * one element; gamma, beta (1, length). */
static void mul_mul_reduce_mean_twice(struct reference_call *call)
{
    const struct task_tensor *a = reference_input(call, 0), *b = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, a->type);
    double c = reference_scalar(call, 2), add = reference_scalar(call, 3);
    double *gamma = reference_read_all(call, reference_input(call, 4)),
           *beta = reference_read_all(call, reference_input(call, 5));
    int64_t length = a->dims[1];
    double *m = reference_numbers(call, length), *other = reference_numbers(call, length);
    for (int64_t r = 0; r < a->dims[0]; r++) {
        double sum = 0, squares = 0;
        task_read_double(a, r * length, (int)length, m);
        task_read_double(b, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++)
            sum += m[i] = R(R(m[i] * other[i]) * c);
        double mean = R(sum / (double)length);
        for (int64_t i = 0; i < length; i++) {
            double difference = R(m[i] - mean);
            squares += R(difference * difference);
        }
        double deviation = R(sqrt(R(R(squares / (double)length) + add)));
        for (int64_t i = 0; i < length; i++) {
            double k = R(gamma[i] / deviation);
            m[i] = R(R(beta[i] - R(k * mean)) + R(k * m[i]));
        }
        reference_store(call, 0, r * length, length, m);
    }
}

/* softmax of sel ? a : b over the last dimension, each step in the tensors' type. */
static void select_softmax(struct reference_call *call)
{
    const struct task_tensor *sel = reference_input(call, 0), *a = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, a->type);
    int64_t length = a->dims[a->rank - 1];
    double *x = reference_numbers(call, length), *other = reference_numbers(call, length),
           *chosen = reference_numbers(call, length);
    for (int64_t r = 0; length && r < a->elements / length; r++) {
        double largest = -INFINITY, sum = 0;
        task_read_double(sel, r * length, (int)length, chosen);
        task_read_double(a, r * length, (int)length, x);
        task_read_double(reference_input(call, 2), r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++) {
            x[i] = chosen[i] != 0 ? x[i] : other[i];
            largest = fmax(largest, x[i]);
        }
        for (int64_t i = 0; i < length; i++)
            sum += x[i] = R(exp(R(x[i] - largest)));
        for (int64_t i = 0; i < length; i++)
            x[i] = R(x[i] / R(sum));
        reference_store(call, 0, r * length, length, x);
    }
}

/* softmax(x) over the last dimension; torch computes it in float32 and rounds once. */
static void softmax(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t length = x->dims[x->rank - 1];
    double *row = reference_numbers(call, length);
    for (int64_t r = 0; length && r < x->elements / length; r++) {
        double largest = -INFINITY, sum = 0;
        task_read_double(x, r * length, (int)length, row);
        for (int64_t i = 0; i < length; i++)
            largest = fmax(largest, row[i]);
        for (int64_t i = 0; i < length; i++)
            sum += row[i] = R(exp(row[i] - largest));
        for (int64_t i = 0; i < length; i++)
            row[i] = R(row[i] / R(sum));
        reference_store(call, 0, r * length, length, row);
    }
}

/* g = grad values^T; (g - sum(p g)) p per row. p (rows, length), grad (rows, depth), values (length, depth). Steps in
 * the tensors' type; the product of matrices is summed in double. */
static void matmul_softmax_grad(struct reference_call *call)
{
    const struct task_tensor *p = reference_input(call, 0), *grad = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, p->type);
    int64_t rows = p->dims[0], length = p->dims[1], depth = grad->dims[1];
    double *g = reference_numbers(call, rows * length), *left = reference_read_all(call, grad),
           *v = reference_numbers(call, depth);
    double *row = reference_numbers(call, length);
    for (int64_t i = 0; i < length; i++) {
        task_read_double(reference_input(call, 2), i * depth, (int)depth, v);
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0;
            for (int64_t d = 0; d < depth; d++)
                sum += left[r * depth + d] * v[d];
            g[r * length + i] = R(sum);
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        task_read_double(p, r * length, (int)length, row);
        for (int64_t i = 0; i < length; i++)
            sum += R(row[i] * g[r * length + i]);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(g[r * length + i] - R(sum)) * row[i]);
        reference_store(call, 0, r * length, length, row);
    }
}

/* t = sigmoid(x1 t1); out = (t < t2 ? t : 2 t) x2 t3. x1 (rows, length), x2 (1, ...) of length elements. The numbers
 * take the tensors' type. */
static void mul_sigmoid(struct reference_call *call)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, x1->type);
    double t1 = reference_factor(steps, reference_attr(call, 0)), t2 = R(reference_attr(call, 1));
    double t3 = reference_factor(steps, reference_attr(call, 2));
    double *other = reference_read_all(call, x2), *row = reference_numbers(call, x2->elements);
    int64_t length = x2->elements;
    for (int64_t r = 0; length && r < x1->elements / length; r++) {
        task_read_double(x1, r * length, (int)length, row);
        for (int64_t i = 0; i < length; i++) {
            double t = R(1 / (1 + exp(-R(row[i] * t1))));
            row[i] = R(R((t < t2 ? t : R(2 * t)) * other[i]) * t3);
        }
        reference_store(call, 0, r * length, length, row);
    }
}

const struct task_reference_entry task_references_fused[] = {
    REFERENCE(
        add_sigmoid_mul_reduce_sum,
        "add_0_input0 floating [b, depth, n], add_0_input1 =add_0_input0 (n), mul_0_input1 =add_0_input0 (1), "
        "mult_1_input1 =add_0_input0 (b*depth), mult_2_input1 =add_0_input0 [b, depth, n] -> out =add_0_input0 (b*n)"),
    REFERENCE(mul_mul_reduce_mean_twice,
              "mul0_input0 floating [rows, n], mul0_input1 =mul0_input0 [rows, n], mul1_input0 =mul0_input0 (1), add_y "
              "=mul0_input0 (1) '1', gamma =mul0_input0 (n), beta =mul0_input0 (n) -> output =mul0_input0 [rows, n]"),
    REFERENCE(select_softmax,
              "sel bool [*rows, n], input1 floating [*rows, n], input2 =input1 [*rows, n] -> ouput =input1 [*rows, n]"),
    REFERENCE(softmax, "x floating [*rows, n] -> x =x [*rows, n]"),
    REFERENCE(matmul_softmax_grad, "softmaxOutput floating [rows, n], gradOutput =softmaxOutput [rows, depth], values "
                                   "=softmaxOutput [n, depth] -> softmaxOutput =softmaxOutput [rows, n]"),
    REFERENCE(mul_sigmoid,
              "x1 floating (rows*n), x2 =x1 (n) -> out =x1 (rows*n); t1 float = 0.3, t2 float = 0.4, t3 float = 0.8"),
    {NULL, NULL, NULL, NULL},
};
