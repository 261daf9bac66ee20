/* Sums, largest and smallest elements, over the pieces of rows and over all shares of the tensor. The bounds of shares follow from
 * sizes and tile alone, and what they give is taken together in their order: no bit depends on the number of cores. */
#include "dsl/plan_print.h"

#include <string.h>

static const char *start_of(const struct plan_value *reduce, bool running)
{
    if (strcmp(reduce->name, "sum") == 0)
        return "0.0";
    if (strcmp(reduce->name, "min") == 0)
        return "float(\"inf\")";
    return running ? "-3.0e38" : "float(\"-inf\")"; /* the difference of two infinities has no value */
}

static const char *combine_of(const struct plan_value *reduce)
{
    return strcmp(reduce->name, "sum") == 0 ? "vadd" : strcmp(reduce->name, "min") == 0 ? "vmin" : "vmax";
}

/* Where a part of what several cores take together lies in the workspace: 32 bytes for each, `most` of each number. */
static const char *place_of(const struct printer *p, const char *workspace, const char *most, int number,
                            const char *part)
{
    struct arena *arena = p->plan->arena;
    const char *before = number > 1 ? arena_printf(arena, "%d * %s", number, most) : number ? most : "";
    const char *at = arena_printf(arena, "%s%s%s", before, *before && *part ? " + " : "", part);
    if (!*at)
        return workspace;
    return arena_printf(arena, strchr(at, '+') ? "%s + (%s) * 8" : "%s + %s * 8", workspace, at);
}

/* Along rows. */
/* The largest element of this pass's rows goes along with a sum. */
static bool has_running(const struct plan_pass *pass, const struct plan_value *largest)
{
    for (int i = 0; i < pass->reduce_count; i++)
        if (pass->reduces[i]->running && pass->reduces[i]->running->kids[0]->kids[1] == largest)
            return true;
    return false;
}

static const char *part_buffer(struct printer *p)
{
    return print_own(p, "part_ub", PLAN_COLUMN);
}

void print_starts(struct printer *p, const struct plan_pass *pass)
{
    for (int i = 0; i < pass->reduce_count; i++) {
        struct plan_value *reduce = pass->reduces[i];
        if (reduce->all)
            continue;
        reduce->buffer = reduce->buffer ? reduce->buffer : print_take(p, PLAN_COLUMN, false);
        print_line(p, "compute", "tl.duplicate(%s, %s, count=n)", reduce->buffer,
                   start_of(reduce, has_running(pass, reduce)));
    }
}

/* sum(exp(x - max)) of the pieces so far, of which max is the largest element: it shrinks when the next has a larger one. */
static void print_running(struct printer *p, struct plan_value *sum)
{
    struct plan_value *power = sum->running, *x = power->kids[0]->kids[0], *largest = power->kids[0]->kids[1];
    const char *part = part_buffer(p), *pitch = print_width(p, "pitch", p->pass->width);
    power->buffer = power->buffer ? power->buffer : print_take(p, PLAN_TILE, false);
    print_line(p, "compute", "tl.row_max(%s, %s, n, m, %s)", part, x->buffer, pitch);
    print_line(p, "compute", "tl.vmax(%s, %s, %s, count=n)", part, part, largest->buffer);
    print_line(p, "compute", "tl.vsub_col(%s, %s, %s, n, m, %s)", power->buffer, x->buffer, part, pitch);
    print_line(p, "compute", "tl.vexp(%s, %s, count=%s)", power->buffer, power->buffer, print_count(p, PLAN_TILE));
    print_line(p, "compute", "tl.vsub(%s, %s, %s, count=n)", largest->buffer, largest->buffer, part);
    print_line(p, "compute", "tl.vexp(%s, %s, count=n)", largest->buffer, largest->buffer);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=n)", sum->buffer, sum->buffer, largest->buffer);
    print_line(p, "compute", "tl.row_sum(%s, %s, n, m, %s)", largest->buffer, power->buffer, pitch);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=n)", sum->buffer, sum->buffer, largest->buffer);
    print_line(p, "compute", "tl.vadd(%s, %s, 0.0, count=n)", largest->buffer, part);
    if (power->kept_until <= p->pass_number) {
        print_give_back(p, power->buffer);
        power->buffer = NULL;
    }
}

static void print_reduce(struct printer *p, struct plan_value *reduce)
{
    struct plan_value *kid = reduce->kids[0];
    const char *combine = combine_of(reduce);
    if (reduce->running) {
        print_running(p, reduce);
    } else if (p->plan->flat) {
        print_line(p, "compute", "tl.%s(%s, %s, %s, count=m)", combine, reduce->buffer, reduce->buffer, kid->buffer);
    } else if (!has_running(p->pass, reduce)) {
        print_line(p, "compute", "tl.row_%s(%s, %s, n, m, %s)", reduce->name, part_buffer(p), kid->buffer,
                   print_width(p, "pitch", p->pass->width));
        print_line(p, "compute", "tl.%s(%s, %s, %s, count=n)", combine, reduce->buffer, reduce->buffer, part_buffer(p));
    }
    print_read(p, plan_summed(reduce), PLAN_FULL);
}

void print_reduces_of(struct printer *p, const struct plan_value *terms)
{
    for (int i = 0; i < p->pass->reduce_count; i++) {
        struct plan_value *reduce = p->pass->reduces[i];
        if (plan_summed(reduce) != terms)
            continue;
        print_guard(p, NULL);
        print_reduce(p, reduce);
    }
}

/* Along the strips of a row. */
int print_strip_count(const struct plan_schedule *schedule)
{
    int count = 0;
    for (int i = 0; i < schedule->count && schedule->strips; i++)
        count += schedule->passes[i].reduce_count;
    return count;
}

void print_strip_stores(struct printer *p)
{
    for (int i = 0; i < p->pass->reduce_count; i++) {
        print_guard(p, "strips > 1");
        print_line(p, "copyout", "tl.store(%s, %s, count=1)",
                   place_of(p, "shared", "STRIPS", p->strip_number + i, "row * strips + strip"),
                   p->pass->reduces[i]->buffer);
    }
    print_close(p);
}

/* What strips make of a sum. Those of exp(x - max) shrink to the largest element of all. */
static void print_strip(struct printer *p, const struct plan_value *reduce)
{
    if (reduce->running) {
        const struct plan_value *largest = reduce->running->kids[0]->kids[1];
        print_line(p, "compute", "tl.vsub_row(%s, %s, %s, strips, 1, 16)", largest->strips, largest->strips,
                   largest->buffer);
        print_line(p, "compute", "tl.vexp(%s, %s, count=strips * 16)", largest->strips, largest->strips);
        print_line(p, "compute", "tl.vmul(%s, %s, %s, count=strips * 16)", reduce->strips, reduce->strips,
                   largest->strips);
    }
    print_line(p, "compute", "tl.col_%s(%s, %s, strips, 1, 16)", reduce->name, reduce->buffer, reduce->strips);
}

void print_strips(struct printer *p)
{
    const struct plan_pass *pass = p->pass;
    if (!pass->reduce_count)
        return;
    print_guard(p, "strips > 1");
    print_line(p, NULL, "tl.sync_all()");
    for (int i = 0; i < pass->reduce_count; i++) {
        pass->reduces[i]->strips = print_take(p, PLAN_STRIP, false);
        print_line(p, "copyin", "tl.load_rows(%s, %s, strips, 1, 8, 16)",
                   place_of(p, "shared", "STRIPS", p->strip_number++, "row * strips"), pass->reduces[i]->strips);
    }
    for (int i = 0; i < pass->reduce_count; i++)
        print_strip(p, pass->reduces[i]);
    for (int i = 0; i < pass->reduce_count; i++)
        print_give_back(p, pass->reduces[i]->strips);
    print_close(p);
}

/* Of all. */
static bool is_whole(const struct printer *p, const struct plan_value *value)
{
    return value->uses && value->all && value->level == (p->phase + 1) * PLAN_PHASE;
}

void print_whole_starts(struct printer *p)
{
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!is_whole(p, value))
            continue;
        value->buffer = print_own(p, arena_printf(p->plan->arena, "%s%d_ub", value->name, i),
                                  p->plan->flat ? PLAN_TILE : PLAN_COLUMN);
        print_line(p, "compute", "tl.duplicate(%s, %s)", value->buffer, start_of(value, false));
    }
    print_close(p);
}

void print_whole_column(struct printer *p, int level)
{
    for (int i = 0; i < p->plan->count; i++) {
        const struct plan_value *value = p->plan->values[i];
        if (is_whole(p, value) && value->kids[0]->axes == PLAN_ROWS && value->kids[0]->level == level)
            print_line(p, "compute", "tl.%s(%s, %s, %s, count=n)", combine_of(value), value->buffer, value->buffer,
                       value->kids[0]->buffer);
    }
}

void print_whole_shares(struct printer *p)
{
    int number = p->whole_number;
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!is_whole(p, value))
            continue;
        const char *result = print_take(p, PLAN_ONE, false);
        print_line(p, "compute", "tl.duplicate(%s, %s)", result, start_of(value, false));
        print_line(p, "compute", "tl.reduce_%s(%s, %s, work_ub)", value->name, result, value->buffer);
        print_guard(p, p->schedule->strips ? "mine == 0" : NULL);
        print_line(p, "copyout", "tl.store(%s, %s)", place_of(p, "parts", "SHARES", number++, "share"), result);
        print_guard(p, NULL);
        value->buffer = result;
    }
    print_close(p);
}

void print_wholes(struct printer *p)
{
    int before = p->whole_number;
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!is_whole(p, value))
            continue;
        if (p->whole_number == before)
            print_line(p, NULL, "tl.sync_all()");
        print_line(p, "copyin", "tl.load(%s, parts_ub, count=shares * 8)",
                   place_of(p, "parts", "SHARES", p->whole_number++, ""));
        print_line(p, "compute", "tl.reduce_%s(%s, parts_ub, work_ub, count=shares * 8)", value->name, value->buffer);
        print_close(p);
    }
}
