/* akgen-host: the program in which a candidate's host part runs. It reads one job, loads the host part and asks it for its
 * OpDef or calls its tiling function. It has no tensors, and nothing of the machine but the table of chips: what comes
 * out is numbers, and no address in it means anything elsewhere. */
#include "jail/inside/host/host.h"
#include "jail/inside/jailed.h"
#include "jail/inside/load.h"
#include "jail/inside/steady.h"

#include <dlfcn.h>

/* Objects are linked without the libraries of the toolchain that makes them; what they call is put here for them. */
static void load_libraries(struct host *host)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libgcc_s.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL))
            host_fail(host, JOB_BROKEN, arena_strdup(&host->arena, dlerror()));
}

static void read_job(struct host *host, int fd)
{
    struct akgen_error *error = jailed_read(&host->arena, fd, WIRE_HOST_JOB, &host->job);
    if (error)
        host_fail_error(host, JOB_BROKEN, error);
    if (host->job.tile && !host->job.soc)
        host_fail(host, JOB_BROKEN, "host_job.soc is missing, which a tiling needs");
}

static void shut_the_door(struct host *host)
{
    host->guard = (struct guard){.result_fd = -1,
                                 .stream_fd = host->pipe,
                                 .violated = host_violated,
                                 .ended_from_outside = host_ended_from_outside,
                                 .closure = host};
    jailed_close_all_but(host->pipe, -1);
    guard_install(&host->guard);
}

/* Loads the host part, closes the process, and lets it register what it has. */
static void enter(struct host *host)
{
    struct object_loaded loaded;
    bool broken;
    const char *problem = load_prepare(&host->arena, host->job.host_so, &loaded, &broken);
    if (problem && broken)
        host_fail(host, JOB_BROKEN, arena_printf(&host->arena, "akgen-host: %s", problem));
    host_prepare_evidence(host);
    host_set_stage(host, JOB_LOAD);
    if (!problem)
        problem = load_object(&host->arena, &loaded);
    if (problem)
        host_fail(host, JOB_LOAD_FAILED, arena_printf(&host->arena, "the host part cannot be loaded: %s", problem));
    shut_the_door(host);
    steady_stack();
    op_registry_loading(host->job.host_so);
    load_initialise(&loaded);
    op_registry_loading(NULL);
}

static void end_unsupported(void *host, const char *function)
{
    host_fail(host, JOB_UNSUPPORTED, function);
}

static void tile(struct host *host, const struct npu_soc *soc, const struct op_def *def)
{
    const struct host_job *job = &host->job;
    const struct op_call call = {.soc = soc,
                                 .inputs = job->inputs,
                                 .outputs = job->outputs,
                                 .attrs = job->attrs,
                                 .input_count = job->input_count,
                                 .output_count = job->output_count,
                                 .attr_count = job->attr_count};
    host_set_stage(host, JOB_TILING);
    op_on_never_run(end_unsupported, host);
    steady_stack();
    struct akgen_error *error = op_tile(def, &call, &host->result.tiling);
    if (error)
        host_fail_error(host, JOB_TILING_FAILED, error);
}

/* Without a stack protector, whose word changes under way. */
__attribute__((no_stack_protector)) int main(int argc, char **argv)
{
    static struct host host = {.result = {.status = JOB_OK}};
    static struct op_def def;
    jailed_begin();
    host.pipe = jailed_option(argc, argv, "--result");
    read_job(&host, jailed_option(argc, argv, "--job"));
    const struct npu_soc *soc = host.job.soc ? npu_soc_find(host.job.soc) : NULL;
    if (host.job.soc && !soc)
        host_fail(&host, JOB_BROKEN, arena_printf(&host.arena, "there is no SoC named '%s'", host.job.soc));
    load_libraries(&host);
    enter(&host);
    struct akgen_error *error = op_describe(&host.arena, host.job.host_so, host.job.op_type, soc, &def);
    if (error)
        host_fail_error(&host, JOB_LOAD_FAILED, error);
    if (host.job.tile) {
        tile(&host, soc, &def);
    } else {
        error = op_def_check(&def); /* what the caller would refuse is the candidate's mistake */
        if (error)
            host_fail_error(&host, JOB_LOAD_FAILED, error);
        host.result.def = def;
    }
    host_finish(&host);
}
