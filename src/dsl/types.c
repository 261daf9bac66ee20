/* The checker: what expressions yield. */
#include "dsl/check.h"
#include "dsl/edit.h"

#include <stdlib.h>
#include <string.h>

bool type_is_number(enum dsl_type type)
{
    return type >= DSL_TYPE_BOOL && type <= DSL_TYPE_NUMBER;
}

static bool is_integer(enum dsl_type type)
{
    return type == DSL_TYPE_BOOL || type == DSL_TYPE_INT;
}

enum dsl_type type_join(enum dsl_type a, enum dsl_type b)
{
    if (a == b || b == DSL_TYPE_UNKNOWN)
        return a;
    if (a == DSL_TYPE_UNKNOWN)
        return b;
    if (type_is_number(a) && type_is_number(b))
        return a > b ? a : b; /* in the order of their list the later holds the earlier */
    return DSL_TYPE_UNKNOWN;
}

void type_add(struct checker *checker, struct dsl_symbol *symbol, enum dsl_type type, struct dsl_place place)
{
    enum dsl_type both = type_join(symbol->type, type);
    if (both == DSL_TYPE_UNKNOWN && type != DSL_TYPE_UNKNOWN) {
        TELL(checker, place, DSL_RULE_types, "give one of them another name", "'%s' is %s in line %d and %s here",
             symbol->name, dsl_type_text(symbol->type), symbol->place.line, dsl_type_text(type));
        return;
    }
    checker->changed |= both != symbol->type;
    symbol->type = both;
}

bool expr_is(const struct dsl_expr *expr, const char *module, const char *name)
{
    if (!*module)
        return expr->kind == DSL_NAME && expr->name && *expr->name == *name && strcmp(expr->name, name) == 0;
    return expr->kind == DSL_ATTRIBUTE && expr->name && *expr->name == *name && strcmp(expr->name, name) == 0 &&
           expr_is(expr->items[0], "", module);
}

static bool is_module(const struct dsl_expr *expr)
{
    return expr_is(expr, "", "tl") || expr_is(expr, "", "torch") || expr_is(expr, "", "math");
}

/* Finds the name of the scope or the file that is nearest to an unknown one; NULL: none is near, or no message is kept any
 * more. */
static const char *nearest(const struct checker *checker, const char *name)
{
    const struct dsl_scope *scopes[] = {checker->names, &checker->program->file};
    const char *best = NULL;
    size_t differing = dsl_names_differ_by(name);
    for (int s = 0; s < 2 && checker->messages->kept < DSL_MESSAGES_MAX; s++)
        for (int i = 0; i < scopes[s]->count; i++)
            if (dsl_name_is_nearer(name, scopes[s]->items[i]->name, &differing))
                best = scopes[s]->items[i]->name;
    return best;
}

static enum dsl_type type_of_name(struct checker *checker, struct dsl_expr *expr)
{
    if (!expr->name)
        return DSL_TYPE_UNKNOWN;
    struct dsl_symbol *symbol = dsl_scope_find(checker->names, expr->name);
    if (!symbol)
        symbol = dsl_scope_find(&checker->program->file, expr->name);
    if (!symbol) {
        const char *near = nearest(checker, expr->name);
        TELL(checker, expr->place, DSL_RULE_names,
             near ? arena_printf(checker->arena, "did you mean '%s'?", near) : NULL,
             is_module(expr) ? "'%.80s' is a module, not a value" : "nothing has the name '%.80s'", expr->name);
        return DSL_TYPE_UNKNOWN;
    }
    expr->symbol = symbol;
    if (!symbol->constant && (!checker->bound || !checker->bound[symbol->number])) /* NULL: in a parameter's default */
        TELL(checker, expr->place, DSL_RULE_names, "assign it before, on every way that leads here",
             "'%s' may have no value here", symbol->name);
    return symbol->type;
}

/* tl.float32, torch.int32, math.inf. */
static enum dsl_type type_of_member(struct checker *checker, struct dsl_expr *expr)
{
    static const char *const constants[] = {"inf", "nan", "pi", "e"};
    if (expr_is(expr->items[0], "", "math"))
        for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
            if (strcmp(expr->name, constants[i]) == 0)
                return DSL_TYPE_REAL;
    if (!expr_is(expr->items[0], "", "math") && akgen_dtype_parse(expr->name) != AKGEN_DTYPE_NONE)
        return DSL_TYPE_DTYPE;
    TELL(checker, expr->place, DSL_RULE_names,
         dsl_operation_find(expr->name) ? "an operation is called: write its arguments in brackets" : NULL,
         "%s has no '%s'", expr->items[0]->name, expr->name);
    return DSL_TYPE_UNKNOWN;
}

static enum dsl_type type_of_attribute(struct checker *checker, struct dsl_expr *expr)
{
    static const struct {
        const char *name;
        enum dsl_type type;
    } attributes[] = {
        {"shape", DSL_TYPE_INTS}, {"dtype", DSL_TYPE_DTYPE}, {"device", DSL_TYPE_DEVICE}, {"ndim", DSL_TYPE_INT}};
    if (is_module(expr->items[0]))
        return type_of_member(checker, expr);
    enum dsl_type of = type_of(checker, expr->items[0]);
    if (of == DSL_TYPE_DTYPE && strcmp(expr->name, "is_floating_point") == 0)
        return DSL_TYPE_BOOL;
    if (of == DSL_TYPE_TENSORS && checker->program->tree->lowered && strcmp(expr->name, "dtype") == 0)
        return DSL_TYPE_DTYPE;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (of == DSL_TYPE_TENSOR && strcmp(expr->name, attributes[i].name) == 0)
            return attributes[i].type;
    if (of != DSL_TYPE_UNKNOWN)
        TELL(checker, expr->place, DSL_RULE_types,
             of == DSL_TYPE_TENSOR ? "a tensor has shape, dtype, ndim, numel(), size(i)" : NULL, "%s has no '%s'",
             dsl_type_text(of), expr->name);
    return DSL_TYPE_UNKNOWN;
}

/* Complains of an operation on what it does not work on. */
static enum dsl_type mismatch(struct checker *checker, const struct dsl_expr *expr, enum dsl_type a, enum dsl_type b)
{
    if (a == DSL_TYPE_UNKNOWN || b == DSL_TYPE_UNKNOWN)
        return DSL_TYPE_UNKNOWN;
    bool masks = a == DSL_TYPE_MASK && b == DSL_TYPE_MASK;
    bool buffers = a == DSL_TYPE_BUFFER || a == DSL_TYPE_PIECE || b == DSL_TYPE_BUFFER || b == DSL_TYPE_PIECE;
    bool shape = a == DSL_TYPE_INTS || b == DSL_TYPE_INTS;
    const char *remedy = masks     ? "masks are put together by '&' and '|'"
                         : buffers ? "elements of buffers are computed by operations: tl.vadd(dst, a, b)"
                         : shape   ? "the number of axes is len(x.shape), one of the sizes x.shape[i]"
                                   : NULL;
    TELL(checker, expr->place, DSL_RULE_types, remedy, "'%s' has no meaning between %s and %s",
         dsl_operator_text(expr->op), dsl_type_text(a), dsl_type_text(b));
    return DSL_TYPE_UNKNOWN;
}

/* + and - beside a range, a tensor or a buffer. */
static enum dsl_type type_of_offset(enum dsl_operator op, enum dsl_type a, enum dsl_type b)
{
    bool minus = op == DSL_SUBTRACT, integer = b == DSL_TYPE_INT || b == DSL_TYPE_BOOL || b == DSL_TYPE_NUMBER;
    if (a == DSL_TYPE_RANGE && integer)
        return DSL_TYPE_RANGE;
    if (minus)
        return DSL_TYPE_UNKNOWN;
    if (a == DSL_TYPE_TENSOR || a == DSL_TYPE_POINTER)
        return integer ? DSL_TYPE_POINTER : b == DSL_TYPE_RANGE ? DSL_TYPE_ADDRESS : DSL_TYPE_UNKNOWN;
    if (a == DSL_TYPE_ADDRESS && integer)
        return DSL_TYPE_ADDRESS;
    return (a == DSL_TYPE_BUFFER || a == DSL_TYPE_PIECE) && integer ? DSL_TYPE_PIECE : DSL_TYPE_UNKNOWN;
}

static enum dsl_type type_of_arithmetic(enum dsl_operator op, enum dsl_type a, enum dsl_type b)
{
    bool integers = is_integer(a) && is_integer(b);
    enum dsl_type found = DSL_TYPE_UNKNOWN;
    if (type_is_number(a) && type_is_number(b)) {
        if (op == DSL_BIT_AND || op == DSL_BIT_OR || op == DSL_BIT_XOR || op == DSL_SHIFT_LEFT || op == DSL_SHIFT_RIGHT)
            return integers ? DSL_TYPE_INT : DSL_TYPE_UNKNOWN;
        if (op == DSL_DIVIDE && integers)
            return DSL_TYPE_REAL;
        return type_join(type_join(a, b), DSL_TYPE_INT);
    }
    if (a == DSL_TYPE_MASK && b == DSL_TYPE_MASK)
        return op == DSL_BIT_AND || op == DSL_BIT_OR ? DSL_TYPE_MASK : DSL_TYPE_UNKNOWN;
    if (op == DSL_MULTIPLY && ((a == DSL_TYPE_RANGE && is_integer(b)) || (is_integer(a) && b == DSL_TYPE_RANGE)))
        return DSL_TYPE_RANGE;
    if (op == DSL_ADD && a == DSL_TYPE_INTS && b == DSL_TYPE_INTS)
        return DSL_TYPE_INTS;
    if (op == DSL_ADD || op == DSL_SUBTRACT)
        found = type_of_offset(op, a, b);
    if (op == DSL_ADD && found == DSL_TYPE_UNKNOWN)
        found = type_of_offset(op, b, a);
    return found;
}

static enum dsl_type type_of_comparison(enum dsl_operator op, enum dsl_type a, enum dsl_type b)
{
    bool equality = op == DSL_EQUAL || op == DSL_NOT_EQUAL;
    if (type_is_number(a) && type_is_number(b))
        return DSL_TYPE_BOOL;
    if (op == DSL_IS || op == DSL_IS_NOT)
        return b == DSL_TYPE_NONE ? DSL_TYPE_BOOL : DSL_TYPE_UNKNOWN;
    if (equality && a == b && (a == DSL_TYPE_TEXT || a == DSL_TYPE_DTYPE || a == DSL_TYPE_INTS))
        return DSL_TYPE_BOOL;
    bool range = (a == DSL_TYPE_RANGE && is_integer(b)) || (is_integer(a) && b == DSL_TYPE_RANGE);
    return range && !equality ? DSL_TYPE_MASK : DSL_TYPE_UNKNOWN;
}

/* A place in a tensor minus an integer becomes that place plus a negative one. */
static void turn_difference(struct checker *checker, struct dsl_expr *expr, enum dsl_type a, enum dsl_type b)
{
    struct edit edit = {checker->arena, expr->place};
    if (expr->op != DSL_SUBTRACT || (a != DSL_TYPE_POINTER && a != DSL_TYPE_ADDRESS) || !is_integer(b))
        return;
    expr->op = DSL_ADD;
    expr->items[1] = edit_negative(&edit, expr->items[1]);
    type_of(checker, expr->items[1]);
}

static enum dsl_type type_of_operation(struct checker *checker, struct dsl_expr *expr)
{
    enum dsl_type a = type_of(checker, expr->items[0]), b = type_of(checker, expr->count > 1 ? expr->items[1] : NULL);
    enum dsl_type found = DSL_TYPE_UNKNOWN;
    int level = dsl_operator_level(expr->op);
    if (a == DSL_TYPE_UNKNOWN || (expr->count > 1 && b == DSL_TYPE_UNKNOWN))
        return DSL_TYPE_UNKNOWN;
    turn_difference(checker, expr, a, b);
    if (checker->kernel && (expr->op == DSL_IS || expr->op == DSL_IS_NOT))
        TELL(checker, expr->place, DSL_RULE_types, "ask in the host function and launch with a number that says it",
             "a kernel does not know what is None");
    if (expr->op == DSL_NEGATE)
        found = type_is_number(a) ? type_join(a, DSL_TYPE_INT) : DSL_TYPE_UNKNOWN;
    else if (expr->op == DSL_NOT)
        found = type_is_number(a) ? DSL_TYPE_BOOL : DSL_TYPE_UNKNOWN;
    else if (expr->op == DSL_AND || expr->op == DSL_OR)
        found = type_is_number(a) && type_is_number(b) ? type_join(a, b) : DSL_TYPE_UNKNOWN;
    else if (level == dsl_operator_level(DSL_EQUAL))
        found = type_of_comparison(expr->op, a, b);
    else
        found = type_of_arithmetic(expr->op, a, b);
    if (found == DSL_TYPE_UNKNOWN && expr->count > 1)
        return mismatch(checker, expr, a, b);
    if (found == DSL_TYPE_UNKNOWN)
        TELL(checker, expr->place, DSL_RULE_types, NULL, "'%s' has no meaning before %s", dsl_operator_text(expr->op),
             dsl_type_text(a));
    return found;
}

static enum dsl_type type_of_choice(struct checker *checker, struct dsl_expr *expr)
{
    enum dsl_type a = type_of(checker, expr->items[0]), condition = type_of(checker, expr->items[1]);
    enum dsl_type b = type_of(checker, expr->items[2]), both = type_join(a, b);
    if (condition != DSL_TYPE_UNKNOWN && !type_is_number(condition))
        TELL(checker, expr->items[1]->place, DSL_RULE_types, NULL, "the condition is %s, not a truth value",
             dsl_type_text(condition));
    if (both == DSL_TYPE_UNKNOWN && a != DSL_TYPE_UNKNOWN)
        TELL(checker, expr->place, DSL_RULE_types, NULL, "one choice is %s, the other %s", dsl_type_text(a),
             dsl_type_text(b));
    return both;
}

static enum dsl_type type_of_index(struct checker *checker, struct dsl_expr *expr)
{
    struct dsl_expr *index = expr->items[1];
    enum dsl_type of = type_of(checker, expr->items[0]);
    bool slice = index->kind == DSL_SLICE;
    for (int i = 0; i < (slice ? 2 : 1); i++) {
        struct dsl_expr *part = slice ? index->items[i] : index;
        enum dsl_type type = part ? type_of(checker, part) : DSL_TYPE_INT;
        if (type != DSL_TYPE_UNKNOWN && !is_integer(type))
            TELL(checker, part->place, DSL_RULE_types, NULL, "an index is an integer, not %s", dsl_type_text(type));
    }
    if (of == DSL_TYPE_INTS)
        return slice ? DSL_TYPE_INTS : DSL_TYPE_INT;
    if (of == DSL_TYPE_BUFFER || of == DSL_TYPE_PIECE)
        return DSL_TYPE_PIECE;
    if (of == DSL_TYPE_TENSORS && !slice)
        return DSL_TYPE_TENSOR;
    if (of != DSL_TYPE_UNKNOWN)
        TELL(checker, expr->place, DSL_RULE_types,
             of == DSL_TYPE_TENSOR ? "tl.extract_scalar(tensor, index) reads an element, tl.load many" : NULL,
             "%s has no elements to index", dsl_type_text(of));
    return DSL_TYPE_UNKNOWN;
}

static enum dsl_type type_of_list(struct checker *checker, struct dsl_expr *expr)
{
    bool integers = true;
    for (int i = 0; i < expr->count; i++) {
        enum dsl_type type = type_of(checker, expr->items[i]);
        integers &= is_integer(type) || type == DSL_TYPE_UNKNOWN;
    }
    if (!integers)
        TELL(checker, expr->place, DSL_RULE_types, NULL, "a list here holds integers: a shape, sizes");
    return integers ? DSL_TYPE_INTS : DSL_TYPE_UNKNOWN;
}

/* What an argument may be (operations.def). */
static bool accepts(char what, enum dsl_type type)
{
    bool number = type_is_number(type), integer = is_integer(type) || type == DSL_TYPE_NUMBER;
    bool buffer = type == DSL_TYPE_BUFFER || type == DSL_TYPE_PIECE;
    bool tensor = type == DSL_TYPE_TENSOR || type == DSL_TYPE_POINTER;
    switch (what) {
    case 'A':
        return tensor || type == DSL_TYPE_ADDRESS;
    case 'P':
        return tensor;
    case 'W':
    case 'R':
        return buffer;
    case 'B':
        return buffer || number;
    case 'G':
        return buffer || tensor;
    case 'N':
        return number;
    case 'I':
        return integer;
    case 'M':
        return type == DSL_TYPE_MASK;
    case 'D':
        return type == DSL_TYPE_DTYPE;
    case 'L':
        return type == DSL_TYPE_TENSORS;
    case 'S':
        return integer || type == DSL_TYPE_INTS;
    case 'T':
        return type == DSL_TYPE_TEXT;
    default:
        abort();
    }
}

static const char *wanted(char what)
{
    static const char *const texts['Z'] = {
        ['A'] = "a tensor, with an offset or a range of offsets",
        ['P'] = "a tensor, with an offset",
        ['W'] = "a buffer or a piece of one",
        ['R'] = "a buffer or a piece of one",
        ['B'] = "a buffer or a number",
        ['G'] = "a buffer or a place in a tensor",
        ['N'] = "a number",
        ['I'] = "an integer",
        ['M'] = "a mask, as offsets < bound",
        ['D'] = "a data type, as tl.float32",
        ['S'] = "an integer or a tuple of them",
        ['T'] = "a text",
    };
    return texts[(int)what];
}

/* What to do where an argument is of a type that was not wanted; NULL: nothing that could be said in general. */
static const char *remedy_for(char what, enum dsl_type type)
{
    bool tensor = type == DSL_TYPE_TENSOR || type == DSL_TYPE_POINTER || type == DSL_TYPE_ADDRESS;
    if (tensor && what == 'W')
        return "a core writes global memory by tl.store(address, buffer), a value of its own from a buffer too";
    if (tensor && (what == 'R' || what == 'B'))
        return "load it into a buffer before: tl.load(address, buffer)";
    if (type == DSL_TYPE_REAL && (what == 'I' || what == 'S'))
        return "'//' divides integers, int(x) cuts a real number off";
    if (type == DSL_TYPE_INTS && what == 'I')
        return "its length is len(x.shape), one of its sizes x.shape[i], the number of elements x.numel()";
    return NULL;
}

bool operation_next_parameter(struct operation_parameter *parameter)
{
    const char *row = parameter->row;
    while (*row == ' ')
        row++;
    if (!*row)
        return false;
    int length = 0;
    while (row[length] != ':')
        length++;
    bool optional = row[length + 2] == '?';
    *parameter = (struct operation_parameter){.row = row + length + 2 + optional,
                                              .name = row,
                                              .number = parameter->number + 1,
                                              .length = length,
                                              .what = row[length + 1],
                                              .optional = optional};
    return true;
}

static bool has_name(const struct operation_parameter *parameter, const char *name)
{
    return *parameter->name == *name && strncmp(parameter->name, name, (size_t)parameter->length) == 0 &&
           !name[parameter->length];
}

/* Whether the argument is given by the parameter's name. */
static bool is_named(const struct dsl_expr *argument, const struct operation_parameter *parameter)
{
    return argument->kind == DSL_NAMED && has_name(parameter, argument->name);
}

struct dsl_expr *call_argument_for(const struct dsl_expr *call, const struct operation_parameter *parameter)
{
    if (parameter->number + 1 < call->count && call->items[parameter->number + 1]->kind != DSL_NAMED)
        return call->items[parameter->number + 1];
    for (int i = 1; i < call->count; i++)
        if (is_named(call->items[i], parameter))
            return call->items[i]->items[0];
    return NULL;
}

struct dsl_expr *call_argument(const struct dsl_expr *call, const char *name)
{
    struct operation_parameter parameter = {.row = call->operation->parameters, .number = -1};
    int positions = 1;
    for (; positions < call->count && call->items[positions]->kind != DSL_NAMED; positions++)
        continue;
    for (int i = positions; i < call->count; i++)
        if (call->items[i]->kind == DSL_NAMED && same_name(call->items[i]->name, name))
            return call->items[i]->items[0];
    while (parameter.number + 2 < positions && operation_next_parameter(&parameter))
        if (has_name(&parameter, name))
            return call_argument_for(call, &parameter);
    return NULL;
}

/* "address, dst, mask=, other=, count=" */
static const char *signature(struct checker *checker, const struct dsl_operation *operation)
{
    struct text text = {0};
    struct operation_parameter parameter = {.row = operation->parameters, .number = -1};
    text_addf(&text, "tl.%s(", operation->name);
    while (operation_next_parameter(&parameter))
        text_addf(&text, "%s%.*s%s", parameter.number ? ", " : "", parameter.length, parameter.name,
                  parameter.optional ? "=" : "");
    text_add(&text, ")");
    return text_keep(&text, checker->arena);
}

/* An argument that no parameter of the row takes, or that another has taken. */
static void check_taken(struct checker *checker, const struct dsl_expr *call, const struct dsl_operation *operation,
                        int position)
{
    const struct dsl_expr *argument = call->items[position];
    struct operation_parameter parameter = {.row = operation->parameters, .number = -1};
    int taken = 0;
    while (operation_next_parameter(&parameter)) {
        if (!is_named(argument, &parameter))
            continue;
        bool in_order = parameter.number + 1 < call->count && call->items[parameter.number + 1]->kind != DSL_NAMED;
        taken += 1 + in_order;
        for (int i = position - 1; i > 0 && taken < 2; i--) /* the nearest is enough */
            taken += is_named(call->items[i], &parameter);
    }
    int most = parameter.number + 1;
    bool surplus = argument->kind != DSL_NAMED && position > most;
    if (!surplus && (argument->kind != DSL_NAMED || taken == 1))
        return;
    const char *remedy = signature(checker, operation);
    if (surplus)
        TELL(checker, argument->place, DSL_RULE_arguments, remedy, "tl.%s has at most %d arguments", operation->name,
             most);
    else
        TELL(checker, argument->place, DSL_RULE_arguments, remedy,
             taken ? "tl.%s gets '%s=' twice" : "tl.%s has no '%s='", operation->name, argument->name);
}

static void check_arguments(struct checker *checker, struct dsl_expr *call, const struct dsl_operation *operation)
{
    struct operation_parameter parameter = {.row = operation->parameters, .number = -1};
    for (int i = 1; i < call->count; i++)
        type_of(checker, call->items[i]->kind == DSL_NAMED ? call->items[i]->items[0] : call->items[i]);
    while (operation_next_parameter(&parameter)) {
        const struct dsl_expr *argument = call_argument_for(call, &parameter);
        if (!argument && parameter.optional)
            continue;
        if (!argument) {
            bool scalar = call->count == 2 && operation->place == DSL_PLACE_COMPUTE &&
                          type_is_number((enum dsl_type)call->items[1]->type);
            TELL(checker, call->place, DSL_RULE_arguments,
                 scalar ? "it computes buffers; of a number write tl.sqrt(x), tl.exp(x), tl.max(a, b)"
                        : signature(checker, operation),
                 "tl.%s lacks its argument '%.*s'", operation->name, parameter.length, parameter.name);
            return;
        }
        enum dsl_type type = (enum dsl_type)argument->type;
        if (type != DSL_TYPE_UNKNOWN && !accepts(parameter.what, type))
            TELL(checker, argument->place, DSL_RULE_types,
                 remedy_for(parameter.what, type) ? remedy_for(parameter.what, type) : signature(checker, operation),
                 "'%.*s' of tl.%s is %s, and this is %s", parameter.length, parameter.name, operation->name,
                 wanted(parameter.what), dsl_type_text(type));
    }
    for (int i = 1; i < call->count; i++)
        check_taken(checker, call, operation, i);
}

static void check_place(struct checker *checker, const struct dsl_expr *call, const struct dsl_operation *operation)
{
    static const char *const stages[] = {"tl.copyin()", "tl.compute()", "tl.copyout()"};
    enum dsl_operation_place place = operation->place;
    bool wrong_function = (place == DSL_PLACE_HOST) == checker->kernel && place != DSL_PLACE_ANY;
    if (checker->program->tree->lowered) /* stages hold what belongs to them by then, and more */
        return;
    if (wrong_function)
        TELL(checker, call->place, DSL_RULE_stages, NULL, "tl.%s stands in the %s", operation->name,
             checker->kernel ? "host function" : "kernel");
    else if (place <= DSL_PLACE_COPYOUT && checker->stage != (int)place)
        TELL(checker, call->place, DSL_RULE_stages,
             arena_printf(checker->arena, "put it into 'with %s:'", stages[place]), "tl.%s stands in %s, not %s%s",
             operation->name, stages[place], checker->stage == STAGE_NONE ? "outside of stages" : "in ",
             checker->stage == STAGE_NONE ? "" : stages[checker->stage]);
    else if (place == DSL_PLACE_TOP && (checker->stage != STAGE_NONE || checker->nesting))
        TELL(checker, call->place, DSL_RULE_stages, "put it at the beginning of the kernel",
             "a buffer is made once, outside of loops, branches and stages");
}

/* round="down" of tl.cast. */
static void check_rounding(struct checker *checker, const struct dsl_expr *call)
{
#define ROUNDING(name, function) name,
    static const char *const roundings[] = {DSL_ROUNDINGS(ROUNDING)};
#undef ROUNDING
    const struct dsl_expr *mode = strcmp(call->operation->name, "cast") == 0 ? call_argument(call, "round") : NULL;
    bool known = !mode || mode->type == DSL_TYPE_UNKNOWN;
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings && !known; i++)
        known = mode->kind == DSL_TEXT && strcmp(mode->name, roundings[i]) == 0;
    if (!known)
        TELL(checker, mode->place, DSL_RULE_arguments, "'even', 'away', 'down', 'up' or 'zero'",
             "tl.cast does not round by this");
}

/* What takes elements from anywhere in a buffer does not write that one. */
static void check_apart(struct checker *checker, const struct dsl_expr *call)
{
    const bool anywhere =
        strcmp(call->operation->name, "gather") == 0 || strcmp(call->operation->name, "compress") == 0;
    const struct dsl_expr *dst = anywhere ? call_argument(call, "dst") : NULL,
                          *src = dst ? call_argument(call, "src") : NULL;
    const char *to = src ? operand_buffer(dst, NULL) : NULL, *from = to ? operand_buffer(src, NULL) : NULL;
    if (from && same_name(to, from) && !checker->program->tree->lowered)
        TELL(checker, call->place, DSL_RULE_undefined, "compute into another buffer",
             "source and destination are the same: '%s'", to);
}

/* depth=3 of a buffer: it is known before anything runs. */
static void check_depth(struct checker *checker, const struct dsl_expr *call)
{
    const struct dsl_expr *depth = call_argument(call, "depth");
    const bool known = depth && depth->kind == DSL_INT && depth->integer >= 1 && depth->integer <= DSL_DEPTH;
    if (depth && !known)
        TELL(checker, depth->place, DSL_RULE_arguments, "leave it out: the compiler chooses",
             "depth is a number that is written there, from 1 to %d", DSL_DEPTH);
}

static enum dsl_type type_of_tl(struct checker *checker, struct dsl_expr *call, const struct dsl_operation *operation)
{
    call->operation = operation;
    check_arguments(checker, call, operation);
    check_rounding(checker, call);
    check_depth(checker, call);
    check_apart(checker, call);
    check_place(checker, call, operation);
    return operation->result;
}

/* Python's own functions and those of torch and math: the name, how many arguments, of which kind, what they yield. */
static const struct {
    const char *module, *name;
    int least, most;
    char what;
    enum dsl_type result;
} functions[] = {
    {"", "min", 2, 8, 'N', DSL_TYPE_NUMBER},        {"", "max", 2, 8, 'N', DSL_TYPE_NUMBER},
    {"", "abs", 1, 1, 'N', DSL_TYPE_NUMBER},        {"", "int", 1, 1, 'N', DSL_TYPE_INT},
    {"", "float", 1, 1, 'T', DSL_TYPE_REAL},        {"", "bool", 1, 1, 'N', DSL_TYPE_BOOL},
    {"", "len", 1, 1, 'L', DSL_TYPE_INT},           {"math", "ceil", 1, 1, 'N', DSL_TYPE_INT},
    {"math", "floor", 1, 1, 'N', DSL_TYPE_INT},     {"math", "sqrt", 1, 1, 'N', DSL_TYPE_REAL},
    {"math", "exp", 1, 1, 'N', DSL_TYPE_REAL},      {"math", "log", 1, 1, 'N', DSL_TYPE_REAL},
    {"math", "log2", 1, 1, 'N', DSL_TYPE_REAL},     {"torch", "empty", 1, 3, 'E', DSL_TYPE_TENSOR},
    {"torch", "zeros", 1, 3, 'E', DSL_TYPE_TENSOR},
};

static bool accepts_value(char what, enum dsl_type type, const struct dsl_expr *argument, const char *name)
{
    bool named = name != NULL;
    if (what == 'T') /* float("inf") */
        return type_is_number(type) || (argument->kind == DSL_TEXT && strtod(argument->name, NULL) != 0);
    if (what == 'L')
        return type == DSL_TYPE_INTS || type == DSL_TYPE_BUFFER || type == DSL_TYPE_PIECE || type == DSL_TYPE_TENSORS;
    if (what == 'E')
        return named ? (strcmp(name, "dtype") == 0 && type == DSL_TYPE_DTYPE) ||
                           (strcmp(name, "device") == 0 && (type == DSL_TYPE_DEVICE || type == DSL_TYPE_TEXT))
                     : is_integer(type) || type == DSL_TYPE_INTS;
    return type_is_number(type) && !named;
}

/* A call of row `row` of functions. */
static enum dsl_type type_of_function(struct checker *checker, struct dsl_expr *call, size_t row)
{
    enum dsl_type joined = DSL_TYPE_UNKNOWN;
    int count = call->count - 1;
    if (count < functions[row].least || count > functions[row].most)
        TELL(checker, call->place, DSL_RULE_arguments, NULL, "%s takes %d to %d arguments, not %d", functions[row].name,
             functions[row].least, functions[row].most, count);
    for (int i = 1; i < call->count; i++) {
        struct dsl_expr *argument = call->items[i];
        const char *name = argument->kind == DSL_NAMED ? argument->name : NULL;
        argument = name ? argument->items[0] : argument;
        enum dsl_type type = type_of(checker, argument);
        joined = type_join(joined, type);
        if (type != DSL_TYPE_UNKNOWN && !accepts_value(functions[row].what, type, argument, name))
            TELL(checker, argument->place, DSL_RULE_types,
                 type == DSL_TYPE_PIECE || type == DSL_TYPE_BUFFER
                     ? "tl.extract_scalar(buffer, index) is an element of it"
                     : NULL,
                 "%s does not take %s%s%s", functions[row].name, name ? name : "", name ? "=, " : "",
                 dsl_type_text(type));
    }
    return functions[row].result == DSL_TYPE_NUMBER ? type_join(joined, DSL_TYPE_INT) : functions[row].result;
}

/* x.numel(), x.size(i), x.dim(). */
static enum dsl_type type_of_method(struct checker *checker, struct dsl_expr *call)
{
    struct dsl_expr *function = call->items[0];
    enum dsl_type of = type_of(checker, function->items[0]);
    bool size = strcmp(function->name, "size") == 0, shape = size && call->count == 1;
    bool known = size || strcmp(function->name, "numel") == 0 || strcmp(function->name, "dim") == 0;
    if (of == DSL_TYPE_UNKNOWN)
        return DSL_TYPE_UNKNOWN;
    if (of != DSL_TYPE_TENSOR || !known || call->count > 1 + size) {
        TELL(checker, function->place, DSL_RULE_types,
             of == DSL_TYPE_TENSOR ? "a tensor has numel(), dim(), size(i), shape, dtype" : NULL, "%s has no '%s(%s)'",
             dsl_type_text(of), function->name, call->count > 1 ? ".." : "");
        return DSL_TYPE_UNKNOWN;
    }
    if (call->count > 1 && !is_integer(type_of(checker, call->items[1])))
        TELL(checker, call->items[1]->place, DSL_RULE_types, NULL, "size takes the number of an axis");
    return shape ? DSL_TYPE_INTS : DSL_TYPE_INT;
}

static enum dsl_type type_of_call(struct checker *checker, struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    bool attribute = function->kind == DSL_ATTRIBUTE, bare = function->kind == DSL_NAME && function->name;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (expr_is(function, functions[i].module, functions[i].name))
            return type_of_function(checker, call, i);
    const struct dsl_operation *operation = NULL;
    if (bare || (attribute && expr_is(function->items[0], "", "tl")))
        operation = dsl_operation_called(call);
    if (!operation && attribute && checker->program->tree->lowered && expr_is(function->items[0], "", "tl"))
        operation = dsl_operation_find_lowered(function->name);
    if (operation)
        return type_of_tl(checker, call, operation);
    if (attribute && !is_module(function->items[0]))
        return type_of_method(checker, call);
    bool range = expr_is(function, "", "range");
    const char *near = attribute ? dsl_operation_nearest(function->name) : NULL;
    if (attribute)
        TELL(checker, call->place, DSL_RULE_names,
             expr_is(function->items[0], "", "torch")
                 ? "outputs are parameters of the host function; torch.empty(size, dtype=) makes workspace"
             : near
                 ? arena_printf(checker->arena, "did you mean '%s'?", near)
                 : "write one of the operations of tl that the primer lists: those of buffers begin with v, as tl.vadd",
             "%s has no operation '%s'", function->items[0]->name, function->name);
    else
        TELL(checker, call->place, DSL_RULE_names, range ? "write 'for i in range(..):'" : NULL,
             bare ? "nothing that can be called has the name '%.80s'" : "this cannot be called%.0s",
             bare ? function->name : "");
    for (int i = 1; i < call->count; i++)
        type_of(checker, call->items[i]->kind == DSL_NAMED ? call->items[i]->items[0] : call->items[i]);
    return DSL_TYPE_UNKNOWN;
}

static enum dsl_type find_type(struct checker *checker, struct dsl_expr *expr)
{
    switch (expr->kind) {
    case DSL_NAME:
        return type_of_name(checker, expr);
    case DSL_INT:
        return DSL_TYPE_INT;
    case DSL_REAL:
        return DSL_TYPE_REAL;
    case DSL_TEXT:
        return DSL_TYPE_TEXT;
    case DSL_TRUE:
    case DSL_FALSE:
        return DSL_TYPE_BOOL;
    case DSL_NONE:
        return DSL_TYPE_NONE;
    case DSL_TUPLE:
    case DSL_LIST:
        return type_of_list(checker, expr);
    case DSL_UNARY:
    case DSL_BINARY:
        return type_of_operation(checker, expr);
    case DSL_CHOICE:
        return type_of_choice(checker, expr);
    case DSL_CALL:
        return type_of_call(checker, expr);
    case DSL_ATTRIBUTE:
        return type_of_attribute(checker, expr);
    case DSL_INDEX:
        return type_of_index(checker, expr);
    case DSL_SLICE:
    case DSL_NAMED:
        return DSL_TYPE_UNKNOWN; /* parts of others, which ask for what is in them */
    }
    return DSL_TYPE_UNKNOWN;
}

enum dsl_type type_of(struct checker *checker, struct dsl_expr *expr)
{
    if (!expr)
        return DSL_TYPE_UNKNOWN;
    expr->type = find_type(checker, expr);
    return (enum dsl_type)expr->type;
}
