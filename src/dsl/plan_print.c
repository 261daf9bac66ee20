/* The text of a kernel, whose loops are the passes of the schedule. */
#include "base/array.h"
#include "dsl/plan_print.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Lines. */
static void add_indent(struct printer *p)
{
    for (int i = 0; i < p->indent + (p->guard != NULL) + (p->stage != NULL); i++)
        text_add(&p->body, "    ");
}

void print_close(struct printer *p)
{
    p->guard = p->stage = NULL;
}

void print_guard(struct printer *p, const char *guard)
{
    if (guard == p->guard || (guard && p->guard && strcmp(guard, p->guard) == 0))
        return;
    print_close(p);
    if (!guard)
        return;
    add_indent(p);
    text_addf(&p->body, "if %s:\n", guard);
    p->guard = guard;
}

void print_line(struct printer *p, const char *stage, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (stage != p->stage && !(stage && p->stage && strcmp(stage, p->stage) == 0)) {
        p->stage = NULL;
        if (stage) {
            add_indent(p);
            text_addf(&p->body, "with tl.%s():\n", stage);
        }
        p->stage = stage;
    }
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    add_indent(p);
    text_addf(&p->body, "%s\n", line);
}

/* Names. */
const char *print_width(struct printer *p, const char *what, int width)
{
    width = plan_width_of(p->plan, width);
    int before = 0;
    for (int i = 0; i < width; i++)
        before += p->plan->widths[i].same_as == i;
    p->widths_used[width] = true;
    return before ? arena_printf(p->plan->arena, "%s%d", what, before + 1) : what;
}

const char *print_number(struct printer *p, const char *text)
{
    const char *result = "";
    for (const char *brace; (brace = strchr(text, '{')); text = strchr(brace, '}') + 1) {
        bool rows = brace[1] == 'r';
        int width = 0;
        p->rows_used |= rows;
        for (const char *digit = brace + 1; !rows && *digit != '}'; digit++)
            width = width * 10 + *digit - '0';
        result = arena_printf(p->plan->arena, "%s%.*s%s", result, (int)(brace - text), text,
                              rows ? "rows" : print_width(p, "cols", width));
    }
    return arena_printf(p->plan->arena, "%s%s", result, text);
}

/* Buffers. */
enum plan_shape print_shape_of(const struct plan_value *value)
{
    return value->axes == PLAN_FULL   ? PLAN_TILE
           : value->axes == PLAN_COLS ? PLAN_ROW
           : value->axes == PLAN_ROWS ? PLAN_COLUMN
                                      : PLAN_ONE;
}

/* A buffer is called so, or that of an input or output of the task would be: "value2_ub". */
static bool is_named(const struct printer *p, const char *name)
{
    const struct task *task = p->plan->task;
    for (int i = 0; i < p->buffer_count; i++) {
        const char *other = p->buffers[i].name;
        if (strcmp(other + (*other == PLAN_MARK), name) == 0)
            return true;
    }
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        const char *tensor = i < task->input_count ? task->inputs[i].name : task->outputs[i - task->input_count].name;
        size_t length = strlen(tensor) - 1; /* behind the mark */
        if (strncmp(name, tensor + 1, length) == 0 && strcmp(name + length, "_ub") == 0)
            return true;
    }
    return false;
}

const char *print_take(struct printer *p, enum plan_shape shape, bool truth)
{
    static const char *const names[PLAN_SHAPES] = {"value", "row", "column", "number", "turned", "strips", "parts"};
    int same = 0;
    for (int i = 0; i < p->buffer_count; i++) {
        struct plan_buffer *buffer = &p->buffers[i];
        if (buffer->own || buffer->shape != shape || buffer->truth != truth)
            continue;
        same++;
        if (!buffer->taken) {
            buffer->taken = true;
            return buffer->name;
        }
    }
    const char *name;
    do
        name = arena_printf(p->plan->arena, "%s%s%d_ub", names[shape], truth ? "_truth" : "", ++same);
    while (is_named(p, name));
    ARRAY_ADD(p->plan->arena, p->buffers, p->buffer_count, p->buffer_capacity,
              (struct plan_buffer){name, shape, truth, true, false, truth ? "tl.bool" : "tl.float32"});
    return name;
}

void print_give_back(struct printer *p, const char *name)
{
    for (int i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i].name, name) == 0 && !p->buffers[i].own)
            p->buffers[i].taken = false;
}

static const char *own_buffer(struct printer *p, const char *name, enum plan_shape shape, const char *type)
{
    for (int i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i].name, name) == 0)
            return name;
    ARRAY_ADD(p->plan->arena, p->buffers, p->buffer_count, p->buffer_capacity,
              (struct plan_buffer){name, shape, false, true, true, type});
    return name;
}

const char *print_own(struct printer *p, const char *name, enum plan_shape shape)
{
    return own_buffer(p, name, shape, "tl.float32");
}

static bool is_list(const struct plan *plan, const char *tensor)
{
    const struct task *task = plan->task;
    bool list = false;
    for (int i = 0; i < task->input_count && plan->lists; i++)
        list |= plan->lists->inputs[i] && strcmp(task->inputs[i].name, tensor) == 0;
    for (int i = 0; i < task->output_count && plan->lists; i++)
        list |= plan->lists->outputs[i] && strcmp(task->outputs[i].name, tensor) == 0;
    return list;
}

/* One of a tensor's own data type, which members of a list have in common. */
static const char *typed_buffer(struct printer *p, const char *name, const char *tensor, enum plan_shape shape)
{
    const char *member = is_list(p->plan, tensor) ? "[0]" : "";
    return own_buffer(p, name, shape, arena_printf(p->plan->arena, "%s%s.dtype", tensor, member));
}

const char *print_typed(struct printer *p, int input, enum plan_shape shape)
{
    static const char *const names[PLAN_SHAPES] = {[PLAN_TILE] = "rounded",
                                                   [PLAN_ROW] = "rounded_row",
                                                   [PLAN_COLUMN] = "rounded_column",
                                                   [PLAN_ONE] = "rounded_number"};
    const char *tensor = p->plan->task->inputs[input].name;
    return typed_buffer(p, arena_printf(p->plan->arena, "%s_%s_ub", tensor, names[shape]), tensor, shape);
}

/* Inputs. */
static const char *buffer_of_input(struct printer *p, struct plan_value *value)
{
    int parts = 1;
    if (value->buffer)
        return value->buffer;
    for (int i = 0; i < value->number; i++)
        parts += p->plan->values[i]->operation == PLAN_INPUT && p->plan->values[i]->input == value->input &&
                 p->plan->values[i]->uses > 0;
    const char *name = arena_printf(p->plan->arena, "%s_ub", value->name);
    for (; parts > 1 && is_named(p, name + 1); parts++)
        name = arena_printf(p->plan->arena, "%s%d_ub", value->name, parts);
    p->transfers++;
    return value->buffer = print_own(p, name, print_shape_of(value));
}

/* Where row `row`, element `at`, of an input's or output's rows begins. */
static const char *place_of(struct printer *p, const char *tensor, const char *cols, const char *from)
{
    struct arena *arena = p->plan->arena;
    const char *part = strcmp(from, "0") == 0 ? "" : arena_printf(arena, " + %s", from);
    if (p->plan->flat)
        return arena_printf(arena, "%s + at", tensor);
    return arena_printf(arena, "%s + (row * %s%s + at)", tensor, cols, part);
}

static bool is_integer(const struct printer *p, const struct plan_value *value)
{
    return !p->plan->mixed && !task_is_float(p->plan->task->inputs[value->input].types[0]) && !value->lone;
}

static const char *loaded_buffer(struct printer *p, struct plan_value *value)
{
    const char *buffer = buffer_of_input(p, value);
    if (!is_integer(p, value))
        return buffer;
    const char *name = arena_strndup(p->plan->arena, buffer, strlen(buffer) - strlen("_ub"));
    return typed_buffer(p, arena_printf(p->plan->arena, "%s_in_ub", name), value->name, print_shape_of(value));
}

/* Integers are computed as float32. */
static void print_conversion(struct printer *p, struct plan_value *value)
{
    if (is_integer(p, value))
        print_line(p, "compute", "tl.cast(%s, %s, count=%s)", value->buffer, loaded_buffer(p, value),
                   print_count(p, print_shape_of(value)));
}

static void print_load(struct printer *p, struct plan_value *value)
{
    const char *buffer = loaded_buffer(p, value), *name = value->name;
    if (p->plan->layout.units) {
        print_unit_load(p, value, buffer);
    } else if (value->axes == PLAN_ROWS) {
        print_line(p, "copyin", "tl.load(%s + row, %s, count=n)", name, buffer);
    } else if (value->axes == PLAN_COLS) {
        bool whole = strcmp(value->from, "0") == 0;
        print_line(p, "copyin", "tl.load(%s + %sat%s, %s, count=m)", name, whole ? "" : "(",
                   whole ? "" : arena_printf(p->plan->arena, " + %s)", value->from), buffer);
    } else if (p->plan->flat) {
        print_line(p, "copyin", "tl.load(%s%s + at, %s, count=m)", name, p->plan->lists ? "[t]" : "", buffer);
    } else {
        const char *cols = print_width(p, "cols", p->plan->input_width[value->input]);
        print_line(p, "copyin", "tl.load_rows(%s, %s, n, m, %s, %s)", place_of(p, name, cols, value->from), buffer,
                   cols, print_width(p, "pitch", p->pass->width));
    }
}

/* Passes. */
static bool was_before(const struct printer *p, const struct plan_value *value)
{
    return value->axes == PLAN_FULL && value->first_pass != p->pass_number;
}

/* How often the pass reads each value. */
static void count_readers(struct printer *p)
{
    const struct plan_pass *pass = p->pass;
    for (int i = 0; i < pass->count; i++)
        pass->values[i]->waiting = 0;
    for (int i = 0; i < pass->count; i++)
        for (int k = 0; k < pass->values[i]->kid_count; k++)
            if (pass->values[i]->kids[k]->axes & p->plan->layout.along)
                pass->values[i]->kids[k]->waiting++;
    for (int i = 0; i < pass->reduce_count; i++)
        plan_summed(pass->reduces[i])->waiting++;
    for (int i = 0; i < pass->store_count; i++)
        p->plan->outputs[pass->stores[i]].value->waiting++;
}

/* When an input is loaded: always; for each piece; for each piece and the first rows. -1: it is none. */
enum { LOAD_ALWAYS, LOAD_PIECES, LOAD_ONCE, LOADS };
static int load_of(const struct printer *p, const struct plan_value *value)
{
    bool row = value->axes == p->plan->layout.along && !value->batched && p->schedule->rows;
    return value->operation != PLAN_INPUT ? -1 : was_before(p, value) ? LOAD_PIECES : row ? LOAD_ONCE : LOAD_ALWAYS;
}

static void print_loads(struct printer *p, const char *pieces)
{
    const struct plan_pass *pass = p->pass;
    const char *once =
        arena_printf(p->plan->arena, "%s or %s == first", pieces, p->plan->layout.units ? "unit" : "row");
    const char *const guards[LOADS] = {NULL, pieces, once};
    for (int load = 0; load < LOADS; load++)
        for (int i = 0; i < 2 * pass->count; i++) {
            struct plan_value *value = pass->values[i % pass->count];
            if (load_of(p, value) != load)
                continue;
            print_guard(p, guards[load]);
            (i < pass->count ? print_load : print_conversion)(p, value);
        }
}

/* A value is computed again where rows come in pieces if an earlier pass has computed it, or if only such values read it. */
static void find_again(struct printer *p)
{
    const struct plan_pass *pass = p->pass;
    for (int i = 0; i < pass->count; i++)
        pass->values[i]->again = true;
    for (int i = 0; i < pass->reduce_count; i++)
        plan_summed(pass->reduces[i])->again = false;
    for (int i = 0; i < pass->store_count; i++)
        p->plan->outputs[pass->stores[i]].value->again = false;
    for (int i = pass->count - 1; i >= 0; i--) {
        struct plan_value *value = pass->values[i];
        value->again |= was_before(p, value);
        for (int k = 0; k < value->kid_count && !value->again; k++)
            value->kids[k]->again = false;
    }
}

const char *print_carry_of(struct printer *p, const struct plan_value *scan)
{
    return print_own(p, arena_printf(p->plan->arena, "carry%d_ub", scan->number), print_direction_of(p).shape);
}

/* Running sums: the tile is turned, so that an element's neighbours are whole rows of the buffer; each step adds the row
 * twice as far away as the step before. What the pieces in front add up to is carried along. */
static void print_scan(struct printer *p, struct plan_value *scan)
{
    const char *pitch = print_width(p, "pitch", p->pass->width), *carry = print_carry_of(p, scan);
    const char *a = print_take(p, PLAN_TURNED, false), *b = print_take(p, PLAN_TURNED, false);
    print_line(p, "compute", "tl.transpose(%s, %s, n, m, %s, lanes)", a, scan->kids[0]->buffer, pitch);
    print_line(p, "compute", "d = 1");
    print_line(p, "compute", "while d < m:");
    print_line(p, "compute", "    tl.vadd(%s, %s, 0.0, count=d * lanes)", b, a);
    print_line(p, "compute", "    tl.vadd(%s + d * lanes, %s + d * lanes, %s, count=(m - d) * lanes)", b, a, a);
    print_line(p, "compute", "    e = min(2 * d, m)");
    print_line(p, "compute", "    tl.vadd(%s, %s, 0.0, count=e * lanes)", a, b);
    print_line(p, "compute", "    tl.vadd(%s + e * lanes, %s + e * lanes, %s, count=(m - e) * lanes)", a, b, b);
    print_line(p, "compute", "    d *= 4");
    print_read(p, scan->kids[0], PLAN_FULL);
    if (!scan->buffer)
        scan->buffer = print_take(p, PLAN_TILE, false);
    print_line(p, "compute", "tl.transpose(%s, %s, m, n, lanes, %s)", scan->buffer, a, pitch);
    print_line(p, "compute", "tl.vadd_col(%s, %s, %s, n, m, %s)", scan->buffer, scan->buffer, carry, pitch);
    print_line(p, "compute", "tl.vadd(%s, %s, %s + (m - 1) * lanes, count=n)", carry, carry, a);
    print_give_back(p, a);
    print_give_back(p, b);
}

void print_carries(struct printer *p, const struct plan_pass *pass)
{
    for (int i = 0; i < pass->count; i++)
        if (pass->values[i]->operation == PLAN_SCAN)
            print_line(p, "compute", "tl.duplicate(%s, 0.0, count=%s)", print_carry_of(p, pass->values[i]),
                       print_direction_of(p).kept_count);
}

static void print_values(struct printer *p, const char *pieces)
{
    for (int i = 0; i < p->pass->count; i++) {
        struct plan_value *value = p->pass->values[i];
        if (value->operation != PLAN_INPUT) {
            print_guard(p, value->again ? pieces : NULL);
            (value->operation == PLAN_PLACE  ? print_place
             : value->operation != PLAN_SCAN ? print_call
             : p->plan->layout.units         ? print_unit_scan
                                             : print_scan)(p, value);
        }
        print_reduces_of(p, value);
    }
}

const char *print_stored(struct printer *p, int output)
{
    static const char *const whole[] = {"round", "floor", "ceil", "trunc", "value", "sign"};
    const struct task_param *param = &p->plan->task->outputs[p->plan->outputs[output].tensor];
    struct plan_value *value = p->plan->outputs[output].value;
    if (task_is_float(param->types[0]) || value->truth || p->plan->mixed)
        return value->buffer;
    bool cut = param->types[0] != AKGEN_BOOL;
    for (size_t i = 0; i < sizeof whole / sizeof *whole && value->operation == PLAN_CALL; i++)
        cut &= strcmp(value->name, whole[i]) != 0;
    const char *name = arena_printf(p->plan->arena, "%s_out_ub", param->name);
    if (output >= p->plan->task->output_count) /* another part of its rows */
        name = arena_printf(p->plan->arena, "%s_part%d_ub", param->name, output);
    const char *buffer = typed_buffer(p, name, param->name, print_shape_of(value));
    print_line(p, "compute", "tl.cast(%s, %s, %scount=%s)", buffer, value->buffer, cut ? "round=\"zero\", " : "",
               print_count(p, print_shape_of(value)));
    return buffer;
}

static void print_stores(struct printer *p)
{
    const char *buffers[2 * TASK_MAX_PARAMS];
    for (int i = 0; i < p->pass->store_count; i++)
        buffers[i] = print_stored(p, p->pass->stores[i]);
    for (int i = 0; i < p->pass->store_count; i++) {
        int output = p->pass->stores[i];
        const struct plan_output *of = &p->plan->outputs[output];
        const char *name = p->plan->task->outputs[of->tensor].name;
        const char *cols =
            p->plan->flat ? "" : print_width(p, "cols", of->width != PLAN_NONE ? of->width : p->pass->width);
        if (p->plan->layout.units)
            print_unit_store(p, output, buffers[i]);
        else if (p->plan->flat)
            print_line(p, "copyout", "tl.store(%s%s + at, %s, count=m)", name, p->plan->lists ? "[t]" : "", buffers[i]);
        else
            print_line(p, "copyout", "tl.store_rows(%s, %s, n, m, %s, %s)", place_of(p, name, cols, of->from),
                       buffers[i], cols, print_width(p, "pitch", p->pass->width));
    }
    for (int i = 0; i < p->pass->store_count; i++)
        print_read(p, p->plan->outputs[p->pass->stores[i]].value, PLAN_FULL);
}

void print_piece(struct printer *p)
{
    const char *pieces = "";
    if (p->plan->layout.units)
        pieces = print_unit_pieces(p);
    else if (p->schedule->rows)
        pieces = arena_printf(p->plan->arena, "%s < %s", print_width(p, "piece", p->pass->width),
                              print_width(p, "cols", p->pass->width));
    count_readers(p);
    find_again(p);
    print_loads(p, pieces);
    print_guard(p, NULL);
    print_values(p, pieces);
    print_guard(p, NULL);
    print_stores(p);
    print_close(p);
}

/* Columns and numbers. */
/* The values with these axes that are computed at a level. */
static bool is_due(const struct printer *p, const struct plan_value *value, int axes, int level)
{
    if (!value->uses || value->axes != axes || value->operation == PLAN_NUMBER || value->operation == PLAN_REDUCE)
        return false;
    bool early = axes && level == p->phase * PLAN_PHASE; /* again in each phase */
    return early ? value->level <= level && value->level % PLAN_PHASE == 0 : value->level == level;
}

static void print_due(struct printer *p, int axes, int level)
{
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (is_due(p, value, axes, level) && value->operation == PLAN_INPUT)
            print_load(p, value);
    }
    for (int i = 0; i < p->plan->count; i++)
        if (is_due(p, p->plan->values[i], axes, level) && p->plan->values[i]->operation == PLAN_INPUT)
            print_conversion(p, p->plan->values[i]);
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (is_due(p, value, axes, level) && (value->operation == PLAN_CALL || value->operation == PLAN_PLACE))
            (value->operation == PLAN_CALL ? print_call : print_place)(p, value);
    }
}

/* What is made of columns, or of the rows that a unit keeps, whose level this is; outputs are stored. */
static void print_columns(struct printer *p, int level)
{
    const int kept = p->plan->layout.kept;
    print_due(p, kept, level);
    print_whole_column(p, level);
    for (int i = 0; i < p->plan->task->output_count; i++)
        if (p->plan->outputs[i].axes == kept && p->plan->outputs[i].value->level == level) {
            print_guard(p, p->schedule->strips ? "mine == 0" : NULL);
            const char *buffer = print_stored(p, i);
            if (p->plan->layout.units)
                print_unit_store(p, i, buffer);
            else
                print_line(p, "copyout", "tl.store(%s + row, %s, count=n)", p->plan->task->outputs[i].name, buffer);
        }
    print_guard(p, NULL);
}

static bool has_wide_reader(const struct plan *plan, const struct plan_value *value)
{
    for (int i = 0; i < plan->count; i++)
        for (int k = 0; k < plan->values[i]->kid_count; k++)
            if (plan->values[i]->uses && plan->values[i]->axes && plan->values[i]->kids[k] == value)
                return true;
    return false;
}

static const char *extract(struct printer *p, const char *what, const struct plan_value *value, const char *buffer)
{
    const char *name = arena_printf(p->plan->arena, "%s%d", what, value->number);
    print_close(p);
    print_line(p, NULL, "%s = tl.extract_scalar(%s, 0)", name, buffer);
    return name;
}

/* What is made of numbers that all cores have computed. One that a tile needs leaves its buffer. */
static void print_numbers(struct printer *p, int level)
{
    print_due(p, 0, level);
    for (int i = 0; i < p->plan->count; i++) {
        struct plan_value *value = p->plan->values[i];
        if (!value->uses || value->axes || value->operation == PLAN_NUMBER || value->level != level ||
            value->extracted || !value->buffer || !has_wide_reader(p->plan, value))
            continue;
        const char *number = value->truth ? print_take(p, PLAN_ONE, false) : value->buffer;
        if (value->truth)
            print_line(p, "compute", "tl.cast(%s, %s, count=1)", number, value->buffer);
        if (!value->pivot || value->uses > 1)
            value->extracted = extract(p, "scalar", value, number);
        if (value->truth)
            print_give_back(p, number);
        if (!value->pivot)
            continue;
        value->pivot = extract(p, "pivot", value, value->pivot);
        value->offset = extract(p, "offset", value, value->offset);
    }
    print_close(p);
}

/* Loops. */
/* Over the pieces of rows, or of each of their strips that the core has. */
static void print_pass(struct printer *p)
{
    const char *cols = print_width(p, "cols", p->pass->width), *piece = print_width(p, "piece", p->pass->width);
    const char *begin = "0", *end = cols;
    bool strips = p->schedule->strips;
    if (strips) {
        print_close(p);
        print_line(p, NULL, "for strip in range(mine, strips, sharing):");
        p->indent++;
        print_line(p, NULL, "end = min((strip + 1) * wide, %s)", cols);
        begin = "strip * wide";
        end = "end";
    }
    print_starts(p, p->pass);
    print_carries(p, p->pass);
    print_close(p);
    print_line(p, NULL, "for at in range(%s, %s, %s):", begin, end, piece);
    p->indent++;
    print_line(p, NULL, "m = min(%s, %s - at)", piece, end);
    print_piece(p);
    p->indent--;
    if (strips) {
        print_strip_stores(p);
        p->indent--;
        print_strips(p);
    }
    print_means(p);
}

void print_passes(struct printer *p, void (*print)(struct printer *))
{
    int level = p->phase * PLAN_PHASE, last = level;
    print_columns(p, level);
    for (int i = 0; i < p->schedule->count; i++) {
        const struct plan_pass *pass = &p->schedule->passes[i];
        if (pass->level / PLAN_PHASE != p->phase)
            continue;
        while (level < pass->level)
            print_columns(p, ++level);
        p->pass = pass;
        p->pass_number = i;
        print(p);
    }
    for (int i = 0; i < p->plan->count; i++)
        if (p->plan->values[i]->uses && p->plan->values[i]->level / PLAN_PHASE == p->phase)
            last = p->plan->values[i]->level > last ? p->plan->values[i]->level : last;
    while (level < last)
        print_columns(p, ++level);
    print_close(p);
}

static void print_rows(struct printer *p)
{
    print_line(p, NULL, "for row in range(first, last, step):");
    p->indent++;
    print_line(p, NULL, "n = min(step, last - row)");
    if (p->schedule->scans)
        print_line(p, NULL, "lanes = tl.pitch(n)");
    print_passes(p, print_pass);
    p->indent--;
}

/* The members of lists are one sequence of elements, each padded to a multiple of 64: a core takes what of each lies in its share. */
static void begin_lists(struct printer *p)
{
    const struct plan_lists *lists = p->plan->lists;
    print_line(p, NULL, "begin = 0");
    print_line(p, NULL, "for t in range(len(%s)):", lists->longest);
    p->indent++;
    for (int i = 0; i < p->plan->task->input_count; i++)
        if (p->plan->used[i] && lists->members[i])
            print_line(p, NULL, "%s_value = tl.extract_scalar(%s, t)", p->plan->task->inputs[i].name,
                       p->plan->task->inputs[i].name);
    print_numbers(p, 0);
    print_line(p, NULL, "last = min(first + per_core - begin, %s[t].numel())", lists->longest);
}
static void end_lists(struct printer *p)
{
    print_line(p, NULL, "begin += tl.cdiv(%s[t].numel(), 64) * 64", p->plan->lists->longest);
    p->indent--;
}

static void print_blocks(struct printer *p)
{
    const struct plan_schedule *schedule = p->schedule;
    for (int i = 0; i < schedule->count; i++) {
        const struct plan_pass *pass = &schedule->passes[i];
        if (pass->level / PLAN_PHASE != p->phase)
            continue;
        p->pass = pass;
        p->pass_number = i;
        if (p->plan->flat) {
            if (p->plan->lists)
                begin_lists(p);
            print_line(p, NULL,
                       p->plan->lists ? "for at in range(max(first - begin, 0), last, tile):"
                                      : "for at in range(first, last, tile):");
            p->indent++;
            print_line(p, NULL, "m = min(tile, last - at)");
        } else {
            const char *cols = print_width(p, "cols", pass->width), *piece = print_width(p, "piece", pass->width);
            print_line(p, NULL, "for block in range(%s):",
                       print_whole_count(p->plan)
                           ? "first, last"
                           : "tl.program_id(0), tl.cdiv(rows, step) * across, tl.num_programs(0)");
            p->indent++;
            print_line(p, NULL, "row = block // across * step");
            print_line(p, NULL, "at = block %% across * %s", piece);
            print_line(p, NULL, "n = min(step, rows - row)");
            print_line(p, NULL, "m = min(%s, %s - at)", piece, cols);
            print_columns(p, p->phase * PLAN_PHASE);
        }
        print_piece(p);
        p->indent--;
        if (p->plan->lists)
            end_lists(p);
    }
}

/* Numbers that scalar inputs are, and what is made of numbers alone. */
static void print_prologue(struct printer *p)
{
    const struct task *task = p->plan->task;
    for (int i = 0; i < task->input_count; i++)
        if (p->plan->used[i] && p->plan->input_axes[i] == 0 && !(p->plan->lists && p->plan->lists->members[i]))
            print_line(p, NULL, "%s_value = tl.extract_scalar(%s, 0)", task->inputs[i].name, task->inputs[i].name);
    if (!p->plan->lists)
        print_numbers(p, 0);
}

static void print_number_outputs(struct printer *p)
{
    for (int i = 0; i < p->plan->task->output_count; i++)
        if (p->plan->outputs[i].axes == 0) {
            print_guard(p, "tl.program_id(0) == 0");
            const char *buffer = print_stored(p, i);
            print_line(p, "copyout", "tl.store(%s, %s, count=1)", p->plan->task->outputs[i].name, buffer);
        }
    print_close(p);
}

/* A phase behind which nothing is left to do with rows and elements. */
static bool is_empty(const struct printer *p)
{
    bool empty = true;
    for (int i = 0; i < p->schedule->count; i++)
        empty &= p->schedule->passes[i].level / PLAN_PHASE != p->phase;
    for (int i = 0; i < p->plan->task->output_count; i++)
        empty &= p->plan->outputs[i].axes != p->plan->layout.kept ||
                 p->plan->outputs[i].value->level / PLAN_PHASE != p->phase;
    return empty && p->phase == p->schedule->phases;
}

/* The loop over a core's shares, where what they give is taken together. */
static void print_share(struct printer *p)
{
    if (!print_whole_count(p->plan))
        return;
    const char *of = p->schedule->strips ? " // sharing" : "";
    print_line(p, NULL, "for share in range(tl.program_id(0)%s, shares, tl.num_programs(0)%s):", of, of);
    p->indent++;
    print_line(p, NULL, "first = share * per_share");
    print_line(p, NULL, "last = min(first + per_share, %s)",
               p->plan->flat           ? "total"
               : p->plan->layout.units ? "units"
               : p->schedule->rows     ? "rows"
                                       : "tl.cdiv(rows, step) * across");
}

/* The whole. */
static void print_body(struct printer *p)
{
    print_prologue(p);
    for (p->phase = 0; p->phase <= p->schedule->phases; p->phase++) {
        if (p->phase)
            print_numbers(p, p->phase * PLAN_PHASE);
        plan_keep(p->plan, p->schedule, p->phase);
        if (is_empty(p))
            continue;
        print_share(p);
        print_whole_starts(p);
        if (p->plan->layout.units)
            print_units(p);
        else if (p->schedule->rows)
            print_rows(p);
        else
            print_blocks(p);
        print_whole_shares(p);
        p->indent = 1;
        print_wholes(p);
    }
    print_number_outputs(p);
}

static void add_comment(const struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    int passes = 0;
    for (int i = 0; i < p->schedule->count; i++)
        passes += p->schedule->passes[i].level < PLAN_PHASE;
    if (plan->layout.units)
        print_unit_comment(p, out);
    else
        text_add(
            out,
            plan->flat ? "# Element by element, in float32: each core takes a part of the elements, a tile at a time.\n"
            : !p->schedule->rows
                ? "# Computed in float32. A core takes blocks of some rows and some columns, as many as fit into UB.\n"
                : "# Computed in float32. A core takes rows; those that fit into a tile come many at once and stay in\n"
                  "# UB, longer ones come in pieces");
    if (p->schedule->rows)
        text_addf(out, passes > 1 ? ", in %d passes.\n" : ".\n", passes);
    if (p->schedule->strips)
        text_add(out, "# Few long rows are cut into strips, so that several cores share a row: behind a tl.sync_all() "
                      "each of them\n"
                      "# takes what the strips give together in their order.\n");
    if (print_whole_count(plan))
        text_add(
            out,
            "# What is taken of all: each share gives its part, and behind a tl.sync_all() all cores take the parts\n"
            "# together in their order, so that the result is the same for any number of cores.\n");
}

/* The loops' bounds of a core. */
static void add_shares(struct printer *p, struct text *out)
{
    const struct plan *plan = p->plan;
    if (plan->lists) {
        text_add(out, "    first = tl.program_id(0) * per_core\n");
        return;
    }
    if ((plan->flat || p->schedule->rows) && !print_whole_count(plan))
        text_addf(out,
                  "    first = tl.program_id(0)%s * per_core\n"
                  "    last = min(first + per_core, %s)\n",
                  p->schedule->strips ? " // sharing" : "",
                  plan->flat           ? "total"
                  : plan->layout.units ? "units"
                                       : "rows");
    if (plan->layout.units) {
        text_addf(out, "    pitch = %s\n", print_pitch_of(plan, "piece"));
        return;
    }
    if (p->schedule->strips)
        text_add(out, "    mine = tl.program_id(0) % sharing\n");
    const char *widest = NULL;
    for (int i = 0; i < plan->width_count && !plan->flat; i++) {
        if (plan->widths[i].same_as != i || !p->widths_used[i])
            continue;
        bool loops = false;
        for (int k = 0; k < p->schedule->count; k++)
            loops |= p->schedule->passes[k].width == i;
        if (!loops)
            continue;
        const char *pitch = print_width(p, "pitch", i), *piece = print_width(p, "piece", i);
        if (p->schedule->rows)
            text_addf(out, "    %s = max(1, min(%s, tile%s))\n", piece, print_width(p, "cols", i),
                      p->schedule->scans ? " // 16" : "");
        text_addf(out, "    %s = %s\n", pitch, print_pitch_of(plan, piece));
        widest = widest ? arena_printf(plan->arena, "max(%s, %s)", widest, pitch) : pitch;
    }
    if (p->schedule->rows)
        text_addf(out, "    step = tile // %s\n", widest ? widest : "16");
}

static void add_buffers(const struct printer *p, struct text *out)
{
    const char *mixed = p->plan->mixed, *member = p->plan->lists ? "[0]" : "";
    if (mixed)
        text_addf(out, "    kind = tl.float32 if %s%s.dtype.is_floating_point else %s%s.dtype\n", mixed, member, mixed,
                  member);
    static const char *const sizes[PLAN_SHAPES] = {"tile",     "tile",        "tile // 16", "8",
                                                   "2 * tile", "STRIPS * 16", "SHARES * 8"};
    for (int i = 0; i < p->buffer_count; i++)
        text_addf(out, "    %s = tl.alloc_ub(%s, dtype=%s)\n", p->buffers[i].name,
                  sizes[p->buffers[i].shape == PLAN_ROW && p->plan->layout.kept == PLAN_COLS ? PLAN_COLUMN
                                                                                             : p->buffers[i].shape],
                  mixed && strcmp(p->buffers[i].type, "tl.float32") == 0 ? "kind" : p->buffers[i].type);
    if (print_whole_count(p->plan))
        text_add(out, "    work_ub = tl.alloc_ub(max(tile, SHARES * 8), dtype=tl.float32)\n");
}

static bool mentions(const char *text, const char *name)
{
    size_t length = strlen(name);
    while (text && (text = strstr(text, name)) && (isalnum((unsigned char)text[length]) || text[length] == '_'))
        text += length;
    return text;
}

/* What the host function alone needs is no parameter of the kernel. */
static void find_used(struct plan *plan, const char *body)
{
    for (int i = 0; i < plan->task->attr_count; i++)
        plan->used[plan->task->input_count + i] = mentions(body, plan->task->attrs[i].name);
    for (int i = 0; i < plan->number_count; i++)
        plan->numbers[i].in_kernel = mentions(body, plan->numbers[i].name);
}

static const char *kept_text(struct arena *arena, struct text *text)
{
    const char *kept = arena_strdup(arena, text->bytes ? text->bytes : "");
    text_free(text);
    return kept;
}

void plan_print(struct plan *plan, const struct plan_schedule *schedule, struct plan_parts *parts)
{
    struct printer p = {.plan = plan, .schedule = schedule, .indent = 1};
    struct text comment = {0}, shares = {0}, buffers = {0}, measures = {0}, sizes = {0};
    p.widths_used = arena_alloc(plan->arena, (size_t)plan->width_count + 1);
    p.pass = schedule->count ? &schedule->passes[0] : &(struct plan_pass){0};
    print_body(&p);
    find_used(plan, p.body.bytes);
    add_comment(&p, &comment);
    add_shares(&p, &shares);
    print_measures(&p, &measures);
    add_buffers(&p, &buffers);
    print_host(&p, &sizes);
    *parts = (struct plan_parts){
        .comment = kept_text(plan->arena, &comment),
        .shares = kept_text(plan->arena, &shares),
        .buffers = kept_text(plan->arena, &buffers),
        .body = kept_text(plan->arena, &p.body),
        .measures = kept_text(plan->arena, &measures),
        .sizes = kept_text(plan->arena, &sizes),
        .cores = schedule->strips ? "cores * sharing" : "cores",
        .tile = print_tile_size(&p),
        .inputs = plan->task->input_count,
        .wholes = print_whole_count(plan),
        .strips = schedule->strips,
    };
    memcpy(parts->used, plan->used, sizeof parts->used);
    /* No formula may read an input that has a data type, or is a list, to go by. */
    for (int i = 0; i < plan->task->input_count; i++)
        parts->used[i] |=
            mentions(parts->buffers, plan->task->inputs[i].name) || mentions(parts->body, plan->task->inputs[i].name);
}
