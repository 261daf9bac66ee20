/* How akgen-run ends: the result goes to its descriptor, and the process with it. */
#include "base/inject.h"
#include "jail/inside/jailed.h"
#include "jail/inside/kernel/runner.h"

#include <sys/mman.h>
#include <unistd.h>

/* All of it, behind or in the mark. */
static bool put(const struct runner *runner, const void *bytes, size_t length, off_t at)
{
    return !inject_fails(INJECT_WRITE) && pwrite(runner->result_fd, bytes, length, at) == (ssize_t)length;
}

/* The process's only job; NULL until it is known whose result it is. */
static struct runner *running;

static bool put_mark(const struct runner *runner, enum job_stage stage)
{
    struct job_mark mark;
    job_mark_set(&mark, stage, runner->result.nonce);
    return put(runner, &mark, sizeof mark, 0);
}

/* Without a result that anyone could read: says that it was not the candidate who ended the process. */
static _Noreturn void give_up(const struct runner *runner)
{
    put_mark(runner, JOB_REPORT);
    _exit(JOB_EXIT_OURS);
}

void runner_set_stage(struct runner *runner, enum job_stage stage)
{
    if (!put_mark(runner, stage))
        give_up(runner);
    runner->result.stage = stage;
    running = runner;
}

/* The candidate shares our address space, and its limit: where `bytes` more do not fit in, it has used it up. Where they
 * do, the system has no memory, which is nothing of the candidate's. */
void runner_out_of_memory(size_t bytes)
{
    enum { MARGIN = 64 << 20 };
    void *room = mmap(NULL, bytes + MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED && running)
        put_mark(running, JOB_REPORT);
}

_Noreturn void runner_finish(struct runner *runner)
{
    size_t length;
    const void *message = wire_encode(&runner->arena, WIRE_JOB_RESULT, &runner->result, &length);
    fflush(NULL);
    if (!put(runner, message, length, sizeof(struct job_mark)))
        give_up(runner);
    _exit(0);
}

_Noreturn void runner_fail(struct runner *runner, enum job_status status, const char *message)
{
    runner->result.status = status;
    runner->result.error = message;
    runner_finish(runner);
}

_Noreturn void runner_fail_error(struct runner *runner, enum job_status status, struct akgen_error *error)
{
    runner_fail(runner, status, arena_strdup(&runner->arena, error->message));
}

void runner_prepare_evidence(struct runner *runner)
{
    const struct job_result result = {.status = JOB_CHEATED, .error = "", .nonce = runner->result.nonce};
    jailed_prepare(&runner->arena, WIRE_JOB_RESULT, &result, &runner->evidence);
}

/* Not sanitized: before a function that does not return AddressSanitizer would allocate, too. */
__attribute__((no_sanitize("address"))) _Noreturn void runner_violated(void *closure, const char *what)
{
    struct runner *runner = closure;
    const char *stage = job_stage_name(runner->result.stage);
    if (runner->result.stage == JOB_REPORT) /* the candidate's code does not run any more: ours */
        runner_fail(runner, JOB_BROKEN, arena_printf(&runner->arena, "%s in stage %s", what, stage));
    jailed_fill_in(&runner->evidence, (const char *const[]){what, " in stage ", stage, NULL});
    if (!put(runner, runner->evidence.bytes, runner->evidence.length, sizeof(struct job_mark)))
        give_up(runner);
    _exit(0);
}

_Noreturn void runner_ended_from_outside(void *closure)
{
    give_up(closure);
}
