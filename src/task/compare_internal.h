/* Comparing two tensors: what compare.c hands to the two ways of judging, and what they note. */
#ifndef TASK_COMPARE_INTERNAL_H
#define TASK_COMPARE_INTERNAL_H

#include "task/task_internal.h"

enum { COMPARE_BLOCK = 512 };

/* What the wrong elements of a tensor have in common (compare_where.c). */
struct pattern_range {
    double least, most;
};
struct pattern {
    uint64_t wrong, nan, infinite;
    int64_t first, last, rows, first_column, last_column; /* rows: of the last dimension, with a wrong element */
    int64_t row, row_end;                       /* the newest such row: its first element, and one past its last */
    struct pattern_range value, offset, factor; /* of what stands there; less, and over, what is expected */
};
/* Takes the wrong elements in their order. */
void pattern_note(struct pattern *pattern, const struct task_tensor *tensor, int64_t index, double expected,
                  double actual);
/* "only the last 33 of the 1001 elements of a row are wrong, in 48 of 48 rows; what stands there is 0"; "" where there is
 * nothing to tell. */
void pattern_tell(const struct pattern *pattern, const struct task_tensor *tensor, char *text, size_t size);

/* Sets result->distance. */
void distance_tell(struct task_mismatch *result);

/* One pair of tensors under comparison. */
struct pair {
    const struct task_instance *instance;
    const struct task_tensor *expected, *actual;
    int output, tensor;
    struct task_mismatch *result;
    double sum; /* of finite absolute differences */
    struct pattern pattern;
    /* Upstream. */
    enum akgen_dtype type;       /* in which differences are taken */
    uint64_t over_abs, over_rel; /* share: elements over the limit */
    /* Strict. */
    double scale, relative; /* the limit is relative * (|expected| + scale) */
    /* What expected may be as well, or NULL: of inputs that are moved and so on (task_strict_moved). */
    const struct task_tensor *moved[TASK_MOVED];
};

/* Notes an element that differs; the first that is wrong is the mismatch. */
void pair_note(struct pair *pair, int64_t index, double expected, double actual, double abs, double rel, bool wrong);

/* Judge elements first .. first + n - 1, n <= COMPARE_BLOCK: floating ones are read already. */
void upstream_judge_numbers(struct pair *pair, int64_t first, int n, const double *expected, const double *actual);
void upstream_judge_integers(struct pair *pair, int64_t first, int n);
/* What is left to say when all elements of the tensor have been judged; `before`: what was known before it. */
void upstream_finish(struct pair *pair, const struct task_mismatch *before);
/* torch's type promotion for the pairs that occur: the wider float; float over integer; the wider integer. */
enum akgen_dtype upstream_promote(enum akgen_dtype a, enum akgen_dtype b);

/* Sets scale and relative limit. `terms`: as in struct task_argument. `made_of`: what the output may be computed from,
 * as it is stored, or NULL. */
void strict_set_limit(struct pair *pair, double terms, const struct task_tensor *made_of);
void strict_judge_numbers(struct pair *pair, int64_t first, int n, const double *expected, const double *actual);
void strict_judge_integers(struct pair *pair, int64_t first, int n);

#endif
