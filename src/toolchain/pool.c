/* The pool: a compile server (clang_server.cpp) for each precompiled header that is in use, started with the first compile
 * that asks for it and kept until the program ends. A server that has ended is replaced; where there can be none, or it
 * does not serve, the caller runs the compiler itself. */
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "jail/copy.h"
#include "toolchain/server/job.h"
#include "toolchain/toolchain_internal.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The host part, kernels for AIVs and for AICs; and those of another cache or home in the same program. */
enum { SERVERS_MAX = 6, FAILURES_MAX = 3, SERVER_OUTPUT = 1 << 16 };

struct server {
    char header[PATH_MAX]; /* the precompiled header that it has loaded; "": none */
    struct sandbox_process *process;
    int socket;
    int failures; /* times in a row that it could not be started */
};
/* The program's servers: they outlive every evaluation. */
static struct {
    pthread_mutex_t lock;
    bool at_exit;
    struct server servers[SERVERS_MAX];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_server(struct server *server)
{
    if (!server->process)
        return;
    close(server->socket);
    sandbox_end(NULL, server->process, NULL);
    server->process = NULL;
}

void toolchain_end_compilers(void)
{
    pthread_mutex_lock(&pool.lock);
    for (int i = 0; i < SERVERS_MAX; i++) {
        end_server(&pool.servers[i]);
        pool.servers[i] = (struct server){.socket = -1};
    }
    pthread_mutex_unlock(&pool.lock);
}

/* What a server sees of the files: what all its compiles read together. Each copy sees less, and has the sources in memory. */
enum { SEEN_CONFINE = CLANG_SYSTEM, SEEN_HEADERS, SEEN_CACHE, SEEN_SERVER, SEEN };

/* False: there is no server to be had. */
static bool list_seen(struct arena *arena, const struct clang *clang, const char *seen[SEEN + 1])
{
    memcpy(seen, clang_system, sizeof clang_system);
    seen[SEEN_CONFINE] = clang->confine; /* part of the server */
    seen[SEEN_HEADERS] = arena_printf(arena, "%s/include", clang->home);
    seen[SEEN_CACHE] = clang->cache;
    seen[SEEN_SERVER] = files_program(arena, "akgen-clang");
    seen[SEEN] = NULL;
    return seen[SEEN_SERVER] != NULL;
}

/* Whether a server can make the compile: it finds all that it reads. */
static bool sees_all(const char *const *seen, const char *const *paths)
{
    for (; *paths; paths++) {
        bool found = false;
        for (int i = 0; i < SEEN && !found; i++) {
            size_t length = strlen(seen[i]);
            found = strncmp(*paths, seen[i], length) == 0 && (!(*paths)[length] || (*paths)[length] == '/');
        }
        if (!found)
            return false;
    }
    return true;
}

/* A job, between pool_run and make_copy. */
struct pool_job {
    struct arena *arena;
    const struct clang *clang;
    const struct clang_args *load;
    const char *const *seen; /* list_seen() */
    int text, sources;       /* descriptors; -1: the job has no sources */
};

/* Starts it with the flags of `load`. Its jail holds what the compiles read that it makes, and what they write. */
static bool start_server(const struct pool_job *job, struct server *server)
{
    struct arena *arena = job->arena;
    int ours, theirs;
    if (server->failures >= FAILURES_MAX || !copy_sockets(&ours, &theirs))
        return false;
    struct clang_args args = {0};
    clang_add(arena, &args, job->seen[SEEN_SERVER]);
    clang_add(arena, &args, arena_printf(arena, "%d", SANDBOX_KEPT));
    for (int i = 0; i < job->load->count; i++)
        clang_add(arena, &args, job->load->items[i]);
    const char *const writable[] = {arena_printf(arena, "%s/work", job->clang->cache), "/dev/null", NULL};
    /* Fresh memory comes in huge pages: a fault for each small one were a tenth of a copy's time. */
    const char *const variables[] = {"LD_BIND_NOW=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", NULL};
    const struct sandbox_limits limits = {.readable = job->seen, .writable = writable, .variables = variables};
    const int keep[] = {theirs, -1};
    struct akgen_error *error = sandbox_start(args.items, &limits, keep, SERVER_OUTPUT, &server->process);
    close(theirs);
    server->socket = ours;
    server->failures++;
    if (!error)
        return true;
    error_free(error);
    close(ours);
    server->process = NULL;
    return false;
}

/* The server of the job's header; NULL: there can be none. */
static struct server *server_for(const struct pool_job *job)
{
    struct server *free_one = NULL;
    for (int i = 0; i < SERVERS_MAX; i++) {
        struct server *server = &pool.servers[i];
        if (strcmp(server->header, job->load->header) == 0)
            return server;
        if (!*server->header && !free_one)
            free_one = server;
    }
    if (!free_one || strlen(job->load->header) >= sizeof free_one->header)
        return NULL;
    strcpy(free_one->header, job->load->header);
    return free_one;
}

/* Has a server make the process of the job: what sandbox_adopt asks for. */
static int make_copy(void *closure, int output)
{
    const struct pool_job *job = closure;
    const int files[] = {job->text, output, job->sources};
    pid_t pid = 0;
    pthread_mutex_lock(&pool.lock);
    if (!pool.at_exit)
        pool.at_exit = atexit(toolchain_end_compilers) == 0;
    struct server *server = server_for(job);
    for (int tries = 0; server && !pid && tries < 2; tries++) {
        if (!server->process && !start_server(job, server))
            break;
        pid = copy_ask(server->socket, files, job->sources < 0 ? 2 : 3);
        if (pid)
            server->failures = 0;
        else
            end_server(server);
    }
    pthread_mutex_unlock(&pool.lock);
    return pid ? pid : -1;
}

static void add_group(struct text *text, const char *const *strings)
{
    for (; *strings; strings++)
        text_append(text, *strings, strlen(*strings) + 1);
    text_append(text, "", 1);
}

/* The text of a job: limits, what it may read, what it may write, arguments, the macros of others. Each string ends with a
 * zero byte, each group with an empty string. */
static int job_file(struct arena *arena, const struct clang_args *args, const struct sandbox_limits *limits)
{
    struct text text = {0};
    const char *const numbers[] = {arena_printf(arena, "%llu", (unsigned long long)limits->memory),
                                   arena_printf(arena, "%llu", (unsigned long long)limits->file_bytes),
                                   arena_printf(arena, "%.0f", limits->seconds), arena_printf(arena, "%d", args->jobs),
                                   NULL};
    add_group(&text, numbers);
    add_group(&text, limits->readable);
    add_group(&text, limits->writable);
    add_group(&text, args->items);
    for (int i = 0; i < args->other_count; i++)
        text_append(&text, args->others[i].config, strlen(args->others[i].config) + 1);
    text_append(&text, "", 1);
    int file = memfd_create("akgen-compile", MFD_CLOEXEC);
    if (file >= 0 && !files_write_all(file, text.bytes, text.length)) {
        close(file);
        file = -1;
    }
    text_free(&text);
    return file;
}

/* Takes apart what a copy prints that had others to answer for (others.h). Nothing of a candidate's comes before the
 * lengths. False: they are not there. */
static bool take_others(struct arena *arena, const struct clang_args *args, struct sandbox_result *result)
{
    enum { DECIMAL = 10, COMPILED = 0, REFUSED = 1 };
    char *at = result->output, *text = at;
    for (int i = 0; i <= args->other_count && text; i++)
        text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    if (!text)
        return false;
    size_t left = strlen(text), length = strtoull(at, &at, DECIMAL);
    if (length > left) /* cut at the limit */
        length = left;
    result->output = text;
    result->output_length = length;
    for (int i = 0; i < args->other_count; i++) {
        text += length;
        left -= length;
        struct clang_other *other = &args->others[i];
        other->exit_code = (int)strtol(at, &at, DECIMAL);
        length = strtoull(at, &at, DECIMAL);
        if (length > left)
            break;
        other->output = arena_strndup(arena, text, length);
        other->timed_out = other->exit_code == JOB_OUT_OF_TIME;
        other->answered = other->exit_code == COMPILED || other->exit_code == REFUSED || other->timed_out;
    }
    result->output[result->output_length] = '\0';
    return true;
}

bool pool_run(struct arena *arena, const struct clang *clang, const struct clang_args *load,
              const struct clang_args *args, int sources, const struct sandbox_limits *limits, size_t output_limit,
              struct sandbox_result *result)
{
    const char *seen[SEEN + 1];
    if (!list_seen(arena, clang, seen) || !sees_all(seen, limits->readable) || !sees_all(seen, limits->writable))
        return false;
    struct pool_job job = {arena, clang, load, seen, job_file(arena, args, limits), sources};
    if (job.text < 0)
        return false;
    struct sandbox_limits of_all = *limits; /* the copy has one of them for itself, and so has each of the others */
    of_all.seconds *= 1 + args->other_count;
    sandbox_adopt(arena, make_copy, &job, &of_all, output_limit, result);
    close(job.text);
    if (!result->started || result->exit_code == JOB_NOT_SERVED)
        return false;
    if (!args->other_count)
        return true;
    result->timed_out |= result->signal == SIGXCPU;
    if (result->exit_code >= 0)
        return take_others(arena, args, result);
    result->output = arena_strdup(arena, ""); /* it did not come to print what it had to say */
    result->output_length = 0;
    return true;
}
