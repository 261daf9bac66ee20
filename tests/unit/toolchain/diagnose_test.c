/* Reading what the compiler printed: places, classes, cached forms. */
#include "base/files.h"
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct diagnose_places places = {.project = "/p/add"};

static void test_place_and_class(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    diagnose(&arena,
             "/p/add/op_kernel/add.cpp:12:5: error: use of undeclared identifier 'M_PI'\n"
             "/p/add/op_kernel/add.cpp:12:5: error: use of undeclared identifier 'M_PI'\n"
             "1 error generated.\n",
             &places, &list);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].file, "op_kernel/add.cpp");
    assert_int_equal(list.items[0].line, 12);
    assert_int_equal(list.items[0].column, 5);
    assert_int_equal(list.items[0].class, DIAG_SCOPE);
    assert_true(list.items[0].error);
    arena_free(&arena);
}

static void test_error_in_a_header_moves_to_the_innermost_line_of_the_project(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    diagnose(&arena,
             "In file included from <built-in>:1:\n"
             "/home/include/ascendc/vec.h:40:5: error: static assertion failed: Add: data type not supported\n"
             "/home/include/ascendc/vec.h:90:7: note: in instantiation of function template specialization 'f' "
             "requested here\n"
             "/p/add/op_kernel/add.h:33:9: note: in instantiation of function template specialization 'Add<bool>' "
             "requested here\n"
             "/p/add/op_kernel/add.cpp:70:9: note: in instantiation of member function 'K::Process' requested here\n"
             "/home/include/ascendc/vec.h:7:7: warning: unused\n",
             &places, &list);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].file, "op_kernel/add.h");
    assert_int_equal(list.items[0].line, 33);
    assert_int_equal(list.items[0].class, DIAG_DTYPE);
    arena_free(&arena);
}

/* A folder with a header of "ours", for messages that are believed only where the text bears them out. */
static const char *make_folder(struct arena *arena)
{
    static const char header[] = "#pragma once\n"
                                 "#error \"akgen-unsupported: b.h\"\n"
                                 "\n\n\n\n\n\n"
                                 "LACKS(MmadWithSparse)\n"
                                 "void MmadWithSparse();\n";
    char *dir = arena_strdup(arena, "/tmp/akgen-diagnose-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_null(files_make_directory(arena_printf(arena, "%s/include", dir)));
    assert_null(files_write(arena_printf(arena, "%s/include/b.h", dir), header, sizeof header - 1));
    return dir;
}

/* The same, with a project of one file. */
static void diagnose_in(struct arena *arena, const char *dir, const char *output, struct diagnostic_list *list)
{
    static const char source[] = "AscendC::Shape<int> a;\n"
                                 "AscendC::Std::Int<3> b;\n"
                                 "Layout<int> c;\n"
                                 "Tiling::Shape d;\n"
                                 "AscendC::Shapes e;\n"
                                 "#include \"hccl/hccl_types.h\"\n"
                                 "#include \"hccl.h\"\n"
                                 "#include \"hccl/mine.h\"\n"
                                 "#error no template named 'Shape'\n"
                                 "#error 'hccl/hccl_types.h' file not found\n"
                                 "#if TILING_KEY_VAR == 3\n";
    static const struct op_file file = {"a.cpp", source, sizeof source - 1};
    const struct op_files files = {&file, 1};
    const struct diagnose_places own = {.project = arena_printf(arena, "%s/p", dir),
                                        .files = &files,
                                        .headers = arena_printf(arena, "%s/include", dir)};
    diagnose(arena, output, &own, list);
}

static void test_error_in_an_included_header_is_placed_at_the_include(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    const char *dir = make_folder(&arena);
    diagnose_in(&arena, dir,
                arena_printf(&arena,
                             "In file included from %s/p/add.cpp:4:\n"
                             "In file included from %s/p/add.h:9:\n"
                             "In file included from %s/include/a.h:2:\n"
                             "%s/include/b.h:2:2: error: \"akgen-unsupported: b.h\"\n"
                             "%s/include/c.h:3:2: error: unknown type name 'x'\n",
                             dir, dir, dir, dir, dir),
                &list);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0].file, "add.h");
    assert_int_equal(list.items[0].line, 9);
    assert_string_equal(list.items[0].unsupported, "b.h");
    assert_string_equal(list.items[1].file, "c.h");
    files_remove_tree(dir);
    arena_free(&arena);
}

/* The mark counts where a line of our headers names the API: of the message, or of a note on it. */
static void test_unsupported_is_what_our_headers_name(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    const char *dir = make_folder(&arena);
    diagnose_in(
        &arena, dir,
        arena_printf(&arena,
                     "%s/p/a.cpp:1:1: error: 'MmadWithSparse' is unavailable: akgen-unsupported: MmadWithSparse\n"
                     "%s/include/b.h:10:6: note: 'MmadWithSparse' has been explicitly marked unavailable here\n"
                     "%s/p/a.cpp:2:1: error: static assertion failed: akgen-unsupported: MmadWithSparse\n"
                     "%s/p/a.cpp:3:1: error: 'mine' is unavailable: akgen-unsupported: MmadWithSparse\n"
                     "%s/p/a.cpp:1:6: note: 'mine' has been explicitly marked unavailable here\n"
                     "%s/include/b.h:10:6: error: akgen-unsupported: Another\n"
                     "%s/include/none.h:10:6: error: akgen-unsupported: MmadWithSparse\n",
                     dir, dir, dir, dir, dir, dir, dir),
        &list);
    assert_int_equal(list.count, 5);
    assert_string_equal(list.items[0].unsupported, "MmadWithSparse");
    for (int i = 1; i < 5; i++)
        assert_null(list.items[i].unsupported);
    files_remove_tree(dir);
    arena_free(&arena);
}

static void test_our_prefix_is_hidden(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    diagnose(&arena, "/p/add/op_kernel/a.cpp:4:1: error: redefinition of 'akgen_kernel_add'\n", &places, &list);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].message, "redefinition of 'add'");
    arena_free(&arena);
}

static void test_names_that_no_header_can_hold_are_unsupported(void **state)
{
    (void)state;
    static const struct {
        const char *place, *message, *unsupported;
    } rows[] = {
        {"1:10", "no member named 'Shape' in namespace 'AscendC'", "Shape"},
        {"2:15", "no member named 'Int' in namespace 'AscendC::Std'", "Int"},
        {"3:1", "no template named 'Layout'", "Layout"},
        {"4:9", "no member named 'Shape' in 'Tiling'", NULL},
        {"5:10", "no member named 'Shapes' in namespace 'AscendC'", NULL},
        {"6:10", "'hccl/hccl_types.h' file not found", "hccl/hccl_types.h"},
        {"7:10", "'hccl.h' file not found", NULL},
        {"8:10", "'hccl/mine.h' file not found", NULL},
        {"9:2", "no template named 'Shape'", NULL},
        {"10:2", "'hccl/hccl_types.h' file not found", NULL},
        {"3:1", "static assertion failed: no template named 'Layout'", NULL},
        {"11:5", "function-like macro 'npu_tiling_key' is not defined", "TILING_KEY_VAR in #if"},
        {"3:1", "function-like macro 'npu_tiling_key' is not defined", NULL},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct arena arena = {0};
    const char *dir = make_folder(&arena);
    for (int i = 0; i < ROWS; i++) {
        struct diagnostic_list list = {0};
        diagnose_in(&arena, dir,
                    arena_printf(&arena, "%s/p/a.cpp:%s: error: %s\n", dir, rows[i].place, rows[i].message), &list);
        assert_int_equal(list.count, 1);
        if (rows[i].unsupported)
            assert_string_equal(list.items[0].unsupported, rows[i].unsupported);
        else
            assert_null(list.items[0].unsupported);
    }
    files_remove_tree(dir);
    arena_free(&arena);
}

/* What is no UTF-8 could not be kept in the cache. */
static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    diagnose(&arena, "/p/add/a.cpp:4:1: error: \xff\xfe \xc3\xa4 \xe4\xbd\xa0 \xed\xa0\x80 \xf0\x9f\x98\x80\n", &places,
             &list);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].message, "?? \xc3\xa4 \xe4\xbd\xa0 ??? \xf0\x9f\x98\x80");
    arena_free(&arena);
}

static void test_columns_behind_an_insertion_move_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    const struct prepared_source prepared = {.shifts = {{.line = 2, .column = 10, .longer = 13}}, .shift_count = 1};
    const struct diagnose_places shifted = {.project = "/p", .shifted = "/p/a.cpp", .prepared = &prepared};
    diagnose(&arena,
             "/p/a.cpp:2:30: error: x\n/p/a.cpp:2:5: error: y\n/p/a.cpp:3:30: error: z\n/p/a.cpp:2:12: error: w\n",
             &shifted, &list);
    assert_int_equal(list.items[0].column, 17);
    assert_int_equal(list.items[1].column, 5);
    assert_int_equal(list.items[2].column, 30);
    assert_int_equal(list.items[3].column, 10);
    arena_free(&arena);
}

static void test_classes_of_the_papers_errors(void **state)
{
    (void)state;
    static const struct {
        const char *message, *notes;
        enum diagnostic_class class;
    } rows[] = {
        {"no matching function for call to 'Muls'", "candidate template ignored: substitution failure", DIAG_API},
        {"too many arguments to function call, expected 2, have 3", "", DIAG_API},
        {"no matching function for call to 'Sub'",
         "candidate template ignored: deduced conflicting types for parameter 'T' ('LocalTensor<float>' vs. "
         "'LocalTensor<half>')",
         DIAG_DTYPE},
        {"cannot initialize a variable of type 'int' with an lvalue of type 'half'", "", DIAG_DTYPE},
        {"use of undeclared identifier 'FLT_MAX'", "", DIAG_SCOPE},
        {"reference to __host__ function 'fabs' in __device__ function", "", DIAG_SCOPE},
        {"no member named 'Pop' in 'AscendC::TQue<AscendC::QuePosition::VECIN, 2>'", "", DIAG_MEMORY},
        {"reinterpret_cast from 'uint64_t' to '__gm__ float *' is not allowed", "", DIAG_MEMORY},
        {"expected ';' after expression", "", DIAG_SYNTAX},
        {"invalid digit 'a' in decimal constant", "", DIAG_SYNTAX},
        {"invalid suffix 'x' on integer constant", "", DIAG_SYNTAX},
        {"'BUFFER_NUM' macro redefined", "", DIAG_MACRO},
        {"redefinition of 'BUFFER_NUM'", "", DIAG_MACRO},
        {"unterminated conditional directive", "", DIAG_MACRO},
        {"expected expression", "expanded from macro 'TILING_KEY_IS'", DIAG_MACRO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum diagnostic_class class = classify(rows[i].message, rows[i].notes);
        if (class != rows[i].class)
            fail_msg("'%s' is classed %s, not %s", rows[i].message, diagnostic_class_name(class),
                     diagnostic_class_name(rows[i].class));
    }
}

static void test_cache_gives_back_what_it_took_and_rejects_damage(void **state)
{
    (void)state;
    struct arena arena = {0};
    char dir[] = "/tmp/akgen-cache-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const struct clang clang = {.cache = dir};
    const char *so = arena_printf(&arena, "%s/made.so", dir);
    assert_null(files_write(so, "object", 6));
    struct diagnostic item = {
        .class = DIAG_MACRO, .file = "op_kernel/a.cpp", .line = 3, .column = 4, .message = "m", .text = "t"};
    struct diagnostic_list list = {.items = &item, .count = 1, .capacity = 1}, loaded = {0};
    struct cache_entry entry = {.good = true}, found;
    assert_false(cache_load(&arena, &clang, "abcd", &found, &loaded));
    assert_null(cache_store(&arena, &clang, "abcd", so, &list, &entry));
    assert_true(cache_load(&arena, &clang, "abcd", &found, &loaded));
    assert_true(found.good);
    assert_string_equal(found.so, entry.so);
    assert_int_equal(loaded.count, 1);
    assert_string_equal(loaded.items[0].text, "t");
    assert_int_equal(loaded.items[0].class, DIAG_MACRO);
    assert_null(files_write(entry.so, "objecT", 6));
    assert_false(cache_load(&arena, &clang, "abcd", &found, &loaded));
    assert_null(files_write(arena_printf(&arena, "%s/objects/ab/abcd.json", dir), "{\"good\":tr", 10));
    assert_false(cache_load(&arena, &clang, "abcd", &found, &loaded));
    files_remove_tree(dir);
    arena_free(&arena);
}

static void test_cache_keeps_a_sound_object_in_place(void **state)
{
    (void)state;
    struct arena arena = {0};
    char dir[] = "/tmp/akgen-cache-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const struct clang clang = {.cache = dir};
    struct diagnostic_list list = {0}, loaded = {0};
    struct cache_entry first = {.good = true}, again = {.good = true}, other = {.good = true}, found;
    const char *so = arena_printf(&arena, "%s/made.so", dir);
    struct stat before, after;
    assert_null(files_write(so, "object", 6));
    assert_null(cache_store(&arena, &clang, "abcd", so, &list, &first));
    assert_int_equal(stat(first.so, &before), 0);
    /* Built once more at the same time: the same file, for a jail is opened for it. */
    assert_null(files_write(so, "object", 6));
    assert_null(cache_store(&arena, &clang, "abcd", so, &list, &again));
    assert_string_equal(again.so, first.so);
    assert_int_equal(stat(again.so, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    /* Another result does not take the place of what somebody may be running. */
    assert_null(files_write(so, "objecT", 6));
    assert_null(cache_store(&arena, &clang, "abcd", so, &list, &other));
    assert_string_not_equal(other.so, first.so);
    assert_int_equal(stat(first.so, &after), 0);
    assert_true(cache_load(&arena, &clang, "abcd", &found, &loaded));
    assert_string_equal(found.so, other.so);
    /* A damaged one is replaced. */
    assert_null(files_write(other.so, "broken", 6));
    assert_null(files_write(so, "objecT", 6));
    assert_null(cache_store(&arena, &clang, "abcd", so, &list, &other));
    assert_true(cache_load(&arena, &clang, "abcd", &found, &loaded));
    files_remove_tree(dir);
    arena_free(&arena);
}

/* What #line names is neither read nor named: these are files of the machine, reached from nowhere, by a path that only seems to
 * lie in the project, and relative to where akgen runs. */
static void test_only_sources_are_read(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    const char *dir = make_folder(&arena);
    diagnose_in(&arena, dir,
                arena_printf(&arena,
                             "/etc/passwd:1:1: error: one\n"
                             "%s/p/../include/../../../etc/passwd:1:1: error: two\n"
                             "etc/passwd:1:1: error: three\n"
                             "../etc/passwd:1:1: error: four\n"
                             "%s/p/x/../a.cpp:1:1: error: five, in %s/p/a.cpp:7\n"
                             "/usr/include/stdio.h:1:1: error: six\n",
                             dir, dir, dir),
                &list);
    assert_int_equal(list.count, 6);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(list.items[i].file, "");
        assert_int_equal(list.items[i].line, 0);
        assert_null(list.items[i].text);
    }
    assert_string_equal(list.items[4].text, "AscendC::Shape<int> a;");
    assert_string_equal(list.items[4].message, "five, in a.cpp:7");
    assert_string_equal(list.items[5].file, "stdio.h");
    assert_null(list.items[5].text);
    files_remove_tree(dir);
    arena_free(&arena);
}

/* A line of 8 MB is shown in part, and read once for each message that is kept and for no other. */
static void test_long_lines_cost_little(void **state)
{
    enum { LONG = 8 << 20, WARNINGS = 2000 };
    (void)state;
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    const char *dir = make_folder(&arena);
    const struct op_file file = {"long.h", memset(arena_alloc(&arena, LONG + 1), 'x', LONG), LONG};
    const struct op_files files = {&file, 1};
    struct text output = {0};
    for (int i = 0; i < WARNINGS; i++)
        text_addf(&output, "%s/p/long.h:1:%d: warning: number %d\n", dir, i + 1, i);
    struct arena kept = {0};
    const struct diagnose_places own = {.project = arena_printf(&arena, "%s/p", dir), .files = &files};
    diagnose(&kept, output.bytes, &own, &list);
    assert_int_equal(list.count, 100);
    size_t bytes = 0;
    for (int i = 0; i < list.count; i++)
        bytes += strlen(list.items[i].text) + strlen(list.items[i].message);
    assert_in_range(bytes, 1, 200000);
    text_free(&output);
    files_remove_tree(dir);
    arena_free(&kept);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_and_class),
        cmocka_unit_test(test_error_in_a_header_moves_to_the_innermost_line_of_the_project),
        cmocka_unit_test(test_error_in_an_included_header_is_placed_at_the_include),
        cmocka_unit_test(test_unsupported_is_what_our_headers_name),
        cmocka_unit_test(test_our_prefix_is_hidden),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_names_that_no_header_can_hold_are_unsupported),
        cmocka_unit_test(test_columns_behind_an_insertion_move_back),
        cmocka_unit_test(test_classes_of_the_papers_errors),
        cmocka_unit_test(test_cache_gives_back_what_it_took_and_rejects_damage),
        cmocka_unit_test(test_cache_keeps_a_sound_object_in_place),
        cmocka_unit_test(test_only_sources_are_read),
        cmocka_unit_test(test_long_lines_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
