/* References against values worked out by hand. With arguments it dumps a case for tests/peers/references_test.py:
 *   task_tests reference/reference_test TASK CASE SEED DIRECTORY
 * writes in<i>_<t>.bin and up<i>_<t>.bin, go<i>_<t>.bin and prints a JSON description. */
/* test: builds=both */
#include "task/task.h"
#include "task/task_internal.h"
#include "unit/unit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static void check(struct akgen_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static struct task_instance *instance_of(const char *name, int id)
{
    struct task *task = arena_alloc(&arena, sizeof *task);
    struct task_instance *instance = NULL;
    check(task_find(&arena, AKGEN_SOURCE_DIR, name, task));
    for (int i = 0; i < task->case_count; i++)
        if (task->cases[i].id == id)
            check(task_instance_make(task, &task->cases[i], 1, false, &instance));
    assert_non_null(instance);
    return instance;
}

static struct task_argument *expected_of(const struct task_instance *instance, enum task_profile profile)
{
    return task_reference(instance, profile);
}

static double at(const struct task_argument *argument, int64_t index)
{
    double value;
    task_read_double(&argument->tensors[0], index, 1, &value);
    return value;
}

static void put(struct task_argument *argument, int64_t index, double value)
{
    task_write_double(&argument->tensors[0], index, 1, &value);
}

static void addcmul_rounds_after_each_step(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("Addcmul", 0); /* float16, value 0.5 */
    put(&instance->inputs[0], 0, 1);
    put(&instance->inputs[1], 0, 1 + 0x1p-10);
    put(&instance->inputs[2], 0, 1 + 0x1p-10);
    struct task_argument *upstream = expected_of(instance, TASK_UPSTREAM), *golden = expected_of(instance, TASK_STRICT);
    /* (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20; half keeps 1 + 2^-9; halved and added to 1: 1.5 + 2^-10. */
    assert_true(at(&upstream[0], 0) == 1.5 + 0x1p-10);
    assert_true(at(&golden[0], 0) == 1.5 + 0x1p-10 + 0x1p-21);
    task_outputs_free(upstream);
    task_outputs_free(golden);
    task_instance_free(instance);
}

static void cross_follows_the_right_hand(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("Cross", 5); /* int32, vectors are contiguous */
    const double a[] = {1, 2, 3}, b[] = {4, 5, 6}, y[] = {-3, 6, -3};
    for (int k = 0; k < 3; k++) {
        put(&instance->inputs[0], k, a[k]);
        put(&instance->inputs[1], k, b[k]);
    }
    struct task_argument *outputs = expected_of(instance, TASK_UPSTREAM);
    for (int k = 0; k < 3; k++)
        assert_true(at(&outputs[0], k) == y[k]);
    task_outputs_free(outputs);
    task_instance_free(instance);
}

static void fill_and_arange_take_their_parameters(void **state)
{
    (void)state;
    struct task_instance *fill = instance_of("Fill", 7), *arange = instance_of("Arange", 6);
    struct task_argument *filled = expected_of(fill, TASK_UPSTREAM), *range = expected_of(arange, TASK_UPSTREAM);
    assert_int_equal(filled[0].tensors[0].elements, 512 * 3);
    assert_true(at(&filled[0], 1535) == -10);
    assert_int_equal(range[0].tensors[0].type, AKGEN_INT64);
    assert_int_equal(range[0].tensors[0].elements, 295); /* ceil((674 + 210) / 3) */
    assert_true(at(&range[0], 294) == -210 + 294 * 3);
    task_outputs_free(filled);
    task_outputs_free(range);
    task_instance_free(fill);
    task_instance_free(arange);
}

static void spence_has_its_known_values(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("Spence", 0); /* float32 */
    const double pi2 = 9.86960440108935861883, ln2 = 0.69314718055994530942;
    const double x[] = {0, 1, 2, 0.5, -1, 1.5, 0.25, 10};
    const double y[] = {pi2 / 6, 0, -pi2 / 12, pi2 / 12 - ln2 * ln2 / 2, NAN};
    for (int i = 0; i < 8; i++)
        put(&instance->inputs[0], i, x[i]);
    struct task_argument *golden = expected_of(instance, TASK_STRICT);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(at(&golden[0], i) - y[i]) < 1e-15);
    assert_true(isnan(at(&golden[0], 4)));
    /* Li2(z) as its power series, at z = 1 - x = -1/2 and 3/4; and the inversion at 10 from that at 1/10. */
    double low = 0, high = 0, tenth = 0;
    for (int k = 200; k > 0; k--) {
        low += pow(-0.5, k) / k / k;
        high += pow(0.75, k) / k / k;
    }
    for (int k = 1000; k > 0; k--)
        tenth += pow(0.9, k) / k / k;
    assert_true(fabs(at(&golden[0], 5) - low) < 1e-15 && fabs(at(&golden[0], 6) - high) < 1e-15);
    assert_true(fabs(at(&golden[0], 7) - (-tenth - log(10) * log(10) / 2)) < 1e-14);
    task_outputs_free(golden);
    task_instance_free(instance);
}

static void derived_inputs_follow_from_the_others(void **state)
{
    (void)state;
    struct task_instance *coalesce = instance_of("CoalesceSparse", 2); /* 64 entries in at most 100 places */
    const struct task_tensor *unique = &coalesce->inputs[0].tensors[0], *places = &coalesce->inputs[1].tensors[0];
    int64_t count = unique->elements;
    assert_true(count < 64 && count > 30);
    assert_int_equal(coalesce->outputs[0].tensors[0].dims[0], count);
    assert_int_equal(coalesce->outputs[1].tensors[0].elements, count);
    for (int e = 0; e < places->elements; e++)
        for (int f = 0; f < e; f++) {
            const struct task_argument *indices = &coalesce->inputs[2];
            bool same = at(indices, 2 * e) == at(indices, 2 * f) && at(indices, 2 * e + 1) == at(indices, 2 * f + 1);
            assert_int_equal(same, at(&coalesce->inputs[1], e) == at(&coalesce->inputs[1], f));
        }
    task_instance_free(coalesce);
    struct task_instance *repeat = instance_of("FeedsRepeat", 1); /* 96 times into 512 rows */
    double copies = 0;
    for (int i = 0; i < 96; i++)
        copies += at(&repeat->inputs[1], i);
    assert_true(copies > 300 && copies <= 512);
    task_instance_free(repeat);
    struct task_instance *scatter = instance_of("ScatterList", 3); /* three ranges within 64 */
    for (int i = 0; i < 3; i++) {
        double start = at(&scatter->inputs[1], 2 * i), length = at(&scatter->inputs[1], 2 * i + 1);
        assert_true(start >= 0 && length >= 1 && start + length <= 64);
    }
    task_instance_free(scatter);
}

/* Case 4: m 327, k 1152, n 554, two groups. The first slice has two steps, the second none. */
static void a_slice_of_k_is_used_transposed(void **state)
{
    (void)state;
    enum { M = 327, N = 554 };
    struct task_instance *instance = instance_of("GroupedMatmulSliceK", 4);
    struct task_argument *a = &instance->inputs[0], *b = &instance->inputs[1];
    put(&instance->inputs[2], 0, 2);
    put(&instance->inputs[2], 1, 2);
    put(a, 1, 2);     /* step 0, row 1 */
    put(a, M + 1, 3); /* step 1, row 1 */
    put(b, 5, 10);
    put(b, N + 5, 100);
    struct task_argument *outputs = expected_of(instance, TASK_UPSTREAM);
    assert_true(at(&outputs[0], N + 5) == 320);
    for (int64_t i = (int64_t)M * N; i < (int64_t)2 * M * N; i++)
        assert_true(at(&outputs[0], i) == 0);
    task_outputs_free(outputs);
    task_instance_free(instance);
}

/* Case 2: one sequence of 4 tokens and 24 keys, 8 heads of 512 + 64. Scores are zero: all weights are equal. */
static void mla_goes_through_the_block_table(void **state)
{
    (void)state;
    enum { SIZE = 512, BLOCK = 128, KEYS = 24 };
    struct task_instance *instance = instance_of("Mla", 2);
    struct task_argument *cache = &instance->inputs[2];
    put(&instance->inputs[4], 0, 5);
    for (int64_t i = 0; i < cache->tensors[0].elements; i++)
        put(cache, i, 0);
    for (int64_t i = 0; i < instance->inputs[3].tensors[0].elements; i++)
        put(&instance->inputs[3], i, 0);
    for (int64_t i = 0; i < instance->inputs[0].tensors[0].elements; i++)
        put(&instance->inputs[0], i, 0); /* scores are zero */
    put(cache, (5 * BLOCK + 3) * SIZE + 7, 1);
    put(cache, (5 * BLOCK + KEYS) * SIZE + 8, 1); /* beyond the keys */
    struct task_argument *outputs = expected_of(instance, TASK_STRICT);
    assert_true(fabs(at(&outputs[0], 7) - 1.0 / KEYS) < 1e-12);
    assert_true(at(&outputs[0], 8) == 0);
    task_outputs_free(outputs);
    task_instance_free(instance);
}

/* h_res[k, i] is the share of stream k that goes into stream i: its transpose would give another y. */
static void streams_go_where_h_res_says(void **state)
{
    (void)state;
    enum { N = 4, D = 384 };
    struct task_instance *post = instance_of("MhcPost", 4), *gradient = instance_of("MhcPostGrad", 4);
    for (int i = 0; i < N; i++) {
        put(&post->inputs[3], i, 0); /* h_post */
        for (int k = 0; k < N; k++) {
            put(&post->inputs[1], k * N + i, k == 1 && i == 2);
            put(&gradient->inputs[2], k * N + i, k == 1 && i == 2);
        }
    }
    put(&post->inputs[0], 1 * D, 3);
    put(&gradient->inputs[0], 2 * D, 5); /* dy of stream 2 */
    struct task_argument *y = expected_of(post, TASK_UPSTREAM), *dx = expected_of(gradient, TASK_UPSTREAM);
    for (int stream = 0; stream < N; stream++) {
        assert_true(at(&y[0], (int64_t)stream * D) == (stream == 2 ? 3 : 0));
        assert_true(at(&dx[0], (int64_t)stream * D) == (stream == 1 ? 5 : 0));
    }
    task_outputs_free(y);
    task_outputs_free(dx);
    task_instance_free(post);
    task_instance_free(gradient);
}

/* What a forward pass would have handed over: counts add up, probabilities too, rows are normalised. */
static void derived_inputs_are_consistent(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("DequantSwigluQuant", 16); /* 64 rows in 41 groups */
    double sum = 0;
    for (int i = 0; i < 41; i++) {
        assert_true(at(&instance->inputs[6], i) >= 0);
        sum += at(&instance->inputs[6], i);
    }
    assert_true(sum == 64);
    task_instance_free(instance);
    instance = instance_of("CrossEntropyLossGrad", 0); /* 4 rows of 10, float32 */
    for (int row = 0; row < 4; row++) {
        double probability = 0;
        for (int i = 0; i < 10; i++)
            probability += exp(at(&instance->inputs[1], row * 10 + i));
        assert_true(fabs(probability - 1) < 1e-6);
    }
    task_instance_free(instance);
    instance = instance_of("AddLayerNormGrad", 5); /* (1, 2, 8), float32 */
    for (int row = 0; row < 2; row++) {
        double squares = 0, mean = at(&instance->inputs[4], row), rstd = at(&instance->inputs[3], row);
        sum = 0;
        for (int i = row * 8; i < row * 8 + 8; i++) {
            double x = at(&instance->inputs[1], i) + at(&instance->inputs[2], i) - mean;
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum) < 1e-5 && fabs((squares / 8 + 1e-5) * rstd * rstd - 1) < 1e-5);
    }
    task_instance_free(instance);
}

static void only_judged_outputs_are_expected(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("AddLayerNorm", 9); /* additional_out false */
    struct task_argument *upstream = expected_of(instance, TASK_UPSTREAM), *golden = expected_of(instance, TASK_STRICT);
    assert_int_equal(upstream[0].count, 1);
    assert_int_equal(upstream[1].count, 0); /* mean: strict only */
    assert_int_equal(upstream[3].count, 0); /* x: not asked for */
    assert_int_equal(golden[1].count, 1);
    assert_int_equal(golden[3].count, 0);
    double sum = 0, x1, x2, bias;
    for (int i = 0; i < 64; i++) {
        x1 = at(&instance->inputs[0], i), x2 = at(&instance->inputs[1], i), bias = at(&instance->inputs[4], i);
        sum += x1 + x2 + bias;
    }
    assert_true(at(&golden[1], 0) - sum / 64 < 1e-12 && sum / 64 - at(&golden[1], 0) < 1e-12);
    task_outputs_free(upstream);
    task_outputs_free(golden);
    task_instance_free(instance);
}

static void foreach_rounds_off_as_the_mode_says(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("ForeachRoundOffNumber", 3); /* float32, 20 elements */
    const double x[] = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25};
    const double y[8][7] = {
        {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25}, /* no such mode */
        {-2, -2, 0, 0, 2, 2, 2},
        {-3, -2, -1, 0, 1, 2, 2},
        {-2, -1, 0, 1, 2, 3, 3},
        {-3, -2, -1, 1, 2, 3, 2},
        {-2, -1, 0, 0, 1, 2, 2},
        {-3, -1, -1, 1, 1, 3, 2},
        {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5, 0.25},
    };
    for (int i = 0; i < 7; i++)
        put(&instance->inputs[0], i, x[i]);
    for (int mode = 0; mode < 8; mode++) {
        put(&instance->inputs[1], 0, mode);
        struct task_argument *outputs = expected_of(instance, TASK_UPSTREAM);
        for (int i = 0; i < 7; i++)
            if (at(&outputs[0], i) != y[mode][i])
                fail_msg("mode %d of %g is %g, not %g", mode, x[i], at(&outputs[0], i), y[mode][i]);
        task_outputs_free(outputs);
    }
    task_instance_free(instance);
}

static void a_scale_of_zero_clears_nan(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("ForeachNonFiniteCheckAndUnscale", 0);
    for (int scale = 0; scale < 2; scale++) {
        put(&instance->inputs[0], 0, NAN);
        put(&instance->inputs[2], 0, scale);
        struct task_argument *outputs = expected_of(instance, TASK_STRICT);
        assert_true(at(&outputs[1], 0) == 1);
        assert_true(scale ? isnan(at(&outputs[0], 0)) : at(&outputs[0], 0) == 0);
        task_outputs_free(outputs);
    }
    task_instance_free(instance);
}

static void norms_of_every_order(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("ForeachNorm", 15); /* float32, 1 and 15 elements */
    struct task_argument second = {.tensors = &instance->inputs[0].tensors[1], .count = 1};
    const double values[] = {3, -4, 12}, orders[] = {0, 1, 2, INFINITY, 3},
                 norms[] = {3, 19, 13, 12, cbrt(27 + 64 + 1728)};
    for (int i = 0; i < 15; i++)
        put(&second, i, i < 3 ? values[i] : 0);
    instance->inputs[1].tensors[0].type = AKGEN_FLOAT; /* int64 has no infinity */
    for (int i = 0; i < 5; i++) {
        put(&instance->inputs[1], 0, orders[i]);
        struct task_argument *outputs = expected_of(instance, TASK_STRICT);
        struct task_argument norm = {.tensors = &outputs[0].tensors[1], .count = 1};
        assert_int_equal(norm.tensors->rank, 0);
        assert_true(fabs(at(&norm, 0) - norms[i]) < 1e-12);
        task_outputs_free(outputs);
    }
    task_instance_free(instance);
}

static void foreach_integers_wrap(void **state)
{
    (void)state;
    struct task_instance *instance = instance_of("ForeachPowScalar", 8); /* int32 */
    const double cases[][3] = {{3, 4, 81}, {-3, 3, -27}, {2, 32, 0}, {3, 21, 1870418611},
                               {5, 0, 1},  {-1, -3, -1}, {2, -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(&instance->inputs[0], 0, cases[i][0]);
        put(&instance->inputs[1], 0, cases[i][1]);
        struct task_argument *outputs = expected_of(instance, TASK_UPSTREAM);
        assert_true(at(&outputs[0], 0) == cases[i][2]);
        task_outputs_free(outputs);
    }
    task_instance_free(instance);
}

/* A number without dimensions becomes bfloat16 in torch, one of one dimension makes the result float32. */
static void a_number_widens_bfloat16_by_its_dimensions(void **state)
{
    (void)state;
    struct task_instance *widened = instance_of("ForeachSubScalar", 6), *kept = instance_of("ForeachMulScalar", 6);
    put(&widened->inputs[0], 0, 1);
    put(&widened->inputs[1], 0, 0x1p-12);
    put(&kept->inputs[0], 0, 3);
    put(&kept->inputs[1], 0, 1 + 0x1p-12);
    struct task_argument *difference = expected_of(widened, TASK_UPSTREAM), *product = expected_of(kept, TASK_UPSTREAM);
    assert_int_equal(difference[0].tensors[0].type, AKGEN_FLOAT);
    assert_true(at(&difference[0], 0) == 1 - 0x1p-12);
    assert_int_equal(product[0].tensors[0].type, AKGEN_BF16);
    assert_true(at(&product[0], 0) == 3);
    task_outputs_free(difference);
    task_outputs_free(product);
    task_instance_free(widened);
    task_instance_free(kept);
}

/* Dumping. */
static json_t *dump(const char *directory, const char *prefix, const struct task_argument *arguments, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *tensors = json_array();
        for (int t = 0; t < arguments[i].count; t++) {
            const struct task_tensor *tensor = &arguments[i].tensors[t];
            char path[512];
            snprintf(path, sizeof path, "%s/%s%d_%d.bin", directory, prefix, i, t);
            FILE *file = fopen(path, "we");
            if (!file || fwrite(tensor->values, akgen_dtype_size(tensor->type), (size_t)tensor->elements, file) !=
                             (size_t)tensor->elements)
                exit(3);
            fclose(file);
            json_t *dims = json_array();
            for (int d = 0; d < tensor->rank; d++)
                json_array_append_new(dims, json_integer(tensor->dims[d]));
            json_array_append_new(tensors, json_pack("{s:s,s:s,s:o}", "path", path, "dtype",
                                                     akgen_dtype_name(tensor->type), "shape", dims));
        }
        json_array_append_new(list, tensors);
    }
    return list;
}

static int dump_case(char **argv)
{
    struct task_instance *instance;
    struct task task;
    struct akgen_error *error = task_find(&arena, AKGEN_SOURCE_DIR, argv[1], &task);
    int row = 0;
    while (!error && row < task.case_count && task.cases[row].id != atoi(argv[2]))
        row++;
    if (!error && row == task.case_count)
        return 2;
    if (!error)
        error = task_instance_make(&task, &task.cases[row], strtoull(argv[3], NULL, 10), false, &instance);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    struct task_argument *upstream = expected_of(instance, TASK_UPSTREAM), *golden = expected_of(instance, TASK_STRICT);
    json_t *attrs = json_object(), *columns = json_object();
    for (int i = 0; i < task.attr_count; i++)
        json_object_set(attrs, task.attrs[i].name, instance->attrs[i]);
    for (int i = 0; i < instance->task->columns.count; i++)
        json_object_set_new(columns, instance->task->columns.names[i], json_string(instance->cells[i].text));
    json_t *root = json_pack("{s:o,s:o,s:o,s:o,s:o}", "inputs", dump(argv[4], "in", instance->inputs, task.input_count),
                             "upstream", dump(argv[4], "up", upstream, task.output_count), "golden",
                             dump(argv[4], "go", golden, task.output_count), "attrs", attrs, "columns", columns);
    json_dumpf(root, stdout, JSON_INDENT(1));
    json_decref(root);
    task_outputs_free(upstream);
    task_outputs_free(golden);
    task_instance_free(instance);
    arena_free(&arena);
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    if (unit_argc == 5)
        return dump_case(unit_argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addcmul_rounds_after_each_step),
        cmocka_unit_test(cross_follows_the_right_hand),
        cmocka_unit_test(fill_and_arange_take_their_parameters),
        cmocka_unit_test(spence_has_its_known_values),
        cmocka_unit_test(derived_inputs_follow_from_the_others),
        cmocka_unit_test(only_judged_outputs_are_expected),
        cmocka_unit_test(foreach_rounds_off_as_the_mode_says),
        cmocka_unit_test(a_scale_of_zero_clears_nan),
        cmocka_unit_test(norms_of_every_order),
        cmocka_unit_test(foreach_integers_wrap),
        cmocka_unit_test(a_number_widens_bfloat16_by_its_dimensions),
        cmocka_unit_test(a_slice_of_k_is_used_transposed),
        cmocka_unit_test(streams_go_where_h_res_says),
        cmocka_unit_test(mla_goes_through_the_block_table),
        cmocka_unit_test(derived_inputs_are_consistent),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
