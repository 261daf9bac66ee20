/* The job and the tensors' memory, from the descriptors that akgen left open. */
#include "jail/inside/jailed.h"
#include "jail/inside/kernel/runner.h"

#include <sys/mman.h>
#include <unistd.h>

void runner_read_job(struct runner *runner, int fd)
{
    runner->job.gm_fd = -1;
    struct akgen_error *error = jailed_read(&runner->arena, fd, WIRE_JOB, &runner->job);
    if (error)
        runner_fail_error(runner, JOB_BROKEN, error);
    runner->result.nonce = runner->job.nonce;
}

void runner_map_gm(struct runner *runner, int fd)
{
    size_t bytes = runner->job.gm_bytes;
    if (!bytes)
        return;
    uint64_t first = 0;
    runner->gm = npu_area_map(NPU_AREA_TENSORS, &first, bytes, fd);
    if (runner->gm == MAP_FAILED)
        runner_fail(runner, JOB_BROKEN, "the tensors' memory cannot be mapped");
    close(fd);
}
