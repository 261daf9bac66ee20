/* Operators over lists of tensors (level 2: Foreach). Tensor t of each list has the shape of tensor t of the output.
 * Nearly all are maps: one line in FOREACH_MAPS says which inputs an operator has and in which type torch computes. */
#include "task/reference/reference.h"

#include <math.h>
#include <string.h>

#define R(value) reference_round(steps, value)

/* One element: y = f(x), rounded once. */
#define UNARY(name, formula)                                                                                           \
    static double name##_op(enum akgen_dtype steps, const double *elements, const double *c)                           \
    {                                                                                                                  \
        double x = elements[0];                                                                                        \
        (void)c;                                                                                                       \
        return R(formula);                                                                                             \
    }
UNARY(foreach_abs, fabs(x))
UNARY(foreach_acos, acos(x))
UNARY(foreach_asin, asin(x))
UNARY(foreach_atan, atan(x))
UNARY(foreach_copy, x)
UNARY(foreach_cos, cos(x))
UNARY(foreach_cosh, cosh(x))
UNARY(foreach_erf, erf(x))
UNARY(foreach_erfc, erfc(x))
UNARY(foreach_exp, exp(x))
UNARY(foreach_expm1, expm1(x))
UNARY(foreach_log, log(x))
UNARY(foreach_log10, log10(x))
UNARY(foreach_log1p, log(R(x + 1))) /* the module's words: log(x + 1) */
UNARY(foreach_log2, log2(x))
UNARY(foreach_neg, -x)
UNARY(foreach_reciprocal, 1 / x)
UNARY(foreach_sigmoid, 1 / (1 + exp(-x)))
UNARY(foreach_sign, isnan(x) ? x : (x > 0) - (x < 0))
UNARY(foreach_sin, sin(x))
UNARY(foreach_sinh, sinh(x))
UNARY(foreach_sqrt, sqrt(x))
UNARY(foreach_tan, tan(x))
UNARY(foreach_tanh, tanh(x))

/* One element: y = f(x1, x2, .., a), a a number of the whole tensor. torch brings a number to the type it computes
 * in. */
#define MAP(name, formula)                                                                                             \
    static double name##_op(enum akgen_dtype steps, const double *x, const double *c)                                  \
    {                                                                                                                  \
        double a = c ? R(c[0]) : 0;                                                                                    \
        (void)a;                                                                                                       \
        return R(formula);                                                                                             \
    }
static double larger(double x, double y)
{
    return isnan(x) || x > y ? x : y;
}
static double smaller(double x, double y)
{
    return isnan(x) || x < y ? x : y;
}
MAP(add_scaled, x[0] + R(x[1] * a))
MAP(subtract_scaled, x[0] - R(x[1] * a))
MAP(add_number, x[0] + a)
MAP(subtract_number, x[0] - a)
MAP(multiply_number, x[0] * a)
MAP(divide_number, x[0] / a)
MAP(multiply, x[0] * x[1])
MAP(divide, x[0] / x[1])
MAP(maximum, larger(x[0], x[1]))
MAP(minimum, smaller(x[0], x[1]))
MAP(maximum_number, larger(x[0], a))
MAP(minimum_number, smaller(x[0], a))
MAP(addcdiv, x[0] + R(R(x[1] / x[2]) * a))
MAP(addcmul, x[0] + R(R(a * x[1]) * x[2]))
MAP(power_of_x, pow(x[0], a))
MAP(power_of_number, pow(a, x[0]))

/* y = x1 + a (x2 - x1) as torch.lerp computes it: from the nearer end. */
static double lerp_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double difference = R(x[1] - x[0]);
    return c[0] < 0.5 ? R(x[0] + R(c[0] * difference)) : R(x[1] - R(difference * R(1 - c[0])));
}

/* addcdiv of bfloat16 tensors with a float32 number of one dimension: torch divides in bfloat16 and goes on in
 * float32. */
static double addcdiv_widened_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double quotient = steps == AKGEN_FLOAT ? reference_round(AKGEN_BF16, x[1] / x[2]) : x[1] / x[2];
    return R(x[0] + R(quotient * c[0]));
}

/* y = x rounded to an integer; number a says how. torch rounds x + 0.5 and x - 0.5 to the type; mode 6 lets halves go
 * to the odd neighbour. */
static double round_off_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double whole = trunc(x[0]);
    switch ((int)c[0]) {
    case 1:
        return rint(x[0]);
    case 2:
        return floor(x[0]);
    case 3:
        return ceil(x[0]);
    case 4:
        return x[0] >= 0 ? floor(R(x[0] + 0.5)) : ceil(R(x[0] - 0.5));
    case 5:
        return whole;
    case 6:
        if (fabs(x[0] - whole) != 0.5)
            return rint(x[0]);
        return fmod(whole, 2) == 0 ? whole + copysign(1, x[0]) : whole;
    case 7:
        return x[0] - whole;
    default:
        return x[0];
    }
}

/* The same for integers, modulo 2^64; the output's type wraps. */
#define U(value) ((uint64_t)(value))
#define INTEGER(name, formula)                                                                                         \
    static int64_t name##_integer(const int64_t *x, const double *c)                                                   \
    {                                                                                                                  \
        int64_t a = c ? reference_whole(c[0]) : 0;                                                                     \
        (void)a;                                                                                                       \
        return (int64_t)(formula);                                                                                     \
    }
INTEGER(add_scaled, U(x[0]) + U(x[1]) * U(a))
INTEGER(subtract_scaled, U(x[0]) - U(x[1]) * U(a))
INTEGER(add_number, U(x[0]) + U(a))
INTEGER(subtract_number, U(x[0]) - U(a))
INTEGER(multiply_number, U(x[0]) * U(a))
INTEGER(multiply, U(x[0]) * U(x[1]))
INTEGER(addcmul, U(x[0]) + U(a) * U(x[1]) * U(x[2]))
INTEGER(maximum, x[0] > x[1] ? x[0] : x[1])
INTEGER(minimum, x[0] < x[1] ? x[0] : x[1])
INTEGER(maximum_number, x[0] > a ? x[0] : a)
INTEGER(minimum_number, x[0] < a ? x[0] : a)
INTEGER(foreach_copy, x[0])
INTEGER(foreach_sign, (x[0] > 0) - (x[0] < 0))

/* base^exponent modulo 2^64; torch: a negative exponent gives 0, but for the bases 1 and -1. */
static int64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint64_t power = 1, square = (uint64_t)base;
    for (; exponent; exponent >>= 1, square *= square)
        power *= exponent & 1 ? square : 1;
    return (int64_t)power;
}
INTEGER(power_of_x, integer_power(x[0], a))
INTEGER(power_of_number, integer_power(a, x[0]))

/* Maps over lists. */
/* In which type the module computes and what its result is, where that is not the tensors' own type. */
enum rule {
    NATIVE,       /* each step rounded to the tensors' type */
    BF16_ROUNDED, /* bfloat16 is computed in float32 and rounded once */
    BF16_WIDENED, /* bfloat16 with a float32 tensor of one dimension: torch's result is float32 */
    FLOAT32,      /* every floating type is computed in float32 and rounded once */
};
enum numbers { NO_NUMBER, ONE_NUMBER, NUMBER_PER_TENSOR };
struct foreach_map {
    reference_op *op;
    reference_integer_op *integer_op;
    int lists;            /* of tensors */
    enum numbers numbers; /* in the input after the lists, or before them: */
    bool number_first;
    enum rule rule;
    const char *needs; /* its signature */
};

#define FOREACH_MAPS(X)                                                                                                \
    X(foreach_abs, foreach_abs_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_acos, foreach_acos_op, NULL, 1, NO_NUMBER, false, NATIVE,                                                \
      "x list floating (@e) 'uniform(-0.9, 0.9)' -> y list =x (@e)")                                                   \
    X(foreach_add_list, add_scaled_op, add_scaled_integer, 2, ONE_NUMBER, false, BF16_ROUNDED,                         \
      "x1 list number (@e), x2 list =x1 (@e), alpha floating/int32/int64 (1) '2' -> y list =x1 (@e)")                  \
    X(foreach_add_scalar, add_number_op, add_number_integer, 1, ONE_NUMBER, false, NATIVE,                             \
      "x list number (@e), scalar floating/int32/int64 (1) '2' -> y list =x (@e)")                                     \
    X(foreach_add_scalar_list, add_number_op, add_number_integer, 1, NUMBER_PER_TENSOR, false, FLOAT32,                \
      "x list number (@e), scalars floating/int32/int64 (#x) '2' -> y list =x (@e)")                                   \
    X(foreach_addcdiv_list, addcdiv_op, NULL, 3, NUMBER_PER_TENSOR, false, NATIVE,                                     \
      "x1 list floating (@e), x2 list =x1 (@e), x3 list =x1 (@e) 'rand + 1', scalars floating/int32/int64 (#x1) '2' "  \
      "-> y list =x1 (@e)")                                                                                            \
    X(foreach_addcmul_list, addcmul_op, addcmul_integer, 3, NUMBER_PER_TENSOR, false, BF16_WIDENED,                    \
      "x1 list number (@e), x2 list =x1 (@e), x3 list =x1 (@e), scalars floating/int32/int64 (#x1) '2' -> y list =x1 " \
      "(@e)")                                                                                                          \
    X(foreach_addcmul_scalar, addcmul_op, addcmul_integer, 3, ONE_NUMBER, false, NATIVE,                               \
      "x1 list number (@e), x2 list =x1 (@e), x3 list =x1 (@e), scalar floating/int32/int64 (1) '2' -> y list =x1 "    \
      "(@e)")                                                                                                          \
    X(foreach_addcmul_scalar_list, addcmul_op, addcmul_integer, 3, NUMBER_PER_TENSOR, false, NATIVE,                   \
      "x1 list number (@e), x2 list =x1 (@e), x3 list =x1 (@e), scalars floating/int32/int64 (#x1) '2' -> y list =x1 " \
      "(@e)")                                                                                                          \
    X(foreach_asin, foreach_asin_op, NULL, 1, NO_NUMBER, false, NATIVE,                                                \
      "x list floating (@e) 'uniform(-0.9, 0.9)' -> y list =x (@e)")                                                   \
    X(foreach_atan, foreach_atan_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")      \
    X(foreach_copy, foreach_copy_op, foreach_copy_integer, 1, NO_NUMBER, false, NATIVE,                                \
      "x list number/uint64/bool/float64 (@e) -> y list =x (@e) | trivial copy: the operator copies")                  \
    X(foreach_cos, foreach_cos_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_cosh, foreach_cosh_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")      \
    X(foreach_div_list, divide_op, NULL, 2, NO_NUMBER, false, NATIVE,                                                  \
      "x1 list floating (@e), x2 list =x1 (@e) 'rand + 1' -> y list =x1 (@e)")                                         \
    X(foreach_div_scalar, divide_number_op, NULL, 1, ONE_NUMBER, false, BF16_WIDENED,                                  \
      "x list floating (@e), scalar floating/int32/int64 (1) '2' -> y list =x (@e)")                                   \
    X(foreach_div_scalar_list, divide_number_op, NULL, 1, NUMBER_PER_TENSOR, false, NATIVE,                            \
      "x list floating (@e), scalars floating/int32/int64 (#x) '2' -> y list =x (@e)")                                 \
    X(foreach_erf, foreach_erf_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_erfc, foreach_erfc_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")      \
    X(foreach_exp, foreach_exp_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_expm1, foreach_expm1_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")    \
    X(foreach_lerp_scalar, lerp_op, NULL, 2, ONE_NUMBER, false, FLOAT32,                                               \
      "x1 list floating (@e), x2 list =x1 (@e), weight floating (1) '0.25' -> y list =x1 (@e)")                        \
    X(foreach_log, foreach_log_op, NULL, 1, NO_NUMBER, false, NATIVE,                                                  \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_log10, foreach_log10_op, NULL, 1, NO_NUMBER, false, NATIVE,                                              \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_log1p, foreach_log1p_op, NULL, 1, NO_NUMBER, false, NATIVE,                                              \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_log2, foreach_log2_op, NULL, 1, NO_NUMBER, false, NATIVE,                                                \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_maximum_list, maximum_op, maximum_integer, 2, NO_NUMBER, false, NATIVE,                                  \
      "x1 list number (@e), x2 list =x1 (@e) -> y list =x1 (@e)")                                                      \
    X(foreach_maximum_scalar, maximum_number_op, maximum_number_integer, 1, ONE_NUMBER, false, BF16_WIDENED,           \
      "x list number (@e), scalar floating/int32/int64 (1) '1' -> y list =x (@e)")                                     \
    X(foreach_minimum_list, minimum_op, minimum_integer, 2, NO_NUMBER, false, NATIVE,                                  \
      "x1 list number (@e), x2 list =x1 (@e) -> y list =x1 (@e)")                                                      \
    X(foreach_minimum_scalar, minimum_number_op, minimum_number_integer, 1, ONE_NUMBER, false, BF16_WIDENED,           \
      "x list number (@e), scalar floating/int32/int64 (1) '1' -> y list =x (@e)")                                     \
    X(foreach_mul_list, multiply_op, multiply_integer, 2, NO_NUMBER, false, NATIVE,                                    \
      "x1 list number (@e), x2 list =x1 (@e) -> y list =x1 (@e)")                                                      \
    X(foreach_mul_scalar, multiply_number_op, multiply_number_integer, 1, ONE_NUMBER, false, NATIVE,                   \
      "x list number (@e), scalar floating/int32/int64 (1) '2' -> y list =x (@e)")                                     \
    X(foreach_mul_scalar_list, multiply_number_op, multiply_number_integer, 1, NUMBER_PER_TENSOR, false, NATIVE,       \
      "x list number (@e), scalars floating/int32/int64 (#x) '2' -> y list =x (@e)")                                   \
    X(foreach_neg, foreach_neg_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_pow_scalar, power_of_x_op, power_of_x_integer, 1, ONE_NUMBER, false, NATIVE,                             \
      "x list number (@e), scalar floating/int32/int64 (1) '2' -> y list =x (@e)")                                     \
    X(foreach_pow_scalar_and_tensor, power_of_number_op, power_of_number_integer, 1, ONE_NUMBER, true, NATIVE,         \
      "scalar floating/int32/int64 (1) '2', x list number (@e) 'is_float($dtype) ? rand : randint(0, 6)' -> y list "   \
      "=x (@e)")                                                                                                       \
    X(foreach_reciprocal, foreach_reciprocal_op, NULL, 1, NO_NUMBER, false, NATIVE,                                    \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_round_off_number, round_off_op, NULL, 1, ONE_NUMBER, false, NATIVE,                                      \
      "x list floating (@e) 'uniform(-10.5, 10.5)', roundMode floating/int32/int64 (1) in 1..7 '1' -> y list =x (@e)") \
    X(foreach_sigmoid, foreach_sigmoid_op, NULL, 1, NO_NUMBER, false, NATIVE,                                          \
      "x list floating (@e) -> y list =x (@e)")                                                                        \
    X(foreach_sign, foreach_sign_op, foreach_sign_integer, 1, NO_NUMBER, false, NATIVE,                                \
      "x list number (@e) -> y list =x (@e)")                                                                          \
    X(foreach_sin, foreach_sin_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_sinh, foreach_sinh_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")      \
    X(foreach_sqrt, foreach_sqrt_op, NULL, 1, NO_NUMBER, false, NATIVE,                                                \
      "x list floating (@e) 'rand + 0.1' -> y list =x (@e)")                                                           \
    X(foreach_sub_list, subtract_scaled_op, subtract_scaled_integer, 2, ONE_NUMBER, false, BF16_WIDENED,               \
      "x1 list number (@e), x2 list =x1 (@e), alpha floating/int32/int64 (1) '2' -> y list =x1 (@e)")                  \
    X(foreach_sub_scalar, subtract_number_op, subtract_number_integer, 1, ONE_NUMBER, false, BF16_WIDENED,             \
      "x list number (@e), scalar floating/int32/int64 (1) '2' -> y list =x (@e)")                                     \
    X(foreach_sub_scalar_list, subtract_number_op, subtract_number_integer, 1, NUMBER_PER_TENSOR, false, NATIVE,       \
      "x list number (@e), scalars floating/int32/int64 (#x) '2' -> y list =x (@e)")                                   \
    X(foreach_tan, foreach_tan_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")        \
    X(foreach_tanh, foreach_tanh_op, NULL, 1, NO_NUMBER, false, NATIVE, "x list floating (@e) -> y list =x (@e)")

/* The numbers of a call, one per tensor where the operator has them. */
static double *read_numbers(const struct reference_call *call, int input, int tensors)
{
    const struct task_tensor *numbers = reference_input(call, input);
    int room = tensors > (int)numbers->elements ? tensors : (int)numbers->elements;
    double *values = reference_numbers(call, room);
    task_read_double(numbers, 0, (int)numbers->elements, values);
    return values;
}

static void map_lists(struct reference_call *call, const struct foreach_map *map)
{
    int first_list = map->number_first ? 1 : 0;
    enum akgen_dtype type = reference_list(call, first_list)->tensors[0].type, steps = type;
    if (map->rule == FLOAT32 || (map->rule != NATIVE && type == AKGEN_BF16))
        steps = AKGEN_FLOAT;
    if (map->rule == BF16_WIDENED && type == AKGEN_BF16)
        reference_retype(call, 0, AKGEN_FLOAT);
    int tensors = reference_results(call, 0)->count;
    double *numbers =
        map->numbers == NO_NUMBER ? NULL : read_numbers(call, map->number_first ? 0 : map->lists, tensors);
    for (int t = 0; t < tensors; t++) {
        const struct task_tensor *in[REFERENCE_ARITY], *out = &reference_results(call, 0)->tensors[t];
        const double *number = map->numbers == NUMBER_PER_TENSOR ? numbers + t : numbers;
        for (int l = 0; l < map->lists; l++)
            in[l] = &reference_list(call, first_list + l)->tensors[t];
        if (task_is_float(type))
            reference_map(map->op, reference_steps(call, steps), in, map->lists, number, out);
        else
            reference_map_integer(map->integer_op, in, map->lists, number, out);
    }
}

#define MAP_FUNCTION(name, ...)                                                                                        \
    static void name(struct reference_call *call)                                                                      \
    {                                                                                                                  \
        map_lists(call, &(const struct foreach_map){__VA_ARGS__});                                                     \
    }
FOREACH_MAPS(MAP_FUNCTION)

/* addcdiv with one number: for bfloat16 the quotient alone is bfloat16. */
static void foreach_addcdiv_scalar(struct reference_call *call)
{
    bool widened = reference_list(call, 0)->tensors[0].type == AKGEN_BF16;
    map_lists(call, &(struct foreach_map){.op = widened ? addcdiv_widened_op : addcdiv_op,
                                          .lists = 3,
                                          .numbers = ONE_NUMBER,
                                          .rule = BF16_WIDENED});
}

/* Not maps. */
/* x[t] = 0. Output memory starts as zeros. */
static void foreach_zero(struct reference_call *call)
{
    (void)call;
}

/* y[t] (one element) = (sum of |x[t]|^p)^(1/p) in float32, rounded once; p (1): also 0 (how many are not 0) and inf. */
static double norm_of(const struct task_tensor *x, double p)
{
    double sum = 0, block[REFERENCE_BLOCK];
    for (int64_t first = 0; first < x->elements; first += REFERENCE_BLOCK) {
        int n = x->elements - first < REFERENCE_BLOCK ? (int)(x->elements - first) : REFERENCE_BLOCK;
        task_read_double(x, first, n, block);
        for (int i = 0; i < n; i++) {
            double size = fabs(block[i]);
            if (isinf(p))
                sum = larger(sum, size);
            else
                sum += p == 0 ? size != 0 : p == 1 ? size : p == 2 ? size * size : pow(size, p);
        }
    }
    return isinf(p) || p == 0 || p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static void foreach_norm(struct reference_call *call)
{
    double p = reference_scalar(call, 1);
    for (int t = 0; t < reference_results(call, 0)->count; t++) {
        double y = norm_of(&reference_list(call, 0)->tensors[t], p);
        y = reference_round(reference_steps(call, AKGEN_FLOAT), y);
        task_write_double(&reference_results(call, 0)->tensors[t], 0, 1, &y);
    }
}

/* scaled_grads[t] *= inv_scale, found_inf = 1 if any element was inf or nan, else 0. A scale of 0 clears all, whatever
 * it was. The product is formed in float32. */
static void foreach_unscale(struct reference_call *call)
{
    const struct task_argument *list = reference_list(call, 0);
    double scale = reference_scalar(call, 2), found = reference_any_not_finite(list);
    for (int t = 0; scale != 0 && t < list->count; t++) {
        const struct task_tensor *in[] = {&list->tensors[t]};
        reference_map(multiply_number_op, reference_steps(call, AKGEN_FLOAT), in, 1, &scale,
                      &reference_results(call, 0)->tensors[t]);
    }
    task_write_double(reference_result(call, 1), 0, 1, &found);
}

#define ENTRY(name, op, integer_op, lists, numbers, number_first, rule, needs) REFERENCE(name, needs),
const struct task_reference_entry task_references_foreach[] = {
    FOREACH_MAPS(ENTRY) /* what is not a map: */
    REFERENCE(foreach_addcdiv_scalar, "x1 list floating (@e), x2 list =x1 (@e), x3 list =x1 (@e) 'rand + 1', scalar "
                                      "floating/int32/int64 (1) '2' -> y list =x1 (@e)"),
    REFERENCE(foreach_norm, "x list floating (@e), scalar floating/int32/int64 (1) '2' -> y list =x (1)"),
    REFERENCE(foreach_unscale,
              "scaled_grads list floating (@e) '$case_id % 2 == 0 ? plant(randn, inf) : randn', found_inf float32 (1) "
              "'zeros', inv_scale float32 (1) '0.5' -> scaled_grads list =scaled_grads (@e), found_inf float32 (1)"),
    REFERENCE(foreach_zero, "x list any (@e) 'ones' -> x list =x (@e) | trivial zero: the operator clears"),
    {NULL, NULL, NULL, NULL},
};
