/* Recursive descent:
 *   choice  = compare [ '?' choice ':' choice ]        compare = sum [ (< <= > >= == !=) sum ]
 *   sum     = product { (+ -) product }                product = power { (* /) power }
 *   power   = unary [ '**' power ]                     unary   = '-' unary | atom
 *   atom    = number | name | function '(' choice { ',' choice } ')' | '(' choice ')' */
#include "task/expr/formula.h"
#include "task/reference/reference.h"
#include "task/task_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

enum node_kind { NODE_NUMBER, NODE_INPUT, NODE_ATTR, NODE_FUNCTION, NODE_OPERATOR, NODE_CHOICE };
struct formula {
    enum node_kind kind;
    int index; /* of the input, the attribute or the function; the operator's character */
    double number;
    struct formula *parts[3];
};

/* Functions and operators. */
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double sign(double x)
{
    return isnan(x) ? x : (x > 0) - (x < 0);
}

/* As torch.minimum and torch.maximum: nan wins. */
static double least(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

static double greatest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static const struct {
    const char *name;
    double (*unary)(double);
    double (*binary)(double, double);
} functions[] = {
    {"abs", fabs, NULL},   {"sqrt", sqrt, NULL},    {"exp", exp, NULL},     {"expm1", expm1, NULL},
    {"log", log, NULL},    {"log1p", log1p, NULL},  {"log2", log2, NULL},   {"sin", sin, NULL},
    {"cos", cos, NULL},    {"tan", tan, NULL},      {"asin", asin, NULL},   {"acos", acos, NULL},
    {"atan", atan, NULL},  {"sinh", sinh, NULL},    {"cosh", cosh, NULL},   {"tanh", tanh, NULL},
    {"erf", erf, NULL},    {"erfc", erfc, NULL},    {"floor", floor, NULL}, {"ceil", ceil, NULL},
    {"round", rint, NULL}, {"trunc", trunc, NULL},  {"sign", sign, NULL},   {"sigmoid", sigmoid, NULL},
    {"min", NULL, least},  {"max", NULL, greatest},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *formula_functions(struct arena *arena)
{
    const char *names = "";
    for (int i = 0; i < FUNCTIONS; i++)
        names = arena_printf(arena, "%s%s%s", names, i ? " " : "", functions[i].name);
    return names;
}

static double operate(int operator, double a, double b)
{
    switch (operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case '^':
        return pow(a, b);
    case '<':
        return a < b;
    case '>':
        return a > b;
    case 'l':
        return a <= b;
    case 'g':
        return a >= b;
    case '=':
        return a == b;
    default:
        return a != b;
    }
}

double formula_value(const struct formula *f, enum akgen_dtype steps, const double *inputs, const double *attrs)
{
    double a, b;
    switch (f->kind) {
    case NODE_NUMBER:
        return f->number;
    case NODE_INPUT:
        return inputs[f->index];
    case NODE_ATTR:
        return attrs[f->index];
    case NODE_CHOICE:
        return formula_value(f->parts[formula_value(f->parts[0], steps, inputs, attrs) != 0 ? 1 : 2], steps, inputs,
                             attrs);
    case NODE_FUNCTION:
        a = formula_value(f->parts[0], steps, inputs, attrs);
        if (functions[f->index].unary)
            return reference_round(steps, functions[f->index].unary(a));
        return functions[f->index].binary(a, formula_value(f->parts[1], steps, inputs, attrs));
    case NODE_OPERATOR:
        a = formula_value(f->parts[0], steps, inputs, attrs);
        b = formula_value(f->parts[1], steps, inputs, attrs);
        return reference_round(steps, operate(f->index, a, b));
    }
    abort();
}

bool formula_uses(const struct formula *f, int index)
{
    bool uses = f->kind == NODE_INPUT && f->index == index;
    for (int i = 0; i < 3; i++)
        uses = uses || (f->parts[i] && formula_uses(f->parts[i], index));
    return uses;
}

/* Parsing. */
struct parser {
    struct arena *arena;
    const char *text, *at;
    const struct task *task;
    int depth;
    struct akgen_error *error; /* the first */
};

static struct formula *parse_choice(struct parser *p);

static struct formula *node(struct parser *p, enum node_kind kind, int index, struct formula *a, struct formula *b)
{
    struct formula *made = arena_alloc(p->arena, sizeof *made);
    *made = (struct formula){kind, index, 0, {a, b, NULL}};
    return made;
}

/* Keeps the first error; parsing goes on with a number, so that no caller has to look. */
static struct formula *stop(struct parser *p, struct akgen_error *error)
{
    if (p->error)
        error_free(error);
    else
        p->error = error;
    p->at = p->text + strlen(p->text);
    return node(p, NODE_NUMBER, 0, NULL, NULL);
}

static bool take(struct parser *p, const char *word)
{
    p->at += strspn(p->at, " \t\n");
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static struct formula *expected(struct parser *p, const char *what)
{
    return stop(p, error_new("expected %s at '%s' in \"%s\"", what, *p->at ? p->at : "the end", p->text));
}

static struct formula *parse_function(struct parser *p, const char *name)
{
    int index = 0;
    while (index < FUNCTIONS && strcmp(functions[index].name, name) != 0)
        index++;
    if (index == FUNCTIONS)
        return stop(p, error_new("there is no function '%s'; there are %s", name, formula_functions(p->arena)));
    struct formula *a = parse_choice(p), *b = NULL;
    if (functions[index].binary) {
        if (!take(p, ","))
            return expected(p, "',' and a second argument");
        b = parse_choice(p);
    }
    return take(p, ")") ? node(p, NODE_FUNCTION, index, a, b) : expected(p, "')'");
}

static struct formula *parse_name(struct parser *p)
{
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    const char *name = arena_strndup(p->arena, p->at, length), *known = "";
    p->at += length;
    if (take(p, "("))
        return parse_function(p, name);
    int input = task_input_index(p->task, name), attr = task_attr_index(p->task, name);
    if (input >= 0) {
        const struct task_param *param = &p->task->inputs[input];
        if (param->optional || param->kind == TASK_TENSOR_LIST || param->kind == TASK_SCALAR_LIST)
            return stop(p, error_new("input '%s' is optional or a list, a formula takes neither", name));
        return node(p, NODE_INPUT, input, NULL, NULL);
    }
    if (attr >= 0) {
        const char *type = p->task->attrs[attr].type;
        if (strcmp(type, "int") != 0 && strcmp(type, "float") != 0 && strcmp(type, "bool") != 0)
            return stop(p, error_new("attribute '%s' is a %s, a formula takes int, float and bool", name, type));
        return node(p, NODE_ATTR, attr, NULL, NULL);
    }
    for (int i = 0; i < p->task->input_count; i++)
        known = arena_printf(p->arena, "%s%s%s", known, *known ? ", " : "", p->task->inputs[i].name);
    for (int i = 0; i < p->task->attr_count; i++)
        known = arena_printf(p->arena, "%s%s%s", known, *known ? ", " : "", p->task->attrs[i].name);
    return stop(p, error_new("'%s' is no input or attribute; there are %s", name, known));
}

static struct formula *parse_atom(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p);
    if (take(p, "(")) {
        struct formula *inner = parse_choice(p);
        return take(p, ")") ? inner : expected(p, "')'");
    }
    if (!isdigit((unsigned char)*p->at) && *p->at != '.')
        return expected(p, "a number, a name or '('");
    char *end;
    struct formula *number = node(p, NODE_NUMBER, 0, NULL, NULL);
    number->number = strtod(p->at, &end);
    if (end == p->at)
        return expected(p, "a number");
    p->at = end;
    return number;
}

static struct formula *parse_unary(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return stop(p, error_new("more than %d nested parts", MAX_DEPTH));
    struct formula *part;
    if (take(p, "-"))
        part = node(p, NODE_OPERATOR, '-', node(p, NODE_NUMBER, 0, NULL, NULL), parse_unary(p));
    else {
        part = parse_atom(p);
        if (take(p, "**"))
            part = node(p, NODE_OPERATOR, '^', part, parse_unary(p));
    }
    p->depth--;
    return part;
}

static struct formula *parse_product(struct parser *p)
{
    struct formula *left = parse_unary(p);
    for (;;)
        if (take(p, "*"))
            left = node(p, NODE_OPERATOR, '*', left, parse_unary(p));
        else if (take(p, "/"))
            left = node(p, NODE_OPERATOR, '/', left, parse_unary(p));
        else
            return left;
}

static struct formula *parse_sum(struct parser *p)
{
    struct formula *left = parse_product(p);
    for (;;)
        if (take(p, "+"))
            left = node(p, NODE_OPERATOR, '+', left, parse_product(p));
        else if (take(p, "-"))
            left = node(p, NODE_OPERATOR, '-', left, parse_product(p));
        else
            return left;
}

static struct formula *parse_choice(struct parser *p)
{
    static const struct {
        const char *sign;
        int operator;
    } comparisons[] = {{"<=", 'l'}, {">=", 'g'}, {"==", '='}, {"!=", '!'}, {"<", '<'}, {">", '>'}};
    struct formula *left = parse_sum(p);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (take(p, comparisons[i].sign)) {
            left = node(p, NODE_OPERATOR, comparisons[i].operator, left, parse_sum(p));
            break;
        }
    if (!take(p, "?"))
        return left;
    struct formula *choice = node(p, NODE_CHOICE, 0, left, parse_choice(p));
    if (!take(p, ":"))
        return expected(p, "':'");
    choice->parts[2] = parse_choice(p);
    return choice;
}

struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct task *task,
                                  struct formula **formula)
{
    struct parser p = {.arena = arena, .text = text, .at = text, .task = task};
    *formula = parse_choice(&p);
    p.at += strspn(p.at, " \t\n");
    if (*p.at)
        expected(&p, "the end or an operator");
    return p.error;
}

struct akgen_error *formula_fits(const struct task_instance *instance)
{
    const struct task *task = instance->task;
    for (int o = 0; o < task->output_count; o++)
        for (int i = 0; i < task->input_count && task->outputs[o].formula; i++) {
            int64_t wanted = instance->outputs[o].tensors[0].elements;
            int64_t found = instance->inputs[i].count ? instance->inputs[i].tensors[0].elements : 1;
            if (formula_uses(task->outputs[o].parsed_formula, i) && found != wanted && found != 1)
                return error_new(
                    "the formula of '%s' is elementwise: its input '%s' has %ld elements, expected %ld or 1",
                    task->outputs[o].name, task->inputs[i].name, (long)found, (long)wanted);
        }
    return NULL;
}
