/* The compile server against clang itself: projects of tests/kernels, built both ways, give the same diagnostics and the same
 * objects, byte by byte; and what becomes of a server that ends. */
#include "base/files.h"
#include "base/text.h"
#include "base/workers.h"
#include "sandbox/job_exchange.h"
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
    WORKERS = 2,
    EVERY = SANITIZED ? 8 : 2 /* one of so many projects: the sanitizer looks at akgen, which does the same for each */
};

static char cache[] = "/tmp/akgen-pool-test-XXXXXX";

/* One project of tests/kernels. */
struct project {
    const char *dir;
    const char *question; /* directory of the question whose host part it gets, or NULL */
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

static int list_projects(struct arena *arena, struct project *projects)
{
    static const char *const folders[] = {"good", "faults", "negative"};
    int count = 0, seen = 0;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        /* A server sees the cache, where snapshots of candidates lie. */
        const char *folder = arena_printf(arena, "%s/projects/%s", cache, folders[f]);
        if (!files_exists(folder))
            assert_int_equal(system(arena_printf(arena, "mkdir -p %s/projects && cp -r %s/tests/kernels/%s %s/projects",
                                                 cache, toolchain_home(), folders[f], cache)),
                             0);
        struct dirent **entries;
        int entry_count = scandir(folder, &entries, NULL, alphasort);
        assert_true(entry_count > 0);
        for (int i = 0; i < entry_count; i++) {
            struct project *project = &projects[count];
            *project = (struct project){arena_printf(arena, "%s/%s", folder, entries[i]->d_name), NULL};
            bool hidden = entries[i]->d_name[0] == '.';
            free(entries[i]);
            if (hidden || !files_exists(arena_printf(arena, "%s/op_kernel", project->dir)))
                continue;
            const char *task = expected_value(arena, project->dir, "task: ");
            if (!files_exists(arena_printf(arena, "%s/op_host", project->dir)))
                project->question =
                    arena_printf(arena, "%s/tasks/npukernelbench/%s/question/kernel", toolchain_home(), task);
            assert_true(++count < PROJECTS_MAX);
            if (++seen % EVERY)
                count--;
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
    text_addf(all, "%s %zu bytes\n", what, length);
    text_append(all, bytes, length);
    arena_free(&arena);
}

/* All that a build says and makes. */
static void build(const struct project *project, bool plain, struct text *all)
{
    struct arena arena = {0};
    struct op_project found;
    struct build build;
    const struct build_options options = {.cache_dir = cache,
                                          .no_cache = true,
                                          .plain_compiler = plain,
                                          .host_override = project->question,
                                          .sanitize_kernel_tiling = project->question != NULL,
                                          .jobs = 1};
    struct akgen_error *error = op_project_find(&arena, project->dir, NULL, !project->question, &found);
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
    build(&comparison->projects[index], false, &served);
    build(&comparison->projects[index], true, &plain);
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
    assert_true(count > 250 / EVERY);
    workers_run(count, WORKERS, compare, &comparison);
    for (int i = 0; i < count; i++)
        differ += !comparison.same[i];
    assert_int_equal(differ, 0);
    /* The pool did it: for host parts, kernels for AIVs and kernels for AICs. */
    assert_int_equal(servers(running, 8), 3);
    arena_free(&arena);
}

/* Servers that somebody kills are replaced, and nobody but the next build notices. */
static void test_killed_servers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct project project = {arena_printf(&arena, "%s/benchmarks/add_fp32", toolchain_home()), NULL};
    struct text before = {0}, after = {0};
    pid_t old[8], fresh[8];
    build(&project, false, &before);
    int count = servers(old, 8);
    assert_true(count >= 2);
    for (int i = 0; i < count; i++)
        kill(old[i], SIGKILL);
    build(&project, false, &after);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_clang), cmocka_unit_test(test_killed_servers),
                                       cmocka_unit_test(test_end)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    toolchain_end_compilers();
    files_remove_tree(cache);
    return failed;
}
