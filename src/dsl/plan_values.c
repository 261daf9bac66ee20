/* The steps that compute one value out of others: an operation of the language for a function of the formula, or several
 * (plan_functions.def); operands that are rows, columns or numbers where the operation has a form for them. */
#include "dsl/plan_print.h"

#include <string.h>

static const struct {
    const char *name;
    int arguments;
    const char *steps;
} functions[] = {
#define PLAN(name, arguments, steps) {name, arguments, steps},
#include "dsl/plan_functions.def"
#undef PLAN
};

static const char *steps_of(const struct plan_value *value)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, value->name) == 0)
            return functions[i].steps;
    return NULL;
}

const char *print_count(struct printer *p, enum plan_shape shape)
{
    static const char *const counts[PLAN_SHAPES] = {[PLAN_ROW] = "m", [PLAN_COLUMN] = "n", [PLAN_ONE] = "1"};
    if (shape == PLAN_TILE && !p->plan->flat)
        return arena_printf(p->plan->arena, "n * %s", print_width(p, "pitch", p->pass->width));
    return shape == PLAN_TILE ? "m" : counts[shape];
}

const char *print_operand(struct printer *p, struct plan_value *value, int axes)
{
    if (value->operation == PLAN_NUMBER)
        return print_number(p, value->name);
    if (value->axes || !axes)
        return value->buffer;
    return value->extracted;
}

void print_read(struct printer *p, struct plan_value *value, int axes)
{
    if (!value->axes && value->operation == PLAN_NUMBER)
        return;
    int along = p->plan->layout.along;
    bool wide = value->axes & along;
    if (value->operation == PLAN_INPUT || (wide && --value->waiting > 0))
        return;
    /* A pass may come again to what it reads of a column. */
    bool free = wide ? value->kept_until <= p->pass_number : value->uses == 1 && !(axes & along);
    if (!free || !value->buffer) /* what all elements make is a number of its own, without a buffer */
        return;
    print_give_back(p, value->buffer);
    value->buffer = NULL;
}

/* rows, columns and pitch of an operation on a matrix. */
static const char *matrix(struct printer *p)
{
    return arena_printf(p->plan->arena, "n, m, %s", print_width(p, "pitch", p->pass->width));
}

static const char *axis_of(const struct plan_value *value)
{
    return value->axes == PLAN_COLS ? "row" : "col";
}

/* A row or column in every row or column of a buffer. */
static void spread(struct printer *p, const char *to, const struct plan_value *value, const char *from)
{
    print_line(p, "compute", "tl.broadcast_%s(%s, %s, %s)", axis_of(value), to, from, matrix(p));
}

/* A value that has fewer axes than the step, in a buffer like the others'. */
static const char *spread_operand(struct printer *p, struct plan_value *value, const char *text)
{
    const char *full = print_take(p, PLAN_TILE, false);
    if (!value->truth) {
        spread(p, full, value, text);
        return full;
    }
    enum plan_shape shape = print_shape_of(value);
    const char *number = print_take(p, shape, false), *truth = print_take(p, PLAN_TILE, true);
    print_line(p, "compute", "tl.cast(%s, %s, count=%s)", number, text, print_count(p, shape));
    spread(p, full, value, number);
    print_line(p, "compute", "tl.vne(%s, %s, 0.0, count=%s)", truth, full, print_count(p, PLAN_TILE));
    print_give_back(p, number);
    print_give_back(p, full);
    return truth;
}

struct operands {
    const char *texts[PLAN_KIDS];
    bool numbers[PLAN_KIDS];
    const char *taken[2 * PLAN_KIDS]; /* to be given back */
    int taken_count;
};

/* The steps of a function: letters are operands and buffers of the step's own. */
static void print_steps(struct printer *p, const char *steps, const char *to, struct operands *operands,
                        enum plan_shape shape)
{
    const char *own[3] = {0}; /* t, u, c */
    const char *count = print_count(p, shape);
    while (*steps) {
        const char *arguments = "";
        size_t length = strcspn(steps, " ");
        const char *operation = arena_strndup(p->plan->arena, steps, length);
        for (steps += length; *steps == ' ';) {
            length = strcspn(++steps, " ;");
            const char *word = arena_strndup(p->plan->arena, steps, length), *text = word;
            const char *at = length == 1 ? strchr("dabetuc", *word) : NULL;
            if (at && *word == 'd')
                text = to;
            else if (at && strchr("abe", *word))
                text = operands->texts[*word == 'e' ? 2 : *word - 'a'];
            else if (at) {
                int i = *word == 't' ? 0 : *word == 'u' ? 1 : 2;
                text = own[i] = own[i] ? own[i] : print_take(p, shape, i == 2);
            }
            arguments = arena_printf(p->plan->arena, "%s%s, ", arguments, text);
            steps += length;
        }
        print_line(p, "compute", "tl.%s(%scount=%s)", operation, arguments, count);
        steps += strspn(steps, "; ");
    }
    for (int i = 0; i < 3; i++)
        if (own[i])
            print_give_back(p, own[i]);
}

/* True if a step reads an operand behind the first that writes the destination, which cannot be the operand's buffer then. */
static bool reads_late(const char *steps)
{
    bool written = false, writes = false;
    int word = 0; /* of the step: the operation, the destination, operands */
    for (const char *at = steps; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ;");
        if (word == 1)
            writes = *at == 'd' && length == 1;
        else if (word > 1 && length == 1 && written && strchr("abe", *at))
            return true;
        at += length;
        word++;
        if (*at == ';') {
            written |= writes;
            word = 0;
            at++;
        }
    }
    return false;
}

/* Functions whose operations have forms for rows and columns. */
static const char *form_of(const char *name)
{
    static const char *const forms[][2] = {{"+", "vadd"}, {"-", "vsub"},   {"*", "vmul"},
                                           {"/", "vdiv"}, {"min", "vmin"}, {"max", "vmax"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i][0], name) == 0)
            return forms[i][1];
    return NULL;
}

static bool commutes(const char *name)
{
    return strcmp(name, "+") == 0 || strcmp(name, "*") == 0 || strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
}

/* The same comparison with its sides changed, NULL if it is none. */
static const char *turned(const char *name)
{
    static const char *const pairs[][2] = {{"<", ">"},   {">", "<"},   {"<=", ">="},
                                           {">=", "<="}, {"==", "=="}, {"!=", "!="}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return NULL;
}

/* The destination: over an operand that is read for the last time, if `over`; else a buffer of its own. */
static const char *destination(struct printer *p, struct plan_value *value, bool over)
{
    for (int i = 0; i < value->kid_count && over; i++)
        print_read(p, value->kids[i], value->axes);
    if (!value->buffer)
        value->buffer = print_take(p, print_shape_of(value), value->truth);
    return value->buffer;
}

static void read_all(struct printer *p, struct plan_value *value)
{
    for (int i = 0; i < value->kid_count; i++)
        print_read(p, value->kids[i], value->axes);
}

/* One side, or both, is a row or a column, and the operation has forms for them. */
static void print_form(struct printer *p, struct plan_value *value, const char *form)
{
    struct plan_value *a = value->kids[0], *b = value->kids[1];
    const char *x = print_operand(p, a, PLAN_FULL), *y = print_operand(p, b, PLAN_FULL);
    bool turn = a->axes != PLAN_FULL && b->axes == PLAN_FULL && strcmp(value->name, "/") != 0;
    if (turn) {
        struct plan_value *first = a;
        const char *text = x;
        a = b, b = first, x = y, y = text;
    }
    bool stretched = a->axes != PLAN_FULL;
    const char *to = destination(p, value, !stretched);
    if (stretched) {
        spread(p, to, a, x);
        x = to;
    }
    if (b->axes == PLAN_FULL)
        print_line(p, "compute", "tl.%s(%s, %s, %s, count=%s)", form, to, x, y, print_count(p, PLAN_TILE));
    else
        print_line(p, "compute", "tl.%s_%s(%s, %s, %s, %s)", form, axis_of(b), to, x, y, matrix(p));
    if (turn && strcmp(value->name, "-") == 0)
        print_line(p, "compute", "tl.vneg(%s, %s, count=%s)", to, to, print_count(p, PLAN_TILE));
    if (stretched)
        read_all(p, value);
}

/* A number and a buffer, in this order, by an operation that takes a number only behind. */
static void print_number_first(struct printer *p, struct plan_value *value, const char *steps,
                               struct operands *operands)
{
    enum plan_shape shape = print_shape_of(value);
    const char *count = print_count(p, shape);
    if (strcmp(value->name, "-") == 0) { /* a - b is -b + a */
        const char *to = destination(p, value, true);
        print_line(p, "compute", "tl.vneg(%s, %s, count=%s)", to, operands->texts[1], count);
        print_line(p, "compute", "tl.vadd(%s, %s, %s, count=%s)", to, to, operands->texts[0], count);
        return;
    }
    const char *to = destination(p, value, false);
    print_line(p, "compute", "tl.duplicate(%s, %s, count=%s)", to, operands->texts[0], count);
    operands->texts[0] = to;
    print_steps(p, steps, to, operands, shape);
    read_all(p, value);
}

/* A step without operands in buffers: the first one is put into the destination. */
static void fill_first(struct printer *p, struct plan_value *value, struct operands *operands, int from)
{
    const char *room = print_take(p, print_shape_of(value), false);
    print_line(p, "compute", "tl.duplicate(%s, %s, count=%s)", room, operands->texts[from],
               print_count(p, print_shape_of(value)));
    operands->texts[from] = operands->taken[operands->taken_count++] = room;
    operands->numbers[from] = false;
}

/* x - mean(x), where the mean has an offset. */
static void print_difference(struct printer *p, struct plan_value *value)
{
    const struct plan_value *mean = value->kids[1];
    const char *x = value->kids[0]->buffer, *to = destination(p, value, true);
    if (p->plan->flat) {
        print_line(p, "compute", "tl.vsub(%s, %s, %s, count=m)", to, x, mean->pivot);
        print_line(p, "compute", "tl.vsub(%s, %s, %s, count=m)", to, to, mean->offset);
    } else {
        const char *kept = print_direction_of(p).kept;
        print_line(p, "compute", "tl.vsub_%s(%s, %s, %s, %s)", kept, to, x, mean->pivot, matrix(p));
        print_line(p, "compute", "tl.vsub_%s(%s, %s, %s, %s)", kept, to, to, mean->offset, matrix(p));
    }
}

static void print_filled(struct printer *p, struct plan_value *value)
{
    struct plan_value *kid = value->kids[0];
    const char *text = print_operand(p, kid, value->axes), *to = destination(p, value, false);
    if (kid->axes && kid->axes != value->axes)
        spread(p, to, kid, text);
    else
        print_line(p, "compute", "tl.duplicate(%s, %s, count=%s)", to, text, print_count(p, print_shape_of(value)));
    read_all(p, value);
}

void print_place(struct printer *p, struct plan_value *value)
{
    const char *first = value->axes & PLAN_COLS ? "at" : "row", *to = destination(p, value, false);
    if (*value->name)
        first = arena_printf(p->plan->arena, "row %% %s", value->name);
    print_line(p, "compute", "tl.iota(%s, %s, count=%s)", to, first, print_count(p, print_shape_of(value)));
}

/* Into a buffer of the input's type, and back. */
static void print_rounded(struct printer *p, struct plan_value *value)
{
    enum plan_shape shape = print_shape_of(value);
    const char *count = print_count(p, shape), *typed = print_typed(p, value->input, shape);
    const bool cut = !p->plan->mixed && !task_is_float(p->plan->task->inputs[value->input].types[0]);
    struct plan_value *kid = value->kids[0];
    const char *text = print_operand(p, kid, value->axes);
    if (kid->operation == PLAN_NUMBER)
        print_line(p, "compute", "tl.duplicate(%s, %s, count=%s)", typed, text, count);
    else
        print_line(p, "compute", "tl.cast(%s, %s, %scount=%s)", typed, text, cut ? "round=\"zero\", " : "", count);
    const char *to = destination(p, value, true);
    print_line(p, "compute", "tl.cast(%s, %s, count=%s)", to, typed, count);
}

void print_call(struct printer *p, struct plan_value *value)
{
    const char *form = form_of(value->name), *steps = steps_of(value);
    struct operands operands = {0};
    bool stretched = false;
    if (strcmp(value->name, "filled") == 0) {
        print_filled(p, value);
        return;
    }
    if (strcmp(value->name, "type_as") == 0) {
        print_rounded(p, value);
        return;
    }
    if (strcmp(value->name, "-") == 0 && value->kids[1]->pivot && value->kids[0] == value->kids[1]->kids[0]) {
        print_difference(p, value);
        return;
    }
    if (!steps) {
        if (!p->plan->error)
            p->plan->error = error_new("%s: the planner has no operation for '%s'", p->plan->task->name, value->name);
        return;
    }
    for (int i = 0; i < value->kid_count; i++) {
        struct plan_value *kid = value->kids[i];
        operands.texts[i] = print_operand(p, kid, value->axes);
        operands.numbers[i] = !kid->axes && (value->axes || kid->operation == PLAN_NUMBER);
        stretched |= kid->axes && kid->axes != value->axes;
    }
    if (stretched && form && !operands.numbers[0] && !operands.numbers[1]) {
        print_form(p, value, form);
        return;
    }
    for (int i = 0; i < value->kid_count && stretched; i++)
        if (value->kids[i]->axes && value->kids[i]->axes != value->axes)
            operands.texts[i] = operands.taken[operands.taken_count++] =
                spread_operand(p, value->kids[i], operands.texts[i]);
    if (value->kid_count == 1 && operands.numbers[0])
        fill_first(p, value, &operands, 0);
    if (value->kid_count == 2 && operands.numbers[0] && operands.numbers[1])
        fill_first(p, value, &operands, 0);
    if (value->kid_count == 3 && operands.numbers[0]) { /* a truth value of numbers alone */
        const char *truth = print_take(p, print_shape_of(value), true);
        fill_first(p, value, &operands, 0);
        print_line(p, "compute", "tl.vne(%s, %s, 0.0, count=%s)", truth, operands.texts[0],
                   print_count(p, print_shape_of(value)));
        operands.texts[0] = operands.taken[operands.taken_count++] = truth;
    }
    if (value->kid_count == 2 && operands.numbers[0]) {
        if (!commutes(value->name) && !turned(value->name)) {
            print_number_first(p, value, steps, &operands);
            return;
        }
        const char *first = operands.texts[0];
        operands.texts[0] = operands.texts[1];
        operands.texts[1] = first;
        if (turned(value->name)) {
            struct plan_value other = {.name = turned(value->name)};
            steps = steps_of(&other);
        }
    }
    bool late = reads_late(steps) || stretched;
    const char *to = destination(p, value, !late);
    print_steps(p, steps, to, &operands, print_shape_of(value));
    for (int i = 0; i < operands.taken_count; i++)
        print_give_back(p, operands.taken[i]);
    if (late)
        read_all(p, value);
}
