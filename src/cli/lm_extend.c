/* akgen lm extend: a vocabulary that has fragments of code, too. */
#include "base/clock.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "cot/fragments.h"
#include "lm/extend.h"

enum { MOST_FILES = 64, MOST_TOKENS = 1 << 20 };

struct arguments {
    const char *model, *files[MOST_FILES], *out;
    int file_count, tokens, rows;
    bool json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"output", 'o', "OUT", CLI_TEXT(out, .needed = true), 1, "the folder that is written, which may not be there yet"},
    {"tokens", 0, "N", CLI_NUMBER(tokens, 1, MOST_TOKENS), 1, "new ones, at most (default 1500)"},
    {"rows", 0, "N", CLI_NUMBER(rows, 1, INT32_MAX), 1, "read the first N rows of each file"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print the result as JSON"},
    {NULL, 0, "MODEL", CLI_TEXT(model), 0, NULL},
    {NULL, 0, "files", CLI_LIST(files, file_count, .needed = true), 0, NULL},
};

static void print(const struct arguments *arguments, const struct lm_extended *extended, int tokens, int rows,
                  const struct cot_fragments_saving *saving, double seconds)
{
    double before = (double)saving->before / rows, after = (double)saving->after / rows;
    if (arguments->json) {
        json_t *root =
            json_pack("{s:i s:i s:i s:I s:f s:f s:f}", "rows", rows, "new_tokens", tokens, "vocabulary",
                      extended->vocabulary, "parameters", (json_int_t)extended->parameters,
                      "tokens_of_an_answer_before", before, "tokens_of_an_answer", after, "seconds", seconds);
        cli_print_json(root, JSON_INDENT(2));
        return;
    }
    printf("learned   %d tokens of %d answers, which have %.1f tokens each in the place of %.1f; %.1f s\n", tokens,
           rows, after, before, seconds);
    printf("written   %s: %.4g million parameters, a vocabulary of %d\n", arguments->out,
           1e-6 * (double)extended->parameters, extended->vocabulary);
}

static struct akgen_error *make(struct arena *arena, const struct arguments *arguments, struct cot_fragments *fragments)
{
    double start = clock_seconds();
    struct lm_extend_options extend = {.folder = arguments->model, .out = arguments->out};
    struct lm_tokenizer *tokenizer = NULL;
    struct cot_fragments_saving saving;
    struct lm_extended extended;
    const char **texts;
    struct akgen_error *error = NULL;
    for (int i = 0; i < arguments->file_count && !error; i++)
        error = cot_fragments_read(fragments, arguments->files[i], arguments->rows);
    if (!error && !cot_fragments_rows(fragments))
        error = error_of_the_file(error_new("%s: there is no row in it", arguments->files[0]));
    if (!error)
        error = lm_tokenizer_read(arena_printf(arena, "%s/tokenizer.json", arguments->model), &tokenizer);
    if (!error)
        error = cot_fragments_choose(fragments, tokenizer, arguments->tokens, arena, &texts, &extend.count, &saving);
    if (!error && !extend.count)
        error = error_of_the_file(
            error_new("nothing that occurs often enough: %d rows are too few", cot_fragments_rows(fragments)));
    if (!error) {
        extend.texts = texts;
        error = lm_extend(&extend, &extended);
    }
    if (!error)
        print(arguments, &extended, extend.count, cot_fragments_rows(fragments), &saving, clock_seconds() - start);
    lm_tokenizer_free(tokenizer);
    return error;
}

int cli_lm_extend(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL, FILE and -o OUT are needed",
        .args_doc = "MODEL FILE...",
        .doc = "Gives a model tokens for fragments of code: what many answers have in common, lines and more, is one "
               "token then.\vFILE has rows of 'akgen cot export' whose answers are programs or projects. A new token's "
               "embedding begins as the mean of those of the tokens before; train the model on such rows next. OUT is "
               "whole or not there.",
    };
    struct arguments arguments = {.tokens = 1500, .rows = INT32_MAX};
    struct arena arena = {0};
    cli_parse(&table, argc, argv, &arguments);
    struct cot_fragments *fragments = cot_fragments_new();
    struct akgen_error *error = make(&arena, &arguments, fragments);
    cot_fragments_free(fragments);
    arena_free(&arena);
    return cli_end(error);
}
