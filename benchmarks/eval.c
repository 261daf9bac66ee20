/* What one candidate costs, from sources to verdict, on one core: compiling an fp32 Add project (host part and one data
 * type, precompiled headers warm, nothing from the cache) against compiling its kernel alone as one would without them
 * (-O0 -g); and running it on 8,257,536 elements with every check on against memcpy of the bytes it moves. Medians of
 * several runs. */
#include "eval/eval.h"
#include "base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, ELEMENTS = 8257536 };

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, by_value);
    return values[RUNS / 2];
}

/* The kernel by itself, without a precompiled header: the flags that make the headers readable and -O0 -g. */
static double compile_plain(const char *home)
{
    char command[4096];
    snprintf(command, sizeof command,
             "clang++-19 -x cuda --cuda-host-only -nocudainc -nocudalib -Xclang -fcuda-is-device -Xclang "
             "-fcuda-allow-variadic-functions -std=c++17 -O0 -g "
             "-fPIC -w -I%s/include/ascendc -I%s/include -c %s/benchmarks/add_fp32/op_kernel/add_custom.cpp "
             "-o /dev/null 2>/dev/null",
             home, home, home);
    double start = clock_seconds();
    return system(command) == 0 ? clock_seconds() - start : -1;
}

static double copy_bytes(void)
{
    size_t bytes = (size_t)ELEMENTS * sizeof(float) * 3;
    char *from = malloc(bytes), *to = malloc(bytes);
    if (!from || !to)
        abort();
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    double start = clock_seconds();
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory"); /* the copy must happen */
    double spent = clock_seconds() - start;
    free(from);
    free(to);
    return spent;
}

int main(void)
{
    struct arena arena = {0};
    struct task task;
    const char *home = toolchain_home(), *dir = arena_printf(&arena, "%s/benchmarks/add_fp32", home);
    struct akgen_error *error = task_load(&arena, dir, &task);
    if (!error)
        error = toolchain_prepare(&arena, NULL);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);

    double compile[RUNS], plain[RUNS], run[RUNS], copy[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct eval_options options = {.soc = &npu_socs[0],
                                       .mode = EVAL_DYNAMIC,
                                       .scope = EVAL_PROJECT,
                                       .only_case = -1,
                                       .full = true,
                                       .jobs = 1,
                                       .no_cache = true};
        struct candidate candidate;
        struct verdict verdict;
        eval_read(&arena, &task, dir, &options, &candidate);
        eval_run(&candidate, &task, &options, &verdict);
        if (verdict.kind != AKGEN_VERDICT_PASS) {
            fprintf(stderr, "%s: %s\n", akgen_verdict_kind_name(verdict.kind), verdict.reason);
            return 1;
        }
        const struct build *build = &verdict.build;
        compile[i] = build->host_seconds + build->describe_seconds + build->kernel_seconds;
        run[i] = verdict.cases[0].run.run_seconds;
        verdict_free(&verdict);
        plain[i] = compile_plain(home);
        copy[i] = copy_bytes();
        if (plain[i] < 0) {
            fprintf(stderr, "the plain compile of the kernel failed\n");
            return 1;
        }
    }
    double built = median(compile), alone = median(plain), launched = median(run), copied = median(copy);
    printf("compile: project (host + one data type) %.3f s, kernel alone -O0 -g without precompiled header %.3f s: "
           "ratio %.2f\n",
           built, alone, built / alone);
    printf("run: %d fp32 elements, 48 blocks, tile 4096, every check on: %.1f ms, memcpy of the same bytes %.1f ms: "
           "ratio %.1f\n",
           ELEMENTS, launched * 1e3, copied * 1e3, launched / copied);
    arena_free(&arena);
    return 0;
}
