/* job_run: hands a job to akgen-run in the jail and makes sense of how it ended. */
#include "base/files.h"
#include "run/guard.h"
#include "sandbox/job_internal.h"
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

/* akgen-run lies beside the running program, or one folder up (tests, benchmarks). */
static const char *find_runner(struct arena *arena)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return NULL;
    self[length] = '\0';
    const char *dir = dirname(self);
    static const char *const places[] = {"akgen-run", "../akgen-run", "../libexec/akgen/akgen-run"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = arena_printf(arena, "%s/%s", dir, places[i]);
        char *real = access(path, X_OK) ? NULL : realpath(path, NULL);
        if (real) {
            path = arena_strdup(arena, real);
            free(real);
            return path;
        }
    }
    return NULL;
}

static int memory_file(const char *name, const char *text)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    size_t length = text ? strlen(text) : 0;
    for (size_t done = 0; fd >= 0 && done < length;) {
        ssize_t n = write(fd, text + done, length - done);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)n;
    }
    return fd;
}

static void broken(struct job_result *result, const char *error)
{
    result->status = JOB_BROKEN;
    result->error = error;
}

static const char *read_stage(struct arena *arena, int fd)
{
    static const char *const stages[] = {"start", "load", "tiling", "run", "report"};
    char stage[JOB_STAGE_BYTES] = {0};
    if (pread(fd, stage, sizeof stage - 1, 0) > 0)
        for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
            if (strcmp(stage, stages[i]) == 0)
                return arena_strdup(arena, stage);
    return "start";
}

/* The JSON behind the stage; NULL if there is none. */
static json_t *read_result(int fd)
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size <= JOB_STAGE_BYTES || status.st_size > JOB_RESULT_LIMIT)
        return NULL;
    size_t length = (size_t)status.st_size - JOB_STAGE_BYTES;
    char *text = malloc(length);
    json_t *json = NULL;
    if (text && pread(fd, text, length, JOB_STAGE_BYTES) == (ssize_t)length)
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

/* A result that akgen-run did not write is the candidate's. */
static void check_nonce(struct job_result *result, const char *nonce)
{
    if (result->nonce && strcmp(result->nonce, nonce) == 0)
        return;
    job_result_free(result);
    cheated(result, "the candidate wrote a result of its own");
}

static void understand(struct arena *arena, const struct sandbox_result *ended, double limit, int result_fd,
                       const char *nonce, struct job_result *result)
{
    result->printed = ended->output;
    result->stage = read_stage(arena, result_fd);
    if (!ended->started) {
        broken(result, arena_printf(arena, "akgen-run did not start: %s", ended->error));
        return;
    }
    if (ended->timed_out) {
        result->status = JOB_TIMEOUT;
        result->error = arena_printf(arena, "not done after %g s (stage %s)", limit, result->stage);
        return;
    }
    json_t *json = ended->exit_code == 0 ? read_result(result_fd) : NULL;
    if (json) {
        struct akgen_error *error = job_result_from_json(arena, json, result);
        if (!error)
            check_nonce(result, nonce);
        else if (json_string_value(json_object_get(json, "nonce")) &&
                 strcmp(json_string_value(json_object_get(json, "nonce")), nonce) == 0) {
            *result = (struct job_result){.stage = result->stage, .printed = result->printed};
            broken(result, arena_strdup(arena, error->message));
        } else
            cheated(result, "the candidate wrote a result of its own");
        error_free(error);
        json_decref(json);
    } else if (ended->signal == SIGSYS)
        cheated(result,
                arena_printf(arena,
                             "a forbidden system call in stage %s, made with signals blocked (as when a thread starts)",
                             result->stage));
    else if (ended->signal) {
        result->status = JOB_CRASHED;
        result->error = arena_printf(arena, "ended by signal %d (%s) in stage %s", ended->signal,
                                     strsignal(ended->signal), result->stage);
    } else {
        result->status = JOB_EXITED;
        result->error = arena_printf(arena, "the candidate ended the process with exit code %d in stage %s",
                                     ended->exit_code, result->stage);
    }
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
        /* `step` stays in the kernel: not into the compiler's hooks, nor into Ascend C. */
        "skip -rfu ^(npu_|__sanitizer_cov_|hook$)", arena_printf(arena, "skip -gfi %s/*/*.h", headers),
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

static void run_with(struct arena *arena, const struct job *job, const char *runner, int job_fd, int result_fd,
                     struct job_result *result)
{
    double seconds = job->seconds > 0 ? job->seconds : default_seconds;
    const char *const argv[] = {runner,
                                arena_printf(arena, "--job=%d", job_fd),
                                arena_printf(arena, "--result=%d", result_fd),
                                arena_printf(arena, "--gm=%d", job->gm_fd),
                                job->log_fd > 0 ? arena_printf(arena, "--log=%d", job->log_fd) : NULL,
                                NULL};
    const char *const readable[] = {"/usr/lib",
                                    "/lib",
                                    "/lib64",
                                    "/etc/ld.so.cache",
                                    "/dev/null",
                                    SANITIZED ? "/proc/self" : "/dev/null", /* guard.c says why */
                                    runner,
                                    job->host_so,
                                    job->kernel_so ? job->kernel_so : "/dev/null",
                                    job->cube_so ? job->cube_so : "/dev/null",
                                    NULL};
    const struct sandbox_limits limits = {.seconds = seconds,
                                          .memory = SANITIZED     ? 0 /* it reserves terabytes of address space */
                                                    : job->memory ? job->memory
                                                                  : default_memory,
                                          .file_bytes = job->gm_bytes > written_limit ? job->gm_bytes : written_limit,
                                          .readable = readable};
    const int keep[] = {job_fd, result_fd, job->gm_fd, job->log_fd > 0 ? job->log_fd : -1, -1};
    struct sandbox_result ended;
    if (job->debugger) {
        keep_open(keep);
        run_debugger(arena, job, argv, &ended);
    } else
        sandbox_spawn(arena, argv, &limits, keep, PRINTED_LIMIT, &ended);
    understand(arena, &ended, seconds, result_fd, job->nonce, result);
    if (job->debugger && result->status == JOB_EXITED)
        result->error = "the debugger ended before the kernel did";
}

void job_run(struct arena *arena, const struct job *job, struct job_result *result)
{
    *result = (struct job_result){.status = JOB_OK, .stage = "start", .printed = ""};
    const char *runner = find_runner(arena);
    if (!runner) {
        broken(result, "akgen-run was not found beside this program");
        return;
    }
    struct job sent = *job;
    sent.nonce = make_nonce(arena);
    if (!sent.nonce) {
        broken(result, "no random numbers from the kernel");
        return;
    }
    json_t *json = job_to_json(&sent);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    int job_fd = text ? memory_file("akgen-job", text) : -1;
    int result_fd = memory_file("akgen-result", NULL);
    if (job_fd < 0 || result_fd < 0)
        broken(result,
               arena_printf(arena, "the job cannot be written: %s", text ? strerror(errno) : "it is no valid JSON"));
    else
        run_with(arena, &sent, runner, job_fd, result_fd, result);
    if (job_fd >= 0)
        close(job_fd);
    if (result_fd >= 0)
        close(result_fd);
    free(text);
    json_decref(json);
}

void job_result_free(struct job_result *result)
{
    json_decref(result->tiling);
    result->tiling = NULL;
}
