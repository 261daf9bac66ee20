/* What the files of src/task's upper floor share. */
#ifndef TASK_TASK_INTERNAL_H
#define TASK_TASK_INTERNAL_H

#include "task/csv.h"
#include "task/expr/formula.h"
#include "task/task.h"

/* Loading. Errors of these start with "task.yaml:LINE: " or "cases.csv:LINE: ". */
/* Lines of task.yaml that an error about a case may name; 0 where the key is not given. */
struct task_lines {
    int vary, smaller;
};
/* task.yaml as text -> task, but for its cases; task->columns and task->dir are set before. */
struct akgen_error *task_description_parse(struct arena *arena, const char *text, struct task *task,
                                           struct task_lines *lines);
/* Rows of cases.csv -> task->cases, each tried: shapes, types, attributes, generators, what `vary` makes of it. */
struct akgen_error *task_cases_parse(struct arena *arena, const struct csv_table *table, const struct task_lines *lines,
                                     struct task *task);
/* `vary` and `smaller`: segments separated by ';', `column = expression` or, if `words`, lists of words. */
struct akgen_error *task_steps_parse(struct arena *arena, const char *text, const struct expr_columns *columns,
                                     bool words, struct task_steps *steps);
/* An error unless each column that a list of words names holds a size in some case. */
struct akgen_error *task_vary_columns_check(const struct task *task);

/* The names that a formula may use: inputs, with `lists` lists too, then attributes, FORMULA_MAX_NAMES at most; returns how many. */
int task_formula_names(struct arena *arena, const struct task *task, bool lists, struct formula_name *names);

/* Sets task_case->elements and tries all expressions of the task on the case; an error names the line of cases.csv. */
struct akgen_error *task_case_measure(const struct task *task, struct task_case *task_case);
/* The id of the shown case that a hidden one is made of, or of the shown one itself. */
int task_case_origin(const struct task_case *task_case);
/* An error if `vary` makes no case out of this one: an expression that does not fit. */
struct akgen_error *task_vary_check(struct arena *arena, const struct task *task, const struct task_case *shown);
/* Makes of a giant case the one that `smaller` of task.yaml describes. Its cells become the arena's. An error if an
 * assignment does not fit. */
struct akgen_error *task_case_smaller(struct arena *arena, const struct task *task, struct task_case *row);
/* One step towards a smaller case: other cells, with half of the largest size. False if nothing can shrink. */
bool task_cells_shrink(struct arena *arena, const struct task *task, const struct expr_value **cells);

/* The eager baseline. */
/* "x", an input or output as a whole, or "float32 $shape[:1]", a type and a shape. An error says what is allowed. */
struct akgen_error *task_eager_tensor_parse(struct arena *arena, const char *text, const struct task *task,
                                            struct task_eager_tensor *tensor);

/* Instances. */
/* A list of sizes -> the tensor's shape; an error says what it is instead. */
struct akgen_error *task_shape_set(struct arena *arena, const struct expr_value *shape, struct task_tensor *tensor);
/* Upstream's comparison in a case; `check` NULL: the default one. */
struct akgen_error *task_check_make(const struct expr *check, const struct expr_scope *scope,
                                    struct task_check *result);
/* Resolves an input's generator for tensors of one case and checks that it yields numbers. `scope` says which case. */
struct akgen_error *task_generator_bind(const struct expr *generate, struct expr_scope *scope,
                                        const struct task_tensor *tensor, const struct expr **bound);
/* Fills a tensor with what a bound generator yields. */
void task_generate(const struct expr *bound, const struct expr_scope *scope, const struct task_tensor *tensor);
/* True if the variant plants values into this parameter, a floating tensor or list of tensors. */
bool task_special_any(const struct task_param *param, enum task_variant variant);
/* Puts the variant's values into some elements of a floating tensor; `key` decides which. */
void task_special_plant(const struct task_param *param, enum task_variant variant, uint64_t key,
                        struct task_tensor *tensor);
/* What fills inputs that follow from others (task.yaml: derive), by name; NULL if there is none of that name. */
typedef void task_derivation(struct task_instance *instance);
task_derivation *task_derivation_find(const char *name);
/* An error unless the task has the reference, inputs and columns that a derivation takes. */
struct akgen_error *task_derivation_check(const char *name, const struct task *task);
/* An error unless the case has numbers in the columns that it reads. */
struct akgen_error *task_derivation_fits(const struct task_instance *instance);
/* Their names, up to a NULL. */
const char *const *task_derivation_names(struct arena *arena);
/* What a forward pass hands to its gradient (derive_forward.c). */
task_derivation task_derive_sum_statistics, task_derive_deep_statistics, task_derive_rms_rstd, task_derive_gelu,
    task_derive_half_gelu, task_derive_log_softmax;

/* `actual` with the expected index wherever its own one picks an equal element of x along `dim`, for the first time in
 * its vector; -1 for an expected index that occurs again. The values are the caller's to free. */
struct task_tensor task_forgive_ties(const struct task_tensor *x, int dim, const struct task_tensor *expected,
                                     const struct task_tensor *actual);

#endif
