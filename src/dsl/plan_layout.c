/* Which axes of the tensors are a matrix's rows, which its columns, and which number the matrices. Axes that are neighbours are
 * one where every tensor has all of them or none, and every sum goes along all of them or none: the task's cases say. */
#include "base/array.h"
#include "dsl/plan.h"
#include "task/expr/formula.h"

#include <stdlib.h>
#include <string.h>

enum { RANK = TASK_MAX_RANK };
static const int group_bits[PLAN_GROUPS] = {PLAN_OUTER, PLAN_INNER, PLAN_ROWS, PLAN_COLS};

/* Axes of a case are bits, the last one's RANK - 1, whatever the rank. Of one that is 1 in all inputs a case does not tell who
 * has it: sums' operands, and inputs whose rank reaches so far if there is a layout then, else it is of no matter. */
struct along {
    unsigned in, out; /* of the operand's axes those that it goes along, the others */
};
struct case_axes {
    struct task_instance *instance;
    struct formula_bound *bound;
    int rank;
    unsigned wide; /* longer than 1 in some input */
    struct along *sums;
    int count, capacity;
};

static unsigned of_rank(int rank)
{
    return ((1U << rank) - 1) << (RANK - rank);
}

static unsigned wide_axes(const int64_t *dims, int rank)
{
    unsigned wide = 0;
    for (int i = 0; i < rank; i++)
        wide |= (unsigned)(dims[i] != 1) << (RANK - rank + i);
    return wide;
}

/* A tensor whose axes count: an input's, and behind the inputs an output's whose value is stretched; NULL: they do not. */
static int tensor_count(const struct plan *plan)
{
    return plan->task->input_count + plan->own_outputs;
}

static const struct task_tensor *tensor_of(const struct plan *plan, const struct task_instance *instance, int number)
{
    const int output = number - plan->task->input_count;
    if (output >= 0)
        return plan->grown[output] ? instance->outputs[output].tensors : NULL;
    return plan->used[number] && instance->inputs[number].count ? instance->inputs[number].tensors : NULL;
}

static const char *name_of(const struct plan *plan, int number)
{
    const int output = number - plan->task->input_count;
    return output >= 0 ? plan->task->outputs[output].name : plan->task->inputs[number].name;
}

/* Sums. */
static void find_sums(struct plan *plan, struct case_axes *axes, const struct formula_bound *bound,
                      const struct expr *node)
{
    enum formula_kind kind = node && node->node == NODE_CALL ? formula_kind_of(node) : FORMULA_SIZE;
    unsigned along;
    int64_t dims[RANK];
    if (!node)
        return;
    if ((kind == FORMULA_SUMMARY || kind == FORMULA_ROW) && !formula_of_all(node) &&
        formula_axes(bound, node, &along, dims)) {
        unsigned has = wide_axes(dims, RANK) | (of_rank(axes->rank) & ~axes->wide);
        ARRAY_ADD(plan->arena, axes->sums, axes->count, axes->capacity, (struct along){has & along, has & ~along});
    }
    for (int i = 0; i < node->kid_count; i++)
        find_sums(plan, axes, bound, node->kids[i]);
}

/* The axes of the tensors, of which there are more when outputs have grown. */
static void read_tensors(const struct plan *plan, struct case_axes *axes)
{
    for (int i = 0; i < tensor_count(plan); i++) {
        const struct task_tensor *tensor = tensor_of(plan, axes->instance, i);
        axes->rank = tensor && tensor->rank > axes->rank ? tensor->rank : axes->rank;
        axes->wide |= tensor ? wide_axes(tensor->dims, tensor->rank) : 0;
    }
}

static bool is_number(const struct task_param *param)
{
    return strcmp(expr_text(param->shape), "[1]") == 0;
}

static const char *show_shape(struct arena *arena, const int64_t *dims, int rank)
{
    const char *text = "[";
    for (int i = 0; i < rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? ", " : "", (long long)dims[i]);
    return arena_printf(arena, "%s]", text);
}

/* True if the value of an output has fewer elements, and is stretched. */
static bool is_shorter(struct plan *plan, const struct case_axes *axes, int output)
{
    const struct task_tensor *tensor = axes->instance->outputs[output].tensors;
    int64_t dims[RANK], elements = 1;
    int rank = formula_shape(axes->bound, plan->task->outputs[output].formula->count - 1, dims);
    for (int i = 0; i < rank; i++)
        elements *= dims[RANK - rank + i];
    if (elements >= tensor->elements)
        return false;
    if (tensor->rank && (!rank || dims[RANK - 1] == 1) && tensor->dims[tensor->rank - 1] != 1 && !plan->shorter[output])
        plan->shorter[output] =
            arena_printf(plan->arena, "the shape %s, its value %s", show_shape(plan->arena, tensor->dims, tensor->rank),
                         show_shape(plan->arena, dims + RANK - rank, rank));
    return true;
}

/* Some input is a tensor, not one number in all cases. */
static bool has_tensors(const struct plan *plan)
{
    bool has = false;
    for (int i = 0; i < plan->task->input_count; i++)
        has |= plan->used[i] && plan->task->inputs[i].kind != TASK_SCALAR && !is_number(&plan->task->inputs[i]);
    return has;
}

static void find_grown(struct plan *plan, const struct case_axes *axes)
{
    const bool tensors = has_tensors(plan);
    for (int i = 0; i < plan->own_outputs && !plan->lists; i++) {
        const struct task_tensor *output = axes->instance->outputs[i].tensors;
        plan->grown[i] |= formula_places(plan->task->outputs[i].formula, i);
        plan->grown[i] |= is_shorter(plan, axes, i) && tensors && wide_axes(output->dims, output->rank) & ~axes->wide;
    }
}

static struct akgen_error *read_case(struct plan *plan, struct case_axes *axes)
{
    struct akgen_error *error = task_formulas_bind(plan->arena, axes->instance, &axes->bound);
    read_tensors(plan, axes);
    if (!error)
        find_grown(plan, axes);
    return error;
}

static void read_sums(struct plan *plan, struct case_axes *axes)
{
    const struct formula *last = plan->task->outputs[plan->task->output_count - 1].formula;
    read_tensors(plan, axes);
    for (int i = 0; i < last->count; i++)
        find_sums(plan, axes, axes->bound, last->steps[i].tree);
}

/* Layouts. */
/* Where an axis that is counted as x.shape[] does lies in a case. */
static int place_of(int axis, int rank)
{
    return axis < 0 ? RANK + axis : RANK - rank + axis;
}

static unsigned group_axes(const struct plan_layout *layout, int rank, int group)
{
    int inner = layout->units && layout->inner_at ? place_of(layout->inner_at, rank) : 0;
    int rows = layout->units ? place_of(layout->rows_at, rank) : 0;
    int cols = layout->units ? place_of(layout->cols_at, rank) : RANK - layout->last;
    const int begins[PLAN_GROUPS + 1] = {0, inner, rows, cols, RANK};
    return ((1U << begins[group + 1]) - 1) & ~((1U << begins[group]) - 1);
}

static void group_sizes(const struct plan_layout *layout, int rank, const struct task_tensor *tensor,
                        int64_t sizes[PLAN_GROUPS])
{
    for (int g = 0; g < PLAN_GROUPS; g++) {
        unsigned axes = group_axes(layout, rank, g);
        sizes[g] = 1;
        for (int i = 0; i < tensor->rank; i++)
            sizes[g] *= axes >> (RANK - tensor->rank + i) & 1 ? tensor->dims[i] : 1;
    }
}

/* What sums go along, of the groups that the layout makes, as bits; the others that their operands have. */
static void find_along(const struct plan_layout *layout, const struct case_axes *axes, int *in, int *out)
{
    for (int i = 0; i < axes->count; i++)
        for (int g = 0; g < PLAN_GROUPS; g++) {
            unsigned group = group_axes(layout, axes->rank, g);
            *in |= axes->sums[i].in & group ? group_bits[g] : 0;
            *out |= axes->sums[i].out & group ? group_bits[g] : 0;
        }
}

static bool divides(const struct plan *plan, const struct plan_layout *layout, const struct case_axes *axes,
                    bool by_rank)
{
    const int least = layout->units ? abs(layout->rows_at) : layout->last, cols = layout->cols_at;
    if (layout->units && (axes->rank < least || (cols > 0 && axes->rank < cols)))
        return false;
    for (int i = 0; i < tensor_count(plan); i++) {
        const struct task_tensor *tensor = tensor_of(plan, axes->instance, i);
        unsigned has = tensor ? wide_axes(tensor->dims, tensor->rank) : 0;
        if (has && by_rank)
            has |= of_rank(tensor->rank) & ~axes->wide;
        for (int g = 0; g < PLAN_GROUPS; g++) {
            unsigned group = (by_rank ? of_rank(axes->rank) : axes->wide) & group_axes(layout, axes->rank, g);
            if (has & group && (has & group) != group)
                return false;
        }
        if (!layout->units && tensor && tensor->elements != 1 && tensor->rank < least && least > 1)
            return false;
    }
    return true;
}

/* True if all cases have this layout, of which along, kept and batches are found. */
static bool fits(const struct plan *plan, struct plan_layout *layout, const struct case_axes *cases, bool by_rank)
{
    int in = 0, out = 0;
    for (int i = 0; i < plan->task->case_count; i++) {
        if (!divides(plan, layout, &cases[i], by_rank))
            return false;
        find_along(layout, &cases[i], &in, &out);
        for (int g = PLAN_GROUP_OUTER; g <= PLAN_GROUP_INNER; g++)
            if (group_axes(layout, cases[i].rank, g) >> (RANK - cases[i].rank))
                layout->batched |= group_bits[g];
    }
    layout->along = layout->units && in & PLAN_ROWS ? PLAN_ROWS : PLAN_COLS;
    layout->kept = PLAN_FULL ^ layout->along;
    layout->batch_along = in & PLAN_BATCH;
    bool one = (in & PLAN_FULL) != PLAN_FULL && (in & PLAN_FULL || !layout->batch_along) &&
               !(layout->inner_at && layout->batch_along);
    return !(in & out) && (layout->units ? one : !(in & ~PLAN_COLS));
}

/* split: the batch has outer axes. */
static bool find_units(struct plan *plan, const struct case_axes *cases, bool by_rank, bool split)
{
    struct plan_layout *layout = &plan->layout;
    for (int from_end = 0; from_end < 2; from_end++)
        for (int rows = from_end; rows < RANK; rows++)
            for (int cols = rows + 1; cols < RANK; cols++) {
                int inner = !split ? 0 : from_end ? cols + 1 : 1;
                for (int last = !split ? 0 : from_end ? RANK - 1 : rows - 1; inner <= last; inner++) {
                    *layout = from_end ? (struct plan_layout){.rows_at = -cols, .cols_at = -rows, .inner_at = -inner}
                                       : (struct plan_layout){.rows_at = rows, .cols_at = cols, .inner_at = inner};
                    layout->last = 1;
                    layout->units = true;
                    if (fits(plan, layout, cases, by_rank))
                        return true;
                }
            }
    return false;
}

static bool find_layout(struct plan *plan, const struct case_axes *cases, bool by_rank)
{
    for (int last = 1; last < RANK; last++) {
        plan->layout = (struct plan_layout){.last = last};
        if (fits(plan, &plan->layout, cases, by_rank))
            return true;
    }
    return find_units(plan, cases, by_rank, false) || find_units(plan, cases, by_rank, true);
}

static struct akgen_error *no_layout(struct plan *plan, const struct case_axes *cases)
{
    for (int i = 0; i < plan->task->case_count; i++)
        for (int a = 0; a < cases[i].count; a++)
            for (int b = 0; b < cases[i].count; b++)
                if (cases[i].sums[a].in & cases[i].sums[b].out)
                    return error_new("%s: sums go along different axes, which the planner has no plan for",
                                     plan->task->name);
    return error_new("%s: what is summed up and what is stretched parts the axes into more than a batch, rows and "
                     "columns, which the planner has no plan for",
                     plan->task->name);
}

/* Inputs. */
/* What the cases say of the groups of a tensor: it has one if that is longer than 1 somewhere, and lacks it if another
 * tensor's is there and its own is not. */
struct evidence {
    int has, lacks, rank;
    bool deep; /* its rank is that of each case */
};

static struct akgen_error *look_at_case(const struct plan *plan, const struct case_axes *axes, int64_t all[PLAN_GROUPS],
                                        struct evidence *evidence)
{
    int64_t sizes[PLAN_GROUPS];
    for (int g = 0; g < PLAN_GROUPS; g++)
        all[g] = 1;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < tensor_count(plan); i++) {
            const struct task_tensor *tensor = tensor_of(plan, axes->instance, i);
            if (!tensor)
                continue;
            group_sizes(&plan->layout, axes->rank, tensor, sizes);
            for (int g = 0; g < PLAN_GROUPS; g++) {
                bool parts = g == PLAN_GROUP_COLS && !plan->layout.units; /* rows of parts of others */
                all[g] = sizes[g] != 1 && !round ? sizes[g] : all[g];
                if (round && sizes[g] != 1 && sizes[g] != all[g] && !parts)
                    return error_new("%s: '%s' has other rows than another input, which the planner has no plan for",
                                     plan->task->name, name_of(plan, i));
                evidence[i].has |= round && sizes[g] != 1 ? group_bits[g] : 0;
                evidence[i].lacks |= round && sizes[g] == 1 && all[g] != 1 ? group_bits[g] : 0;
            }
            evidence[i].rank = tensor->rank;
            evidence[i].deep &= tensor->rank == axes->rank;
        }
    return NULL;
}

int plan_width_add(struct plan *plan, const char *text)
{
    for (int i = 0; i < plan->width_count; i++)
        if (strcmp(plan->widths[i].text, text) == 0)
            return i;
    int width = plan->width_count;
    ARRAY_ADD(plan->arena, plan->widths, plan->width_count, plan->width_capacity, (struct plan_width){text, width});
    return width;
}

const char *plan_row_length(const struct plan *plan, const char *tensor)
{
    const char *text = "";
    for (int axis = 1; axis <= plan->layout.last; axis++)
        text = arena_printf(plan->arena, "%s%s%s.shape[-%d]", text, axis > 1 ? " * " : "", tensor, axis);
    return text;
}

static struct akgen_error *set_axes(struct plan *plan, const struct evidence *evidence, int input, int rank)
{
    const struct task_param *param = &plan->task->inputs[input];
    const struct plan_layout *layout = &plan->layout;
    int groups = PLAN_FULL | layout->batched;
    int open = groups & ~(evidence->has | evidence->lacks); /* no case tells */
    if (evidence->has & evidence->lacks)
        return error_new("%s: '%s' is stretched in some cases only, which the planner has no plan for",
                         plan->task->name, param->name);
    int has = evidence->has | (evidence->rank == rank ? open : open & PLAN_COLS);
    if (is_number(param))
        has = 0;
    plan->input_axes[input] = param->kind == TASK_SCALAR ? PLAN_NONE : has & PLAN_FULL;
    bool lone = has && !(has & PLAN_FULL);
    plan->input_batched[input] = param->kind == TASK_SCALAR ? 0 : has & PLAN_BATCH;
    if (param->kind != TASK_SCALAR && lone && !layout->batch_along)
        plan->input_axes[input] = layout->kept;
    plan->input_lone[input] = lone;
    if (param->kind == TASK_SCALAR || !plan->used[input])
        return NULL;
    if (layout->batch_along && has & PLAN_BATCH && !(has & layout->along))
        return error_new("%s: '%s' has the batch and not what sums go along, which the planner has no plan for",
                         plan->task->name, param->name);
    bool own = input < plan->own_inputs; /* what a stage leaves is as long as a shape says, and has none itself */
    if (layout->units && evidence->deep && has == groups && !layout->measured && own)
        plan->layout.measured = param->name;
    if (!(has & PLAN_COLS))
        return NULL;
    for (int i = 0; i < plan->own_inputs && !own && !layout->units; i++)
        if (plan->used[i] && plan->input_axes[i] & PLAN_COLS && plan->input_axes[i] != PLAN_NONE) {
            plan->input_width[input] = plan->input_width[i];
            return NULL;
        }
    if (!own && !layout->units) {
        if (!plan->own_outputs || layout->last > 1 || !plan->first_output_long)
            return error_new("%s: the length of '%s' stands nowhere", plan->task->name, param->name);
        plan->input_width[input] = plan_width_add(plan, plan_row_length(plan, plan->task->outputs[0].name));
        return NULL;
    }
    plan->input_width[input] = plan_width_add(plan, layout->units ? "" : plan_row_length(plan, param->name));
    return NULL;
}

static struct akgen_error *read_axes(struct plan *plan, const struct case_axes *cases)
{
    struct evidence evidence[2 * TASK_MAX_PARAMS] = {0};
    struct akgen_error *error = NULL;
    int rank = 0;
    plan->case_sizes = arena_alloc(plan->arena, sizeof *plan->case_sizes * (size_t)plan->task->case_count);
    for (int i = 0; i < tensor_count(plan); i++)
        evidence[i].deep = true;
    for (int i = 0; i < plan->task->case_count && !error; i++)
        error = look_at_case(plan, &cases[i], plan->case_sizes[i], evidence);
    for (int i = 0; i < tensor_count(plan); i++)
        rank = evidence[i].rank > rank ? evidence[i].rank : rank;
    plan->first_output_long = true;
    for (int i = 0; i < plan->task->case_count; i++) {
        const struct task_tensor *output = &cases[i].instance->outputs[0].tensors[0];
        int64_t length = output->rank ? output->dims[output->rank - 1] : 1;
        plan->first_output_long &= length == plan->case_sizes[i][PLAN_GROUP_COLS];
    }
    for (int i = 0; i < plan->task->input_count && !error; i++)
        error = set_axes(plan, &evidence[i], i, rank);
    if (plan->layout.units)
        plan_width_add(plan, ""); /* an output may alone have columns */
    for (int i = 0; i < plan->own_outputs && plan->layout.units && !plan->layout.measured; i++)
        if (plan->grown[i] && evidence[plan->task->input_count + i].deep)
            plan->layout.measured = plan->task->outputs[i].name;
    if (!error && plan->layout.units && !plan->layout.measured)
        error =
            error_new("%s: no input has all axes of the value, which the planner has no plan for", plan->task->name);
    return error;
}

struct akgen_error *plan_output_keeps(const struct plan *plan, int output, int axes, int batched, bool *keeps)
{
    const struct task *task = plan->task;
    *keeps = true;
    for (int i = 0; i < task->case_count && *keeps; i++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_shapes(task, &task->cases[i], &instance);
        if (error)
            return error;
        int64_t elements = 1;
        for (int g = 0; g < PLAN_GROUPS; g++)
            elements *= (axes | batched) & group_bits[g] ? plan->case_sizes[i][g] : 1;
        *keeps = instance->outputs[output].tensors[0].elements == elements;
        task_instance_free(instance);
    }
    return NULL;
}

/* Some input that has more than one element. */
static bool uses_tensors(const struct plan *plan)
{
    for (int i = 0; i < plan->task->input_count; i++)
        if (plan->used[i] && plan->input_axes[i] > 0)
            return true;
    return false;
}

bool plan_output_has_rows(const struct plan *plan, int output)
{
    bool has = true, measured = uses_tensors(plan); /* else the first output says how many rows there are */
    for (int i = 0; i < plan->task->case_count && has; i++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_shapes(plan->task, &plan->task->cases[i], &instance);
        if (error) {
            error_free(error);
            return false;
        }
        const struct task_tensor *tensor = &instance->outputs[output].tensors[0];
        int64_t length = 1;
        for (int axis = 0; axis < plan->layout.last && axis < tensor->rank; axis++)
            length *= tensor->dims[tensor->rank - 1 - axis];
        has = tensor->elements ==
              (measured ? plan->case_sizes[i][PLAN_GROUP_ROWS] * length : instance->outputs[0].tensors[0].elements);
        task_instance_free(instance);
    }
    return has;
}

struct akgen_error *plan_layout(struct plan *plan)
{
    const struct task *task = plan->task;
    struct case_axes *cases = arena_alloc(plan->arena, sizeof *cases * (size_t)task->case_count);
    struct akgen_error *error = NULL;
    for (int i = 0; i < task->case_count && !error; i++) {
        struct task_instance *instance;
        error = task_instance_shapes(task, &task->cases[i], &instance);
        cases[i] = (struct case_axes){.instance = error ? NULL : instance};
        error = error ? error : read_case(plan, &cases[i]);
    }
    for (int i = 0; i < task->case_count && !error; i++)
        read_sums(plan, &cases[i]);
    if (!error && !find_layout(plan, cases, true) && !find_layout(plan, cases, false))
        error = no_layout(plan, cases);
    error = error ? error : read_axes(plan, cases);
    for (int i = 0; i < task->case_count; i++)
        task_instance_free(cases[i].instance);
    return error;
}
