/* Operations on rows and columns of a buffer, and the sort: what they compute, what has no value after them, what stops them. */
#include "dsl/dsl.h"
#include "dsl/interpret.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* x is (ROWS, COLS); in a buffer its rows lie PITCH apart. */
enum { ROWS = 5, COLS = 19, PITCH = 32, OUT_MAX = 2048 };
static struct arena arena;
static float x[ROWS * COLS], y[OUT_MAX];

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* One core. a, b: matrices of PITCH x PITCH elements; v, w: of PITCH; k: as many int32. x is loaded into a. */
static bool run(const char *kernel, int64_t outputs, struct dsl_messages *messages)
{
    const char *text = arena_printf(&arena,
                                    "@ascend_kernel\n"
                                    "def k(x, y, rows, cols, pitch):\n"
                                    "    a = tl.alloc_ub(pitch * pitch, dtype=tl.float32)\n"
                                    "    b = tl.alloc_ub(pitch * pitch, dtype=tl.float32)\n"
                                    "    v = tl.alloc_ub(pitch, dtype=tl.float32)\n"
                                    "    w = tl.alloc_ub(pitch, dtype=tl.float32)\n"
                                    "    k = tl.alloc_ub(pitch, dtype=tl.int32)\n"
                                    "    h = tl.alloc_ub(pitch * pitch, dtype=tl.float16)\n"
                                    "    t = tl.alloc_ub(pitch, dtype=tl.bool)\n"
                                    "    with tl.copyin():\n"
                                    "        tl.load_rows(x, a, rows, cols, cols, pitch)\n"
                                    "%s"
                                    "def h(x: torch.Tensor, y: torch.Tensor):\n"
                                    "    k[1](x, y, x.shape[0], x.shape[1], tl.pitch(x.shape[1]))\n",
                                    kernel);
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, messages) : NULL;
    if (!program)
        return false;
    struct task_tensor in = {
        .type = AKGEN_FLOAT, .rank = 2, .dims = {ROWS, COLS}, .elements = ROWS * COLS, .values = x};
    struct task_tensor out = {.type = AKGEN_FLOAT, .rank = 1, .dims = {outputs}, .elements = outputs, .values = y};
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i * 37 % 101 - 50) / 4;
    memset(y, 0, sizeof y);
    const struct dsl_argument arguments[] = {{.tensors = &in, .given = true}, {.tensors = &out, .stored = true}};
    struct dsl_run run = {.vector_cores = 1, .cube_cores = 1, .ub_bytes = 16384, .arguments = arguments};
    return dsl_interpret(&arena, program, &run, messages);
}

static void runs(const char *kernel, int64_t outputs)
{
    struct dsl_messages messages;
    if (!run(kernel, outputs, &messages))
        fail_msg("line %d: %s", messages.items[0].place.line, messages.items[0].text);
}

#define COMPUTE   "    with tl.compute():\n        "
#define STORE     "    with tl.copyout():\n        tl.store_rows(y, b, rows, cols, cols, pitch)\n"
#define STORE_ROW "    with tl.copyout():\n        tl.store(y, v, count=cols)\n"
#define STORE_COL "    with tl.copyout():\n        tl.store(y, v, count=rows)\n"

static float at(int r, int c)
{
    return x[r * COLS + c];
}

/* Into the buffer at one pitch and out at another; the same row again and again. */
static void test_transfers(void **state)
{
    (void)state;
    runs("    with tl.copyout():\n"
         "        tl.store_rows(y + 1, a, rows, cols, cols + 1, pitch)\n"
         "        tl.store_rows(y, a, rows, 1, cols + 1, pitch)\n",
         ROWS * (COLS + 1));
    for (int i = 0; i < ROWS * COLS; i++)
        assert_true(y[i / COLS * (COLS + 1) + i % COLS + 1] == x[i] && y[i / COLS * (COLS + 1)] == at(i / COLS, 0));
    runs("    with tl.copyin():\n        tl.load_rows(x + cols, b, rows, cols, 0, pitch)\n" STORE, ROWS * COLS);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_true(y[i] == at(1, i % COLS));
    runs("    with tl.copyin():\n        tl.load_rows(x, h, rows, cols, cols, pitch)\n"
         "    with tl.copyout():\n        tl.store_rows(y, h, rows, cols, cols, pitch)\n",
         ROWS * COLS);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_true(y[i] == x[i]); /* quarters up to 12.5 are exact in float16 */
}

/* What lies behind the columns is what other= says. */
static void test_other(void **state)
{
    (void)state;
    runs("    with tl.copyin():\n        tl.load_rows(x, a, rows, cols, cols, pitch, other=-math.inf)\n"
         "    with tl.copyout():\n        tl.store(y, a, count=rows * pitch)\n",
         ROWS * PITCH);
    for (int i = 0; i < ROWS * PITCH; i++)
        assert_true(y[i] == (i % PITCH < COLS ? at(i / PITCH, i % PITCH) : -INFINITY));
}

/* Sums of quarters are exact. */
static void test_reductions(void **state)
{
    (void)state;
    static const char *const names[] = {"sum", "max", "min"};
    for (int n = 0; n < 3; n++)
        for (int by_row = 0; by_row < 2; by_row++) {
            runs(arena_printf(&arena, COMPUTE "tl.%s_%s(v, a, rows, cols, pitch)\n%s", by_row ? "row" : "col", names[n],
                              by_row ? STORE_COL : STORE_ROW),
                 by_row ? ROWS : COLS);
            for (int line = 0; line < (by_row ? ROWS : COLS); line++) {
                float expected = by_row ? at(line, 0) : at(0, line);
                for (int i = 1; i < (by_row ? COLS : ROWS); i++) {
                    float next = by_row ? at(line, i) : at(i, line);
                    expected = n == 0 ? expected + next : n == 1 ? fmaxf(expected, next) : fminf(expected, next);
                }
                assert_true(y[line] == expected);
            }
        }
}

static float applied(int operation, float a, float b)
{
    const float results[] = {a + b, a - b, a * b, a / b, fmaxf(a, b), fminf(a, b), b};
    return results[operation];
}

/* With row 2 of x as the row, and with column 3 as the column, which transpose makes a row of b. */
static void test_lines(void **state)
{
    (void)state;
    static const char *const names[] = {"vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "broadcast"};
    for (int n = 0; n < 7; n++)
        for (int by_row = 0; by_row < 2; by_row++) {
            const char *line = by_row ? "row" : "col", *a = n < 6 ? "b, " : "";
            runs(arena_printf(&arena,
                              COMPUTE "tl.transpose(b, a, rows, cols, pitch, pitch)\n"
                                      "        tl.vadd_scalar(v, b[3 * pitch:3 * pitch + pitch], 0, count=rows)\n"
                                      "        tl.vadd_scalar(w, a + 2 * pitch, 0, count=cols)\n"
                                      "        tl.broadcast_row(b, w, rows, cols, pitch)\n"
                                      "        tl.vsub(b, b, b, cols)\n" /* row 0: 0 */
                                      "        tl.%s_%s(b, %s%s, rows, cols, pitch)\n" STORE,
                              names[n], line, a, by_row ? "w" : "v"),
                 ROWS * COLS);
            for (int i = 0; i < ROWS * COLS; i++) {
                float by = by_row ? at(2, i % COLS) : at(i / COLS, 3), left = i < COLS ? 0 : at(2, i % COLS);
                float expected = applied(n, left, by);
                assert_true(y[i] == expected || (isnan(y[i]) && isnan(expected)));
            }
        }
}

/* 19 rows of 5 at a pitch of 32. */
static void test_transpose(void **state)
{
    (void)state;
    runs(COMPUTE "tl.transpose(b, a, rows, cols, pitch, pitch)\n"
                 "    with tl.copyout():\n        tl.store_rows(y, b, cols, rows, rows, pitch)\n",
         ROWS * COLS);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_true(y[i] == at(i % ROWS, i / ROWS));
}

/* Descending; the equal ones as they stood; -0 is equal to 0. */
static void test_sort(void **state)
{
    (void)state;
    runs(COMPUTE "tl.vmul_scalar(v, a, 0.0, count=cols)\n"
                 "        tl.set_scalar(v, 4, 2.5)\n        tl.set_scalar(v, 9, -1.0)\n"
                 "        tl.set_scalar(v, 11, 2.5)\n        tl.set_scalar(v, 13, math.nan)\n"
                 "        tl.sort(w, k, v, cols)\n"
                 "        for i in range(cols): tl.set_scalar(a, i, tl.extract_scalar(k, i))\n"
                 "    with tl.copyout():\n        tl.store(y, a, count=cols)\n"
                 "        tl.store(y + cols, w, count=cols)\n",
         2 * COLS);
    static const float order[COLS] = {13, 4, 11, 0, 1, 2, 3, 5, 6, 7, 8, 10, 12, 14, 15, 16, 17, 18, 9};
    for (int i = 0; i < COLS; i++)
        assert_true(y[i] == order[i]);
    assert_true(isnan(y[COLS]) && y[COLS + 1] == 2.5F && y[COLS + 2] == 2.5F && y[COLS + 3] == 0);
    assert_true(y[2 * COLS - 1] == -1);
}

/* The first of equal ones, and of NaN; 0 and -0 are equal. */
static void test_places(void **state)
{
    (void)state;
    runs(COMPUTE
         "tl.vmul_scalar(a, a, 0.0, count=rows * pitch)\n" /* row 0 stays so */
         "        tl.set_scalar(a, pitch + 3, 2.5)\n        tl.set_scalar(a, pitch + 7, 2.5)\n"
         "        tl.set_scalar(a, pitch + 5, -1.0)\n        tl.set_scalar(a, pitch + 8, -1.0)\n"
         "        tl.set_scalar(a, 2 * pitch + 6, math.nan)\n        tl.set_scalar(a, 2 * pitch + 9, math.nan)\n"
         "        tl.set_scalar(a, 2 * pitch + 2, math.inf)\n        tl.set_scalar(a, 2 * pitch + 12, -math.inf)\n"
         "        tl.row_argmax(k, a, 3, cols, pitch)\n"
         "        for i in range(3): tl.set_scalar(v, i, tl.extract_scalar(k, i))\n"
         "        tl.row_argmin(k, a, 3, cols, pitch)\n"
         "        for i in range(3): tl.set_scalar(v, 3 + i, tl.extract_scalar(k, i))\n"
         "    with tl.copyout():\n        tl.store(y, v, count=6)\n",
         6);
    static const float places[] = {0, 3, 6, 0, 5, 6};
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == places[i]);
}

/* Those that are larger than 1, in their order, and how many they are. */
static void test_compress(void **state)
{
    (void)state;
    int kept = 0;
    float expected[COLS];
    runs(COMPUTE "tl.vgt(t, a, 1.0, count=cols)\n"
                 "        n = tl.compress(v, a, t, count=cols)\n"
                 "        tl.duplicate(w, n)\n"
                 "    with tl.copyout():\n        tl.store(y + 1, v, count=n)\n        tl.store(y, w, count=1)\n",
         1 + 8);
    for (int i = 0; i < COLS; i++)
        if (at(0, i) > 1)
            expected[kept++] = at(0, i);
    assert_int_equal(kept, 8); /* what the store above relies on */
    assert_true(y[0] == (float)kept);
    assert_memory_equal(y + 1, expected, (size_t)kept * sizeof *y);
}

/* The message's rule and a part of it. */
static const struct {
    const char *kernel;
    enum dsl_rule rule;
    const char *says;
} stops[] = {
    {COMPUTE "tl.row_sum(v, a, rows, cols + 1, pitch)\n", DSL_RULE_undefined, "element 19 of 'a'"},
    {COMPUTE "tl.row_sum(v, b, rows, cols, pitch)\n", DSL_RULE_undefined, "'b' is read, and nothing writes it"},
    {COMPUTE "tl.duplicate(b, 1.0)\n        tl.vadd_row(b, a, a + 2 * pitch, rows, cols, pitch)\n"
             "        s = tl.extract_scalar(b, 19)\n",
     DSL_RULE_undefined, "element 19 of 'b'"},
    {COMPUTE "tl.duplicate(v, 1.0, count=1)\n        tl.vadd_col(b, a, v, rows, cols, pitch)\n        s = "
             "tl.extract_scalar(b, pitch)\n",
     DSL_RULE_undefined, "element 32 of 'b'"},
    {COMPUTE "tl.transpose(b, a, rows, cols, pitch, pitch)\n        s = tl.extract_scalar(b, rows)\n",
     DSL_RULE_undefined, "element 5 of 'b'"},
    {COMPUTE "tl.row_sum(v, a, rows, cols, 24)\n", DSL_RULE_alignment, "24 apart: no multiples of 16"},
    {COMPUTE "tl.row_sum(v, a + 8, rows, cols, pitch)\n", DSL_RULE_alignment, "begin at element 8"},
    {COMPUTE "tl.row_sum(v + 4, a, rows, cols, pitch)\n", DSL_RULE_alignment, "element 4 of 'v', no multiple of 8"},
    {COMPUTE "tl.row_sum(v, a, rows, cols, 16)\n", DSL_RULE_bounds, "19 columns at a pitch of 16"},
    {COMPUTE "tl.row_sum(v, a, rows, 0, pitch)\n", DSL_RULE_bounds, "5 rows of 0"},
    {COMPUTE "tl.row_sum(v, a, pitch + 1, cols, pitch)\n", DSL_RULE_bounds, "1056 elements of 'a', which has 1024"},
    {COMPUTE "tl.row_sum(v, a + 30 * pitch, rows, cols, pitch)\n", DSL_RULE_bounds, "which has 64 from there"},
    {COMPUTE "tl.col_sum(v[8:16], a, rows, cols, pitch)\n", DSL_RULE_bounds, "19 elements of 'v', which has 8"},
    {COMPUTE "tl.row_sum(k, a, rows, cols, pitch)\n", DSL_RULE_types, "'a' holds float32 and 'k' int32"},
    {COMPUTE "tl.vgt(t, a, 1.0, count=cols)\n        tl.row_sum(t, t, 1, cols, pitch)\n", DSL_RULE_types,
     "tl.row_sum has no bool"},
    {COMPUTE "tl.row_argmax(v, a, rows, cols, pitch)\n", DSL_RULE_types, "tl.row_argmax has no float32"},
    {COMPUTE "tl.iota(k, 0)\n        tl.vadd_row(b, a, k, rows, cols, pitch)\n", DSL_RULE_types,
     "'k' holds int32 and 'b' float32"},
    {COMPUTE "tl.duplicate(h, 1.0)\n        tl.duplicate(v, 1.0)\n        tl.vadd_row(b, h, v, rows, cols, pitch)\n",
     DSL_RULE_types, "'h' holds float16"},
    {COMPUTE "tl.row_sum(a, a, rows, cols, pitch)\n", DSL_RULE_undefined, "overlap: 'a' from 0 and from 0 on"},
    {COMPUTE "tl.transpose(a + pitch, a, rows, cols, pitch, pitch)\n", DSL_RULE_undefined, "overlap"},
    {COMPUTE "tl.vadd_row(a, a, a, rows, cols, pitch)\n", DSL_RULE_undefined, "overlap"},
    {COMPUTE "tl.vgt(t, a, 1.0, count=cols)\n        n = tl.compress(v, a, t, count=cols)\n"
             "        s = tl.extract_scalar(v, n)\n",
     DSL_RULE_undefined, "element 8 of 'v'"},
    {COMPUTE "tl.vgt(t, a, 1.0, count=cols)\n        n = tl.compress(v, a, t, count=cols + 1)\n", DSL_RULE_undefined,
     "element 19 of 't'"},
    {COMPUTE "tl.vgt(t, a, 1.0, count=cols)\n        n = tl.compress(a, a, t, count=cols)\n", DSL_RULE_undefined,
     "source and destination are the same"},
    {COMPUTE "tl.duplicate(w, 1.0)\n        n = tl.compress(v, a, w, count=cols)\n", DSL_RULE_types,
     "'w' holds float32"},
    {COMPUTE "tl.sort(v, v, a, cols)\n", DSL_RULE_types, "tl.sort has no float32"},
    {COMPUTE "tl.sort(v, k, a, 0)\n", DSL_RULE_bounds, "a sort of 0 elements"},
    {COMPUTE "tl.sort(v, k, a, cols + 1)\n", DSL_RULE_undefined, "element 19 of 'a'"},
    {"    with tl.copyin():\n        tl.load_rows(x, a, rows, cols, cols + 1, pitch)\n", DSL_RULE_bounds,
     "19 elements from 80 on of 'x', which has 95"},
    {"    with tl.copyin():\n        tl.load_rows(x, a, rows, cols, cols - 1, pitch)\n", DSL_RULE_bounds, "18 apart"},
    {"    with tl.copyout():\n        tl.store_rows(y, a, rows, cols, 0, pitch)\n", DSL_RULE_bounds, "0 apart"},
    {"    with tl.copyout():\n        tl.store_rows(y, b, 1, 1, 1, pitch)\n", DSL_RULE_undefined, "'b'"},
    {"    with tl.copyin():\n        tl.load_rows(x, k, 1, 8, 8, 16)\n", DSL_RULE_types, "int32"},
};

static void test_stops(void **state)
{
    (void)state;
    int missing = 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct dsl_messages messages;
        bool good = run(stops[i].kernel, 1, &messages);
        bool found = !good && messages.count == 1 && messages.items[0].rule == stops[i].rule &&
                     strstr(messages.items[0].text, stops[i].says);
        if (!found)
            print_error("%s%d: %s\n", stops[i].kernel, messages.count, messages.count ? messages.items[0].text : "");
        missing += !found;
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_transfers, drop),  cmocka_unit_test_teardown(test_other, drop),
        cmocka_unit_test_teardown(test_reductions, drop), cmocka_unit_test_teardown(test_lines, drop),
        cmocka_unit_test_teardown(test_transpose, drop),  cmocka_unit_test_teardown(test_places, drop),
        cmocka_unit_test_teardown(test_sort, drop),       cmocka_unit_test_teardown(test_compress, drop),
        cmocka_unit_test_teardown(test_stops, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
