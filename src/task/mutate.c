/* Inputs as a candidate sees them that leaves work out: it takes them for constants, for what the task shows, or skips a part. */
#include "task/mutants.h"

#include <string.h>

enum { SAMPLE_SHARE = 64, MOST_TAIL = 8, CHUNK = 1024 };

bool mutation_is_partial(enum task_mutation kind)
{
    return kind == TASK_MUTANT_TAIL || kind == TASK_MUTANT_ROWS || kind == TASK_MUTANT_SAMPLE;
}

/* Along an axis `size` positions, of which the first `kept` are read, each of `inner` elements. Of the whole tensor whole rows are read. */
static void sample_of(const struct task_tensor *tensor, int axis, int64_t *size, int64_t *kept, int64_t *inner)
{
    *size = axis < 0 ? tensor->elements : tensor->dims[axis];
    *kept = *size / SAMPLE_SHARE;
    *inner = 1;
    int64_t row = tensor->rank > 1 ? tensor->dims[tensor->rank - 1] : 1;
    if (axis < 0 && row)
        *kept -= *kept % row;
    for (int i = axis + 1; axis >= 0 && i < tensor->rank; i++)
        *inner *= tensor->dims[i];
}

bool mutation_changes(const struct task_mutant *mutant, const struct task_tensor *tensor)
{
    int last = tensor->rank - 1;
    switch (mutant->kind) {
    case TASK_MUTANT_FIRST:
    case TASK_MUTANT_TAIL:
        return tensor->elements > 1;
    case TASK_MUTANT_ROWS:
        return last > 0 && tensor->dims[last] > 1 && tensor->elements > 0;
    case TASK_MUTANT_SAMPLE: {
        if (mutant->axis >= tensor->rank || !tensor->elements)
            return false;
        int64_t size, kept, inner;
        sample_of(tensor, mutant->axis, &size, &kept, &inner);
        return kept > 0 && size >= 2 * SAMPLE_SHARE;
    }
    default:
        return tensor->elements > 0;
    }
}

/* The last elements of a tensor, as many as a block of 32 bytes holds in float32: half of it at most. */
static int64_t tail_of(const struct task_tensor *tensor)
{
    return tensor->elements / 2 < MOST_TAIL ? tensor->elements / 2 : MOST_TAIL;
}

bool mutation_leaves_out(const struct task_mutant *mutant, const struct task_tensor *tensor, int64_t index)
{
    if (!mutation_changes(mutant, tensor))
        return false;
    if (mutant->kind == TASK_MUTANT_TAIL)
        return index >= tensor->elements - tail_of(tensor);
    if (mutant->kind == TASK_MUTANT_ROWS)
        return (index + 1) % tensor->dims[tensor->rank - 1] == 0;
    int64_t size, kept, inner;
    sample_of(tensor, mutant->axis, &size, &kept, &inner);
    return index / inner % size >= kept;
}

static char *element(const struct task_tensor *tensor, int64_t index)
{
    return (char *)tensor->values + (size_t)index * akgen_dtype_size(tensor->type);
}

static void fill_number(const struct task_tensor *tensor, double number)
{
    double numbers[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        numbers[i] = number;
    for (int64_t at = 0; at < task_scalars(tensor); at += CHUNK) {
        int64_t left = task_scalars(tensor) - at;
        task_write_double(tensor, at, (int)(left < CHUNK ? left : CHUNK), numbers);
    }
}

/* Every element is the first one. */
static void fill_first(const struct task_tensor *tensor)
{
    size_t size = akgen_dtype_size(tensor->type);
    for (int64_t i = 1; i < tensor->elements; i++)
        memcpy(element(tensor, i), tensor->values, size);
}

/* The last `count` elements of each stretch of `length` elements are zero. */
static void clear_last(const struct task_tensor *tensor, int64_t length, int64_t count)
{
    for (int64_t end = length; end <= tensor->elements; end += length)
        memset(element(tensor, end - count), 0, (size_t)count * akgen_dtype_size(tensor->type));
}

/* Along an axis the first 64th stands for all of it: sums of it are those of a sample, scaled. Axis -1: the whole tensor in a row. */
static void repeat_sample(const struct task_tensor *tensor, int axis)
{
    int64_t size, kept, inner;
    sample_of(tensor, axis, &size, &kept, &inner);
    size_t bytes = akgen_dtype_size(tensor->type) * (size_t)inner;
    for (int64_t outer = 0; outer < tensor->elements / (size * inner); outer++) {
        char *row = element(tensor, outer * size * inner);
        for (int64_t i = kept; i < size; i++)
            memcpy(row + (size_t)i * bytes, row + (size_t)(i % kept) * bytes, bytes);
    }
}

/* False if the guess has no such tensor. */
static bool copy_guess(const struct task_tensor *tensor, const struct task_argument *guess, int t)
{
    bool fits = guess && t < guess->count && guess->tensors[t].elements == tensor->elements &&
                guess->tensors[t].type == tensor->type;
    if (fits)
        memcpy(tensor->values, guess->tensors[t].values, (size_t)tensor->elements * akgen_dtype_size(tensor->type));
    return fits;
}

bool mutate_input(struct task_instance *instance, const struct task_mutant *mutant, const struct task_instance *guess)
{
    const struct task_argument *input = &instance->inputs[mutant->input];
    bool changes = false;
    for (int t = 0; t < input->count; t++) {
        const struct task_tensor *tensor = &input->tensors[t];
        if (!mutation_changes(mutant, tensor))
            continue;
        changes |=
            mutant->kind != TASK_MUTANT_GUESS || copy_guess(tensor, guess ? &guess->inputs[mutant->input] : NULL, t);
        switch (mutant->kind) {
        case TASK_MUTANT_ZEROS:
            fill_number(tensor, 0);
            break;
        case TASK_MUTANT_ONES:
            fill_number(tensor, 1);
            break;
        case TASK_MUTANT_FIRST:
            fill_first(tensor);
            break;
        case TASK_MUTANT_TAIL:
            clear_last(tensor, tensor->elements, tail_of(tensor));
            break;
        case TASK_MUTANT_ROWS:
            clear_last(tensor, tensor->dims[tensor->rank - 1], 1);
            break;
        case TASK_MUTANT_SAMPLE:
            repeat_sample(tensor, mutant->axis);
            break;
        default:
            break;
        }
    }
    return changes;
}
