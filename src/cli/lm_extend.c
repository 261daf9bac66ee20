/* akgen lm extend: a vocabulary that has fragments of code, too. */
#include "base/clock.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "cot/fragments.h"
#include "lm/extend.h"

#include <stdlib.h>

enum { KEY_TOKENS = 0x500, KEY_ROWS, KEY_JSON, MOST_FILES = 64, MOST_TOKENS = 1 << 20 };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "the folder that is written, which may not be there yet", 1},
    {"tokens", KEY_TOKENS, "N", 0, "new ones, at most (default 1500)", 1},
    {"rows", KEY_ROWS, "N", 0, "read the first N rows of each file", 1},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 1},
    {0},
};
struct arguments {
    const char *model, *files[MOST_FILES], *out;
    int file_count, tokens, rows;
    bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->out = text;
        break;
    case KEY_TOKENS:
        arguments->tokens = (int)cli_parse_number(state, "tokens", text, 1, MOST_TOKENS);
        break;
    case KEY_ROWS:
        arguments->rows = (int)cli_parse_number(state, "rows", text, 1, INT32_MAX);
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            arguments->model = text;
        else if (arguments->file_count == MOST_FILES)
            argp_error(state, "more than %d files", MOST_FILES);
        else
            arguments->files[arguments->file_count++] = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->file_count || !arguments->out)
            argp_error(state, "MODEL, FILE and -o OUT are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print(const struct arguments *arguments, const struct lm_extended *extended, int tokens, int rows,
                  const struct cot_fragments_saving *saving, double seconds)
{
    double before = (double)saving->before / rows, after = (double)saving->after / rows;
    if (arguments->json) {
        json_t *root =
            json_pack("{s:i s:i s:i s:I s:f s:f s:f}", "rows", rows, "new_tokens", tokens, "vocabulary",
                      extended->vocabulary, "parameters", (json_int_t)extended->parameters,
                      "tokens_of_an_answer_before", before, "tokens_of_an_answer", after, "seconds", seconds);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
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
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL FILE...",
        .doc = "Gives a model tokens for fragments of code: what many answers have in common, lines and more, is one "
               "token then.\vFILE has rows of 'akgen cot export' whose answers are programs or projects. A new token's "
               "embedding begins as the mean of those of the tokens before; train the model on such rows next. OUT is "
               "whole or not there.",
    };
    struct arguments arguments = {.tokens = 1500, .rows = INT32_MAX};
    struct arena arena = {0};
    cli_parse(&argp, argc, argv, &arguments);
    struct cot_fragments *fragments = cot_fragments_new();
    struct akgen_error *error = make(&arena, &arguments, fragments);
    cot_fragments_free(fragments);
    arena_free(&arena);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
