/* The operator projects of tests/kernels/negative: each has one mistake, on the line marked BUG, and the file
 * `expected` says which class of mistake it is (class ...) and what the compiler says of it (message REGEX). */
#include "base/files.h"
#include "candidate/folder.h"
#include "toolchain/toolchain.h"

#include <dirent.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_LEAST = 20 }; /* projects there are; fewer means that they were not found */

struct expectation {
    char class[16], message[256];
    int line;
};

static FILE *open_file(struct arena *arena, const char *dir, const char *name)
{
    FILE *file = fopen(arena_printf(arena, "%s/%s", dir, name), "r");
    if (!file)
        fail_msg("%s: no %s", dir, name);
    return file;
}

static struct expectation read_expectation(struct arena *arena, const char *dir)
{
    struct expectation expected = {.line = 0};
    FILE *file = open_file(arena, dir, "expected");
    if (fscanf(file, "class %15s\nmessage %255[^\n]", expected.class, expected.message) != 2)
        fail_msg("%s/expected: not 'class ...' and 'message ...'", dir);
    fclose(file);
    file = open_file(arena, dir, "op_kernel/scale_custom.cpp");
    char text[512];
    for (int line = 1; fgets(text, sizeof text, file); line++)
        if (strstr(text, "// BUG:"))
            expected.line = line;
    fclose(file);
    return expected;
}

static bool says(const struct diagnostic *diagnostic, const struct expectation *expected)
{
    regex_t regex;
    if (regcomp(&regex, expected->message, REG_EXTENDED | REG_NOSUB))
        fail_msg("not a regular expression: %s", expected->message);
    bool match = !regexec(&regex, diagnostic->message, 0, NULL, 0);
    regfree(&regex);
    return match;
}

/* Whether the build of the project in `dir` reports what was planted; prints what it reports instead. */
static bool reports_the_bug(const char *dir, const char *cache)
{
    struct arena arena = {0};
    struct expectation expected = read_expectation(&arena, dir);
    struct op_project project;
    struct candidate_source source;
    struct build build;
    assert_null(candidate_source_read(&arena, NULL, dir, &source));
    assert_null(op_project_find(&arena, &source.files, "ScaleCustom", true, &project));
    assert_null(toolchain_build(&arena, &project, &(struct build_options){.cache_dir = cache, .jobs = 1}, &build));
    bool found = false;
    for (int i = 0; i < build.diagnostic_count && !found; i++) {
        const struct diagnostic *d = &build.diagnostics[i];
        found = build.stage == BUILD_KERNEL && d->error && !d->unsupported && d->line == expected.line &&
                !strcmp(diagnostic_class_name(d->class), expected.class) && says(d, &expected);
    }
    if (!found) {
        print_message("%s: expected %s on line %d, '%s'; stage %d\n", dir, expected.class, expected.line,
                      expected.message, build.stage);
        for (int i = 0; i < build.diagnostic_count; i++)
            print_message("    %s:%d: %s [%s]\n", build.diagnostics[i].file, build.diagnostics[i].line,
                          build.diagnostics[i].message, diagnostic_class_name(build.diagnostics[i].class));
    }
    arena_free(&arena);
    return found;
}

static void test_every_project(void **state)
{
    (void)state;
    char cache[] = "/tmp/akgen-negative-XXXXXX", path[512];
    assert_non_null(mkdtemp(cache));
    snprintf(path, sizeof path, "%s/tests/kernels/negative", toolchain_home());
    DIR *projects = opendir(path);
    assert_non_null(projects);
    int count = 0, wrong = 0;
    for (struct dirent *entry; (entry = readdir(projects));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/tests/kernels/negative/%s", toolchain_home(), entry->d_name);
        count++;
        wrong += !reports_the_bug(path, cache);
    }
    closedir(projects);
    files_remove_tree(cache);
    assert_int_equal(wrong, 0);
    assert_true(count >= AT_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_project)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
