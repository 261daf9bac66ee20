/* Matrix products (level 3: GMM). Most modules widen to float32 first and yield float32, whatever the operator's output
 * is. Products are summed in double and rounded once, which lies within the error of any float32 order of summation;
 * products of integers are exact. */
#include "base/memory.h"
#include "task/reference/product.h"
#include "task/reference/reference.h"

#include <inttypes.h>
#include <stdlib.h>

#define R(value) reference_round(steps, value)

/* A matrix in a tensor, from element `first` on. */
struct operand {
    const struct task_tensor *tensor;
    int64_t first;
};

/* The product of two parts of tensors, as double; free it. */
static double *product_of(const struct product *shape, struct operand a, struct operand b)
{
    double *left = reference_part(a.tensor, a.first, shape->m * shape->k);
    double *right = reference_part(b.tensor, b.first, shape->k * shape->n);
    double *result = memory_alloc((size_t)(shape->m * shape->n + 1) * sizeof(double));
    reference_product(shape, left, right, result);
    free(left);
    free(right);
    return result;
}

/* d = a b (+ c), for each batch, in float32. a (batch.., m, k), b (batch.., k, n); c (m, n), or (n): added to each
 * row. */
static void wide_matmul(struct reference_call *call)
{
    const struct task_tensor *a = reference_input(call, 0), *b = reference_input(call, 1);
    const struct task_tensor *c = reference_optional(call, 2);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct product shape = {.m = a->dims[a->rank - 2], .k = a->dims[a->rank - 1], .n = b->dims[b->rank - 1]};
    int64_t size = shape.m * shape.n, batches = a->elements / (shape.m * shape.k);
    double *addend = c ? reference_part(c, 0, c->elements) : NULL;
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t batch = 0; batch < batches; batch++) {
        double *d = product_of(&shape, (struct operand){a, batch * shape.m * shape.k},
                               (struct operand){b, batch * shape.k * shape.n});
        for (int64_t i = 0; c && i < size; i++)
            d[i] = R(R(d[i]) + addend[i % c->elements]);
        task_write_double(reference_result(call, 0), batch * size, (int)size, d);
        free(d);
    }
    free(addend);
}

/* Alpha a b + beta c. */
/* out = (alpha a) b + beta c, written at c's place: alpha scales a before the product. */
static void scaled_product(enum akgen_dtype steps, const struct product *shape, struct operand a, struct operand b,
                           struct operand c, double alpha, double beta, const struct task_tensor *out)
{
    int64_t size = shape->m * shape->n;
    double *left = reference_part(a.tensor, a.first, shape->m * shape->k);
    double *right = reference_part(b.tensor, b.first, shape->k * shape->n);
    double *old = reference_part(c.tensor, c.first, size), *result = memory_alloc((size_t)(size + 1) * sizeof(double));
    for (int64_t i = 0; i < shape->m * shape->k; i++)
        left[i] = R(alpha * left[i]);
    reference_product(shape, left, right, result);
    for (int64_t i = 0; i < size; i++)
        result[i] = R(R(result[i]) + R(beta * old[i]));
    task_write_double(out, c.first, (int)size, result);
    free(left);
    free(right);
    free(old);
    free(result);
}

/* c = alpha a b + beta c. */
static void gemm(struct reference_call *call)
{
    const struct task_tensor *a = reference_input(call, 0), *b = reference_input(call, 1);
    struct product shape = {.m = a->dims[0], .k = a->dims[1], .n = b->dims[1]};
    scaled_product(reference_steps(call, AKGEN_FLOAT), &shape, (struct operand){a, 0}, (struct operand){b, 0},
                   (struct operand){reference_input(call, 2), 0}, reference_attr(call, 0), reference_attr(call, 1),
                   reference_result(call, 0));
}

/* The same for several products whose matrices lie one behind the other; alpha and beta: one number per product; the
 * sizes are attributes. */
static void group_gemm(struct reference_call *call)
{
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    const struct task_tensor *alphas = reference_input(call, 3), *betas = reference_input(call, 4);
    struct operand a = {reference_input(call, 0), 0}, b = {reference_input(call, 1), 0};
    struct operand c = {reference_input(call, 2), 0};
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t g = 0; g < alphas->elements; g++) {
        struct product shape = {
            .m = reference_item(call, 0, g), .k = reference_item(call, 1, g), .n = reference_item(call, 2, g)};
        double alpha, beta;
        task_read_double(alphas, g, 1, &alpha);
        task_read_double(betas, g, 1, &beta);
        scaled_product(steps, &shape, a, b, c, alpha, beta, reference_result(call, 0));
        a.first += shape.m * shape.k;
        b.first += shape.k * shape.n;
        c.first += shape.m * shape.n;
    }
}

/* out = alpha (a x) + beta y: here the product is scaled. */
static void gemv(struct reference_call *call)
{
    const struct task_tensor *a = reference_input(call, 0), *y = reference_input(call, 2);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct product shape = {.m = a->dims[0], .k = a->dims[1], .n = 1};
    double *out = product_of(&shape, (struct operand){a, 0}, (struct operand){reference_input(call, 1), 0});
    double *old = reference_part(y, 0, shape.m);
    double alpha = reference_attr(call, 0), beta = reference_attr(call, 1);
    for (int64_t i = 0; i < shape.m; i++)
        out[i] = R(R(alpha * R(out[i])) + R(beta * old[i]));
    task_write_double(reference_result(call, 0), 0, (int)shape.m, out);
    free(out);
    free(old);
}

/* Groups. */
/* What the operators over groups share. The quantized ones multiply int8 and then by a factor per column and one per
 * row; the others multiply half, with sums in float32 and one rounding to half. Upstream compares all as float32. */
struct groups {
    enum akgen_dtype steps, module_type;
    const struct task_tensor *a, *b, *list, *out;
    const struct task_tensor *column_scale, *row_scale; /* NULL: not quantized */
};

static struct groups groups_of(struct reference_call *call, bool quantized, int list)
{
    struct groups groups = {.steps = reference_steps(call, AKGEN_FLOAT),
                            .module_type = reference_steps(call, AKGEN_FLOAT16),
                            .a = reference_input(call, 0),
                            .b = reference_input(call, 1),
                            .list = list == TASK_NONE ? NULL : reference_input(call, list)};
    if (quantized) {
        groups.column_scale = reference_input(call, 2);
        groups.row_scale = reference_input(call, 3);
    }
    reference_retype(call, 0, AKGEN_FLOAT);
    groups.out = reference_result(call, 0);
    return groups;
}

/* Multiplies, applies the factors from element `column` and `row` of their tensors on, and writes the result from
 * element `at` of the output on. */
static void group_product(const struct groups *groups, const struct product *shape, int64_t a_first, int64_t b_first,
                          int64_t column, int64_t row, int64_t at)
{
    enum akgen_dtype steps = groups->steps;
    double *result = product_of(shape, (struct operand){groups->a, a_first}, (struct operand){groups->b, b_first});
    if (groups->column_scale) {
        double *columns = reference_part(groups->column_scale, column, shape->n);
        double *rows = reference_part(groups->row_scale, row, shape->m);
        for (int64_t i = 0; i < shape->m; i++)
            for (int64_t j = 0; j < shape->n; j++)
                result[i * shape->n + j] = R(R(R(result[i * shape->n + j]) * columns[j]) * rows[i]);
        free(columns);
        free(rows);
    } else {
        for (int64_t i = 0; i < shape->m * shape->n; i++)
            result[i] = reference_round(groups->module_type, R(result[i]));
    }
    task_write_double(groups->out, at, (int)(shape->m * shape->n), result);
    free(result);
}

static int64_t group_end(const struct groups *groups, int64_t g)
{
    int64_t end;
    task_read_integer(groups->list, g, 1, &end);
    return end;
}

/* Group g multiplies the steps list[g - 1] .. list[g] - 1 of the common dimension; each yields an (m, n) matrix, zero
 * if it is empty. The memory of a (m, k) is read as (k, m). */
static void slice_k(struct reference_call *call, bool quantized, int list)
{
    struct groups groups = groups_of(call, quantized, list);
    struct product shape = {.m = groups.a->dims[0], .n = groups.b->dims[1], .a_transposed = true};
    for (int64_t g = 0, start = 0; g < groups.list->elements; g++) {
        int64_t end = group_end(&groups, g);
        shape.k = end - start;
        if (shape.k <= 0)
            continue; /* the output began as zero */
        group_product(&groups, &shape, start * shape.m, start * shape.n, g * shape.n, g * shape.m,
                      g * shape.m * shape.n);
        start = end;
    }
}

REFERENCE_VARIANT(grouped_matmul_slice_k, slice_k, false, 2)
REFERENCE_VARIANT(grouped_matmul_slice_k_dequant, slice_k, true, 4)

/* Group g multiplies the rows list[g - 1] .. list[g] - 1 of a by matrix g of b. */
static void slice_m(struct reference_call *call, bool quantized, int list)
{
    struct groups groups = groups_of(call, quantized, list);
    struct product shape = {.k = groups.a->dims[1], .n = groups.b->dims[2]};
    for (int64_t g = 0, start = 0; g < groups.list->elements; g++) {
        int64_t end = group_end(&groups, g);
        shape.m = end - start;
        if (shape.m <= 0)
            continue;
        group_product(&groups, &shape, start * shape.k, g * shape.k * shape.n, g * shape.n, start, start * shape.n);
        start = end;
    }
}

REFERENCE_VARIANT(grouped_matmul_slice_m, slice_m, false, 2)
REFERENCE_VARIANT(grouped_matmul_slice_m_dequant, slice_m, true, 4)

/* The quantized product without groups. */
static void quant_matmul(struct reference_call *call)
{
    struct groups groups = groups_of(call, true, TASK_NONE);
    struct product shape = {.m = groups.a->dims[0], .k = groups.a->dims[1], .n = groups.b->dims[1]};
    group_product(&groups, &shape, 0, 0, 0, 0, 0);
}

/* Each list of sizes has as many as there are products, and together they make up the tensors. */
static struct akgen_error *group_gemm_fits(const struct reference_call *call)
{
    static const char *const names[] = {"mList", "kList", "nList"};
    enum { M, K, N, LISTS };
    static const int rows[] = {M, K, M}, columns[] = {K, N, N};
    int64_t groups = reference_input(call, 3)->elements;
    for (int i = 0; i < LISTS; i++)
        if (reference_item_count(call, i) != groups)
            return error_new("attribute %s has %" PRId64 " sizes, alpha has %" PRId64, names[i],
                             reference_item_count(call, i), groups);
    for (int matrix = 0; matrix < LISTS; matrix++) {
        int64_t elements = 0, size;
        for (int64_t g = 0; g < groups; g++) {
            int64_t m = reference_item(call, rows[matrix], g), n = reference_item(call, columns[matrix], g);
            if (m < 0 || n < 0 || __builtin_mul_overflow(m, n, &size) ||
                __builtin_add_overflow(elements, size, &elements))
                return error_new("%s and %s hold %" PRId64 " and %" PRId64 ", which are no sizes", names[rows[matrix]],
                                 names[columns[matrix]], m, n);
        }
        if (elements != reference_input(call, matrix)->elements)
            return error_new("%s and %s make %" PRId64 " elements, input number %d has %" PRId64, names[rows[matrix]],
                             names[columns[matrix]], elements, matrix + 1, reference_input(call, matrix)->elements);
    }
    return NULL;
}

const struct task_reference_entry task_references_matmul[] = {
    REFERENCE(wide_matmul, "a floating [*batch, m, k], b =a [*batch, k, n], c? =a (m*n) or (n) -> d =a [*batch, m, n]"),
    REFERENCE(gemm, "a floating [m, k], b =a [k, n], c =a [m, n] -> c =a [m, n]; alpha float = 0.5, beta float = 0.25"),
    REFERENCE(group_gemm,
              "a float16 (a_size), b =a (b_size), c =a (c_size), alpha float32 (groups), beta float32 (groups) -> c =a "
              "(c_size); mList list_int = [2, 3], kList list_int = [4, 5], nList list_int = [3, 6] | size a_size [23] "
              "| size b_size [42] | size c_size [24] | size groups [2]",
              .fits = group_gemm_fits),
    REFERENCE(gemv, "a floating [m, n], x =a (n), y =a (m) -> out =a (m); alpha float = 0.5, beta float = 0.25"),
    REFERENCE(grouped_matmul_slice_k, "a float16 [m, k], b float16 [k, n], groupList index (g) in 0..k "
                                      "'sorted(randint(0, $k + 1))' -> c float16 (g*m*n)"),
    REFERENCE(grouped_matmul_slice_m, "a float16 [m, k], b float16 [g, k, n], groupList index (g) in 0..m "
                                      "'sorted(randint(0, $m + 1))' -> c float16 (m*n)"),
    REFERENCE(grouped_matmul_slice_k_dequant,
              "a int8 [m, k], b int8 [k, n], scale floating (g*n) 'rand', per_token_scale floating (g*m) 'rand', "
              "groupList index (g) in 0..k 'sorted(randint(0, $k + 1))' -> c floating (g*m*n)"),
    REFERENCE(grouped_matmul_slice_m_dequant,
              "a int8 [m, k], b int8 [g, k, n], scale floating (g*n) 'rand', per_token_scale floating (m) 'rand', "
              "groupList index (g) in 0..m 'sorted(randint(0, $m + 1))' -> c floating (m*n)"),
    REFERENCE(quant_matmul, "a int8 [m, k], b int8 [k, n], scale floating (n) 'rand', per_token_scale floating (m) "
                            "'rand' -> d floating [m, n]"),
    {NULL, NULL, NULL, NULL},
};
