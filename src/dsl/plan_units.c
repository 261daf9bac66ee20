/* Sums along other axes than the last ones: tensors are batches of matrices, [batches, rows, cols]. A core takes units. Where sums
 * go along rows, a unit is a block of one matrix's columns, whose rows come many at once; where they go along columns, a block
 * of its rows. Sums that go along the batch, too, leave a block of all matrices. A tensor may have matrices for a part of the
 * batch's axes alone, which `inner` counts from the last one. */
#include "dsl/plan_print.h"

#include <string.h>

/* What of the batch a unit belongs to, and what it keeps of sums. */
static int kept_batch(const struct plan_layout *layout)
{
    return layout->batch_along ? 0 : layout->batched;
}

/* Transfers. */
/* Which matrix a tensor has for the unit's batch. */
static const char *batch_of(const struct plan *plan, int batched)
{
    return batched == plan->layout.batched ? "batch" : batched == PLAN_OUTER ? "batch // inner" : "batch % inner";
}

/* Where what a tensor with these axes has of the block begins. */
static const char *place_of(const struct printer *p, const char *tensor, int axes, int batched)
{
    const char *batch = batch_of(p->plan, batched);
    const char *row = !(axes & PLAN_ROWS) ? batch
                      : batched           ? arena_printf(p->plan->arena, "(%s * rows + row)", batch)
                                          : "row";
    const char *at = axes == PLAN_ROWS             ? row
                     : batched || axes & PLAN_ROWS ? arena_printf(p->plan->arena, "(%s * cols + at)", row)
                                                   : "at";
    return arena_printf(p->plan->arena, "%s + %s", tensor, at);
}

void print_unit_load(struct printer *p, const struct plan_value *value, const char *buffer)
{
    const char *place = place_of(p, value->name, value->axes, value->batched);
    if (value->axes == PLAN_FULL) {
        print_line(p, "copyin", "tl.load_rows(%s, %s, n, m, cols, pitch)", place, buffer);
    } else if (!value->lone) {
        print_line(p, "copyin", "tl.load(%s, %s, count=%s)", place, buffer, value->axes == PLAN_ROWS ? "n" : "m");
    } else {
        print_line(p, NULL, "%s_value = tl.extract_scalar(%s, %s)", value->name, value->name,
                   batch_of(p->plan, value->batched));
        print_line(p, "compute", "tl.duplicate(%s, %s_value, count=%s)", buffer, value->name,
                   print_direction_of(p).kept_count);
    }
}

void print_unit_store(struct printer *p, int output, const char *buffer)
{
    const struct plan_layout *layout = &p->plan->layout;
    const char *name = p->plan->task->outputs[output].name;
    int axes = p->plan->outputs[output].axes;
    if (axes == PLAN_FULL)
        print_line(p, "copyout", "tl.store_rows(%s, %s, n, m, cols, pitch)", place_of(p, name, axes, layout->batched),
                   buffer);
    else
        print_line(p, "copyout", "tl.store(%s, %s, count=%s)", place_of(p, name, axes, kept_batch(layout)), buffer,
                   print_direction_of(p).kept_count);
}

/* Running sums of columns: each row is added to the one behind it, and what the rows in front add up to is carried along. */
void print_unit_scan(struct printer *p, struct plan_value *scan)
{
    const char *carry = print_carry_of(p, scan), *from = scan->kids[0]->buffer;
    print_read(p, scan->kids[0], PLAN_FULL);
    scan->buffer = scan->buffer ? scan->buffer : print_take(p, PLAN_TILE, false);
    const char *to = scan->buffer;
    if (strcmp(to, from) != 0)
        print_line(p, "compute", "tl.vadd(%s, %s, 0.0, count=n * pitch)", to, from);
    print_line(p, "compute", "for r in range(1, n):");
    print_line(p, "compute", "    tl.vadd(%s + r * pitch, %s + r * pitch, %s + (r - 1) * pitch, count=m)", to, to, to);
    print_line(p, "compute", "tl.vadd_row(%s, %s, %s, n, m, pitch)", to, to, carry);
    print_line(p, "compute", "tl.vadd(%s, %s + (n - 1) * pitch, 0.0, count=m)", carry, to);
}

/* Loops. */
const char *print_unit_pieces(const struct printer *p)
{
    const struct plan_layout *layout = &p->plan->layout;
    return layout->along == PLAN_ROWS ? layout->batch_along ? "step < rows or batches > 1" : "step < rows"
           : layout->batch_along      ? "piece < cols or batches > 1"
                                      : "piece < cols";
}

static void print_row_block(struct printer *p, const char *index)
{
    print_line(p, NULL, "row = %s * step", index);
    print_line(p, NULL, "n = min(step, rows - row)");
}

static void print_col_block(struct printer *p, const char *index)
{
    print_line(p, NULL, "at = %s * piece", index);
    print_line(p, NULL, "m = min(piece, cols - at)");
}

static void print_pass(struct printer *p)
{
    const struct plan_layout *layout = &p->plan->layout;
    int indent = p->indent;
    print_starts(p, p->pass);
    print_carries(p, p->pass);
    print_close(p);
    if (layout->batch_along) {
        print_line(p, NULL, "for batch in range(batches):");
        p->indent++;
    }
    if (layout->along == PLAN_ROWS) {
        print_line(p, NULL, "for row in range(0, rows, step):");
        p->indent++;
        print_line(p, NULL, "n = min(step, rows - row)");
    } else {
        print_line(p, NULL, "for at in range(0, cols, piece):");
        p->indent++;
        print_line(p, NULL, "m = min(piece, cols - at)");
    }
    print_piece(p);
    p->indent = indent;
    print_means(p);
}

void print_units(struct printer *p)
{
    const struct plan_layout *layout = &p->plan->layout;
    const char *index = kept_batch(layout) ? "unit % across" : "unit";
    print_line(p, NULL, "for unit in range(first, last):");
    p->indent++;
    if (kept_batch(layout))
        print_line(p, NULL, "batch = unit // across");
    (layout->along == PLAN_ROWS ? print_col_block : print_row_block)(p, index);
    print_passes(p, print_pass);
    p->indent--;
}

/* The kernel around the loops. */
void print_unit_measures(const struct printer *p, struct text *out)
{
    const struct plan_layout *layout = &p->plan->layout;
    text_addf(out, ", %s%srows, cols, piece, step%s, units",
              strstr(p->body.bytes ? p->body.bytes : "", "batches") ? "batches, " : "",
              layout->inner_at ? "inner, " : "", kept_batch(layout) ? ", across" : "");
}

void print_unit_comment(const struct printer *p, struct text *out)
{
    const struct plan_layout *layout = &p->plan->layout;
    bool columns = layout->along == PLAN_ROWS;
    text_addf(out,
              "# Computed in float32. Tensors are [%srows, cols]. A core takes blocks of %s; what belongs to one\n"
              "# comes many %s at once, and stays in UB where all of it fits into a tile",
              layout->batched ? "batches, " : "", columns ? "columns" : "rows", columns ? "rows" : "columns");
}

/* The host function. */
/* The number of elements along the axes from `from` up to `to`, which are counted as x.shape[] does; 0 behind the last. */
static void add_size(const struct plan *plan, struct text *out, const char *name, int from, int to)
{
    const char *tensor = plan->layout.measured;
    const char *ends[2];
    for (int i = 0; i < 2; i++) {
        int axis = i ? to : from;
        ends[i] = axis < 0 || (i && !axis) ? axis ? arena_printf(plan->arena, "%s.ndim - %d", tensor, -axis)
                                                  : arena_printf(plan->arena, "%s.ndim", tensor)
                                           : arena_printf(plan->arena, "%d", axis);
    }
    if (to - from == 1)
        text_addf(out, "    %s = %s.shape[%d]\n", name, tensor, from);
    else
        text_addf(out, "    %s = 1\n    for axis in range(%s, %s):\n        %s *= %s.shape[axis]\n", name, ends[0],
                  ends[1], name, tensor);
}

static const char *elements_of(const struct plan *plan, int axes, int batched)
{
    const char *text = !batched                          ? ""
                       : batched == plan->layout.batched ? "batches"
                       : batched == PLAN_OUTER           ? "batches // inner"
                                                         : "inner";
    if (axes & PLAN_ROWS)
        text = arena_printf(plan->arena, "%s%srows", text, *text ? " * " : "");
    if (axes & PLAN_COLS)
        text = arena_printf(plan->arena, "%s%scols", text, *text ? " * " : "");
    return *text ? text : "1";
}

static void add_check(const struct plan *plan, struct text *out, const char *name, int axes, int batched)
{
    text_addf(out, "    assert %s.numel() == %s, \"'%s' has another shape\"\n", name, elements_of(plan, axes, batched),
              name);
}

static void add_checks(const struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    const struct plan_layout *layout = &plan->layout;
    const struct task *task = plan->task;
    for (int i = 0; i < task->input_count; i++)
        if (plan->used[i] && i < plan->own_inputs && plan->input_axes[i] > 0 &&
            strcmp(task->inputs[i].name, layout->measured) != 0)
            add_check(plan, out, task->inputs[i].name, plan->input_lone[i] ? 0 : plan->input_axes[i],
                      plan->input_batched[i]);
    for (int i = 0; i < task->output_count; i++) {
        int axes = plan->outputs[i].axes;
        int batched = axes == PLAN_FULL ? layout->batched : axes ? kept_batch(layout) : 0;
        print_output_check(p, out, i, elements_of(plan, axes, batched));
    }
}

void print_unit_sizes(const struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    const struct plan_layout *layout = &plan->layout;
    const char *x = layout->measured, *of = kept_batch(layout) ? "batches * " : "";
    const char *cores = print_whole_count(plan) ? "48" : "tl.num_vec_cores()";
    int axes = layout->cols_at > 0 ? layout->cols_at : -layout->rows_at;
    text_addf(out, "    assert %s.ndim >= %d, \"'%s' has too few axes\"\n", x, axes, x);
    if (layout->batched)
        add_size(plan, out, "batches", 0, layout->rows_at);
    if (layout->inner_at)
        add_size(plan, out, "inner", layout->inner_at, layout->rows_at);
    add_size(plan, out, "rows", layout->rows_at, layout->cols_at);
    add_size(plan, out, "cols", layout->cols_at, 0);
    for (int i = 0; i < plan->number_count; i++)
        text_addf(out, "    %s = %s\n", plan->numbers[i].name, plan->numbers[i].text);
    add_checks(p, out);
    if (layout->along == PLAN_ROWS)
        text_addf(out,
                  "    # so narrow that each core has a block, where there are enough columns\n"
                  "    share = tl.cdiv(%scols, %s)\n"
                  "    piece = max(1, min(cols, max(64, tl.pitch(share)), tile // 16))\n"
                  "    step = tile // %s\n",
                  of, cores, print_pitch_of(plan, "piece"));
    else
        text_addf(out,
                  "    piece = max(1, min(cols, tile))\n"
                  "    # so many rows that each core has a block, where there are enough\n"
                  "    step = max(1, min(tile // %s, tl.cdiv(%srows, %s)))\n",
                  print_pitch_of(plan, "piece"), of, cores);
    const char *blocks = layout->along == PLAN_ROWS ? "tl.cdiv(cols, piece)" : "tl.cdiv(rows, step)";
    if (kept_batch(layout))
        text_addf(out, "    across = %s\n    units = batches * across\n", blocks);
    else
        text_addf(out, "    units = %s\n", blocks);
}
