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
        pair[1] = 1 + pair[1] % size;
        pair[0] = pair[0] % (size - pair[1] + 1);
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
static const struct {
    const char *name; /* as in task.yaml */
    task_derivation *derive;
} derivations[] = {
    {"unique_entries", unique_entries},
    {"ranges_of_updates", ranges_of_updates},
    {"copies_that_fit", copies_that_fit},
    {"group_counts", group_counts},
    {"sum_statistics", task_derive_sum_statistics},
    {"deep_statistics", task_derive_deep_statistics},
    {"rms_rstd", task_derive_rms_rstd},
    {"gelu", task_derive_gelu},
    {"half_gelu", task_derive_half_gelu},
    {"log_softmax", task_derive_log_softmax},
};

enum { DERIVATIONS = sizeof derivations / sizeof *derivations };

task_derivation *task_derivation_find(const char *name)
{
    for (int i = 0; i < DERIVATIONS; i++)
        if (strcmp(derivations[i].name, name) == 0)
            return derivations[i].derive;
    return NULL;
}

const char *const *task_derivation_names(struct arena *arena)
{
    const char **names = arena_alloc(arena, sizeof *names * (DERIVATIONS + 1));
    for (int i = 0; i < DERIVATIONS; i++)
        names[i] = derivations[i].name;
    return names;
}
