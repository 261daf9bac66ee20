/* A corpus of any bytes: no error, every line that is not empty becomes a sample or is counted as dropped, and what is stored has no secret, no
 * carriage return, and both a question and an answer. */
/* test: cost=10 */
#include "fuzz.h"

#include "cot/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "{\"question\": \"What is it?\\r\\n\", \"chain\": \"so\", \"answer\": \"42, e\\u0301\", \"license\": \"MIT\"}\n"
        "{\"prompt\": \"again\", \"response\": \"and again\"}\n{\"prompt\": \"again\", \"response\": \"and again\"}\n");
    fuzz_seed_text("[1]\n{\"instruction\": \"sk-0a0a0a0a0a0a0a0a0a"
                   "0a0a0a0a0a0a0a0a\", \"output\": "
                   "\"x\"}\r\n\n{\"question\": 1}\n\xff\n{");
    static const char zeros[] = "{\"question\": \"a\0b\"}\n\0\n";
    fuzz_seed(zeros, sizeof zeros - 1);
}

static struct akgen_error *look(void *closure, const struct cot_sample *sample)
{
    ++*(int64_t *)closure;
    if (!*sample->question || !*sample->answer || strchr(sample->question, '\r') || strchr(sample->answer, '\r') ||
        cot_secret_in(sample->question) || cot_secret_in(sample->answer))
        abort();
    return NULL;
}

/* A database takes longer to make than an input to read, so it serves many, each under a name of its own. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { INPUTS = 100 };
    static struct store *store;
    static int64_t inputs, before;
    char path[256];
    struct cot_corpus_counts counts = {0};
    struct akgen_error *error = NULL;
    int64_t stored = 0, lines = 0;
    int fd = memfd_create("corpus", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        abort();
    for (size_t i = 0, begin = 0; i <= length; i++)
        if (i == length || bytes[i] == '\n') {
            lines += i > begin;
            begin = i + 1;
        }
    if (inputs++ % INPUTS == 0) {
        store_close(store);
        error = store_open(":memory:", &store);
        before = 0;
    }
    char slashes[INPUTS + 1] = {0}; /* a path may have any number of them */
    memset(slashes, '/', (size_t)(inputs % INPUTS) + 1);
    snprintf(path, sizeof path, "/proc/self/fd%s%d", slashes, fd); /* content names a source: each has another path */
    if (!error)
        error = cot_corpus(store, path, &(struct cot_corpus_options){.shortest = 1, .longest = 1 << 20, .similar = 0.8},
                           &counts);
    if (!error)
        error = cot_store_each(store, &(struct cot_filter){0}, look, &stored);
    if (error || stored != before + counts.added || counts.added + counts.dropped != lines)
        abort();
    before = stored;
    close(fd);
    return 0;
}
