/* akgen-run: the program in which a kernel runs. It reads one job, loads the candidate's kernel, runs it on the simulated
 * machine and writes the result. Of a candidate nothing else is ever executed here: what its host part decided comes as
 * numbers. */
#include "base/memory.h"
#include "jail/inside/jailed.h"
#include "jail/inside/kernel/runner.h"

#include <stdlib.h>

/* Without a stack protector, whose word changes under way. */
__attribute__((no_stack_protector)) int main(int argc, char **argv)
{
    static struct runner runner = {.result = {.status = JOB_OK}};
    jailed_begin();
    memory_last_words = runner_out_of_memory;
    runner.result_fd = jailed_option(argc, argv, "--result");
    runner_read_job(&runner, jailed_option(argc, argv, "--job"));
    runner_map_gm(&runner, jailed_option(argc, argv, "--gm"));
    int log = jailed_option(argc, argv, "--log");
    runner.log = log >= 0 ? fdopen(log, "a") : NULL;
    int slices = jailed_option(argc, argv, "--slices");
    runner.slices = slices >= 0 ? fdopen(slices, "a") : NULL;
    const struct npu_soc *soc = npu_soc_find(runner.job.soc);
    if (!soc)
        runner_fail(&runner, JOB_BROKEN, arena_printf(&runner.arena, "there is no SoC named '%s'", runner.job.soc));
    runner_read_objects(&runner);
    enum npu_kernel_type type = runner_load_kernel(&runner);
    runner_shut_the_door(&runner);
    runner_initialise(&runner);
    runner_launch(&runner, soc, type);
    runner_finish(&runner);
}
