/* Runs a fuzz target without libFuzzer: every seed as it is, then seeds with a few changes, in the same order in every run, then
 * pieces of seeds that are repeated as often as there is room: whose time grows with the square of the length takes too long.
 *
 *   TARGET             as in ctest
 *   TARGET FILE...     these inputs alone
 *   TARGET --seeds DIR writes the seeds there, for libFuzzer
 *
 * The input at hand lies in TARGET.input, also when the target has ended there. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Changed inputs end with RUNS or BYTES, or behind the first LEAST with `changed_seconds` of the processor. */
enum { CHANGES = 4, RUNS = 20000, LEAST = 2000, BYTES = 16 << 20 };
static const double changed_seconds = 5;
enum { REPEATED = 150, PIECE = 40 };
static const double longest_seconds = 1; /* of the processor; a reader that is linear takes milliseconds */

static struct arena arena;

static void check(struct akgen_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(2);
}

/* The input under test, in a file, which outlives a crash. */
static uint8_t *shown;
static int shown_fd;
static char shown_path[PATH_MAX];

static void show(void)
{
    ssize_t length = readlink("/proc/self/exe", shown_path, sizeof shown_path - sizeof ".input");
    if (length < 0)
        abort();
    memcpy(shown_path + length, ".input", sizeof ".input");
    shown_fd = open(shown_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (shown_fd < 0 || ftruncate(shown_fd, FUZZ_LONGEST)) {
        perror(shown_path);
        exit(2);
    }
    shown = mmap(NULL, FUZZ_LONGEST, PROT_READ | PROT_WRITE, MAP_SHARED, shown_fd, 0);
    if (shown == MAP_FAILED)
        abort();
}

/* The target gets memory that ends where its input ends, so that a sanitizer sees it read on. */
static void run(const uint8_t *bytes, size_t length)
{
    if (shown) {
        if (ftruncate(shown_fd, (off_t)length))
            abort();
        memcpy(shown, bytes, length);
    }
    uint8_t *own = malloc(length ? length : 1);
    memcpy(own, bytes, length);
    LLVMFuzzerTestOneInput(own, length);
    free(own);
}

/* Changes. `at` and `span` lie within the input. */

static size_t take_out(uint8_t *bytes, size_t length, size_t at, size_t span)
{
    memmove(bytes + at, bytes + at + span, length - at - span);
    return length - span;
}

static size_t put_in(uint8_t *bytes, size_t length, size_t at, const uint8_t *piece, size_t span)
{
    if (length + span > FUZZ_LONGEST)
        return length;
    uint8_t *copy = malloc(span + 1); /* the piece may be a part of the input */
    memcpy(copy, piece, span);
    memmove(bytes + at + span, bytes + at, length - at);
    memcpy(bytes + at, copy, span);
    free(copy);
    return length + span;
}

static size_t below(struct rng *rng, size_t limit)
{
    return limit ? (size_t)rng_integer(rng, 0, (int64_t)limit) : 0;
}

static const char *const odd[] = {"",
                                  "\n",
                                  "\"",
                                  "(",
                                  ")",
                                  "[",
                                  "]",
                                  "{",
                                  "}",
                                  ":",
                                  ";",
                                  ",",
                                  "0",
                                  "-1",
                                  "1e999",
                                  "$",
                                  "9223372036854775808",
                                  "4294967296",
                                  "\\",
                                  "\xff",
                                  "/*",
                                  "//",
                                  "''",
                                  "#",
                                  "\r\n",
                                  "\t"};

static size_t change(struct rng *rng, uint8_t *bytes, size_t length)
{
    size_t at = below(rng, length), most = length - at < 64 ? length - at : 64, span = below(rng, most + 1);
    const struct fuzz_input *other = &fuzz_inputs[below(rng, fuzz_input_count)];
    size_t from = below(rng, other->length), rest = other->length - from < 64 ? other->length - from : 64;
    const char *token = odd[below(rng, sizeof odd / sizeof *odd)];
    switch (rng_integer(rng, 0, 7)) {
    case 0:
        if (length)
            bytes[at] ^= (uint8_t)(1u << below(rng, 8));
        return length;
    case 1:
        if (length)
            bytes[at] = (uint8_t)rng_next(rng);
        return length;
    case 2:
        return take_out(bytes, length, at, span);
    case 3:
        return put_in(bytes, length, at, bytes + at, span);
    case 4:
        return put_in(bytes, length, at, other->bytes + from, below(rng, rest + 1));
    case 5:
        return put_in(bytes, length, at, token[0] ? (const uint8_t *)token : (const uint8_t *)"",
                      token[0] ? strlen(token) : 1);
    default: /* cut short, seldom */
        return below(rng, 8) ? length : at;
    }
}

static void run_changed(void)
{
    struct rng rng;
    uint8_t *bytes = malloc(FUZZ_LONGEST);
    size_t total = 0;
    rng_seed(&rng, 1);
    const clock_t start = clock();
    for (int i = 0; i < RUNS && total < BYTES; i++) {
        if (i >= LEAST && (double)(clock() - start) / CLOCKS_PER_SEC > changed_seconds)
            break;
        const struct fuzz_input *seed = &fuzz_inputs[below(&rng, fuzz_input_count)];
        size_t length = seed->length;
        memcpy(bytes, seed->bytes, length);
        for (size_t n = 1 + below(&rng, CHANGES); n-- > 0;)
            length = change(&rng, bytes, length);
        run(bytes, length);
        total += length;
    }
    free(bytes);
}

static void run_repeated(void)
{
    struct rng rng;
    uint8_t *bytes = malloc(FUZZ_LONGEST);
    rng_seed(&rng, 2);
    for (int i = 0; i < REPEATED; i++) {
        const struct fuzz_input *seed = &fuzz_inputs[below(&rng, fuzz_input_count)];
        const char *token = odd[below(&rng, sizeof odd / sizeof *odd)];
        size_t begin = below(&rng, 2) ? below(&rng, seed->length) : 0, from = below(&rng, seed->length);
        size_t rest = seed->length - from, span = below(&rng, (rest < PIECE ? rest : PIECE) + 1), length = begin;
        memcpy(bytes, seed->bytes, begin);
        if (!span && !*token)
            token = odd[1];
        for (; length + span + strlen(token) <= FUZZ_LONGEST; length += span + strlen(token)) {
            memcpy(bytes + length, seed->bytes + from, span);
            memcpy(bytes + length + span, token, strlen(token));
        }
        clock_t start = clock();
        run(bytes, length);
        if ((double)(clock() - start) / CLOCKS_PER_SEC > longest_seconds) {
            fprintf(stderr, "%s takes %.1f s\n", shown_path, (double)(clock() - start) / CLOCKS_PER_SEC);
            abort();
        }
    }
    free(bytes);
}

static void write_seeds(const char *folder)
{
    check(files_make_directory(folder));
    for (size_t i = 0; i < fuzz_input_count; i++)
        check(files_write(arena_printf(&arena, "%s/seed%zu", folder, i), fuzz_inputs[i].bytes, fuzz_inputs[i].length));
}

int main(int argc, char **argv)
{
    fuzz_seeds();
    if (argc == 3 && !strcmp(argv[1], "--seeds")) {
        write_seeds(argv[2]);
    } else if (argc > 1) {
        for (int i = 1; i < argc; i++) {
            char *bytes;
            size_t length;
            check(files_read(&arena, argv[i], SIZE_MAX, &bytes, &length));
            run((const uint8_t *)bytes, length);
        }
    } else {
        show();
        for (size_t i = 0; i < fuzz_input_count; i++)
            run(fuzz_inputs[i].bytes, fuzz_inputs[i].length);
        run_changed();
        run_repeated();
        unlink(shown_path);
    }
    arena_free(&arena);
    return 0;
}
