/* What is left of a file: what its entry needs, in its order, and nothing else. */
#include "cot/prune.h"
#include "cot/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ENTRY "extern \"C\" __global__ __aicore__ void k(GM_ADDR x)\n{\n    Run(x);\n}\n"

static void check(const char *text, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(cot_prune(&arena, text), expected);
    arena_free(&arena);
}

static void test_functions_and_types(void **state)
{
    (void)state;
    check("struct Gone { int a; };\nstruct Used { int b; };\n// of Run\n__aicore__ inline void Run(Used x) { }\n"
          "static int Unused(Used u) { return 1; }\n" ENTRY,
          "\nstruct Used { int b; };\n// of Run\n__aicore__ inline void Run(Used x) { }\n" ENTRY);
}

static void test_what_is_used_by_what_is_used(void **state)
{
    (void)state;
    check("#define WIDTH 64\n#define HEIGHT 8\n#define GUARD\nconstexpr int A = WIDTH, B = 2;\nusing T = half;\n"
          "using U = float;\ntypedef float gone;\nenum class Kind { ONE, TWO };\nenum Other { THREE };\n"
          "template <typename E> class Loop : public Base<E> {\n    void Go() { Turn(Kind::ONE); }\n};\n"
          "template <> struct Alone<int> { };\nvoid Turn(Kind k);\nvoid Run(GM_ADDR x) { Loop<T> l; l.Go(B); }\n" ENTRY,
          "#define WIDTH 64\n#define GUARD\nconstexpr int A = WIDTH, B = 2;\nusing T = half;\nenum class Kind { ONE, "
          "TWO };\n"
          "template <typename E> class Loop : public Base<E> {\n    void Go() { Turn(Kind::ONE); }\n};\n"
          "void Turn(Kind k);\nvoid Run(GM_ADDR x) { Loop<T> l; l.Go(B); }\n" ENTRY);
}

static void test_namespaces(void **state)
{
    (void)state;
    check(
        "namespace a {\nnamespace b { int gone; }\nvoid Run(GM_ADDR x) { }\n} // namespace a\nnamespace c { int gone; "
        "}\nusing namespace a;\n" ENTRY,
        "namespace a {\nvoid Run(GM_ADDR x) { }\n} // namespace a\nusing namespace a;\n" ENTRY);
}

static void test_what_nobody_knows_stays(void **state)
{
    (void)state;
    check("#include <cstdint>\n#if defined(X)\n#pragma once\n#endif\nREGISTER_IT(Foo);\nT operator+(T a, T b) { return "
          "a; }\n" ENTRY,
          "#include <cstdint>\n#if defined(X)\n#pragma once\n#endif\nREGISTER_IT(Foo);\nT operator+(T a, T b) { return "
          "a; }\n" ENTRY);
    check("", "");
    check("}}} {", "}}} {\n");
}

static void test_tokens(void **state)
{
    static const char *const expected[] = {"a", "1'000u", "\"x\\\"//\"", "R\"m(\" )m\"", "'\\''", "#define N \\\n 2",
                                           "b"};
    struct scan scan = {.at = "a /* # */ 1'000u // c\n\"x\\\"//\" R\"m(\" )m\" '\\''\n  #define N \\\n 2\nb"};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(scan_next(&scan));
        assert_true(scan_is(&scan, expected[i]));
    }
    assert_false(scan_next(&scan));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_and_types),
        cmocka_unit_test(test_what_is_used_by_what_is_used),
        cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_what_nobody_knows_stays),
        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
