/* akgen-run: the program inside the jail. It reads one job, loads the candidate's objects, runs tiling and kernel on
 * the simulated machine and writes the result. Everything that the candidate executes, it executes here. */
#include "base/inject.h"
#include "base/memory.h"
#include "run/runner.h"
#include "run/steady.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* A descriptor given as --name=NUMBER; -1: none. */
static int option(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return atoi(argv[i] + length + 1);
    return -1;
}

/* In a sanitized build a crash of the candidate must still end by its signal, and its memory must have a limit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:abort_on_error=1:"
           "detect_leaks=0:max_allocation_size_mb=16384:symbolize=0";
}

/* What the caller would refuse is said here, as the candidate's mistake. */
static _Noreturn void describe(struct runner *runner)
{
    struct op_def read;
    json_t *json = op_def_to_json(&runner->def);
    struct akgen_error *error = op_def_from_json(&runner->arena, json, &read);
    if (error)
        runner_fail_error(runner, JOB_LOAD_FAILED, error);
    runner->result.def = runner->def;
    runner_finish(runner);
}

/* The candidate allocates where the job's text was; what it reads there before it writes is zeros. */
static void free_wiped(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

/* Without a stack protector, whose word changes under way. */
__attribute__((no_stack_protector)) int main(int argc, char **argv)
{
    static struct runner runner = {.result = {.status = JOB_OK}};
    steady_begin();
    json_object_seed(1);
    json_set_alloc_funcs(memory_alloc, free_wiped);
    inject_from_environment();
    memory_last_words = runner_out_of_memory;
    /* What a kernel printed before it hangs or crashes is what its author looks for. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    runner.result_fd = option(argc, argv, "--result");
    runner_read_job(&runner, option(argc, argv, "--job"));
    if (runner.job.kind == JOB_RUN)
        runner_map_gm(&runner, option(argc, argv, "--gm"));
    int log = option(argc, argv, "--log");
    runner.log = log >= 0 ? fdopen(log, "a") : NULL;
    runner_load_host(&runner);
    if (runner.job.kind == JOB_DESCRIBE)
        describe(&runner);
    const struct npu_soc *soc = npu_soc_find(runner.job.soc);
    if (!soc)
        runner_fail(&runner, JOB_BROKEN, arena_printf(&runner.arena, "there is no SoC named '%s'", runner.job.soc));
    runner_tile(&runner, soc);
    runner_launch(&runner, soc, runner_load_kernel(&runner));
    runner_finish(&runner);
}
