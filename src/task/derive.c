/* Inputs that follow from other inputs: what a published module computes before it calls the operator. Called once the
 * generators have filled all inputs; a derivation may also make tensors smaller than the shapes in task.yaml, which are
 * upper bounds then. */
#include "task/task_internal.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* CoalesceSparse. */
struct entry {
    int64_t key, number;
};

static int by_key(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

/* Rows of indices (entries, columns) as numbers: positions in the smallest dense tensor that holds them all. */
static struct entry *flattened(const struct task_tensor *indices)
{
    int64_t rows = indices->dims[0], columns = indices->dims[1];
    struct entry *entries = checked(calloc((size_t)rows + 1, sizeof *entries));
    for (int64_t column = 0; column < columns; column++) {
        int64_t size = 0, index;
        for (int64_t row = 0; row < rows; row++) {
            task_read_integer(indices, row * columns + column, 1, &index);
            size = index >= size ? index + 1 : size;
        }
        for (int64_t row = 0; row < rows; row++) {
            task_read_integer(indices, row * columns + column, 1, &index);
            entries[row] = (struct entry){entries[row].key * size + index, row};
        }
    }
    return entries;
}

static void cut(struct task_tensor *tensor, int64_t rows)
{
    tensor->elements = tensor->dims[0] ? tensor->elements / tensor->dims[0] * rows : 0;
    tensor->dims[0] = rows;
}

/* Inputs: unique_len, unique_indices, indices (entries, columns), values; outputs: new_indices, new_values.
 * unique_len = the different rows of indices as sorted numbers, unique_indices[e] = place of row e among them. */
static void unique_entries(struct task_instance *instance)
{
    struct task_tensor *unique = &instance->inputs[0].tensors[0], *places = &instance->inputs[1].tensors[0];
    const struct task_tensor *indices = &instance->inputs[2].tensors[0];
    struct entry *entries = flattened(indices);
    int64_t count = 0;
    qsort(entries, (size_t)indices->dims[0], sizeof *entries, by_key);
    for (int64_t i = 0; i < indices->dims[0]; i++) {
        if (i == 0 || entries[i].key != entries[i - 1].key)
            task_write_integer(unique, count++, 1, &entries[i].key);
        int64_t place = count - 1;
        task_write_integer(places, entries[i].number, 1, &place);
    }
    free(entries);
    cut(unique, count);
    cut(&instance->outputs[0].tensors[0], count);
    cut(&instance->outputs[1].tensors[0], count);
}

/* ScatterList. */
/* Inputs: var, indice (tensors, 2), updates; attribute 1: axis, counted from the end. Turns the random pairs in indice
 * into (start, length) of ranges within updates: length from 1 to the size, start so that the range ends inside. */
static void ranges_of_updates(struct task_instance *instance)
{
    const struct task_tensor *indice = &instance->inputs[1].tensors[0], *updates = &instance->inputs[2].tensors[0];
    int axis = (int)json_integer_value(instance->attrs[1]);
    int64_t size = updates->dims[axis < 0 ? updates->rank + axis : axis + 1];
    for (int64_t i = 0; i < indice->dims[0]; i++) {
        int64_t pair[2];
        task_read_integer(indice, 2 * i, 2, pair);
        pair[1] = 1 + llabs(pair[1] % size);
        pair[0] = llabs(pair[0] % (size - pair[1] + 1));
        task_write_integer(indice, 2 * i, 2, pair);
    }
}

/* FeedsRepeat. */
/* Inputs: feeds, feeds_repeat_times; attribute 0: rows of the output. The last rows are repeated less often where the
 * copies would not fit. */
static void copies_that_fit(struct task_instance *instance)
{
    const struct task_tensor *times = &instance->inputs[1].tensors[0];
    int64_t room = json_integer_value(instance->attrs[0]), copies;
    for (int64_t i = 0; i < times->elements; i++) {
        task_read_integer(times, i, 1, &copies);
        copies = copies < room ? copies : room;
        room -= copies;
        task_write_integer(times, i, 1, &copies);
    }
}

/* DequantSwigluQuant. */
static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The generated values are borders in 0 .. rows of input 0; the result counts the rows between neighbours and adds up
 * to all rows. */
static void group_counts(struct task_instance *instance)
{
    const struct task_argument *argument = &instance->inputs[task_input_index(instance->task, "group_index")];
    if (!argument->count)
        return;
    const struct task_tensor *tensor = &argument->tensors[0];
    int64_t count = tensor->elements, *borders = checked(calloc((size_t)count + 1, sizeof *borders));
    task_read_integer(tensor, 0, (int)count, borders);
    borders[count - 1] = instance->inputs[0].tensors[0].dims[0];
    qsort(borders, (size_t)count, sizeof *borders, by_value);
    for (int64_t i = count - 1; i > 0; i--)
        borders[i] -= borders[i - 1];
    task_write_integer(tensor, 0, (int)count, borders);
    free(borders);
}

/* The table. */
static const struct derivation {
    const char *name; /* as in task.yaml */
    task_derivation *derive;
    const char *reference; /* whose inputs it fills in; they fit its signature by then */
    const char *inputs[4]; /* taken by name */
    const char *column;    /* a number that it reads, NULL: none */
} derivations[] = {
    {"unique_entries", unique_entries, "coalesce_sparse", {0}, NULL},
    {"ranges_of_updates", ranges_of_updates, "scatter_list", {0}, NULL},
    {"copies_that_fit", copies_that_fit, "feeds_repeat", {0}, NULL},
    {"group_counts", group_counts, "dequant_swiglu_quant", {"group_index"}, NULL},
    {"sum_statistics", task_derive_sum_statistics, "add_layer_norm_grad", {"x1", "x2", "rstd", "mean"}, NULL},
    {"deep_statistics", task_derive_deep_statistics, "deep_norm_grad", {"x", "gx", "rstd", "mean"}, "epsilon"},
    {"rms_rstd", task_derive_rms_rstd, "rms_norm_grad", {"x", "rstd"}, "epsilon"},
    {"gelu", task_derive_gelu, "gelu_grad", {"x", "y"}, NULL},
    {"half_gelu", task_derive_half_gelu, "ge_glu_grad_v2", {"x", "gelu"}, NULL},
    {"log_softmax", task_derive_log_softmax, "cross_entropy_loss_grad", {"log_prob"}, NULL},
};

enum { DERIVATIONS = sizeof derivations / sizeof *derivations };

static const struct derivation *derivation_of(const char *name)
{
    for (int i = 0; i < DERIVATIONS; i++)
        if (strcmp(derivations[i].name, name) == 0)
            return &derivations[i];
    return NULL;
}

task_derivation *task_derivation_find(const char *name)
{
    const struct derivation *derivation = derivation_of(name);
    return derivation ? derivation->derive : NULL;
}

struct akgen_error *task_derivation_check(const char *name, const struct task *task)
{
    enum { MOST = sizeof derivations[0].inputs / sizeof *derivations[0].inputs };
    const struct derivation *derivation = derivation_of(name);
    if (task_reference_find(derivation->reference) != task->reference)
        return error_new("'%s' makes inputs of the reference %s, this task has another", name, derivation->reference);
    for (int i = 0; i < MOST && derivation->inputs[i]; i++)
        if (task_input_index(task, derivation->inputs[i]) == TASK_NONE)
            return error_new("'%s' takes an input called '%s', there is none", name, derivation->inputs[i]);
    return !derivation->column || task_column_index(task, derivation->column) != TASK_NONE
               ? NULL
               : error_new("'%s' reads a column '%s', cases.csv has none", name, derivation->column);
}

struct akgen_error *task_derivation_fits(const struct task_instance *instance)
{
    for (int i = 0; i < DERIVATIONS; i++) {
        const char *column = derivations[i].derive == instance->task->derive ? derivations[i].column : NULL;
        if (column && !expr_is_number(&instance->cells[task_column_index(instance->task, column)]))
            return error_new("column '%s' is no number, derive '%s' reads one", column, derivations[i].name);
    }
    return NULL;
}

const char *const *task_derivation_names(struct arena *arena)
{
    const char **names = arena_alloc(arena, sizeof *names * (DERIVATIONS + 1));
    for (int i = 0; i < DERIVATIONS; i++)
        names[i] = derivations[i].name;
    return names;
}
