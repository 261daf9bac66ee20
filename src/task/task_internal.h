/* What the files of src/task share. */
#ifndef TASK_TASK_INTERNAL_H
#define TASK_TASK_INTERNAL_H

#include "base/half.h"
#include "task/task.h"

enum { TASK_GIANT = 1 << 24 }; /* elements in all tensors from which on a case is reduced unless `full` */

/* Sets task_case->elements; an error names line and column of cases.csv. */
struct akgen_error *task_case_measure(const struct task *task, struct task_case *task_case);
/* An error if `vary` makes no case out of this one: an unknown word, an expression that does not fit. */
struct akgen_error *task_vary_check(struct arena *arena, const struct task *task, const struct task_case *shown);
/* Makes of a giant case the one that `smaller` of task.yaml describes. Its values become the arena's. An error if an
 * assignment is none or does not fit. */
struct akgen_error *task_case_smaller(struct arena *arena, const struct task *task, struct task_case *row);
/* True if there are only known words in an input's `special`. */
bool task_special_known(const char *words);
/* True if the variant plants values into this parameter, a floating tensor or list of tensors. */
bool task_special_any(const struct task_param *param, enum task_variant variant);
/* Puts the variant's values into some elements of a floating tensor; `key` decides which. */
void task_special_plant(const struct task_param *param, enum task_variant variant, uint64_t key,
                        struct task_tensor *tensor);
/* Computes the inputs that follow from others (task.yaml: derive). */
void task_derive(struct task_instance *instance);
bool task_derivation_exists(const char *name);
/* `actual` with the expected index wherever its own one picks an equal element of x along `dim`, for the first time in
 * its vector; -1 for an expected index that occurs again. The values are the caller's to free. */
struct task_tensor task_forgive_ties(const struct task_tensor *x, int dim, const struct task_tensor *expected,
                                     const struct task_tensor *actual);
/* The golden outputs of the case with every floating input tensor of more than one element multiplied by
 * 1 + relative * factor(state, index), factors in [-1, 1]; NULL: always 1. The caller frees them. */
struct task_argument *task_reference_moved(const struct task_instance *instance, double relative,
                                           double (*factor)(void *state, int64_t index), void *state);
/* What a forward pass hands to its gradient (derive_forward.c). */
void task_derive_sum_statistics(struct task_instance *instance);
void task_derive_deep_statistics(struct task_instance *instance);
void task_derive_rms_rstd(struct task_instance *instance);
void task_derive_gelu(struct task_instance *instance);
void task_derive_half_gelu(struct task_instance *instance);
void task_derive_log_softmax(struct task_instance *instance);
/* True if `words`, separated by blanks, contain `word`. */
bool task_has_word(const char *words, const char *word);
/* Index of an input by name, -1 if there is none. */
int task_input_index(const struct task *task, const char *name);
int task_output_index(const struct task *task, const char *name);
int task_attr_index(const struct task *task, const char *name);

/* As task_read_double (task.h). */
void task_read_float(const struct task_tensor *tensor, int64_t first, int n, float *out);
void task_read_integer(const struct task_tensor *tensor, int64_t first, int n, int64_t *out);
/* Stores with one rounding to nearest even from float or double; integers truncate towards zero and wrap. */
void task_write_float(const struct task_tensor *tensor, int64_t first, int n, const float *in);
void task_write_double(const struct task_tensor *tensor, int64_t first, int n, const double *in);
void task_write_integer(const struct task_tensor *tensor, int64_t first, int n, const int64_t *in);

static inline bool task_is_float(enum akgen_dtype type)
{
    return type == AKGEN_FLOAT || type == AKGEN_FLOAT16 || type == AKGEN_BF16 || type == AKGEN_DOUBLE ||
           type == AKGEN_COMPLEX64;
}
/* Scalars in memory: elements, or twice that for complex64. */
static inline int64_t task_scalars(const struct task_tensor *tensor)
{
    return tensor->type == AKGEN_COMPLEX64 ? 2 * tensor->elements : tensor->elements;
}
/* Rounds to the nearest value of a floating type; other types pass through. */
static inline float task_round(enum akgen_dtype type, float value)
{
    if (type == AKGEN_FLOAT16)
        return (float)(half_t)value;
    if (type == AKGEN_BF16)
        return bf16_to_float(bf16_from_float(value));
    return value;
}

/* Edit distance of two names without regard to case (Wagner and Fischer, 1974). */
int task_name_distance(const char *a, const char *b);

#endif
