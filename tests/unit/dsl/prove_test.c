/* What is proved of stores: the extent of those whose parts join, and nothing of those with a gap, an overlap or a form that is not
 * understood. */
#include "dsl/dsl.h"
#include "dsl/prove.h"

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

/* The extent of the first store of a kernel whose body is this, or "", where nothing is proved. */
static const char *extent_of(const char *kernel, const char *cores, const char *per_core)
{
    const char *text = arena_printf(&arena,
                                    "@ascend_kernel\n"
                                    "def k(x, y, total, rows, cols, per_core, tile):\n"
                                    "    pid = tl.program_id(0)\n"
                                    "    cores = tl.num_programs(0)\n"
                                    "    start = pid * per_core\n"
                                    "    b = tl.alloc_ub(64, dtype=tl.float32)\n"
                                    "    with tl.compute():\n"
                                    "        tl.duplicate(b, 1.0)\n"
                                    "%s"
                                    "def h(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 64):\n"
                                    "    rows, cols = x.shape\n"
                                    "    total = x.numel()\n"
                                    "    cores = %s\n"
                                    "    k[cores](x, y, total, rows, cols, %s, tile)\n",
                                    kernel, cores, per_core);
    struct dsl_messages messages = {.arena = &arena};
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), &messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, &messages) : NULL;
    for (int i = 0; !program && i < messages.kept; i++)
        fail_msg("line %d: %s\n%s", messages.items[i].place.line, messages.items[i].text, text);
    const struct dsl_stores stores = dsl_prove_stores(&arena, program);
    assert_int_equal(stores.count, 1);
    assert_string_equal(stores.items[0].tensor, "y");
    return stores.items[0].proved ? stores.items[0].extent : "";
}

#define STORE(call) "        with tl.copyout():\n            tl.store" call "\n"
#define TILES       "    end = min(start + per_core, total)\n    for at in range(start, end, tile):\n"
#define ROWS        "    for row in range(start, min(start + per_core, rows)):\n"
#define STEPS                                                                                                          \
    "    last = min(start + per_core, rows)\n    step = tile // 8\n    for row in range(start, last, step):\n"         \
    "        n = min(step, last - row)\n"
#define PIECES(call)                                                                                                   \
    "        for at in range(0, cols, tile):\n            n = min(tile, cols - at)\n"                                  \
    "            with tl.copyout():\n                tl.store" call "\n"
#define VECTOR "tl.num_vec_cores()"
#define ALL    "x.shape[0] * x.shape[1]"

static const struct {
    const char *kernel, *cores, *per_core, *extent;
} programs[] = {
    /* Elements, in three spellings of the last tile. */
    {TILES "        n = min(tile, end - at)\n" STORE("(y + at, b, count=n)"), VECTOR, "tl.cdiv(total, cores)", ALL},
    {TILES STORE("(y + at + tl.arange(0, tile), b, mask=at + tl.arange(0, tile) < end)"), VECTOR,
     "tl.cdiv(tl.cdiv(total, cores), 64) * 64", ALL},
    {TILES STORE("(y + at, b, count=min(at + tile, end) - at)"), "min(tl.num_vec_cores(), tl.cdiv(total, 512))",
     "(total + cores - 1) // cores", ALL},
    {"    for i in range(tl.cdiv(total, tile)):\n" STORE("(y + i * tile, b, count=min(tile, total - i * tile))"), "1",
     "total", ALL},
    {"    for i in range(pid, rows, cores):\n" STORE("(y + i * cols, b, count=cols)"), VECTOR, "1", ALL},
    {"    for at in range(pid * 64, cols, cores * 64):\n" STORE("(y + at, b, count=min(64, cols - at))"), VECTOR, "1",
     "x.shape[1]"},
    /* Rows: one, many at once, in pieces. */
    {ROWS STORE("(y + row * cols, b, count=cols)"), VECTOR, "tl.cdiv(rows, cores)", ALL},
    {STEPS STORE("_rows(y + row * cols, b, n, cols, cols, 64)"), VECTOR, "tl.cdiv(rows, cores)", ALL},
    {ROWS PIECES("(y + row * cols + at, b, count=n)"), VECTOR, "tl.cdiv(rows, cores)", ALL},
    {"    last = min(start + per_core, rows)\n    for row in range(start, last, 4):\n        m = min(4, last - "
     "row)\n" PIECES("_rows(y + row * cols + at, b, m, n, cols, 64)"),
     VECTOR, "tl.cdiv(rows, cores)", ALL},
    /* One value of each core, or of the first. */
    {"    if rows > 0:\n" STORE("(y + pid * 8, b, count=8)"), VECTOR, "1", "8 * tl.num_vec_cores()"},
    {"    if pid == 0:\n" STORE("(y, b)"), VECTOR, "1", "64"},
    /* A remainder that is dropped shows in the extent. */
    {ROWS STORE("(y + row * cols, b, count=cols)"), "16", "rows // 16",
     "min(16 * x.shape[1] * (x.shape[0] // 16), x.shape[0] * x.shape[1])"},
    /* Not proved: a gap between cores, an overlap of tiles, of cores, of rows, the same place in each turn. */
    {TILES STORE("(y + at, b, count=tile)"), VECTOR, "tl.cdiv(total, cores)", ""},
    {TILES STORE("(y + at, b, count=min(tile, total - at))"), VECTOR, "tl.cdiv(total, cores)", ""},
    {TILES STORE("(y + at, b, count=min(tile - 1, end - at))"), VECTOR, "tl.cdiv(total, cores)", ""},
    {TILES STORE("(y + at + 1, b, count=min(tile, end - at))"), VECTOR, "tl.cdiv(total, cores)", ""},
    {TILES STORE("(y + start, b, count=min(tile, end - at))"), VECTOR, "tl.cdiv(total, cores)", ""},
    {ROWS STORE("(y + row * cols, b, count=cols + 1)"), VECTOR, "tl.cdiv(rows, cores)", ""},
    {ROWS STORE("(y + row * tile, b, count=cols)"), VECTOR, "tl.cdiv(rows, cores)", ""},
    {STEPS STORE("_rows(y + row * cols, b, step, cols, cols, 64)"), VECTOR, "tl.cdiv(rows, cores)", ""},
    {"    if pid == 1:\n" STORE("(y, b)"), VECTOR, "1", ""},
    {"    if pid < 2:\n" STORE("(y + pid * 8, b, count=8)"), VECTOR, "1", ""},
    /* Not proved: what is no straight line, what may end early, what changes on the way. */
    {ROWS STORE("(y + row % 2 * cols, b, count=cols)"), VECTOR, "tl.cdiv(rows, cores)", ""},
    {ROWS "        if row > 5:\n            break\n" STORE("(y + row * cols, b, count=cols)"), VECTOR,
     "tl.cdiv(rows, cores)", ""},
    {"    at = start\n    while at < min(start + per_core, total):\n        at += tile\n" STORE(
         "(y + at, b, count=tile)"),
     VECTOR, "tl.cdiv(total, cores)", ""},
    {"    width = cols\n" ROWS "        width = width + 1\n" STORE("(y + row * cols, b, count=width)"), VECTOR,
     "tl.cdiv(rows, cores)", ""},
    {"    width = cols\n    if pid > 2:\n        width = cols + 1\n" ROWS STORE("(y + row * cols, b, count=width)"),
     VECTOR, "tl.cdiv(rows, cores)", ""},
};

static void test_programs(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *kernel = programs[i].kernel;
        const char *extent = extent_of(kernel, programs[i].cores, programs[i].per_core);
        if (strcmp(extent, programs[i].extent) != 0) {
            print_error("%s proved: '%s', not '%s'\n", kernel, extent, programs[i].extent);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_programs, drop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
