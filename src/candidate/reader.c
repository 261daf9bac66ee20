/* akgen's side of akgen-read: starts it, sends it jobs, and makes sense of how a copy ended. */
#include "candidate/reader.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/inject.h"
#include "base/memory.h"
#include "candidate/reader_internal.h"
#include "jail/copy.h"
#include "jail/job_exchange.h"
#include "jail/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of one reading. An answer of 16 MiB is read in a second or two and in half of the memory. */
static const struct reader_limits usual = {.seconds = 30, .memory = 2ULL << 30};
static struct reader_limits chosen; /* for tests; zeros: the usual ones */

/* The program's one akgen-read: it outlives every evaluation. */
static struct {
    pthread_mutex_t lock;
    bool at_exit;
    struct sandbox_process *process;
    int socket;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

void candidate_limit_reader(struct reader_limits limits)
{
    chosen = limits;
}

static struct reader_limits limits_now(void)
{
    return chosen.seconds > 0 ? chosen : usual;
}

static void end_server(void)
{
    if (!server.process)
        return;
    close(server.socket);
    sandbox_end(NULL, server.process, NULL);
    server.process = NULL;
}

void candidate_end_reader(void)
{
    pthread_mutex_lock(&server.lock);
    end_server();
    pthread_mutex_unlock(&server.lock);
}

/* Starts it in a jail that shows the libraries of the system and nothing else. */
static struct akgen_error *start_server(struct arena *arena)
{
    int ours, theirs;
    const char *path = files_program(arena, "akgen-read");
    if (!path)
        return error_new("akgen-read was not found beside this program");
    if (!copy_sockets(&ours, &theirs))
        return error_new("no sockets for akgen-read: %s", strerror(errno));
    const char *const argv[] = {path, arena_printf(arena, "%d", SANDBOX_KEPT), NULL};
    const char *const readable[] = {
        "/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", SANITIZED ? "/proc/self" : "/dev/null",
        path,       NULL};
    const char *const variables[] = {"LD_BIND_NOW=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                     SANITIZED ? "ASAN_OPTIONS=intercept_strstr=0:detect_leaks=0" : NULL, NULL};
    const struct sandbox_limits limits = {.file_bytes = 1, .readable = readable, .variables = variables};
    const int keep[] = {theirs, -1};
    enum { PRINTED = 1 << 16 };
    struct akgen_error *error = sandbox_start(argv, &limits, keep, PRINTED, &server.process);
    close(theirs);
    server.socket = ours;
    if (error)
        close(ours);
    return error;
}

/* A job, between attempt() and make_copy(). */
struct sent {
    struct arena *arena;
    const char *what;        /* the text is: "answer" */
    int files[READER_FILES]; /* READER_PRINTED is sandbox_adopt's */
    const char *problem;     /* why there is no copy */
};

/* Makes the copy for sandbox_adopt. */
static int make_copy(void *closure, int output)
{
    struct sent *sent = closure;
    pid_t pid = 0;
    sent->files[READER_PRINTED] = output;
    pthread_mutex_lock(&server.lock);
    if (!server.at_exit)
        server.at_exit = atexit(candidate_end_reader) == 0;
    for (int tries = 0; !pid && tries < 2; tries++) {
        struct akgen_error *error = server.process ? NULL : start_server(sent->arena);
        if (error) {
            sent->problem = arena_strdup(sent->arena, error->message);
            error_free(error);
            break;
        }
        pid = copy_ask(server.socket, sent->files, READER_FILES);
        if (!pid)
            end_server();
    }
    pthread_mutex_unlock(&server.lock);
    return pid ? pid : -1;
}

/* A file without a name that holds the limits and the message; -1 with errno. */
static int job_file(const struct reader_limits *limits, const void *message, size_t length)
{
    int fd = memfd_create("akgen-read", MFD_CLOEXEC);
    if (fd < 0 || (files_write_all(fd, limits, sizeof *limits) && files_write_all(fd, message, length)))
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Endings of an attempt. */
enum ending {
    READ,    /* with a result */
    LATE,    /* the candidate's time is over */
    REFUSED, /* it used too much, or crashed: the answer's doing */
    BROKEN   /* ours */
};

/* An end without a result, in words. Before the text was looked at it is ours. */
static enum ending judge_end(struct arena *arena, const struct sent *sent, const struct reader_limits *limits,
                             const struct sandbox_result *ended, const char **why)
{
    const char *what = sent->what;
    if (!ended->started) {
        *why = arena_printf(arena, "akgen-read did not start: %s", sent->problem ? sent->problem : ended->error);
        return BROKEN;
    }
    if (ended->timed_out) {
        const double own = limits_now().seconds;
        *why = limits->seconds < own
                   ? "the candidate's time (--candidate-seconds) was over before its answer was read"
                   : arena_printf(arena, "the %s cannot be read: it takes more than %g seconds", what, own);
        return limits->seconds < own ? LATE : REFUSED;
    }
    if (ended->exit_code == MEMORY_EXIT || ended->exhausted) {
        *why = arena_printf(arena, "the %s cannot be read: it takes more than %llu MiB of memory", what,
                            (unsigned long long)(limits->memory >> 20));
        return REFUSED;
    }
    if (ended->killed || ended->exit_code == READER_NOT_BEGUN || ended->exit_code > 0) {
        *why = ended->signal ? arena_printf(arena, "akgen-read was ended by signal %d", ended->signal)
                             : arena_printf(arena, "akgen-read ended with code %d", ended->exit_code);
        return BROKEN;
    }
    *why = ended->signal ? arena_printf(arena, "the %s cannot be read: its reader ends with signal %d (%s)", what,
                                        ended->signal, strsignal(ended->signal))
                         : arena_printf(arena, "the %s cannot be read: its reader ends without a result", what);
    return REFUSED;
}

static enum ending attempt(struct arena *arena, struct reader_job *job, struct budget *budget,
                           struct reader_result *result, const char **why)
{
    struct sent sent = {.arena = arena, .what = job->work == READER_TASK ? "task" : "answer", .files = {-1, -1, -1}};
    struct reader_limits limits = limits_now();
    int ends[2] = {-1, -1};
    size_t length;
    enum ending ending = BROKEN;
    enum { LONGEST = 1 << 29 };
    if (job->work == READER_REVIEW && job->asked.seconds > limits.seconds) /* it interprets the program */
        limits.seconds = job->asked.seconds;
    limits.seconds = budget_allows(budget, limits.seconds);
    limits.memory = SANITIZED ? 0 : limits.memory;
    *why = "the candidate's time (--candidate-seconds) was over before its answer was read";
    if (limits.seconds <= 0)
        return LATE;
    job->crash = inject_fails(INJECT_CRASH);
    struct arena scratch = {0};
    const void *message = reader_encode_job(&scratch, job, &length);
    sent.files[READER_JOB] = job_file(&limits, message, length);
    if (sent.files[READER_JOB] < 0 || pipe2(ends, O_CLOEXEC)) {
        *why = arena_printf(arena, "the %s cannot be sent to akgen-read: %s", sent.what, strerror(errno));
    } else {
        struct sandbox_answer answer = {.fd = ends[0], .limit = LONGEST};
        const struct sandbox_limits of_copy = {
            .seconds = limits.seconds, .answer = &answer, .cancel_fd = budget ? budget->cancel_fd : 0};
        struct sandbox_result ended;
        enum { PRINTED = 1 << 12 };
        sent.files[READER_ANSWER] = ends[1];
        sandbox_adopt(arena, make_copy, &sent, &of_copy, PRINTED, &ended);
        budget_charge(budget, ended.charged);
        struct akgen_error *error = ended.started && ended.exit_code == 0 && !ended.timed_out
                                        ? reader_decode_result(arena, answer.text.bytes, answer.text.length, result)
                                        : error_new("no result");
        ending = error ? judge_end(arena, &sent, &limits, &ended, why) : READ;
        error_free(error);
        text_free(&answer.text);
    }
    arena_free(&scratch);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    if (sent.files[READER_JOB] >= 0)
        close(sent.files[READER_JOB]);
    return ending;
}

/* Does the job. NULL: `result` is there; else why not. A crash can be somebody else's doing, and so can an end for want of memory: both
 * are the answer's where they happen again. */
static const struct candidate_refusal *run(struct arena *arena, struct reader_job *job, struct budget *budget,
                                           struct reader_result *result)
{
    static const enum akgen_verdict_kind kinds[] = {
        [LATE] = AKGEN_VERDICT_TIMEOUT, [REFUSED] = AKGEN_VERDICT_COMPILE_ERROR, [BROKEN] = AKGEN_VERDICT_INFRA_ERROR};
    struct candidate refused = {0};
    const char *why;
    enum ending ending = attempt(arena, job, budget, result, &why);
    if (ending == REFUSED || ending == BROKEN)
        ending = attempt(arena, job, budget, result, &why);
    if (ending == READ)
        return NULL;
    if (ending == REFUSED)
        candidate_refuse_for(arena, DIAG_SYNTAX, NULL, why, &refused);
    else
        candidate_refuse(arena, kinds[ending], why, &refused);
    return refused.refusal;
}

/* Points the candidate's parts to where they lie. */
static void give_candidate(struct arena *arena, const struct reader_result *from, struct candidate *candidate)
{
    const struct reader_result *kept = arena_copy(arena, from, sizeof *from);
    candidate->language = kept->candidate.language;
    candidate->files = kept->candidate.files;
    candidate->digest = kept->candidate.digest;
    if (kept->answer.kind == ANSWER_IS_STRINGS) { /* of what was written, the wrapper too */
        struct digest *digest = digest_new_unforgeable();
        digest_bytes(digest, kept->answer.files[0].bytes, kept->answer.files[0].length);
        candidate->digest = digest_finish(digest, arena);
    }
    candidate->program = kept->candidate.program;
    candidate->refusal = kept->refusal.reason ? &kept->refusal : NULL;
    candidate->map = kept->map.program ? &kept->map : NULL;
    if (kept->strings.count) {
        struct op_response *response = arena_alloc(arena, sizeof *response);
        reader_give_strings(&kept->strings, response);
        candidate->response = response;
    }
}

void candidate_read_answer(struct arena *arena, const char *name, const char *text, size_t length,
                           const struct task *task, const struct candidate_asked *asked, struct answer *answer,
                           struct candidate *candidate)
{
    struct budget budget;
    struct reader_result result;
    struct reader_job job = {.work = candidate ? READER_CANDIDATE : READER_FORM,
                             .dir = task->dir,
                             .yaml = task->yaml,
                             .table = task->table,
                             .asked = *asked,
                             .name = name,
                             .text = text,
                             .length = (uint32_t)length};
    budget_open(&budget, asked->seconds > 0 ? asked->seconds : usual.seconds, asked->cancel_fd);
    const struct candidate_refusal *refusal = run(arena, &job, &budget, &result);
    *answer = refusal ? (struct answer){.kind = ANSWER_IS_NOTHING, .problem = refusal->reason, .language = EVAL_ANY}
                      : result.answer;
    if (candidate) {
        *candidate = (struct candidate){.name = arena_strdup(arena, name), .language = EVAL_ANY, .refusal = refusal};
        if (!refusal)
            give_candidate(arena, &result, candidate);
        candidate->charged = budget.used;
    }
    budget_close(&budget);
}

const struct candidate_refusal *candidate_read_wrapper(struct arena *arena, const struct op_response *response,
                                                       const struct op_def *def, struct budget *budget,
                                                       struct op_wrapper *wrapper)
{
    struct reader_result result;
    struct reader_job job = {.work = READER_WRAPPER,
                             .dir = "",
                             .yaml = "",
                             .table = "",
                             .asked = {.language = EVAL_ANY, .only_case = -1},
                             .name = "",
                             .def = *def};
    reader_take_strings(response, &job.strings);
    const struct candidate_refusal *refusal = run(arena, &job, budget, &result);
    if (!refusal)
        *wrapper = result.wrapper;
    return refusal;
}

bool candidate_read_review(struct arena *arena, const char *program, size_t length, const struct task *task,
                           const struct candidate_asked *asked, struct dsl_messages *messages)
{
    struct budget budget;
    struct reader_result result;
    struct reader_job job = {.work = READER_REVIEW,
                             .dir = task->dir,
                             .yaml = task->yaml,
                             .table = task->table,
                             .asked = *asked,
                             .name = "",
                             .text = program,
                             .length = (uint32_t)length};
    budget_open(&budget, asked->seconds > 0 ? asked->seconds : usual.seconds, asked->cancel_fd);
    const struct candidate_refusal *refusal = run(arena, &job, &budget, &result);
    budget_close(&budget);
    if (refusal || !result.review.done)
        return false;
    *messages = (struct dsl_messages){.arena = arena,
                                      .path = "program.py",
                                      .source = program,
                                      .kept = result.review.kept,
                                      .count = result.review.count};
    memcpy(messages->items, result.review.items, (size_t)result.review.kept * sizeof *messages->items);
    return true;
}

struct akgen_error *candidate_try_task(const char *dir, const char *yaml, const char *cases)
{
    static const double seconds = 5; /* a published task is read in a millisecond */
    struct arena arena = {0};
    struct budget budget;
    struct reader_result result;
    struct reader_job job = {.work = READER_TASK,
                             .dir = dir,
                             .yaml = yaml,
                             .table = cases,
                             .asked = {.language = EVAL_ANY, .only_case = -1},
                             .name = ""};
    budget_open(&budget, seconds, 0);
    const struct candidate_refusal *refusal = run(&arena, &job, &budget, &result);
    struct akgen_error *error = NULL;
    if (refusal)
        error = refusal->kind == AKGEN_VERDICT_TIMEOUT
                    ? error_new("%s: the task cannot be read: it takes more than %g seconds", dir, seconds)
                    : error_new("%s: %s", dir, refusal->reason);
    budget_close(&budget);
    arena_free(&arena);
    return error;
}
