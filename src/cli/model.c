/* Which model, how it samples, what it is asked, and what the run may cost. */
#include "cli/model.h"
#include "cli/cli.h"
#include "lm/aligned.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_string(struct gen_model *model, const char *const **list, int *count, const char *text)
{
    const char **grown = arena_alloc(&model->arena, sizeof *grown * ((size_t)*count + 1));
    if (*count)
        memcpy(grown, *list, sizeof *grown * (size_t)*count);
    grown[(*count)++] = text;
    *list = grown;
}

static void take_stop(void *model, char *text, const struct argp_state *state)
{
    struct gen_sampling *sampling = &((struct gen_model *)model)->sampling;
    (void)state;
    add_string(model, &sampling->stop, &sampling->stop_count, text);
}

static void take_documents(void *model, char *text, const struct argp_state *state)
{
    struct gen_prompt_options *prompt = &((struct gen_model *)model)->prompt;
    (void)state;
    add_string(model, &prompt->documents, &prompt->document_count, text);
}

/* Refuses a key, and does not repeat it. */
static void refuse_key(void *model, char *text, const struct argp_state *state)
{
    (void)model;
    memset(text, '*', strlen(text));
    argp_error(state, "a key on the command line can be read by everybody on this machine; it belongs into "
                      "AKGEN_API_KEY or into a file (--key-file FILE)");
}

static void take_preset(void *preset, char *text, const struct argp_state *state)
{
    if (!(*(const struct gen_preset **)preset = gen_preset_find(text)))
        argp_error(state, "--preset: '%s' is none of ascendkernelgen, multikernelbench, multikernelbench-5", text);
}

static void take_constraint(void *constrain, char *text, const struct argp_state *state)
{
    if (text)
        cli_parse_word(state, "constrain", text, &gen_constraints, CLI_NONE_OF);
    *(const char **)constrain = text ? text : "";
}

#define CLI_OF                   struct gen_model
#define REAL(field, least, most) CLI_REAL(field, least, most, .shape = "not a number")
static const struct cli_option server_rows[] = {
    {NULL, 0, NULL, CLI_HEADING, 10, "A model (docs/models.md):"},
    {"model", 0, "NAME", CLI_TEXT(endpoint.model), 11, "name of the model, as the server calls it"},
    {"int8", 0, NULL, CLI_FLAG(endpoint.int8), 11, "lm:DIR: round weights to int8: faster, and slightly another model"},
    {"api", 0, WORD_CHOICE(GEN_APIS, ""), CLI_WORD(endpoint.api, gen_apis, CLI_NONE_OF), 11,
     "messages (default), or one text that the model goes on with"},
    {"stream", 0, NULL, CLI_FLAG(endpoint.stream), 11, "answers come as they are made (default)"},
    {"no-stream", 0, NULL, CLI_UNSET(endpoint.stream), 11, "each answer comes whole"},
    {"key-file", 0, "FILE", CLI_TEXT(key_file), 11,
     "its first line is the key of the server (default: AKGEN_API_KEY, then OPENAI_API_KEY of the environment)"},
    {"key", 0, "KEY", CLI_CALL(refuse_key, .flags = OPTION_HIDDEN), 11, NULL},
    {"api-key", 0, "KEY", CLI_CALL(refuse_key, .flags = OPTION_HIDDEN), 11, NULL},
    {"apikey", 0, "KEY", CLI_CALL(refuse_key, .flags = OPTION_HIDDEN), 11, NULL},
    {"openai-api-key", 0, "KEY", CLI_CALL(refuse_key, .flags = OPTION_HIDDEN), 11, NULL},
    {"concurrency", 0, "N", CLI_NUMBER(endpoint.concurrency, 1, 1024), 11, "requests at a time (default 8)"},
    {"retries", 0, "N", CLI_NUMBER(endpoint.retries, 0, 100), 11, "tries of a request behind the first (default 5)"},
    {"backoff", 0, "SECONDS", REAL(endpoint.backoff_seconds, 0, 3600), 11,
     "before the first of them (default 1), doubled for each"},
    {"connect-timeout", 0, "SECONDS", REAL(endpoint.connect_seconds, 0.001, 86400), 11,
     "limit of connecting (default 20)"},
    {"idle-timeout", 0, "SECONDS", REAL(endpoint.idle_seconds, 0.001, 86400), 11,
     "limit between two bytes of a stream (default 300)"},
    {"answer-timeout", 0, "SECONDS", REAL(endpoint.total_seconds, 0.001, 86400), 11,
     "limit of a whole answer (default 1800)"},
    {"temperature", 0, "X", REAL(sampling.temperature, 0, 2), 12, "of sampling, 0 to 2 (default: the server's)"},
    {"top-p", 0, "X", REAL(sampling.top_p, 0, 1), 12,
     "likeliest tokens of this probability in all (default: the server's)"},
    {"top-k", 0, "N", CLI_NUMBER(sampling.top_k, 1, INT32_MAX), 12, "so many likeliest tokens (default: the server's)"},
    {"min-p", 0, "X", REAL(sampling.min_p, 0, 1), 12,
     "tokens of this probability beside the likeliest one's (default: the server's)"},
    {"max-answer-tokens", 0, "N", CLI_NUMBER(sampling.max_tokens, 1, INT32_MAX), 12,
     "limit of an answer (default: the server's)"},
    {"stop", 0, "TEXT", CLI_CALL(take_stop, .flags = CLI_SEVERAL), 12,
     "the answer ends before this text; can be repeated"},
    {"answer-seed", 0, "N", CLI_NUMBER(seed, 0, INT32_MAX, CLI_ALSO(seeded)), 12,
     "sample s is asked for with the seed N + s (default: no seed)"},
    {"max-tokens", 0, "N", CLI_NUMBER(token_limit, 1, INT64_MAX), 14,
     "limit of the run, prompts and answers together (default: none)"},
    {"max-cost", 0, "X", REAL(cost_limit, 1e-9, 1e12), 14,
     "limit of the run, in the currency of the prices (default: none)"},
    {"price-prompt", 0, "X", REAL(prompt_price, 0, 1e9), 14, "price of a million tokens of prompts"},
    {"price-answer", 0, "X", REAL(answer_price, 0, 1e9), 14, "price of a million tokens of answers"},
};

static void check_prices(void *arguments, const struct argp_state *state)
{
    const struct gen_model *model = arguments;
    if (model->cost_limit > 0 && model->prompt_price == 0 && model->answer_price == 0)
        argp_error(state, "--max-cost needs --price-prompt and --price-answer, of a million tokens");
}

const struct cli_table cli_server_table = {CLI_ROWS(server_rows), .group = 10, .check = check_prices};

static const struct cli_option rows[] = {
    {"samples", 'n', "N", CLI_NUMBER(samples, 1, 100000), 12, "answers of each task (default: the preset's, else 1)"},
    {"per-request", 0, "N", CLI_NUMBER(per_request, 1, 1024), 12, "answers that one request asks for (default 1)"},
    {"preset", 0, "NAME", CLI_CALL(take_preset, .at = CLI_AT(preset)), 12,
     "sampling as a paper did it: ascendkernelgen, multikernelbench, multikernelbench-5; other options override it"},
    {"constrain", 0, WORD_CHOICE(GEN_CONSTRAINTS, ""),
     CLI_CALL(take_constraint, .at = CLI_AT(constrain), .flags = OPTION_ARG_OPTIONAL), 12,
     "lm:DIR: the model writes answers alone that parse: by the grammar of --language dsl or graph, or by one of its "
     "own for each task, with the task's "
     "names (docs/lm.md). Default: task with --language graph, else off; without a word: language with dsl"},
    {"grammar-tries", 0, "N", CLI_NUMBER(grammar_tries, 1, LM_MOST_TRIES), 12,
     "--constrain: draw an answer up to N times, until it is one that the model would write among those of the grammar "
     "(default 64 with task, else 1)"},
    {NULL, 0, NULL, CLI_HEADING, 20, "Prompts (docs/prompts.md):"},
    {"variant", 0, WORD_CHOICE(GEN_VARIANTS, ""), CLI_WORD(prompt.variant, gen_variants, CLI_NONE_OF), 21,
     "what it is shown besides the task (default zero-shot)"},
    {"templates", 0, "DIR", CLI_TEXT(prompt.templates), 21, "a folder with changed copies of the template files"},
    {"documents", 0, "PATH", CLI_CALL(take_documents, .flags = CLI_SEVERAL), 21,
     "--variant retrieval: a file or folder (.md, .txt, .html) to look things up in besides; may be repeated"},
    {"tokenizer", 0, "FILE", CLI_TEXT(prompt.tokenizer), 21,
     "the model's tokenizer.json, to count tokens by (default: an estimate)"},
    {"prompt-token-limit", 0, "N", CLI_NUMBER(prompt.token_limit, 1, INT32_MAX), 21,
     "a prompt of more tokens is an error"},
};
const struct cli_table cli_model_table = {CLI_ROWS(rows), .parts = {{&cli_server_table, 0}}};

void cli_refuse_model_options(const struct argp_state *state, const char *why)
{
    cli_refuse_options(state, &cli_model_table, why);
    cli_refuse_options(state, &cli_server_table, why);
}

struct gen_model cli_model_defaults(void)
{
    return (struct gen_model){
        .endpoint = {.api = GEN_CHAT,
                     .stream = true,
                     .concurrency = 8,
                     .retries = 5,
                     .backoff_seconds = 1,
                     .connect_seconds = 20,
                     .idle_seconds = 300,
                     .total_seconds = 1800},
        .sampling = {.temperature = NAN, .top_p = NAN, .min_p = NAN},
        .prompt = {.only_case = -1, .soc = npu_socs},
        .per_request = 1,
    };
}

void cli_model_take(struct gen_model *model, const struct eval_options *eval)
{
    model->prompt.scope = eval->scope;
    model->prompt.mode = eval->mode;
    model->prompt.only_case = eval->only_case;
    model->prompt.soc = eval->soc;
    model->told_language = eval->language_given && eval->language != EVAL_ANY;
    if (model->told_language)
        model->prompt.language = eval->language;
}

void cli_model_judge(const struct gen_model *model, struct eval_options *eval)
{
    if (!eval->language_given)
        eval->language = model->prompt.language;
    eval->language_given = true;
}

/* What answers are held to. Graphs are a task's, where nothing else is said; the rest is free. */
static struct akgen_error *set_constraint(struct gen_model *model)
{
    const enum eval_language language = model->prompt.language;
    const char *word = model->constrain;
    enum gen_constraint usual = language == EVAL_GRAPH ? GEN_BY_TASK : GEN_BY_LANGUAGE;
    int given = words_find(&gen_constraints, word);
    if (!word)
        model->constraint = model->endpoint.folder && language == EVAL_GRAPH ? GEN_BY_TASK : GEN_FREE;
    else
        model->constraint = given < 0 ? usual : (enum gen_constraint)given; // NOLINT: a word of the table
    if (model->constraint == GEN_FREE)
        return model->grammar_tries ? error_new("--grammar-tries is for answers of a grammar (--constrain)") : NULL;
    if (!model->grammar_tries)
        model->grammar_tries = model->constraint == GEN_BY_TASK ? GEN_TRIES : 1;
    if (!model->endpoint.folder)
        return error_new("--constrain is for --provider lm:DIR");
    if (language != EVAL_DSL && language != EVAL_GRAPH)
        return error_new("--constrain is for --language dsl or graph: there is no grammar of %s",
                         eval_languages.of[language]);
    if (language == EVAL_DSL && model->constraint == GEN_BY_TASK)
        return error_new("--constrain=task is for --language graph: dsl has one grammar for all tasks, "
                         "--constrain=language");
    return NULL;
}

struct akgen_error *cli_model_provider(struct gen_model *model, const char *provider)
{
    if (model->preset)
        gen_preset_apply(model->preset, &model->sampling);
    if (!model->samples)
        model->samples = model->preset ? model->preset->samples : 1;
    struct akgen_error *error = gen_model_provider(model, provider);
    if (!error)
        error = set_constraint(model);
    if (!error)
        error = gen_model_read(model);
    return error ? error : gen_client_key(&model->arena, model->key_file, &model->endpoint.key);
}
