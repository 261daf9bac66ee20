/* The host function: it measures the tensors, refuses what does not fit, and shares the work out. */
#include "dsl/plan_print.h"

#include <string.h>

enum {
    UB_BYTES = 168 << 10,
    TILE_UNIT = 256,
    TILE_MOST = 8192,
    COLUMN_SHARE = 16,
    SHARE_BYTES = 32,
    STRIP_BYTES = 2 * 64
};

/* Rows of 8-bit types begin at multiples of 32 elements. */
const char *print_pitch_of(const struct plan *plan, const char *cols)
{
    const struct task *task = plan->task;
    bool bytes = false;
    for (int i = 0; i < task->input_count; i++)
        bytes |= plan->used[i] && plan->input_axes[i] > 0 && akgen_dtype_size(task->inputs[i].types[0]) == 1;
    for (int i = 0; i < task->output_count; i++)
        bytes |= akgen_dtype_size(task->outputs[i].types[0]) == 1;
    return arena_printf(plan->arena, bytes ? "(tl.cdiv(%s, 32) * 32)" : "tl.pitch(%s)", cols);
}

int print_whole_count(const struct plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->count; i++)
        count += !plan->values[i]->uses || !plan->values[i]->all       ? 0
                 : plan->values[i]->around || plan->values[i]->carried ? 2
                                                                       : 1;
    return count;
}

void print_measures(struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    for (int i = 0; i < plan->number_count; i++)
        if (plan->numbers[i].in_kernel)
            text_addf(out, ", %s", plan->numbers[i].name);
    for (int i = 0; i < plan->width_count; i++)
        if (plan->widths[i].same_as == i && p->widths_used[i] && !plan->layout.units)
            text_addf(out, ", %s", print_width(p, "cols", i));
    if (print_whole_count(plan))
        text_add(out, ", parts");
    if (plan->layout.units)
        print_unit_measures(p, out);
    else if (!plan->flat || p->rows_used)
        text_add(out, ", rows");
    if (plan->flat && !plan->lists)
        text_add(out, ", total");
    else if (!plan->flat && !p->schedule->rows)
        text_addf(out, ", step, %s, across", print_width(p, "piece", p->schedule->passes[0].width));
    if (print_whole_count(plan))
        text_add(out, ", shares, per_share");
    else if (plan->flat || p->schedule->rows)
        text_add(out, ", per_core");
    text_add(out, p->schedule->strips ? ", shared, strips, sharing, wide, tile" : ", tile");
}

/* How many elements a tile has: as many as fit, with what is loaded and stored twice, a float32 beside a 16-bit one, and
 * room that operations need for themselves. */
int print_tile_size(const struct printer *p)
{
    enum { OF_TRANSFER = 8, OF_VALUE = 4, OF_TRUTH = 1, OWN_ROOMS = 4 };
    int bytes = (p->transfers + p->plan->task->output_count + OWN_ROOMS) * OF_VALUE;
    int columns = 4, room = UB_BYTES / p->plan->stages;
    for (int i = 0; i < p->buffer_count; i++) {
        bool row = p->buffers[i].shape == PLAN_ROW, narrow = row && p->plan->layout.kept == PLAN_COLS;
        bool wide = p->buffers[i].shape == PLAN_TILE || (row && !narrow);
        bool typed = strncmp(p->buffers[i].type, "tl.", 3) != 0;
        bytes += !wide ? 0 : typed ? OF_TRANSFER : p->buffers[i].truth ? OF_TRUTH : OF_VALUE;
        bytes += p->buffers[i].shape == PLAN_TURNED ? 2 * OF_VALUE : 0;
        columns += p->buffers[i].shape == PLAN_COLUMN || narrow;
        room -= p->buffers[i].shape == PLAN_STRIP ? PLAN_STRIPS * STRIP_BYTES : 0;
        room -= p->buffers[i].shape == PLAN_SHARE ? PLAN_SHARES * SHARE_BYTES : 0;
    }
    bytes += p->plan->task->output_count * OF_TRANSFER + columns * OF_VALUE / COLUMN_SHARE + 1;
    bytes += print_whole_count(p->plan) ? OF_VALUE : 0;
    int tile = room / bytes / TILE_UNIT * TILE_UNIT;
    return tile > TILE_MOST ? TILE_MOST : tile < TILE_UNIT ? TILE_UNIT : tile;
}

static const char *rows_text(const struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    for (int axes = PLAN_FULL; axes >= PLAN_ROWS; axes -= 2)
        for (int i = 0; i < plan->task->input_count; i++) {
            if (!plan->used[i] || plan->input_axes[i] != axes || i >= plan->own_inputs)
                continue;
            const char *name = plan->task->inputs[i].name;
            if (axes == PLAN_ROWS)
                text_addf(out, "    rows = %s.numel()\n", name);
            else
                text_addf(out, "    rows = 1\n    for axis in range(%s.ndim - %d):\n        rows *= %s.shape[axis]\n",
                          name, plan->layout.last, name);
            return name;
        }
    int full = 0; /* the first output that has all rows, if one does */
    while (full < plan->own_outputs && plan->outputs[full].axes != PLAN_FULL)
        full++;
    const char *output = plan->task->outputs[full < plan->own_outputs ? full : 0].name,
               *cols = plan_row_length(plan, output);
    text_addf(out, plan->layout.last > 1 ? "    rows = %s.numel() // (%s)\n" : "    rows = %s.numel() // %s\n", output,
              cols);
    return "";
}

static void add_assert(struct text *out, const char *name, const char *elements, const char *why)
{
    text_addf(out, "    assert %s.numel() == %s, \"'%s' %s\"\n", name, elements, name, why);
}

static void add_numbers(struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    for (int i = 0; i < plan->number_count; i++)
        text_addf(out, "    %s = %s\n", plan->numbers[i].name, print_number(p, plan->numbers[i].text));
}

static void add_widths(struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    for (int i = 0; i < plan->width_count; i++) {
        const char *text = print_number(p, plan->widths[i].text), *cols = print_width(p, "cols", i);
        if (plan->widths[i].same_as == i)
            text_addf(out, "    %s = %s\n", cols, text);
        else
            text_addf(out, "    assert %s == %s, \"rows are not equally long\"\n", text, cols);
    }
    add_numbers(p, out);
    for (int i = 0; i < plan->count; i++) {
        const struct plan_value *value = plan->values[i];
        if (!value->uses || value->operation != PLAN_INPUT || !(value->axes & PLAN_COLS) || plan->flat)
            continue;
        const char *width = print_width(p, "cols", value->width),
                   *of = print_width(p, "cols", plan->input_width[value->input]);
        bool begins = strcmp(value->from, "0") == 0;
        const char *what =
            arena_printf(plan->arena, "a part is no part of '%s'", plan->task->inputs[value->input].name);
        const char *line = begins ? arena_printf(plan->arena, "    assert %s <= %s, \"%s\"\n", width, of, what)
                                  : arena_printf(plan->arena, "    assert 0 <= %s and %s + %s <= %s, \"%s\"\n",
                                                 value->from, value->from, width, of, what);
        if ((!begins || strcmp(width, of) != 0) && !(out->bytes && strstr(out->bytes, line)))
            text_add(out, line);
    }
}

void print_output_check(const struct printer *p, struct text *out, int output, const char *elements)
{
    const char *name = p->plan->task->outputs[output].name;
    if (output >= p->plan->own_outputs)
        text_addf(out, "    %s = torch.empty(%s, dtype=tl.float32)\n", name, elements);
    else
        add_assert(out, name, elements, "has another shape");
}

/* Of rows that are put together of parts. */
static const char *joined_elements(struct printer *p, int output)
{
    const char *cols = "";
    for (int i = 0; i < p->plan->output_count; i++)
        if (p->plan->outputs[i].tensor == output)
            cols = arena_printf(p->plan->arena, "%s%s%s", cols, *cols ? " + " : "",
                                print_width(p, "cols", p->plan->outputs[i].value->width));
    return arena_printf(p->plan->arena, "rows * (%s)", cols);
}

static const char *elements_of(struct printer *p, int axes, int width)
{
    const char *cols = axes & PLAN_COLS ? print_width(p, "cols", width) : "1";
    return axes == PLAN_FULL ? arena_printf(p->plan->arena, "rows * %s", cols) : axes == PLAN_ROWS ? "rows" : cols;
}

static void add_checks(struct printer *p, struct text *out, const char *known)
{
    const struct plan *plan = p->plan;
    const struct task *task = plan->task;
    for (int i = 0; i < task->input_count; i++) {
        const char *name = task->inputs[i].name;
        if (!plan->used[i] || plan->input_axes[i] <= 0 || strcmp(name, known) == 0 || i >= plan->own_inputs)
            continue;
        if (plan->flat)
            add_assert(out, name, "total", "has other elements than the output");
        else
            add_assert(out, name, elements_of(p, plan->input_axes[i], plan->input_width[i]), "has another shape");
    }
    for (int i = 0; i < task->output_count; i++) {
        const struct plan_output *output = &plan->outputs[i];
        if (output->width != PLAN_NONE)
            print_output_check(p, out, i, joined_elements(p, i));
        else if (!plan->flat || output->axes != PLAN_FULL || i)
            print_output_check(
                p, out, i, plan->flat && output->axes ? "total" : elements_of(p, output->axes, output->value->width));
    }
}

static const char *total_of(const struct plan *plan)
{
    for (int i = 0; i < plan->own_outputs; i++)
        if (plan->outputs[i].axes == PLAN_FULL)
            return plan->task->outputs[i].name;
    for (int i = 0; i < plan->own_inputs; i++)
        if (plan->used[i] && plan->input_axes[i] == PLAN_FULL)
            return plan->task->inputs[i].name;
    return NULL;
}

/* Blocks of some rows and some columns: so many rows that each core has a block, where there are enough. */
static void add_blocks(struct printer *p, struct text *out)
{
    const char *cols = print_width(p, "cols", p->schedule->passes[0].width);
    const char *piece = print_width(p, "piece", p->schedule->passes[0].width);
    const char *cores = print_whole_count(p->plan) ? "48" : "tl.num_vec_cores()";
    text_addf(out, "    %s = max(1, min(%s, tile))\n    across = tl.cdiv(%s, %s)\n", piece, cols, cols, piece);
    text_addf(out,
              "    # so many rows that each core has a block, where there are enough\n"
              "    step = max(1, min(tile // %s, tl.cdiv(rows * across, %s)))\n",
              print_pitch_of(p->plan, piece), cores);
}

/* How many cores take rows or shares of them; few long rows have strips, and several cores. */
static void add_strips(struct printer *p, struct text *out, const char *of)
{
    const char *cores = arena_printf(p->plan->arena, "    cores = max(1, min(tl.num_vec_cores(), %s))\n", of);
    if (!p->schedule->strips) {
        text_add(out, cores);
        return;
    }
    const char *cols = print_width(p, "cols", p->schedule->passes[0].width);
    text_addf(
        out,
        "    # few long rows are cut into strips, of a tile at least\n"
        "    strips = max(1, min(STRIPS // max(1, rows), %s // tile)) if %s >= LONG else 1\n"
        "    wide = max(64, tl.cdiv(tl.cdiv(%s, strips), 64) * 64)\n"
        "    strips = max(1, tl.cdiv(%s, wide))\n"
        "%s"
        "    while strips > 1 and %s %% cores != 0:  # then cores have equally many, as each tl.sync_all() is for all\n"
        "        cores -= 1\n"
        "    sharing = min(strips, tl.num_vec_cores() // cores)\n"
        "    shared = torch.empty(%s%sSTRIPS * 8, dtype=tl.float32)\n",
        cols, cols, cols, cols, cores, of,
        print_strip_count(p->schedule) > 1 ? arena_printf(p->plan->arena, "%d", print_strip_count(p->schedule)) : "",
        print_strip_count(p->schedule) > 1 ? " * " : "");
}

static int occurrences(const char *text, const char *of)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, of)); at += strlen(of))
        count++;
    return count;
}

/* How many elements are worth a core. The launch of one more takes as long as it moves some thousand of them, fewer the more is
 * computed: `akgen tune` finds these numbers for the programs of the tasks, most of the time within 2 % of the best. */
static int worth_a_core(const struct printer *p)
{
    static const char *const slow[] = {"tl.vsin(",   "tl.vcos(", "tl.vtan(",    "tl.vasin(",   "tl.vacos(",
                                       "tl.vatan(",  "tl.verf(", "tl.verfc(",   "tl.vasinh(",  "tl.vacosh(",
                                       "tl.vatanh(", "tl.vpow(", "tl.vlgamma(", "tl.vdigamma("};
    static const struct {
        int instructions, elements;
    } rows[] = {{5, 8192}, {15, 4096}, {30, 2048}};
    enum { OF_SLOW = 32, FREE_TRANSFERS = 3, OF_TRANSFER = 3 };
    const char *body = p->body.bytes ? p->body.bytes : "";
    int work = occurrences(body, "tl.v") + occurrences(body, "tl.cast(");
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        work += OF_SLOW * occurrences(body, slow[i]);
    if (p->transfers > FREE_TRANSFERS)
        work += OF_TRANSFER * (p->transfers - FREE_TRANSFERS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (work <= rows[i].instructions)
            return rows[i].elements;
    return 512;
}

/* What each core takes. */
static void add_cores(struct printer *p, struct text *out)
{
    if (p->plan->flat) {
        const int worth = worth_a_core(p);
        text_addf(out,
                  "    # at least %d elements for a core, in steps of 64\n"
                  "    cores = max(1, min(tl.num_vec_cores(), tl.cdiv(total, %d)))\n"
                  "    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64\n",
                  worth, worth);
    } else if (p->schedule->rows) {
        const char *of = p->plan->layout.units ? "units" : "rows";
        add_strips(p, out, of);
        text_addf(out, "    per_core = tl.cdiv(%s, cores)\n", of);
    } else {
        add_blocks(p, out);
        text_add(out, "    cores = max(1, min(tl.num_vec_cores(), tl.cdiv(rows, step) * across))\n");
    }
}

/* Shares, whose bounds do not depend on the number of cores: a tile, but less where 48 cores would not have one each, and
 * more where that would be more than PLAN_SHARES. */
static void add_shares(struct printer *p, struct text *out)
{
    const char *of = "rows", *tile = "tile";
    if (p->plan->flat) {
        of = "total";
    } else if (p->plan->layout.units) {
        of = "units";
        tile = "1";
    } else if (p->schedule->rows) {
        const char *cols = print_width(p, "cols", p->schedule->passes[0].width);
        const char *piece = arena_printf(p->plan->arena, "max(1, min(%s, tile))", cols);
        tile = arena_printf(p->plan->arena, "tile // %s", print_pitch_of(p->plan, piece));
    } else {
        add_blocks(p, out);
        text_add(out, "    blocks = tl.cdiv(rows, step) * across\n");
        of = "blocks";
    }
    text_add(out, "    # what a share is depends on the sizes alone, and so does each bit of the result\n");
    const char *most = arena_printf(p->plan->arena, "min(%s, tl.cdiv(%s, %d)), ", tile, of, PLAN_CORES);
    text_addf(out, "    per_share = max(%s, %stl.cdiv(%s, SHARES))\n", p->plan->flat ? "512" : "1",
              p->plan->flat || p->schedule->rows ? most : "", of);
    if (p->plan->flat)
        text_add(out, "    per_share = tl.cdiv(per_share, 64) * 64\n");
    text_addf(out, "    shares = max(1, tl.cdiv(%s, per_share))\n", of);
    add_strips(p, out, "shares");
    text_addf(out, "    parts = torch.empty(%s%sSHARES * 8, dtype=tl.float32)\n",
              print_whole_count(p->plan) > 1 ? arena_printf(p->plan->arena, "%d", print_whole_count(p->plan)) : "",
              print_whole_count(p->plan) > 1 ? " * " : "");
}

/* The sizes of one matrix, or how many elements there are, and what refuses other shapes. */
static void add_sizes(struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    const char *known = "", *total = total_of(plan);
    bool measured = !plan->flat || p->rows_used;
    for (int i = 0; i < plan->width_count; i++)
        measured |= p->widths_used[i];
    for (int i = 0; i < plan->number_count; i++) /* they may be made of rows' lengths */
        measured |= strchr(plan->numbers[i].text, '{') != NULL;
    if (measured)
        known = rows_text(p, out);
    if (measured)
        add_widths(p, out);
    else
        add_numbers(p, out);
    if (plan->flat && total)
        text_addf(out, "    total = %s.numel()\n", total);
    else if (plan->flat)
        text_add(out, "    total = 1\n");
    add_checks(p, out, plan->flat ? total ? total : "" : known);
}

/* How many elements lists have, each member padded to a multiple of 64. */
static void add_lists(struct printer *p, struct text *out)
{
    const char *list = p->plan->lists->longest;
    text_addf(out,
              "    total = 0\n"
              "    for t in range(len(%s)):\n"
              "        total += tl.cdiv(%s[t].numel(), 64) * 64\n"
              "    if total == 0:\n"
              "        return\n",
              list, list);
    add_numbers(p, out);
}

void print_host(struct printer *p, struct text *out)
{
    if (p->plan->lists) {
        add_lists(p, out);
        add_cores(p, out);
        return;
    }
    if (p->plan->layout.units)
        print_unit_sizes(p, out);
    else
        add_sizes(p, out);
    if (print_whole_count(p->plan))
        add_shares(p, out);
    else
        add_cores(p, out);
}
