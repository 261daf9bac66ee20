/* Benchmark tasks as data: what an operator must do, on which inputs, and how its outputs are judged. docs/tasks.md. */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "base/words.h"
#include "task/model/model.h"
#include "task/reference/expected.h"

/* Loads one task directory: task.yaml, cases.csv. Errors carry file and line: "cases.csv:7: column 'dtype' is ...". */
struct akgen_error *task_load(struct arena *arena, const char *dir, struct task *task);
/* The texts of its two files, neither of which is a link or larger than 4 MiB. */
struct akgen_error *task_read_texts(struct arena *arena, const char *dir, char **yaml, char **cases);
/* task_load of texts; `path` stands for the directory in errors. */
struct akgen_error *task_of_texts(struct arena *arena, const char *path, const char *yaml, const char *cases,
                                  struct task *task);
/* Loads every task below <home>/tasks, sorted by name. One that cannot be loaded is in the list as `broken`; an error
 * means that there are no tasks at all. */
struct akgen_error *task_load_all(struct arena *arena, const char *home, struct task **tasks, int *count);
/* Finds one by "npukernelbench/level1/Math/Sqrt", "level1/Math/Sqrt", "Math/Sqrt", "Sqrt" or a directory path; the
 * error lists near names. A name without a suite means npukernelbench's task where several suites have one. */
struct akgen_error *task_find(struct arena *arena, const char *home, const char *name, struct task *task);
/* NULL, or that the task has no case of this number (below 0: any). One that could not be loaded may have every case: its verdict
 * says what is wrong. */
struct akgen_error *task_require_case(const struct task *task, int id);

/* The grammar that an answer of statements to a task follows (formula_answer_grammar), in the arena. NULL: there is none. */
const char *task_answer_grammar(struct arena *arena, const struct task *task);

/* A copy of a task whose outputs are computed by formulas (docs/tasks.md), for dsl_write: statements `name = expression`, separated by ';'
 * or line ends, over its inputs and attributes, in the order in which they are computed; a name that is assigned again has the new value
 * from there on. Each output must be assigned. Judge with the task itself. The copy lives in the arena and refers to the task. */
struct akgen_error *task_with_formulas(struct arena *arena, const struct task *task, const char *text,
                                       struct task *copy);

/* A copy of a task that has this case alone, of the combinations of data types the one of the case, and what the case gives as inputs that
 * every call has, for dsl_write; it refers to the task. */
struct akgen_error *task_of_case(struct arena *arena, const struct task *task, int id, struct task *copy);

/* Protocol (protocol.c). */
/* True if the task has a check to compare by in the upstream profile: task.yaml states one (`check`, which may be `default`), --tolerance
 * has chosen one, or the suite is npukernelbench, whose own tasks (none has the reference `formula`) have the default check otherwise. */
bool task_has_check(const struct task *task);
/* The profile whose reference and comparison judge the task's outputs: `profile`, or strict where the task has no check. */
enum task_profile task_judged_by(const struct task *task, enum task_profile profile);
/* How many inputs the published benchmark tries per case: 5 in multikernelbench, 1 elsewhere. */
int task_trials(const struct task *task);
/* The limits that a published suite was judged with. */
#define TASK_TOLERANCES(X) X(TASK_TOLERANCE_2025, "1e-2") X(TASK_TOLERANCE_2026, "1e-4")
enum task_tolerance { TASK_TOLERANCES(WORD_VALUE) };
extern const struct words task_tolerances;
/* Chooses among the suite's published tolerances: sets task->check. An error if the suite has none to choose from. */
struct akgen_error *task_set_tolerance(struct arena *arena, struct task *task, const char *tolerance);
/* The same for one case, whose task stays as it is; the new check lives in the arena. */
struct akgen_error *task_instance_set_tolerance(struct arena *arena, struct task_instance *instance,
                                                const char *tolerance);
/* Returns the protocol that is named beside every figure of the suite: "shapes v1, tolerance 1e-2, 5 inputs"; "strict limits, the task has no check" in the
 * upstream profile; "" for a suite that has one protocol only. */
const char *task_protocol(struct arena *arena, const struct task *task, enum task_profile profile, int trials);

/* One case, in memory. */
enum { TASK_GIANT = 1 << 24 }; /* a case with more elements in all tensors is reduced unless `full` */
/* A seed with this bit draws from the inputs' `strict` generators where they have one; hidden cases always do. */
#define TASK_OTHER_VALUES (1ULL << 63)
/* Makes the inputs of a case from `seed` (the same seed, the same bits on every machine). Giant cases (over 2^24
 * elements in all tensors) are replaced by a smaller one of the same character unless `full`. */
struct akgen_error *task_instance_make(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                       bool full, struct task_instance **instance);
/* The shapes, dtypes and attributes of a case alone: no values are made (tensor values are NULL). Cheap. */
struct akgen_error *task_instance_shapes(const struct task *task, const struct task_case *task_case,
                                         struct task_instance **instance);
/* The same of the case that stands in for a giant one, as task_instance_make has it without `full`. */
struct akgen_error *task_instance_smaller(const struct task *task, const struct task_case *task_case,
                                          struct task_instance **instance);
void task_instance_free(struct task_instance *instance);

/* Hidden cases. */
/* A case like `shown` of a variant; its id is at least 100000. False if the task has no such case. */
bool task_case_vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                    enum task_variant variant, struct task_case *hidden);
/* The hidden cases that the strict profile adds to these shown ones: of each data type, every variant of the first
 * shown case that has it. Other sizes only if `any_shape`: they are for candidates that must cope with any shape.
 * `hidden` has room for count * TASK_VARIANTS; they and the cases are the arena's. Returns how many there are. */
int task_hidden_cases(struct arena *arena, const struct task *task, const struct task_case *const *shown, int count,
                      bool any_shape, const struct task_case **hidden);

/* Comparison. */
struct task_mismatch {
    bool ok;
    int output, tensor; /* where the first mismatch is: index of output and of tensor in a list */
    const char *output_name;
    int64_t index; /* flat element */
    double actual, expected;
    enum akgen_dtype type; /* of that output as it is stored */
    double ulps;           /* task_ulps of the two */
    struct {
        int64_t index;
        double actual, expected, ulps;
    } worst; /* of the wrong elements of that tensor the one that is furthest off by ulps, the first of several */
    uint64_t wrong, elements; /* elements outside the tolerance, of all compared */
    double max_abs, max_rel, mean_abs;
    uint64_t not_finite; /* elements that are inf or nan where the check forbids it */
    char distance[96];   /* "(7 ulps of float16); worst 12 ulps", "" if ok */
    char reason[384];    /* one sentence, "" if ok */
    char where[256];     /* what the wrong elements of the tensor with the first mismatch have in common; "": nothing */
};
/* Judges `actual` (same shapes and types as instance->outputs, values set) against the expected outputs. */
void task_compare(const struct task_instance *instance, enum task_profile profile, const struct task_argument *expected,
                  const struct task_argument *actual, struct task_mismatch *result);

/* The strict profile's limit for a tensor, for who compares elsewhere: an element e of golden and a are the same if
 * |e - a| <= slack + relative * (|e| + scale), plus what task_strict_moved differ from e; or both are nan, or e may be (`open_nan`); or a is the
 * infinity of e's sign and |e| plus its limit reaches `overflow` (INFINITY: nothing does). Tensors of integers must be
 * equal but for task_strict_moved. */
struct task_strict_limit {
    double slack, relative, scale, overflow;
    bool open_nan;
};
struct task_strict_limit task_strict_limit(const struct task_instance *instance, const struct task_argument *golden,
                                           int output, int tensor);
/* Golden as it may be as well (NULL: not so): [0] of inputs that are moved a little, which counts for outputs that are `steep`; [1]
 * and [2] on both sides of where formulas jump; [3] as rounding formulas' steps to float32 moves it. The largest difference from golden widens the limit; integers may lie anywhere
 * between. Each is released by task_outputs_free. */
enum { TASK_MOVED = 4 };
void task_strict_moved(const struct task_instance *instance, struct task_argument *moved[TASK_MOVED]);

/* The eager baseline. */
struct task_eager_traffic { /* of one kernel in one case */
    double read, written;   /* bytes */
    double flops;           /* of its matrix products: 2 m k n each */
    enum akgen_dtype type;  /* of what it reads first, or else writes */
};
/* What each kernel of task->eager moves and multiplies in a case that is in memory (or has shapes alone); one for each of
 * task->eager_count, the arena's. */
struct akgen_error *task_eager_of_case(struct arena *arena, const struct task_instance *instance,
                                       struct task_eager_traffic **traffic);

/* `trivial` of a task whose cases are few. */
#define TASK_FEW_CASES "zeros ones first guess tail rows sample constant: its cases are few"
/* The texts of task.yaml and cases.csv that a task begins with: the inputs, outputs and attributes that the reference
 * needs, and small cases. `head`: the lines that say which task it is. False if its formulas are what says it. */
bool task_skeleton(struct arena *arena, const struct task_reference_entry *reference, const char *head,
                   const char **yaml, const char **cases);

/* The files that a candidate begins with (question.c): what prompts show of them, and the host part that scope kernel judges with. */
struct op_file; /* op/op.h */
struct task_question {
    const struct op_file *files; /* below op_host, then below op_kernel */
    size_t count;
    enum task_cores cores; /* what the host part launches */
};
/* Those of the task's folder question/kernel (`host_given`: the host part is given, the kernel is to be written) or question/project (tiling
 * and kernel are to be written); without that folder, files made from task.yaml. All in the arena. Errors: a file cannot be read. */
struct akgen_error *task_question(struct arena *arena, const struct task *task, bool host_given,
                                  struct task_question *question);
/* Writes them below `dir`, which is made if it is missing. */
struct akgen_error *task_question_write(struct arena *arena, const struct task *task, bool host_given, const char *dir);

/* Is a task fit to judge with? */
/* Makes the inputs of a case and both references. An error if that fails, or if golden is not finite although the
 * inputs are. */
struct akgen_error *task_check_case(const struct task *task, const struct task_case *task_case, uint64_t seed);
/* A candidate that leaves work out in one way, and what a profile makes of it. */
struct task_mutant {
    enum task_mutation kind;
    int input, attr; /* what it does not read, TASK_NONE if that is none */
    int axis;        /* of a sample: along which axis; -1: of the whole tensor */
    bool part;       /* its outputs are right wherever the input has an element of its own that is not left out */
    json_t *value;   /* of an attribute: what it is taken for */
    bool applies;    /* some case can tell it from a right one, as far as shapes go */
    bool noticed;    /* some case has */
    int idle;        /* of one with `part`: in how many cases it has changed no output */
    int deep; /* the case of a long sum that a sample passes, which the candidate may know by its sizes; TASK_NONE: none */
};
struct task_mutants {
    struct task_mutant *list;
    int count;
};
/* Lists the mutants of a task and tries each on the cases that the profile has (shown with both kinds of values, and hidden), the smallest
 * first, until one notices: outputs are computed by the reference of the profile. Unless `full`, cases of over 2^18 elements beyond the first
 * four are for what no smaller one has noticed in the strict profile, and left out in the other. The list is the caller's:
 * task_mutants_free. */
struct akgen_error *task_mutants_try(const struct task *task, enum task_profile profile, bool full,
                                     struct task_mutants *mutants);
void task_mutants_free(struct task_mutants *mutants);
/* True if the profile passes it in every case. */
bool task_mutant_passes(const struct task_mutant *mutant);
/* `trivial` of the task if it lists the mutant's kind, else of the input or the attribute that the mutant is about. */
const struct task_trivial *task_mutant_trivial(const struct task *task, const struct task_mutant *mutant);
/* "takes input 'm' for zeros". */
const char *task_mutant_text(struct arena *arena, const struct task *task, const struct task_mutant *mutant);
/* An error if a mutant passes the strict profile although `trivial` does not list it, or if `trivial` lists what is rejected. */
struct akgen_error *task_check_mutants(const struct task *task, bool full);

#endif
