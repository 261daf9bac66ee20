/* akgen-read: reads answers of strangers. It lives on, copies itself for each job, and never looks at a text itself: the copy does, inside
 * its limits, writes what came of it and ends. */
#include "base/files.h"
#include "base/memory.h"
#include "candidate/reader_internal.h"
#include "jail/copy.h"
#include "jail/fence.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RESULT = STDERR_FILENO + 1 };

/* The job's bytes; NULL: they cannot be had. */
static const char *map_job(int file, size_t *length)
{
    struct stat status;
    if (fstat(file, &status) || (size_t)status.st_size <= sizeof(struct reader_limits))
        return NULL;
    *length = (size_t)status.st_size;
    const char *bytes = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, file, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* Says that it is there and leaves itself nothing but the pipes. */
static bool take_descriptors(int socket, const int *files)
{
    int null = sandbox_empty_input();
    return copy_greet(socket) && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
           dup2(files[READER_PRINTED], STDOUT_FILENO) >= 0 && dup2(files[READER_PRINTED], STDERR_FILENO) >= 0 &&
           dup2(files[READER_ANSWER], RESULT) >= 0 && syscall(SYS_close_range, RESULT + 1, ~0U, 0) == 0;
}

static _Noreturn void read_one(int socket, const int *files)
{
    static const char *const nothing[] = {NULL};
    size_t length = 0, written;
    struct arena arena = {0};
    struct reader_limits limits;
    struct reader_job job;
    struct reader_result result;
    const char *bytes = map_job(files[READER_JOB], &length);
    if (!take_descriptors(socket, files) || !bytes)
        _exit(READER_NOT_BEGUN);
    memcpy(&limits, bytes, sizeof limits);
    if (sandbox_fence(&(struct sandbox_limits){.seconds = limits.seconds,
                                               .memory = limits.memory,
                                               .file_bytes = 1,
                                               .readable = nothing,
                                               .writable = nothing}))
        _exit(READER_NOT_BEGUN);
    struct akgen_error *error = reader_decode_job(&arena, bytes + sizeof limits, length - sizeof limits, &job);
    if (error)
        _exit(READER_NOT_BEGUN);
    if (job.crash)
        __builtin_trap();
    reader_do(&arena, &job, &result);
    const void *message = reader_encode_result(&arena, &result, &written);
    _exit(files_write_all(RESULT, message, written) ? 0 : READER_NOT_BEGUN);
}

int main(int argc, char **argv)
{
    int files[COPY_FILES];
    const int socket = argc > 1 ? atoi(argv[1]) : -1;
    sandbox_fence_prepare();
    json_object_seed(0);
    while (copy_receive(socket, READER_FILES, files)) {
        pid_t pid = copy_make();
        if (pid == 0)
            read_one(socket, files);
        for (int i = 0; i < COPY_FILES; i++)
            close(files[i]);
        if (pid < 0)
            return MEMORY_EXIT;
    }
    return 0;
}
