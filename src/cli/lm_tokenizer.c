/* akgen lm tokenizer: a new vocabulary of texts. */
#include "base/clock.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/bpe_train.h"
#include "lm/config.h"
#include "lm/samples.h"

#include <string.h>

enum { MOST_FILES = 256, MOST_SPECIALS = 1024 };
static const size_t LARGEST_TEXT = (size_t)4 << 30;

struct arguments {
    const char *files[MOST_FILES], *specials[MOST_SPECIALS], *out;
    int file_count;
    struct lm_bpe_options bpe;
    bool json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"output", 'o', "DIR", CLI_TEXT(out, .needed = true), 1, "where tokenizer.json and tokenizer_config.json go"},
    {"vocab", 0, "N", CLI_NUMBER(bpe.vocabulary, 1, LM_BPE_LARGEST, .needed = true), 1,
     "tokens in all: 256 bytes, Qwen3's special tokens, and what is learned"},
    {"special", 0, "TOKEN", CLI_LIST(specials, bpe.special_count), 1,
     "a text that is one token wherever it stands, besides Qwen3's; several times"},
    {"min-count", 0, "N", CLI_NUMBER(bpe.least, 1, INT32_MAX), 1,
     "pairs that occur less often become no token (default 1)"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print the result as JSON"},
    {NULL, 0, "files", CLI_LIST(files, file_count, .needed = true), 0, NULL},
};

static struct akgen_error *add_text(void *closure, const char *text, size_t length)
{
    return lm_bpe_add(closure, text, length);
}

static struct akgen_error *add_file(struct lm_bpe *bpe, const char *path)
{
    const char *dot = strrchr(path, '.');
    struct arena arena = {0};
    char *bytes;
    size_t length;
    if (dot && strcmp(dot, ".jsonl") == 0)
        return lm_samples_texts(path, add_text, bpe);
    struct akgen_error *error = files_read(&arena, path, LARGEST_TEXT, &bytes, &length);
    if (!error && (error = lm_bpe_add(bpe, bytes, length)))
        error = error_of_the_file(error_prefix(error, "%s", path));
    arena_free(&arena);
    return error;
}

static void print(const struct arguments *arguments, const struct lm_bpe_counts *counts, double seconds)
{
    double each = counts->tokens ? (double)counts->bytes / (double)counts->tokens : 0;
    if (arguments->json) {
        json_t *root =
            json_pack("{s:I s:I s:I s:I s:f s:I s:I s:f}", "bytes", (json_int_t)counts->bytes, "words",
                      (json_int_t)counts->pieces, "different", (json_int_t)counts->different, "tokens",
                      (json_int_t)counts->tokens, "bytes_per_token", each, "vocabulary", (json_int_t)counts->vocabulary,
                      "merges", (json_int_t)counts->merges, "seconds", seconds);
        cli_print_json(root, JSON_INDENT(2));
        return;
    }
    printf("read      %.4g MB: %lld words, %lld of them different\n", 1e-6 * (double)counts->bytes,
           (long long)counts->pieces, (long long)counts->different);
    printf("learned   %zu merges, %u tokens in all; %.2f bytes a token; %.1f s\n", counts->merges, counts->vocabulary,
           each, seconds);
    printf("written   %s\n", arguments->out);
}

/* What the folder's config.json, if it has one, would not get along with. */
static void warn(struct arena *arena, const struct arguments *arguments, const struct lm_bpe_counts *counts)
{
    const char *path = arena_printf(arena, "%s/config.json", arguments->out);
    struct lm_config config;
    struct akgen_error *error = files_exists(path) ? lm_config_read(path, &config) : NULL;
    if (counts->vocabulary < (uint32_t)arguments->bpe.vocabulary)
        fprintf(stderr, "akgen: %u tokens, not %d: no pair is left that occurs %lld times\n", counts->vocabulary,
                arguments->bpe.vocabulary, (long long)arguments->bpe.least);
    if (error)
        fprintf(stderr, "akgen: %s\n", error->message);
    else if (files_exists(path) && (uint32_t)config.vocabulary < counts->vocabulary)
        fprintf(stderr, "akgen: %s: 'vocab_size' is %d, and has to be at least %u\n", path, config.vocabulary,
                counts->vocabulary);
    error_free(error);
}

static struct akgen_error *make(struct arena *arena, const struct arguments *arguments)
{
    double start = clock_seconds();
    const char *path = arena_printf(arena, "%s/tokenizer.json", arguments->out);
    struct lm_bpe *bpe = NULL;
    if (files_exists(path))
        return error_of_the_file(error_new("%s is there already; remove it, or write elsewhere", path));
    struct akgen_error *error = lm_bpe_new(&arguments->bpe, &bpe);
    if (error)
        return error_of_the_file(error);
    for (int i = 0; i < arguments->file_count && !error; i++)
        error = add_file(bpe, arguments->files[i]);
    if (!error) {
        lm_bpe_train(bpe);
        error = files_make_directory(arguments->out);
    }
    if (!error)
        error = lm_bpe_write(bpe, arguments->out);
    if (!error) {
        const struct lm_bpe_counts counts = lm_bpe_counts(bpe);
        print(arguments, &counts, clock_seconds() - start);
        warn(arena, arguments, &counts);
    }
    lm_bpe_free(bpe);
    return error;
}

int cli_lm_tokenizer(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "FILE, -o DIR and --vocab N are needed",
        .args_doc = "FILE...",
        .doc =
            "Makes a vocabulary for byte-level BPE of texts, with Qwen3's pre-tokenizer and special tokens.\vA .jsonl "
            "file has rows as 'akgen lm train' reads them, of any objective; of them the texts count that a model "
            "would see. Any other file is a text.",
    };
    static struct arguments arguments = {.bpe.least = 1};
    struct arena arena = {0};
    arguments.bpe.specials = arguments.specials;
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = make(&arena, &arguments);
    arena_free(&arena);
    return cli_end(error);
}
