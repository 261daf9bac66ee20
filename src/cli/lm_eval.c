/* akgen lm eval: what a model makes of rows. */
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 256 };

struct arguments {
    struct lm_evaluate_options evaluate;
    const char *data[MOST_FILES];
    bool json;
};

static void take_beta(void *beta, char *text, const struct argp_state *state)
{
    char *end;
    *(double *)beta = strtod(text, &end);
    if (end == text || *end || !(*(double *)beta > 0 && *(double *)beta <= 1000))
        argp_error(state, "--beta: '%s' is no number above 0, up to 1000", text);
}

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"data", 0, "FILE", CLI_LIST(data, evaluate.data_count, .needed = true), 1,
     "rows as 'lm train' reads them, of texts or of pairs; several times"},
    {"adapter", 0, "DIR", CLI_TEXT(evaluate.adapter), 1,
     "PEFT's adapters, or of 'lm train --lora', on top of the model"},
    {"reference", 0, "DIR", CLI_TEXT(evaluate.reference), 1, "pairs: margins against this model, as DPO counts them"},
    {"beta", 0, "B", CLI_CALL(take_beta, .at = CLI_AT(evaluate.beta)), 1, "pairs: and times this (default 0.1)"},
    {"int8", 0, NULL, CLI_FLAG(evaluate.int8), 1, "round the model's weights to int8, as 'lm sample --int8' does"},
    {"length", 0, "N", CLI_NUMBER(evaluate.longest, 2, 1 << 24), 2,
     "longer samples are cut (default: what the model can read)"},
    {"tokens", 0, "N", CLI_NUMBER(evaluate.tokens, 1, 1 << 24), 2, "tokens of a pass (default 4096)"},
    {"threads", 0, "N", CLI_NUMBER(evaluate.threads, 1, 1024), 2, "default: one for each processor"},
    {"json", 0, NULL, CLI_FLAG(json), 2, "print the result as JSON"},
    {NULL, 0, "MODEL", CLI_TEXT(evaluate.folder, .needed = true), 0, NULL},
};

static void check_arguments(void *arguments, const struct argp_state *state)
{
    struct lm_evaluate_options *evaluate = &((struct arguments *)arguments)->evaluate;
    if (evaluate->beta > 0 && !evaluate->reference)
        argp_error(state, "--beta is of --reference");
    if (!(evaluate->beta > 0))
        evaluate->beta = 0.1;
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
    cli_print_json(root, JSON_INDENT(2));
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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL and --data FILE are needed",
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
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
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = lm_evaluate(&arguments.evaluate, &evaluation);
    if (!error && arguments.json)
        print_json(&evaluation);
    else if (!error)
        print(&evaluation);
    arena_free(&evaluation.arena);
    return cli_end(error);
}
