#include "toolchain/server/job.h"
#include "base/memory.h"
#include "jail/copy.h"
#include "jail/fence.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool server_receive(int socket, struct server_message *received)
{
    int files[COPY_FILES];
    if (!copy_receive(socket, 2, files))
        return false;
    *received = (struct server_message){files[0], files[1], files[2]};
    return true;
}

/* The text of a job: strings in groups; each string ends with a zero byte, each group with an empty string. */
enum { NUMBERS, READABLE, WRITABLE, ARGUMENTS, OTHERS, GROUPS };
enum { MEMORY, FILE_BYTES, SECONDS, JOBS, NUMBER_COUNT };
struct group {
    const char **strings; /* NULL-terminated */
    int count;
};

static char *read_text(int file, size_t *length)
{
    struct stat status;
    if (fstat(file, &status) || status.st_size <= 0)
        return NULL;
    *length = (size_t)status.st_size;
    char *text = memory_alloc(*length + 1);
    return pread(file, text, *length, 0) == status.st_size ? text : NULL;
}

/* False: it is no job. */
static bool read_groups(int file, struct group groups[GROUPS])
{
    size_t length, at = 0;
    char *text = read_text(file, &length);
    for (int i = 0; i < GROUPS; i++) {
        groups[i].strings = memory_alloc((length + 1) * sizeof *groups[i].strings);
        for (; text && at < length && text[at]; at += strlen(text + at) + 1)
            groups[i].strings[groups[i].count++] = text + at;
        if (!text || at++ >= length)
            return false;
    }
    return groups[NUMBERS].count == NUMBER_COUNT && groups[ARGUMENTS].count;
}

static bool take_descriptors(int socket, int output)
{
    int null = sandbox_empty_input();
    return copy_greet(socket) && null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
           dup2(output, STDERR_FILENO) >= 0;
}

/* False: there are sources, and they cannot be read. */
static bool map_sources(int file, struct server_job *job)
{
    struct stat status;
    if (file < 0)
        return true;
    if (fstat(file, &status) || status.st_size <= 0)
        return false;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    job->sources = bytes == MAP_FAILED ? NULL : bytes;
    job->source_bytes = (size_t)status.st_size;
    return job->sources;
}

bool server_next_source(const struct server_job *job, size_t *at, struct server_source *source)
{
    enum { DECIMAL = 10 };
    const char *end = job->sources + job->source_bytes, *path = job->sources + *at;
    const char *digits = *at < job->source_bytes ? memchr(path, 0, (size_t)(end - path)) : NULL;
    const char *bytes = digits ? memchr(digits + 1, 0, (size_t)(end - digits - 1)) : NULL;
    if (!bytes++)
        return false;
    *source = (struct server_source){path, bytes, strtoull(digits + 1, NULL, DECIMAL)};
    if (source->length >= (size_t)(end - bytes) || bytes[source->length])
        return false;
    *at = (size_t)(bytes + source->length + 1 - job->sources);
    return true;
}

void server_begin(int socket, const struct server_message *message, struct server_job *job)
{
    struct group groups[GROUPS] = {0};
    struct server_job begun = {0};
    bool good = read_groups(message->text, groups) && map_sources(message->sources, &begun);
    if (!take_descriptors(socket, message->output) || !good)
        _exit(JOB_NOT_SERVED);
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
    const char *const *numbers = groups[NUMBERS].strings;
    enum { DECIMAL = 10 };
    const struct sandbox_limits limits = {.memory = strtoull(numbers[MEMORY], NULL, DECIMAL),
                                          .file_bytes = strtoull(numbers[FILE_BYTES], NULL, DECIMAL),
                                          .seconds = strtod(numbers[SECONDS], NULL),
                                          .readable = groups[READABLE].strings,
                                          .writable = groups[WRITABLE].strings};
    if (sandbox_fence(&limits))
        _exit(JOB_NOT_SERVED);
    *job = (struct server_job){.arguments = groups[ARGUMENTS].strings,
                               .argument_count = groups[ARGUMENTS].count,
                               .others = groups[OTHERS].strings,
                               .other_count = groups[OTHERS].count,
                               .sources = begun.sources,
                               .source_bytes = begun.source_bytes,
                               .seconds = limits.seconds,
                               .jobs = atoi(numbers[JOBS])};
}
