/* Printing expressions and statements in C++. Numbers mean what they mean in the program: integers have 64 bits, '//' and '%'
 * round down, '/' is real. */
#include "base/array.h"
#include "dsl/emit.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4, DEEP = 24 };

void emit_indent(struct emit *emit)
{
    emit_mark(emit->out, emit->line);
    text_addf(emit->out, "%*s", emit->indent * INDENT, "");
}

void emit_line(struct emit *emit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        abort();
    va_end(args);
    if (*line)
        emit_indent(emit);
    text_addf(emit->out, "%s\n", line);
    free(line);
}

const char *emit_remark(struct arena *arena, const char *text)
{
    char *remark = arena_strdup(arena, text + strspn(text, "#"));
    size_t length = strlen(remark);
    for (char *c = remark; *c; c++)
        *c = (char)((unsigned char)*c < ' ' ? ' ' : *c);
    while (length && (remark[length - 1] == '\\' || remark[length - 1] == ' ')) /* the next line is none of it */
        remark[--length] = 0;
    return remark;
}

void emit_comments(struct emit *emit, const struct dsl_comments *comments)
{
    for (int i = 0; i < comments->count; i++) {
        const char *text = emit_remark(emit->lowering->arena, comments->items[i].text);
        if (text[strspn(text, " -=*#")])
            emit_line(emit, "//%s%s", *text == ' ' ? "" : " ", text);
    }
}

struct element_read {
    const struct lowering *lowering;
    struct lower_type type;
    bool found;
};

static void see_element(void *closure, struct dsl_expr *part)
{
    struct element_read *read = closure;
    const struct lowering *lowering = read->lowering;
    const struct lower_parameter *scalar = part->kind == DSL_NAME ? lower_parameter_find(lowering, part->name) : NULL;
    const struct lower_buffer *buffer = NULL;
    if (part->kind == DSL_CALL && part->operation && strcmp(part->operation->name, "extract_scalar") == 0) {
        const struct dsl_expr *from = call_argument(part, "from");
        buffer = lower_buffer_of(lowering, from);
        scalar = buffer ? NULL : lower_tensor_of(lowering, from);
    } else if (scalar && scalar->source != LOWER_SCALAR) {
        scalar = NULL;
    }
    if ((!buffer && !scalar) || read->found)
        return;
    read->type = buffer ? buffer->type : scalar->elements;
    read->found = true;
}

static void see_elements(struct element_read *read, const struct dsl_block *block, const char *name)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME &&
            strcmp(statement->target->name, name) == 0)
            tree_visit(statement->value, see_element, read);
        see_elements(read, &statement->body, name);
        see_elements(read, &statement->orelse, name);
    }
}

/* A number that comes from elements is what they are. */
static const char *number_type(struct emit *emit, const char *name)
{
    struct element_read read = {.lowering = emit->lowering};
    see_elements(&read, lower_kernel(emit->lowering), name);
    return read.found ? emit_number_type(emit, &read.type) : "float";
}

const char *emit_field_type(const struct lowering *lowering, const struct lower_parameter *parameter)
{
    struct element_read read = {.lowering = lowering};
    if (parameter->type != DSL_TYPE_NUMBER)
        return parameter->type == DSL_TYPE_REAL ? "float" : "int64_t";
    see_elements(&read, lower_kernel(lowering), parameter->name);
    bool integers = read.found;
    for (int c = 0; integers && c < lowering->opdef->combinations; c++)
        integers = !task_is_float(lower_type_in(&read.type, c));
    return integers ? "int64_t" : "float";
}

const char *emit_type(struct emit *emit, const struct dsl_symbol *symbol)
{
    switch (symbol->type) {
    case DSL_TYPE_BOOL:
        return "bool";
    case DSL_TYPE_REAL:
        return emit->host ? "double" : "float";
    case DSL_TYPE_NUMBER:
        return emit->host ? "double" : number_type(emit, symbol->name);
    case DSL_TYPE_INTS:
        return "std::vector<int64_t>";
    default:
        return "int64_t";
    }
}

static bool natural(const struct emit *emit, const struct dsl_expr *expr, int deep);

/* x.shape, a part of it, or a parameter of the kernel that is given one. */
static bool is_shape(const struct emit *emit, const struct dsl_expr *expr)
{
    while (expr->kind == DSL_INDEX)
        expr = expr->items[0];
    if (expr->kind == DSL_ATTRIBUTE)
        return strcmp(expr->name, "shape") == 0;
    const struct lower_parameter *parameter =
        expr->kind == DSL_NAME && !emit->host ? lower_parameter_find(emit->lowering, expr->name) : NULL;
    bool list = parameter && parameter->type == DSL_TYPE_INTS;
    return list && ((parameter->argument->kind == DSL_ATTRIBUTE && strcmp(parameter->argument->name, "shape") == 0) ||
                    parameter->argument->kind == DSL_CALL); /* the numbers of elements of a list */
}

/* Whether every value that the function gives the name is natural. */
static bool natural_assignments(const struct emit *emit, const struct dsl_block *block, const char *name, int deep,
                                bool *assigned)
{
    bool all = true;
    for (int i = 0; all && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *target = statement->target, *value = statement->value;
        if (target && target->kind == DSL_NAME && strcmp(target->name, name) == 0) {
            *assigned = true;
            bool range = statement->kind == DSL_FOR && value->kind == DSL_CALL && expr_is(value->items[0], "", "range");
            if (range)
                all = (value->count == 2 || natural(emit, value->items[1], deep + 1)) &&
                      (value->count < 4 || natural(emit, value->items[3], deep + 1));
            else
                all = statement->kind == DSL_ASSIGN &&
                      (statement->op == DSL_NO_OPERATOR || statement->op == DSL_ADD || statement->op == DSL_MULTIPLY ||
                       statement->op == DSL_FLOOR_DIVIDE) &&
                      natural(emit, value, deep + 1);
        } else if (target && tree_mentions(target, name)) { /* a part of a shape */
            *assigned = true;
            bool each = target->kind == DSL_TUPLE && value->kind == DSL_TUPLE;
            for (int part = 0; each && all && part < target->count; part++)
                all = !tree_mentions(target->items[part], name) || natural(emit, value->items[part], deep + 1);
            all = all && (each || is_shape(emit, value));
        }
        all = all && natural_assignments(emit, &statement->body, name, deep, assigned) &&
              natural_assignments(emit, &statement->orelse, name, deep, assigned);
    }
    return all;
}

static bool find_natural(const struct emit *emit, const char *name, int deep)
{
    const struct dsl_program *program = emit->lowering->program;
    struct emit host = *emit;
    bool assigned = false;
    if (emit_is_constant(emit, name))
        return natural_assignments(emit, &program->tree->body, name, deep, &assigned) && assigned;
    const struct lower_parameter *parameter = emit->host ? NULL : lower_parameter_find(emit->lowering, name);
    const struct dsl_block *block = emit->host ? &program->host->body : &program->kernel->body;
    bool all = natural_assignments(emit, block, name, deep, &assigned);
    host.host = true;
    host.names = &program->host_names;
    if (parameter)
        return all && parameter->source == LOWER_FIELD && natural(&host, parameter->argument, deep + 1);
    return all && assigned;
}

static bool natural_name(const struct emit *emit, const char *name, int deep)
{
    struct dsl_symbol *symbol = dsl_scope_find(emit->names, name);
    if (symbol && (symbol->natural > 0 || (symbol->natural < 0 && -symbol->natural <= deep + 1)))
        return symbol->natural > 0;
    bool natural = find_natural(emit, name, deep);
    if (symbol)
        symbol->natural = (signed char)(natural ? 1 : -(deep + 1));
    return natural;
}

static bool natural_call(const struct emit *emit, const struct dsl_expr *call, int deep)
{
    const struct dsl_expr *function = call->items[0];
    static const char *const counts[] = {"numel",        "dim",           "size",           "len",     "program_id",
                                         "num_programs", "num_vec_cores", "num_cube_cores", "ub_size", "pitch"};
    bool any = false, all = true;
    for (size_t i = 0; function->name && i < sizeof counts / sizeof *counts; i++)
        if (strcmp(function->name, counts[i]) == 0)
            return true;
    for (int i = 1; i < call->count; i++) {
        bool one = natural(emit, call->items[i], deep + 1);
        any |= one;
        all &= one;
    }
    if (!function->name)
        return false;
    return strcmp(function->name, "max") == 0
               ? any
               : all && (strcmp(function->name, "min") == 0 || strcmp(function->name, "cdiv") == 0 ||
                         strcmp(function->name, "int") == 0);
}

static bool natural(const struct emit *emit, const struct dsl_expr *expr, int deep)
{
    if (!expr || deep > DEEP)
        return false;
    switch (expr->kind) {
    case DSL_INT:
    case DSL_TRUE:
    case DSL_FALSE:
        return true;
    case DSL_REAL:
        return expr->real >= 0;
    case DSL_NAME:
        return natural_name(emit, expr->name, deep);
    case DSL_BINARY:
        if (dsl_operator_level(expr->op) <= dsl_operator_level(DSL_EQUAL))
            return true;
        if (expr->op == DSL_REMAINDER)
            return natural(emit, expr->items[1], deep + 1);
        return expr->op != DSL_SUBTRACT && natural(emit, expr->items[0], deep + 1) &&
               natural(emit, expr->items[1], deep + 1);
    case DSL_CHOICE:
        return natural(emit, expr->items[0], deep + 1) && natural(emit, expr->items[2], deep + 1);
    case DSL_CALL:
        return natural_call(emit, expr, deep);
    case DSL_INDEX:
        return is_shape(emit, expr->items[0]);
    case DSL_ATTRIBUTE:
        return strcmp(expr->name, "ndim") == 0;
    default:
        return false;
    }
}

bool emit_is_natural(const struct emit *emit, const struct dsl_expr *expr)
{
    return natural(emit, expr, 0);
}

static void refuse(struct emit *emit, const struct dsl_expr *expr, const char *what)
{
    emit->good = LOWER_FAIL(emit->lowering, expr->place, DSL_RULE_not_compiled, NULL, "%s", what);
}

static bool is_integer(const struct dsl_expr *expr)
{
    return expr->type == DSL_TYPE_INT || expr->type == DSL_TYPE_BOOL;
}

/* NAME(a, b) with an aid. */
static void emit_aid(struct emit *emit, enum emit_aid aid, const char *name, const struct dsl_expr *a,
                     const struct dsl_expr *b)
{
    emit->aids[aid] = true;
    text_addf(emit->out, "%s(", name);
    emit_expr(emit, a, 0);
    text_add(emit->out, ", ");
    emit_expr(emit, b, 0);
    text_add(emit->out, ")");
}

static void emit_division(struct emit *emit, const struct dsl_expr *expr)
{
    const struct dsl_expr *a = expr->items[0], *b = expr->items[1];
    int level = dsl_operator_level(expr->op);
    bool integers = is_integer(a) && is_integer(b);
    if (expr->op == DSL_DIVIDE && integers) {
        text_addf(emit->out, "static_cast<%s>(", emit->host ? "double" : "float");
        emit_expr(emit, a, 0);
        text_add(emit->out, ") / ");
        emit_expr(emit, b, level + 1);
    } else if (expr->op == DSL_DIVIDE || (integers && emit_is_natural(emit, a) && emit_is_natural(emit, b))) {
        emit_expr(emit, a, level);
        text_add(emit->out, expr->op == DSL_REMAINDER ? " % " : " / ");
        emit_expr(emit, b, level + 1);
    } else if (integers) {
        bool remainder = expr->op == DSL_REMAINDER;
        emit->aids[AID_FLOOR_DIV] = true;
        emit_aid(emit, remainder ? AID_FLOOR_MOD : AID_FLOOR_DIV, remainder ? "FloorMod" : "FloorDiv", a, b);
    } else if (expr->op == DSL_FLOOR_DIVIDE && emit->host) {
        text_add(emit->out, "std::floor(");
        emit_expr(emit, a, level);
        text_add(emit->out, " / ");
        emit_expr(emit, b, level + 1);
        text_add(emit->out, ")");
    } else {
        refuse(emit, expr, "'//' and '%' of real numbers");
    }
}

static void emit_power(struct emit *emit, const struct dsl_expr *expr)
{
    const struct dsl_expr *a = expr->items[0], *b = expr->items[1];
    enum { MOST = 4 };
    if (b->kind == DSL_INT && b->integer >= 1 && b->integer <= MOST) {
        for (int64_t i = 0; i < b->integer; i++) {
            text_add(emit->out, i ? " * " : "(");
            emit_expr(emit, a, dsl_operator_level(DSL_POWER));
        }
        text_add(emit->out, ")");
    } else if (emit->host) {
        text_add(emit->out, is_integer(expr) ? "static_cast<int64_t>(std::pow(" : "std::pow(");
        emit_expr(emit, a, 0);
        text_add(emit->out, ", ");
        emit_expr(emit, b, 0);
        text_add(emit->out, is_integer(expr) ? "))" : ")");
    } else {
        refuse(emit, expr, "'**' with an exponent that is no small number: compute it in the host function");
    }
}

/* Comparisons with None and of data types, which the part that is printed knows. */
static bool emit_question(struct emit *emit, const struct dsl_expr *expr)
{
    return emit->host ? emit_host_part(emit, expr) : emit_kernel_part(emit, expr);
}

static void emit_cast(struct emit *emit, const char *type, const struct dsl_expr *expr);

static bool is_literal(const struct dsl_expr *expr)
{
    return expr->kind == DSL_INT || (expr->kind == DSL_UNARY && expr->items[0]->kind == DSL_INT);
}

static void emit_binary(struct emit *emit, const struct dsl_expr *expr)
{
    static const char *const words[] = {[DSL_OR] = "||", [DSL_AND] = "&&"};
    int level = dsl_operator_level(expr->op);
    switch (expr->op) {
    case DSL_DIVIDE:
    case DSL_FLOOR_DIVIDE:
    case DSL_REMAINDER:
        emit_division(emit, expr);
        return;
    case DSL_POWER:
        emit_power(emit, expr);
        return;
    default:
        break;
    }
    bool question = expr->op == DSL_IS || expr->op == DSL_IS_NOT || expr->items[0]->type == DSL_TYPE_DTYPE;
    if (question && !emit_question(emit, expr))
        refuse(emit, expr, "this question has no answer in Ascend C yet");
    if (question)
        return;
    bool comparison = level == dsl_operator_level(DSL_EQUAL), bits = level > 4 && level < 9;
    const char *word = expr->op <= DSL_AND ? words[expr->op] : dsl_operator_text(expr->op);
    if (is_literal(expr->items[0]) && is_literal(expr->items[1]) && !comparison && level > 4) {
        emit_cast(emit, "int64_t", expr->items[0]); /* C++ computes literals in 32 bits */
        text_addf(emit->out, " %s ", word);
        emit_expr(emit, expr->items[1], level + 1);
        return;
    }
    /* C++ reads & | ^ << >> beside comparisons and sums otherwise: their operands are put in brackets */
    emit_expr(emit, expr->items[0], bits ? DSL_PRIMARY_LEVEL : level + comparison);
    text_addf(emit->out, " %s ", word);
    emit_expr(emit, expr->items[1], bits ? DSL_PRIMARY_LEVEL : level + 1);
}

static void emit_extreme(struct emit *emit, const struct dsl_expr *call, bool smaller, int from)
{
    const char *name = smaller ? "Min" : "Max";
    emit->aids[smaller ? AID_MIN : AID_MAX] = true;
    if (from + 1 == call->count) {
        emit_expr(emit, call->items[from], 0);
        return;
    }
    bool real = call->type == DSL_TYPE_REAL || call->type == DSL_TYPE_NUMBER;
    text_addf(emit->out, "%s%s(", name, real ? emit->host ? "<double>" : "<float>" : "<int64_t>");
    emit_expr(emit, call->items[from], 0);
    text_add(emit->out, ", ");
    emit_extreme(emit, call, smaller, from + 1);
    text_add(emit->out, ")");
}

static void emit_infinity(struct emit *emit, const char *text)
{
    const char *type = emit->host ? "double" : "float";
    bool negative = *text == '-';
    text += negative || *text == '+';
    if (strncmp(text, "inf", 3) == 0 && emit->host)
        text_addf(emit->out, "%sstd::numeric_limits<%s>::infinity()", negative ? "-" : "", type);
    else if (strncmp(text, "inf", 3) == 0)
        text_addf(emit->out, "%s__builtin_inff()", negative ? "-" : "");
    else if (strncmp(text, "nan", 3) == 0)
        text_add(emit->out, emit->host ? "std::numeric_limits<double>::quiet_NaN()" : "__builtin_nanf(\"\")");
    else
        text_addf(emit->out, "%s%s", text, emit->host ? "" : "f");
}

/* math.pi and so on. False: it is none. */
static bool emit_math(struct emit *emit, const struct dsl_expr *expr)
{
    if (expr->kind != DSL_ATTRIBUTE || !expr_is(expr->items[0], "", "math"))
        return false;
    if (strcmp(expr->name, "pi") == 0)
        text_add(emit->out, emit->host ? "3.14159265358979323846" : "3.14159265f");
    else if (strcmp(expr->name, "e") == 0)
        text_add(emit->out, emit->host ? "2.71828182845904523536" : "2.71828183f");
    else
        emit_infinity(emit, expr->name);
    return true;
}

static void emit_cast(struct emit *emit, const char *type, const struct dsl_expr *expr)
{
    text_addf(emit->out, "static_cast<%s>(", type);
    emit_expr(emit, expr, 0);
    text_add(emit->out, ")");
}

static void emit_function(struct emit *emit, const char *name, const struct dsl_expr *call)
{
    text_addf(emit->out, "%s(", name);
    for (int i = 1; i < call->count; i++) {
        text_add(emit->out, i > 1 ? ", " : "");
        emit_expr(emit, call->items[i], 0);
    }
    text_add(emit->out, ")");
}

/* floor() and ceil(), of math integers, of tl real numbers. False: the call is another. */
static bool emit_whole(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    for (int up = 0; up < 2; up++) {
        const char *name = up ? "ceil" : "floor";
        bool integer = expr_is(function, "math", name);
        if (!integer && !expr_is(function, "tl", name))
            continue;
        emit->aids[AID_FLOOR_OF] |= !emit->host;
        text_add(emit->out, integer ? "static_cast<int64_t>(" : "");
        text_addf(emit->out, emit->host ? "std::%s(" : up ? "-FloorOf(-(" : "FloorOf(", name);
        emit_expr(emit, call->items[1], 0);
        text_add(emit->out, up && !emit->host ? "))" : ")");
        text_add(emit->out, integer ? ")" : "");
        return true;
    }
    return false;
}

/* A call of Python's or of math. False: it is none. */
static bool emit_python_call(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    static const char *const math[] = {"sqrt", "exp", "log", "log2", "pow"};
    bool smaller = expr_is(function, "", "min") || expr_is(function, "tl", "min");
    if (smaller || expr_is(function, "", "max") || expr_is(function, "tl", "max")) {
        emit_extreme(emit, call, smaller, 1);
        return true;
    }
    if (expr_is(function, "", "int") || expr_is(function, "", "bool")) {
        emit_cast(emit, expr_is(function, "", "int") ? "int64_t" : "bool", call->items[1]);
        return true;
    }
    if (expr_is(function, "", "float")) {
        if (call->items[1]->kind == DSL_TEXT)
            emit_infinity(emit, call->items[1]->name);
        else
            emit_cast(emit, emit->host ? "double" : "float", call->items[1]);
        return true;
    }
    if (emit_whole(emit, call))
        return true;
    for (int i = 0; i < 2 && !emit->host; i++)
        if (expr_is(function, i ? "tl" : "math", "exp") || expr_is(function, i ? "tl" : "math", "log")) {
            bool exp = function->name[0] == 'e';
            emit->aids[exp ? AID_EXP_OF : AID_LN_OF] = true;
            text_addf(emit->out, "%s(scalarBuffer, ", exp ? "ExpOf" : "LnOf");
            emit_expr(emit, call->items[1], 0);
            text_add(emit->out, ")");
            return true;
        }
    for (size_t i = 0; i < sizeof math / sizeof *math; i++) {
        bool known = expr_is(function, "math", math[i]) || expr_is(function, "tl", math[i]);
        if (known && (emit->host || i == 0)) {
            emit_function(emit, arena_printf(emit->lowering->arena, "%s%s", emit->host ? "std::" : "", math[i]), call);
            return true;
        }
    }
    if (expr_is(function, "", "abs") || expr_is(function, "tl", "abs")) {
        text_add(emit->out, "(");
        emit_expr(emit, call->items[1], dsl_operator_level(DSL_LESS) + 1);
        text_add(emit->out, " < 0 ? -(");
        emit_expr(emit, call->items[1], 0);
        text_add(emit->out, ") : ");
        emit_expr(emit, call->items[1], 0);
        text_add(emit->out, ")");
        return true;
    }
    return false;
}

static void emit_call(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    if (emit_python_call(emit, call))
        return;
    if (expr_is(function, "tl", "pitch")) {
        emit->aids[AID_CEIL_DIV] = true;
        text_add(emit->out, "CeilDiv(");
        emit_expr(emit, call->items[1], 0);
        text_addf(emit->out, ", %d) * %d", DSL_PITCH, DSL_PITCH);
    } else if (expr_is(function, "tl", "cdiv"))
        emit_aid(emit, AID_CEIL_DIV, "CeilDiv", call->items[1], call->items[2]);
    else if (emit->host ? !emit_host_call(emit, call) : !emit_kernel_call(emit, call))
        refuse(emit, call, "this call has no counterpart in Ascend C yet");
}

/* The digits of a number as C++ reads them: Python's may be in groups. */
static const char *plain_digits(struct emit *emit, const char *digits)
{
    char *plain = arena_strdup(emit->lowering->arena, digits), *to = plain;
    for (const char *c = digits; *c; c++)
        if (*c != '_')
            *to++ = *c;
    *to = '\0';
    return plain;
}

/* A number that float has no room for is an infinity in the kernel. */
static void emit_real(struct emit *emit, const struct dsl_expr *expr)
{
    const char *digits = plain_digits(emit, expr->digits);
    if (!emit->host && isinf((float)expr->real))
        emit_infinity(emit, "inf");
    else
        text_addf(emit->out, "%s%s%s", digits, strpbrk(digits, ".eE") ? "" : ".0", emit->host ? "" : "f");
}

/* A text as a literal of C++. */
static void emit_text(struct emit *emit, const char *text)
{
    text_add(emit->out, "\"");
    for (; *text; text++)
        if (strchr("\\\"?", *text) || (unsigned char)*text < ' ')
            text_addf(emit->out, "\\%03o", (unsigned)(unsigned char)*text);
        else
            text_append(emit->out, text, 1);
    text_add(emit->out, "\"");
}

/* How tightly what is printed for an expression binds. */
static int level_of(const struct dsl_expr *expr)
{
    if (expr->kind == DSL_CHOICE)
        return 0;
    if (expr->kind == DSL_UNARY)
        return dsl_operator_level(DSL_NEGATE);
    bool function = expr->kind == DSL_BINARY && (expr->op == DSL_POWER || expr->op == DSL_IS || expr->op == DSL_IS_NOT);
    return expr->kind == DSL_BINARY && !function ? dsl_operator_level(expr->op) : DSL_PRIMARY_LEVEL;
}

static void emit_inner(struct emit *emit, const struct dsl_expr *expr)
{
    switch (expr->kind) {
    case DSL_INT:
        text_add(emit->out, plain_digits(emit, expr->digits));
        break;
    case DSL_REAL:
        emit_real(emit, expr);
        break;
    case DSL_TRUE:
    case DSL_FALSE:
        text_add(emit->out, expr->kind == DSL_TRUE ? "true" : "false");
        break;
    case DSL_TEXT:
        emit_text(emit, expr->name);
        break;
    case DSL_NAME:
        text_add(emit->out, emit_name(emit, expr->name));
        break;
    case DSL_UNARY:
        text_add(emit->out, expr->op == DSL_NOT ? "!" : "-");
        emit_expr(emit, expr->items[0], DSL_PRIMARY_LEVEL);
        break;
    case DSL_BINARY:
        emit_binary(emit, expr);
        break;
    case DSL_CHOICE:
        emit_expr(emit, expr->items[1], 1);
        text_add(emit->out, " ? ");
        emit_expr(emit, expr->items[0], 1);
        text_add(emit->out, " : ");
        emit_expr(emit, expr->items[2], 1);
        break;
    case DSL_CALL:
        emit_call(emit, expr);
        break;
    case DSL_INDEX:
    case DSL_ATTRIBUTE:
    case DSL_TUPLE:
    case DSL_LIST:
        if (!emit_math(emit, expr) && (emit->host ? !emit_host_part(emit, expr) : !emit_kernel_part(emit, expr)))
            refuse(emit, expr, "this has no counterpart in Ascend C yet");
        break;
    default:
        refuse(emit, expr, "this has no counterpart in Ascend C yet");
    }
}

void emit_expr(struct emit *emit, const struct dsl_expr *expr, int level)
{
    bool brackets = level_of(expr) < level;
    text_add(emit->out, brackets ? "(" : "");
    emit_inner(emit, expr);
    text_add(emit->out, brackets ? ")" : "");
}

const char *emit_expr_text(struct emit *emit, const struct dsl_expr *expr)
{
    struct text text = {0}, *out = emit->out;
    emit->out = &text;
    emit_expr(emit, expr, 0);
    emit->out = out;
    return text_keep(&text, emit->lowering->arena);
}
