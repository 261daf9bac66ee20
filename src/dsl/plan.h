/* The planner's rooms: how the axes of the tensors become those of a matrix (plan_layout.c), what the formulas compute as a
 * graph of values (plan_graph.c), in which pass over the rows each is computed (plan_schedule.c), and the text of the program
 * (plan_print.c, plan_units.c).
 *
 * A tensor is a matrix: rows lie along the last axes, all other axes together number the rows. A value has an element for
 * each element of the matrix, one for each row (a column), one for each column (a row, as a bias), or is one number.
 * What sums along other axes, or tensors that are stretched along others, leave no such matrix, is a batch of matrices. */
#ifndef DSL_PLAN_H
#define DSL_PLAN_H

#include "base/text.h"
#include "task/expr/tree.h"
#include "task/task.h"

enum { PLAN_NONE = -1, PLAN_ROWS = 1, PLAN_COLS = 2, PLAN_FULL = 3, PLAN_INNER = 4, PLAN_OUTER = 8, PLAN_BATCH = 12 };
enum { PLAN_KIDS = 3, PLAN_MOST = 512 };
/* Levels: a row's sum is known one level behind what is summed up; what all cores compute together, a phase behind. */
enum { PLAN_PHASE = 64 };

enum plan_operation {
    PLAN_NUMBER, /* `name` is its text in the kernel */
    PLAN_INPUT,  /* or a part of each of its rows */
    PLAN_CALL,   /* element by element: `name` stands in plan_functions.def */
    PLAN_REDUCE, /* of each row, or of the whole tensor: `name` is sum, mean, max or min; a mean has its size beside it */
    PLAN_SCAN,   /* running sums of each row */
    PLAN_PLACE, /* the number of a column, of an element where rows have no meaning, or of a row, modulo `name` if that is not empty */
};
struct plan_value {
    enum plan_operation operation;
    const char *name;
    struct plan_value *kids[PLAN_KIDS];
    int kid_count, number; /* number: in the order in which values are computed */
    int axes;              /* PLAN_ROWS, PLAN_COLS: what it has an element for */
    int width;             /* with PLAN_COLS: how long its rows are, an index of plan->widths */
    int batched;           /* the PLAN_BATCH for which it has an element each besides */
    bool lone;             /* for these alone: its buffer has one number in all places */
    bool truth;            /* of comparisons */
    bool in_kernel;        /* PLAN_NUMBER: the host function does not know it */
    bool all;              /* PLAN_REDUCE of the whole tensor */
    int input;             /* PLAN_INPUT; of a call of type_as: whose data type it is rounded to */
    const char *from;      /* of a part: its first element, "0" at the beginning */
    int level;
    /* A sum that goes along with what it is taken around: one of exp(x - max(x)) with the largest element so far, one of the
     * squares of x - mean(x) with the mean so far. */
    struct plan_value *along, *around; /* that exp or difference; that max or mean */
    bool carried;                      /* it is such a max or mean */
    /* Of a mean that squares go along with: x - mean is x - pivot - offset, with the digits that the mean has not. */
    const char *pivot, *offset;
    int uses;                   /* by other values, passes and outputs */
    const char *buffer;         /* where it is, NULL: nowhere now */
    const char *extracted;      /* of one number: its name in the kernel */
    const char *strips;         /* of a sum: the buffer with those of strips */
    int place;                  /* of what cores take together: which of the numbers in workspace */
    int first_pass, kept_until; /* of its phase */
    int waiting;                /* for it, in the pass that is printed */
    bool again;                 /* that pass computes it only where rows come in pieces */
    /* The part of it that was asked for last. */
    const char *part_from;
    int part_width;
    struct plan_value *part;
};

/* A number that the host function computes and the kernel takes. */
struct plan_number {
    const char *name, *text;
    bool in_kernel; /* it is needed there */
};
/* The length of rows. */
struct plan_width {
    const char *text; /* in the host function */
    int same_as;      /* the width that it has to equal, itself if there is none */
};
struct plan_output {
    struct plan_value *value;
    int axes;         /* of the tensor */
    int tensor;       /* which of the task's outputs it is, or a part of each of its rows */
    const char *from; /* of a part: its first element, as PLAN_INPUT has it */
    int width;        /* of a part: that of the tensor's rows; PLAN_NONE: its own */
};

/* Groups of axes. A tensor may lack the outer or the inner axes of the batch; there are outer ones only where one does. */
enum { PLAN_GROUP_OUTER, PLAN_GROUP_INNER, PLAN_GROUP_ROWS, PLAN_GROUP_COLS, PLAN_GROUPS };
/* Which axes of the tensors are which of the plan. */
struct plan_layout {
    int along, kept; /* PLAN_ROWS, PLAN_COLS: the axis of the matrix that sums go along; the other one */
    int last;        /* the plan has one matrix, whose rows lie along so many last axes */
    /* The plan has a batch of matrices, of which a core takes units: blocks of a matrix's rows or columns, whichever are kept. */
    bool units;
    int batched;          /* the axes of the batch, of PLAN_BATCH; 0: there is one matrix */
    bool batch_along;     /* sums go along the batch, too */
    int rows_at, cols_at; /* the first axis of rows and columns, counted as x.shape[] does */
    int inner_at;         /* that of the batch's inner axes, if there are outer ones */
    const char *measured; /* the tensor that has all axes */
};

/* Which tensors of the task are lists (their plan is that of one tensor), and which hold a number for each member of the lists. */
struct plan_lists {
    bool inputs[TASK_MAX_PARAMS], outputs[TASK_MAX_PARAMS], members[TASK_MAX_PARAMS];
    const char *longest; /* the list that is counted */
};

struct plan {
    struct arena *arena;
    const struct plan_lists *lists; /* NULL: there are none */
    const struct task *task;
    struct akgen_error *error; /* the first */
    struct plan_value *values[PLAN_MOST];
    int count;
    struct plan_width *widths;
    int width_count, width_capacity;
    struct plan_number *numbers;
    int number_count, number_capacity;
    int input_axes[TASK_MAX_PARAMS]; /* PLAN_NONE: a scalar */
    int input_width[TASK_MAX_PARAMS];
    int input_batched[TASK_MAX_PARAMS];
    bool input_lone[TASK_MAX_PARAMS];
    /* Of outputs: some axis is longer than 1 that the inputs do not have, so that the value is stretched along it, or the formula has
     * positions in the output. The layout counts these outputs as it does inputs. */
    bool grown[TASK_MAX_PARAMS];
    const char *shorter
        [TASK_MAX_PARAMS]; /* the value has rows of one element and the output longer ones in some case: both shapes */
    struct plan_layout layout;
    int64_t (*case_sizes)[PLAN_GROUPS]; /* how long the groups are in each case; with one matrix the batch is 1 */
    bool used[TASK_MAX_PARAMS + TASK_MAX_ATTRS];
    struct plan_value **steps;                       /* of the formulas */
    int building;                                    /* the output whose step is made a value */
    struct plan_output outputs[2 * TASK_MAX_PARAMS]; /* of the task, and behind them further parts of rows */
    int output_count;
    const struct expr **joins; /* per step: the tree, if that puts rows together; NULL: it does not */
    bool plain;                /* a row is one core's, however long it is */
    bool flat;                 /* rows have no meaning: a core takes a share of the elements */
    const char
        *mixed; /* a tensor that is of floating or of integer types, which elements are computed in then; NULL: none */
    /* The plan is one of `stages`, which share UB and run one behind the other; inputs from `own_inputs` and outputs
     * from `own_outputs` on are tensors in workspace that stages leave for later ones. */
    int stages, own_inputs, own_outputs;
    bool first_output_long; /* the first output's rows are as long as the inputs', in all cases */
};

/* plan_layout.c */
/* Finds the layout, and which axes each input has. An error says what there is no plan for. */
struct akgen_error *plan_layout(struct plan *plan);
/* True if in all cases the output has as many elements as a value with these axes. */
struct akgen_error *plan_output_keeps(const struct plan *plan, int output, int axes, int batched, bool *keeps);
/* True if in all cases the output has as many rows as the plan. */
bool plan_output_has_rows(const struct plan *plan, int output);
/* The number of a width, whose text in the host function is given. */
int plan_width_add(struct plan *plan, const char *text);
/* The text of the length of a tensor's rows. */
const char *plan_row_length(const struct plan *plan, const char *tensor);

/* plan_graph.c */
/* Makes the values of all outputs. An error says what there is no plan for. */
struct akgen_error *plan_graph(struct plan *plan);
/* The width itself, of several that have to be equal. */
int plan_width_of(const struct plan *plan, int width);

/* plan_schedule.c */
struct plan_pass {
    int level, width;
    struct plan_value **values; /* what it computes, in order */
    int count;
    struct plan_value **reduces; /* rows' sums and the like that it computes */
    int reduce_count;
    int *stores; /* outputs that it stores */
    int store_count;
};
struct plan_schedule {
    struct plan_pass *passes;
    int count, capacity;
    int phases;
    bool rows;   /* cores take rows; else blocks, some rows and columns each */
    bool scans;  /* there are running sums */
    bool strips; /* cores may share a row, each some strips of it */
};
void plan_schedule(struct plan *plan, struct plan_schedule *schedule);
/* What a sum is taken of, as its pass has to compute it. */
struct plan_value *plan_summed(const struct plan_value *reduce);
/* Sets first_pass and kept_until of all values for the passes of a phase: what one has computed is kept for a later one where
 * whole rows fit. */
void plan_keep(struct plan *plan, const struct plan_schedule *schedule, int phase);

/* plan_print.c */
/* The texts of a plan, without the heads of the functions. */
struct plan_parts {
    const char *comment, *shares, *buffers, *body; /* of the kernel */
    const char *measures;      /* ", cols, rows": what the kernel gets besides tensors and attributes */
    const char *sizes, *cores; /* of the host function; how many cores it takes */
    int tile, inputs;
    bool wholes, strips;                         /* there are sums over all; strips of rows */
    bool used[TASK_MAX_PARAMS + TASK_MAX_ATTRS]; /* inputs, then attributes, that the kernel uses */
};
void plan_print(struct plan *plan, const struct plan_schedule *schedule, struct plan_parts *parts);

/* plan_compose.c */
enum { PLAN_STAGES = 8 };
/* The program of a task (names marked), whose stages have these texts; `kept`: the names of the tensors that stages leave. */
void plan_compose(struct arena *arena, const struct task *task, const struct plan_parts *parts, int stages,
                  const char *const *kept, int kept_count, const struct plan_lists *lists, struct text *out);
/* Names of a task are marked in a program's text with this. */
enum { PLAN_MARK = '\1' };
bool plan_is_reserved(const char *name);

/* plan_lists.c */
/* Where a task has lists: `shadow` is the same with one tensor in the place of each list, so that it can be planned. An error says
 * which of its formulas goes beyond single elements, or what else lists have no plan for. */
struct akgen_error *plan_shadow(struct arena *arena, const struct task *task, struct task *shadow,
                                struct plan_lists *lists);
bool plan_has_lists(const struct task *task);

/* plan_split.c */
/* Splits sums and the like off a task that has no plan: `first` computes some, whose operands need no others, into new outputs,
 * its last `kept` ones; `rest` is the task with these as inputs, which are called kept1_gm and so on. An output that needs these
 * sums alone may move to `first`, too. `choice` numbers the ways to do so, PLAN_WAYS for each sum; false if there is no such. */
enum { PLAN_WAYS = 4 };
bool plan_split(struct arena *arena, const struct task *task, int choice, struct task *first, struct task *rest,
                int *kept);

#endif
