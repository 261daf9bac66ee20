/* One stage of a task that no plan computes as a whole. Some of its sums, whose operands need no other ones, become the outputs of a
 * task of their own, and inputs of what is left: tensors of float32, whose sizes in each case stand in columns that are added to
 * the cases. Trees are copied, with these inputs in the place of the sums. */
#include "dsl/plan.h"
#include "task/expr/formula.h"
#include "task/expr/expr.h"

#include <string.h>

enum { RANK = TASK_MAX_RANK, MOST_SUMS = 8 };

struct splitting {
    struct arena *arena;
    const struct task *task;
    const struct formula *last; /* all steps */
    const struct expr *sums[MOST_SUMS];
    const char *names[MOST_SUMS];
    int count, skip;             /* sums that are split off; that are passed over before */
    bool deep;                   /* the first one with the sums that it needs */
    bool moves[TASK_MAX_PARAMS]; /* per output: it needs no other sums, and is made with them */
    int moved;
    bool needed[MOST_SUMS];            /* by what is left */
    bool *has;                         /* per step: it needs one that is split off */
    unsigned along;                    /* the axes of the first, in case 0 */
    bool single;                       /* it alone */
    bool *waits;                       /* per step: it needs a sum that is not split off */
    int *steps;                        /* per step: its number in the new task, -1: it has none */
    const struct formula_bound *bound; /* case 0 */
};

static int names_of(const struct task *task)
{
    return task->input_count + task->attr_count;
}

/* Looking for sums, operands first. */
/* True if the value needs a sum that stays. */
static bool scan(struct splitting *s, const struct expr *node)
{
    bool waits = false;
    if (!node)
        return false;
    if (node->node == NODE_WORD)
        return node->index >= names_of(s->task) && s->waits[node->index - names_of(s->task)];
    for (int i = 0; i < node->kid_count; i++)
        waits |= scan(s, node->kids[i]);
    enum formula_kind kind = node->node == NODE_CALL ? formula_kind_of(node) : FORMULA_SIZE;
    if (kind != FORMULA_SUMMARY || (waits && !s->deep))
        return waits || kind == FORMULA_ROW;
    for (int i = 0; i < s->count; i++)
        if (s->sums[i] == node)
            return false;
    unsigned along = 0;
    int64_t dims[RANK];
    if (!formula_axes(s->bound, node, &along, dims) || s->count == MOST_SUMS ||
        (s->count && (s->single || along != s->along)))
        return true;
    if (!s->count && s->skip-- > 0)
        return true;
    s->along = along;
    s->sums[s->count++] = node;
    return false;
}

static int sum_of(const struct splitting *s, const struct expr *node)
{
    for (int i = 0; i < s->count; i++)
        if (s->sums[i] == node)
            return i;
    return -1;
}

static bool has_sum(const struct splitting *s, const struct expr *node)
{
    if (node && node->node == NODE_WORD && node->index >= names_of(s->task))
        return s->has[node->index - names_of(s->task)];
    bool has = node && sum_of(s, node) >= 0;
    for (int i = 0; node && i < node->kid_count && !has; i++)
        has = has_sum(s, node->kids[i]);
    return has;
}

/* `stay`: outputs do. */
static void find_sums(struct splitting *s, bool stay)
{
    for (int i = 0; i < s->last->count; i++)
        s->waits[i] = scan(s, s->last->steps[i].tree);
    for (int i = 0; i < s->last->count && !stay; i++) {
        const struct formula_step *step = &s->last->steps[i];
        s->has[i] = has_sum(s, step->tree);
        if (step->result && s->has[i] && !s->waits[i]) {
            s->moves[step->output] = true;
            s->moved++;
        }
    }
}

/* New steps. */
/* `whole`: sums are what they are; else they are inputs. */
static void mark(struct splitting *s, const struct expr *node, bool whole)
{
    if (node && !whole && sum_of(s, node) >= 0)
        s->needed[sum_of(s, node)] = true;
    if (!node || (!whole && sum_of(s, node) >= 0))
        return;
    int step = node->node == NODE_WORD ? node->index - names_of(s->task) : -1;
    if (step >= 0 && s->steps[step] < 0) {
        s->steps[step] = 0;
        mark(s, s->last->steps[step].tree, whole);
    }
    for (int i = 0; i < node->kid_count; i++)
        mark(s, node->kids[i], whole);
}

static struct expr *copy(const struct splitting *s, const struct expr *node, bool whole)
{
    if (!node)
        return NULL;
    struct expr *own = arena_copy(s->arena, node, sizeof *node);
    const int added = whole ? 0 : s->count, sum = whole ? -1 : sum_of(s, node);
    if (sum >= 0) {
        *own = (struct expr){.node = NODE_WORD, .text = node->text, .at = node->at, .name = s->names[sum]};
        own->index = s->task->input_count + sum;
        return own;
    }
    if (node->node == NODE_WORD && node->index >= names_of(s->task))
        own->index = names_of(s->task) + added + s->steps[node->index - names_of(s->task)];
    else if (node->node == NODE_WORD && node->index >= s->task->input_count)
        own->index = node->index + added;
    own->kids = arena_alloc(s->arena, sizeof *own->kids * (size_t)(node->kid_count + 1));
    for (int i = 0; i < node->kid_count; i++)
        own->kids[i] = copy(s, node->kids[i], whole);
    return own;
}

/* The names that a tree needs, bit i for number i. */
static uint64_t uses_of(const struct expr *node, const struct formula_step *steps, int names)
{
    uint64_t uses = 0;
    if (node && node->node == NODE_WORD && node->index >= 0)
        return node->index < names ? 1ULL << node->index : steps[node->index - names].uses;
    for (int i = 0; node && i < node->kid_count; i++)
        uses |= uses_of(node->kids[i], steps, names);
    return uses;
}

/* The steps that are needed, in their order; returns how many. */
static int copy_steps(struct splitting *s, struct formula_step *steps, int names, bool whole)
{
    int count = 0;
    for (int i = 0; i < s->last->count; i++) {
        if (s->steps[i] < 0)
            continue;
        s->steps[i] = count;
        steps[count] = s->last->steps[i];
        steps[count].tree = copy(s, s->last->steps[i].tree, whole);
        steps[count].uses = uses_of(steps[count].tree, steps, names);
        if (steps[count].result)
            steps[count].result = s->moves[steps[count].output] == whole;
        count++;
    }
    return count;
}

static const struct formula *formula_new(const struct splitting *s, const char *text, const struct formula_step *steps,
                                         int count, int names)
{
    return arena_copy(s->arena, &(struct formula){text, steps, count, names}, sizeof(struct formula));
}

/* The tasks. */
static struct task_param *params_with(const struct splitting *s, const struct task_param *params, int count,
                                      const struct expr_columns *columns)
{
    static enum akgen_dtype type = AKGEN_FLOAT;
    struct task_param *all = arena_alloc(s->arena, sizeof *all * (size_t)(count + s->count + 1));
    memcpy(all, params, sizeof *all * (size_t)count);
    for (int i = 0; i < s->count; i++) {
        struct task_param *param = &all[count + i];
        *param = (struct task_param){.name = s->names[i], .kind = TASK_TENSOR, .types = &type, .type_count = 1};
        param->in_place = param->points_into = param->along = param->made_of = TASK_NONE;
        const char *column = columns->names[columns->count - s->count + i];
        if (expr_parse(s->arena, arena_printf(s->arena, "$%s", column), columns, &param->shape) ||
            expr_parse(s->arena, "float32", NULL, &param->dtype))
            return NULL;
    }
    return all;
}

/* The columns with the shapes of the sums, and the cases that have them; false if a sum has none in some case. */
static bool add_columns(const struct splitting *s, struct expr_columns *columns, struct task_case **cases)
{
    const struct task *task = s->task;
    const int old = task->columns.count, all = old + s->count;
    const char **names = arena_alloc(s->arena, sizeof *names * (size_t)all);
    memcpy(names, task->columns.names, sizeof *names * (size_t)old);
    for (int i = 0; i < s->count; i++)
        names[old + i] = arena_printf(s->arena, "shape_%d", old + i);
    *columns = (struct expr_columns){names, all};
    *cases = arena_copy(s->arena, task->cases, sizeof **cases * (size_t)task->case_count);
    for (int c = 0; c < task->case_count; c++) {
        struct task_instance *instance;
        struct formula_bound *bound;
        struct expr_value *cells = arena_alloc(s->arena, sizeof *cells * (size_t)all);
        struct akgen_error *error = task_instance_shapes(task, &task->cases[c], &instance);
        struct akgen_error *unbound = error ? NULL : task_formulas_bind(s->arena, instance, &bound);
        bool known = !error && !unbound;
        memcpy(cells, task->cases[c].cells, sizeof *cells * (size_t)old);
        for (int i = 0; i < s->count && known; i++) {
            int64_t dims[RANK];
            int rank = formula_call_shape(bound, s->sums[i], dims);
            struct expr_value *items = arena_alloc(s->arena, sizeof *items * RANK);
            for (int d = 0; d < rank; d++)
                items[d] = (struct expr_value){.kind = EXPR_INT,
                                               .integer = dims[RANK - rank + d],
                                               .real = (double)dims[RANK - rank + d],
                                               .text = ""};
            items[0] = rank ? items[0] : (struct expr_value){.kind = EXPR_INT, .integer = 1, .real = 1, .text = ""};
            cells[old + i] =
                (struct expr_value){.kind = EXPR_LIST, .items = items, .count = rank > 0 ? rank : 1, .text = ""};
            known = rank >= 0;
        }
        if (!error)
            task_instance_free(instance);
        error_free(error);
        error_free(unbound);
        if (!known)
            return false;
        (*cases)[c].cells = cells;
    }
    return true;
}

/* Outputs that move, or those that stay, whose formulas are among the steps. */
static void set_outputs(const struct splitting *s, struct task_param *outputs, bool moved, struct formula_step *steps,
                        int count, int names)
{
    int numbers[TASK_MAX_PARAMS] = {0}, next = 0;
    for (int i = 0; i < s->task->output_count; i++)
        if (s->moves[i] == moved) {
            outputs[next] = s->task->outputs[i];
            numbers[i] = next++;
        }
    for (int i = 0; i < count; i++)
        if (steps[i].result) {
            const char *text = s->task->outputs[steps[i].output].formula->text;
            steps[i].output = numbers[steps[i].output];
            outputs[steps[i].output].formula = formula_new(s, text, steps, i + 1, names);
        }
}

/* Marks the steps of outputs that move, or of those that stay, in which sums are inputs. */
static void mark_outputs(struct splitting *s, bool moved)
{
    for (int i = 0; i < s->last->count; i++)
        s->steps[i] = -1;
    for (int i = 0; i < s->last->count; i++)
        if (s->last->steps[i].result && s->moves[s->last->steps[i].output] == moved) {
            s->steps[i] = 0;
            mark(s, s->last->steps[i].tree, moved);
        }
}

static bool make_first(struct splitting *s, struct task *first, const struct expr_columns *columns)
{
    const int names = names_of(s->task);
    struct formula_step *steps = arena_alloc(s->arena, sizeof *steps * (size_t)(s->last->count + s->count));
    mark_outputs(s, true);
    for (int i = 0; i < s->count; i++)
        mark(s, s->sums[i], true);
    int count = copy_steps(s, steps, names, true);
    first->outputs = params_with(s, s->task->outputs, s->moved, columns); /* the first ones are set below */
    first->output_count = s->moved + s->count;
    if (!first->outputs)
        return false;
    set_outputs(s, first->outputs, true, steps, count, names);
    for (int i = 0; i < s->count; i++) {
        struct formula_step *step = &steps[count++];
        *step = (struct formula_step){.name = s->names[i], .output = s->moved + i, .result = true};
        step->tree = copy(s, s->sums[i], true);
        step->uses = uses_of(step->tree, steps, names);
        first->outputs[s->moved + i].formula = formula_new(s, s->names[i], steps, count, names);
    }
    return true;
}

static bool make_rest(struct splitting *s, struct task *rest, const struct expr_columns *columns)
{
    const int names = names_of(s->task) + s->count;
    struct formula_step *steps = arena_alloc(s->arena, sizeof *steps * (size_t)s->last->count);
    mark_outputs(s, false);
    int count = copy_steps(s, steps, names, false);
    rest->inputs = params_with(s, s->task->inputs, s->task->input_count, columns);
    rest->input_count += s->count;
    rest->output_count -= s->moved;
    rest->outputs = arena_alloc(s->arena, sizeof *rest->outputs * (size_t)rest->output_count);
    set_outputs(s, rest->outputs, false, steps, count, names);
    return rest->inputs;
}

/* Sums that nothing but outputs that move needs are not kept. */
static void drop_sums(struct splitting *s)
{
    int count = 0;
    mark_outputs(s, false);
    for (int i = 0; i < s->count; i++)
        if (s->needed[i])
            s->sums[count++] = s->sums[i];
    s->count = count;
}

/* Finds the sums of a choice; false if there are none. */
static bool choose(struct splitting *s, int choice)
{
    enum {
        ALIKE,
        ALIKE_STAY,
        ONE,
        DEEP
    }; /* ways: what goes along the same axes; so, and outputs stay; one sum; with its own */
    const int way = choice % PLAN_WAYS;
    struct task_instance *instance;
    struct formula_bound *bound;
    struct akgen_error *error = task_instance_shapes(s->task, &s->task->cases[0], &instance);
    if (error) {
        error_free(error);
        return false;
    }
    s->skip = choice / PLAN_WAYS;
    s->deep = way == DEEP;
    s->single = way >= ONE;
    error = task_formulas_bind(s->arena, instance, &bound);
    if (!error) {
        s->bound = bound;
        find_sums(s, way == ALIKE_STAY);
    }
    error_free(error);
    task_instance_free(instance);
    if (!s->count || s->moved == s->task->output_count)
        return false;
    drop_sums(s);
    return s->count || s->moved;
}

bool plan_split(struct arena *arena, const struct task *task, int choice, struct task *first, struct task *rest,
                int *kept)
{
    struct splitting s = {.arena = arena, .task = task};
    struct expr_columns columns;
    struct task_case *cases;
    s.last = task->outputs[task->output_count - 1].formula;
    for (int i = 0; i < task->output_count; i++) /* stages number outputs anew */
        if (formula_places(s.last, i))
            return false;
    s.waits = arena_alloc(arena, sizeof *s.waits * (size_t)s.last->count);
    s.has = arena_alloc(arena, sizeof *s.has * (size_t)s.last->count);
    s.steps = arena_alloc(arena, sizeof *s.steps * (size_t)s.last->count);
    *first = *rest = *task;
    if (!choose(&s, choice) || names_of(task) + s.count > FORMULA_MAX_NAMES ||
        task->input_count + s.count > TASK_MAX_PARAMS || s.moved + s.count > TASK_MAX_PARAMS)
        return false;
    for (int i = 0; i < s.count; i++)
        s.names[i] = arena_printf(arena, "%ckept%d_gm", PLAN_MARK, task->input_count + i);
    if (!add_columns(&s, &columns, &cases))
        return false;
    first->cases = rest->cases = cases;
    first->columns = rest->columns = columns;
    *kept = s.count;
    return make_first(&s, first, &columns) && make_rest(&s, rest, &columns);
}
