/* The text of AscendDSL: trees, messages with place, rule and remedy, and what formatting makes of programs. */
#include "dsl/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static const struct dsl_tree *parsed(const char *text)
{
    struct dsl_messages messages;
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), &messages);
    for (int i = 0; i < messages.kept; i++)
        print_message("%d: %s\n", messages.items[i].place.line, messages.items[i].text);
    assert_non_null(tree);
    return tree;
}

/* An expression with every bracket written out. */
static void show(struct text *text, const struct dsl_expr *expr)
{
    static const char *const marks[] = {
        [DSL_TUPLE] = "tuple", [DSL_LIST] = "list",   [DSL_CHOICE] = "choice", [DSL_CALL] = "call",
        [DSL_INDEX] = "index", [DSL_SLICE] = "slice", [DSL_NAMED] = "="};
    if (!expr) {
        text_add(text, "_");
    } else if (!expr->count && expr->kind != DSL_TUPLE && expr->kind != DSL_LIST) {
        text_add(text, expr->digits             ? expr->digits
                       : expr->name             ? expr->name
                       : expr->kind == DSL_TRUE ? "True"
                                                : "None");
    } else {
        bool operation = expr->kind == DSL_UNARY || expr->kind == DSL_BINARY;
        const char *mark = operation                     ? dsl_operator_text(expr->op)
                           : expr->kind == DSL_ATTRIBUTE ? "."
                                                         : marks[expr->kind];
        text_addf(text, "(%s", mark);
        for (int i = 0; i < expr->count; i++) {
            text_add(text, " ");
            show(text, expr->items[i]);
        }
        text_addf(text, "%s%s)", expr->name ? " " : "", expr->name ? expr->name : "");
    }
}

static void assert_expr(const char *source, const char *expected)
{
    struct text text = {0};
    const struct dsl_tree *tree = parsed(source);
    assert_int_equal(tree->body.count, 1);
    show(&text, tree->body.items[0]->value);
    assert_string_equal(text.bytes, expected);
    text_free(&text);
}

static void test_expressions(void **state)
{
    (void)state;
    assert_expr("a + b * c - d", "(- (+ a (* b c)) d)");
    assert_expr("-x ** -y", "(- (** x (- y)))");
    assert_expr("a // b % c / d", "(/ (% (// a b) c) d)");
    assert_expr("not a == b and c or d", "(or (and (not (== a b)) c) d)");
    assert_expr("a < b <= c != d", "(and (and (< a b) (<= b c)) (!= c d))");
    assert_expr("a if b else c if d else e", "(choice a b (choice c d e))");
    assert_expr("x is not None", "(is not x None)");
    assert_expr("a << 1 | b & c ^ d", "(| (<< a 1) (^ (& b c) d))");
    assert_expr("tl.load(x + tl.arange(0, n), ub, mask=m)",
                "(call (. tl load) (+ x (call (. tl arange) 0 n)) ub (= m mask))");
    assert_expr("ub[:n], ub[i, 1:]", "(tuple (index ub (slice _ n)) (index ub (tuple i (slice 1 _))))");
    assert_expr("k[n](x, [1, 0x1F, 1_0, .5e-3], (), (a,))",
                "(call (index k n) x (list 1 0x1F 1_0 .5e-3) (tuple) (tuple a))");
    assert_expr("(a +  # first\n   b)", "(+ a b)");
    assert_expr("a + \\\n  b", "(+ a b)");
    assert_expr("'it''s' \"a\\\"b\"", "itsa\"b");
}

static void test_statements(void **state)
{
    (void)state;
    const struct dsl_tree *tree = parsed("from x import (a,\n  b)\n"
                                         "@ascend_kernel\n"
                                         "def k(x, n: int, eps: float = 1e-5) -> None:\n"
                                         "    \"\"\"Doc.\"\"\"\n"
                                         "    a, b = x.shape\n"
                                         "    a += 1\n"
                                         "    for i in range(a): b -= i\n"
                                         "    while b: break\n"
                                         "    if a: pass\n"
                                         "    elif b:\n"
                                         "        continue\n"
                                         "    else:\n"
                                         "        return\n"
                                         "    assert a == b, 'no'\n"
                                         "    # last\n");
    assert_int_equal(tree->body.count, 2);
    assert_string_equal(tree->body.items[0]->name, "from x import (a, b)");
    const struct dsl_statement *def = tree->body.items[1];
    assert_string_equal(def->function->name, "k");
    assert_string_equal(def->function->decorators[0]->name, "ascend_kernel");
    assert_int_equal(def->function->count, 3);
    assert_true(def->function->parameters[2].value->real == 1e-5);
    static const enum dsl_statement_kind kinds[] = {DSL_EXPRESSION, DSL_ASSIGN, DSL_ASSIGN, DSL_FOR,
                                                    DSL_WHILE,      DSL_IF,     DSL_ASSERT, DSL_REMARKS};
    assert_int_equal(def->body.count, sizeof kinds / sizeof *kinds);
    for (int i = 0; i < def->body.count; i++)
        assert_int_equal(def->body.items[i]->kind, kinds[i]);
    assert_int_equal(def->body.items[2]->op, DSL_ADD);
    assert_int_equal(def->body.items[3]->body.items[0]->op, DSL_SUBTRACT);
    const struct dsl_statement *branch = def->body.items[5];
    assert_true(branch->elif);
    assert_int_equal(branch->orelse.items[0]->body.items[0]->kind, DSL_CONTINUE);
    assert_int_equal(branch->orelse.items[0]->orelse.items[0]->kind, DSL_RETURN);
    assert_string_equal(def->body.items[7]->lead.items[0].text, "# last");
    assert_int_equal(def->body.items[4]->place.line, 9);
}

/* Wrong programs: the line, the rule, and something that the message or the remedy says. */
static const struct {
    const char *text;
    int line, column;
    enum dsl_rule rule;
    const char *says;
} wrong[] = {
    {"x = (1,\n  2", 2, 4, DSL_RULE_syntax, "',' or ')'"},
    {"x = 1 +\ny = 2", 1, 8, DSL_RULE_syntax, "expected an expression, found the end of the line"},
    {"def f(x:\n", 2, 1, DSL_RULE_syntax, "expected an expression"},
    {"if x:\ny = 1", 1, 1, DSL_RULE_indentation, "no indented line"},
    {"if x:\n    y = 1\n  z = 2", 3, 1, DSL_RULE_indentation, "indented by 2"},
    {"x = 1\n  y = 2", 2, 1, DSL_RULE_indentation, "belongs to no block"},
    {"if x:\n\ty = 1", 2, 1, DSL_RULE_indentation, "tabs"},
    {"try:\n    x = 1\nexcept Exception:\n    x = 2", 1, 1, DSL_RULE_not_in_the_language, "the one form that is right"},
    {"x = lambda: 1", 1, 5, DSL_RULE_not_in_the_language, "lambda"},
    {"x = [i for i in y]", 1, 8, DSL_RULE_not_in_the_language, "write a loop"},
    {"f(*a)", 1, 3, DSL_RULE_not_in_the_language, "name each argument"},
    {"f(a=1, 2)", 1, 8, DSL_RULE_syntax, "without a name"},
    {"a = b = 1", 1, 7, DSL_RULE_not_in_the_language, "a line for each name"},
    {"x = y[::2]", 1, 8, DSL_RULE_not_in_the_language, "stride="},
    {"for i in x:\n    pass\nelse:\n    pass", 3, 1, DSL_RULE_not_in_the_language, "a loop has no else"},
    {"x = f'{y}'", 1, 5, DSL_RULE_not_in_the_language, "plain text"},
    {"x = 'abc", 1, 5, DSL_RULE_syntax, "has no end"},
    {"x = 99999999999999999999", 1, 5, DSL_RULE_number, "too large"},
    {"x = 1e999", 1, 5, DSL_RULE_number, "too large"},
    {"x = 1abc", 1, 5, DSL_RULE_number, "no number"},
    {"x = 010", 1, 5, DSL_RULE_number, "no number"},
    {"import a.b(c", 1, 11, DSL_RULE_syntax, "the end of the line"},
    {"x = f(\nif x:\n    pass\n", 1, 7, DSL_RULE_syntax, "expected ')', found the end of the line"},
    {"x = f(1\ny = 2\n", 1, 8, DSL_RULE_syntax, "')'"},
    {"from a import (b\n", 1, 17, DSL_RULE_syntax, "')'"},
    {"from a b", 1, 8, DSL_RULE_syntax, "'import'"},
    {"x = $y", 1, 5, DSL_RULE_syntax, "'$'"},
    {"x = \xff", 1, 1, DSL_RULE_text, "UTF-8"},
    {"x\r = 1", 1, 1, DSL_RULE_text, "0x0d"},
    {"# \xc3\xa4\nx = '\xc3\xa4' + )", 2, 11, DSL_RULE_syntax, "found ')'"},
    {"gr\xc3\xb6\xc3\x9f = 1", 1, 3, DSL_RULE_syntax, "'\xc3\xb6' stands outside"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dsl_messages messages;
        assert_null(dsl_parse(&arena, "x.py", wrong[i].text, strlen(wrong[i].text), &messages));
        bool found = false;
        for (int m = 0; m < messages.kept; m++) {
            const struct dsl_message *message = &messages.items[m];
            const char *remedy = message->remedy ? message->remedy : "";
            found |= message->place.line == wrong[i].line && message->place.column == wrong[i].column &&
                     message->rule == wrong[i].rule &&
                     (strstr(message->text, wrong[i].says) || strstr(remedy, wrong[i].says));
        }
        if (!found) {
            struct text text = {0};
            dsl_messages_print(&messages, &text);
            fail_msg("%s\n%s", wrong[i].text, text.bytes);
        }
    }
}

static void test_several(void **state)
{
    (void)state;
    struct dsl_messages messages;
    static const char text[] = "x = )\nif a\n    b = ]\nc = 1 1\n";
    assert_null(dsl_parse(&arena, "x.py", text, sizeof text - 1, &messages));
    assert_int_equal(messages.count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(messages.items[i].place.line, i + 1);
}

/* A try is told once, with what it catches. */
static void test_try(void **state)
{
    (void)state;
    struct dsl_messages messages;
    static const char text[] = "try:\n    x = 1\nexcept A:\n    x = 2\nfinally:\n    x = 3\ny = 1\n";
    assert_null(dsl_parse(&arena, "x.py", text, sizeof text - 1, &messages));
    assert_int_equal(messages.count, 1);
}

static void test_limits(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    static const struct {
        const char *part, *first;
    } long_ones[] = {{"(", "x = "},
                     {"-", "x = "},
                     {"not ", "x = "},
                     {"a[", "x = "},
                     {"f(", "x = "},
                     {"1 if 1 else ", ""},
                     {"a.", "x = "},
                     {"2**", "x = "},
                     {"if a: ", ""},
                     {"1 + ", "x = "},
                     {"elif a:\n    b\n", "if a:\n    b\n"},
                     {"a, ", "x = "},
                     {"a = ", ""},
                     {"[", "x = "},
                     {"x()", ""}};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        struct text text = {0};
        struct dsl_messages messages;
        text_add(&text, long_ones[i].first);
        for (int n = 0; n < MANY && text.length < 1000000; n++)
            text_add(&text, long_ones[i].part);
        assert_null(dsl_parse(&arena, "x.py", text.bytes, text.length, &messages));
        assert_true(messages.kept > 0);
        text_free(&text);
        arena_free(&arena);
    }
    struct dsl_messages messages;
    struct text chains = {0}, blocks = {0}; /* long chains in brackets, each the first operand of the next */
    text_add(&chains, "x = ");
    for (int n = 0; n < 20; n++)
        text_add(&chains, "(");
    text_add(&chains, "1");
    for (int n = 0; n < 20; n++) {
        static const char *const links[] = {" + 1", " * 1", " | 1", "[1]"};
        for (int link = 3; link >= 0; link--)
            for (int i = 0; i < 60; i++)
                text_add(&chains, links[link == 3 ? 3 : (link + 1) % 3]);
        text_add(&chains, ")");
    }
    assert_null(dsl_parse(&arena, "x.py", chains.bytes, chains.length, &messages));
    assert_int_equal(messages.items[0].rule, DSL_RULE_depth);
    text_free(&chains);
    for (int n = 0; n < 100; n++)
        text_addf(&blocks, "%*sif a:\n", n, "");
    assert_null(dsl_parse(&arena, "x.py", blocks.bytes, blocks.length, &messages));
    assert_int_equal(messages.items[0].rule, DSL_RULE_depth);
    text_free(&blocks);
}

static void test_print(void **state)
{
    (void)state;
    struct dsl_messages messages;
    struct text text = {0};
    static const char source[] = "# \xc3\xa4\n'\xc3\xa4' + lambda: 1\n";
    assert_null(dsl_parse(&arena, "a.py", source, sizeof source - 1, &messages));
    dsl_messages_print(&messages, &text);
    assert_string_equal(text.bytes, "a.py:2:7: error: there is no lambda in AscendDSL [not-in-the-language]\n"
                                    "    '\xc3\xa4' + lambda: 1\n"
                                    "          ^~~~~~\n"
                                    "    fix: write the expression where it is used\n");
    text_free(&text);
    json_t *json = dsl_messages_json(&messages), *first = json_array_get(json, 0);
    assert_string_equal(json_string_value(json_object_get(first, "rule")), "not-in-the-language");
    assert_int_equal(json_integer_value(json_object_get(first, "line")), 2);
    assert_string_equal(json_string_value(json_object_get(first, "source")), "'\xc3\xa4' + lambda: 1");
    json_decref(json);
}

static void assert_formatted(const char *text, const char *expected)
{
    const char *once = dsl_format(&arena, parsed(text));
    assert_string_equal(once, expected);
    assert_string_equal(dsl_format(&arena, parsed(once)), expected);
}

static void test_format(void **state)
{
    (void)state;
    assert_formatted("", "");
    assert_formatted("# a\n\n\n# b\nx=1 # c\n", "# a\n\n# b\nx = 1  # c\n");
    assert_formatted("x = ((a+b))*c-(d-e)\n", "x = (a + b) * c - (d - e)\n");
    assert_formatted("x=-(a)**-b+(-c)**2\n", "x = -a**-b + (-c)**2\n");
    assert_formatted(
        "def f(a,b=1,c:int=2):\n  if a : return a,b\n  elif b:\n     pass\n  else :\n   x [1:,:n]=f( )\n"
        "y = 1\n",
        "def f(a, b=1, c: int = 2):\n    if a:\n        return a, b\n    elif b:\n        pass\n    else:\n"
        "        x[1:, :n] = f()\n\n\ny = 1\n");
    assert_formatted("k[n](x,  # input\n  # the rest\n  y, tile\n  )\n",
                     "k[n](\n    x,  # input\n    # the rest\n    y,\n    tile,\n)\n");
    assert_formatted("k[min(a, # one\n  b)](x) + f(y, # two\n  z)\n", "# one\n# two\nk[min(a, b)](x) + f(y, z)\n");
    assert_formatted(
        "f(g(x, # one\n  y), z=[ # two\n  1])\n",
        "f(\n    g(\n        x,  # one\n        y,\n    ),\n    z=[\n        # two\n        1,\n    ],\n)\n");
    assert_formatted("import a . b as c,d\nfrom e.f import(g , # one\n  h as i,)\nfrom j import *\n",
                     "import a.b as c, d\n# one\nfrom e.f import (g, h as i)\nfrom j import *\n");
    assert_formatted("x = (a + # why\n     b)\n", "# why\nx = a + b\n");
    assert_formatted("for i in range(3): # each\n  x = 1\n\n  # after x\n# outside\n",
                     "for i in range(3):  # each\n    x = 1\n\n    # after x\n# outside\n");
    assert_formatted("assert a, 'it\\'s \"b\"'\n", "assert a, \"it's \\\"b\\\"\"\n");
    assert_formatted("\"\"\"a\n  b\"\"\"\n", "\"\"\"a\n  b\"\"\"\n");
    assert_formatted(
        "a_long_name = first_operand_of_this * second_operand_of_this + third_operand_of_this * fourth_operand\n",
        "a_long_name = (\n    first_operand_of_this * second_operand_of_this +\n"
        "    third_operand_of_this * fourth_operand\n)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_expressions, drop), cmocka_unit_test_teardown(test_statements, drop),
        cmocka_unit_test_teardown(test_wrong, drop),       cmocka_unit_test_teardown(test_several, drop),
        cmocka_unit_test_teardown(test_try, drop),         cmocka_unit_test_teardown(test_limits, drop),
        cmocka_unit_test_teardown(test_print, drop),       cmocka_unit_test_teardown(test_format, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
