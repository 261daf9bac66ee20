/* Sums, largest and smallest elements, over the pieces of rows and over all shares of the tensor. The bounds of shares follow from
 * sizes and tile alone, and what they give is taken together in their order: no bit depends on the number of cores. */
#include "dsl/plan_print.h"

#include <string.h>

static bool is_mean(const struct plan_value *reduce)
{
    return strcmp(reduce->name, "mean") == 0;
}

/* "sum", "max" or "min" */
static const char *kind_of(const struct plan_value *reduce)
{
    return is_mean(reduce) ? "sum" : reduce->name;
}

/* It is a mean that squares go along with: of the first piece, and an offset. */
static bool has_offset(const struct plan_value *reduce)
{
    return reduce->carried && is_mean(reduce);
}

/* The mean so far goes along with the squares around it. */
static bool is_centred(const struct plan_value *reduce)
{
    return reduce->around && is_mean(reduce->around);
}

static const char *start_of(const struct plan_value *reduce)
{
    if (strcmp(kind_of(reduce), "sum") == 0)
        return "0.0";
    if (strcmp(reduce->name, "min") == 0)
        return "float(\"inf\")";
    return reduce->carried ? "-3.0e38" : "float(\"-inf\")"; /* the difference of two infinities has no value */
}

static const char *combine_of(const struct plan_value *reduce)
{
    return strcmp(reduce->name, "min") == 0 ? "vmin" : strcmp(reduce->name, "max") == 0 ? "vmax" : "vadd";
}

/* A sum becomes the mean, if it is one; one that squares went along with is put together. */
static void print_mean(struct printer *p, struct plan_value *reduce, enum plan_shape shape)
{
    const struct plan_value *size = reduce->kids[1];
    const char *count = print_count(p, shape);
    if (!is_mean(reduce))
        return;
    if (reduce->carried) {
        reduce->pivot = reduce->buffer;
        if (reduce->uses == 1) /* by the difference alone */
            return;
        reduce->buffer = print_take(p, shape, false);
        print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", reduce->buffer, reduce->pivot, reduce->offset, count);
    } else if (strcmp(size->name, "1") != 0) {
        print_line(p, "compute", "tl.vdiv(%s, %s, %s, count=%s)", reduce->buffer, reduce->buffer,
                   print_number(p, size->name), count);
    }
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

/* Along rows, or columns. */
struct print_direction print_direction_of(const struct printer *p)
{
    const struct plan_layout *layout = &p->plan->layout;
    if (p->plan->flat)
        return (struct print_direction){"row", "m", "col", "1", "at - first", PLAN_ONE};
    if (layout->along == PLAN_ROWS)
        return (struct print_direction){"col",   "n", "row", "m", layout->batch_along ? "batch * rows + row" : "row",
                                        PLAN_ROW};
    return (struct print_direction){"row",
                                    "m",
                                    "col",
                                    "n",
                                    layout->batch_along   ? "batch * cols + at"
                                    : p->schedule->strips ? "at - strip * wide"
                                                          : "at",
                                    PLAN_COLUMN};
}

static const char *part_buffer(struct printer *p)
{
    return print_own(p, "part_ub", print_direction_of(p).shape);
}

void print_starts(struct printer *p, const struct plan_pass *pass)
{
    const struct print_direction to = print_direction_of(p);
    for (int i = 0; i < pass->reduce_count; i++) {
        struct plan_value *reduce = pass->reduces[i];
        if (reduce->all)
            continue;
        reduce->buffer = reduce->buffer ? reduce->buffer : print_take(p, to.shape, false);
        print_line(p, "compute", "tl.duplicate(%s, %s, count=%s)", reduce->buffer, start_of(reduce), to.kept_count);
        if (has_offset(reduce)) {
            reduce->offset = print_take(p, to.shape, false);
            print_line(p, "compute", "tl.duplicate(%s, 0.0, count=%s)", reduce->offset, to.kept_count);
        }
    }
}

/* What a sum goes along with stays where a later pass needs it. */
static void end_along(struct printer *p, struct plan_value *along)
{
    if (along->kept_until > p->pass_number)
        return;
    print_give_back(p, along->buffer);
    along->buffer = NULL;
}

/* sum(exp(x - max)) of the pieces so far, of which max is the largest element: it shrinks when the next has a larger one. */
static void print_running(struct printer *p, struct plan_value *sum)
{
    struct plan_value *power = sum->along, *x = plan_summed(sum), *largest = sum->around;
    const struct print_direction to = print_direction_of(p);
    const char *part = part_buffer(p), *pitch = print_width(p, "pitch", p->pass->width), *n = to.kept_count;
    power->buffer = power->buffer ? power->buffer : print_take(p, PLAN_TILE, false);
    print_line(p, "compute", "tl.%s_max(%s, %s, n, m, %s)", to.along, part, x->buffer, pitch);
    print_line(p, "compute", "tl.vmax(%s, %s, %s, count=%s)", part, part, largest->buffer, n);
    print_line(p, "compute", "tl.vsub_%s(%s, %s, %s, n, m, %s)", to.kept, power->buffer, x->buffer, part, pitch);
    print_line(p, "compute", "tl.vexp(%s, %s, count=%s)", power->buffer, power->buffer, print_count(p, PLAN_TILE));
    print_line(p, "compute", "tl.vsub(%s, %s, %s, count=%s)", largest->buffer, largest->buffer, part, n);
    print_line(p, "compute", "tl.vexp(%s, %s, count=%s)", largest->buffer, largest->buffer, n);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=%s)", sum->buffer, sum->buffer, largest->buffer, n);
    print_line(p, "compute", "tl.%s_sum(%s, %s, n, m, %s)", to.along, largest->buffer, power->buffer, pitch);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", sum->buffer, sum->buffer, largest->buffer, n);
    print_line(p, "compute", "tl.vadd(%s, %s, 0.0, count=%s)", largest->buffer, part, n);
    end_along(p, power);
}

/* part = the mean of a piece, rounded; difference = x - part - more, where more is the mean of what rounding has left. */
static void print_piece_mean(struct printer *p, const char *x, const char *difference, const char *part,
                             const char *more)
{
    const char *pitch = p->plan->flat ? "" : print_width(p, "pitch", p->pass->width);
    const struct print_direction to = print_direction_of(p);
    for (int round = 0; round < 2; round++) {
        const char *from = round ? difference : x, *mean = round ? more : part;
        if (p->plan->flat) {
            print_line(p, "compute", "tl.reduce_sum(%s, %s, work_ub, count=m)", mean, from);
            print_line(p, "compute", "tl.vdiv(%s, %s, m, count=1)", mean, mean);
            print_line(p, "compute", "centre = tl.extract_scalar(%s, 0)", mean);
            print_line(p, "compute", "tl.vsub(%s, %s, centre, count=m)", difference, from);
        } else {
            print_line(p, "compute", "tl.%s_sum(%s, %s, n, m, %s)", to.along, mean, from, pitch);
            print_line(p, "compute", "tl.vdiv(%s, %s, %s, count=%s)", mean, mean, to.along_count, to.kept_count);
            print_line(p, "compute", "tl.vsub_%s(%s, %s, %s, n, m, %s)", to.kept, difference, from, mean, pitch);
        }
    }
}

/* The squares around the mean of the pieces so far (Chan, Golub and LeVeque): those of a piece around its own mean, and what
 * the distance of the two means adds. The mean so far is that of the first piece, rounded, and an offset. */
static void print_centred(struct printer *p, struct plan_value *sum)
{
    struct plan_value *along = sum->along, *mean = sum->around;
    const struct print_direction to = print_direction_of(p);
    const char *part = part_buffer(p), *more = print_take(p, to.shape, false);
    const char *square = print_take(p, PLAN_TILE, false), *n = to.kept_count, *m = to.along_count;
    const char *offset = mean->offset;
    along->buffer = along->buffer ? along->buffer : print_take(p, PLAN_TILE, false);
    print_piece_mean(p, plan_summed(sum)->buffer, along->buffer, part, more);
    print_line(p, "compute", "before = %s", to.before);
    print_line(p, "compute", "if before == 0:");
    print_line(p, "compute", "    tl.vadd(%s, %s, 0.0, count=%s)", mean->buffer, part, n);
    print_line(p, "compute", "tl.vsub(%s, %s, %s, count=%s)", part, part, mean->buffer, n);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", part, part, more, n);
    print_line(p, "compute", "tl.vsub(%s, %s, %s, count=%s)", part, part, offset, n);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=%s)", square, along->buffer, along->buffer,
               print_count(p, PLAN_TILE));
    if (p->plan->flat)
        print_line(p, "compute", "tl.reduce_sum(%s, %s, work_ub, count=m)", more, square);
    else
        print_line(p, "compute", "tl.%s_sum(%s, %s, n, m, %s)", to.along, more, square,
                   print_width(p, "pitch", p->pass->width));
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", sum->buffer, sum->buffer, more, n);
    print_line(p, "compute", "tl.vmul(%s, %s, %s / (before + %s), count=%s)", more, part, m, m, n);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", offset, offset, more, n);
    print_line(p, "compute", "tl.vmul(%s, %s, before, count=%s)", more, more, n);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=%s)", more, more, part, n);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", sum->buffer, sum->buffer, more, n);
    print_give_back(p, more);
    print_give_back(p, square);
    end_along(p, along);
}

static void print_reduce(struct printer *p, struct plan_value *reduce)
{
    struct plan_value *kid = reduce->kids[0];
    const char *combine = combine_of(reduce);
    if (reduce->around) {
        (is_centred(reduce) ? print_centred : print_running)(p, reduce);
    } else if (reduce->carried) {
        /* with the sum that goes along */
    } else if (p->plan->flat) {
        print_line(p, "compute", "tl.%s(%s, %s, %s, count=m)", combine, reduce->buffer, reduce->buffer, kid->buffer);
    } else {
        const struct print_direction to = print_direction_of(p);
        print_line(p, "compute", "tl.%s_%s(%s, %s, n, m, %s)", to.along, kind_of(reduce), part_buffer(p), kid->buffer,
                   print_width(p, "pitch", p->pass->width));
        print_line(p, "compute", "tl.%s(%s, %s, %s, count=%s)", combine, reduce->buffer, reduce->buffer, part_buffer(p),
                   to.kept_count);
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
        for (int k = 0; k < schedule->passes[i].reduce_count; k++)
            count += has_offset(schedule->passes[i].reduces[k]) ? 2 : 1;
    return count;
}

static void store_strip(struct printer *p, const char *buffer)
{
    print_guard(p, "strips > 1");
    print_line(p, "copyout", "tl.store(%s, %s, count=1)",
               place_of(p, "shared", "STRIPS", p->strip_number++, "row * strips + strip"), buffer);
}

void print_strip_stores(struct printer *p)
{
    for (int i = 0; i < p->pass->reduce_count; i++) {
        struct plan_value *reduce = p->pass->reduces[i];
        reduce->place = p->strip_number;
        store_strip(p, reduce->buffer);
        if (has_offset(reduce))
            store_strip(p, reduce->offset);
    }
    print_close(p);
}

static const char *load_strips(struct printer *p, int number)
{
    const char *strips = print_take(p, PLAN_STRIP, false);
    print_line(p, "copyin", "tl.load_rows(%s, %s, strips, 1, 8, 16)",
               place_of(p, "shared", "STRIPS", number, "row * strips"), strips);
    return strips;
}

/* The mean of all strips as an offset from what that of the first one is around, and what the distances of their means from
 * it add to the squares. All strips but the last are equally long. */
static void print_centred_strips(struct printer *p, const struct plan_value *sum)
{
    const struct plan_value *mean = sum->around;
    const char *means = mean->strips, *offsets = load_strips(p, mean->place + 1);
    const char *weights = print_take(p, PLAN_STRIP, false), *cols = print_width(p, "cols", p->pass->width);
    print_line(p, "compute", "tl.vadd(%s, %s, 0.0, count=1)", mean->buffer, means);
    print_line(p, "compute", "tl.vsub_row(%s, %s, %s, strips, 1, 16)", means, means, mean->buffer);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=strips * 16)", means, means, offsets);
    print_line(p, "compute", "tl.duplicate(%s, wide, count=strips * 16)", weights);
    print_line(p, "compute", "tl.set_scalar(%s, (strips - 1) * 16, %s - (strips - 1) * wide)", weights, cols);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=strips * 16)", offsets, means, weights);
    print_line(p, "compute", "tl.col_sum(%s, %s, strips, 1, 16)", mean->offset, offsets);
    print_line(p, "compute", "tl.vdiv(%s, %s, %s, count=1)", mean->offset, mean->offset, cols);
    print_line(p, "compute", "tl.vsub_row(%s, %s, %s, strips, 1, 16)", means, means, mean->offset);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=strips * 16)", weights, weights, means);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=strips * 16)", weights, weights, means);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=strips * 16)", sum->strips, sum->strips, weights);
    print_give_back(p, offsets);
    print_give_back(p, weights);
}

/* What strips make of a sum. Those of exp(x - max) shrink to the largest element of all. */
static void print_strip(struct printer *p, const struct plan_value *reduce)
{
    const struct plan_value *around = reduce->around;
    if (is_centred(reduce)) {
        print_centred_strips(p, reduce);
    } else if (around) {
        print_line(p, "compute", "tl.vsub_row(%s, %s, %s, strips, 1, 16)", around->strips, around->strips,
                   around->buffer);
        print_line(p, "compute", "tl.vexp(%s, %s, count=strips * 16)", around->strips, around->strips);
        print_line(p, "compute", "tl.vmul(%s, %s, %s, count=strips * 16)", reduce->strips, reduce->strips,
                   around->strips);
    }
    if (!has_offset(reduce))
        print_line(p, "compute", "tl.col_%s(%s, %s, strips, 1, 16)", kind_of(reduce), reduce->buffer, reduce->strips);
}

void print_strips(struct printer *p)
{
    const struct plan_pass *pass = p->pass;
    if (!pass->reduce_count)
        return;
    print_guard(p, "strips > 1");
    print_line(p, NULL, "tl.sync_all()");
    for (int i = 0; i < pass->reduce_count; i++)
        pass->reduces[i]->strips = load_strips(p, pass->reduces[i]->place);
    for (int i = 0; i < pass->reduce_count; i++)
        print_strip(p, pass->reduces[i]);
    for (int i = 0; i < pass->reduce_count; i++)
        print_give_back(p, pass->reduces[i]->strips);
    print_close(p);
}

void print_means(struct printer *p)
{
    for (int i = 0; i < p->pass->reduce_count; i++)
        if (!p->pass->reduces[i]->all)
            print_mean(p, p->pass->reduces[i], print_direction_of(p).shape);
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
        enum plan_shape shape = value->around || value->carried ? PLAN_ONE
                                : p->plan->flat                 ? PLAN_TILE
                                                                : print_direction_of(p).shape;
        value->buffer = print_own(p, arena_printf(p->plan->arena, "%s%d_ub", value->name, i), shape);
        print_line(p, "compute", "tl.duplicate(%s, %s)", value->buffer, start_of(value));
        if (!has_offset(value))
            continue;
        value->offset = print_own(p, arena_printf(p->plan->arena, "offset%d_ub", i), PLAN_ONE);
        print_line(p, "compute", "tl.duplicate(%s, 0.0)", value->offset);
    }
    print_close(p);
}

void print_whole_column(struct printer *p, int level)
{
    for (int i = 0; i < p->plan->count; i++) {
        const struct plan_value *value = p->plan->values[i];
        if (is_whole(p, value) && value->kids[0]->axes == p->plan->layout.kept && value->kids[0]->level == level)
            print_line(p, "compute", "tl.%s(%s, %s, %s, count=%s)", combine_of(value), value->buffer, value->buffer,
                       value->kids[0]->buffer, print_direction_of(p).kept_count);
    }
}

static void store_part(struct printer *p, const char *buffer)
{
    print_guard(p, p->schedule->strips ? "mine == 0" : NULL);
    print_line(p, "copyout", "tl.store(%s, %s)", place_of(p, "parts", "SHARES", p->whole_number++, "share"), buffer);
    print_guard(p, NULL);
}

void print_whole_shares(struct printer *p)
{
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!is_whole(p, value))
            continue;
        if (!value->around && !value->carried) {
            const char *result = print_take(p, PLAN_ONE, false);
            print_line(p, "compute", "tl.duplicate(%s, %s)", result, start_of(value));
            print_line(p, "compute", "tl.reduce_%s(%s, %s, work_ub)", kind_of(value), result, value->buffer);
            value->buffer = result;
        }
        value->place = p->whole_number;
        store_part(p, value->buffer);
        if (has_offset(value))
            store_part(p, value->offset);
        if (value->around) { /* how many elements these squares are of */
            const char *elements = print_take(p, PLAN_ONE, false);
            print_line(p, "compute", "tl.duplicate(%s, 0.0)", elements);
            print_line(p, "compute", "tl.set_scalar(%s, 0, max(0, last - first))", elements);
            store_part(p, elements);
            print_give_back(p, elements);
        }
    }
    print_close(p);
}

static const char *load_parts(struct printer *p, int number)
{
    const char *parts = print_take(p, PLAN_SHARE, false);
    print_line(p, "copyin", "tl.load(%s, %s, count=shares * 8)", place_of(p, "parts", "SHARES", number, ""), parts);
    return parts;
}

/* As of strips. Behind each share's number 7 zeros lie, and no elements. */
static void print_centred_whole(struct printer *p, const struct plan_value *sum)
{
    const struct plan_value *mean = sum->around;
    const char *means = load_parts(p, mean->place), *offsets = load_parts(p, mean->place + 1),
               *squares = load_parts(p, sum->place), *elements = load_parts(p, sum->place + 1);
    print_line(p, "compute", "tl.vadd(%s, %s, 0.0, count=1)", mean->buffer, means);
    print_line(p, "compute", "centre = tl.extract_scalar(%s, 0)", mean->buffer);
    print_line(p, "compute", "tl.vsub(%s, %s, centre, count=shares * 8)", means, means);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=shares * 8)", means, means, offsets);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=shares * 8)", offsets, means, elements);
    print_line(p, "compute", "tl.reduce_sum(%s, %s, work_ub, count=shares * 8)", mean->offset, offsets);
    print_line(p, "compute", "tl.vdiv(%s, %s, %s, count=1)", mean->offset, mean->offset,
               print_number(p, mean->kids[1]->name));
    print_line(p, "compute", "centre = tl.extract_scalar(%s, 0)", mean->offset);
    print_line(p, "compute", "tl.vsub(%s, %s, centre, count=shares * 8)", means, means);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=shares * 8)", elements, elements, means);
    print_line(p, "compute", "tl.vmul(%s, %s, %s, count=shares * 8)", elements, elements, means);
    print_line(p, "compute", "tl.vadd(%s, %s, %s, count=shares * 8)", squares, squares, elements);
    print_line(p, "compute", "tl.reduce_sum(%s, %s, work_ub, count=shares * 8)", sum->buffer, squares);
    print_give_back(p, means);
    print_give_back(p, offsets);
    print_give_back(p, squares);
    print_give_back(p, elements);
}

void print_wholes(struct printer *p)
{
    bool any = false;
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!is_whole(p, value))
            continue;
        if (!any)
            print_line(p, NULL, "tl.sync_all()");
        any = true;
        if (value->around) {
            print_centred_whole(p, value);
            print_mean(p, value->around, PLAN_ONE);
        } else if (!value->carried) {
            const char *parts = load_parts(p, value->place);
            print_line(p, "compute", "tl.reduce_%s(%s, %s, work_ub, count=shares * 8)", kind_of(value), value->buffer,
                       parts);
            print_give_back(p, parts);
        }
        if (!value->carried)
            print_mean(p, value, PLAN_ONE);
        print_close(p);
    }
}
