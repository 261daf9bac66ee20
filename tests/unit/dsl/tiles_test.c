/* Matrix products of the interpreter: what they compute of operands as they are and transposed, and what stops them. */
#include "dsl/dsl.h"
#include "dsl/interpret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* x is (M, K); its product with its transpose is (M, M). */
enum { M = 5, K = 7 };
static struct arena arena;
static float x[M * K], y[M * M];
static int8_t bytes[M * K];
static int32_t sums[M * M];

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* One core; `a` is (16, 16) as x lies, `b` likewise, `c` the product. */
static bool run(const char *kernel, bool integers, struct dsl_messages *messages)
{
    const char *sum = integers ? "int32" : "float32";
    const char *text = arena_printf(&arena,
                                    "@ascend_kernel\n"
                                    "def k(x, y, m, k):\n"
                                    "    a = tl.alloc_l1((16, 16), dtype=x.dtype)\n"
                                    "    b = tl.alloc_l1((16, 16), dtype=x.dtype)\n"
                                    "    c = tl.alloc_l0c((16, 16), dtype=tl.%s)\n"
                                    "    with tl.copyin():\n"
                                    "        tl.load_tile(x, a, m, k, k)\n"
                                    "        tl.load_tile(x, b, m, k, k)\n"
                                    "    with tl.compute():\n"
                                    "%s"
                                    "    with tl.copyout():\n"
                                    "        tl.store_tile(y, c, m, m, m)\n\n"
                                    "def h(x: torch.Tensor, y: torch.Tensor):\n"
                                    "    k[1](x, y, x.shape[0], x.shape[1])\n",
                                    sum, kernel);
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, messages) : NULL;
    for (int i = 0; !program && i < messages->kept; i++)
        fail_msg("line %d: %s", messages->items[i].place.line, messages->items[i].text);
    struct task_tensor in = {.type = AKGEN_FLOAT, .rank = 2, .dims = {M, K}, .elements = M * K, .values = x};
    struct task_tensor out = {.type = AKGEN_FLOAT, .rank = 2, .dims = {M, M}, .elements = M * M, .values = y};
    if (integers) {
        in.type = AKGEN_INT8;
        in.values = bytes;
        out.type = AKGEN_INT32;
        out.values = sums;
    }
    for (int i = 0; i < M * K; i++) {
        bytes[i] = (int8_t)(i * 37 % 101 - 50);
        x[i] = (float)bytes[i] / 4;
    }
    const struct dsl_argument arguments[] = {{.tensors = &in, .given = true}, {.tensors = &out, .stored = true}};
    struct dsl_run run = {.vector_cores = 1,
                          .cube_cores = 1,
                          .ub_bytes = 4096,
                          .l1_bytes = 4096,
                          .l0c_bytes = 1024,
                          .arguments = arguments};
    return dsl_interpret(&arena, program, &run, messages);
}

static void runs(const char *kernel, bool integers)
{
    struct dsl_messages messages;
    if (!run(kernel, integers, &messages))
        fail_msg("line %d: %s", messages.items[0].place.line, messages.items[0].text);
}

/* The product of rows i and j of x, in units of 1/16: sums are exact. */
static int expected(int i, int j)
{
    int sum = 0;
    for (int k = 0; k < K; k++)
        sum += bytes[i * K + k] * bytes[j * K + k];
    return sum;
}

static void test_transposed_b(void **state)
{
    (void)state;
    runs("        tl.gemm(c, a, b, m, m, k, init=True, transpose_b=True)\n", false);
    for (int i = 0; i < M * M; i++)
        assert_true(y[i] == (float)expected(i / M, i % M) / 16);
    runs("        tl.gemm(c, a, b, m, m, k, init=True, transpose_b=True)\n", true);
    for (int i = 0; i < M * M; i++)
        assert_int_equal(sums[i], expected(i / M, i % M));
}

/* The first M rows of the transpose of x, times its first M columns: sums over the rows of x. */
static void test_transposed_a(void **state)
{
    (void)state;
    runs("        tl.gemm(c, a, b, m, m, m, init=True, transpose_a=True)\n", false);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            int sum = 0;
            for (int k = 0; k < M; k++)
                sum += bytes[k * K + i] * bytes[k * K + j];
            assert_true(y[i * M + j] == (float)sum / 16);
        }
}

/* As they are; without init= the product is added to. */
static void test_as_they_are(void **state)
{
    (void)state;
    runs("        tl.gemm(c, a, b, m, m, m, init=True)\n"
         "        tl.gemm(c, a, b, m, m, k, transpose_b=True)\n",
         false);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            int sum = expected(i, j);
            for (int k = 0; k < M; k++)
                sum += bytes[i * K + k] * bytes[k * K + j];
            assert_true(y[i * M + j] == (float)sum / 16);
        }
}

static const struct {
    const char *kernel;
    bool integers;
    enum dsl_rule rule;
    const char *says;
} stops[] = {
    {"        tl.gemm(c, a, b, m, m, k)\n", false, DSL_RULE_undefined, "'b'"}, /* b has M rows, not K */
    {"        tl.gemm(c, a, b, m, m, k, transpose_b=True)\n", false, DSL_RULE_undefined, "'c'"},
    {"        tl.gemm(c, a, b, m, m, k + 1, init=True, transpose_b=True)\n", false, DSL_RULE_undefined, "'a'"},
    {"        tl.gemm(c, a, b, m, m, 17, init=True, transpose_b=True)\n", false, DSL_RULE_bounds, "5 rows of 17"},
    {"        tl.gemm(c, a, b, m, m, 17, init=True, transpose_a=True)\n", false, DSL_RULE_bounds, "17 rows of 5"},
    {"        tl.gemm(c, a, b, m - 1, m, k, init=True, transpose_b=True)\n", false, DSL_RULE_undefined, "'c'"},
    {"        tl.gemm_v0(a, b, c)\n", false, DSL_RULE_undefined, "element 7 of 'a'"},
};

static void test_stops(void **state)
{
    (void)state;
    int missing = 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct dsl_messages messages;
        bool good = run(stops[i].kernel, stops[i].integers, &messages);
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
        cmocka_unit_test_teardown(test_transposed_b, drop),
        cmocka_unit_test_teardown(test_transposed_a, drop),
        cmocka_unit_test_teardown(test_as_they_are, drop),
        cmocka_unit_test_teardown(test_stops, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
