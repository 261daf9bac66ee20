/* akgen lm eval: what a model makes of rows. */
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_DATA = 0x500,
    KEY_ADAPTER,
    KEY_REFERENCE,
    KEY_BETA,
    KEY_TOKENS,
    KEY_LENGTH,
    KEY_THREADS,
    KEY_INT8,
    KEY_JSON,
    MOST_FILES = 256
};

static const struct argp_option options[] = {
    {"data", KEY_DATA, "FILE", CLI_SEVERAL, "rows as 'lm train' reads them, of texts or of pairs; several times", 1},
    {"adapter", KEY_ADAPTER, "DIR", 0, "PEFT's adapters, or of 'lm train --lora', on top of the model", 1},
    {"reference", KEY_REFERENCE, "DIR", 0, "pairs: margins against this model, as DPO counts them", 1},
    {"beta", KEY_BETA, "B", 0, "pairs: and times this (default 0.1)", 1},
    {"int8", KEY_INT8, NULL, 0, "round the model's weights to int8, as 'lm sample --int8' does", 1},
    {"length", KEY_LENGTH, "N", 0, "longer samples are cut (default: what the model can read)", 2},
    {"tokens", KEY_TOKENS, "N", 0, "tokens of a pass (default 4096)", 2},
    {"threads", KEY_THREADS, "N", 0, "default: one for each processor", 2},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 2},
    {0},
};
struct arguments {
    struct lm_evaluate_options evaluate;
    const char *data[MOST_FILES];
    bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct lm_evaluate_options *evaluate = &arguments->evaluate;
    char *end;
    switch (key) {
    case KEY_DATA:
        if (evaluate->data_count == MOST_FILES)
            argp_error(state, "--data: more than %d", MOST_FILES);
        arguments->data[evaluate->data_count++] = text;
        break;
    case KEY_ADAPTER:
        evaluate->adapter = text;
        break;
    case KEY_REFERENCE:
        evaluate->reference = text;
        break;
    case KEY_BETA:
        evaluate->beta = strtod(text, &end);
        if (end == text || *end || !(evaluate->beta > 0 && evaluate->beta <= 1000))
            argp_error(state, "--beta: '%s' is no number above 0, up to 1000", text);
        break;
    case KEY_INT8:
        evaluate->int8 = true;
        break;
    case KEY_LENGTH:
        evaluate->longest = (int)cli_parse_number(state, "length", text, 2, 1 << 24);
        break;
    case KEY_TOKENS:
        evaluate->tokens = (int)cli_parse_number(state, "tokens", text, 1, 1 << 24);
        break;
    case KEY_THREADS:
        evaluate->threads = (int)cli_parse_number(state, "threads", text, 1, 1024);
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        evaluate->folder = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num || !evaluate->data_count)
            argp_error(state, "MODEL and --data FILE are needed");
        if (evaluate->beta > 0 && !evaluate->reference)
            argp_error(state, "--beta is of --reference");
        if (!(evaluate->beta > 0))
            evaluate->beta = 0.1;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static json_t *json_of(const struct lm_evaluated *row, bool pairs)
{
    json_t *json = json_pack("{s:i s:I s:I s:f s:f s:f}", "rows", row->rows, "tokens", (json_int_t)row->tokens,
                             "learned_tokens", (json_int_t)row->learned, "loss", row->loss, "perplexity",
                             fmin(exp(row->loss), 1e300), "accuracy", row->accuracy);
    if (pairs) {
        json_object_set_new(json, "chosen", json_real(row->chosen));
        json_object_set_new(json, "rejected", json_real(row->rejected));
        json_object_set_new(json, "margin", json_real(row->chosen - row->rejected));
        json_object_set_new(json, "right", json_real(row->right));
        json_object_set_new(json, "right_by_token", json_real(row->right_by_token));
    }
    return json;
}

static void print_json(const struct lm_evaluation *evaluation)
{
    json_t *root = json_of(&evaluation->all, evaluation->pairs);
    json_object_set_new(root, "cut", json_integer(evaluation->cut));
    json_object_set_new(root, "left_out", json_integer(evaluation->left_out));
    if (evaluation->source_count) {
        json_t *sources = json_object();
        for (int i = 0; i < evaluation->source_count; i++)
            if (evaluation->sources[i].rows)
                json_object_set_new(sources, evaluation->sources[i].source,
                                    json_of(&evaluation->sources[i], evaluation->pairs));
        json_object_set_new(root, "sources", sources);
    }
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}

static void print_row(const struct lm_evaluated *row, const char *name, bool pairs)
{
    printf("%8d %9lld %9lld %8.4f %10.5g %7.2f %%", row->rows, (long long)row->tokens, (long long)row->learned,
           row->loss, exp(row->loss), 100 * row->accuracy);
    if (pairs)
        printf(" %8.4f %7.2f %% %7.2f %%", row->chosen - row->rejected, 100 * row->right, 100 * row->right_by_token);
    printf("  ");
    cli_print_clean(stdout, name);
    putchar('\n');
}

static void print(const struct lm_evaluation *evaluation)
{
    printf("%8s %9s %9s %8s %10s %9s", "rows", "tokens", "learned", "loss", "perplexity", "accuracy");
    if (evaluation->pairs)
        printf(" %8s %9s %9s", "margin", "right", "by token");
    putchar('\n');
    print_row(&evaluation->all, evaluation->source_count ? "all" : "", evaluation->pairs);
    for (int i = 0; i < evaluation->source_count; i++)
        if (evaluation->sources[i].rows)
            print_row(&evaluation->sources[i],
                      *evaluation->sources[i].source ? evaluation->sources[i].source : "(no source)",
                      evaluation->pairs);
    if (evaluation->cut)
        printf("%d rows were cut\n", evaluation->cut);
    if (evaluation->left_out)
        printf("%d rows were left out, which have nothing to learn\n", evaluation->left_out);
}

int cli_lm_eval(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL",
        .doc = "Says how probable rows are to a model: loss, perplexity and the share of tokens that it would have "
               "written, over "
               "what 'lm train' would learn of them; of pairs also how often the better answer is the more probable "
               "one.\vRows with "
               "a 'source' are counted by it too. 'by token': means over an answer's tokens are compared, not sums.",
    };
    static struct arguments arguments = {.evaluate = {.tokens = 4096}};
    struct lm_evaluation evaluation;
    arguments.evaluate.data = arguments.data;
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = lm_evaluate(&arguments.evaluate, &evaluation);
    if (!error && arguments.json)
        print_json(&evaluation);
    else if (!error)
        print(&evaluation);
    arena_free(&evaluation.arena);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
