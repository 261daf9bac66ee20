/* What code is cut by for its fragments: names that a question tells, and operands. */
#include "cot/fragments.h"
#include "cot/fragments_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct cut {
    struct arena arena;
    struct strings strings;
    struct text segments; /* "[a|b][c]": segments of lexemes */
};

static void write_segment(void *closure, const int *lexemes, int count)
{
    struct cut *cut = closure;
    for (int i = 0; i < count; i++) {
        text_add(&cut->segments, i ? "|" : "[");
        text_append(&cut->segments, cut->strings.items[lexemes[i]].at, cut->strings.items[lexemes[i]].length);
    }
    text_add(&cut->segments, "]");
}

static void check(const char *question, const char *answer, const char *expected)
{
    struct cot_lexer *lexer = cot_lexer_new();
    struct cut cut = {0};
    cot_lexer_cut(lexer, question, answer, &cut.arena, &cut.strings, write_segment, &cut);
    assert_string_equal(cut.segments.bytes, expected);
    arena_free(&cut.arena);
    text_free(&cut.segments);
    cot_lexer_free(lexer);
}

static void no_fragment_runs_over_a_name(void **unused)
{
    (void)unused;
    static const char question[] = "ScaleBy\nin first_row float32 [3]\nattr at_most float\nout y float32 [3]";
    check(question, "def scale_by_kernel(first_row, y):", "[\n|def| ][_kernel|(][,| ][)|:]");
    check(question, "firstRowGm.Set(atMost, SCALE_BY_TILING_H);", "[\n][Gm|.|Set|(][,| ][_TILING_H|)|;]");
    check(question, "set_atMost(DTYPE_Y2, yes, y_)", "[\n|set_][(|DTYPE_][2|,| |yes|,| |y_|)]");
    check("", "y", "[\n|y]");
    check("a.b(\nin", "a.b( in", "[\n][ |in]");
}

static void operands_stand_alone(void **unused)
{
    (void)unused;
    check("A", "    tl.vmul(value1_ub, x_ub, 0.5, count=m)\n    q = 3",
          "[\n    ][tl.vmul(][value1_ub][,| |x_ub|,| ][0][.][5][,| |count|=|m|)|\n    |q| |=| |3]");
    check("A", "    Mul(value12, TILE);", "[\n    ][Mul][(][value12][,| |TILE|)|;]");
    check("A", "int rows = valueTruth2;", "[\n|int| |rows| |=| ][valueTruth2][;]");
    check("A", "\xff\xc3\xa9", "[\n|\xff|\xc3\xa9]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_fragment_runs_over_a_name),
                                       cmocka_unit_test(operands_stand_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
