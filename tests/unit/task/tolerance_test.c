/* The strict comparison neither fails honest results nor passes wrong ones, for every task:
 *
 * - the published module's result in its own data types is right;
 * - so is any order of summation: a float32 sum in any order is the exact sum of terms that are off by a few roundings,
 *   so golden of inputs that are off by as much, each by another amount, stands for it (backward error);
 * - an element that is off by 16 times its limit is wrong. */
/* test: builds=both */
#include "base/random.h"
#include "task/task.h"
#include "task/task_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ELEMENTS = 40000 };
#define ROUNDINGS 0x1p-22 /* two units of float32's rounding in every input */

/* What is not expected of a task, and why. */
static const struct {
    const char *task;
    bool module; /* the module's own result need not be right, else: neither need that of moved inputs */
    const char *reason;
} exceptions[] = {
    {"BatchNormV3", true, "the module rounds mean and rstd to the type of x; the outputs are float32"},
    {"DeepNorm", true, "the module rounds mean and rstd to the type of x; the outputs are float32"},
    {"LayerNormV4", true, "the module rounds mean and rstd to the type of x; the outputs are float32"},
    {"RmsNormGrad", true, "the module forms the terms of dgamma in the type of x; the output is float32"},
    {"Equal", false, "equal inputs that are moved are not equal"},
    {"Less", false, "equal inputs that are moved are not equal"},
    {"LessEqual", false, "equal inputs that are moved are not equal"},
    {"ForeachRoundOffNumber", false, "rounding jumps"},
    {"ForeachPowScalar", false,
     "the exponent is an input of one element per tensor: a negative base needs a whole one"},
};
enum { EXCEPTIONS = sizeof exceptions / sizeof *exceptions };

static bool excepted(const struct task *task, bool module)
{
    for (int i = 0; i < EXCEPTIONS; i++)
        if (strcmp(task->op, exceptions[i].task) == 0 && exceptions[i].module == module &&
            strcmp(task->suite, "npukernelbench") == 0)
            return true;
    return false;
}

/* A reference's output as the operator's: rounded to its type. */
static void as_output(const struct task_tensor *from, struct task_tensor *to)
{
    int64_t n = task_scalars(from) < task_scalars(to) ? task_scalars(from) : task_scalars(to);
    int64_t step = to->type == AKGEN_COMPLEX64 && task_scalars(from) < task_scalars(to) ? 2 : 1; /* real parts */
    for (int64_t i = 0; i < n; i++) {
        double value;
        int64_t whole;
        if (task_is_float(from->type)) {
            task_read_double(from, i, 1, &value);
            if (!task_is_float(to->type))
                value = rint(value);
            task_write_double(to, i * step, 1, &value);
        } else {
            task_read_integer(from, i, 1, &whole);
            task_write_integer(to, i * step, 1, &whole);
        }
    }
}

static struct task_argument *as_outputs(struct arena *arena, const struct task_instance *instance,
                                        const struct task_argument *reference)
{
    int count = instance->task->output_count;
    struct task_argument *actual = arena_alloc(arena, sizeof *actual * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        actual[i] = instance->outputs[i];
        actual[i].tensors = arena_alloc(arena, sizeof *actual[i].tensors * (size_t)(actual[i].count + 1));
        for (int t = 0; t < actual[i].count; t++) {
            struct task_tensor *tensor = &actual[i].tensors[t];
            *tensor = instance->outputs[i].tensors[t];
            size_t bytes = (size_t)(tensor->elements + 1) * akgen_dtype_size(tensor->type);
            tensor->values = memset(arena_alloc(arena, bytes), 0, bytes);
            if (t < reference[i].count)
                as_output(&reference[i].tensors[t], tensor);
        }
    }
    return actual;
}

/* In [-1, 0], so that inputs stay in a domain that ends at 1. */
static double any_factor(void *state, int64_t index)
{
    (void)index;
    return -rng_uniform(state);
}

static void expect_right(const struct task_instance *instance, const struct task_argument *golden,
                         const struct task_argument *reference, const char *what)
{
    struct arena arena = {0};
    struct task_mismatch mismatch;
    task_compare(instance, TASK_STRICT, golden, as_outputs(&arena, instance, reference), &mismatch);
    if (!mismatch.ok)
        fail_msg("%s/%s case %d, %s: %s", instance->task->suite, instance->task->name, instance->task_case->id, what,
                 mismatch.reason);
    arena_free(&arena);
}

/* Golden for what upstream judges: what only strict judges the module does not yield. */
static void expect_module_is_right(const struct task_instance *instance)
{
    struct task_argument *module = task_reference(instance, TASK_UPSTREAM);
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    int counts[32];
    for (int i = 0; i < instance->task->output_count; i++) {
        counts[i] = golden[i].count;
        golden[i].count = module[i].count ? golden[i].count : 0;
    }
    expect_right(instance, golden, module, "the module's result");
    for (int i = 0; i < instance->task->output_count; i++)
        golden[i].count = counts[i];
    task_outputs_free(module);
    task_outputs_free(golden);
}

static void expect_any_order_is_right(const struct task_instance *instance)
{
    struct rng rng;
    rng_seed(&rng, 1);
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    struct task_argument *moved = task_reference_moved(instance, ROUNDINGS, any_factor, &rng);
    expect_right(instance, golden, moved, "inputs off by two roundings");
    task_outputs_free(moved);
    task_outputs_free(golden);
}

/* The limits of docs/tasks.md, without what depth and steepness add. */
static double limit_of(const struct task_tensor *golden, enum akgen_dtype type, double terms, double value)
{
    double sum = 0, largest = type == AKGEN_FLOAT16 ? 65504 : 0x1p127;
    int64_t count = 0;
    for (int64_t i = 0; i < golden->elements; i++) {
        double x;
        task_read_double(golden, i, 1, &x);
        if (isfinite(x) && fabs(x) <= largest) {
            sum += x * x;
            count++;
        }
    }
    double scale = fmax(terms, count ? sqrt(sum / (double)count) : 0);
    double relative = type == AKGEN_FLOAT16 ? 0x1p-8 : type == AKGEN_BF16 ? 0x1p-6 : 0x1p-14;
    return relative * (fabs(value) + scale) + (type == AKGEN_FLOAT16 ? 0x1p-24 : 0x1p-126);
}

static double widening(const struct task_instance *instance, int output);

/* Element 0 of output 0 off by 16 limits; false where the output has no such element. */
static bool far_off_is_wrong(const struct task_instance *instance)
{
    struct arena arena = {0};
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    struct task_mismatch mismatch = {.ok = false};
    double value = NAN, wrong;
    struct task_argument *actual = as_outputs(&arena, instance, golden);
    bool applies = golden[0].count && golden[0].tensors[0].elements > 0 && task_is_float(actual[0].tensors[0].type) &&
                   !instance->task->outputs[0].steep && actual[0].tensors[0].type != AKGEN_COMPLEX64;
    if (applies)
        task_read_double(&golden[0].tensors[0], 0, 1, &value);
    applies &= isfinite(value) && fabs(value) < 1000;
    if (applies) {
        wrong = value + 16 * widening(instance, 0) *
                            limit_of(&golden[0].tensors[0], actual[0].tensors[0].type, golden[0].terms, value);
        task_write_double(&actual[0].tensors[0], 0, 1, &wrong);
        task_compare(instance, TASK_STRICT, golden, actual, &mismatch);
    }
    if (mismatch.ok)
        fail_msg("%s/%s case %d: element 0 is %g, not %g, and passes", instance->task->suite, instance->task->name,
                 instance->task_case->id, wrong, value);
    task_outputs_free(golden);
    arena_free(&arena);
    return applies;
}

/* No output sums up more values than there are: an upper bound of what `depth` may add to the limit, in lanes or one
 * after the other. And float32 made of a narrower output has that one's limit. */
static double widening(const struct task_instance *instance, int output)
{
    const struct task_param *param = &instance->task->outputs[output];
    double growth = sqrt((double)instance->task_case->elements) / (param->serial ? 4 : 64);
    return fmax(1, growth) * (param->made_of != TASK_NONE ? 0x1p-6 / 0x1p-14 : 1);
}

static struct arena arena;
static int modules, orders, wrongs;

static void try_case(const struct task *task, const struct task_case *row, uint64_t seed)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_make(task, row, seed, false, &instance);
    if (error)
        fail_msg("%s case %d: %s", task->name, row->id, error->message);
    if (!excepted(task, true)) {
        expect_module_is_right(instance);
        modules++;
    }
    if (!excepted(task, false)) {
        expect_any_order_is_right(instance);
        orders++;
    }
    wrongs += far_off_is_wrong(instance);
    task_instance_free(instance);
}

static const char *dtype_of(const struct task *task, const struct task_case *row)
{
    for (int i = 0; i < task->columns.count; i++)
        if (strstr(task->columns.names[i], "dtype"))
            return row->cells[i].text;
    return "";
}

/* Of each data type the largest case below MOST_ELEMENTS and a case of every variant. */
static void try_task(const struct task *task)
{
    for (int i = 0; i < task->case_count; i++) {
        const struct task_case *row = &task->cases[i];
        bool largest = row->elements < MOST_ELEMENTS, first = true;
        for (int j = 0; j < task->case_count; j++) {
            const struct task_case *other = &task->cases[j];
            bool same = j != i && strcmp(dtype_of(task, other), dtype_of(task, row)) == 0;
            largest &= !same || other->elements >= MOST_ELEMENTS || other->elements < row->elements ||
                       (other->elements == row->elements && j > i);
            first &= !same || j > i;
        }
        if (largest) {
            try_case(task, row, 3);
            try_case(task, row, 4 | TASK_OTHER_VALUES);
        }
        for (int v = TASK_PRIME_SIZES; v < TASK_VARIANTS; v++) {
            struct task_case hidden;
            bool sizes = v <= TASK_TAIL_SIZES;
            if ((sizes ? first : largest) && task_case_vary(&arena, task, row, (enum task_variant)v, &hidden) &&
                hidden.elements < 2 * MOST_ELEMENTS)
                try_case(task, &hidden, 5);
        }
    }
}

static void every_task_has_honest_limits(void **state)
{
    (void)state;
    struct task *tasks;
    int count;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++)
        try_task(&tasks[i]);
    print_message("%d cases as their modules have them, %d with moved inputs, %d far off\n", modules, orders, wrongs);
    assert_true(count >= 212 && modules > 1000 && orders > 1000 && wrongs > 700);
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_has_honest_limits)};
    return cmocka_run_group_tests(tests, NULL, release);
}
