/* Benchmark tasks as data: what an operator must do, on which inputs, and how its outputs are judged. docs/tasks.md. */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { TASK_MAX_RANK = 8 };

/* Description (task.yaml). */
enum task_param_kind { TASK_TENSOR, TASK_TENSOR_LIST, TASK_SCALAR, TASK_SCALAR_LIST };
struct task_param { /* one OpDef input or output */
    const char *name;
    enum task_param_kind kind;
    bool optional;
    bool value_depend;
    enum akgen_dtype *types; /* allowed; outputs: may be empty when `dtype` is an expression */
    int type_count;
    const char *shape;    /* expression over csv columns: "$shape", "[1]", "$x1_shape", ... */
    const char *dtype;    /* expression: "$dtype", "float32", ... */
    const char *generate; /* inputs: "randn", "uniform(-1, 1)", "randint(-10, 10)", "column(scale)", ... */
    const char *strict;   /* inputs: the generator of the strict profile's other runs, NULL: `generate` again */
    const char *special;  /* inputs: values that strict plants: words of "zero subnormal inf nan", "" if none */
    const char *present;  /* optional inputs: expression, "" = always */
    const char *in_place; /* outputs: name of the input whose memory it is, or NULL. Without types: the OpDef
                           * declares no such output, the operator only writes its input */
    bool steep;           /* outputs: strict allows what a move of the inputs by a few roundings does */
    const char *depth;    /* outputs: expression: how many values one element sums up (strict thresholds), "1" */
    bool serial;          /* outputs: ... one after the other in the output's type, not in 64 lanes and a tree */
    const char *made_of;  /* outputs: another output that it may be computed from as it is stored, or NULL */
    const char *init;     /* outputs: "poison" (default), "zero" */
    const char
        *points_into;    /* outputs: the input that it holds positions in, along attribute `dim`; ties count as equal */
    const char *formula; /* outputs, reference `formula`: the value of an element (formula.h); else NULL */
    struct formula *parsed_formula; /* the same, NULL without one */
    const char *compared;           /* outputs: expression: true (default), false, or `strict`: upstream ignores it */
};
struct task_attr {
    const char *name;
    const char *type;  /* "int", "float", "bool", "string", "list_int" */
    const char *value; /* expression: "$alpha", "-1", ... */
};
struct task {
    const char *suite; /* "npukernelbench" */
    int level;
    const char *category, *op; /* "Math", "Sqrt" */
    const char *name;          /* "level1/Math/Sqrt" */
    const char *dir;           /* absolute */
    const char *op_type;       /* OpDef name a candidate must register, usually equal to op */
    struct task_param *inputs, *outputs;
    int input_count, output_count;
    struct task_attr *attrs;
    int attr_count;
    const char *reference; /* name in the table of references */
    const char *derive;    /* which inputs follow from others (src/task/derive.c), "" if none */
    const char *check;     /* upstream's check: "default", "abs_rel(0.01, 0.01)", "rel_max1", ... */
    struct task_case *cases;
    int case_count;
    enum akgen_dtype (
        *combinations)[32]; /* dtype combinations that the OpDef must offer: per row inputs, then outputs */
    int combination_count;
    int combination_width; /* inputs and declared outputs: columns used of a row */
    const char *note;      /* what upstream does oddly, "" if nothing */
    const char *trivial; /* candidates without work that are right by contract: words of "zero one copy"; "" if none */
    const char *trivial_reason; /* why */
    const char *vary;           /* how hidden sizes come from shown ones (src/task/vary.c), "": they make no sense */
    const char *smaller;        /* what stands in for a giant case, before anything is halved; "": halving alone */
    const char *broken;         /* why task_load_all could not load it; then only suite to dir are set */
};
/* How the strict profile makes a hidden case of a shown one: with other sizes, primes or one more than a size that was
 * shown (tails); or with values at the ends of the type: zeros, subnormal numbers and infinities, or nan. */
enum task_variant { TASK_SHOWN, TASK_PRIME_SIZES, TASK_TAIL_SIZES, TASK_LIMIT_VALUES, TASK_NAN_VALUES, TASK_VARIANTS };
struct task_case {
    int id;
    enum task_variant variant;
    const char **columns, **values; /* cases.csv by column name */
    int column_count;
    int line;          /* in cases.csv */
    uint64_t elements; /* of all tensors together; over 2^24 = giant */
};

/* Loads one task directory: task.yaml, cases.csv. Errors carry file and line: "cases.csv:7: column 'dtype' is ...". */
struct akgen_error *task_load(struct arena *arena, const char *dir, struct task *task);
/* Loads every task below <home>/tasks, sorted by name. One that cannot be loaded is in the list as `broken`; an error
 * means that there are no tasks at all. */
struct akgen_error *task_load_all(struct arena *arena, const char *home, struct task **tasks, int *count);
/* Name number `index` of the references that task.yaml may name, NULL behind the last. */
const char *task_reference_name(int index);
/* "; did you mean a, b?" for a name that is none of them, nearest first; or what lists them all. */
const char *task_reference_hint(struct arena *arena, const char *name);
/* Finds one by "npukernelbench/level1/Math/Sqrt", "level1/Math/Sqrt", "Math/Sqrt", "Sqrt" or a directory path; the
 * error lists near names. A name without a suite means npukernelbench's task where several suites have one. */
struct akgen_error *task_find(struct arena *arena, const char *home, const char *name, struct task *task);

enum task_profile { TASK_UPSTREAM, TASK_STRICT };

/* Protocol (protocol.c). */
/* How many inputs the published benchmark tries per case: 5 in multikernelbench, 1 elsewhere. */
int task_trials(const struct task *task);
/* Chooses among the suite's published tolerances ("1e-2" and "1e-4" for multikernelbench): sets task->check. An error
 * if the suite has none to choose from. */
struct akgen_error *task_set_tolerance(struct arena *arena, struct task *task, const char *tolerance);
/* What must stand beside every figure of the suite: "shapes v1, tolerance 1e-2, 5 inputs"; "" for a suite that has one
 * protocol only. */
const char *task_protocol(struct arena *arena, const struct task *task, enum task_profile profile, int trials);

/* One case, in memory. */
struct task_tensor {
    enum akgen_dtype type;
    int rank;
    int64_t dims[TASK_MAX_RANK];
    int64_t elements;
    void *values; /* elements * size bytes; NULL for outputs before a run */
};
/* Elements first .. first + n - 1 of a tensor, widened. complex64 counts as two float32 per element: `first` and `n`
 * are in floats then. */
void task_read_double(const struct task_tensor *tensor, int64_t first, int n, double *out);
struct task_argument { /* what is bound to one parameter */
    struct task_tensor *tensors;
    int count;    /* 0 = absent optional */
    double terms; /* a reference's output: size of the terms that its elements are sums of, if they may cancel all over
                   * the tensor; 0 otherwise */
};
struct task_instance {
    const struct task *task;
    const struct task_case *task_case;
    struct task_argument *inputs, *outputs; /* outputs: shapes, dtypes; values NULL */
    json_t **attrs;                         /* per task attr */
    const char **values;                    /* the case's csv values, with smaller shapes where reduced */
    struct arena arena;                     /* owns everything above but large values */
    void *memory;                           /* large values */
    bool reduced;                           /* stands in for a giant case */
};
/* A seed with this bit draws from the inputs' `strict` generators where they have one; hidden cases always do. */
#define TASK_OTHER_VALUES (1ULL << 63)
/* Makes the inputs of a case from `seed` (the same seed, the same bits on every machine). Giant cases (over 2^24
 * elements in all tensors) are replaced by a smaller one of the same character unless `full`. */
struct akgen_error *task_instance_make(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                       bool full, struct task_instance **instance);
/* The shapes, dtypes and attributes of a case alone: no values are made (tensor values are NULL). Cheap. */
struct akgen_error *task_instance_shapes(const struct task *task, const struct task_case *task_case,
                                         struct task_instance **instance);
void task_instance_free(struct task_instance *instance);

/* Hidden cases. */
/* A case like `shown` of a variant; its id is at least 100000. False if the task has no such case. */
bool task_case_vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                    enum task_variant variant, struct task_case *hidden);

/* True if the profile judges output number `output` of this case; an output that is not may stay unwritten. */
bool task_output_judged(const struct task_instance *instance, int output, enum task_profile profile);

/* References and comparison. */
/* Expected outputs, one per output of the task; one that is not judged has count 0. TASK_UPSTREAM: the published
 * PyTorch module step by step in its data types (the type may be wider than the output's, as the module's is).
 * TASK_STRICT: `golden`, float64 (values are double for floating outputs; complex ones are pairs of doubles in a last
 * dimension). Result is owned by the caller: task_outputs_free. */
struct akgen_error *task_reference(const struct task_instance *instance, enum task_profile profile,
                                   struct task_argument **outputs);
void task_outputs_free(struct task_argument *outputs);

struct task_mismatch {
    bool ok;
    int output, tensor; /* where the first mismatch is: index of output and of tensor in a list */
    const char *output_name;
    int64_t index; /* flat element */
    double actual, expected;
    uint64_t wrong, elements; /* elements outside the tolerance, of all compared */
    double max_abs, max_rel, mean_abs;
    uint64_t not_finite; /* elements that are inf or nan where the check forbids it */
    char reason[256];    /* one sentence, "" if ok */
};
/* Makes the inputs of a case and both references. An error if that fails, or if golden is not finite although the
 * inputs are. */
struct akgen_error *task_check_case(const struct task *task, const struct task_case *task_case, uint64_t seed);
/* An error if zeros, ones or a copy of an input pass the strict check of every case although `trivial` does not list
 * them, or if it lists one that is rejected. */
struct akgen_error *task_check_trivial(const struct task *task);
/* Judges `actual` (same shapes and types as instance->outputs, values set) against the expected outputs. */
void task_compare(const struct task_instance *instance, enum task_profile profile, const struct task_argument *expected,
                  const struct task_argument *actual, struct task_mismatch *result);

#endif
