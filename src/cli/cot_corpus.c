/* akgen cot corpus: questions and answers that the user has. */
#include "cot/corpus.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_files.h"
#include "gen/model.h"

#include <math.h>
#include <stdlib.h>

enum { KEY_SHORTEST = 0x500, KEY_LONGEST, KEY_SIMILAR, KEY_LANGUAGE, KEY_PERPLEXITY, KEY_MODEL, KEY_FIELD };

struct arguments {
    struct cli_cot_files files;
    struct cot_corpus_options corpus;
};

static const struct argp_option options[] = {
    {"min-bytes", KEY_SHORTEST, "N", 0, "of question, chain and answer (default 20)", 1},
    {"max-bytes", KEY_LONGEST, "N", 0, "likewise (default 65536)", 1},
    {"similar", KEY_SIMILAR, "PERCENT", 0,
     "drop what is so similar to an earlier text (Jaccard similarity of 8-byte pieces; default 80; 101: nothing)", 1},
    {"language", KEY_LANGUAGE, "CODES", 0,
     "let in what is in one of these languages, \"en,zh\", as CLD2 tells them; un: where it knows none (default: all)",
     1},
    {"max-perplexity", KEY_PERPLEXITY, "P", 0,
     "drop what is less probable to a language model: e to the mean of -log p over the first 1024 tokens of a text "
     "(default: no model is "
     "asked; inf: nothing is dropped, and what there is is told)",
     1},
    {"model", KEY_MODEL, "DIR", 0, "that model, as of 'akgen lm' (default: the one in models/)", 1},
    {"question", KEY_FIELD + COT_QUESTION, "FIELD", 0,
     "read the question there; \"a.b\": at b of a (default: question, prompt, ...)", 2},
    {"chain", KEY_FIELD + COT_CHAIN, "FIELD", 0, "likewise", 2},
    {"answer", KEY_FIELD + COT_ANSWER, "FIELD", 0, "likewise", 2},
    {"conversation", KEY_FIELD + COT_CONVERSATION, "FIELD", 0,
     "likewise, a list of turns (default: messages, conversations, conversation)", 2},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    char *end;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->files;
        break;
    case KEY_FIELD + COT_QUESTION:
    case KEY_FIELD + COT_CHAIN:
    case KEY_FIELD + COT_ANSWER:
    case KEY_FIELD + COT_CONVERSATION:
        if (!*text)
            argp_error(state, "a field has a name");
        arguments->corpus.fields[key - KEY_FIELD] = text;
        break;
    case KEY_SHORTEST:
        arguments->corpus.shortest = cli_parse_number(state, "min-bytes", text, 0, INT32_MAX);
        break;
    case KEY_LONGEST:
        arguments->corpus.longest = cli_parse_number(state, "max-bytes", text, 1, INT32_MAX);
        break;
    case KEY_SIMILAR:
        arguments->corpus.similar = (double)cli_parse_number(state, "similar", text, 1, 101) / 100;
        break;
    case KEY_PERPLEXITY:
        arguments->corpus.most_perplexity = strtod(text, &end);
        if (end == text || *end || !(arguments->corpus.most_perplexity >= 1))
            argp_error(state, "--max-perplexity: '%s' is no number from 1 on", text);
        break;
    case KEY_MODEL:
        arguments->corpus.model = text;
        break;
    case ARGP_KEY_END:
        if (arguments->corpus.model && !arguments->corpus.most_perplexity)
            argp_error(state, "--model is for --max-perplexity");
        break;
    case KEY_LANGUAGE:
        arguments->corpus.languages = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_cot_corpus(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_cot_files_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE --db FILE\nDIR --db FILE",
        .doc = "Makes samples of part 'general' of rows with a question (question, prompt, instruction, ...), an "
               "answer (answer, response, output, ...), perhaps a chain and a licence, or with a conversation, in "
               "JSONL and "
               "Parquet. What is "
               "dropped is counted with its reason ('akgen cot stats'). A run that was killed goes on.\v",
        .children = children,
    };
    struct arguments arguments = {.files.needed = "FILE.jsonl, FILE.parquet or a folder",
                                  .corpus = {.shortest = 20, .longest = 65536, .similar = 0.8}};
    cli_parse(&argp, argc, argv, &arguments);
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
