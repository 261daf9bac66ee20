/* The compile server against clang itself: projects of tests/kernels, built both ways, give the same diagnostics and the same
 * objects, byte by byte; and what becomes of a server that ends. */
/* test: builds=release cost=120 */
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/workers.h"
#include "jail/job_exchange.h"
#include "candidate/folder.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OBJECT_LIMIT = 64 << 20,
    PROJECTS_MAX = 1000,
    WORKERS = 2
};

static double seconds; /* build_options.seconds */
static char cache[] = "/tmp/akgen-pool-test-XXXXXX";

/* One project of tests/kernels. */
struct project {
    const char *dir;
    struct op_files question; /* whose host part it gets; none */
};

/* The value of `key` in a project's file `expected`, or NULL. */
static const char *expected_value(struct arena *arena, const char *dir, const char *key)
{
    char *text;
    struct akgen_error *error = files_read(arena, arena_printf(arena, "%s/expected", dir), 1 << 16, &text, NULL);
    const char *at = error ? NULL : strstr(text, key);
    error_free(error);
    return at ? arena_strndup(arena, at + strlen(key), strcspn(at + strlen(key), "\n")) : NULL;
}

/* The host part that a task gives. */
static struct op_files given_host(struct arena *arena, const char *name)
{
    struct task task;
    struct task_question question;
    assert_null(task_find(arena, toolchain_home(), name, &task));
    assert_null(task_question(arena, &task, true, &question));
    return op_files_of(arena, question.files, question.count);
}

static int list_projects(struct arena *arena, struct project *projects)
{
    static const char *const folders[] = {"good", "faults", "negative"};
    int count = 0;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        const char *folder = arena_printf(arena, "%s/tests/kernels/%s", toolchain_home(), folders[f]);
        struct dirent **entries;
        int entry_count = scandir(folder, &entries, NULL, alphasort);
        assert_true(entry_count > 0);
        for (int i = 0; i < entry_count; i++) {
            struct project *project = &projects[count];
            *project = (struct project){.dir = arena_printf(arena, "%s/%s", folder, entries[i]->d_name)};
            bool hidden = entries[i]->d_name[0] == '.';
            free(entries[i]);
            if (hidden || !files_exists(arena_printf(arena, "%s/op_kernel", project->dir)))
                continue;
            const char *task = expected_value(arena, project->dir, "task: ");
            if (!files_exists(arena_printf(arena, "%s/op_host", project->dir)))
                project->question = given_host(arena, task);
            assert_true(++count < PROJECTS_MAX);
        }
        free(entries);
    }
    return count;
}

static void add_object(struct text *all, const char *what, const char *path)
{
    struct arena arena = {0};
    char *bytes = "";
    size_t length = 0;
    if (path)
        assert_null(files_read(&arena, path, OBJECT_LIMIT, &bytes, &length));
    /* __FILE__ in an assertion has the random name of the build's own folder. */
    static const char folder[] = "/work/held-";
    for (char *at = bytes; at && (at = memmem(at, length - (size_t)(at - bytes), folder, sizeof folder - 1));)
        at = memset(at + sizeof folder - 1, 'x', 6);
    text_addf(all, "%s %zu bytes\n", what, length);
    text_append(all, bytes, length);
    arena_free(&arena);
}

/* Code for the first combination of data types; the others are checked. */
static void select_first(void *closure, const struct op_def *def, bool *wanted)
{
    (void)closure;
    wanted[0] = def->combinations >= 0;
}

/* All that a build says and makes. */
static void build(const struct project *project, bool plain, int jobs, struct text *all)
{
    struct arena arena = {0};
    struct op_project found;
    struct candidate_source source;
    struct build build;
    const struct build_options options = {.cache_dir = cache,
                                          .no_cache = true,
                                          .plain_compiler = plain,
                                          .host = project->question.count ? &project->question : NULL,
                                          .sanitize_kernel_tiling = project->question.count,
                                          .select = select_first,
                                          .jobs = jobs,
                                          .seconds = seconds};
    struct akgen_error *error = candidate_source_read(&arena, NULL, project->dir, &source);
    if (!error)
        error = op_project_find(&arena, &source.files, NULL, !project->question.count, &found);
    if (!error)
        error = toolchain_build(&arena, &found, &options, &build);
    if (error) {
        text_addf(all, "%s: %s\n", project->dir, error->message);
        error_free(error);
        return;
    }
    text_addf(all, "stage %d %s\n", build.stage, build.error ? build.error : "");
    for (int i = 0; i < build.diagnostic_count; i++) {
        const struct diagnostic *d = &build.diagnostics[i];
        text_addf(all, "%s:%d:%d: %d %d %s\n%s\n", d->file, d->line, d->column, d->error, (int)d->class, d->message,
                  d->text ? d->text : "");
    }
    add_object(all, "host part", build.host_so);
    for (int i = 0; i < build.kernel_count; i++) {
        add_object(all, "kernel for AIVs", build.kernels[i].so);
        add_object(all, "kernel for AICs", build.kernels[i].cube_so);
    }
    op_def_release(&build.def);
    arena_free(&arena);
}

/* Ids of the compile servers that run as children of this process. */
static int servers(pid_t *found, int most)
{
    char path[64], line[256];
    int count = 0;
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        int pid = atoi(entry->d_name), parent = 0;
        char state = 'Z'; /* ended */
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = pid ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        bool read = fgets(line, sizeof line, file) && sscanf(line, "%*d (akgen-clang) %c %d", &state, &parent) == 2;
        if (read && parent == getpid() && state != 'Z' && count < most)
            found[count++] = pid;
        fclose(file);
    }
    if (dir)
        closedir(dir);
    return count;
}

struct comparison {
    const struct project *projects;
    bool same[PROJECTS_MAX];
};

static void compare(void *closure, int index)
{
    struct comparison *comparison = closure;
    struct text plain = {0}, served = {0};
    build(&comparison->projects[index], false, 1, &served);
    build(&comparison->projects[index], true, 1, &plain);
    comparison->same[index] = plain.length == served.length && memcmp(plain.bytes, served.bytes, plain.length) == 0;
    if (!comparison->same[index])
        print_error("%s: the pool's\n%.4000s\nclang's\n%.4000s\n", comparison->projects[index].dir, served.bytes,
                    plain.bytes);
    text_free(&plain);
    text_free(&served);
}

static void test_same_as_clang(void **state)
{
    (void)state;
    static struct project projects[PROJECTS_MAX];
    static struct comparison comparison = {.projects = projects};
    struct arena arena = {0};
    pid_t running[8];
    int count = list_projects(&arena, projects), differ = 0;
    assert_true(count > 250);
    workers_run(count, WORKERS, compare, &comparison);
    for (int i = 0; i < count; i++)
        differ += !comparison.same[i];
    assert_int_equal(differ, 0);
    /* The pool did it: for host parts, kernels for AIVs and kernels for AICs. */
    assert_int_equal(servers(running, 8), 3);
    arena_free(&arena);
}

/* Neg, a kernel of five data types, with a text at its beginning. */
static struct project beginning_with(struct arena *arena, const char *name, const char *begin)
{
    static const char kernel[] = "op_kernel/neg.cpp";
    const char *reference = arena_printf(arena, "%s/tasks/npukernelbench/level1/Math/Neg/reference", toolchain_home());
    struct project project = {.dir = arena_printf(arena, "%s/%s", cache, name)};
    char *text;
    assert_null(files_read(arena, arena_printf(arena, "%s/%s", reference, kernel), 1 << 16, &text, NULL));
    assert_int_equal(system(arena_printf(arena, "cp -r %s %s", reference, project.dir)), 0);
    const char *changed = arena_printf(arena, "#include \"kernel_operator.h\"\n%s\n%s", begin, text);
    assert_null(files_write(arena_printf(arena, "%s/%s", project.dir, kernel), changed, strlen(changed)));
    return project;
}

/* Begins of a kernel of five data types, which one reading may serve. What a text means for each type, and where, is as
 * if it was read for each. */
static void test_data_types(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says; /* something that a type alone is told, and that would be lost */
    } begins[] = {
        {"", NULL},
        {"static_assert(sizeof(DTYPE_X) < 4, \"too wide\");", "too wide"},
        {"DTYPE_X global;\n#warning early\nDTYPE_X::member other;", "bfloat16_t"},
        {"int unused() { Missing(); return 0; }\nDTYPE_X::member other;", "Missing"},
        {"#define TEXT_OF(x) #x\n#define TEXT(x) TEXT_OF(x)\n"
         "template <int n> struct Text;\nText<sizeof(TEXT(DTYPE_X))> text;",
         "Text<11>"},
        {"#define JOIN_OF(a, b) a##b\n#define JOIN(a, b) JOIN_OF(a, b)\nint JOIN(is_, DTYPE_X)();\n"
         "int made() { return is_half(); }",
         "is_half"},
        /* another definition, of its own or the old one once more */
        {"#define DTYPE_X float\nDTYPE_X::member other;", "redefined"},
        {"#undef DTYPE_X\n#define DTYPE_X short\nDTYPE_X other = nullptr;", "short"},
        {"#pragma push_macro(\"DTYPE_X\")\n#undef DTYPE_X\n#define DTYPE_X short\nDTYPE_X one;\n"
         "#pragma pop_macro(\"DTYPE_X\")\nDTYPE_X::member other;",
         "bfloat16_t"},
        {"#pragma push_macro(\"DTYPE_X\")\nDTYPE_X one;\n#pragma pop_macro(\"DTYPE_X\")\nDTYPE_X::member other;",
         "bfloat16_t"},
        /* asked for, not used */
        {"#ifndef DTYPE_X\n#error none\n#endif\n#if defined(ORIG_DTYPE_X) && !defined(FORMAT_Z)\nDTYPE_X::member "
         "other;\n"
         "#endif",
         "bfloat16_t"},
        {"#if ORIG_DTYPE_X == DT_INT8\n#error eight bits\n#elif ORIG_DTYPE_X == DT_FLOAT\n#warning four bytes\n#endif",
         "eight bits"},
        /* read before it is told of */
        {"#define SAME(...) __VA_ARGS__\nSAME(int\n#if ORIG_DTYPE_X == DT_INT8\nMissing x\n#endif\n) global();\n"
         "DTYPE_X one;",
         "Missing"},
        {"#define SAME(...) __VA_ARGS__\nconstexpr int line = SAME(\n#line 7 ORIG_DTYPE_X\n__LINE__);\nDTYPE_X::member "
         "other;",
         "bfloat16_t"},
        /* where clang reads on a thread of its own */
        {"#define A4(x) ((((x))))\n#define A16(x) A4(A4(A4(A4(x))))\n#define A64(x) A16(A16(A16(A16(x))))\n"
         "int deep() { return A64(A64(A64(sizeof(DTYPE_X::member)))); }",
         "bfloat16_t"},
        {"template <typename T, int n> struct Deep { static constexpr int value = Deep<T, n - 1>::value; };\n"
         "template <> struct Deep<half, 0> { static constexpr int value = 1; };\nint deep = Deep<DTYPE_X, "
         "1100>::value;",
         "recursive"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        struct project project = beginning_with(&arena, arena_printf(&arena, "types-%zu", i), begins[i].text);
        struct text plain = {0};
        build(&project, true, 1, &plain);
        for (int jobs = 1; jobs <= 3; jobs++) {
            struct text served = {0};
            build(&project, false, jobs, &served);
            if (served.length != plain.length || memcmp(served.bytes, plain.bytes, plain.length) != 0)
                fail_msg("%s\n%d jobs: the pool's\n%.4000s\nclang's\n%.4000s\n", begins[i].text, jobs, served.bytes,
                         plain.bytes);
            text_free(&served);
        }
        if (begins[i].says && !strstr(plain.bytes, begins[i].says))
            fail_msg("%s\n'%s' is not in\n%.4000s", begins[i].text, begins[i].says, plain.bytes);
        text_free(&plain);
    }
    arena_free(&arena);
}

/* A data type without end: it costs one limit, and the others are not blamed for it. */
static void test_endless_type(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (int bytes = 1; bytes <= 4; bytes += 3) { /* the last of five, which is checked; the first, which is compiled */
        const char *begin =
            arena_printf(&arena,
                         "template <typename T, int n> struct Tree {\n"
                         "    static constexpr long value = Tree<T *, n - 1>::value + Tree<T[1], n - 1>::value;\n};\n"
                         "template <typename T> struct Tree<T, 0> { static constexpr long value = 1; };\n"
                         "long tree = Tree<DTYPE_X, sizeof(DTYPE_X) == %d ? 30 : 1>::value;",
                         bytes);
        struct project project = beginning_with(&arena, arena_printf(&arena, "endless-%d", bytes), begin);
        struct text said = {0};
        seconds = 2;
        double start = clock_seconds();
        build(&project, false, 1, &said);
        double taken = clock_seconds() - start;
        seconds = 0;
        if (!strstr(said.bytes, "the compiler ran out of time") || taken > 60)
            fail_msg("%.1f s: %.4000s", taken, said.bytes);
        text_free(&said);
    }
    arena_free(&arena);
}

/* Servers that somebody kills are replaced, and nobody but the next build notices. */
static void test_killed_servers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct project project = {.dir = arena_printf(&arena, "%s/benchmarks/add_fp32", toolchain_home())};
    struct text before = {0}, after = {0};
    pid_t old[8], fresh[8];
    build(&project, false, 1, &before);
    int count = servers(old, 8);
    assert_true(count >= 2);
    for (int i = 0; i < count; i++)
        kill(old[i], SIGKILL);
    build(&project, false, 1, &after);
    assert_int_equal(before.length, after.length);
    assert_memory_equal(before.bytes, after.bytes, before.length);
    int now = servers(fresh, 8);
    assert_true(now >= 2);
    for (int i = 0; i < now; i++)
        for (int k = 0; k < count; k++)
            assert_int_not_equal(fresh[i], old[k]);
    text_free(&before);
    text_free(&after);
    arena_free(&arena);
}

static void test_end(void **state)
{
    (void)state;
    pid_t running[8];
    toolchain_end_compilers();
    assert_int_equal(servers(running, 8), 0);
}

int main(void)
{
    if (!mkdtemp(cache))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_clang), cmocka_unit_test(test_data_types),
                                       cmocka_unit_test(test_endless_type), cmocka_unit_test(test_killed_servers),
                                       cmocka_unit_test(test_end)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    toolchain_end_compilers();
    files_remove_tree(cache);
    return failed;
}
