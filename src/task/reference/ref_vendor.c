/* Operators of which timings of the vendor's kernels are published and that no suite has (benchmarks/vendor). */
#include "base/memory.h"
#include "task/reference/product.h"
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define R(value) reference_round(steps, value)

static int64_t whole(const struct task_tensor *tensor, int64_t index)
{
    int64_t value;
    task_read_integer(tensor, index, 1, &value);
    return value;
}

/* y[ids[i]] += x[i], row by row, from zeros on. */
static void segment_sum(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *ids = reference_input(call, 1);
    const struct task_tensor *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    int64_t entries = ids->elements, size = x->elements / entries;
    double *sums = reference_numbers(call, y->elements), *row = reference_numbers(call, size);
    for (int64_t i = 0; i < entries; i++) {
        double *sum = sums + whole(ids, i) * size;
        task_read_double(x, i * size, (int)size, row);
        for (int64_t k = 0; k < size; k++)
            sum[k] = task_is_float(x->type) ? R(sum[k] + row[k]) : sum[k] + row[k];
    }
    for (int64_t s = 0; s < y->dims[0]; s++)
        task_write_double(y, s * size, (int)size, sums + s * size);
}

/* Tokens that lie by rank, and within a rank by expert, come to lie by expert, and within an expert by rank. counts
 * (ranks, experts). Outputs: tokens, scales, where each comes from, and how many each expert has. */
static void moe_re_routing(struct reference_call *call)
{
    const struct task_tensor *tokens = reference_input(call, 0), *counts = reference_input(call, 1);
    const struct task_tensor *scales = reference_optional(call, 2), *out_scales = reference_output(call, 1);
    int64_t ranks = counts->dims[0], experts = counts->dims[1], size = tokens->dims[1], to = 0;
    for (int64_t e = 0; e < experts; e++) {
        double all = 0;
        int64_t from = 0;
        for (int64_t at = 0; at < ranks * experts; from += whole(counts, at++)) {
            if (at % experts != e)
                continue;
            for (int64_t i = 0; i < whole(counts, at); i++, to++) {
                double place = (double)(from + i);
                reference_copy(tokens, (from + i) * size, reference_result(call, 0), to * size, size);
                if (scales && out_scales)
                    reference_copy(scales, from + i, out_scales, to, 1);
                reference_store(call, 2, to, 1, &place);
            }
            all += (double)whole(counts, at);
        }
        reference_store(call, 3, e, 1, &all);
    }
}

static struct akgen_error *moe_re_routing_fits(const struct reference_call *call)
{
    const struct task_tensor *tokens = reference_input(call, 0), *counts = reference_input(call, 1);
    int64_t all = 0;
    for (int64_t i = 0; counts->values && i < counts->elements; i++)
        all += whole(counts, i);
    return !counts->values || all == tokens->dims[0]
               ? NULL
               : error_new("the counts add up to %" PRId64 ", there are %" PRId64 " tokens", all, tokens->dims[0]);
}

/* y[r] = skip1[r] + skip2[r] + the sum over j of scales[r][j] * (x[index[j * rows + r]] + bias[experts[r][j]]). */
static void moe_finalize_routing(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *index = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    const struct task_tensor *skip1 = reference_input(call, 2), *skip2 = reference_input(call, 3);
    const struct task_tensor *scales = reference_input(call, 4), *bias = reference_optional(call, 5);
    const struct task_tensor *experts = reference_optional(call, 6);
    int64_t rows = scales->dims[0], each = scales->dims[1], size = x->dims[1];
    double *sum = reference_numbers(call, size), *term = reference_numbers(call, size), scale;
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(skip1, r * size, (int)size, sum);
        task_read_double(skip2, r * size, (int)size, term);
        for (int64_t i = 0; i < size; i++)
            sum[i] = R(sum[i] + term[i]);
        for (int64_t j = 0; j < each; j++) {
            task_read_double(scales, r * each + j, 1, &scale);
            double *add = bias ? reference_part(bias, whole(experts, r * each + j) * size, size) : NULL;
            task_read_double(x, whole(index, j * rows + r) * size, (int)size, term);
            for (int64_t i = 0; i < size; i++)
                sum[i] = R(sum[i] + R(scale * (add ? R(term[i] + add[i]) : term[i])));
            free(add);
        }
        task_write_double(reference_result(call, 0), r * size, (int)size, sum);
    }
}

static struct akgen_error *moe_finalize_routing_fits(const struct reference_call *call)
{
    return !reference_optional(call, 5) == !reference_optional(call, 6)
               ? NULL
               : error_new("bias and experts_for_rows are both there or both absent");
}

/* Each pair (a, b) of a head becomes (a cos - b sin, b cos + a sin): neighbours, or elements half a head apart.
 * query, key (batch, length, heads, 2 half), cos, sin (length, half). */
static void rotary_embedding(struct reference_call *call)
{
    const struct task_tensor *cos = reference_input(call, 2);
    enum akgen_dtype steps = reference_steps(call, reference_input(call, 0)->type);
    bool neighbours = strcmp(reference_text(call, 0), "interleaved") == 0;
    int64_t length = cos->dims[0], half = cos->dims[1], size = 2 * half;
    double *c = reference_read_all(call, cos), *s = reference_read_all(call, reference_input(call, 3));
    double *from = reference_numbers(call, size), *to = reference_numbers(call, size);
    for (int of = 0; of < 2; of++) {
        const struct task_tensor *x = reference_input(call, of);
        int64_t heads = x->dims[2];
        for (int64_t at = 0; at < x->elements / size; at++) {
            const int64_t angle = at / heads % length * half;
            task_read_double(x, at * size, (int)size, from);
            for (int64_t i = 0; i < half; i++) {
                int64_t a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + half;
                to[a] = R(R(from[a] * c[angle + i]) - R(from[b] * s[angle + i]));
                to[b] = R(R(from[b] * c[angle + i]) + R(from[a] * s[angle + i]));
            }
            reference_store(call, of, at * size, size, to);
        }
    }
}

/* y = x with its axes in the order of perm: axis d of y is axis perm[d] of x. */
static void transpose(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    int64_t strides[TASK_MAX_RANK], stride = 1, place[TASK_MAX_RANK] = {0}, from = 0;
    for (int d = x->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= x->dims[d];
    }
    for (int64_t at = 0; at < x->elements; at++) {
        reference_copy(x, from, y, at, 1);
        for (int d = x->rank - 1; d >= 0; d--) {
            int axis = (int)reference_item(call, 0, d);
            from += strides[axis];
            if (++place[d] < x->dims[axis])
                break;
            from -= place[d] * strides[axis];
            place[d] = 0;
        }
    }
}

static struct akgen_error *transpose_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_output_shape(call, 0);
    bool fits = reference_item_count(call, 0) == x->rank && y->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++)
        fits = reference_item(call, 0, d) >= 0 && reference_item(call, 0, d) < x->rank &&
               y->dims[d] == x->dims[reference_item(call, 0, d)];
    return fits ? NULL : error_new("'perm' does not make y's shape of x's");
}

/* softmax(query key^T / sqrt(size)) value; heads / kv_heads heads share one of key and value. Causal: the last query sees
 * all keys, each before one less. query (batch, queries, heads, size), key, value (batch, keys, kv_heads, size). */
static void grouped_attention(struct reference_call *call)
{
    const struct task_tensor *query = reference_input(call, 0), *key = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t queries = query->dims[1], heads = query->dims[2], size = query->dims[3], keys = key->dims[1];
    int64_t kv_heads = key->dims[2], each = heads / kv_heads;
    bool causal = reference_flag(call, 0);
    struct product score = {.m = queries, .k = size, .n = keys, .b_transposed = true};
    struct product mix = {.m = queries, .k = keys, .n = size};
    double *q = reference_numbers(call, queries * size), *k = reference_numbers(call, keys * size);
    double *v = reference_numbers(call, keys * size), *weights = reference_numbers(call, queries * keys);
    for (int64_t at = 0; at < query->dims[0] * heads; at++) {
        int64_t batch = at / heads, head = at % heads, own = head / each;
        for (int64_t i = 0; i < queries; i++)
            task_read_double(query, ((batch * queries + i) * heads + head) * size, (int)size, q + i * size);
        for (int64_t i = 0; i < keys && head % each == 0; i++) {
            task_read_double(key, ((batch * keys + i) * kv_heads + own) * size, (int)size, k + i * size);
            task_read_double(reference_input(call, 2), ((batch * keys + i) * kv_heads + own) * size, (int)size,
                             v + i * size);
        }
        reference_product(&score, q, k, weights);
        for (int64_t i = 0; i < queries; i++) {
            int64_t seen = causal ? keys - queries + i + 1 : keys;
            double greatest = -INFINITY, sum = 0, *row = weights + i * keys;
            for (int64_t j = 0; j < seen; j++) {
                row[j] = R(row[j] / sqrt((double)size));
                greatest = fmax(greatest, row[j]);
            }
            for (int64_t j = 0; j < keys; j++)
                sum += row[j] = j < seen ? R(exp(row[j] - greatest)) : 0;
            for (int64_t j = 0; j < keys; j++)
                row[j] = R(row[j] / sum);
        }
        reference_product(&mix, weights, v, q);
        for (int64_t i = 0; i < queries; i++)
            task_write_double(reference_result(call, 0), ((batch * queries + i) * heads + head) * size, (int)size,
                              q + i * size);
    }
}

static struct akgen_error *grouped_attention_fits(const struct reference_call *call)
{
    int64_t queries = reference_input(call, 0)->dims[1], keys = reference_input(call, 1)->dims[1];
    return !reference_flag(call, 0) || queries <= keys
               ? NULL
               : error_new("%" PRId64 " queries and %" PRId64 " keys: causal attention has a key for each query",
                           queries, keys);
}

/* y = x ((weight + offset) scale) + bias, scale, offset and bias one number for each column. x (m, k), weight (k, n). */
static void weight_quant_matmul(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *weight = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct product shape = {.m = x->dims[0], .k = x->dims[1], .n = weight->dims[1]};
    double *left = reference_read_all(call, x), *right = reference_read_all(call, weight);
    double *scale = reference_read_all(call, reference_input(call, 2)), *offset = reference_read_optional(call, 3);
    double *bias = reference_read_optional(call, 4), *y = reference_numbers(call, shape.m * shape.n);
    for (int64_t i = 0; i < shape.k * shape.n; i++)
        right[i] = R((right[i] + (offset ? offset[i % shape.n] : 0)) * scale[i % shape.n]);
    reference_product(&shape, left, right, y);
    for (int64_t i = 0; bias && i < shape.m * shape.n; i++)
        y[i] = R(R(y[i]) + bias[i % shape.n]);
    for (int64_t r = 0; r < shape.m; r++)
        reference_store(call, 0, r * shape.n, shape.n, y + r * shape.n);
}

/* Rows of group g times weight[g], times the column's scale and the row's: o = silu(left half) * right half, which is
 * quantized by rows, scale = max|o| / 127 and y = o / scale. x (m, k), weight (groups, k, 2 half), ends (groups): behind
 * the last row of each. */
static void grouped_swiglu_quant(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *weight = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *scale = reference_read_all(call, reference_input(call, 2)),
           *row_scale = reference_read_all(call, reference_input(call, 3));
    struct product shape = {.k = x->dims[1], .n = weight->dims[2]};
    int64_t n = shape.n, half = n / 2, start = 0;
    reference_quantized(call, 0);
    for (int64_t g = 0; g < weight->dims[0]; g++) {
        int64_t end = whole(reference_input(call, 4), g);
        shape.m = end > start ? end - start : 0;
        double *left = reference_part(x, start * shape.k, shape.m * shape.k),
               *product = memory_alloc((size_t)(shape.m * n + 1) * sizeof *product);
        double *right = reference_part(weight, g * shape.k * n, shape.k * n);
        reference_product(&shape, left, right, product);
        for (int64_t r = 0; r < shape.m; r++) {
            double *o = product + r * n, most = 0;
            for (int64_t i = 0; i < n; i++)
                o[i] = R(R(o[i] * scale[g * n + i]) * row_scale[start + r]);
            for (int64_t i = 0; i < half; i++) {
                o[i] = R(R(o[i] / R(1 + R(exp(-o[i])))) * o[half + i]);
                most = fmax(most, fabs(o[i]));
            }
            double factor = R(127 / most), out_scale = R(most / 127);
            for (int64_t i = 0; i < half; i++)
                o[i] = reference_int8(call, R(o[i] * factor));
            reference_store(call, 0, (start + r) * half, half, o);
            reference_store(call, 1, start + r, 1, &out_scale);
        }
        start += shape.m;
        free(left);
        free(right);
        free(product);
    }
}

static struct akgen_error *grouped_swiglu_quant_fits(const struct reference_call *call)
{
    const struct task_tensor *ends = reference_input(call, 4);
    int64_t rows = reference_input(call, 0)->dims[0];
    return !ends->values || whole(ends, ends->elements - 1) == rows
               ? NULL
               : error_new("the groups end at %" PRId64 ", there are %" PRId64 " rows", whole(ends, ends->elements - 1),
                           rows);
}

const struct task_reference_entry task_references_vendor[] = {
    REFERENCE(segment_sum, "x floating/int32 [entries, *row], ids index (entries) in 0..segments-1 'randint(0, 3)' -> "
                           "y =x [segments, *row] | size segments 3 | size entries 5"),
    REFERENCE(moe_re_routing,
              "tokens any [rows, width], counts index [ranks, experts] in 0.. '2', scales? float32 (rows) -> out "
              "=tokens [rows, width], out_scales? float32 (rows), places? index (rows), of_experts? index (experts) | "
              "size rows 12 | size ranks 2 | size experts 3",
              .fits = moe_re_routing_fits),
    REFERENCE(
        moe_finalize_routing,
        "x floating [rows*each, width], index index (rows*each) in 0..rows*each-1 'arange', skip1 =x [rows, width], "
        "skip2 =x [rows, width], scales =x [rows, each], bias? =x [experts, width], experts_for_rows? index [rows, "
        "each] in 0..experts-1 '0' -> y =x [rows, width] | size rows 3 | size each 2 | size experts 2",
        .fits = moe_finalize_routing_fits),
    REFERENCE(rotary_embedding,
              "query floating [batch, length, heads, 2*half], key =query [batch, length, kv_heads, 2*half], cos =query "
              "[length, half], sin =query [length, half] -> query_out =query [batch, length, heads, 2*half], key_out "
              "=query [batch, length, kv_heads, 2*half]; mode string of half/interleaved = half"),
    REFERENCE(transpose,
              "x any [*shape] -> y =x [*turned]; perm list_int = [1, 0] | size shape [3, 5] | size turned [5, 3]",
              .fits = transpose_fits),
    REFERENCE(grouped_attention,
              "query floating [batch, queries, kv_heads*each, size], key =query [batch, keys, kv_heads, size], value "
              "=query [batch, keys, kv_heads, size] -> y =query [batch, queries, kv_heads*each, size]; causal bool = "
              "false | size keys 7 | size queries 3",
              .fits = grouped_attention_fits),
    REFERENCE(weight_quant_matmul,
              "x floating [m, k], weight int8 [k, n], scale =x (n), offset? =x (n), bias? float32 (n) -> y =x [m, n]"),
    REFERENCE(grouped_swiglu_quant,
              "x int8 [m, k], weight int8 [groups, k, 2*half], scale float32 [groups, 2*half], row_scale float32 (m), "
              "ends index (groups) in 0..m 'sorted(max(randint(0, $m + 1), (arange - ($groups - 2)) * $m))' -> y int8 "
              "[m, half], out_scale? float32 (m) | size m 4 | size groups 2",
              .fits = grouped_swiglu_quant_fits),
    {NULL, NULL, NULL, NULL},
};
