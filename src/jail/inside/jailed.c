#include "jail/inside/jailed.h"
#include "base/inject.h"
#include "base/memory.h"
#include "jail/inside/steady.h"

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

/* The candidate allocates where the job's text was; what it reads there before it writes is zeros. */
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

json_t *jailed_read(int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
        return NULL;
    char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return NULL;
    json_t *json = json_loadb(text, (size_t)status.st_size, 0, NULL);
    munmap(text, (size_t)status.st_size);
    close(fd);
    return json;
}

void jailed_close_all_but(int one, int other)
{
    enum { ALL = 256 /* the jail grants no more */ };
    for (int fd = STDERR_FILENO + 1; fd < ALL; fd++)
        if (fd != one && fd != other)
            close(fd);
}

enum { EVIDENCE_BYTES = 200, ROOM = '#' };

const char *jailed_unknown(void)
{
    static char unknown[EVIDENCE_BYTES + 1];
    memset(unknown, ROOM, EVIDENCE_BYTES);
    return unknown;
}

char *jailed_evidence(struct arena *arena, json_t *result)
{
    char *text = result ? json_dumps(result, JSON_COMPACT) : NULL, *evidence = NULL;
    if (text) {
        evidence = arena_strdup(arena, text);
        explicit_bzero(text, strlen(text)); /* it may hold the nonce */
    }
    free(text);
    json_decref(result);
    return evidence;
}

/* The rest becomes white space behind the closing quote. */
void jailed_fill_in(char *evidence, const char *const *words)
{
    char *at = strchr(evidence, ROOM);
    if (!at)
        return;
    char *end = at + EVIDENCE_BYTES;
    for (; *words; words++)
        for (const char *c = *words; *c && at < end; c++)
            *at++ = *c;
    *at++ = '"';
    while (at <= end)
        *at++ = ' ';
}
