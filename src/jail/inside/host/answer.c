/* How akgen-host ends: a line for each stage and then the result go through the pipe, and the process ends. */
#include "base/files.h"
#include "base/inject.h"
#include "jail/inside/host/host.h"
#include "jail/inside/jailed.h"
#include "jail/job_exchange.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put(const struct host *host, const void *bytes, size_t length)
{
    if (inject_fails(INJECT_WRITE) || !files_write_all(host->pipe, bytes, length))
        _exit(JOB_EXIT_OURS);
}

void host_set_stage(struct host *host, enum job_stage stage)
{
    const char *name = job_stage_name(stage);
    put(host, name, strlen(name));
    put(host, "\n", 1);
    host->result.stage = stage;
}

_Noreturn void host_finish(struct host *host)
{
    size_t length;
    const void *message = wire_encode(&host->arena, WIRE_HOST_RESULT, &host->result, &length);
    /* What a candidate registers has no bound of its own. */
    if (length > HOST_ANSWER_LIMIT / 2) {
        host->result = (struct host_result){.status = JOB_LOAD_FAILED,
                                            .error = "the definition of the operator is larger than 1 MiB"};
        message = wire_encode(&host->arena, WIRE_HOST_RESULT, &host->result, &length);
    }
    fflush(NULL);
    put(host, message, length);
    _exit(0);
}

_Noreturn void host_fail(struct host *host, enum job_status status, const char *message)
{
    enum { LONGEST = 4096 };
    host->result = (struct host_result){.status = status,
                                        .error = arena_strndup(&host->arena, message, strnlen(message, LONGEST))};
    host_finish(host);
}

_Noreturn void host_fail_error(struct host *host, enum job_status status, struct akgen_error *error)
{
    host_fail(host, status, arena_strdup(&host->arena, error->message));
}

void host_prepare_evidence(struct host *host)
{
    const struct host_result result = {.status = JOB_CHEATED, .error = ""};
    jailed_prepare(&host->arena, WIRE_HOST_RESULT, &result, &host->evidence);
}

/* Not sanitized: before a function that does not return AddressSanitizer would allocate, too. */
__attribute__((no_sanitize("address"))) _Noreturn void host_violated(void *closure, const char *what)
{
    struct host *host = closure;
    jailed_fill_in(&host->evidence,
                   (const char *const[]){what, " in stage ", job_stage_name(host->result.stage), NULL});
    put(host, host->evidence.bytes, host->evidence.length);
    _exit(0);
}

_Noreturn void host_ended_from_outside(void *closure)
{
    (void)closure;
    _exit(JOB_EXIT_OURS);
}
