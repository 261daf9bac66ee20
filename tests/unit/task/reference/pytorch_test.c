/* References against what PyTorch computed from the same inputs: pytorch.tsv beside this file, which tests/peers/references_test.py
 * writes after it has compared every element (`make peers` says when it is out of date). Of each output it holds one number:
 *
 *   upstream, where PyTorch's steps are exact: a digest of all elements;
 *   upstream else, and golden: the sum of the elements, weighted with pseudo-random numbers of [-1, 1), and how far a sum may be
 *   away if each element keeps to the bound of the element-by-element comparison.
 *
 * Golden's bound is 1e-9, so that its sum shows an element that is far away; and each element of upstream must lie near golden's. */
/* test: cost=20 builds=release env=MALLOC_MMAP_THRESHOLD_=1073741824,MALLOC_TRIM_THRESHOLD_=4294967296 */
/* test: as=sanitized cost=120 labels=long builds=sanitized */
#include "task/task.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEED = 7, LEAST_CASES = 1300, COLUMNS = 9 };

/* One row of pytorch.tsv; the strings point into `line`. */
struct record {
    char line[256];
    char *task, *reference, *type;
    int task_case, output;
    int64_t elements;
    char *kind, *value;
    double within;
};

/* The values of an output, all tensors of a list in a row. */
struct output {
    double *values;
    int64_t count;
    const char *type;
};

static bool next_record(FILE *table, struct record *record)
{
    char *columns[COLUMNS];
    if (!fgets(record->line, sizeof record->line, table))
        return false;
    record->line[strcspn(record->line, "\n")] = '\0';
    char *rest = record->line;
    for (int i = 0; i < COLUMNS; i++)
        if (!(columns[i] = strsep(&rest, "\t")))
            fail_msg("pytorch.tsv: a row has %d columns, not %d", i, COLUMNS);
    record->task = columns[0];
    record->task_case = atoi(columns[1]);
    record->output = atoi(columns[2]);
    record->reference = columns[3];
    record->type = columns[4];
    record->elements = atoll(columns[5]);
    record->kind = columns[6];
    record->value = columns[7];
    record->within = strtod(columns[8], NULL);
    return true;
}

static struct output all_values(const struct task_argument *argument)
{
    struct output all = {.type = argument->count ? akgen_dtype_name(argument->tensors[0].type) : "none"};
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int t = 0; t < argument->count; t++) {
            const struct task_tensor *tensor = &argument->tensors[t];
            int64_t count = tensor->elements * (tensor->type == AKGEN_COMPLEX64 ? 2 : 1);
            if (pass)
                task_read_double(tensor, 0, (int)count, all.values + at);
            at += count;
        }
        all.count = at;
        if (!pass)
            all.values = calloc((size_t)(at ? at : 1), sizeof *all.values);
    }
    return all;
}

static double weight(int64_t index)
{
    return (double)((uint32_t)index * 2654435761U + 12345U) / 0x1p31 - 1;
}

/* step 2 takes the real parts of a complex golden whose module is real. */
static double weighted_sum(const struct output *output, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i * step < output->count; i++) {
        double value = output->values[i * step];
        sum += weight(i) * (isnan(value) ? 1 : isinf(value) ? copysign(2, value) : value);
    }
    return sum;
}

static uint64_t digest(const struct output *output)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < output->count; i++) {
        double value = output->values[i] == 0 ? 0 : output->values[i]; /* 0 equals -0 */
        uint64_t bits = 1;                                             /* nan equals nan */
        if (!isnan(value))
            memcpy(&bits, &value, sizeof bits);
        bits = (bits ^ bits >> 32) * 0x9E3779B97F4A7C15;
        sum += (bits ^ bits >> 29) * (uint64_t)(2 * i + 1);
    }
    return sum;
}

/* Whether what the reference yields is what PyTorch did; says on stderr what is not. */
static bool holds(const struct record *record, const struct output *output)
{
    char ours[32];
    int64_t step = output->count == 2 * record->elements && !strcmp(record->reference, "golden") ? 2 : 1;
    bool same = output->count == step * record->elements && !strcmp(output->type, record->type);
    if (!strcmp(record->kind, "digest")) {
        snprintf(ours, sizeof ours, "%016llx", (unsigned long long)digest(output));
        same = same && !strcmp(ours, record->value);
    } else {
        double sum = weighted_sum(output, step);
        snprintf(ours, sizeof ours, "%.17g", sum);
        same = same && fabs(sum - strtod(record->value, NULL)) <= record->within;
    }
    if (!same)
        fprintf(stderr, "%s case %d, output %d, %s: %s of %lld %s is %s, PyTorch's of %lld %s is %s (within %g)\n",
                record->task, record->task_case, record->output, record->reference, record->kind,
                (long long)output->count, output->type, ours, (long long)record->elements, record->type, record->value,
                record->within);
    return same;
}

static bool is_integer(const char *type)
{
    return !strncmp(type, "int", 3) || !strncmp(type, "uint", 4) || !strcmp(type, "bool");
}

/* What upstream may be away from golden however small both are. */
static double rounding(const struct output *upstream, const struct output *golden)
{
    if (is_integer(upstream->type)) /* golden is not rounded to an integer */
        return is_integer(golden->type) ? 0 : 0.501;
    if (!strcmp(upstream->type, "float16")) /* where half is coarse */
        return 0x1p-24;
    return !strcmp(upstream->type, "bfloat16") ? 0 : 0x1p-126; /* a product of many factors vanishes */
}

/* What the types of a module lose stays below 2 % of the tensor's scale. */
static bool near_golden(const struct record *record, const struct output *upstream, const struct output *golden)
{
    int64_t step = golden->count == 2 * upstream->count ? 2 : 1, finite = 0;
    double squares = 0, least = rounding(upstream, golden);
    for (int64_t i = 0; i < upstream->count; i++) {
        double value = golden->values[i * step];
        finite += isfinite(value);
        squares += isfinite(value) ? value * value : 0;
    }
    double scale = finite ? sqrt(squares / (double)finite) : 0;
    for (int64_t i = 0; i < upstream->count; i++) {
        double u = upstream->values[i], g = golden->values[i * step];
        if (fabs(u - g) > least + 0.02 * (fabs(g) + scale)) {
            fprintf(stderr, "%s case %d, output %d, element %lld: golden is %g, upstream %g\n", record->task,
                    record->task_case, record->output, (long long)i, g, u);
            return false;
        }
    }
    return true;
}

struct references {
    struct arena arena;
    struct task task;
    struct task_instance *instance;
    struct task_argument *upstream, *golden;
};

static void make_references(struct references *of, const struct record *record)
{
    struct akgen_error *error = task_find(&of->arena, AKGEN_SOURCE_DIR, record->task, &of->task);
    for (int i = 0; !error && i < of->task.case_count; i++)
        if (of->task.cases[i].id == record->task_case)
            error = task_instance_make(&of->task, &of->task.cases[i], SEED, false, &of->instance);
    if (error)
        fail_msg("%s", error->message);
    if (!of->instance)
        fail_msg("%s has no case %d", record->task, record->task_case);
    of->upstream = task_reference(of->instance, TASK_UPSTREAM);
    of->golden = task_reference(of->instance, TASK_STRICT);
}

static void free_references(struct references *of)
{
    task_outputs_free(of->upstream);
    task_outputs_free(of->golden);
    task_instance_free(of->instance);
    arena_free(&of->arena);
    *of = (struct references){0};
}

static int check_output(const struct references *of, const struct record *record)
{
    bool is_upstream = !strcmp(record->reference, "upstream");
    struct output output = all_values(&(is_upstream ? of->upstream : of->golden)[record->output]);
    bool good = holds(record, &output);
    if (is_upstream && good) {
        struct output golden = all_values(&of->golden[record->output]);
        good = near_golden(record, &output, &golden);
        free(golden.values);
    }
    free(output.values);
    return !good;
}

/* Checks every `of`-th case, beginning with number `first`. The number of outputs that differ; *cases: of all cases. */
static int check_share(int first, int of, int *cases)
{
    FILE *table = fopen(AKGEN_SOURCE_DIR "/tests/unit/task/reference/pytorch.tsv", "re");
    assert_non_null(table);
    struct record record, last = {.task_case = -1};
    struct references references = {0};
    int failures = 0;
    *cases = 0;
    next_record(table, &record); /* the names of the columns */
    while (next_record(table, &record)) {
        if (last.task_case != record.task_case || strcmp(last.line, record.line) != 0) {
            free_references(&references);
            ++*cases;
            last = record; /* its line begins with the task's name */
        }
        if (*cases % of != first)
            continue;
        if (!references.instance)
            make_references(&references, &record);
        failures += check_output(&references, &record);
    }
    free_references(&references);
    fclose(table);
    return failures;
}

static void references_yield_what_pytorch_does(void **state)
{
    (void)state;
    int workers = (int)sysconf(_SC_NPROCESSORS_ONLN), failed = 0, cases;
    for (int first = 0; first < workers; first++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            _exit(check_share(first, workers, &cases) != 0 || cases < LEAST_CASES);
    }
    for (int i = 0, status; i < workers; i++) {
        assert_true(wait(&status) > 0);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(references_yield_what_pytorch_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
