/* Objects made by the compiler and the linker that candidates get: what is loaded runs nothing until it is told to, and what
 * would run all the same, or draw in another object, is refused by name. */
#include "jail/inside/load.h"
#include "base/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char work[] = "/tmp/akgen-load-test-XXXXXX";
static struct arena arena;

static const char *build(const char *source, const char *linker_options)
{
    static int number;
    const char *text = arena_printf(&arena, "%s/%d.c", work, ++number),
               *so = arena_printf(&arena, "%s/%d.so", work, number);
    assert_null(files_write(text, source, strlen(source)));
    const char *command = arena_printf(
        &arena, "clang-19 -fPIC -O1 -c %s -o %s.o && ld.lld-19 -shared -Bsymbolic -zmuldefs --threads=1 %s %s.o -o %s",
        text, so, linker_options, so, so);
    assert_int_equal(system(command), 0);
    return so;
}

static const char *try_to_load(const char *so, struct object_loaded *loaded)
{
    bool broken;
    const char *problem = load_prepare(&arena, so, loaded, &broken);
    assert_false(broken);
    if (problem && loaded->fd >= 0)
        close(loaded->fd);
    return problem ? problem : load_object(&arena, loaded);
}

static int *variable(const struct object_loaded *loaded, const char *name)
{
    int *found = dlsym(loaded->handle, name);
    assert_non_null(found);
    return found;
}

static const char counting[] =
    "volatile int order[9], count, twice = 1;\n"
    "extern char **environ; int (*self)(void);\n"
    "int get(void) { return count; }\n"
    "__attribute__((constructor(300))) static void second(void) { order[count++] = 2; self = get; }\n"
    "__attribute__((constructor(200))) static void first(int argc, char **argv, char **all) {\n"
    "    order[count++] = 1; if (all != environ || !argv || argc) twice = 2; }\n"
    "__attribute__((constructor)) static void third(void) { order[count++] = 3; }\n"
    "__attribute__((destructor)) static void gone(void) { __builtin_trap(); }\n";

static void test_initialisers_run_when_they_are_told_to(void **state)
{
    (void)state;
    struct object_loaded loaded;
    assert_null(try_to_load(build(counting, ""), &loaded));
    int *count = variable(&loaded, "count"), *order = variable(&loaded, "order");
    assert_int_equal(*count, 0);
    load_initialise(&loaded);
    assert_int_equal(*count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(order[i], i + 1);
    assert_int_equal(*variable(&loaded, "twice"), 1);
    assert_int_equal(dlclose(loaded.handle), 0); /* nor do the others run */
}

static void test_a_function_that_the_linker_is_told_of(void **state)
{
    (void)state;
    struct object_loaded loaded;
    static const char source[] =
        "volatile int count; void begin(void) { count = count * 10 + 1; }\nvoid end(void) { __builtin_trap(); }\n"
        "__attribute__((constructor)) static void late(void) { count = count * 10 + 2; }\n";
    assert_null(try_to_load(build(source, "-init=begin -fini=end"), &loaded));
    int *count = variable(&loaded, "count");
    assert_int_equal(*count, 0);
    load_initialise(&loaded);
    assert_int_equal(*count, 12);
    assert_int_equal(dlclose(loaded.handle), 0);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char ifunc[] =
        "static int one(void) { return 1; }\nstatic void *choose(void) { __builtin_trap(); return one; }\n"
        "%sint chosen(void) __attribute__((ifunc(\"choose\")));\n"
        "int (*pointer)(void) = chosen;\nint call(void) { return chosen(); }\n";
    const struct {
        const char *source, *options, *reason;
    } rows[] = {
        {arena_printf(&arena, ifunc, ""), "", "a function chosen when it is loaded"},
        {arena_printf(&arena, ifunc, "static "), "", "a function chosen when it is loaded"},
        {"int x;", "-l:libm.so.6 -L/lib/x86_64-linux-gnu -L/lib/aarch64-linux-gnu", "the tag 0x1 in"},
        {"int x;", "-rpath=/tmp --disable-new-dtags", "the tag 0xf in"},
        {"int x;", "-rpath=/tmp", "the tag 0x1d in"},
        {"int x;", "-F other.so", "the tag 0x7fffffff in"},
        {"int x;", "-f other.so", "the tag 0x7ffffffd in"},
        {"int x;", "-zexecstack", "a stack that can be executed"},
        {"int x;", "-zorigin", "in its dynamic section"},
        {"int x;", "-znodelete", "the tag 0x6ffffffb in"},
        {"int x;", "--hash-style=gnu", "no table of symbols"},
        {"int x; int *const y = &x;", "-N --no-check-sections", "memory that can be written and executed"},
        {"static void f(void) {}\n__attribute__((section(\".preinit_array\"), used)) static void (*p)(void) = f;", "",
         "a list of functions that run before everything else"},
        {"extern int nowhere(void); int call(void) { return nowhere(); }", "", "undefined symbol: nowhere"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct object_loaded loaded;
        const char *problem = try_to_load(build(rows[i].source, rows[i].options), &loaded);
        if (!rows[i].reason ? problem != NULL : !problem || !strstr(problem, rows[i].reason))
            fail_msg("row %zu ('%s'): %s", i, rows[i].options, problem ? problem : "it was loaded");
    }
}

/* Whatever a byte is changed into: nothing outside of the file is read. */
static void test_what_is_no_object(void **state)
{
    (void)state;
    struct initialisers found;
    char *bytes;
    size_t length;
    assert_null(files_read(&arena, build(counting, ""), 1 << 20, &bytes, &length));
    for (size_t cut = 0; cut < length; cut += 1 + cut / 8) {
        char *copy = malloc(cut + 1);
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        const char *problem = strip(&arena, copy, cut, &found);
        assert_true(problem || cut > 512); /* at its end stands what no loader reads */
        free(copy);
    }
    bool broken;
    struct object_loaded loaded;
    assert_non_null(strstr(load_prepare(&arena, "/nowhere/host.so", &loaded, &broken), "cannot be read"));
    assert_true(broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initialisers_run_when_they_are_told_to),
        cmocka_unit_test(test_a_function_that_the_linker_is_told_of),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_what_is_no_object),
    };
    if (!mkdtemp(work))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    files_remove_tree(work);
    arena_free(&arena);
    return failed;
}
