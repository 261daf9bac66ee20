/* tokenizer TOKENIZER.json TEXTS: for each line on standard input, encodes the texts of the file, which end with a NUL each, one by one and
 * prints seconds and tokens. benchmarks/tokenizer.py compares with the library whose files these are. Without arguments it does nothing. */
#include "base/clock.h"
#include "base/files.h"
#include "lm/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct lm_tokenizer *tokenizer;
    char *text;
    size_t length;
    if (argc < 3) {
        puts("scripts/peers benchmarks/tokenizer.py prints this");
        return 0;
    }
    struct akgen_error *error = lm_tokenizer_read(argv[1], &tokenizer);
    if (!error)
        error = files_read(&arena, argv[2], (size_t)1 << 30, &text, &length);
    while (!error && getchar() != EOF) {
        int64_t all = 0;
        double start = clock_seconds();
        for (size_t at = 0; at < length && !error; at += strlen(text + at) + 1) {
            struct arena ids_arena = {0};
            uint32_t *ids;
            int64_t count;
            error = lm_tokenizer_encode(tokenizer, &ids_arena, text + at, strlen(text + at), &ids, &count);
            all += count;
            arena_free(&ids_arena);
        }
        printf("%.6f %lld\n", clock_seconds() - start, (long long)all);
        fflush(stdout);
    }
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    lm_tokenizer_free(tokenizer);
    arena_free(&arena);
    return 0;
}
