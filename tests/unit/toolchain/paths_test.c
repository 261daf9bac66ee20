/* CANN's paths: every one that include/ascendc/paths.txt and include/cann/paths.txt list is found by the compiler, in its
 * jail, and leads to its header. */
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
#include <sys/wait.h>
#include <unistd.h>

static const struct side {
    enum clang_side side;
    const char *folder;
    size_t at_least; /* paths; fewer means that the list was not read */
} kernels = {CLANG_KERNEL, "ascendc", 400}, hosts = {CLANG_HOST, "cann", 40};

static char cache[] = "/tmp/akgen-paths-XXXXXX";
static struct arena arena;
static struct clang found;

static int find(void **state)
{
    (void)state;
    struct akgen_error *error = mkdtemp(cache) ? clang_find(&arena, cache, &found) : error_new("%s: %m", cache);
    if (error)
        print_error("%s\n", error->message);
    return error != NULL;
}

static int remove_cache(void **state)
{
    (void)state;
    files_remove_tree(cache);
    arena_free(&arena);
    return 0;
}

static struct path_list list_of(const struct side *side)
{
    struct path_list list = {0};
    const char *file = arena_printf(&arena, "%s/include/%s/paths.txt", found.home, side->folder);
    assert_null(paths_read(&arena, file, &list));
    assert_true(list.count >= side->at_least);
    return list;
}

static const char *header_of(const struct side *side, const char *path)
{
    return arena_printf(&arena, "%s/include/%s/%s", found.home, side->folder, path);
}

/* Compiles the text as a source of that side, without a precompiled header. */
static void compile(const struct side *side, const char *text, struct sandbox_result *result)
{
    struct work_directory work;
    struct source_view view;
    struct clang_args args = {0};
    const struct op_file source = {"source.cpp", text, strlen(text)};
    assert_null(work_make(&arena, found.cache, &work));
    source_view_open(&arena, &view, work.path, &(struct op_files){&source, 1});
    clang_common_flags(&arena, &found, side->side, &args);
    clang_add(&arena, &args, "-fsyntax-only");
    clang_add(&arena, &args, "-H"); /* names each file that is included */
    clang_add(&arena, &args, source_view_path(&arena, &view, source.path));
    clang_run(&arena, &found, &args, &view, work.path, result);
    source_view_close(&view);
    work_remove(&work);
}

static void expect_all(const struct side *side)
{
    struct path_list list = list_of(side);
    struct text text = {0};
    struct sandbox_result result;
    for (size_t i = 0; i < list.count; i++)
        text_addf(&text, "#include \"%s\"\n#include <%s>\n", list.items[i].path, list.items[i].path);
    compile(side, text.bytes, &result);
    if (result.exit_code)
        fail_msg("%s", result.output);
    text_free(&text);
}

static void test_all_paths_of_kernels_in_one_source(void **state)
{
    (void)state;
    expect_all(&kernels);
}

static void test_all_paths_of_host_parts_in_one_source(void **state)
{
    (void)state;
    expect_all(&hosts);
}

/* One path of each header, alone. */
static void expect_alone(const struct side *side)
{
    struct path_list list = list_of(side);
    for (size_t i = 0; i < list.count; i++) {
        const struct cann_path *row = &list.items[i];
        struct sandbox_result result;
        if (i && !strcmp(row->header, list.items[i - 1].header))
            continue;
        compile(side, arena_printf(&arena, "#include \"%s\"\n", row->path), &result);
        if (result.exit_code || !strstr(result.output, arena_printf(&arena, "%s\n", header_of(side, row->header))))
            fail_msg("%s does not lead to %s:\n%s", row->path, row->header, result.output);
    }
}

static void test_a_path_alone_leads_to_its_header(void **state)
{
    (void)state;
    expect_alone(&kernels);
    expect_alone(&hosts);
}

static void test_no_path_is_a_header_or_stands_twice(void **state)
{
    (void)state;
    static const struct side *const sides[] = {&kernels, &hosts};
    for (int side = 0; side < 2; side++) {
        struct path_list list = list_of(sides[side]);
        for (size_t i = 0; i < list.count; i++) {
            if (files_exists(header_of(sides[side], list.items[i].path)))
                fail_msg("%s is a header itself", list.items[i].path);
            for (size_t j = 0; j < i; j++)
                if (!strcmp(list.items[i].path, list.items[j].path))
                    fail_msg("%s stands twice", list.items[i].path);
        }
    }
}

/* The number of files of the side that are there in full. */
static size_t made(const struct side *side)
{
    struct path_list list = list_of(side);
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        char *text;
        const char *file = arena_printf(&arena, "%s/%s/%s", found.paths, side->folder, list.items[i].path);
        struct akgen_error *error = files_read(&arena, file, 1024, &text, NULL);
        count += !error && !strcmp(text, arena_printf(&arena, "#include <%s>\n", list.items[i].header));
        error_free(error);
    }
    return count;
}

static void test_what_was_removed_or_cut_off_is_made_again(void **state)
{
    (void)state;
    size_t all = list_of(&kernels).count;
    assert_int_equal(made(&kernels), all);
    const char *folder = arena_printf(&arena, "%s/ascendc", found.paths);
    assert_int_equal(unlink(arena_printf(&arena, "%s/adv_api/matmul/matmul.h", folder)), 0);
    assert_int_equal(truncate(arena_printf(&arena, "%s/utils/debug/asc_assert.h", folder), 3), 0);
    files_remove_tree(arena_printf(&arena, "%s/lib", folder));
    assert_true(made(&kernels) < all - 2);
    assert_null(paths_make(&arena, &found));
    assert_int_equal(made(&kernels), all);
    files_remove_tree(found.paths);
    assert_null(clang_find(&arena, cache, &found));
    assert_int_equal(made(&kernels), all);
}

static void test_processes_make_them_side_by_side(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    size_t all = list_of(&kernels).count + list_of(&hosts).count;
    pid_t children[PROCESSES];
    files_remove_tree(found.paths);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (!children[i])
            _exit(clang_find(&arena, cache, &found) || made(&kernels) + made(&hosts) != all);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static void test_a_path_above_the_first_header(void **state)
{
    (void)state;
    const char *file = arena_printf(&arena, "%s/paths.txt", cache), text[] = "# why\n\n    lib/a.h\nb.h\n";
    struct path_list list = {0};
    assert_null(files_write(file, text, sizeof text - 1));
    struct akgen_error *error = paths_read(&arena, file, &list);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "paths.txt:3: the path 'lib/a.h' stands above the first header"));
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_paths_of_kernels_in_one_source),
        cmocka_unit_test(test_all_paths_of_host_parts_in_one_source),
        cmocka_unit_test(test_a_path_alone_leads_to_its_header),
        cmocka_unit_test(test_no_path_is_a_header_or_stands_twice),
        cmocka_unit_test(test_what_was_removed_or_cut_off_is_made_again),
        cmocka_unit_test(test_processes_make_them_side_by_side),
        cmocka_unit_test(test_a_path_above_the_first_header),
    };
    return cmocka_run_group_tests(tests, find, remove_cache);
}
