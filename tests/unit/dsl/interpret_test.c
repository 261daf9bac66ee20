/* The interpreter: what programs compute, and what it stops at. Expected values are worked out beside each program. */
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

enum { ELEMENTS = 100, CORES = 4 };
static struct arena arena;
static float x[ELEMENTS], y[ELEMENTS];

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* y = f(x) on four cores, tiles of 16: the lines of the kernel's body, and what the host gives besides. */
static const char *program_of(const char *kernel, const char *host)
{
    return arena_printf(&arena,
                        "@ascend_kernel\n"
                        "def k(x, y, w, total, per_core, tile):\n"
                        "    pid = tl.program_id(0)\n"
                        "    start = pid * per_core\n"
                        "    end = min(start + per_core, total)\n"
                        "    a = tl.alloc_ub(tile, dtype=tl.float32)\n"
                        "    b = tl.alloc_ub(tile, dtype=tl.float32)\n"
                        "%s"
                        "def h(x: torch.Tensor, y: torch.Tensor):\n"
                        "    total = x.numel()\n"
                        "    cores = tl.num_vec_cores()\n"
                        "    per_core = tl.cdiv(total, cores)\n"
                        "    tile = 16\n"
                        "    w = torch.empty(cores * 8, dtype=tl.float32)\n"
                        "%s"
                        "    k[cores](x, y, w, total, per_core, tile)\n",
                        kernel, host);
}

static bool run(const char *text, struct dsl_messages *messages)
{
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, messages) : NULL;
    if (!program)
        return false;
    struct task_tensor in = {.type = AKGEN_FLOAT, .rank = 1, .dims = {ELEMENTS}, .elements = ELEMENTS, .values = x};
    struct task_tensor out = in;
    out.values = y;
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i + 1) / 4;
        y[i] = -1;
    }
    const struct dsl_argument arguments[] = {{.tensors = &in, .given = true}, {.tensors = &out, .stored = true}};
    struct dsl_run run = {.vector_cores = CORES,
                          .cube_cores = 2,
                          .ub_bytes = 4096,
                          .l1_bytes = 4096,
                          .l0c_bytes = 4096,
                          .arguments = arguments};
    return dsl_interpret(&arena, program, &run, messages);
}

static void runs(const char *kernel, const char *host)
{
    struct dsl_messages messages;
    if (!run(program_of(kernel, host), &messages))
        fail_msg("line %d: %s", messages.items[0].place.line, messages.items[0].text);
}

#define TILES                                                                                                          \
    "    for at in range(start, end, tile):\n"                                                                         \
    "        o = at + tl.arange(0, tile)\n"                                                                            \
    "        n = min(tile, end - at)\n"
#define LOAD  "        with tl.copyin():\n            tl.load(x + o, a, mask=o < end)\n"
#define STORE "        with tl.copyout():\n            tl.store(y + o, b, mask=o < end)\n"

static void test_tiles(void **state)
{
    (void)state;
    runs(TILES LOAD "        with tl.compute():\n"
                    "            tl.vmul_scalar(b, a, 3, count=n)\n"
                    "            tl.vadd(b, b, a, n)\n"
                    "            tl.vmax(b, b, 2.5, n)\n" STORE,
         "");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == fmaxf(x[i] * 4, 2.5F)); /* all exact in float32 */
}

/* Every element is rounded to float32 once per operation; numbers of the kernel are float32, the host's are double. */
static void test_rounding(void **state)
{
    (void)state;
    runs("    third = 1.0 / 3.0\n" TILES LOAD "        with tl.compute():\n"
         "            tl.vmul_scalar(b, a, third, count=n)\n"
         "            tl.vexp(b, b, n)\n" STORE,
         "");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == (float)exp((double)(x[i] * (1.0F / 3.0F))));
}

/* Each core writes its partial sum, all wait, each core adds them up: 8 floats apart, since a block has 32 bytes. */
static void test_phases(void **state)
{
    (void)state;
    runs("    s = 0.0\n" TILES LOAD "        with tl.compute():\n"
         "            tl.reduce_sum(b, a, a, count=n)\n"
         "            s += tl.extract_scalar(b, 0)\n"
         "    with tl.compute():\n"
         "        tl.set_scalar(b, 0, s)\n"
         "    with tl.copyout():\n"
         "        tl.store(w + pid * 8, b, count=1)\n"
         "    tl.sync_all()\n"
         "    s = 0.0\n"
         "    for i in range(tl.num_programs(0)):\n"
         "        s = s + tl.extract_scalar(w, i * 8)\n" TILES "        with tl.compute():\n"
         "            tl.duplicate(b, s)\n" STORE,
         "");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == 1262.5F); /* (1 + .. + 100) / 4 */
}

static void test_control(void **state)
{
    (void)state;
    runs("    n = 0\n"
         "    while True:\n"
         "        n += 1\n"
         "        if n % 2: continue\n"
         "        if n > 6: break\n"
         "    for i in range(10, 0, -3): n = n * 2 + i\n"                 /* 8: 26, 59, 122, 245 */
         "    q = -7 // 2 * 100 + -7 % 2 * 10 + (5 if n == 245 else 6)\n" /* -400 + 10 + 5 */
         TILES
         "        with tl.compute():\n            tl.duplicate(b, q + (1 << 3) - int(2.9) + abs(-4) + 2 ** 3)\n" STORE,
         "    a, b = (3, 4)\n"
         "    assert x.shape[0] == 100 and x.shape[-1] == 100 and len(x.shape) == 1 and x.size(0) == 100\n"
         "    assert (x.shape + [7])[1:][0] == 7 and [a, b] == [3, 4] and max(a, b, 2) == 4\n"
         "    assert 7 / 2 == 3.5 and 0.5 ** 2 == 0.25 and not (a == b) and (a < b <= 4 or 1 // 0 == 0)\n"
         "    assert x.dtype == torch.float32 and float('inf') > 1e300 and math.ceil(2.1) == 3\n");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == -385 + 8 - 2 + 4 + 8);
}

/* The message's rule and a part of it. */
static const struct {
    const char *kernel, *host;
    enum dsl_rule rule;
    const char *says;
} stops[] = {
    {TILES "        with tl.copyin():\n            tl.load(x + o, a)\n", "", DSL_RULE_bounds,
     "element 100 of 'x', which has 100"},
    {TILES LOAD
     "        with tl.compute():\n            tl.vabs(b, a)\n        with tl.copyout():\n            tl.store(y + "
     "at, b)\n",
     "", DSL_RULE_undefined, "element 9 of 'b'"},
    {TILES LOAD "        with tl.compute():\n            tl.vabs(b, a, count=17)\n", "", DSL_RULE_bounds, "17"},
    {TILES LOAD "        with tl.compute():\n            tl.vabs(b + 8, a)\n", "", DSL_RULE_bounds, "'b'"},
    {TILES LOAD, "", DSL_RULE_coverage, "no core stores element 0 of 'y'"},
    {TILES LOAD "        with tl.compute():\n            tl.vabs(b, a, n)\n" STORE,
     "    per_core = total // cores - 1\n", DSL_RULE_coverage, "no core stores element 96"},
    {TILES LOAD "        with tl.compute():\n            tl.vabs(b, a, n)\n" STORE,
     "    per_core = per_core - 1\n    total = per_core * cores + 4\n", DSL_RULE_coverage, "element 96"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n    with tl.copyout():\n        tl.store(y, b)\n", "",
     DSL_RULE_shared, "element 0 of 'y' is stored by core 0 and by core 1"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n    with tl.copyout():\n        tl.store(w + pid, b, "
     "count=1)\n    if pid == 2:\n        return\n    if pid == 1:\n        s = tl.extract_scalar(w, 0)\n",
     "", DSL_RULE_shared, "which core 0 stored, is read by core 1"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n    with tl.copyout():\n        tl.store(w + pid, b, "
     "count=1)\n        s = tl.extract_scalar(w, pid)\n",
     "", DSL_RULE_shared, "which core 0 stored, is read by core 0"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n    with tl.copyout():\n        tl.store(w + pid, b, "
     "count=1)\n        tl.store(w + pid, b, count=1)\n",
     "", DSL_RULE_shared, "is stored by core 0 twice"},
    {"    c = tl.alloc_ub(32, dtype=tl.float32)\n    with tl.compute():\n        tl.duplicate(c, 1.0)\n        "
     "tl.vabs(c + "
     "8, c, count=8)\n        tl.vabs(c + 8, c, count=16)\n",
     "", DSL_RULE_undefined, "overlap in part: 'c' from 0 and from 8 on"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n        tl.vabs(a, b + (pid + 8), count=4)\n", "",
     DSL_RULE_alignment, "begins at element 9 of 'b', no multiple of 8"},
    {"    with tl.copyin():\n        tl.load(x, a[3:5])\n", "", DSL_RULE_alignment, "element 3 of 'a'"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0, count=pid - 1)\n", "", DSL_RULE_bounds, "-1 elements"},
    {"    with tl.copyin():\n        tl.load(x + tl.arange(pid, 0), a)\n", "", DSL_RULE_bounds, "a range from 1 to 0"},
    {"    s = tl.extract_scalar(w, 3)\n", "", DSL_RULE_undefined, "element 3 of 'workspace'"},
    {"    if pid == 2:\n        tl.sync_all()\n", "", DSL_RULE_shared, "waits here for others that have ended"},
    {"    c = tl.alloc_ub(1100, dtype=tl.float32)\n", "", DSL_RULE_fits, "UB, which has 4096 bytes"},
    {"    q = total // (per_core - 25)\n", "", DSL_RULE_arithmetic, "division by zero"},
    {"    q = 1 << 62\n    q = q * 4\n", "", DSL_RULE_arithmetic, "64 bits"},
    {"    for i in range(0, 5, pid): pass\n", "", DSL_RULE_arithmetic, "step"},
    {"    pass\n", "    assert total % 3 == 0, 'no thirds'\n", DSL_RULE_refused, "no thirds"},
    {"    pass\n", "    cores = total - 100\n", DSL_RULE_launch, "0 cores"},
    {"    with tl.compute():\n        tl.duplicate(b, 1.0)\n    with tl.copyout():\n        tl.store(x + start, b, "
     "count=1)\n",
     "", DSL_RULE_types, "'x' is an input"},
    {"    c = tl.alloc_ub(8, dtype=tl.int32)\n    with tl.copyin():\n        tl.load(x, c)\n", "", DSL_RULE_types,
     "int32"},
    {"    with tl.compute():\n        tl.gather(b, a, a, 0)\n        tl.gemm_v0(a, a, b)\n", "", DSL_RULE_undefined,
     "'a'"},
    {"    with tl.compute():\n        tl.duplicate(a, 1.0)\n        tl.gemm_v0(a, a, b)\n", "", DSL_RULE_types,
     "no matrix"},
};

static void test_stops(void **state)
{
    (void)state;
    int missing = 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct dsl_messages messages;
        bool good = run(program_of(stops[i].kernel, stops[i].host), &messages);
        bool found = !good && messages.count == 1 && messages.items[0].rule == stops[i].rule &&
                     strstr(messages.items[0].text, stops[i].says);
        if (!found)
            print_error("%s%s%d: %s\n", stops[i].kernel, stops[i].host, messages.count,
                        messages.count ? messages.items[0].text : "");
        missing += !found;
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_tiles, drop),  cmocka_unit_test_teardown(test_rounding, drop),
        cmocka_unit_test_teardown(test_phases, drop), cmocka_unit_test_teardown(test_control, drop),
        cmocka_unit_test_teardown(test_stops, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
