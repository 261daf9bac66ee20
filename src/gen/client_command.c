/* A command in a server's place: `/bin/sh -c COMMAND` gets the prompt on standard input, and what it prints is the answer. One
 * run for each answer; AKGEN_SEED is the seed, where there is one, AKGEN_MODEL the model. It has a process group of its
 * own, of which nothing is left when it has ended, was stopped or took too long, or akgen is gone. */
#include "base/clock.h"
#include "base/memory.h"
#include "gen/client_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16,
    ERRORS_KEPT = 1 << 16,
    LONGEST_COMPLAINT = 500,
    TEMPORARY = 75 /* EX_TEMPFAIL of sysexits.h */
};
static const double tick_seconds = 0.02; /* where the kernel has no pidfd */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The environment of akgen, with the two variables. In `arena`. */
static char **environment_of(struct arena *arena, const struct gen_job *job)
{
    static const char *const own[] = {"AKGEN_SEED=", "AKGEN_MODEL="};
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = arena_alloc(arena, sizeof *list * (count + 3));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], own[0], strlen(own[0])) != 0 && strncmp(environ[i], own[1], strlen(own[1])) != 0)
            list[kept++] = environ[i];
    if (job->request.seeded)
        list[kept++] = arena_printf(arena, "%s%" PRIu64, own[0], job->request.seed + (uint64_t)job->reply->count);
    if (job->client->endpoint.model)
        list[kept++] = arena_printf(arena, "%s%s", own[1], job->client->endpoint.model);
    return list;
}

/* A guard in the command's process group reads the pipe of gen_client.life, which says nothing until akgen is gone, even by
 * kill -9: then it ends the group. The command's shell is another one, which knows of no such child. */
static const char guarded[] =
    "{ read -r gone <&3; kill -9 0; } </dev/null >/dev/null 2>&1 & exec /bin/sh -c \"$1\" 3<&-";

static int spawn(struct gen_job *job, const int ends[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    struct arena arena = {0};
    char *arguments[] = {
        (char *)"sh", (char *)"-c", (char *)guarded, (char *)"sh", (char *)job->client->endpoint.command, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, ends[i], i);
    posix_spawn_file_actions_adddup2(&actions, job->client->life[0], 3);
    int failed =
        posix_spawn(&job->run.process, "/bin/sh", &actions, &attributes, arguments, environment_of(&arena, job));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    arena_free(&arena);
    if (failed)
        job->run.process = 0;
    return failed;
}

void gen_command_begin(struct gen_job *job, struct gen_outcome *outcome)
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, failed = 0;
    job->began = clock_seconds();
    job->run = (struct gen_run){.input = -1, .output = -1, .errors = -1, .ended = -1};
    job->run.prompt = gen_protocol_prompt(job->request.messages, job->request.message_count);
    for (int i = 0; i < 3 && !failed; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            failed = errno;
    const int ends[] = {pipes[0][0], pipes[1][1], pipes[2][1]}, mine[] = {pipes[0][1], pipes[1][0], pipes[2][0]};
    if (!failed)
        failed = spawn(job, ends);
    for (int i = 0; i < 3; i++) {
        int end = ends[i];
        close_end(&end);
        if (mine[i] >= 0)
            fcntl(mine[i], F_SETFL, O_NONBLOCK);
    }
    job->run.input = mine[0];
    job->run.output = mine[1];
    job->run.errors = mine[2];
    if (failed) {
        char *why;
        if (asprintf(&why, "the command cannot be started: %s", strerror(failed)) < 0)
            memory_exhausted(0);
        *outcome = (struct gen_outcome){.end = GEN_RETRY, .why = why};
        return;
    }
    job->run.ended = (int)syscall(SYS_pidfd_open, job->run.process, 0);
}

int gen_command_fds(const struct gen_job *job, struct curl_waitfd *fds)
{
    const struct gen_run *run = &job->run;
    const struct curl_waitfd all[GEN_COMMAND_FDS] = {{run->input, CURL_WAIT_POLLOUT, 0},
                                                     {run->output, CURL_WAIT_POLLIN, 0},
                                                     {run->errors, CURL_WAIT_POLLIN, 0},
                                                     {run->ended, CURL_WAIT_POLLIN, 0}};
    int count = 0;
    for (int i = 0; i < GEN_COMMAND_FDS; i++)
        if (run->process && all[i].fd >= 0)
            fds[count++] = all[i];
    return count;
}

/* Reads what there is; closes the pipe at its end. Of more than `most` bytes the last ones are kept. Returns how many
 * came. */
static size_t drain(int *fd, struct text *text, size_t most)
{
    char bytes[PIECE];
    size_t count = 0;
    while (*fd >= 0) {
        ssize_t got = read(*fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return count;
        if (got <= 0) {
            close_end(fd);
            return count;
        }
        count += (size_t)got;
        text_append(text, bytes, (size_t)got);
        if (text->length > most + PIECE) {
            memmove(text->bytes, text->bytes + text->length - most, most + 1);
            text->length = most;
        }
    }
    return count;
}

static void feed(struct gen_run *run)
{
    size_t length = strlen(run->prompt);
    while (run->input >= 0) {
        ssize_t put = run->written < length ? write(run->input, run->prompt + run->written, length - run->written) : 0;
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return;
        run->written += put > 0 ? (size_t)put : 0;
        if (put < 0 || run->written == length) /* who does not read its prompt is not made to */
            close_end(&run->input);
    }
}

/* "exit code 3: the last line of standard error". */
static char *complaint(const struct gen_job *job, int status)
{
    struct text why = {0};
    struct arena scratch = {0};
    const char *errors =
        gen_without_key(&scratch, job->run.err.bytes ? job->run.err.bytes : "", job->client->endpoint.key);
    size_t end = strlen(errors);
    while (end && strchr(" \t\r\n", errors[end - 1]))
        end--;
    size_t begin = end;
    while (begin && errors[begin - 1] != '\n' && end - begin < LONGEST_COMPLAINT)
        begin--;
    if (WIFSIGNALED(status))
        text_addf(&why, "the command was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        text_addf(&why, "the command ended with exit code %d", WEXITSTATUS(status));
    if (end > begin) {
        text_add(&why, ": ");
        text_append(&why, errors + begin, end - begin);
        text_make_utf8(why.bytes);
    }
    arena_free(&scratch);
    return why.bytes;
}

static void end_run(struct gen_job *job, struct gen_outcome *outcome)
{
    struct gen_run *run = &job->run;
    int status = 0;
    kill(-run->process, SIGKILL); /* what it left behind */
    waitpid(run->process, &status, 0);
    run->process = 0;
    drain(&run->output, &run->out, GEN_REPLY_LIMIT);
    drain(&run->errors, &run->err, ERRORS_KEPT);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (status == 0) {
        text_add(&run->out, "");
        gen_job_answer(job, &run->out, NULL, NULL);
        job->uncounted = true;
        outcome->end = GEN_ANSWERED;
        return;
    }
    /* 126 and 127 are the shell's: there is no such program. */
    *outcome = (struct gen_outcome){.end = code == TEMPORARY ? GEN_RETRY : GEN_REFUSED,
                                    .why = complaint(job, status),
                                    .hopeless = code == 126 || code == 127};
}

void gen_command_look(struct gen_job *job, double now, double *next, struct gen_outcome *outcome)
{
    struct gen_run *run = &job->run;
    double limit = job->client->endpoint.total_seconds, end = job->began + (limit > 0 ? limit : 1e9);
    siginfo_t state = {0};
    char *why = NULL;
    feed(run);
    run->printed += drain(&run->output, &run->out, GEN_REPLY_LIMIT);
    drain(&run->errors, &run->err, ERRORS_KEPT);
    /* Its number is its own, and its group's, until it is waited for. */
    if (waitid(P_PID, (id_t)run->process, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == run->process)
        end_run(job, outcome);
    else if (run->printed > GEN_REPLY_LIMIT)
        why = memory_string("the command printed more than 64 MiB");
    else if (now >= end && asprintf(&why, "the command took longer than %g s", limit) < 0)
        memory_exhausted(0);
    if (why)
        *outcome = (struct gen_outcome){.end = GEN_REFUSED, .why = why};
    if (end < *next)
        *next = end;
    if (run->ended < 0 && now + tick_seconds < *next)
        *next = now + tick_seconds;
}

void gen_command_drop(struct gen_job *job)
{
    struct gen_run *run = &job->run;
    if (run->process) {
        kill(-run->process, SIGKILL);
        while (waitpid(run->process, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    int *const fds[] = {&run->input, &run->output, &run->errors, &run->ended};
    for (int i = 0; i < 4; i++)
        close_end(fds[i]);
    free(run->prompt);
    text_free(&run->out);
    text_free(&run->err);
    *run = (struct gen_run){.input = -1, .output = -1, .errors = -1, .ended = -1};
}
