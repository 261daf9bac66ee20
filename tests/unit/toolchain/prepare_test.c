/* The source pass: what it changes, and what it must leave alone. */
#include "toolchain/toolchain_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

static void prepare(struct arena *arena, const char *text, const char *entry, bool tiling, struct prepared_source *out)
{
    prepare_source(arena, text, entry, tiling, out);
}

static void test_entry_is_renamed_and_columns_are_kept_track_of(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, "float f(float x) { return sqrt(x); }\nextern\"C\" __global__ __aicore__ void sqrt(GM_ADDR x) {}\n",
            "sqrt", false, &out);
    assert_true(out.has_entry);
    /* the call of the library's sqrt stays, and so does the number of lines */
    assert_string_equal(out.text, "float f(float x) { return sqrt(x); }\n"
                                  "extern\"C\" __global__ __aicore__ void akgen_kernel_sqrt(GM_ADDR x) {}\n");
    assert_int_equal(out.shift_count, 1);
    assert_int_equal(out.shifts[0].line, 2);
    assert_int_equal(out.shifts[0].column, 38);
    assert_int_equal(out.shifts[0].longer, 13);
    arena_free(&arena);
}

static void test_comments_and_strings_are_left_alone(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    const char *text = "// void add(int) [aicore]\n/* add<<<1>>>(x); */\nconst char *s = \"[aicore] void add(\";\n"
                       "const char *r = R\"x(void add( [aicore] )\" )x\";\nint n = 1'000;\n";
    prepare(&arena, text, "add", true, &out);
    assert_false(out.has_entry);
    assert_false(out.changed);
    assert_string_equal(out.text, text);
    arena_free(&arena);
}

static void test_aicore_and_launches(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, "inline [aicore] void f();\ninline [ aicore\n] void g();\nint a[3]; bool b = 1 << 2;\n", NULL,
            false, &out);
    assert_string_equal(out.text,
                        "inline _AICORE_ void f();\ninline _AICORE_\n  void g();\nint a[3]; bool b = 1 << 2;\n");
    prepare(&arena, "[host, aicore] int f();\n[host,aicore] int g(int host);\nint a[host, b], c[host];\n", NULL, false,
            &out);
    assert_string_equal(out.text,
                        "_HAICORE_      int f();\n_HAICORE_     int g(int host);\nint a[host, b], c[host];\n");
    prepare(&arena,
            "__aicore__ constexpr int f();\nstatic constexpr __aicore__ inline int g();\n"
            "__aicore__ inline int h() { constexpr int n = 1; return n; }\n",
            NULL, false, &out);
    assert_string_equal(out.text, "_HAICORE_  constexpr int f();\nstatic constexpr _HAICORE_  inline int g();\n"
                                  "__aicore__ inline int h() { constexpr int n = 1; return n; }\n");
    prepare(&arena,
            "static volatile __gm__ int flags[4] = {0};\n__gm__ int *pointer;\ntypedef __gm__ int number;\n"
            "void f(__gm__ int *x) { __gm__ uint8_t *y = x; }\n",
            NULL, false, &out);
    assert_string_equal(out.text,
                        "static volatile _GMVAR int flags[4] = {0};\n__gm__ int *pointer;\ntypedef __gm__ int number;\n"
                        "void f(__gm__ int *x) { __gm__ uint8_t *y = x; }\n");
    prepare(&arena,
            "#define ONE {\\\n  (\n[[block_local]] int a;\nnamespace n {\nconst float LEAST = *(float *)(&BITS);\n"
            "static const float MOST = *((float*)&BITS);\nvoid f() { const float x = *(float *)(&BITS); int y[2][[n]]; "
            "}\n}",
            NULL, false, &out);
    assert_string_equal(
        out.text,
        "#define ONE {\\\n  (\n__BLOCK_LOCAL__ int a;\nnamespace n {\nconst float LEAST = _B(float,BITS)   ;\n"
        "static const float MOST = _B(float,BITS)  ;\n"
        "void f() { const float x = *(float *)(&BITS); int y[2][[n]]; }\n}");
    prepare(&arena, "void add_do(int n) { int k; add<<<n, nullptr,\n s>>>(x, f(y)); k++; }", NULL, false, &out);
    assert_string_equal(out.text, "void add_do(int n) { int k;                  \n              ; k++; }");
    assert_true(out.changed);
    arena_free(&arena);
}

static enum entry_cores cores_of(const char *text)
{
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, text, "add", false, &out);
    assert_true(out.has_entry);
    arena_free(&arena);
    return out.cores;
}

static void test_qualifiers_name_the_cores(void **state)
{
    (void)state;
    assert_int_equal(cores_of("extern \"C\" __global__ __aicore__ void add(int x) {}"), ENTRY_UNNAMED);
    assert_int_equal(cores_of("__vector__ __global__ __aicore__ void add(int x) {}"), ENTRY_VECTOR);
    assert_int_equal(cores_of("extern \"C\" { __global__ __cube__ void add(int x) {} }"), ENTRY_CUBE);
    assert_int_equal(cores_of("__global__ __mix__(0, 1) void add(int x) {}"), ENTRY_MIX_0_1);
    assert_int_equal(cores_of("__global__ __mix__(1, 0) void add(int x) {}"), ENTRY_MIX_1_0);
    assert_int_equal(cores_of("__global__ __mix__( 1,1 ) void add(int x) {}"), ENTRY_MIX_1_1);
    assert_int_equal(cores_of("__schedmode__(1) __mix__(1, 2) __global__ __aicore__ void add(int x) {}"),
                     ENTRY_MIX_1_2);
    assert_int_equal(cores_of("__global__ __mix__(2, 1) void add(int x) {}"), ENTRY_UNNAMED);
    /* other functions' qualifiers are not the entry's; a declaration's are */
    assert_int_equal(cores_of("__cube__ void f() {}\n__global__ __aicore__ void add(int x);\n__cube__ int i;"),
                     ENTRY_UNNAMED);
    assert_int_equal(cores_of("__global__ __vector__ void add(int x);\n__global__ void add(int x) {}"), ENTRY_VECTOR);
}

static void test_tiling_parameter(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, "__global__ void add(GM_ADDR x, GM_ADDR workspace) {}", "add", true, &out);
    assert_string_equal(out.text, "__global__ void akgen_kernel_add(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {}");
    prepare(&arena, "__global__ void add(GM_ADDR workspace, GM_ADDR tiling) {}", "add", true, &out);
    assert_string_equal(out.text, "__global__ void akgen_kernel_add(GM_ADDR workspace, GM_ADDR tiling) {}");
    prepare(&arena, "__global__ void add(GM_ADDR workspace) {}", "add", false, &out);
    assert_string_equal(out.text, "__global__ void akgen_kernel_add(GM_ADDR workspace) {}");
    arena_free(&arena);
}

static void test_a_template_gets_its_chooser(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    const char *rest = ")\n#else\n#error the entry is a template, and nothing selects its arguments: "
                       "ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL of template_argument.h\n#endif\n";
    const char *text = "template <class K> void other() {}\n"
                       "template <typename T, int N = f<2>(1, 2), class U, bool B>\n"
                       "__global__ __aicore__ void add(GM_ADDR x, __gm__ pair<int, int> *y) { a < b; }";
    prepare(&arena, text, "add", false, &out);
    assert_true(out.is_template);
    const char *chooser = strstr(out.text, "\n#ifdef");
    assert_string_equal(chooser, arena_printf(&arena, "%s%s",
                                              "\n#ifdef AKGEN_TPL_ENTRY\nAKGEN_TPL_ENTRY(akgen_kernel_add, "
                                              "(AKGEN_TPL_TYPE(0), AKGEN_TPL_VALUE(1), AKGEN_TPL_TYPE(2), "
                                              "AKGEN_TPL_VALUE(3)), (GM_ADDR p0, GM_ADDR p1), (p0, p1)",
                                              rest));
    prepare(&arena, "template <int N> __global__ void add(GM_ADDR workspace) {}", "add", true, &out);
    assert_non_null(strstr(out.text, "(GM_ADDR p0, GM_ADDR p1), (p0, p1))"));
    /* beside a function of its name a template may stay unused */
    prepare(&arena, "template <int N> void add(GM_ADDR x) {}\n__global__ void add(GM_ADDR x) {}", "add", false, &out);
    assert_non_null(strstr(out.text, "AKGEN_TPL_ENTRY"));
    assert_null(strstr(out.text, "#error"));
    prepare(&arena, "template <int N> class add_of { int n; }; __global__ void add() {}", "add", true, &out);
    assert_false(out.is_template);
    assert_null(strstr(out.text, "AKGEN_TPL_ENTRY"));
    arena_free(&arena);
}

/* The place is behind the `[` of the array that `mark` stands for. */
static const char *array_at(struct arena *arena, const char *text, const char *mark)
{
    int line = 1, column = 1;
    for (const char *p = text; p < strstr(text, mark) + strlen(mark); p++, column++)
        if (*p == '\n')
            line++, column = 0;
    return prepare_array(arena, text, line, column);
}

static void test_arrays_of_a_size_known_at_run_time(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(array_at(&arena, "int b[2] = {};\nint a[n] = {1, 2}, c[n];\nint d;", "a["),
                        "int b[2] = {};\nint a[n], *akgen_array_a = akgen_array(&a[0], sizeof a / sizeof *a, {1, 2}), "
                        "c[n];\nint d;");
    assert_string_equal(array_at(&arena, "{ f(x[1]);\n  const uint32_t c[p->n()][2]\n = {\n{1, 2} }; }", "c["),
                        "{ f(x[1]);\n        uint32_t c[p->n()][2], *akgen_array_c = "
                        "akgen_array(&c[0], sizeof c / sizeof *c, \n{\n{1, 2} }); }");
    assert_string_equal(array_at(&arena, "const char *names[n]{\"]\"};", "names["),
                        "const char *names[n], *akgen_array_names = "
                        "akgen_array(&names[0], sizeof names / sizeof *names, {\"]\"});");
    assert_null(array_at(&arena, "int a[n];", "a["));
    assert_null(array_at(&arena, "int a[n] = b;", "a["));
    assert_null(array_at(&arena, "int a[n] = {1;", "a["));
    assert_null(array_at(&arena, "int a[n = {1};", "a["));
    assert_null(prepare_array(&arena, "int a[n] = {};", 2, 1));
    assert_null(prepare_array(&arena, "int a[n] = {};", 1, 99));
    assert_null(prepare_array(&arena, "int a[n] = {};", -1, -1));
    arena_free(&arena);
}

static void test_missing_entry_names_what_there_is(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, "extern \"C\" __global__ __aicore__ void other(int x) {}\n__global__ void more() {}", "add", false,
            &out);
    assert_false(out.has_entry);
    assert_string_equal(out.found, "other, more");
    prepare(&arena, "", "add", false, &out);
    assert_false(out.has_entry);
    assert_null(out.found);
    arena_free(&arena);
}

static void test_broken_sources_end(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    const char *const texts[] = {"/*",        "//\\",   "\"abc", "R\"(", "R\"abcdefghijklmnopqrstu(x",   "[aicore",
                                 "void add(", "add<<<", "'",     "\\",   "void add((GM_ADDR workspace)", "<<<>>>;"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        prepare(&arena, texts[i], "add", true, &out);
        assert_false(out.has_entry);
    }
    arena_free(&arena);
}

static bool uses(const char *text, const char *identifier)
{
    struct arena arena = {0};
    struct mentions mentions = {0};
    mentions_add(&arena, &mentions, text);
    bool found = mentions_has(&mentions, identifier);
    arena_free(&arena);
    return found;
}

static void test_mentions(void **state)
{
    (void)state;
    assert_true(uses("KernelAdd<DTYPE_X> op;", "DTYPE_X"));
    assert_false(uses("KernelAdd<DTYPE_X> op;", "DTYPE_X1"));
    assert_false(uses("KernelAdd<DTYPE_X1> op;", "DTYPE_X"));
    assert_false(uses("// DTYPE_X\n\"DTYPE_X\"", "DTYPE_X"));
    assert_true(uses("#define T(n) DTYPE_##n", "DTYPE_X"));
    assert_false(uses("#define T(n) other_##n", "DTYPE_X"));
}

static void test_an_entry_among_its_own_parameters(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    prepare(&arena, "void add(void add(GM_ADDR workspace), GM_ADDR workspace) {}\n", "add", true, &out);
    assert_string_equal(out.text,
                        "void akgen_kernel_add(void add(GM_ADDR workspace), GM_ADDR workspace, GM_ADDR tiling) {}\n");
    arena_free(&arena);
}

/* Each line that says where it is, in all the ways that the compiler reads; what only looks like one stays. */
static void test_lines_are_where_they_are(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct prepared_source out;
    static const char *const directives[] = {
        "#line 7 \"/a\"", "# 7 \"/a\" 3",           "  # /* x\n*/ line 7", "#\\\nline 7", "#li\\ \t\nne 7",
        "%:line 7",       "/* \n */ #line 7 \\\n8", "xR\"(\"\n#line 7",    "\r#line 7\r"};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const char *text = arena_printf(&arena, "int a;\n%s\nint b;\n", directives[i]);
        prepare(&arena, text, NULL, false, &out);
        assert_true(out.changed);
        assert_int_equal(strlen(out.text), strlen(text));
        assert_null(strstr(out.text, "line"));
        assert_null(strchr(out.text, '7'));
        assert_non_null(strstr(out.text, "\nint b;\n"));
    }
    prepare(&arena, "\xef\xbb\xbf#line 7\n", NULL, false, &out);
    assert_string_equal(out.text, "\xef\xbb\xbf       \n");
    const char *text =
        "#define S(line) #line\n#define T(line) \\\n  #line\n#liner\nconst char *s = R\"(\n#line 7\n)\";\n"
        "// \\\n#line 7\n/*\n#line 7\n*/\n#if line == 7\n#endif\nint c = 5 %:lined;\n";
    prepare(&arena, text, NULL, false, &out);
    assert_string_equal(out.text, text);
    assert_false(out.changed);
    arena_free(&arena);
}

/* A text that makes the pass look for the end of something from everywhere: a megabyte takes hundredths of a second, not
 * the square of that. */
static void test_time_is_in_proportion_to_the_text(void **state)
{
    enum { BYTES = 1 << 20, SECONDS = 5 };
    (void)state;
    static const char *const words[] = {"static ",
                                        "const ",
                                        "<",
                                        "f<<<a ",
                                        "template<",
                                        "void add() ",
                                        "void add(",
                                        "__global__ ",
                                        "namespace ",
                                        "[",
                                        "{",
                                        "#/**/",
                                        "__global__ a( ",
                                        "workspace ",
                                        "R\"(",
                                        "/* ",
                                        "\\\n",
                                        "__gm__ ",
                                        "__aicore__ ",
                                        "constexpr __aicore__ int f(",
                                        "a<<<1>>>(",
                                        "template < ;",
                                        "template <class T> void add(",
                                        "const float X = ",
                                        "[host, ",
                                        "[[block_local",
                                        "*(float *)(&",
                                        "#define A \\\n",
                                        "#li\\\n",
                                        "__global__ __aicore__ void add(GM_ADDR workspace"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct arena arena = {0};
        struct prepared_source out;
        size_t length = strlen(words[i]);
        char *text = arena_alloc(&arena, BYTES + length);
        for (size_t at = 0; at + length < BYTES; at += length)
            memcpy(text + at, words[i], length);
        clock_t start = clock();
        prepare(&arena, text, "add", true, &out);
        if (clock() - start > SECONDS * CLOCKS_PER_SEC)
            fail_msg("'%s' repeated takes %.1f s", words[i], (double)(clock() - start) / CLOCKS_PER_SEC);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_where_they_are),
        cmocka_unit_test(test_entry_is_renamed_and_columns_are_kept_track_of),
        cmocka_unit_test(test_comments_and_strings_are_left_alone),
        cmocka_unit_test(test_aicore_and_launches),
        cmocka_unit_test(test_qualifiers_name_the_cores),
        cmocka_unit_test(test_tiling_parameter),
        cmocka_unit_test(test_a_template_gets_its_chooser),
        cmocka_unit_test(test_arrays_of_a_size_known_at_run_time),
        cmocka_unit_test(test_missing_entry_names_what_there_is),
        cmocka_unit_test(test_broken_sources_end),
        cmocka_unit_test(test_mentions),
        cmocka_unit_test(test_an_entry_among_its_own_parameters),
        cmocka_unit_test(test_time_is_in_proportion_to_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
