/* host_run: hands a call of the host part to akgen-host in the jail and makes sense of how it ended. */
#include "base/files.h"
#include "jail/program_internal.h"
#include "jail/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A tiling function computes some numbers. */
static const uint64_t memory_limit = 1ULL << 30, expected_memory = 256ULL << 20, written_limit = 1 << 20;
static const double default_seconds = 60;

static void set(struct host_result *result, enum job_status status, const char *error)
{
    result->status = status;
    result->error = error;
}

/* An end without a result. Before the candidate ran it is ours; later it is its own doing unless the system says that
 * somebody else ended the process (host_job.h). */
static void judge_end(struct arena *arena, const struct host_job *job, const struct sandbox_result *ended,
                      double allowed, enum host_answer answer, struct host_result *result)
{
    const char *stage = job_stage_name(result->stage);
    if (!ended->started)
        set(result, JOB_BROKEN, arena_printf(arena, "akgen-host did not start: %s", ended->error));
    else if (ended->timed_out && (allowed < job->seconds || result->stage != JOB_START))
        set(result, JOB_TIMEOUT, program_late(arena, job->budget, job->seconds, allowed, result->stage));
    else if (ended->exhausted)
        set(result, JOB_CRASHED,
            arena_printf(arena, "the candidate filled the memory of this machine in stage %s", stage));
    else if (answer == HOST_FOREIGN)
        set(result, JOB_BROKEN, program_foreign(arena, "akgen-host"));
    else if (ended->killed || result->stage == JOB_START)
        set(result, JOB_BROKEN, program_end(arena, "akgen-host ", ended, result->stage));
    else if (ended->signal == SIGSYS)
        set(result, JOB_CHEATED, program_forbidden(arena, result->stage));
    else if (answer != HOST_SILENT && ended->exit_code == 0)
        set(result, JOB_CHEATED, "the candidate wrote into the result");
    else
        set(result, ended->signal ? JOB_CRASHED : JOB_EXITED,
            program_end(arena, ended->signal ? "" : "the candidate ", ended, result->stage));
}

static bool is_asked_for(const struct host_job *job, const struct host_result *result)
{
    if (result->status == JOB_OK)
        return job->tile ? result->tiling.block_dim > 0 : result->def.type != NULL;
    return result->status != JOB_BROKEN || result->stage == JOB_START;
}

static void understand(struct arena *arena, const struct host_job *job, const struct sandbox_result *ended,
                       const struct sandbox_answer *answer, double allowed, struct host_result *result)
{
    enum host_answer kind = host_result_read(arena, answer->text.bytes, answer->text.length, result);
    bool good = kind == HOST_ANSWERED && ended->exit_code == 0 && !ended->timed_out && is_asked_for(job, result);
    if (!good) {
        op_def_release(&result->def);
        *result = (struct host_result){.stage = result->stage};
        judge_end(arena, job, ended, allowed, kind, result);
    }
    result->printed = ended->output;
}

static void run_once(struct arena *arena, const struct host_job *job, bool alone, struct host_result *result)
{
    enum { JOB_FD = SANDBOX_KEPT, RESULT_FD, OBJECT_FD };
    const char *path = program_same_length(arena, files_program(arena, "akgen-host"));
    const char *argv[] = {path, arena_printf(arena, "--job=%d", JOB_FD), arena_printf(arena, "--result=%d", RESULT_FD),
                          NULL};
    struct program_objects objects = {0};
    struct host_job sent = *job;
    sent.seconds = job->seconds > 0 ? job->seconds : default_seconds;
    double allowed = budget_allows(job->budget, sent.seconds);
    int ends[2] = {-1, -1};
    *result = (struct host_result){.status = JOB_BROKEN, .error = "akgen-host was not found beside this program"};
    if (!path)
        return;
    if (allowed <= 0) {
        set(result, JOB_TIMEOUT, program_late(arena, job->budget, sent.seconds, allowed, JOB_START));
        return;
    }
    sent.host_so = program_take_object(arena, &objects, job->host_so, OBJECT_FD);
    struct arena scratch = {0};
    size_t length;
    const void *message = wire_encode(&scratch, WIRE_HOST_JOB, &sent, &length);
    int job_fd = program_memory_file("akgen-job", message, length);
    const int problem = errno;
    arena_free(&scratch);
    if (job_fd < 0 || pipe2(ends, O_CLOEXEC)) {
        result->error = arena_printf(arena, "the job cannot be written: %s", strerror(job_fd < 0 ? problem : errno));
    } else {
        const int keep[] = {job_fd, ends[1], objects.count ? objects.fds[0] : -1, -1};
        struct sandbox_answer answer = {.fd = ends[0], .limit = HOST_ANSWER_LIMIT};
        struct sandbox_result ended;
        program_run(arena,
                    &(struct program){.argv = argv,
                                      .objects = &objects,
                                      .keep = keep,
                                      .inject = job->inject,
                                      .seconds = allowed,
                                      .budget = job->budget,
                                      .memory = memory_limit,
                                      .file_bytes = written_limit,
                                      .expected_memory = expected_memory,
                                      .alone = alone,
                                      .answer = &answer},
                    &ended);
        *result = (struct host_result){0};
        understand(arena, &sent, &ended, &answer, allowed, result);
        text_free(&answer.text);
    }
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    if (job_fd >= 0)
        close(job_fd);
    program_close_objects(&objects);
}

/* A crash can be somebody else's doing, too (a signal that an instruction raises can be sent), and so can an end for
 * want of memory: both are the candidate's where they happen again. A call is the same each time. */
static bool ask_again(const struct host_result *result)
{
    return result->status == JOB_BROKEN || result->status == JOB_CRASHED || result->status == JOB_EXITED;
}

void host_run(struct arena *arena, const struct host_job *job, struct host_result *result)
{
    run_once(arena, job, false, result);
    if (ask_again(result))
        run_once(arena, job, result->status == JOB_BROKEN, result);
}
