/* The knobs of programs and projects: what is found, what a text has when they are turned, and what is refused. */
#include "gen/tune_internal.h"
#include "npu/npu.h"
#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* A sum of two tensors by rows and columns: constants, two queues that are loaded, one that is stored, two loops. */
static const char text[] =
    "@ascend_kernel\n"
    "def add_kernel(x1, x2, y, rows, cols, tile):\n"
    "    core = tl.program_id(0)\n"
    "    cores = tl.num_programs(0)\n"
    "    a_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"
    "    b_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)\n"
    "    scratch_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"
    "    for row in range(core, rows, cores):\n"
    "        for at in range(0, cols, tile):\n"
    "            offsets = row * cols + at + tl.arange(0, tile)\n"
    "            with tl.copyin():\n"
    "                tl.load(x1 + offsets, a_ub, mask=offsets < row * cols + cols)\n"
    "                tl.load(x2 + offsets, b_ub, mask=offsets < row * cols + cols)\n"
    "            with tl.compute():\n"
    "                tl.vadd(scratch_ub, a_ub, b_ub)\n"
    "                tl.vabs(a_ub, scratch_ub)\n"
    "            with tl.copyout():\n"
    "                tl.store(y + offsets, a_ub, mask=offsets < row * cols + cols)\n"
    "\n"
    "\n"
    "def add_host(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 1024):\n"
    "    rows = x1.shape[0]\n"
    "    cols = x1.numel() // rows\n"
    "    cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8))\n"
    "    add_kernel[cores](x1, x2, y, rows, cols, tile)\n";

static struct gen_subject *subject_of(struct arena *arena, const char *program, struct task *task)
{
    struct gen_subject *subject;
    const struct candidate_program given = {.path = "x.py", .text = program, .length = strlen(program)};
    assert_null(task_find(arena, toolchain_home(), "UnalignAdd", task));
    struct akgen_error *error = gen_subject_of_program(arena, &given, task, npu_soc_find("Ascend910B2"), &subject);
    assert_null(error ? error->message : NULL);
    return subject;
}

static const char *turned(struct arena *arena, const struct gen_subject *subject, int knob, int64_t value)
{
    bool made = false;
    int64_t *values = arena_alloc(arena, (size_t)subject->count * sizeof *values);
    struct gen_setting setting = {.values = values};
    for (int i = 0; i < subject->count; i++)
        values[i] = i == knob ? value : subject->knobs[i].value;
    assert_null(tune_make_program(arena, subject, &setting, &made));
    assert_true(made || setting.reason);
    return setting.program.text;
}

static void test_knobs_of_a_program(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    const struct gen_subject *subject = subject_of(&arena, text, &task);
    static const struct gen_knob expected[] = {{.name = "tile", .kind = GEN_KNOB_CONSTANT, .value = 1024},
                                               {.name = "depth of a_ub", .kind = GEN_KNOB_DEPTH},
                                               {.name = "depth of b_ub", .kind = GEN_KNOB_DEPTH, .value = 1},
                                               {.name = "loops row, at", .kind = GEN_KNOB_LOOPS},
                                               {.name = "rows of a core", .kind = GEN_KNOB_CORES, .value = 8},
                                               {.name = "cores", .kind = GEN_KNOB_CORES}};
    assert_int_equal(subject->count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(subject->knobs[i].name, expected[i].name);
        assert_int_equal(subject->knobs[i].kind, expected[i].kind);
        assert_int_equal(subject->knobs[i].value, expected[i].value);
    }
    assert_int_equal(subject->knobs[5].choices[1], 42); /* seven eighths of 48 */
    arena_free(&arena);
}

/* The text that a knob's value makes of the program, and that its old value makes of that one. */
static void test_what_is_turned(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    static const struct {
        int knob;
        int64_t value;
        const char *has;
    } cases[] = {{0, 2048, "tile: tl.constexpr = 2048"},
                 {1, 3, "a_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=3)\n"},
                 {2, 0, "b_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"},
                 {2, 4, "b_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=4)\n"},
                 {3, 1, "    for at in range(0, cols, tile):\n        for row in range(core, rows, cores):\n"},
                 {5, 24, "cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8), 24)\n"},
                 {4, 16, "cores = min(tl.num_vec_cores(), tl.cdiv(rows, 16))\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gen_subject *subject = subject_of(&arena, text, &task);
        const char *made = turned(&arena, subject, cases[i].knob, cases[i].value);
        assert_non_null(strstr(made, cases[i].has));
        assert_null(strstr(text, cases[i].has));
        const struct gen_subject *again = subject_of(&arena, made, &task);
        const int64_t old = subject->knobs[cases[i].knob].value;
        if (cases[i].knob != 3)
            assert_int_equal(again->knobs[cases[i].knob].value, cases[i].value);
        assert_string_equal(turned(&arena, again, cases[i].knob, cases[i].knob == 3 ? 1 : old), text);
    }
    arena_free(&arena);
}

static void test_a_number_of_cores(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    char *alone = arena_strdup(&arena, text);
    memcpy(strstr(alone, "kernel[cores](x1"), "kernel[  7  ](x1", strlen("kernel[cores](x1"));
    const struct gen_subject *subject = subject_of(&arena, alone, &task);
    assert_int_equal(subject->knobs[4].value, 7);
    assert_int_equal(subject->knobs[4].choices[0], 48);
    assert_non_null(strstr(turned(&arena, subject, 4, 24), "add_kernel[24](x1"));
    arena_free(&arena);
}

/* A project of one file. */
static struct akgen_error *read(struct arena *arena, const char *source, struct gen_subject *subject)
{
    struct op_file *file = arena_alloc(arena, sizeof *file);
    *file = (struct op_file){.path = "op_host/x.cpp", .bytes = source, .length = strlen(source)};
    *subject = (struct gen_subject){.is_project = true};
    return tune_read_marks(arena, subject, file);
}

static void test_marks(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct gen_subject subject;
    static const char source[] = "constexpr int32_t TILE = 2048; // tune: 1024, 4096\n"
                                 "int tuned = 3; // tuned by hand\n"
                                 "#define BUFFERS 2 // tune\n"
                                 "constexpr uint32_t N16{16U}; // tune:8\n"
                                 "static const int TILE = 2048;// tune";
    assert_null(read(&arena, source, &subject));
    assert_int_equal(subject.count, 3);
    assert_int_equal(subject.mark_count, 4);
    assert_string_equal(subject.knobs[0].name, "TILE");
    assert_int_equal(subject.knobs[0].choice_count, 2);
    assert_int_equal(subject.knobs[0].choices[1], 4096);
    assert_string_equal(subject.knobs[1].name, "BUFFERS");
    assert_null(subject.knobs[1].choices);
    assert_string_equal(subject.knobs[2].name, "N16");
    assert_int_equal(subject.knobs[2].value, 16);
    assert_int_equal(subject.marks[3].knob, 0);
    assert_int_equal(subject.marks[3].line, 5);
    arena_free(&arena);
}

static void test_marks_that_are_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct gen_subject subject;
    static const struct {
        const char *source, *says;
    } cases[] = {{"\nint x = TILE; // tune", "op_host/x.cpp:2: no name and whole number stand before '// tune'"},
                 {"int x = 2 * 8; // tune", "op_host/x.cpp:1: no name and whole number"},
                 {"int x = 0x10; // tune", "op_host/x.cpp:1: no name and whole number"},
                 {"int x = 8; // tune: 1, two", "op_host/x.cpp:1: '// tune' is followed by ': 1, two', expected"},
                 {"int x = 8; // tune: 0", "is followed by ': 0'"},
                 {"int x = 8; // tune:", "is followed by ':'"},
                 {"int x = 8; // tune 16", "is followed by '16'"},
                 {"int x = 8; // tune\nint x = 9; // tune", "op_host/x.cpp:2: 'x' is 9, and 8 in op_host/x.cpp:1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct akgen_error *error = read(&arena, cases[i].source, &subject);
        assert_non_null(error);
        if (!strstr(error->message, cases[i].says))
            fail_msg("%s: %s", cases[i].source, error->message);
        error_free(error);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knobs_of_a_program),     cmocka_unit_test(test_what_is_turned),
        cmocka_unit_test(test_a_number_of_cores),      cmocka_unit_test(test_marks),
        cmocka_unit_test(test_marks_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
