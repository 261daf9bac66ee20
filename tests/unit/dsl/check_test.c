/* The checker: what names stand for and what expressions yield, and what is wrong with programs, where and by which rule. */
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

/* A program that is right; tests put something wrong into the place of one of its lines. */
static const char *const right[] = {
    "import tile.language as tl",                                                                   /* 1 */
    "LIMIT = 4096",                                                                                 /* 2 */
    "@ascend_kernel",                                                                               /* 3 */
    "def scale_kernel(x, y, total, per_core, tile, factor):",                                       /* 4 */
    "    pid = tl.program_id(0)",                                                                   /* 5 */
    "    start = pid * per_core",                                                                   /* 6 */
    "    x_ub = tl.alloc_ub(tile, dtype=tl.float32)",                                               /* 7 */
    "    y_ub = tl.alloc_ub((tile,), tl.float32)",                                                  /* 8 */
    "    total_sum = 0.0",                                                                          /* 9 */
    "    for at in range(start, min(start + per_core, total), tile):",                              /* 10 */
    "        offsets = at + tl.arange(0, tile)",                                                    /* 11 */
    "        mask = (offsets < total) & (offsets >= 0)",                                            /* 12 */
    "        with tl.copyin():",                                                                    /* 13 */
    "            tl.load(x + offsets, x_ub, mask=mask, other=0.0)",                                 /* 14 */
    "        with tl.compute():",                                                                   /* 15 */
    "            tl.vmul_scalar(y_ub, x_ub[0:tile], factor, count=min(tile, total))",               /* 16 */
    "            tl.reduce_sum(y_ub, y_ub + 8, x_ub)",                                              /* 17 */
    "            part = tl.extract_scalar(y_ub, 0)",                                                /* 18 */
    "            total_sum += part",                                                                /* 19 */
    "        with tl.copyout():",                                                                   /* 20 */
    "            tl.store(y + offsets, y_ub, mask)",                                                /* 21 */
    "def scale_host(x: torch.Tensor, y: torch.Tensor, factor: float = 2.0, axis=-1):",              /* 22 */
    "    rows, columns = x.shape",                                                                  /* 23 */
    "    total = x.numel() if len(x.shape) > 1 else rows * columns",                                /* 24 */
    "    cores = min(tl.num_vec_cores(), total)",                                                   /* 25 */
    "    if total == 0 or x.shape[axis] == 0:",                                                     /* 26 */
    "        return",                                                                               /* 27 */
    "    tile = LIMIT // x.size(-1)",                                                               /* 28 */
    "    assert tile > 0, 'rows are too long'",                                                     /* 29 */
    "    scale_kernel[cores](x, y, total, (total + cores - 1) // cores, tile=tile, factor=factor)", /* 30 */
};
enum { LINES = sizeof right / sizeof *right };

static const char *with_line(int line, const char *instead)
{
    struct text text = {0};
    for (int i = 0; i < LINES; i++)
        text_addf(&text, "%s\n", i + 1 == line ? instead : right[i]);
    const char *copy = arena_strdup(&arena, text.bytes);
    text_free(&text);
    return copy;
}

static struct dsl_program *checked(const char *text, struct dsl_messages *messages)
{
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), messages);
    return tree ? dsl_check(&arena, tree, messages) : NULL;
}

static enum dsl_type type_of_symbol(const struct dsl_scope *scope, const char *name)
{
    for (int i = 0; i < scope->count; i++)
        if (strcmp(scope->items[i]->name, name) == 0)
            return scope->items[i]->type;
    fail_msg("no %s", name);
    return DSL_TYPE_UNKNOWN;
}

static void test_types(void **state)
{
    (void)state;
    struct dsl_messages messages;
    const struct dsl_program *program = checked(with_line(0, NULL), &messages);
    if (!program)
        fail_msg("%s", messages.items[0].text);
    static const struct {
        const char *name;
        enum dsl_type type;
    } kernel[] = {{"x", DSL_TYPE_TENSOR},    {"y", DSL_TYPE_TENSOR},    {"total", DSL_TYPE_INT},
                  {"tile", DSL_TYPE_INT},    {"factor", DSL_TYPE_REAL}, {"pid", DSL_TYPE_INT},
                  {"x_ub", DSL_TYPE_BUFFER}, {"at", DSL_TYPE_INT},      {"offsets", DSL_TYPE_RANGE},
                  {"mask", DSL_TYPE_MASK},   {"part", DSL_TYPE_NUMBER}, {"total_sum", DSL_TYPE_NUMBER}},
      host[] = {{"x", DSL_TYPE_TENSOR},
                {"axis", DSL_TYPE_INT},
                {"rows", DSL_TYPE_INT},
                {"factor", DSL_TYPE_REAL},
                {"total", DSL_TYPE_INT}};
    for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        assert_int_equal(type_of_symbol(&program->kernel_names, kernel[i].name), kernel[i].type);
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        assert_int_equal(type_of_symbol(&program->host_names, host[i].name), host[i].type);
    assert_string_equal(program->kernel->function->name, "scale_kernel");
    assert_int_equal(program->launch->place.line, 30);
}

/* One line in another's place; the line of the message where that is another. */
static const struct {
    int line;
    const char *instead;
    int told;
    enum dsl_rule rule;
    const char *says;
} wrong[] = {
    {6, "    start = pit * per_core", 0, DSL_RULE_names, "did you mean 'pid'"},
    {6, "    start = start * 2", 0, DSL_RULE_names, "may have no value"},
    {6, "    if pid > 0: start = 1", 10, DSL_RULE_names, "may have no value"},
    {6, "    for start in range(pid): pass", 10, DSL_RULE_names, "may have no value"},
    {5, "    pid = tl.num_vec_cores()", 0, DSL_RULE_stages, "host function"},
    {25, "    cores = tl.program_id(0)", 0, DSL_RULE_stages, "kernel"},
    {7, "    x_ub = tl.alloc_ubs(tile, dtype=tl.float32)", 0, DSL_RULE_names, "no operation 'alloc_ubs'"},
    {7, "    x_ub = tl.alloc_ub(tile, dtype=tl.float33)", 0, DSL_RULE_names, "tl has no 'float33'"},
    {7, "    x_ub = tl.alloc_ub(tile)", 0, DSL_RULE_arguments, "lacks its argument 'dtype'"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, 3, 4)", 0, DSL_RULE_arguments, "at most 3"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, depth=5)", 0, DSL_RULE_arguments, "from 1 to 4"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, 0)", 0, DSL_RULE_arguments, "from 1 to 4"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, depth=tile)", 0, DSL_RULE_arguments, "from 1 to 4"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, length=3)", 0, DSL_RULE_arguments, "no 'length='"},
    {7, "    x_ub = tl.alloc_ub(tile, tl.float32, dtype=tl.float32)", 0, DSL_RULE_arguments, "'dtype=' twice"},
    {7, "    x_ub = tl.alloc_ub(tile, dtype=tl.float32, dtype=tl.float32)", 0, DSL_RULE_arguments, "'dtype=' twice"},
    {7, "    x_ub = tl.alloc_ub(tile / 2, tl.float32)", 0, DSL_RULE_types, "'//' divides integers"},
    {11, "        x_ub = tl.alloc_ub(tile, tl.float32)", 0, DSL_RULE_stages, "made once"},
    {11, "        offsets = at * tl.arange(0, tile) * tl.arange(0, tile)", 0, DSL_RULE_types, "no meaning between"},
    {12, "        mask = offsets < total and offsets >= 0", 0, DSL_RULE_types, "'&' and '|'"},
    {12, "        mask = offsets == total", 0, DSL_RULE_types, "no meaning between"},
    {13, "        with tl.compute():", 14, DSL_RULE_stages, "with tl.copyin():"},
    {14, "            tl.load(x + offsets, y, mask=mask)", 0, DSL_RULE_types, "tl.store(address, buffer)"},
    {14, "            tl.load(x_ub, x_ub, mask=mask)", 0, DSL_RULE_types, "'address' of tl.load is a tensor"},
    {14, "            tl.load_rows(x + offsets, x_ub, 1, 8, 8, 16)", 0, DSL_RULE_types, "is a tensor, with an offset"},
    {16, "            tl.vmul(y_ub, x, x_ub)", 0, DSL_RULE_types, "load it into a buffer"},
    {16, "            y_ub = x_ub * factor", 0, DSL_RULE_types, "computed by operations"},
    {16, "            z = tl.vsqrt(total_sum)", 0, DSL_RULE_arguments, "tl.sqrt(x)"},
    {16, "            z = tl.vabs(y_ub, x_ub)", 0, DSL_RULE_types, "yields nothing"},
    {16, "            tl.cast(y_ub, x_ub, round='floor')", 0, DSL_RULE_arguments, "'even', 'away', 'down'"},
    {16, "            y_ub[0] = 1.0", 0, DSL_RULE_types, "tl.set_scalar"},
    {16, "            x_ub", 0, DSL_RULE_types, "does nothing with it"},
    {16, "            with tl.copyin(): pass", 0, DSL_RULE_stages, "another stage"},
    {18, "            part = y_ub", 19, DSL_RULE_types, "computed by operations"},
    {19, "            at = x_ub", 0, DSL_RULE_types, "'at' is an integer in line 10 and a buffer here"},
    {20, "        with tl.copyou():", 0, DSL_RULE_stages, "opens tl.copyin()"},
    {20, "        if mask:", 0, DSL_RULE_types, "pass it as mask="},
    {9, "    return x_ub", 0, DSL_RULE_types, "tl.store"},
    {9, "    assert tile > 0", 0, DSL_RULE_not_in_the_language, "host function"},
    {9, "    break", 0, DSL_RULE_syntax, "in no loop"},
    {3, "# no decorator", 4, DSL_RULE_functions, "@ascend_kernel"},
    {2, "print(1)", 0, DSL_RULE_functions, "imports and constants"},
    {4, "def scale_kernel(x, y, total, per_core, tile, tile):", 0, DSL_RULE_names, "two parameters"},
    {22, "def scale_host(x: torch.Tensor, y: Tensors, factor: float = 2.0, axis=-1):", 0, DSL_RULE_types, "no type"},
    {22, "def scale_host(x: list[int], y: list[str], factor: float = 2.0, axis=-1):", 0, DSL_RULE_types, "'y' is"},
    {22, "def scale_host(x: torch.Tensor, y: int | str, factor: float = 2.0, axis=-1):", 0, DSL_RULE_types, "'y' is"},
    {22, "def scale_host(x: torch.Tensor, y: tl.constexpr, factor: float = 2.0, axis=-1):", 0, DSL_RULE_types,
     "'y' is a constant"},
    {22, "def scale_host(x: list[torch.Tensor], y: torch.Tensor, factor: float = 2.0, axis=-1):", 23, DSL_RULE_types,
     "a list of tensors has no 'shape'"},
    {22, "def scale_host(x: torch.Tensor, y: torch.Tensor, factor: float = 2.0, axis=factor):", 0, DSL_RULE_names,
     "may have no value"},
    {9, "    total_sum = 0.0 if x is None else 1.0", 0, DSL_RULE_types, "what is None"},
    {23, "    rows, columns = x.numel()", 0, DSL_RULE_types, "2 parts"},
    {23, "    rows, columns = 1, 2, 3", 0, DSL_RULE_types, "3 values for 2 names"},
    {23, "    rows, columns = x.shapes", 0, DSL_RULE_types, "no 'shapes'"},
    {24, "    total = x.shape - 1", 0, DSL_RULE_types, "len(x.shape)"},
    {24, "    total = x.count(1)", 0, DSL_RULE_types, "numel()"},
    {24, "    total = x[0]", 0, DSL_RULE_types, "tl.extract_scalar"},
    {30, "    scale_kernel[cores](x, y, total, 1, tile)", 0, DSL_RULE_launch, "nothing for the kernel's 'factor'"},
    {30, "    scale_kernel[cores](x, y, total, 1, tile, factor, 3)", 0, DSL_RULE_launch, "fewer parameters"},
    {30, "    scale_kernel[cores](x, y, total, 1, tile, factors=1)", 0, DSL_RULE_launch, "no parameter 'factors'"},
    {30, "    scale_kernel[cores / 2](x, y, total, 1, tile, factor)", 0, DSL_RULE_types, "not an integer"},
    {30, "    scale_kernel[cores](x, y, y, 1, tile, factor)", 10, DSL_RULE_types, "min does not take a tensor"},
    {30, "    for i in range(2): scale_kernel[1](x, y, total, 1, tile, factor)", 0, DSL_RULE_launch,
     "loop or a branch"},
    {30, "    pass", 22, DSL_RULE_launch, "launches nothing"},
    {28, "    tile = LIMIT // x.size(1.5)", 0, DSL_RULE_types, "number of an axis"},
    {28, "    tile = LIMIT // math.ceiling(2.5)", 0, DSL_RULE_names, "no operation 'ceiling'"},
    {28, "    tile = tl", 0, DSL_RULE_names, "is a module"},
    {28, "    for tile in range(len(x)): pass", 0, DSL_RULE_types, "len does not take a tensor"},
};

static void test_wrong(void **state)
{
    (void)state;
    int missing = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dsl_messages messages;
        assert_null(checked(with_line(wrong[i].line, wrong[i].instead), &messages));
        bool found = false;
        for (int m = 0; m < messages.kept; m++) {
            const struct dsl_message *message = &messages.items[m];
            found |=
                message->place.line == (wrong[i].told ? wrong[i].told : wrong[i].line) &&
                message->rule == wrong[i].rule &&
                (strstr(message->text, wrong[i].says) || (message->remedy && strstr(message->remedy, wrong[i].says)));
        }
        struct text text = {0};
        dsl_messages_print(&messages, &text);
        if (!found)
            print_error("%s\n%s", wrong[i].instead, text.bytes);
        text_free(&text);
        missing += !found;
    }
    assert_int_equal(missing, 0);
}

/* A mistake is told once, not at every line that it makes wrong. */
static void test_one_mistake(void **state)
{
    (void)state;
    struct dsl_messages messages;
    assert_null(checked(with_line(7, "    x_ub = tl.alloc_ub(tile, dtype=tl.float33)"), &messages));
    assert_int_equal(messages.count, 1);
    assert_null(checked(with_line(11, "        offsets = att + tl.arange(0, tile)"), &messages));
    assert_int_equal(messages.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_types, drop),
        cmocka_unit_test_teardown(test_wrong, drop),
        cmocka_unit_test_teardown(test_one_mistake, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
