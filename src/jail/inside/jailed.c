#include "jail/inside/jailed.h"
#include "base/inject.h"
#include "base/memory.h"
#include "jail/inside/steady.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a sanitized build a crash of the candidate must still end by its signal, and its memory must have a limit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:abort_on_error=1:"
           "detect_leaks=0:max_allocation_size_mb=16384:symbolize=0";
}

/* The candidate allocates where the job's values were; what it reads there before it writes is zeros. */
static void free_wiped(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

__attribute__((no_stack_protector)) void jailed_begin(void)
{
    steady_begin();
    json_object_seed(1);
    json_set_alloc_funcs(memory_alloc, free_wiped);
    inject_from_environment();
    /* What a candidate printed before it hangs or crashes is what its author looks for. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

int jailed_option(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return atoi(argv[i] + length + 1);
    return -1;
}

struct akgen_error *jailed_read(struct arena *arena, int fd, enum wire_message message, void *object)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
        return error_new("there is no message on the descriptor --job");
    const size_t length = (size_t)status.st_size;
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return error_new("the descriptor --job cannot be read");
    struct akgen_error *error = wire_decode(arena, message, bytes, length, object);
    munmap(bytes, length);
    close(fd);
    return error;
}

void jailed_close_all_but(int one, int other)
{
    enum { ALL = 256 /* the jail grants no more */ };
    for (int fd = STDERR_FILENO + 1; fd < ALL; fd++)
        if (fd != one && fd != other)
            close(fd);
}

enum { EVIDENCE_BYTES = 200 };

void jailed_prepare(struct arena *arena, enum wire_message message, const void *result,
                    struct jailed_evidence *evidence)
{
    struct arena scratch = {0};
    const void *encoded = wire_encode(&scratch, message, result, &evidence->length);
    evidence->bytes = arena_alloc(arena, evidence->length + EVIDENCE_BYTES);
    memcpy(evidence->bytes, encoded, evidence->length);
    explicit_bzero((void *)encoded, evidence->length); /* it may hold the nonce */
    arena_free(&scratch);
}

/* The message ends with the length of the error and 1; the error's bytes follow. */
void jailed_fill_in(struct jailed_evidence *evidence, const char *const *words)
{
    uint8_t *begin = evidence->bytes + evidence->length, *at = begin;
    for (; *words; words++)
        for (const char *c = *words; *c && at < begin + EVIDENCE_BYTES; c++)
            *at++ = (uint8_t)*c;
    const uint32_t words_bytes = (uint32_t)(at - begin);
    memcpy(begin - sizeof(uint32_t), &(uint32_t){words_bytes + 1}, sizeof(uint32_t)); /* no call: the compiler's own */
    evidence->length += words_bytes;
}
