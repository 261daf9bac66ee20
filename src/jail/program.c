#include "jail/program_internal.h"
#include "base/files.h"
#include "base/memory.h"
#include "jail/job_exchange.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int program_memory_file(const char *name, const void *bytes, size_t length)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && !files_write_all(fd, bytes, length)) {
        close(fd);
        return -1;
    }
    return fd;
}

const char *program_take_object(struct arena *arena, struct program_objects *objects, const char *path, int number)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return path;
    objects->paths[objects->count] = path;
    objects->fds[objects->count] = fd;
    return arena_printf(arena, "/proc/self/fd/%d", number + objects->count++);
}

void program_close_objects(const struct program_objects *objects)
{
    for (int i = 0; i < objects->count; i++)
        close(objects->fds[i]);
}

const char *program_same_length(struct arena *arena, const char *path)
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

/* Whether a process under another user id could read these: all but the libraries of the system. */
static bool for_everybody(const struct program *program)
{
    struct stat status;
    bool read = !stat(program->argv[0], &status) && status.st_mode & S_IROTH && status.st_mode & S_IXOTH;
    for (int i = 0; i < program->objects->count; i++)
        read &= !fstat(program->objects->fds[i], &status) && status.st_mode & S_IROTH;
    return read;
}

/* The limit on one file: the program also writes a copy of each object, which is what it loads (run/load.c). How large an
 * object may be is the compiler's limit. */
static uint64_t largest_file(const struct program *program)
{
    struct stat status;
    uint64_t most = program->file_bytes;
    for (int i = 0; i < program->objects->count; i++)
        if (!fstat(program->objects->fds[i], &status) && (uint64_t)status.st_size > most)
            most = (uint64_t)status.st_size;
    return most;
}

void program_run(struct arena *arena, const struct program *program, struct sandbox_result *ended)
{
    enum { FIRST_OBJECT = 7 };
    const char *readable[FIRST_OBJECT + PROGRAM_OBJECTS + 1] = {
        "/usr/lib",         "/lib",      "/lib64",
        "/etc/ld.so.cache", "/dev/null", SANITIZED ? "/proc/self" : "/dev/null", /* guard.c says why */
        program->argv[0]};
    for (int i = 0; i < program->objects->count; i++)
        readable[FIRST_OBJECT + i] = program->objects->paths[i];
    /* glibc keeps what was freed last in lists that it marks with a random number, which who reads freed memory sees. */
    const char *const variables[] = {"GLIBC_TUNABLES=glibc.malloc.tcache_count=0",
                                     program->inject ? arena_printf(arena, "AKGEN_INJECT=%s", program->inject) : NULL,
                                     NULL};
    const struct sandbox_limits limits = {.seconds = program->seconds,
                                          /* AddressSanitizer reserves terabytes of address space. */
                                          .memory = SANITIZED ? 0 : program->memory,
                                          .file_bytes = largest_file(program),
                                          .readable = readable,
                                          .apart = for_everybody(program),
                                          .alone = program->alone,
                                          .expected_memory = program->expected_memory,
                                          .variables = variables,
                                          .answer = program->answer,
                                          .cancel_fd = program->budget ? program->budget->cancel_fd : 0};
    sandbox_spawn(arena, program->argv, &limits, program->keep, PROGRAM_PRINTED, ended);
    budget_charge(program->budget, ended->charged);
}

const char *program_late(struct arena *arena, const struct budget *budget, double seconds, double allowed,
                         enum job_stage stage)
{
    const char *name = job_stage_name(stage);
    if (allowed <= 0)
        return arena_printf(arena, "not run: the candidate's %g s were used up", budget->seconds);
    if (allowed < seconds)
        return arena_printf(arena, "not done when the candidate's %g s were used up (stage %s)", budget->seconds, name);
    return arena_printf(arena, "not done after %g s (stage %s)", seconds, name);
}

const char *program_end(struct arena *arena, const char *who, const struct sandbox_result *ended, enum job_stage stage)
{
    if (ended->signal)
        return arena_printf(arena, "%sended by signal %d (%s) in stage %s", who, ended->signal,
                            strsignal(ended->signal), job_stage_name(stage));
    return arena_printf(arena, "%sended the process with exit code %d in stage %s%s", who, ended->exit_code,
                        job_stage_name(stage), ended->exit_code == MEMORY_EXIT ? ", as when memory runs out" : "");
}

const char *program_foreign(struct arena *arena, const char *program)
{
    return arena_printf(arena, "%s is of another build than this program; install both from the same one", program);
}

const char *program_forbidden(struct arena *arena, enum job_stage stage)
{
    return arena_printf(arena,
                        "a forbidden system call in stage %s, made with signals blocked (as when a thread starts)",
                        job_stage_name(stage));
}
