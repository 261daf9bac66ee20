/* job_run: hands a job to akgen-run in the jail and makes sense of how it ended. A process that ended for no reason of
 * its own says nothing about the candidate: its job runs once more, alone. */
#include "base/files.h"
#include "base/memory.h"
#include "sandbox/job_exchange.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRINTED_LIMIT = 64 << 10 };
static const double default_seconds = 60;
static const uint64_t default_memory = 16ULL << 30, written_limit = 64ULL << 20;
/* What the machine itself fills besides the tensors and what it knows of each of their bytes, and how much that is. */
static const uint64_t machine_memory = 1ULL << 30;
enum { BYTES_PER_GM_BYTE = 8 };

/* A file without a name that holds `bytes`; -1 with errno if there can be none. */
static int memory_file(const char *name, const void *bytes, size_t length)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && !files_write_all(fd, bytes, length)) {
        close(fd);
        return -1;
    }
    return fd;
}

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

/* The JSON behind the mark; NULL if there is none. */
static json_t *read_result(int fd)
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size <= (off_t)sizeof(struct job_mark) || status.st_size > JOB_RESULT_LIMIT)
        return NULL;
    size_t length = (size_t)status.st_size - sizeof(struct job_mark);
    char *text = memory_alloc(length);
    json_t *json = NULL;
    if (pread(fd, text, length, sizeof(struct job_mark)) == (ssize_t)length)
        json = json_loadb(text, length, 0, NULL);
    free(text);
    return json;
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

/* A result that does not repeat the nonce is the candidate's, whatever it says. */
static void take_result(struct arena *arena, const json_t *json, const char *nonce, struct job_result *result)
{
    const struct job_result nothing = {.stage = result->stage, .printed = result->printed};
    const char *repeated = json_string_value(json_object_get(json, "nonce"));
    struct akgen_error *error = job_result_from_json(arena, json, result);
    if (!repeated || strcmp(repeated, nonce) != 0) {
        job_result_free(result);
        cheated(result, "the candidate wrote a result of its own");
    } else if (error) {
        job_result_free(result);
        *result = nothing;
        broken(result, arena_strdup(arena, error->message));
    }
    error_free(error);
}

/* An end without a result, in words. */
static const char *describe_end(struct arena *arena, const char *who, const struct sandbox_result *ended,
                                enum job_stage stage)
{
    if (ended->signal)
        return arena_printf(arena, "%sended by signal %d (%s) in stage %s", who, ended->signal,
                            strsignal(ended->signal), job_stage_name(stage));
    return arena_printf(arena, "%sended the process with exit code %d in stage %s%s", who, ended->exit_code,
                        job_stage_name(stage), ended->exit_code == MEMORY_EXIT ? ", as when memory runs out" : "");
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
        broken(result, describe_end(arena, "akgen-run ", ended, result->stage));
    else if (ended->signal == SIGSYS)
        cheated(result,
                arena_printf(arena,
                             "a forbidden system call in stage %s, made with signals blocked (as when a thread starts)",
                             stage));
    else {
        result->status = ended->signal ? JOB_CRASHED : JOB_EXITED;
        result->error = describe_end(arena, ended->signal ? "" : "the candidate ", ended, result->stage);
    }
}

static void understand(struct arena *arena, const struct sandbox_result *ended, double limit, int result_fd,
                       const char *nonce, struct job_result *result)
{
    result->printed = ended->output;
    json_t *json = ended->exit_code == 0 ? read_result(result_fd) : NULL;
    if (!ended->started)
        broken(result, arena_printf(arena, "akgen-run did not start: %s", ended->error));
    else if (ended->timed_out && result->stage != JOB_START) {
        result->status = JOB_TIMEOUT;
        result->error = arena_printf(arena, "not done after %g s (stage %s)", limit, job_stage_name(result->stage));
    } else if (json)
        take_result(arena, json, nonce, result);
    else if (ended->exit_code == 0 && result->stage == JOB_REPORT)
        cheated(result, "the candidate wrote into the result");
    else
        judge_end(arena, ended, result);
    json_decref(json);
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

/* The candidate's objects, opened for akgen-run: where they lie would stand in its memory, for the candidate to find. */
enum { OBJECTS = 3 };
struct objects {
    const char *paths[OBJECTS];
    int fds[OBJECTS];
    int count;
};

/* The name by which akgen-run opens an object as its descriptor `number`; the path itself if it cannot be opened, and
 * akgen-run says so. */
static const char *take_object(struct arena *arena, struct objects *objects, const char *path, int number)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return path;
    objects->paths[objects->count] = path;
    objects->fds[objects->count] = fd;
    return arena_printf(arena, "/proc/self/fd/%d", number + objects->count++);
}

static void close_objects(const struct objects *objects)
{
    for (int i = 0; i < objects->count; i++)
        close(objects->fds[i]);
}

/* The same path in a number of bytes that few paths exceed: how long it is decides where akgen-run's stack begins and
 * what its heap looks like. */
static const char *same_length(struct arena *arena, const char *path)
{
    enum { LENGTH = 512 };
    size_t length = path ? strlen(path) : 0, more = LENGTH - 1 - (length + LENGTH - 1) % LENGTH;
    if (!length || *path != '/')
        return path;
    char *longer = arena_alloc(arena, more + length + 1);
    memset(longer, '/', more);
    memcpy(longer + more, path, length + 1);
    return longer;
}

/* What akgen-run may see and use. */
static void run_jailed(struct arena *arena, const struct job *job, const struct objects *objects,
                       const char *const argv[], double seconds, bool alone, const int *keep,
                       struct sandbox_result *ended)
{
    const char *readable[] = {"/usr/lib",  "/lib",
                              "/lib64",    "/etc/ld.so.cache",
                              "/dev/null", SANITIZED ? "/proc/self" : "/dev/null", /* guard.c says why */
                              argv[0],     NULL,                                   /* the objects */
                              NULL,        NULL,
                              NULL};
    for (int i = 0; i < objects->count; i++)
        readable[7 + i] = objects->paths[i];
    /* glibc keeps what was freed last in lists that it marks with a random number, which who reads freed memory sees. */
    const char *const variables[] = {"GLIBC_TUNABLES=glibc.malloc.tcache_count=0",
                                     job->inject ? arena_printf(arena, "AKGEN_INJECT=%s", job->inject) : NULL, NULL};
    const struct sandbox_limits limits = {.seconds = seconds,
                                          .memory = SANITIZED     ? 0 /* it reserves terabytes of address space */
                                                    : job->memory ? job->memory
                                                                  : default_memory,
                                          .file_bytes = job->gm_bytes > written_limit ? job->gm_bytes : written_limit,
                                          .readable = readable,
                                          .alone = alone,
                                          .expected_memory = machine_memory + BYTES_PER_GM_BYTE * job->gm_bytes,
                                          .variables = variables};
    sandbox_spawn(arena, argv, &limits, keep, PRINTED_LIMIT, ended);
}

enum { OPTIONS = 4 }; /* descriptors that akgen-run is told by name */

static void run_with(struct arena *arena, const struct job *job, const struct objects *objects, const char *runner,
                     bool alone, int job_fd, int result_fd, const struct job_mark *untouched, struct job_result *result)
{
    double seconds = job->seconds > 0 ? job->seconds : default_seconds;
    int keep[OPTIONS + OBJECTS + 1] = {job_fd, result_fd, job->gm_fd, job->log_fd > 0 ? job->log_fd : -1, -1};
    static const char *const names[] = {"job", "result", "gm", "log"};
    const char *argv[OPTIONS + 2] = {runner};
    int count = 0;
    for (; keep[count] >= 0; count++)
        argv[count + 1] =
            arena_printf(arena, "--%s=%d", names[count], job->debugger ? keep[count] : SANDBOX_KEPT + count);
    for (int i = 0; i < objects->count; i++)
        keep[count++] = objects->fds[i];
    keep[count] = -1;
    struct sandbox_result ended;
    if (job->debugger) {
        keep_open(keep);
        run_debugger(arena, job, argv, &ended);
    } else
        run_jailed(arena, job, objects, argv, seconds, alone, keep, &ended);
    result->stage = read_stage(result_fd, untouched, job->nonce);
    understand(arena, &ended, seconds, result_fd, job->nonce, result);
    if (job->debugger && ended.started && result->status != JOB_OK && !result->nonce) {
        result->status = JOB_EXITED;
        result->error = "the debugger ended before the kernel did";
    }
}

static void run_once(struct arena *arena, const struct job *job, bool alone, struct job_result *result)
{
    *result = (struct job_result){.status = JOB_OK, .printed = ""};
    const char *runner = files_program(arena, "akgen-run"), *secret = make_nonce(arena);
    struct job sent = *job;
    struct objects objects = {0};
    sent.nonce = make_nonce(arena);
    if (!job->debugger) {
        runner = same_length(arena, runner);
        int number = SANDBOX_KEPT + 2 + (job->gm_fd >= 0) + (job->gm_fd >= 0 && job->log_fd > 0);
        sent.host_so = take_object(arena, &objects, job->host_so, number);
        sent.kernel_so = take_object(arena, &objects, job->kernel_so, number);
        sent.cube_so = take_object(arena, &objects, job->cube_so, number);
        sent.headers = same_length(arena, job->headers);
    }
    if (!runner || !sent.nonce || !secret) {
        broken(result, runner ? "no random numbers from the kernel" : "akgen-run was not found beside this program");
        close_objects(&objects);
        return;
    }
    struct job_mark untouched = {0};
    snprintf(untouched.proof, sizeof untouched.proof, "%s", secret);
    json_t *json = job_to_json(&sent);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    int job_fd = text ? memory_file("akgen-job", text, strlen(text)) : -1;
    int result_fd = memory_file("akgen-result", &untouched, sizeof untouched);
    if (job_fd < 0 || result_fd < 0)
        broken(result,
               arena_printf(arena, "the job cannot be written: %s", text ? strerror(errno) : "it is no valid JSON"));
    else
        run_with(arena, &sent, &objects, runner, alone, job_fd, result_fd, &untouched, result);
    if (job_fd >= 0)
        close(job_fd);
    if (result_fd >= 0)
        close(result_fd);
    close_objects(&objects);
    free(text);
    json_decref(json);
}

void job_run(struct arena *arena, const struct job *job, struct job_result *result)
{
    run_once(arena, job, false, result);
    if (result->status != JOB_BROKEN || job->debugger)
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
