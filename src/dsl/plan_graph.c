/* Formulas become values. Equal ones are one value; functions of rows become sums, largest elements and what is done with
 * them; a part of a row is a part of the inputs that it is made of. Which axes an input has, the layout says. */
#include "base/array.h"
#include "dsl/plan.h"
#include "task/expr/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plan_value *build(struct plan *plan, const struct expr *node) __attribute__((returns_nonnull));

static void refuse(struct plan *plan, const struct expr *node, const char *why)
{
    if (!plan->error)
        plan->error = error_prefix(expr_error_at(node, "%s", why), "%s", plan->task->name);
}

/* Widths. */
int plan_width_of(const struct plan *plan, int width)
{
    while (plan->widths[width].same_as != width)
        width = plan->widths[width].same_as;
    return width;
}

/* Two widths that have to be equal are one from here on. */
static int width_join(struct plan *plan, int a, int b)
{
    a = plan_width_of(plan, a);
    b = plan_width_of(plan, b);
    int first = a < b ? a : b;
    plan->widths[a].same_as = plan->widths[b].same_as = first;
    return first;
}

/* A number that the kernel is given. */
static const char *number_add(struct plan *plan, const char *name, const char *text)
{
    for (int i = 0; i < plan->number_count; i++)
        if (strcmp(plan->numbers[i].text, text) == 0)
            return plan->numbers[i].name;
    const char *own = arena_printf(plan->arena, "%s%d", name, plan->number_count + 1);
    ARRAY_ADD(plan->arena, plan->numbers, plan->number_count, plan->number_capacity,
              (struct plan_number){.name = own, .text = text});
    return own;
}

/* Values. */
static bool same_value(const struct plan_value *a, const struct plan_value *b)
{
    bool same = a->operation == b->operation && a->all == b->all && a->kid_count == b->kid_count &&
                a->input == b->input && strcmp(a->name, b->name) == 0 && a->width == b->width && a->axes == b->axes &&
                strcmp(a->from, b->from) == 0;
    for (int i = 0; i < a->kid_count && same; i++)
        same = a->kids[i] == b->kids[i];
    return same;
}

static struct plan_value *intern(struct plan *plan, struct plan_value value)
{
    value.from = value.from ? value.from : "";
    for (int i = 0; i < plan->count; i++)
        if (same_value(plan->values[i], &value))
            return plan->values[i];
    if (plan->count == PLAN_MOST) {
        if (!plan->error)
            plan->error = error_new("%s: the formulas have more than %d steps, which the planner has no plan for",
                                    plan->task->name, PLAN_MOST);
        return plan->values[0];
    }
    value.number = plan->count;
    return plan->values[plan->count++] = arena_copy(plan->arena, &value, sizeof value);
}

static struct plan_value *number_in(struct plan *plan, const char *text, bool in_kernel)
{
    return intern(plan, (struct plan_value){.operation = PLAN_NUMBER, .name = text, .in_kernel = in_kernel});
}

static struct plan_value *number(struct plan *plan, const char *text)
{
    return number_in(plan, text, false);
}

static bool is_comparison(const char *name)
{
    return strchr("<>=!", *name) != NULL;
}

static struct plan_value *call(struct plan *plan, const char *name, int count, struct plan_value *const *kids);
static struct plan_value *size_of(struct plan *plan, const struct plan_value *value, bool all);
static struct plan_value *reduce(struct plan *plan, const struct expr *node, const char *name, struct plan_value *kid,
                                 bool all);

static struct plan_value *unary(struct plan *plan, const char *name, struct plan_value *kid)
{
    return call(plan, name, 1, (struct plan_value *[]){kid});
}

static struct plan_value *binary(struct plan *plan, const char *name, struct plan_value *a, struct plan_value *b)
{
    return call(plan, name, 2, (struct plan_value *[]){a, b});
}

/* What the host function computes of numbers, NULL if it has no such function. */
static const char *host_text(const struct plan *plan, const char *name, const char *a, const char *b)
{
    static const char *const forms[][4] = {
        {"sqrt", "tl.sqrt(", "", ")"},   {"rsqrt", "(1.0 / tl.sqrt(", "", "))"},
        {"exp", "tl.exp(", "", ")"},     {"log", "tl.log(", "", ")"},
        {"abs", "abs(", "", ")"},        {"min", "min(", ", ", ")"},
        {"max", "max(", ", ", ")"},      {"**", "tl.pow(", ", ", ")"},
        {"floor", "tl.floor(", "", ")"}, {"ceil", "tl.ceil(", "", ")"},
        {"//", "tl.floor(", " / ", ")"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i][0], name) == 0)
            return arena_printf(plan->arena, "%s%s%s%s%s", forms[i][1], a, forms[i][2], b, forms[i][3]);
    return NULL;
}

/* Numbers stay numbers where the kernel's arithmetic has the operator, or the host function computes it. Elements of inputs
 * are in the kernel alone. */
static struct plan_value *fold(struct plan *plan, const char *name, int count, struct plan_value *const *kids)
{
    bool host = true;
    for (int i = 0; i < count; i++) {
        if (kids[i]->operation != PLAN_NUMBER)
            return NULL;
        host &= !kids[i]->in_kernel;
    }
    if (strcmp(name, "neg") == 0)
        return number_in(plan, arena_printf(plan->arena, "-(%s)", kids[0]->name), !host);
    if (strchr("+-*/", *name) && !name[1])
        return number_in(plan, arena_printf(plan->arena, "(%s %s %s)", kids[0]->name, name, kids[1]->name), !host);
    const char *text = host ? host_text(plan, name, kids[0]->name, count > 1 ? kids[1]->name : "") : NULL;
    return text ? number(plan, number_add(plan, "number", text)) : NULL;
}

static struct plan_value *call(struct plan *plan, const char *name, int count, struct plan_value *const *kids)
{
    struct plan_value value = {.operation = PLAN_CALL, .name = name, .kid_count = count}, *folded;
    bool chooses = strcmp(name, "where") == 0;
    value.truth = is_comparison(name);
    for (int i = 0; i < count; i++) {
        struct plan_value *kid = kids[i];
        if (chooses && i == 0 && !kid->truth)
            kid = binary(plan, "!=", kid, number(plan, "0.0"));
        else if (kid->truth && !(chooses && i == 0) && strcmp(name, "value") != 0)
            kid = unary(plan, "value", kid);
        value.kids[i] = kid;
        if (kid->axes & PLAN_COLS)
            value.width = value.axes & PLAN_COLS ? width_join(plan, value.width, kid->width) : kid->width;
        value.lone = kid->axes && value.axes == 0 ? kid->lone : value.lone && (!kid->axes || kid->lone);
        value.axes |= kid->axes;
        value.batched |= kid->batched;
        value.level = kid->level > value.level ? kid->level : value.level;
    }
    if ((folded = fold(plan, name, count, value.kids)))
        return folded;
    if (count == 2 && strcmp(name, "**") == 0 &&
        (strcmp(value.kids[1]->name, "2") == 0 || strcmp(value.kids[1]->name, "2.0") == 0))
        return binary(plan, "*", value.kids[0], value.kids[0]);
    struct plan_value *sum = value.kids[0];
    if (strcmp(name, "/") == 0 && sum->operation == PLAN_REDUCE && strcmp(sum->name, "sum") == 0 &&
        value.kids[1] == size_of(plan, sum->kids[0], sum->all))
        return reduce(plan, NULL, "mean", sum->kids[0], sum->all);
    return intern(plan, value);
}

static struct plan_value *as_number(struct plan *plan, struct plan_value *value)
{
    return value->truth ? unary(plan, "value", value) : value;
}

/* A value rounded to the data type of an input. That input itself, and what has been rounded so, are that already. */
static struct plan_value *typed(struct plan *plan, int input, struct plan_value *of)
{
    const struct task_param *param = &plan->task->inputs[input];
    of = as_number(plan, of);
    if ((param->kind == TASK_SCALAR || param->types[0] == AKGEN_BOOL) && !plan->error)
        plan->error = error_new("%s: the planner rounds to the types of tensors of numbers, which '%s' is not",
                                plan->task->name, param->name);
    bool rounded = of->operation == PLAN_INPUT || (of->operation == PLAN_CALL && strcmp(of->name, "type_as") == 0);
    if (rounded && of->input == input)
        return of;
    struct plan_value value = {.operation = PLAN_CALL,
                               .name = "type_as",
                               .kids = {of},
                               .kid_count = 1,
                               .input = input,
                               .axes = of->axes,
                               .width = of->width,
                               .batched = of->batched,
                               .lone = of->lone,
                               .level = of->level};
    return intern(plan, value);
}

/* How many elements what a sum goes along has, or all together. */
static struct plan_value *unit_size(struct plan *plan, const struct plan_value *value, bool all)
{
    const struct plan_layout *layout = &plan->layout;
    int axes = value->axes & (all ? PLAN_FULL : layout->along);
    bool batches = value->batched && (all || layout->batch_along); /* whole ones: is_stretched */
    const char *text = batches ? "batches" : "";
    if (axes & PLAN_ROWS)
        text = arena_printf(plan->arena, "%s%srows", text, *text ? " * " : "");
    if (axes & PLAN_COLS)
        text = arena_printf(plan->arena, "%s%scols", text, *text ? " * " : "");
    return number(plan, strchr(text, '*') ? arena_printf(plan->arena, "(%s)", text) : *text ? text : "1");
}

static struct plan_value *size_of(struct plan *plan, const struct plan_value *value, bool all)
{
    if (plan->layout.units)
        return unit_size(plan, value, all);
    const char *width = value->axes & PLAN_COLS ? arena_printf(plan->arena, "{%d}", value->width) : "1";
    const char *rows = value->axes & PLAN_ROWS && all ? "{rows}" : NULL;
    if (!rows)
        return number(plan, width);
    return number(plan, value->axes & PLAN_COLS ? arena_printf(plan->arena, "(%s * %s)", rows, width) : rows);
}

/* A sum of what is stretched along a part of the axes would count it too seldom. */
static bool is_stretched(const struct plan *plan, const struct plan_value *kid, bool all)
{
    const struct plan_layout *layout = &plan->layout;
    bool part = kid->axes & layout->along;
    if (all)
        return !(kid->axes & layout->kept) || kid->lone ||
               (kid->batched != layout->batched && (part || !layout->batch_along));
    return part && (kid->axes != PLAN_FULL || (layout->batch_along && kid->batched != layout->batched));
}

/* sum, mean, max or min of each row, or of all elements. What a row has once, it has not to be summed up. */
static struct plan_value *reduce(struct plan *plan, const struct expr *node, const char *name, struct plan_value *kid,
                                 bool all)
{
    kid = as_number(plan, kid);
    struct plan_value value = {.operation = PLAN_REDUCE,
                               .name = name,
                               .kids = {kid},
                               .kid_count = 1,
                               .all = all,
                               .axes = kid->axes & plan->layout.kept,
                               .batched = all || plan->layout.batch_along ? 0 : kid->batched};
    if (is_stretched(plan, kid, all)) {
        refuse(plan, node,
               all ? "the planner has no plan for 'all' of what is the same for all rows"
                   : "the planner has no plan for rows that are the same for all rows");
        return kid;
    }
    if (!all && !(kid->axes & plan->layout.along))
        return kid;
    if (all)
        value.axes = 0;
    if (strcmp(name, "mean") == 0)
        value.kids[value.kid_count++] = size_of(plan, kid, all);
    value.level = all ? (kid->level / PLAN_PHASE + 1) * PLAN_PHASE : kid->level + 1;
    return intern(plan, value);
}

/* size(x, ..), which goes by the axes of the tensor and not of the plan. */
static struct plan_value *build_size(struct plan *plan, const struct expr *node, const struct plan_value *value)
{
    const struct task *task = plan->task;
    if (!plan->layout.units && plan->layout.last == 1 && !formula_names_axes(node))
        return size_of(plan, value, formula_of_all(node));
    const struct expr *of = node->kids[0];
    if (of->node != NODE_WORD || of->index >= task->input_count) {
        refuse(plan, node, "the planner has no plan for this size of what is no input");
        return number(plan, "1");
    }
    const char *name = task->inputs[of->index].name, *text = "";
    for (int i = 1; i < node->kid_count && formula_names_axes(node); i++)
        text = arena_printf(plan->arena, "%s%s%s.shape[%lld]", text, *text ? " * " : "", name,
                            (long long)node->kids[i]->value.integer);
    if (!*text)
        text = arena_printf(plan->arena, formula_of_all(node) ? "%s.numel()" : "%s.shape[-1]", name);
    return number(plan, number_add(plan, "size", text));
}

/* Rows. */
static struct plan_value *build_row_function(struct plan *plan, const struct expr *node, struct plan_value *x, bool all)
{
    const char *name = node->name;
    x = as_number(plan, x);
    if (strcmp(name, "sum") == 0 || strcmp(name, "mean") == 0)
        return reduce(plan, node, name, x, all);
    if (strcmp(name, "amax") == 0 || strcmp(name, "amin") == 0)
        return reduce(plan, node, name + 1, x, all);
    if (strcmp(name, "var") == 0) {
        struct plan_value *centred = binary(plan, "-", x, reduce(plan, node, "mean", x, all));
        return reduce(plan, node, "mean", binary(plan, "*", centred, centred), all);
    }
    if (strcmp(name, "std") == 0 || strcmp(name, "norm") == 0) {
        struct plan_value *mean = *name == 's' ? reduce(plan, node, "mean", x, all) : NULL;
        struct plan_value *terms = mean ? binary(plan, "-", x, mean) : x;
        return unary(plan, "sqrt", reduce(plan, node, mean ? "mean" : "sum", binary(plan, "*", terms, terms), all));
    }
    if (strcmp(name, "cumsum") == 0) {
        if (x->axes == plan->layout.along || (plan->layout.units && plan->layout.along == PLAN_COLS))
            refuse(plan, node, "the planner has no plan for running sums of what is stretched like this");
        if (!(x->axes & plan->layout.along))
            return x;
        return intern(plan, (struct plan_value){.operation = PLAN_SCAN,
                                                .name = name,
                                                .kids = {x},
                                                .kid_count = 1,
                                                .axes = x->axes,
                                                .width = x->width,
                                                .batched = x->batched});
    }
    struct plan_value *largest = reduce(plan, node, "max", x, all), *shifted = binary(plan, "-", x, largest);
    struct plan_value *power = unary(plan, "exp", shifted), *sum = reduce(plan, node, "sum", power, all);
    if (strcmp(name, "softmax") == 0)
        return binary(plan, "/", power, sum);
    if (strcmp(name, "log_softmax") == 0)
        return binary(plan, "-", shifted, unary(plan, "log", sum));
    return binary(plan, "+", largest, unary(plan, "log", sum)); /* logsumexp */
}

/* Parts of rows. */
static bool is_zero(const char *text)
{
    return strcmp(text, "0") == 0;
}

static const char *sum_of(struct plan *plan, const char *a, const char *b)
{
    return is_zero(a) ? b : is_zero(b) ? a : arena_printf(plan->arena, "%s + %s", a, b);
}

/* Elements from `from` on, `width` of them, of each row of a value. */
static struct plan_value *part_of(struct plan *plan, const struct expr *node, struct plan_value *value,
                                  const char *from, int width)
{
    if (!(value->axes & PLAN_COLS))
        return value;
    if (value->part && strcmp(value->part_from, from) == 0 && value->part_width == width)
        return value->part;
    struct plan_value *part = value;
    if (value->operation == PLAN_INPUT) {
        struct plan_value copy = *value;
        copy.from = sum_of(plan, value->from, from);
        copy.width = width;
        part = intern(plan, copy);
    } else if (value->operation == PLAN_PLACE) {
        struct plan_value copy = *value;
        copy.width = width;
        copy.uses = 0;
        part = binary(plan, "+", intern(plan, copy), number(plan, from));
    } else if (value->operation == PLAN_CALL) {
        struct plan_value *kids[PLAN_KIDS] = {NULL};
        for (int i = 0; i < value->kid_count; i++)
            kids[i] = part_of(plan, node, value->kids[i], from, width);
        part = strcmp(value->name, "type_as") == 0 ? typed(plan, value->input, kids[0])
                                                   : call(plan, value->name, value->kid_count, kids);
    } else {
        refuse(plan, node, "the planner has no plan for a part of this");
    }
    value->part = part;
    value->part_from = from;
    value->part_width = width;
    return part;
}

/* The tree of a step that a word names. */
static const struct expr *plan_step(const struct plan *plan, const struct expr *word)
{
    const struct task *task = plan->task;
    const struct formula *last = task->outputs[task->output_count - 1].formula;
    return last->steps[word->index - task->input_count - task->attr_count].tree;
}

/* A bound as text of the host function. */
static const char *bound_text(struct plan *plan, const struct expr *node)
{
    const struct task *task = plan->task;
    if (node->node == NODE_VALUE)
        return arena_printf(plan->arena, "%lld", (long long)node->value.integer);
    if (node->node == NODE_WORD && node->index >= task->input_count &&
        node->index < task->input_count + task->attr_count)
        return task->attrs[node->index - task->input_count].name;
    if (node->node == NODE_WORD && node->index >= task->input_count + task->attr_count)
        return bound_text(plan, plan_step(plan, node));
    if (node->node == NODE_WORD)
        return refuse(plan, node, "the planner has no plan for such a bound"), "0";
    if (strcmp(node->name, "size") == 0) {
        struct plan_value *value = build(plan, node->kids[0]);
        if (formula_of_all(node) || formula_names_axes(node) || !(value->axes & PLAN_COLS))
            refuse(plan, node, "the planner has no plan for such a bound");
        return value->axes & PLAN_COLS ? arena_printf(plan->arena, "{%d}", value->width) : "0";
    }
    const char *a = bound_text(plan, node->kids[0]), *b = node->kid_count > 1 ? bound_text(plan, node->kids[1]) : "";
    if (strcmp(node->name, "neg") == 0)
        return arena_printf(plan->arena, "-(%s)", a);
    const char *name = strcmp(node->name, "/") == 0 ? "//" : node->name;
    return arena_printf(plan->arena, expr_is_word(name) ? "%2$s(%1$s, %3$s)" : "(%s %s %s)", a, name, b);
}

static bool may_be_negative(const struct plan *plan, const struct expr *node)
{
    if (node->node == NODE_WORD && node->index >= plan->task->input_count + plan->task->attr_count)
        return may_be_negative(plan, plan_step(plan, node));
    bool may = node->node == NODE_WORD || (node->node == NODE_CALL && strchr("n-", *node->name));
    for (int i = 0; i < node->kid_count && !may && node->node == NODE_CALL && strcmp(node->name, "size") != 0; i++)
        may = may_be_negative(plan, node->kids[i]);
    return may;
}

/* A bound of rows of a value, from their beginning: a negative one counts from the end. */
static const char *bound_of(struct plan *plan, const struct expr *node, const struct plan_value *value)
{
    const char *text = bound_text(plan, node);
    bool minus = node->node == NODE_CALL && strcmp(node->name, "neg") == 0 && node->kids[0]->node == NODE_VALUE;
    if (minus)
        return arena_printf(plan->arena, "({%d} - %s)", value->width, bound_text(plan, node->kids[0]));
    return may_be_negative(plan, node)
               ? arena_printf(plan->arena, "(%s if %s >= 0 else {%d} + %s)", text, text, value->width, text)
               : text;
}

/* x[a:b], x[i] */
static struct plan_value *build_slice(struct plan *plan, const struct expr *node)
{
    struct plan_value *value = build(plan, node->kids[0]);
    if (!(value->axes & PLAN_COLS))
        return value;
    if (plan->layout.units || plan->layout.last > 1) {
        refuse(plan, node, "the planner has no plan for a part of rows beside sums along other axes");
        return value;
    }
    const char *from = node->kids[1] ? bound_of(plan, node->kids[1], value) : "0";
    const char *to =
        node->kids[2] ? bound_of(plan, node->kids[2], value) : arena_printf(plan->arena, "{%d}", value->width);
    const char *length = node->node == NODE_INDEX ? "1"
                         : is_zero(from)          ? to
                                                  : arena_printf(plan->arena, "(%s - %s)", to, from);
    bool whole = node->node == NODE_SLICE && is_zero(from) && !node->kids[2];
    int width = whole ? value->width : plan_width_add(plan, length);
    if (!is_zero(from))
        from = number_add(plan, "from", from);
    struct plan_value *part = part_of(plan, node, value, from, width);
    if (node->node == NODE_INDEX &&
        part->axes == PLAN_FULL) /* one element of a row: a column, which a sum makes of it */
        part = reduce(plan, node, "sum", part, false);
    return part;
}

/* Positions. */
/* The rank of an input, or of the output whose formula it is, 0 if cases differ in it. */
static int rank_of(struct plan *plan, int input)
{
    int rank = 0;
    for (int i = 0; i < plan->task->case_count; i++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_shapes(plan->task, &plan->task->cases[i], &instance);
        if (error) {
            error_free(plan->error ? error : NULL);
            plan->error = plan->error ? plan->error : error;
            return 0;
        }
        int own = input == FORMULA_OWN ? instance->outputs[plan->building].tensors[0].rank
                                       : instance->inputs[input].tensors[0].rank;
        task_instance_free(instance);
        if (i && own != rank)
            return 0;
        rank = own;
    }
    return rank;
}

/* Sizes of axes first .. last, counted from the end, multiplied. */
static const char *sizes_of(struct plan *plan, const char *name, int first, int last)
{
    const char *text = "";
    for (int axis = first; axis <= last; axis++)
        text = arena_printf(plan->arena, "%s%s%s.shape[%d]", text, *text ? " * " : "", name, axis);
    return text;
}

/* Some input that is used is a tensor. */
static bool has_tensors(const struct plan *plan)
{
    bool has = false;
    for (int i = 0; i < plan->task->input_count; i++)
        has |= plan->used[i] && plan->input_axes[i] > 0;
    return has;
}

static bool is_own_output(const struct expr *node)
{
    return node->node == NODE_WORD && node->index == FORMULA_OWN;
}

/* index(x, axis): columns have numbers, and of a row's number is known which place of each axis it is. */
static struct plan_value *build_place(struct plan *plan, const struct expr *node, const struct plan_value *x)
{
    const struct expr *of = node->kids[0];
    int axis = node->kid_count > 1 ? (int)node->kids[1]->value.integer : -1, rank = 0;
    struct plan_value value = {.operation = PLAN_PLACE, .name = "", .axes = PLAN_COLS, .width = x->width};
    if (plan->layout.units || plan->layout.last > 1)
        refuse(plan, node, "the planner has no plan for positions beside sums along other axes than the last");
    else if (of->node == NODE_WORD && of->index < plan->task->input_count)
        rank = rank_of(plan, of->index);
    else if (axis != -1)
        refuse(plan, node, "the planner has no plan for rows' positions in what is no input");
    if (axis >= 0 && !rank && !plan->error)
        refuse(plan, node, "the planner counts axes from the end where cases differ in their number");
    axis -= axis >= 0 ? rank : 0;
    if (plan->error || !(x->axes & (axis == -1 ? PLAN_COLS : PLAN_ROWS)))
        return number(plan, "0");
    if (is_own_output(of) && rank == 1 && !has_tensors(plan)) /* rows have no meaning */
        value.axes = PLAN_FULL;
    if (axis == -1)
        return intern(plan, value);
    const char *tensor =
                   is_own_output(of) ? plan->task->outputs[plan->building].name : plan->task->inputs[of->index].name,
               *inner = sizes_of(plan, tensor, axis + 1, -2), *size = sizes_of(plan, tensor, axis, axis);
    const bool first = axis == -rank;
    value.axes = PLAN_ROWS;
    value.width = 0;
    if (!first)
        value.name = number_add(plan, "period", *inner ? arena_printf(plan->arena, "%s * %s", size, inner) : size);
    struct plan_value *place = intern(plan, value);
    if (*inner)
        place = binary(plan, "//", place, number(plan, number_add(plan, "inner", inner)));
    return first ? place : binary(plan, "%", place, number(plan, number_add(plan, "size", size)));
}

/* index(y, axis) of the output, which is a tile as an input's would be. */
static struct plan_value *build_own_place(struct plan *plan, const struct expr *node)
{
    const char *name = plan->task->outputs[plan->building].name;
    bool rows = !plan->layout.units && plan->layout.last == 1;
    const struct plan_value own = {.axes = PLAN_FULL,
                                   .width = rows ? plan_width_add(plan, plan_row_length(plan, name)) : 0};
    return build_place(plan, node, &own);
}

/* Trees. */
static const char *number_text(struct plan *plan, const struct expr_value *value)
{
    if (value->kind == EXPR_BOOL)
        return value->integer ? "1" : "0";
    if (value->kind == EXPR_INT)
        return arena_printf(plan->arena, "%lld", (long long)value->integer);
    if (value->real != value->real || value->real * 0 != 0)
        return value->real > 0 ? "float(\"inf\")" : value->real < 0 ? "float(\"-inf\")" : "float(\"nan\")";
    const char *text = "";
    for (int digits = 1; digits <= 17 && (!*text || strtod(text, NULL) != value->real); digits++)
        text = arena_printf(plan->arena, "%.*g", digits, value->real);
    return strpbrk(text, ".e") ? text : arena_printf(plan->arena, "%s.0", text);
}

static struct plan_value *build_word(struct plan *plan, const struct expr *node)
{
    const struct task *task = plan->task;
    int names = task->input_count + task->attr_count;
    if (node->index >= names) {
        if (plan->joins[node->index - names])
            refuse(plan, node, "the planner puts rows together at the end alone, as an output");
        return plan->steps[node->index - names];
    }
    if (node->index >= task->input_count)
        return number(plan, task->attrs[node->index - task->input_count].name);
    const char *name = task->inputs[node->index].name;
    int axes = plan->input_axes[node->index];
    if (axes <= 0)
        return number_in(plan, axes == PLAN_NONE ? name : arena_printf(plan->arena, "%s_value", name), true);
    return intern(plan, (struct plan_value){.operation = PLAN_INPUT,
                                            .name = name,
                                            .input = node->index,
                                            .axes = axes,
                                            .width = plan->input_width[node->index],
                                            .batched = plan->input_batched[node->index],
                                            .lone = plan->input_lone[node->index],
                                            .from = "0"});
}

/* 1 where a value is not 0, else 0. */
static struct plan_value *truth_of(struct plan *plan, struct plan_value *value)
{
    return as_number(plan, value->truth ? value : binary(plan, "!=", value, number(plan, "0.0")));
}

static struct plan_value *build_typed(struct plan *plan, const struct expr *node, struct plan_value *of)
{
    const struct expr *input = node->kids[1];
    if (input->index < plan->task->input_count)
        return typed(plan, input->index, of);
    refuse(plan, input, "an attribute has no data type to round to");
    return of;
}

static struct plan_value *build_call(struct plan *plan, const struct expr *node)
{
    enum formula_kind kind = formula_kind_of(node);
    if (kind == FORMULA_PLACE && is_own_output(node->kids[0]))
        return build_own_place(plan, node);
    struct plan_value *kids[PLAN_KIDS] = {build(plan, node->kids[0])};
    if (kind == FORMULA_SUMMARY || kind == FORMULA_ROW)
        return build_row_function(plan, node, kids[0], formula_of_all(node));
    if (kind == FORMULA_SIZE)
        return build_size(plan, node, kids[0]);
    if (kind == FORMULA_JOIN) {
        refuse(plan, node, "the planner puts rows together at the end alone, as an output");
        return kids[0];
    }
    if (kind == FORMULA_PLACE)
        return build_place(plan, node, kids[0]);
    if (kind == FORMULA_TYPED)
        return build_typed(plan, node, kids[0]);
    int count = kind == FORMULA_UNARY ? 1 : kind == FORMULA_BINARY ? 2 : 3;
    for (int i = 1; i < PLAN_KIDS; i++)
        kids[i] = i < count ? build(plan, node->kids[i]) : kids[0];
    if (strcmp(node->name, "and") == 0 || strcmp(node->name, "or") == 0)
        return binary(plan, *node->name == 'a' ? "min" : "max", truth_of(plan, kids[0]), truth_of(plan, kids[1]));
    if (strcmp(node->name, "not") == 0)
        return binary(plan, "-", number(plan, "1.0"), truth_of(plan, kids[0]));
    if (strcmp(node->name, "square") == 0)
        return binary(plan, "*", kids[0], kids[0]);
    if (strcmp(node->name, "clamp") == 0)
        return binary(plan, "min", binary(plan, "max", kids[0], kids[1]), kids[2]);
    return call(plan, node->name, count, kids);
}

static struct plan_value *build(struct plan *plan, const struct expr *node)
{
    struct plan_value *kids[PLAN_KIDS];
    switch (node->node) {
    case NODE_VALUE:
        return number(plan, number_text(plan, &node->value));
    case NODE_WORD:
        return build_word(plan, node);
    case NODE_CALL:
        return build_call(plan, node);
    case NODE_CHOICE:
        for (int i = 0; i < PLAN_KIDS; i++)
            kids[i] = build(plan, node->kids[i]);
        return call(plan, "where", PLAN_KIDS, kids);
    default:
        return build_slice(plan, node);
    }
}

/* Outputs. */
/* An output of a plan of units is a tile, or what a unit keeps, or one number. */
static struct akgen_error *read_unit_output(struct plan *plan, int output)
{
    const struct plan_layout *layout = &plan->layout;
    struct plan_output *to = &plan->outputs[output];
    struct plan_value *value = to->value;
    const int batch = layout->batch_along ? 0 : layout->batched;
    bool keeps;
    struct akgen_error *error = plan_output_keeps(plan, output, value->axes, value->batched, &keeps);
    if (error)
        return error;
    keeps &= !value->lone && (value->axes != PLAN_FULL || value->batched == layout->batched);
    bool stored = value->axes == PLAN_FULL || (value->axes == layout->kept && value->batched == batch) ||
                  (!value->axes && value->operation != PLAN_NUMBER);
    to->axes = keeps && value->axes != PLAN_FULL ? value->axes : PLAN_FULL;
    if (!keeps && (error = plan_output_keeps(plan, output, PLAN_FULL, layout->batched, &keeps)))
        return error;
    if (!keeps || (to->axes != PLAN_FULL && !stored))
        return error_new("%s: output '%s' has some of the axes alone, which the planner has no plan for",
                         plan->task->name, plan->task->outputs[output].name);
    if (to->axes == PLAN_FULL && value->axes != PLAN_FULL)
        to->value = intern(plan, (struct plan_value){.operation = PLAN_CALL,
                                                     .name = "filled",
                                                     .kids = {value},
                                                     .kid_count = 1,
                                                     .axes = PLAN_FULL,
                                                     .batched = layout->batched,
                                                     .level = value->level});
    return NULL;
}

/* A tile of the value is none of the output, whose rows are longer. */
static struct akgen_error *refuse_shapes(const struct plan *plan, int output)
{
    return error_new("%s: output '%s' has %s, which the planner has no plan to stretch", plan->task->name,
                     plan->task->outputs[output].name, plan->shorter[output]);
}

/* A value that has fewer axes than the output is stretched. */
static struct akgen_error *read_output(struct plan *plan, int output)
{
    const struct task *task = plan->task;
    struct plan_output *to = &plan->outputs[output];
    bool keeps = true;
    struct akgen_error *error = NULL;
    if (plan->layout.units)
        return read_unit_output(plan, output);
    if (to->value->axes == PLAN_FULL && plan->shorter[output])
        return refuse_shapes(plan, output);
    if (to->value->axes & PLAN_COLS)
        keeps = to->value->axes == PLAN_FULL;
    else
        error = plan_output_keeps(plan, output, to->value->axes, false, &keeps);
    if (error)
        return error;
    to->axes = keeps ? to->value->axes : PLAN_FULL;
    if (!keeps && !plan_output_has_rows(plan, output))
        return error_new("%s: output '%s' is one row beside others, which the planner has no plan for", task->name,
                         task->outputs[output].name);
    if (keeps && to->value->operation != PLAN_NUMBER)
        return NULL;
    struct plan_value value = {.operation = PLAN_CALL,
                               .name = "filled",
                               .kids = {to->value},
                               .kid_count = 1,
                               .axes = to->axes,
                               .level = to->value->level};
    for (int i = task->input_count - 1; i >= 0 && !(to->value->axes & PLAN_COLS); i--)
        if (plan->used[i] && plan->input_axes[i] == PLAN_FULL)
            value.width = plan->input_width[i];
    if (to->value->axes & PLAN_COLS)
        value.width = to->value->width;
    else if (!plan->width_count)
        value.width = plan_width_add(plan, plan_row_length(plan, task->outputs[output].name));
    to->value = intern(plan, value);
    return NULL;
}

/* The call that puts rows together, where a tree is that, itself or as a step; else NULL. */
static const struct expr *join_of(const struct plan *plan, const struct expr *node)
{
    int step = node->node == NODE_WORD ? node->index - plan->task->input_count - plan->task->attr_count : -1;
    if (step >= 0)
        return plan->joins[step];
    return node->node == NODE_CALL && formula_kind_of(node) == FORMULA_JOIN ? node : NULL;
}

/* A part of an output's rows, a tile as all parts are. */
static void add_part(struct plan *plan, int output, const struct expr *node, const char **from)
{
    const struct expr *join = join_of(plan, node);
    for (int k = 0; join && k < 2; k++)
        add_part(plan, output, join->kids[k], from);
    if (join || plan->error)
        return;
    struct plan_value *value = as_number(plan, build(plan, node));
    if (value->axes != PLAN_FULL)
        value = intern(plan,
                       (struct plan_value){.operation = PLAN_CALL,
                                           .name = "filled",
                                           .kids = {value},
                                           .kid_count = 1,
                                           .axes = PLAN_FULL,
                                           .width = value->axes & PLAN_COLS ? value->width : plan_width_add(plan, "1"),
                                           .level = value->level});
    const bool first = is_zero(*from);
    const int at = first ? output : plan->output_count;
    if (!first && plan->output_count == 2 * TASK_MAX_PARAMS) {
        refuse(plan, node, "the planner has no plan for so many parts of rows");
        return;
    }
    plan->output_count += !first;
    plan->outputs[at] =
        (struct plan_output){value, PLAN_FULL, output, first ? "0" : number_add(plan, "from", *from),
                             plan_width_add(plan, plan_row_length(plan, plan->task->outputs[output].name))};
    const char *length = arena_printf(plan->arena, "{%d}", value->width);
    *from = first ? length : arena_printf(plan->arena, "%s + %s", *from, length);
}

/* An output whose rows are put together. */
static void add_parts(struct plan *plan, int output, const struct expr *join)
{
    const char *from = "0";
    if (plan->layout.units || plan->layout.last > 1)
        refuse(plan, join, "the planner has no plan for rows put together beside sums along other axes than the last");
    else
        add_part(plan, output, join, &from);
}

struct akgen_error *plan_graph(struct plan *plan)
{
    const struct task *task = plan->task;
    const struct formula *last = task->outputs[task->output_count - 1].formula;
    for (int i = 0; i < task->input_count + task->attr_count; i++)
        for (int o = 0; o < task->output_count; o++)
            plan->used[i] |= formula_uses(task->outputs[o].formula, i);
    struct akgen_error *error = plan_layout(plan);
    if (error)
        return error;
    plan->steps = arena_alloc(plan->arena, sizeof(struct plan_value *) * (size_t)last->count);
    plan->joins = arena_alloc(plan->arena, sizeof(struct expr *) * (size_t)last->count);
    plan->output_count = task->output_count;
    for (int i = 0; i < task->output_count; i++)
        plan->outputs[i] = (struct plan_output){.tensor = i, .from = "0", .width = PLAN_NONE};
    for (int i = 0; i < last->count; i++) {
        const struct expr *tree = last->steps[i].tree;
        plan->building = last->steps[i].output;
        if ((plan->joins[i] = join_of(plan, tree))) {
            plan->steps[i] = number(plan, "0");
            if (last->steps[i].result)
                add_parts(plan, last->steps[i].output, plan->joins[i]);
            continue;
        }
        struct plan_value *value = plan->steps[i] = build(plan, tree);
        const struct task_param *output = &task->outputs[last->steps[i].output];
        if (last->steps[i].result)
            plan->outputs[last->steps[i].output].value =
                output->types[0] == AKGEN_BOOL ? value : as_number(plan, value);
    }
    for (int i = 0; i < task->output_count && !plan->error; i++)
        if (plan->outputs[i].width == PLAN_NONE)
            plan->error = read_output(plan, i);
    bool measured = false;
    for (int i = 0; i < plan->own_outputs; i++)
        measured |= plan->outputs[i].axes == PLAN_FULL;
    for (int i = 0; i < plan->own_inputs; i++)
        measured |= plan->used[i] && plan->input_axes[i] > 0;
    if (!measured && !plan->error)
        plan->error = error_new("%s: no tensor of the task says how large those in workspace are", task->name);
    return plan->error;
}
