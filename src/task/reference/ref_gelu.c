/* Gelu, its approximations and gradients, gated units and their quantised forms (level 2: Activation). torch computes
 * gelu itself in float32 and rounds once, whatever the tensor's type. */
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define R(value) reference_round(steps, value)
#define F(value) reference_factor(steps, value)

REFERENCE_OP(gelu_op, R(reference_gelu(x[0], false)))
REFERENCE_VARIANT(gelu, reference_elementwise, gelu_op, NULL, 1, NULL)

/* z = dy (e + 1.702 x e + exp(1.702 (x - |x|))) / (e + 1)^2 with e = exp(-1.702 |x|). */
static double fast_gelu_grad_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double magnitude = fabs(x[1]), e = R(exp(R(magnitude * F(-1.702)))), below = R(e + 1);
    double above = R(R(e + R(R(x[1] * e) * F(1.702))) + R(exp(R(R(x[1] - magnitude) * F(1.702)))));
    return R(x[0] * R(above / R(below * below)));
}

REFERENCE_VARIANT(fast_gelu_grad, reference_elementwise, fast_gelu_grad_op, NULL, 2, NULL)

/* dy times the derivative of x / (1 + exp(-1.5957691 (x + 0.044715 x^3))), in float32; where exp overflows the
 * derivative is not a number, which the module replaces by 0. */
static double gelu_grad_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double v = x[1], square = R(v * v);
    double p = R(exp(R(R(R(square * R(-0.0713548162726002527220)) + R(-1.595769121605730711759)) * v)));
    double inner = R(R(R(square * R(0.2140644488178007)) + R(1.595769121605730711759)) * v);
    double t = R(1 / R(p + 1)), slope = R(R(R(p * inner) * R(t * t)) + t);
    return R(x[0] * (isnan(slope) ? 0 : slope));
}

static void gelu_grad(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1)};
    reference_map(gelu_grad_op, reference_steps(call, AKGEN_FLOAT), in, 2, NULL, reference_result(call, 0));
}

/* Gated units: tensors that are split in two along a dimension. */
/* One element of either half and of dy (0 if there is none); a and b become the results. */
typedef void gated_op(enum akgen_dtype steps, double *a, double *b, double dy, bool flag);

/* Blocks of both halves of x, and of dy if there is one, go through op; a goes to output `first`, b to `second`; the
 * same output: as halves. */
static void gated(struct reference_call *call, gated_op *op, enum akgen_dtype type, const struct task_tensor *x,
                  const struct task_tensor *dy, int dim, bool flag, int first, int second)
{
    enum akgen_dtype steps = reference_steps(call, type);
    int64_t half = reference_half(x, dim), step = first == second ? 2 * half : half;
    for (int64_t outer = 0; half && outer < x->elements / half / 2; outer++)
        for (int64_t at = 0; at < half; at += REFERENCE_BLOCK) {
            int n = half - at < REFERENCE_BLOCK ? (int)(half - at) : REFERENCE_BLOCK;
            double a[REFERENCE_BLOCK], b[REFERENCE_BLOCK], d[REFERENCE_BLOCK] = {0};
            task_read_double(x, outer * 2 * half + at, n, a);
            task_read_double(x, outer * 2 * half + half + at, n, b);
            if (dy)
                task_read_double(dy, outer * half + at, n, d);
            for (int i = 0; i < n; i++)
                op(steps, &a[i], &b[i], d[i], flag);
            reference_store(call, first, outer * step + at, n, a);
            reference_store(call, second, outer * step + at + (first == second ? half : 0), n, b);
        }
}

/* y = gelu(a) b; the other output is gelu(a). */
static void ge_glu_op(enum akgen_dtype steps, double *a, double *b, double dy, bool tanh_form)
{
    (void)dy;
    *a = R(reference_gelu(*a, tanh_form));
    *b = R(*a * *b);
}

static void ge_glu_v2(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    gated(call, ge_glu_op, x->type, x, NULL, (int)reference_integer(call, 0), reference_attr(call, 1) == 1, 1, 0);
}

static double gelu_slope(double x, bool tanh_form)
{
    if (!tanh_form)
        return 0.5 * erfc(-x * 0.70710678118654752440) + x * 0.39894228040143267794 * exp(-0.5 * x * x);
    double beta = 0.79788456080286535588, t = tanh(beta * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * beta * (1 + 3 * 0.044715 * x * x);
}

/* Gradient of gelu(a) b: dy b gelu'(a), dy gelu(a). */
static void ge_glu_grad_op(enum akgen_dtype steps, double *a, double *b, double dy, bool tanh_form)
{
    double activated = R(reference_gelu(*a, tanh_form));
    *a = R(R(dy * *b) * gelu_slope(*a, tanh_form));
    *b = R(dy * activated);
}

static void ge_glu_grad_v2(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 1);
    gated(call, ge_glu_grad_op, x->type, x, reference_input(call, 0), (int)reference_integer(call, 0),
          reference_attr(call, 1) == 1, 0, 0);
}

/* Gradient of silu(a) b: dy b s (1 + a (1 - s)), dy a s with s = sigmoid(a). */
static void swi_glu_grad_op(enum akgen_dtype steps, double *a, double *b, double dy, bool flag)
{
    (void)flag;
    double s = R(1 / (1 + exp(-*a))), silu = R(*a * s);
    *a = R(R(dy * *b) * R(s * R(1 + R(*a * R(1 - s)))));
    *b = R(dy * silu);
}

/* In float32, which the module yields. */
static void swi_glu_grad(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 1);
    reference_retype(call, 0, AKGEN_FLOAT);
    gated(call, swi_glu_grad_op, AKGEN_FLOAT, x, reference_input(call, 0), (int)reference_integer(call, 0), false, 0,
          0);
}

/* Quantised. */
/* Polynomial for gelu by erf, for x in [-13.25, 5.75]; highest power of x^2 first. */
static const double erf_terms[] = {-0.3512339572e-8, 0.2645266170e-6,  -0.7929488134e-5, 0.1106123840e-3,
                                   0.6518995814e-4,  -0.7266616915e-1, -0.1595769883e1};

static double quant_gelu(enum akgen_dtype steps, double x, bool tanh_form)
{
    double y, v = fmin(fmax(x, -13.25), 5.75), square = R(v * v);
    if (tanh_form) {
        y = R(R(x + R(R(R(x * x) * x) * R(0.044715))) * R(-1.5957691));
    } else {
        y = R(erf_terms[0]);
        for (size_t i = 1; i < sizeof erf_terms / sizeof *erf_terms; i++)
            y = R(R(y * square) + R(erf_terms[i]));
        y = R(y * v);
    }
    return R(x / R(R(exp(y)) + 1));
}

/* static: y = int8(gelu(x) scale + offset); dynamic: per row m = gelu(x) scale, t = 127 / (max|m| + 1e-6), y = int8(m
 * t) and out_scale = 1 / t. Computed in float32; scale and offset have one element, or one per column. */
static void gelu_quant(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    bool tanh_form = strcmp(reference_text(call, 0), "none") != 0;
    bool dynamic = strcmp(reference_text(call, 1), "static") != 0;
    double *scale = reference_read_all(call, reference_input(call, 1)),
           *offset = reference_read_all(call, reference_input(call, 2));
    int64_t scales = reference_input(call, 1)->elements, offsets = reference_input(call, 2)->elements;
    int64_t length = x->dims[x->rank - 1];
    double *row = reference_numbers(call, length);
    reference_quantized(call, 0);
    for (int64_t r = 0; length && r < x->elements / length; r++) {
        double largest = 0;
        task_read_double(x, r * length, (int)length, row);
        for (int64_t i = 0; i < length; i++) {
            row[i] = R(quant_gelu(steps, row[i], tanh_form) * scale[i % scales]);
            largest = fmax(largest, fabs(row[i]));
        }
        double factor = R(127 / R(largest + R(1e-6))), inverse = R(1 / factor);
        for (int64_t i = 0; i < length; i++)
            row[i] = reference_int8(call, dynamic ? R(row[i] * factor) : R(row[i] + offset[i % offsets]));
        reference_store(call, 0, r * length, length, row);
        reference_store(call, 1, r, 1, &inverse);
    }
}

/* The optional inputs of dequant_swiglu_quant; NULL if absent. */
struct dequant {
    double *weight, *activation, *bias, *scale, *offset;
};

/* One row of 2 half values: (x + bias) weight activation for integers, then silu of one half times the other, which is
 * left in the first half. */
static void dequant_row(enum akgen_dtype steps, const struct dequant *in, double *x, int64_t half, int64_t row,
                        int64_t group, bool left, bool integer)
{
    for (int64_t i = 0; integer && i < 2 * half; i++) {
        x[i] = in->bias ? R(R(x[i]) + in->bias[i]) : R(x[i]);
        x[i] = R(x[i] * in->weight[group * 2 * half + i]);
        x[i] = in->activation ? R(x[i] * in->activation[row]) : x[i];
    }
    for (int64_t i = 0; i < half; i++) {
        double activated = left ? x[i] : x[half + i], other = left ? x[half + i] : x[i];
        x[i] = R(R(activated / (1 + exp(-activated))) * other);
    }
}

/* Groups of rows: static y = int8(o / quant_scale + quant_offset); dynamic o quant_scale, then 127 / max|o| per row,
 * and scale = max|o| / 127. Computed in float32. */
static void dequant_swiglu_quant(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct dequant in = {reference_read_optional(call, 1), reference_read_optional(call, 2),
                         reference_read_optional(call, 3), reference_read_all(call, reference_input(call, 4)),
                         reference_read_optional(call, 5)};
    double *counts = reference_read_optional(call, 6);
    bool left = reference_flag(call, 0), integer = !task_is_float(x->type);
    bool dynamic = strcmp(reference_text(call, 1), "dynamic") == 0;
    int64_t half = x->dims[x->rank - 1] / 2, rows = half ? x->elements / half / 2 : 0, group = 0;
    double *row = reference_numbers(call, 2 * half), until = counts ? counts[0] : (double)rows;
    reference_quantized(call, 0);
    for (int64_t r = 0; r < rows; r++) {
        while (counts && (double)r >= until)
            until += counts[++group];
        task_read_double(x, r * 2 * half, (int)(2 * half), row);
        dequant_row(steps, &in, row, half, r, group, left, integer);
        double largest = 0;
        for (int64_t i = 0; i < half; i++) {
            double scale = in.scale[group * half + i];
            row[i] = dynamic ? R(row[i] * scale) : R(R(row[i] / scale) + in.offset[group * half + i]);
            largest = fmax(largest, fabs(row[i]));
        }
        double out_scale = R(largest / 127), factor = R(127 / largest);
        for (int64_t i = 0; i < half; i++)
            row[i] = reference_int8(call, dynamic ? R(row[i] * factor) : row[i]);
        reference_store(call, 0, r * half, half, row);
        reference_store(call, 1, r, 1, &out_scale);
    }
}

/* Integers need a scale per column, the static form an offset; without groups all rows are one. */
static struct akgen_error *dequant_swiglu_quant_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *index = reference_optional(call, 6);
    bool integer = !task_is_float(x->type), fixed = strcmp(reference_text(call, 1), "static") == 0;
    int64_t rows = x->elements / x->dims[x->rank - 1], groups = index ? index->elements : 1, sum = 0, count;
    int64_t half = x->dims[x->rank - 1] / 2;
    if (integer && !reference_optional(call, 1))
        return error_new("x is %s and weight_scale absent: integers need it", akgen_dtype_name(x->type));
    if (fixed && !reference_optional(call, 5))
        return error_new("quant_mode is static and quant_offset absent: that mode needs it");
    if (reference_input(call, 4)->elements != groups * half)
        return error_new("quant_scale has %" PRId64 " elements, expected %" PRId64 " for %" PRId64 " groups",
                         reference_input(call, 4)->elements, groups * half, groups);
    for (int64_t g = 0; index && index->values && g < groups; g++) {
        task_read_integer(index, g, 1, &count);
        sum += count;
    }
    return !index || !index->values || sum >= rows
               ? NULL
               : error_new("group_index adds up to %" PRId64 ", x has %" PRId64 " rows", sum, rows);
}

const struct task_reference_entry task_references_gelu[] = {
    REFERENCE(gelu, "x floating (e) -> y =x (e)"),
    REFERENCE(fast_gelu_grad, "dy floating (e), x =dy (e) -> z =dy (e)"),
    REFERENCE(gelu_grad, "dy floating (e), x =dy (e), y =dy (e) -> z =dy (e)"),
    REFERENCE(ge_glu_v2, "x floating [*a:dim, 2*half, *b] -> y =x [*a, half, *b], gelu? =x [*a, half, *b]; dim int = "
                         "1, approximate int in 0..1 = 0, activate_left bool of true = true"),
    REFERENCE(ge_glu_grad_v2,
              "dy floating [*a, half, *b], x =dy [*a:dim, 2*half, *b], gelu =dy [*a, half, *b] -> dx =dy [*a, 2*half, "
              "*b]; dim int = 1, approximate int in 0..1 = 0, activate_left bool of true = true"),
    REFERENCE(swi_glu_grad, "y_grad floating [*a, half, *b], x =y_grad [*a:dim, 2*half, *b] -> x_grad =y_grad [*a, "
                            "2*half, *b]; dim int = 1"),
    REFERENCE(gelu_quant, "x floating [*rows, n], input_scale floating (1) or (n) '20', input_offset floating (1) or "
                          "(n) '1' -> y int8 [*rows, n], out_scale? float32 (*rows); approximate string of none/tanh = "
                          "none, quant_mode string of static/dynamic = static"),
    REFERENCE(
        dequant_swiglu_quant,
        "x float16/bfloat16/int32 [*rows, 2*half], weight_scale? float32 (g*2*half) 'rand', activation_scale? float32 "
        "(*rows) 'rand', bias? floating/int32 (2*half), quant_scale floating (g*half) 'rand + 0.1', quant_offset? "
        "float32 (g*half), group_index? index (g) in 0.. 'product($rows)' -> y int8 [*rows, half], scale? float32 "
        "(*rows); activate_left bool = false, quant_mode string of static/dynamic = static | size g 1",
        .fits = dequant_swiglu_quant_fits),
    {NULL, NULL, NULL, NULL},
};
