/* When what is computed. A row's sum needs a pass over the row, what is made of it another: a pass computes all sums whose
 * terms are known by then, and stores all outputs that are. The largest element and the sum of exp(x - max) share a pass, as
 * do the mean and the sum of the squares around it. */
#include "base/array.h"
#include "dsl/plan.h"

#include <stdlib.h>
#include <string.h>

static void count_uses(struct plan_value *value)
{
    if (value->uses++)
        return;
    for (int i = 0; i < value->kid_count; i++)
        count_uses(value->kids[i]);
}

static bool is_call(const struct plan_value *value, const char *name)
{
    return value->operation == PLAN_CALL && strcmp(value->name, name) == 0;
}

/* x - max(x), x - mean(x) */
static bool is_around(const struct plan_value *value, const char *name, bool all)
{
    if (!is_call(value, "-"))
        return false;
    const struct plan_value *x = value->kids[0], *around = value->kids[1];
    return around->operation == PLAN_REDUCE && around->all == all && strcmp(around->name, name) == 0 &&
           around->kids[0] == x && !around->carried;
}

/* The sum can be taken while what it is around is still looked for. */
static void find_around(const struct plan *plan, struct plan_value *sum)
{
    struct plan_value *terms = sum->kids[0];
    bool total = strcmp(sum->name, "sum") == 0;
    if (is_call(terms, "exp") && total && !sum->all && is_around(terms->kids[0], "max", false)) {
        sum->along = terms;
        sum->around = terms->kids[0]->kids[1];
    } else if (is_call(terms, "*") && terms->kids[0] == terms->kids[1] && (total || strcmp(sum->name, "mean") == 0) &&
               (!sum->all || plan->flat) && is_around(terms->kids[0], "mean", sum->all)) {
        sum->along = terms->kids[0];
        sum->around = sum->along->kids[1];
    }
    if (sum->around)
        sum->around->carried = true;
}

static void find_levels(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct plan_value *value = plan->values[i];
        if (value->operation == PLAN_REDUCE && value->uses)
            find_around(plan, value);
        value->level = 0;
        for (int k = 0; k < value->kid_count; k++)
            value->level = value->kids[k]->level > value->level ? value->kids[k]->level : value->level;
        if (value->operation != PLAN_REDUCE || value->around)
            continue;
        value->level = value->all ? (value->level / PLAN_PHASE + 1) * PLAN_PHASE : value->level + 1;
    }
}

/* Rows have no meaning where all values have the same shape and nothing is summed up but the whole. */
static bool is_flat(const struct plan *plan)
{
    int width = PLAN_NONE;
    if (plan->layout.units)
        return false;
    for (int i = 0; i < plan->output_count; i++)
        if (plan->outputs[i].width != PLAN_NONE)
            return false;
    for (int i = 0; i < plan->count; i++) {
        const struct plan_value *value = plan->values[i];
        if (!value->uses)
            continue;
        bool part = value->operation == PLAN_INPUT &&
                    (strcmp(value->from, "0") != 0 ||
                     plan_width_of(plan, plan->input_width[value->input]) != plan_width_of(plan, value->width));
        if (part || value->operation == PLAN_SCAN || (value->operation == PLAN_REDUCE && !value->all) ||
            (value->axes && value->axes != PLAN_FULL))
            return false;
        if (!value->axes)
            continue;
        if (width != PLAN_NONE && plan_width_of(plan, value->width) != width)
            return false;
        width = plan_width_of(plan, value->width);
    }
    return true;
}

static struct plan_pass *pass_of(struct plan *plan, struct plan_schedule *schedule, int level, int width)
{
    width = plan->flat || plan->layout.units ? 0 : plan_width_of(plan, width);
    for (int i = 0; i < schedule->count; i++)
        if (schedule->passes[i].level == level && schedule->passes[i].width == width)
            return &schedule->passes[i];
    struct plan_pass pass = {.level = level, .width = width};
    pass.values = arena_alloc(plan->arena, sizeof(struct plan_value *) * (size_t)plan->count);
    pass.reduces = arena_alloc(plan->arena, sizeof(struct plan_value *) * (size_t)plan->count);
    pass.stores = arena_alloc(plan->arena, sizeof(int) * (size_t)plan->output_count);
    ARRAY_ADD(plan->arena, schedule->passes, schedule->count, schedule->capacity, pass);
    return &schedule->passes[schedule->count - 1];
}

struct plan_value *plan_summed(const struct plan_value *reduce)
{
    return reduce->around ? reduce->around->kids[0] : reduce->kids[0];
}

static void collect(const struct plan *plan, const struct plan_value *value, bool *needed)
{
    if (!(value->axes & plan->layout.along) || needed[value->number])
        return;
    needed[value->number] = true;
    for (int i = 0; i < value->kid_count; i++)
        collect(plan, value->kids[i], needed);
}

/* The values of a pass in the order of their numbers, which is one in which operands come first. */
static void fill_pass(struct plan *plan, struct plan_pass *pass)
{
    bool *needed = arena_alloc(plan->arena, (size_t)plan->count);
    for (int i = 0; i < pass->reduce_count; i++)
        collect(plan, plan_summed(pass->reduces[i]), needed);
    for (int i = 0; i < pass->store_count; i++)
        collect(plan, plan->outputs[pass->stores[i]].value, needed);
    for (int i = 0; i < plan->count; i++)
        if (needed[i])
            pass->values[pass->count++] = plan->values[i];
}

void plan_keep(struct plan *plan, const struct plan_schedule *schedule, int phase)
{
    for (int i = 0; i < plan->count; i++)
        plan->values[i]->first_pass = plan->values[i]->kept_until = PLAN_NONE;
    for (int p = 0; p < schedule->count; p++) {
        const struct plan_pass *pass = &schedule->passes[p];
        if (pass->level / PLAN_PHASE != phase)
            continue;
        for (int i = 0; i < pass->reduce_count; i++) {
            if (pass->reduces[i]->along)
                pass->reduces[i]->along->first_pass = p;
            plan_summed(pass->reduces[i])->kept_until = p;
        }
        for (int i = 0; i < pass->count; i++) {
            struct plan_value *value = pass->values[i];
            if (value->first_pass == PLAN_NONE || value->axes != PLAN_FULL)
                value->first_pass = p;
            for (int k = 0; k < value->kid_count && value->first_pass == p; k++)
                if (value->kids[k]->axes & plan->layout.along)
                    value->kids[k]->kept_until = p;
        }
        for (int i = 0; i < pass->store_count; i++)
            plan->outputs[pass->stores[i]].value->kept_until = p;
    }
}

static int by_level(const void *a, const void *b)
{
    const struct plan_pass *first = a, *second = b;
    return first->level != second->level ? first->level - second->level : first->width - second->width;
}

/* What a row's sum gave is gone when all cores have met. */
static void check_phases(struct plan *plan, const struct plan_schedule *schedule)
{
    for (int p = 0; p < schedule->count && !plan->error; p++)
        for (int i = 0; i < schedule->passes[p].count; i++)
            for (int k = 0; k < schedule->passes[p].values[i]->kid_count; k++) {
                int level = schedule->passes[p].values[i]->kids[k]->level;
                if (level % PLAN_PHASE && level / PLAN_PHASE != schedule->passes[p].level / PLAN_PHASE && !plan->error)
                    plan->error = error_new("%s: what is computed of rows is needed again behind 'all', which the "
                                            "planner has no plan for",
                                            plan->task->name);
            }
}

/* Several cores may share a row where nothing is carried along it and all passes go over rows of one length. */
static bool may_share(const struct plan *plan)
{
    int width = PLAN_NONE;
    bool sums = false, same = true;
    for (int i = 0; i < plan->count + plan->output_count; i++) {
        const struct plan_value *value = i < plan->count ? plan->values[i] : plan->outputs[i - plan->count].value;
        if (!value->uses || (i < plan->count && value->operation != PLAN_REDUCE && value->operation != PLAN_SCAN))
            continue;
        sums |= value->operation == PLAN_REDUCE && !value->all;
        same &= value->operation != PLAN_SCAN;
        value = i < plan->count ? value->kids[0] : value;
        if (value->axes != PLAN_FULL)
            continue;
        same &= width == PLAN_NONE || plan_width_of(plan, value->width) == width;
        width = plan_width_of(plan, value->width);
    }
    return sums && same && !plan->plain && !plan->flat && !plan->layout.units && plan->stages == 1;
}

/* What is taken of all elements is taken of what it is of each row: then only rows have strips. */
static void nest_sums(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct plan_value *value = plan->values[i], inner = *value;
        if (!value->uses || !value->all || value->kids[0]->axes != PLAN_FULL)
            continue;
        if (plan->count == PLAN_MOST) {
            plan->error = error_new("%s: the formulas have more than %d steps, which the planner has no plan for",
                                    plan->task->name, PLAN_MOST);
            return;
        }
        inner.all = false;
        inner.axes = PLAN_ROWS;
        inner.uses = 1;
        inner.kid_count = 1;
        inner.name = strcmp(value->name, "mean") == 0 ? "sum" : value->name;
        memmove(&plan->values[i + 1], &plan->values[i], sizeof(struct plan_value *) * (size_t)(plan->count++ - i));
        plan->values[i] = value->kids[0] = arena_copy(plan->arena, &inner, sizeof inner);
        i++;
    }
    for (int i = 0; i < plan->count; i++)
        plan->values[i]->number = i;
}

/* Behind the last pass nothing reads an input any more, so that an output may take its place. */
static int last_level(const struct plan *plan)
{
    int last = 0;
    for (int i = 0; i < plan->output_count; i++)
        if (plan->outputs[i].axes == PLAN_FULL && plan->outputs[i].value->level > last)
            last = plan->outputs[i].value->level;
    for (int i = 0; i < plan->count; i++)
        if (plan->values[i]->uses && plan->values[i]->operation == PLAN_REDUCE &&
            plan_summed(plan->values[i])->level > last)
            last = plan_summed(plan->values[i])->level;
    return last;
}

void plan_schedule(struct plan *plan, struct plan_schedule *schedule)
{
    for (int i = 0; i < plan->output_count; i++)
        count_uses(plan->outputs[i].value);
    plan->flat = is_flat(plan);
    schedule->strips = may_share(plan);
    if (schedule->strips)
        nest_sums(plan);
    find_levels(plan);
    for (int i = 0; i < plan->count; i++) {
        struct plan_value *value = plan->values[i];
        if (!value->uses)
            continue;
        schedule->scans |= value->operation == PLAN_SCAN && !plan->layout.units;
        schedule->rows |= value->axes == PLAN_ROWS && value->operation == PLAN_REDUCE;
        schedule->phases = value->level / PLAN_PHASE > schedule->phases ? value->level / PLAN_PHASE : schedule->phases;
        if (value->operation != PLAN_REDUCE)
            continue;
        const struct plan_value *terms = plan_summed(value);
        schedule->rows |= terms->axes == PLAN_ROWS;
        if (terms->axes != PLAN_FULL)
            continue;
        struct plan_pass *pass = pass_of(plan, schedule, terms->level, terms->width);
        pass->reduces[pass->reduce_count++] = value;
    }
    for (int i = 0; i < plan->output_count; i++) {
        const struct plan_output *output = &plan->outputs[i];
        schedule->rows |= output->axes == PLAN_ROWS;
        if (output->axes != PLAN_FULL)
            continue;
        bool in_place = output->tensor < plan->own_outputs && plan->task->outputs[output->tensor].in_place != TASK_NONE;
        int level = in_place ? last_level(plan) : output->value->level;
        struct plan_pass *pass = pass_of(plan, schedule, level, output->value->width);
        pass->stores[pass->store_count++] = i;
    }
    if (schedule->count)
        qsort(schedule->passes, (size_t)schedule->count, sizeof *schedule->passes, by_level);
    for (int i = 0; i < schedule->count; i++) {
        fill_pass(plan, &schedule->passes[i]);
        schedule->rows |= i && schedule->passes[i].level / PLAN_PHASE == schedule->passes[i - 1].level / PLAN_PHASE;
        schedule->rows |= schedule->passes[i].level % PLAN_PHASE != 0;
        schedule->rows |= schedule->passes[i].width != schedule->passes[0].width;
    }
    schedule->rows |= schedule->scans || plan->layout.units;
    schedule->rows &= !plan->flat;
    check_phases(plan, schedule);
}
