/* tokenize FILE: reads a tokenizer.json, then texts from standard input, each a JSON string on a line, and prints for each
 * [ids, the text of these ids]. For tests/peers/tokenizer_test.py. */
#include "lm/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct akgen_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    error_free(error);
    return 1;
}

static struct akgen_error *answer(const struct lm_tokenizer *tokenizer, const char *text, size_t length)
{
    struct arena arena = {0};
    uint32_t *ids = NULL;
    int64_t count = 0, counted = 0;
    size_t bytes = 0;
    struct akgen_error *error = lm_tokenizer_encode(tokenizer, &arena, text, length, &ids, &count);
    if (!error)
        error = lm_tokenizer_count(tokenizer, text, length, &counted);
    if (!error && counted != count)
        error = error_new("counted %lld of %lld ids", (long long)counted, (long long)count);
    if (!error) {
        json_t *list = json_array();
        for (int64_t i = 0; i < count; i++)
            json_array_append_new(list, json_integer(ids[i]));
        const char *decoded = lm_tokenizer_decode(tokenizer, &arena, ids, count, &bytes);
        json_t *line = json_pack("[o,o]", list, json_stringn_nocheck(decoded, bytes));
        json_dumpf(line, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(line);
    }
    arena_free(&arena);
    return error;
}

int main(int argc, char **argv)
{
    struct lm_tokenizer *tokenizer;
    char *line = NULL;
    size_t room = 0;
    struct akgen_error *error = lm_tokenizer_read(argc > 1 ? argv[1] : "", &tokenizer);
    while (!error && getline(&line, &room, stdin) > 0) {
        json_t *text = json_loads(line, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        error = answer(tokenizer, json_string_value(text), json_string_length(text));
        json_decref(text);
    }
    free(line);
    if (error)
        return fail(error);
    lm_tokenizer_free(tokenizer);
    return 0;
}
