/* The job and the tensors' memory, from the descriptors that akgen left open. */
#include "run/runner.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void runner_read_job(struct runner *runner, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
        runner_fail(runner, JOB_BROKEN, "no job on the descriptor --job");
    char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    json_t *json = text == MAP_FAILED ? NULL : json_loadb(text, (size_t)status.st_size, 0, NULL);
    if (!json)
        runner_fail(runner, JOB_BROKEN, "the job is no JSON");
    struct akgen_error *error = job_from_json(&runner->arena, json, &runner->job);
    if (error)
        runner_fail_error(runner, JOB_BROKEN, error);
    runner->result.nonce = runner->job.nonce;
    while (runner->job.headers && strncmp(runner->job.headers, "//", 2) == 0)
        runner->job.headers++; /* job.c makes all paths as long: in debug information it is written once */
    /* The candidate shall not read it there. */
    json_decref(json);
    munmap(text, (size_t)status.st_size);
    close(fd);
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

void runner_protect_gm(struct runner *runner, int protection)
{
    if (!runner->gm || !mprotect(runner->gm, runner->job.gm_bytes, protection))
        return;
    if (runner->result.stage == JOB_START)
        runner_fail(runner, JOB_BROKEN, "the tensors' memory cannot be protected");
    runner_fail(runner, JOB_CRASHED, "the host part took the tensors' memory, or all address space, away");
}
