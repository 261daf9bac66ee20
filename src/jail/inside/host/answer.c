/* How akgen-host ends: a line for each stage and then the result go through the pipe, and the process ends. */
#include "base/files.h"
#include "base/inject.h"
#include "jail/inside/host/host.h"
#include "jail/inside/jailed.h"
#include "jail/job_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const struct host *host, const char *text)
{
    if (inject_fails(INJECT_WRITE) || !files_write_all(host->pipe, text, strlen(text)))
        _exit(JOB_EXIT_OURS);
}

void host_set_stage(struct host *host, enum job_stage stage)
{
    put(host, job_stage_name(stage));
    put(host, "\n");
    host->result.stage = stage;
}

static char *result_text(const struct host *host)
{
    json_t *json = host_result_to_json(&host->result);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

_Noreturn void host_finish(struct host *host)
{
    char *text = result_text(host);
    /* What a candidate registers has no bound of its own. */
    if (text && strlen(text) > HOST_ANSWER_LIMIT / 2) {
        free(text);
        host->result = (struct host_result){.status = JOB_LOAD_FAILED,
                                            .error = "the definition of the operator is larger than 1 MiB as JSON"};
        text = result_text(host);
    }
    fflush(NULL);
    if (!text)
        _exit(JOB_EXIT_OURS);
    put(host, text);
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
    const struct host_result result = {.status = JOB_CHEATED, .error = jailed_unknown()};
    host->evidence = jailed_evidence(&host->arena, host_result_to_json(&result));
    if (!host->evidence)
        host_fail(host, JOB_BROKEN, "no memory for the report");
}

/* Not sanitized: before a function that does not return AddressSanitizer would allocate, too. */
__attribute__((no_sanitize("address"))) _Noreturn void host_violated(void *closure, const char *what)
{
    struct host *host = closure;
    jailed_fill_in(host->evidence, (const char *const[]){what, " in stage ", job_stage_name(host->result.stage), NULL});
    put(host, host->evidence);
    _exit(0);
}

_Noreturn void host_ended_from_outside(void *closure)
{
    (void)closure;
    _exit(JOB_EXIT_OURS);
}
