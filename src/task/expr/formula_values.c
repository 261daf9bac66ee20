/* Computing formulas. The trees become nodes with shapes; a node computes one row at a time, a row being what lies along
 * the last axis, and keeps it until another is asked for. What goes along other axes, or over all, is computed beforehand. */
#include "task/expr/formula_internal.h"
#include "task/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = TASK_MAX_RANK, LAST = RANK - 1, KIDS = 3 };
_Static_assert(RANK == 8, "formula.h says how many sizes a shape has");

struct node {
    const struct expr *expr;
    const struct formula_function *function; /* of a call; NULL: an argument, a slice, a choice */
    struct node *kids[KIDS];
    int64_t dims[RANK]; /* aligned to the right, 1 in front of the shape */
    int rank;
    const struct formula_argument *argument;
    int64_t from;           /* of a slice */
    enum akgen_dtype steps; /* what each step is rounded to */
    enum akgen_dtype type;  /* of FORMULA_TYPED: what its operand is rounded to */
    unsigned along;         /* the axes that a call with rows goes along, bit i for dims[i] */
    bool ahead;             /* of its operand's whole tensor: computed beforehand, all rows of it */
    bool number, whole;     /* the same for all cases of indices: `value`; an integer */
    double value;
    double
        *values; /* dims[LAST] of them: row number `row`, -1 if there is none yet; all rows of what is computed ahead */
    int64_t row;
    bool needed;          /* by what is to be computed */
    bool integral, exact; /* only whole numbers; what any way of computing yields alike: inputs and one of several */
    double lean;          /* of a call that jumps */
    struct node *prior;   /* the one that was bound before; its operands were, too */
    struct node *later;   /* the next of those to compute ahead */
};
struct formula_bound {
    struct arena *arena;
    const struct formula *formula;
    const struct formula_argument *arguments;
    const struct task_tensor *const *outputs;
    struct node **steps, *newest;
    int output; /* of the step that is being bound */
    enum akgen_dtype rounding;
};

double formula_held(enum akgen_dtype type, double value)
{
    int bits = 8 * (int)akgen_dtype_size(type);
    bool sign = type == AKGEN_INT8 || type == AKGEN_INT16 || type == AKGEN_INT32 || type == AKGEN_INT64;
    double most = ldexp(1, bits - sign);
    if (type == AKGEN_BOOL)
        return value != 0;
    if (task_is_float(type))
        return task_round(type, value);
    value = isnan(value) ? 0 : trunc(value);
    return fmin(fmax(value, sign ? -most : 0), bits == 64 ? nextafter(most, 0) : most - 1);
}

/* Shapes. */
static const char *show_shape(struct arena *arena, const struct node *node)
{
    const char *shown = "";
    for (int i = RANK - node->rank; i < RANK; i++)
        shown = arena_printf(arena, "%s%s%lld", shown, *shown ? ", " : "", (long long)node->dims[i]);
    return arena_printf(arena, "[%s]", shown);
}

/* What a slice or a call is of: each has one. */
static struct node *operand(const struct node *node) __attribute__((returns_nonnull));
static struct node *operand(const struct node *node)
{
    return node->kids[0];
}

static int64_t row_count(const struct node *node)
{
    int64_t rows = 1;
    for (int i = 0; i < LAST; i++)
        rows *= node->dims[i];
    return rows;
}

/* The shape that the node's first `count` kids stretch to. */
static struct akgen_error *stretch(struct arena *arena, struct node *node, int count)
{
    for (int i = 0; i < RANK; i++)
        node->dims[i] = 1;
    for (int k = 0; k < count && node->kids[k]; k++) {
        const struct node *kid = node->kids[k];
        for (int i = 0; i < RANK; i++) {
            if (node->dims[i] != kid->dims[i] && node->dims[i] != 1 && kid->dims[i] != 1)
                return expr_error_at(node->expr, "shapes %s and %s do not go together", show_shape(arena, node),
                                     show_shape(arena, kid));
            node->dims[i] = node->dims[i] == 1 ? kid->dims[i] : node->dims[i];
        }
        node->rank = kid->rank > node->rank ? kid->rank : node->rank;
    }
    return NULL;
}

/* Binding. */
static struct akgen_error *bind(struct formula_bound *bound, const struct expr *expr, struct node **result);

static struct akgen_error *bind_bound(struct formula_bound *bound, const struct expr *expr, int64_t *value)
{
    int64_t sides[2] = {0};
    struct node *node;
    struct akgen_error *error = NULL;
    if (expr->node != NODE_CALL || strcmp(expr->name, "size") == 0) {
        if ((error = bind(bound, expr, &node)))
            return error;
        const bool whole = node->number && node->whole && fabs(node->value) < 0x1p53;
        *value = whole ? (int64_t)node->value : 0;
        return whole ? NULL : expr_error_at(expr, "a bound is a whole number");
    }
    for (int i = 0; i < expr->kid_count && !error; i++)
        error = bind_bound(bound, expr->kids[i], &sides[i]);
    if (error)
        return error;
    const char *name = expr->name;
    int64_t a = sides[0], b = sides[1];
    bool divides = strchr("/%", *name);
    if (divides && a == INT64_MIN)
        return expr_error_at(expr, "a bound is too large");
    if (divides && (b == 0 || (strcmp(name, "/") == 0 && a % b != 0)))
        return expr_error_at(expr, "%lld %s %lld is no whole number", (long long)a, name, (long long)b);
    int64_t quotient = divides ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
    bool overflows = false;
    switch (*name) {
    case 'n':
        overflows = __builtin_sub_overflow(0, a, value);
        break;
    case '+':
        overflows = __builtin_add_overflow(a, b, value);
        break;
    case '-':
        overflows = __builtin_sub_overflow(a, b, value);
        break;
    case '*':
        overflows = __builtin_mul_overflow(a, b, value);
        break;
    case '/':
        *value = quotient;
        break;
    case '%':
        *value = a - quotient * b;
        break;
    default:
        *value = (strcmp(name, "min") == 0) == (a < b) ? a : b;
    }
    return overflows ? expr_error_at(expr, "the bound exceeds 64 bits") : NULL;
}

/* x[from:to] and x[i] of the last axis. */
static struct akgen_error *bind_slice(struct formula_bound *bound, struct node *node)
{
    const struct expr *expr = node->expr;
    struct node *kid = operand(node);
    int64_t size = kid->dims[LAST], from = 0, to = size;
    struct akgen_error *error = expr->kids[1] ? bind_bound(bound, expr->kids[1], &from) : NULL;
    if (!error && expr->kids[2])
        error = bind_bound(bound, expr->kids[2], &to);
    if (error)
        return error;
    if (kid->rank == 0)
        return expr_error_at(expr, "a number has no parts");
    from += from < 0 ? size : 0;
    to += to < 0 ? size : 0;
    if (expr->node == NODE_INDEX)
        to = from < INT64_MAX ? from + 1 : from;
    if (from < 0 || from > to || to > size)
        return expr_error_at(expr, "[%lld:%lld] is no part of rows of %lld elements", (long long)from, (long long)to,
                             (long long)size);
    memcpy(node->dims, kid->dims, sizeof node->dims);
    node->rank = kid->rank;
    node->dims[LAST] = to - from;
    node->from = from;
    return NULL;
}

/* The axes that a call goes along: those that it names, all, or the last one. */
static struct akgen_error *bind_axes(struct formula_bound *bound, struct node *node)
{
    const struct expr *expr = node->expr;
    const struct node *kid = operand(node);
    node->along = 1U << LAST;
    if (formula_of_all(expr))
        node->along = (1U << RANK) - 1;
    if (!formula_names_axes(expr))
        return NULL;
    node->along = 0;
    for (int i = node->function->arguments; i < expr->kid_count; i++) {
        int64_t axis = expr->kids[i]->value.integer;
        if (axis < -kid->rank || axis >= kid->rank)
            return expr_error_at(expr->kids[i], "the shape %s has no axis %lld", show_shape(bound->arena, kid),
                                 (long long)axis);
        unsigned bit = 1U << (RANK + axis - (axis < 0 ? 0 : kid->rank));
        if (node->along & bit)
            return expr_error_at(expr->kids[i], "axis %lld of the shape %s is given twice", (long long)axis,
                                 show_shape(bound->arena, kid));
        node->along |= bit;
    }
    return NULL;
}

static bool is_along(const struct node *node, int axis)
{
    return node->along >> axis & 1;
}

/* How many elements of the operand go into one of a sum, or belong to one row. */
static double length_along(const struct node *node)
{
    double length = 1;
    for (int i = 0; i < RANK; i++)
        length *= is_along(node, i) ? (double)operand(node)->dims[i] : 1;
    return length;
}

/* How many arguments of a call are computed with. */
static int operands_of(const struct formula_function *function)
{
    return function->kind == FORMULA_TYPED ? 1 : function->arguments;
}

/* The type that a number is rounded to. */
static struct akgen_error *bind_type(const struct formula_bound *bound, struct node *node)
{
    const struct expr *of = node->expr->kids[1];
    const struct task_tensor *tensor = bound->arguments[of->index].tensor;
    if (!tensor)
        return expr_error_at(of, "'%s' is an attribute, which has no data type to round to", of->name);
    node->type = tensor->type;
    return NULL;
}

/* Rows one behind the other: the other sizes go together, the last ones add up. */
static struct akgen_error *bind_join(struct formula_bound *bound, struct node *node)
{
    struct node parts[2];
    struct akgen_error *error;
    int64_t length = 0;
    for (int k = 0; k < 2; k++) {
        parts[k] = *node->kids[k];
        if (parts[k].rank == 0)
            return expr_error_at(node->expr->kids[k], "a number has no rows to put together");
        if (__builtin_add_overflow(length, parts[k].dims[LAST], &length))
            return expr_error_at(node->expr, "rows are too long");
        parts[k].dims[LAST] = 1;
    }
    struct node without = {.expr = node->expr, .kids = {&parts[0], &parts[1]}};
    if ((error = stretch(bound->arena, &without, 2)))
        return error;
    memcpy(node->dims, without.dims, sizeof node->dims);
    node->rank = without.rank;
    node->dims[LAST] = length;
    return NULL;
}

static struct akgen_error *bind_call(struct formula_bound *bound, struct node *node)
{
    const struct formula_function *function = node->function;
    if (function->kind == FORMULA_JOIN)
        return bind_join(bound, node);
    struct akgen_error *error = stretch(bound->arena, node, operands_of(function));
    if (!error && function->kind == FORMULA_TYPED)
        return bind_type(bound, node);
    if (error || function->kind < FORMULA_SUMMARY || (error = bind_axes(bound, node)))
        return error;
    node->ahead = node->along != 1U << LAST && (function->kind == FORMULA_SUMMARY || function->kind == FORMULA_ROW);
    if (function->kind == FORMULA_ROW)
        return NULL;
    const struct node *kid = operand(node);
    if (function->kind == FORMULA_PLACE) {
        for (int i = 0; i < RANK; i++)
            node->dims[i] = is_along(node, i) ? node->dims[i] : 1;
        return NULL;
    }
    if (function->kind == FORMULA_SIZE) {
        node->value = length_along(node);
        node->number = node->whole = true;
    } else if (length_along(node) == 0 &&
               (strcmp(function->name, "amax") == 0 || strcmp(function->name, "amin") == 0)) {
        return expr_error_at(node->expr, "%s has no value of no elements: the shape is %s", node->expr->name,
                             show_shape(bound->arena, kid));
    }
    for (int i = 0; i < RANK; i++)
        if (is_along(node, i) || node->number)
            node->dims[i] = 1;
    if (formula_of_all(node->expr) || node->number)
        node->rank = 0;
    return NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* Functions whose value jumps where their operand moves a little. */
static bool jumps(const struct node *node)
{
    static const char *const names[] = {"round", "floor", "ceil", "trunc", "sign", "<", ">",
                                        "<=",    ">=",    "==",   "!=",    "//",   "%", NULL};
    const struct formula_function *function = node->function;
    return is_among(function->name, names) ||
           (function->kind == FORMULA_TYPED && node->type != AKGEN_FLOAT && node->type != AKGEN_DOUBLE);
}

/* Finds integral and exact of what has kids. */
static void find_exactness(struct node *node)
{
    static const char *const to_whole[] = {"round", "floor", "ceil", "trunc", "sign", "<",  ">",    "<=",    ">=",
                                           "==",    "!=",    "//",   "not",   "and",  "or", "size", "index", NULL};
    static const char *const keep_whole[] = {"abs",    "square", "relu",    "min",    "max", "clamp", "where",
                                             "sum",    "amax",   "amin",    "+",      "-",   "*",     "%",
                                             "cumsum", "neg",    "type_as", "concat", NULL};
    static const char *const keep_exact[] = {"abs", "relu", "min", "max", "clamp", "where",   "amax",   "amin",
                                             "neg", "not",  "and", "or",  "relu6", "type_as", "concat", NULL};
    const char *name = node->function ? node->function->name : "where"; /* a slice, a choice */
    bool integral = true, exact = true;
    for (int k = 0; k < KIDS && node->kids[k]; k++) {
        bool condition = k == 0 && node->kids[1] && strcmp(name, "where") == 0;
        integral &= condition || node->kids[k]->integral;
        exact &= node->kids[k]->exact;
    }
    bool cut = node->function && node->function->kind == FORMULA_TYPED && !task_is_float(node->type);
    node->integral = cut || is_among(name, to_whole) || (integral && is_among(name, keep_whole));
    if (node->function && node->function->kind == FORMULA_PLACE)
        exact = integral = true;
    node->exact = (exact && (is_among(name, keep_exact) || is_among(name, to_whole))) || (node->integral && integral);
}

static void set_shape(struct node *node, const struct task_tensor *tensor)
{
    for (int i = 0; i < RANK; i++)
        node->dims[i] = tensor && i >= RANK - tensor->rank ? tensor->dims[i - (RANK - tensor->rank)] : 1;
    node->rank = tensor ? tensor->rank : 0;
}

static struct akgen_error *bind_word(struct formula_bound *bound, struct node *node)
{
    if (node->expr->index == FORMULA_OWN) { /* nothing reads its values */
        set_shape(node, bound->outputs[bound->output]);
        return NULL;
    }
    const struct formula_argument *argument = &bound->arguments[node->expr->index];
    const struct task_tensor *tensor = argument->tensor;
    node->argument = argument;
    set_shape(node, tensor);
    node->number = !tensor;
    node->whole = argument->whole;
    node->value = argument->number;
    node->exact = true;
    node->integral = tensor ? !task_is_float(tensor->type) : node->value == rint(node->value);
    return NULL;
}

/* What is made of numbers alone is one. */
static void fold(struct node *node)
{
    const struct formula_function *function = node->function;
    bool numbers = function && function->kind < FORMULA_TYPED, whole = numbers && strcmp(function->name, "/") != 0;
    double x[KIDS] = {0};
    for (int k = 0; k < KIDS && node->kids[k] && numbers; k++) {
        numbers &= node->kids[k]->number;
        whole &= node->kids[k]->whole;
        x[k] = node->kids[k]->value;
    }
    if (!numbers)
        return;
    node->number = true;
    node->value = function->kind == FORMULA_UNARY    ? function->unary(x[0])
                  : function->kind == FORMULA_BINARY ? function->binary(x[0], x[1])
                                                     : function->ternary(x[0], x[1], x[2]);
    node->whole = whole && node->value == rint(node->value);
}

static struct akgen_error *bind(struct formula_bound *bound, const struct expr *expr, struct node **result)
{
    if (expr->node == NODE_WORD && expr->index >= bound->formula->names) {
        *result = bound->steps[expr->index - bound->formula->names];
        return NULL;
    }
    struct node *node = *result = arena_alloc(bound->arena, sizeof *node);
    struct akgen_error *error = NULL;
    bool call = expr->node == NODE_CALL, slice = expr->node == NODE_SLICE || expr->node == NODE_INDEX;
    *node = (struct node){.expr = expr, .row = -1, .steps = bound->rounding};
    node->function = call ? formula_function_of(expr) : NULL;
    int kids = call ? operands_of(node->function) : slice ? 1 : expr->kid_count;
    for (int i = 0; i < kids && !error; i++)
        error = bind(bound, expr->kids[i], &node->kids[i]);
    if (!error && expr->node == NODE_VALUE) {
        error = stretch(bound->arena, node, 0);
        node->number = true;
        node->whole = expr->value.kind == EXPR_INT;
        node->value = expr->value.real;
        node->exact = true;
        node->integral = node->value == rint(node->value);
    } else if (!error) {
        error = expr->node == NODE_WORD ? bind_word(bound, node)
                : slice                 ? bind_slice(bound, node)
                : call                  ? bind_call(bound, node)
                                        : stretch(bound->arena, node, KIDS);
    }
    if (node->kids[0])
        find_exactness(node);
    if (!error)
        fold(node);
    node->prior = bound->newest;
    bound->newest = node;
    return error;
}

struct akgen_error *formula_bind(struct arena *arena, const struct formula *formula,
                                 const struct formula_argument *arguments, const struct task_tensor *const *outputs,
                                 const enum akgen_dtype *steps, struct formula_bound **result)
{
    struct formula_bound *bound = *result = arena_alloc(arena, sizeof *bound);
    *bound = (struct formula_bound){.arena = arena, .formula = formula, .arguments = arguments, .outputs = outputs};
    bound->steps = arena_alloc(arena, sizeof *bound->steps * (size_t)formula->count);
    struct akgen_error *error = NULL;
    for (int i = 0; i < formula->count && !error; i++) {
        bound->output = formula->steps[i].output;
        bound->rounding = steps[bound->output];
        error = bind(bound, formula->steps[i].tree, &bound->steps[i]);
    }
    return error;
}

static const struct node *node_of(const struct formula_bound *bound, const struct expr *call)
{
    const struct node *node = bound->newest;
    while (node && node->expr != call)
        node = node->prior;
    return node;
}

int formula_call_shape(const struct formula_bound *bound, const struct expr *call, int64_t dims[RANK])
{
    const struct node *node = node_of(bound, call);
    if (!node)
        return -1;
    memcpy(dims, node->dims, sizeof node->dims);
    return node->rank;
}

bool formula_axes(const struct formula_bound *bound, const struct expr *call, unsigned *axes, int64_t dims[RANK])
{
    const struct node *node = node_of(bound, call);
    if (!node)
        return false;
    *axes = node->along;
    memcpy(dims, operand(node)->dims, sizeof operand(node)->dims);
    return true;
}

int formula_shape(const struct formula_bound *bound, int step, int64_t dims[RANK])
{
    memcpy(dims, bound->steps[step]->dims, sizeof bound->steps[step]->dims);
    return bound->steps[step]->rank;
}

/* True if two shapes are one once their sizes of 1 are left out: their elements are in the same order. */
static bool same_elements(const int64_t *a, const int64_t *b)
{
    int i = 0, j = 0;
    do {
        while (i < RANK && a[i] == 1)
            i++;
        while (j < RANK && b[j] == 1)
            j++;
        if (i == RANK || j == RANK)
            return i == j;
    } while (a[i++] == b[j++]);
    return false;
}

static struct node output_shape(const struct task_tensor *output)
{
    struct node shape = {0};
    set_shape(&shape, output);
    return shape;
}

struct akgen_error *formula_fits(const struct formula_bound *bound, int step, const struct task_tensor *output)
{
    struct node shape = output_shape(output), *node = bound->steps[step];
    bool stretches = true;
    for (int i = 0; i < RANK; i++)
        stretches &= node->dims[i] == shape.dims[i] || node->dims[i] == 1;
    if (stretches || same_elements(node->dims, shape.dims))
        return NULL;
    const struct expr *second = node->function && node->kids[1] ? node->kids[1]->expr : NULL;
    bool axis =
        second && second->node == NODE_VALUE && second->value.kind == EXPR_INT && formula_chooses(node->function);
    return expr_error_at(node->expr, "the value has the shape %s, the output %s%s", show_shape(bound->arena, node),
                         show_shape(bound->arena, &shape),
                         axis ? "; amax(x, 0) and amin(x, 0) go along an axis, max and min take two values" : "");
}

/* What leans. */
/* A call of which some operand comes out otherwise where it is computed otherwise. */
static bool may_jump(const struct node *node)
{
    bool exact = true;
    for (int k = 0; k < KIDS && node->kids[k]; k++)
        exact &= node->kids[k]->exact;
    return node->function && jumps(node) && !(exact && node->exact);
}

bool formula_jumps(const struct formula_bound *bound)
{
    const struct node *node = bound->newest;
    while (node && !may_jump(node))
        node = node->prior;
    return node;
}

void formula_lean(struct formula_bound *bound, double lean)
{
    for (struct node *node = bound->newest; node; node = node->prior)
        node->lean = may_jump(node) ? lean : 0;
}

bool formula_whole(const struct formula_bound *bound, int step)
{
    return bound->steps[step]->integral;
}

/* Computing. */
static const double *row_of(struct arena *arena, struct node *node, const int64_t *at);

/* The number of the row, of those that the node has, in which indices `at` lie. */
static int64_t row_number(const struct node *node, const int64_t *at)
{
    int64_t row = 0;
    for (int i = 0; i < LAST; i++)
        row = row * node->dims[i] + (node->dims[i] == 1 ? 0 : at[i]);
    return row;
}

static void read_row(const struct node *node)
{
    const struct task_tensor *tensor = node->argument->tensor;
    int64_t n = node->dims[LAST];
    enum { PART = 1 << 20 };
    for (int64_t first = 0; first < n; first += PART)
        task_read_double(tensor, node->row * n + first, (int)(n - first < PART ? n - first : PART),
                         node->values + first);
}

/* How large what a value is made of, through so many sums, is: rounding errors are in proportion to it. */
enum { SUMS = 4 };
static double magnitude(struct arena *arena, struct node *node, const int64_t *at, int64_t i, int sums)
{
    const double *values = row_of(arena, node, at);
    double size = fabs(values[node->dims[LAST] > 1 ? i : 0]);
    const char *name = node->function && !node->ahead ? node->function->name : "";
    if (sums && (strcmp(name, "+") == 0 || strcmp(name, "-") == 0))
        for (int k = 0; k < 2; k++)
            size = fmax(size, magnitude(arena, node->kids[k], at, i, sums - 1));
    return size;
}

/* What an operand may be as well, on one side of it. */
static double leaning(struct arena *arena, const struct node *node, const int64_t *at, int64_t i, double x)
{
    double size = 0;
    for (int k = 0; k < KIDS && node->kids[k]; k++)
        size = fmax(size, magnitude(arena, node->kids[k], at, i, SUMS));
    return isfinite(size) ? x + node->lean * size : x;
}

/* The quotient alone leans. */
static double leaning_quotient(const struct node *node, double a, double b)
{
    double quotient = floor(a / b * (1 + node->lean));
    return *node->function->name == '%' ? a - quotient * b : quotient;
}

/* Elements of the kids, each stretched to the node's row. */
static void compute_elements(struct arena *arena, const struct node *node, const int64_t *at)
{
    const struct formula_function *function = node->function;
    static const double none;
    const double *x[KIDS] = {&none, &none, &none};
    int64_t step[KIDS] = {0}, n = node->dims[LAST];
    double *out = node->values;
    for (int k = 0; k < KIDS && node->kids[k]; k++) {
        x[k] = row_of(arena, node->kids[k], at);
        step[k] = node->kids[k]->dims[LAST] > 1;
    }
    bool chooses = !function || strcmp(function->name, "where") == 0;
    bool divides = function && strpbrk(function->name, "/%");
    for (int64_t i = 0; i < n && node->lean != 0; i++) {
        double a = x[0][i * step[0]], b = x[1][i * step[1]];
        double moved = divides ? 0 : leaning(arena, node, at, i, a);
        out[i] = divides                           ? leaning_quotient(node, a, b)
                 : function->kind == FORMULA_TYPED ? formula_held(node->type, moved)
                 : function->kind == FORMULA_UNARY ? function->unary(moved)
                                                   : function->binary(moved, b);
    }
    for (int64_t i = 0; i < n && node->lean == 0; i++)
        out[i] = chooses                           ? (x[0][i * step[0]] != 0 ? x[1][i * step[1]] : x[2][i * step[2]])
                 : function->kind == FORMULA_UNARY ? function->unary(x[0][i * step[0]])
                 : function->kind == FORMULA_TYPED ? formula_held(node->type, x[0][i * step[0]])
                 : function->kind == FORMULA_BINARY
                     ? function->binary(x[0][i * step[0]], x[1][i * step[1]])
                     : function->ternary(x[0][i * step[0]], x[1][i * step[1]], x[2][i * step[2]]);
    /* One of several numbers has been rounded already. */
    bool exact = chooses || formula_chooses(function);
    for (int64_t i = 0; i < n && !exact; i++)
        out[i] = task_round(node->steps, out[i]);
}

static void compute_row(struct arena *arena, const struct node *node, const int64_t *at)
{
    const struct formula_function *function = node->function;
    if (node->number || node->argument) {
        if (node->number)
            node->values[0] = node->value;
        else
            read_row(node);
    } else if (function && function->kind == FORMULA_JOIN) {
        double *out = node->values;
        for (int k = 0; k < 2; out += node->kids[k++]->dims[LAST])
            memcpy(out, row_of(arena, node->kids[k], at), sizeof *out * (size_t)node->kids[k]->dims[LAST]);
    } else if (function && function->kind == FORMULA_PLACE) {
        for (int64_t i = 0; i < node->dims[LAST]; i++)
            node->values[i] = (double)(is_along(node, LAST) ? i : node->row);
    } else if (node->expr->node == NODE_SLICE || node->expr->node == NODE_INDEX) {
        memcpy(node->values, row_of(arena, node->kids[0], at) + node->from, sizeof(double) * (size_t)node->dims[LAST]);
    } else if (function && (function->kind == FORMULA_SUMMARY || function->kind == FORMULA_ROW)) {
        function->row(row_of(arena, node->kids[0], at), node->kids[0]->dims[LAST], node->values);
        for (int64_t i = 0; i < node->dims[LAST]; i++)
            node->values[i] = task_round(node->steps, node->values[i]);
    } else {
        compute_elements(arena, node, at);
    }
}

static double *numbers(struct arena *arena, int64_t count)
{
    return arena_alloc(arena, sizeof(double) * ((size_t)count + 1));
}

static const double *row_of(struct arena *arena, struct node *node, const int64_t *at)
{
    int64_t row = row_number(node, at);
    if (node->ahead)
        return node->values + row * node->dims[LAST];
    if (!node->values)
        node->values = numbers(arena, node->dims[LAST]);
    if (node->row != row) {
        node->row = row;
        compute_row(arena, node, at);
    }
    return node->values;
}

/* The indices of the row behind `at`. */
static void next_row(const int64_t *dims, int64_t *at)
{
    for (int i = LAST - 1; i >= 0 && ++at[i] == dims[i]; i--)
        at[i] = 0;
}

/* Steps `at` through the axes that the call goes along, or through the others; false behind the last indices. */
static bool next_index(const struct node *node, bool along, int64_t *at)
{
    for (int i = LAST; i >= 0; i--) {
        if (is_along(node, i) != along)
            continue;
        if (++at[i] < operand(node)->dims[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* The number of an element: an axis of size 1 is stretched. */
static int64_t element_number(const struct node *node, const int64_t *at)
{
    return row_number(node, at) * node->dims[LAST] + (node->dims[LAST] == 1 ? 0 : at[LAST]);
}

/* All rows of a call: what lies along its axes is brought into one row, and what it yields goes where it came from. */
static void compute_ahead(struct arena *arena, struct node *node)
{
    struct node *kid = operand(node);
    int64_t rows = row_count(kid), cols = kid->dims[LAST], length = (int64_t)length_along(node), at[RANK] = {0};
    bool row = node->function->kind == FORMULA_ROW;
    double *elements = numbers(arena, rows * cols), *x = numbers(arena, length), *y = numbers(arena, row ? length : 1);
    for (int64_t i = 0; i < rows && cols; i++, next_row(kid->dims, at))
        memcpy(elements + i * cols, row_of(arena, kid, at), sizeof *elements * (size_t)cols);
    int64_t results = row_count(node) * node->dims[LAST];
    node->values = numbers(arena, results);
    memset(at, 0, sizeof at);
    do {
        for (int64_t i = 0; i < length && results; i++, next_index(node, true, at))
            x[i] = elements[element_number(kid, at)];
        node->function->row(x, results ? length : 0, y);
        for (int64_t i = 0; i < length && row; i++, next_index(node, true, at))
            node->values[element_number(node, at)] = task_round(node->steps, y[i]);
        if (!row)
            node->values[element_number(node, at)] = task_round(node->steps, *y);
    } while (results && next_index(node, false, at));
}

/* What is needed ahead: the inner ones first, which were bound earlier. */
static void compute_wholes(struct arena *arena, struct node *node)
{
    struct node *later = NULL;
    for (; node; node = node->prior) {
        for (int k = 0; node->needed && k < KIDS && node->kids[k]; k++)
            node->kids[k]->needed = true;
        if (node->needed && node->ahead && !node->values) {
            node->later = later;
            later = node;
        }
    }
    for (; later; later = later->later)
        compute_ahead(arena, later);
}

void formula_compute(struct formula_bound *bound, int step, const struct task_tensor *output,
                     void (*store)(void *state, int64_t first, int64_t n, const double *values), void *state)
{
    struct node shape = output_shape(output), *node = bound->steps[step];
    int64_t at[RANK] = {0};
    node->needed = true;
    compute_wholes(bound->arena, bound->newest);
    if (same_elements(node->dims, shape.dims))
        shape = *node;
    int64_t rows = row_count(&shape), cols = shape.dims[LAST];
    double *stretched = numbers(bound->arena, cols);
    for (int64_t row = 0; row < rows && cols; row++, next_row(shape.dims, at)) {
        const double *values = row_of(bound->arena, node, at);
        for (int64_t i = 0; i < cols && node->dims[LAST] != cols; i++)
            stretched[i] = values[0];
        store(state, row * cols, cols, node->dims[LAST] != cols ? stretched : values);
    }
}
