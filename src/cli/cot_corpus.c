/* akgen cot corpus: questions and answers that the user has. */
#include "cot/corpus.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_files.h"
#include "gen/model.h"

#include <math.h>
#include <stdlib.h>

struct arguments {
    struct cli_cot_files files;
    struct cot_corpus_options corpus;
    int similar; /* percent */
};

static void take_field(void *field, char *text, const struct argp_state *state)
{
    if (!*text)
        argp_error(state, "a field has a name");
    *(const char **)field = text;
}

static void take_perplexity(void *most, char *text, const struct argp_state *state)
{
    char *end;
    *(double *)most = strtod(text, &end);
    if (end == text || *end || !(*(double *)most >= 1))
        argp_error(state, "--max-perplexity: '%s' is no number from 1 on", text);
}

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"min-bytes", 0, "N", CLI_NUMBER(corpus.shortest, 0, INT32_MAX), 1, "of question, chain and answer (default 20)"},
    {"max-bytes", 0, "N", CLI_NUMBER(corpus.longest, 1, INT32_MAX), 1, "likewise (default 65536)"},
    {"similar", 0, "PERCENT", CLI_NUMBER(similar, 1, 101), 1,
     "drop what is so similar to an earlier text (Jaccard similarity of 8-byte pieces; default 80; 101: nothing)"},
    {"language", 0, "CODES", CLI_TEXT(corpus.languages), 1,
     "let in what is in one of these languages, \"en,zh\", as CLD2 tells them; un: where it knows none (default: all)"},
    {"max-perplexity", 0, "P", CLI_CALL(take_perplexity, .at = CLI_AT(corpus.most_perplexity)), 1,
     "drop what is less probable to a language model: e to the mean of -log p over the first 1024 tokens of a text "
     "(default: no model is asked; inf: nothing is dropped, and what there is is told)"},
    {"model", 0, "DIR", CLI_TEXT(corpus.model), 1, "that model, as of 'akgen lm' (default: the one in models/)"},
    {"question", 0, "FIELD", CLI_CALL(take_field, .at = CLI_AT(corpus.fields[COT_QUESTION])), 2,
     "read the question there; \"a.b\": at b of a (default: question, prompt, ...)"},
    {"chain", 0, "FIELD", CLI_CALL(take_field, .at = CLI_AT(corpus.fields[COT_CHAIN])), 2, "likewise"},
    {"answer", 0, "FIELD", CLI_CALL(take_field, .at = CLI_AT(corpus.fields[COT_ANSWER])), 2, "likewise"},
    {"conversation", 0, "FIELD", CLI_CALL(take_field, .at = CLI_AT(corpus.fields[COT_CONVERSATION])), 2,
     "likewise, a list of turns (default: messages, conversations, conversation)"},
};

static void check_arguments(void *corpus, const struct argp_state *state)
{
    struct arguments *arguments = corpus;
    arguments->corpus.similar = (double)arguments->similar / 100;
    if (arguments->corpus.model && !arguments->corpus.most_perplexity)
        argp_error(state, "--model is for --max-perplexity");
}

int cli_cot_corpus(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_files_table, CLI_AT(files)}},
        .check = check_arguments,
        .args_doc = "FILE --db FILE\nDIR --db FILE",
        .doc = "Makes samples of part 'general' of rows with a question (question, prompt, instruction, ...), an "
               "answer (answer, response, output, ...), perhaps a chain and a licence, or with a conversation, in "
               "JSONL and "
               "Parquet. What is "
               "dropped is counted with its reason ('akgen cot stats'). A run that was killed goes on.\v",
    };
    struct arguments arguments = {.files.needed = "FILE.jsonl, FILE.parquet or a folder",
                                  .corpus = {.shortest = 20, .longest = 65536},
                                  .similar = 80};
    cli_parse(&table, argc, argv, &arguments);
    struct store *store = NULL;
    struct cot_corpus_counts counts = {0};
    struct arena arena = {0};
    double begin = clock_seconds();
    if (arguments.corpus.most_perplexity && !arguments.corpus.model)
        arguments.corpus.model = gen_model_shipped(&arena);
    arguments.corpus.licence = arguments.files.licence;
    struct akgen_error *error = store_open(arguments.files.db, &store);
    if (!error)
        error = cot_corpus(store, arguments.files.path, &arguments.corpus, &counts);
    double seconds = clock_seconds() - begin;
    store_close(store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    printf("%lld files, %lld rows: %lld samples added, %lld dropped; %.1f MB/s\n", (long long)counts.files,
           (long long)counts.rows, (long long)counts.added, (long long)counts.dropped,
           (double)counts.bytes / 1e6 / seconds);
    if (counts.measured)
        printf("perplexity of %lld rows: 5 %% are below %.4g, half below %.4g, 95 %% below %.4g\n",
               (long long)counts.measured, counts.perplexity[0], counts.perplexity[1], counts.perplexity[2]);
    return EXIT_PASS;
}
