/* job_run: hands a job to akgen-run in the jail and makes sense of how it ended. A process that ended for no reason of
 * its own says nothing about the candidate: its job runs once more, alone. So does the job of one that ended for want of memory, of
 * which it has more then. */
#include "base/files.h"
#include "base/memory.h"
#include "jail/job_exchange.h"
#include "jail/places_internal.h"
#include "jail/program_internal.h"
#include "jail/trace_internal.h"
#include "jail/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct words job_kinds = WORDS(JOB_KINDS);
const char *const job_lanes[] = {
#define NPU_PIPE(id, number) #id,
#include "abi/pipe.def"
#undef NPU_PIPE
};

static const double default_seconds = 60;
static const uint64_t written_limit = 64ULL << 20;
/* What the machine itself fills: cores, stacks and tapes, and for each byte of a tensor what it knows of it. */
static const uint64_t machine_memory = 1ULL << 30;
enum { BYTES_PER_GM_BYTE = 8 };
/* What a candidate may take besides, at most: workspace, and what its accesses leave in the machine's records. */
static const uint64_t own_memory = 16ULL << 30;

static void broken(struct job_result *result, const char *error)
{
    result->status = JOB_BROKEN;
    result->error = error;
}

static enum job_stage read_stage(int fd, const struct job_mark *untouched, const char *nonce)
{
    struct job_mark mark;
    return pread(fd, &mark, sizeof mark, 0) == sizeof mark ? job_mark_stage(&mark, untouched, nonce) : JOB_LOAD;
}

/* The message after the mark; NULL if there is none. The caller frees it. */
static void *read_result(int fd, size_t *length)
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size <= (off_t)sizeof(struct job_mark) || status.st_size > JOB_RESULT_LIMIT)
        return NULL;
    *length = (size_t)status.st_size - sizeof(struct job_mark);
    void *message = memory_alloc(*length);
    if (pread(fd, message, *length, sizeof(struct job_mark)) == (ssize_t)*length)
        return message;
    free(message);
    return NULL;
}

/* 128 random bits as text: what a candidate would have to repeat to pass off a result of its own. */
static const char *make_nonce(struct arena *arena)
{
    uint64_t bits[2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return NULL;
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
}

static void cheated(struct job_result *result, const char *error)
{
    *result =
        (struct job_result){.status = JOB_CHEATED, .stage = result->stage, .printed = result->printed, .error = error};
}

/* A result that does not repeat the nonce is the candidate's, whatever it says; it has none of akgen-run's where the job
 * was refused. */
static void take_result(struct arena *arena, const void *message, size_t length, const char *nonce,
                        struct job_result *result)
{
    const struct job_result nothing = {.stage = result->stage, .printed = result->printed};
    struct akgen_error *error = wire_decode(arena, WIRE_JOB_RESULT, message, length, result);
    if (result->stage != JOB_START && (!result->nonce || strcmp(result->nonce, nonce) != 0)) {
        cheated(result, "the candidate wrote a result of its own");
    } else if (error) {
        *result = nothing;
        broken(result, arena_strdup(arena, error->message));
    }
    for (size_t i = 0; i < result->finding_count; i++)
        result->fault |= result->findings[i].fatal;
    result->memory_ran_out = result->status == JOB_TILING_FAILED; /* here that is a workspace without memory */
    error_free(error);
}

/* Nothing of the candidate ran yet, or does any more. A signal after it ran is its doing all the same: what it left of
 * the memory that it shares with the machine raises it. */
static bool ended_without_it(const struct sandbox_result *ended, enum job_stage stage)
{
    return stage == JOB_START || (stage == JOB_REPORT && !ended->signal);
}

/* Who ended the process: we or somebody else, where its own doing cannot be proved (job_exchange.h); else it did. */
static void judge_end(struct arena *arena, const struct sandbox_result *ended, struct job_result *result)
{
    const char *stage = job_stage_name(result->stage);
    if (ended->exhausted) {
        result->status = JOB_CRASHED;
        result->error = arena_printf(arena, "the candidate filled the memory of this machine in stage %s", stage);
    } else if (ended->killed || ended_without_it(ended, result->stage))
        broken(result, program_end(arena, "akgen-run ", ended, result->stage));
    else if (ended->signal == SIGSYS)
        cheated(result, program_forbidden(arena, result->stage));
    else {
        result->status = ended->signal ? JOB_CRASHED : JOB_EXITED;
        result->memory_ran_out = ended->signal ? ended->signal == SIGABRT : ended->exit_code == MEMORY_EXIT;
        result->error = program_end(arena, ended->signal ? "" : "the candidate ", ended, result->stage);
    }
}

static const char *add_thousands(struct arena *arena, uint64_t number)
{
    const char *text = "";
    for (; number >= 1000; number /= 1000)
        text = arena_printf(arena, ",%03u%s", (unsigned)(number % 1000), text);
    return arena_printf(arena, "%u%s", (unsigned)number, text);
}

/* "op_kernel/sqrt.cpp:40 ran at least 12,345,678 rounds (core 3)" */
static const char *describe_loop(struct arena *arena, const struct job *job, const struct job_endless *loop)
{
    const char *kind = !job->cube_so ? "core" : loop->aic ? "AIC" : "AIV";
    const char *who = arena_printf(arena, "%s %d", kind, loop->core);
    const char *where = loop->file ? arena_printf(arena, "%s:%d", loop->file, loop->line) : "code that has no line";
    if (loop->cores > 1)
        who = arena_printf(arena, "%d %ss, %s the first of them", loop->cores, kind, who);
    if (!loop->rounds)
        return arena_printf(arena, "%s was running (%s)", where, who);
    return arena_printf(arena, "%s ran at least %s rounds (%s)", where, add_thousands(arena, loop->rounds), who);
}

/* The launch was ended for its steps. */
static void describe_endless(struct arena *arena, const struct job *job, struct job_result *result)
{
    if (!result->endless_count)
        return;
    const char *text = arena_printf(arena, "the kernel did not end: %s", describe_loop(arena, job, result->endless));
    for (size_t i = 1; i < result->endless_count; i++)
        text = arena_printf(arena, "%s; %s", text, describe_loop(arena, job, &result->endless[i]));
    const struct npu_steps *taken = &result->stats.steps;
    const bool control = taken->control >= job->steps.control;
    result->error = arena_printf(arena, "%s; ended after %s steps%s, of which a case of its size has %s", text,
                                 add_thousands(arena, control ? taken->control : taken->data),
                                 control ? "" : arena_printf(arena, " of %d bytes", NPU_STEP_BYTES),
                                 add_thousands(arena, control ? job->steps.control : job->steps.data));
}

static void timed_out(struct arena *arena, const struct job *job, double allowed, struct job_result *result)
{
    result->status = JOB_TIMEOUT;
    result->error = program_late(arena, job->budget, job->seconds, allowed, result->stage);
}

static void understand(struct arena *arena, const struct job *job, const struct sandbox_result *ended, double allowed,
                       int result_fd, struct job_result *result)
{
    bool shortened = allowed < job->seconds; /* by the candidate's own doing */
    result->printed = ended->output;
    size_t length = 0;
    void *message = ended->exit_code == 0 ? read_result(result_fd, &length) : NULL;
    const bool ours = message && wire_is(WIRE_JOB_RESULT, message, length);
    if (!ended->started)
        broken(result, arena_printf(arena, "akgen-run did not start: %s", ended->error));
    else if (ended->timed_out && (shortened || result->stage != JOB_START))
        timed_out(arena, job, allowed, result);
    else if (ours)
        take_result(arena, message, length, job->nonce, result);
    else if (message && result->stage == JOB_START)
        broken(result, program_foreign(arena, "akgen-run"));
    else if (ended->exit_code == 0 && result->stage == JOB_REPORT)
        cheated(result, "the candidate wrote into the result");
    else
        judge_end(arena, ended, result);
    free(message);
}

static uint64_t job_tensor_bytes(const struct job_argument *arguments, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < arguments[i].count; t++)
            bytes += arguments[i].tensors[t].bytes;
    return bytes;
}

/* What a right kernel may need for its tensors. */
static uint64_t expected_memory(const struct job *job)
{
    return machine_memory + BYTES_PER_GM_BYTE * (job_tensor_bytes(job->inputs, job->input_count) +
                                                 job_tensor_bytes(job->outputs, job->output_count));
}

/* What it may take beyond that: jobs that run side by side take no more together than the machine has. */
static uint64_t share_of_memory(const struct job *job, bool alone)
{
    const uint64_t share = memory_of_machine() / (uint64_t)(alone || job->side_by_side < 1 ? 1 : job->side_by_side);
    return share < own_memory ? share : own_memory;
}

uint64_t job_memory_limit(const struct job *job, bool alone)
{
    return expected_memory(job) + job->gm_bytes + share_of_memory(job, alone);
}

/* Under gdb, which stops at the kernel's entry and wherever the machine ends the run. */
static void run_debugger(struct arena *arena, const struct job *job, const char *const runner[],
                         struct sandbox_result *ended)
{
    const char *argv[64], *headers = job->headers ? job->headers : "";
    int count = 0;
    argv[count++] = "gdb";
    argv[count++] = "-q";
    if (job->debugger->script)
        argv[count++] = "-batch";
    const char *const commands[] = {
        "set debuginfod enabled off", "set breakpoint pending on",
        arena_printf(arena, "directory %s", job->debugger->sources), arena_printf(arena, "break %s", job->entry),
        "break npu_trap",
        /* `step` stays in the kernel: not into the pass's hooks, nor into Ascend C. */
        "skip -rfu ^(npu_|fiber_|access$|admit$)", arena_printf(arena, "skip -gfi %s/*/*.h", headers),
        arena_printf(arena, "skip -gfi %s/*/*/*.h", headers), arena_printf(arena, "skip -gfi %s/*/*/*/*.h", headers)};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        argv[count++] = "-ex";
        argv[count++] = commands[i];
    }
    if (job->debugger->script) {
        argv[count++] = "-x";
        argv[count++] = job->debugger->script;
    }
    argv[count++] = "--args";
    for (; *runner; runner++)
        argv[count++] = *runner;
    argv[count] = NULL;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *ended = (struct sandbox_result){.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                                     .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                                     .output = arena_strdup(arena, "")};
    ended->started = pid > 0 && ended->exit_code != 127;
    ended->error = "gdb is not installed; install it with: apt-get install gdb";
}

/* gdb hands on every descriptor that it has. */
static void keep_open(const int *descriptors)
{
    for (; *descriptors >= 0; descriptors++)
        fcntl(*descriptors, F_SETFD, 0);
}

/* The descriptors that akgen-run is told by name. */
enum { JOB_FD, RESULT_FD, GM_FD, STREAM_FD, OPTIONS };

static void run_with(struct arena *arena, const struct job *job, const struct program_objects *objects,
                     const char *runner, bool alone, const int fds[OPTIONS], const struct job_mark *untouched,
                     struct job_result *result)
{
    const char *const names[] = {"job", "result", "gm", job->trace_fd > 0 ? "slices" : "log"};
    double allowed = budget_allows(job->budget, job->seconds);
    int keep[OPTIONS + PROGRAM_OBJECTS + 1];
    const char *argv[OPTIONS + 2] = {runner};
    int count = 0;
    for (; count < OPTIONS && fds[count] >= 0; count++) {
        keep[count] = fds[count];
        argv[count + 1] =
            arena_printf(arena, "--%s=%d", names[count], job->debugger ? fds[count] : SANDBOX_KEPT + count);
    }
    for (int i = 0; i < objects->count; i++)
        keep[count++] = objects->fds[i];
    keep[count] = -1;
    struct sandbox_result ended;
    if (allowed <= 0) {
        timed_out(arena, job, allowed, result);
        return;
    }
    if (job->debugger) {
        keep_open(keep);
        run_debugger(arena, job, argv, &ended);
    } else
        program_run(arena,
                    &(struct program){.argv = argv,
                                      .objects = objects,
                                      .keep = keep,
                                      .inject = job->inject,
                                      .seconds = allowed,
                                      .budget = job->budget,
                                      .memory = job_memory_limit(job, alone),
                                      .file_bytes = job->gm_bytes > written_limit ? job->gm_bytes : written_limit,
                                      .expected_memory = expected_memory(job),
                                      .alone = alone},
                    &ended);
    result->stage = read_stage(fds[RESULT_FD], untouched, job->nonce);
    understand(arena, job, &ended, allowed, fds[RESULT_FD], result);
    if (job->debugger && ended.started && result->status != JOB_OK && !result->nonce) {
        result->status = JOB_EXITED;
        result->error = "the debugger ended before the kernel did";
    }
}

/* Of the log or the slices; -1: neither is wanted. */
static int stream_of(const struct job *job)
{
    return job->log_fd > 0 ? job->log_fd : job->trace_fd > 0 ? job->trace_fd : -1;
}

/* With the objects as akgen-run finds them. */
static void run_prepared(struct arena *arena, struct job *sent, const struct program_objects *objects,
                         const char *runner, bool alone, struct job_result *result)
{
    const char *secret = make_nonce(arena);
    sent->nonce = make_nonce(arena);
    if (!runner || !sent->nonce || !secret) {
        broken(result, runner ? "no random numbers from the kernel" : "akgen-run was not found beside this program");
        return;
    }
    struct job_mark untouched = {0};
    snprintf(untouched.proof, sizeof untouched.proof, "%s", secret);
    struct arena scratch = {0};
    size_t length;
    const void *message = wire_encode(&scratch, WIRE_JOB, sent, &length);
    const int fds[OPTIONS] = {program_memory_file("akgen-job", message, length),
                              program_memory_file("akgen-result", &untouched, sizeof untouched), sent->gm_fd,
                              stream_of(sent)};
    if (fds[JOB_FD] < 0 || fds[RESULT_FD] < 0)
        broken(result, arena_printf(arena, "the job cannot be written: %s", strerror(errno)));
    else
        run_with(arena, sent, objects, runner, alone, fds, &untouched, result);
    for (int i = JOB_FD; i <= RESULT_FD; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    arena_free(&scratch);
}

static void add_printed(struct arena *arena, const struct job *job, struct job_result *result)
{
    if (job->printed_before && *job->printed_before)
        result->printed =
            arena_printf(arena, "%s%.*s", job->printed_before,
                         (int)(PROGRAM_PRINTED - strnlen(job->printed_before, PROGRAM_PRINTED)), result->printed);
}

/* What the host part has decided, beside a result that akgen-run has written. */
static void add_tiling(const struct job *job, struct job_result *result)
{
    if (!result->nonce || result->status == JOB_CHEATED)
        return;
    result->block_dim = job->tiling.block_dim;
    result->tiling_key = job->tiling.key;
    result->workspace = job->tiling.workspace;
    result->tiling_bytes = job->tiling.size;
    result->tiling = json_incref(job->tiling_by_field);
    result->steps = job->steps;
}

static void run_once(struct arena *arena, const struct job *job, bool alone, struct job_result *result)
{
    *result = (struct job_result){.status = JOB_OK, .printed = ""};
    const char *runner = files_program(arena, "akgen-run");
    struct program_objects objects = {0};
    struct job sent = *job;
    sent.log_fd = job->log_fd > 0 ? memfd_create("akgen-log", MFD_CLOEXEC) : -1;
    sent.trace_fd = job->trace_fd > 0 ? memfd_create("akgen-slices", MFD_CLOEXEC) : -1;
    sent.debugged = job->debugger != NULL;
    sent.seconds = job->seconds > 0 ? job->seconds : default_seconds;
    if (!job->debugger) {
        runner = program_same_length(arena, runner);
        int number = SANDBOX_KEPT + GM_FD + 1 + (stream_of(&sent) >= 0);
        sent.kernel_so = program_take_object(arena, &objects, job->kernel_so, number);
        sent.cube_so = program_take_object(arena, &objects, job->cube_so, number);
    }
    run_prepared(arena, &sent, &objects, runner, alone, result);
    program_close_objects(&objects);
    places_find(arena, job, result);
    describe_endless(arena, job, result);
    add_tiling(job, result);
    add_printed(arena, job, result);
    if (sent.log_fd >= 0) {
        places_copy_log(job, sent.log_fd);
        close(sent.log_fd);
    }
    if (sent.trace_fd >= 0) {
        result->timing.trace_cut = !trace_write(job, &result->timing.model, sent.trace_fd, &result->timing.trace_errno);
        close(sent.trace_fd);
    }
}

void job_without_kernel(const struct host_result *host, struct job_result *result)
{
    *result = (struct job_result){
        .status = host->status, .stage = host->stage, .error = host->error, .printed = host->printed};
}

void job_run(struct arena *arena, const struct job *job, struct job_result *result)
{
    run_once(arena, job, false, result);
    const bool had_less = job_memory_limit(job, false) < job_memory_limit(job, true);
    if (job->debugger || (result->status != JOB_BROKEN && !(result->memory_ran_out && had_less)))
        return;
    job_result_free(result);
    if (job->restore)
        job->restore(job->closure);
    if (job->log_fd > 0 && ftruncate(job->log_fd, 0) && errno != EINVAL)
        return; /* EINVAL: not a file; what stands there stays */
    run_once(arena, job, true, result);
}

void job_result_free(struct job_result *result)
{
    json_decref(result->tiling);
    result->tiling = NULL;
}
