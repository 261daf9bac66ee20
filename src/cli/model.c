/* Which model, how it samples, what it is asked, and what the run may cost. */
#include "cli/model.h"
#include "cli/cli.h"
#include "lm/aligned.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MODEL = 0x600,
    KEY_API,
    KEY_INT8,
    KEY_STREAM,
    KEY_NO_STREAM,
    KEY_KEY_FILE,
    KEY_KEY,
    KEY_CONCURRENCY,
    KEY_RETRIES,
    KEY_BACKOFF,
    KEY_CONNECT_TIMEOUT,
    KEY_IDLE_TIMEOUT,
    KEY_ANSWER_TIMEOUT,
    KEY_PRESET,
    KEY_PER_REQUEST,
    KEY_TEMPERATURE,
    KEY_TOP_P,
    KEY_TOP_K,
    KEY_MIN_P,
    KEY_MAX_ANSWER_TOKENS,
    KEY_STOP,
    KEY_ANSWER_SEED,
    KEY_CONSTRAIN,
    KEY_GRAMMAR_TRIES,
    KEY_VARIANT,
    KEY_TEMPLATES,
    KEY_DOCUMENTS,
    KEY_TOKENIZER,
    KEY_PROMPT_TOKEN_LIMIT,
    KEY_MAX_TOKENS,
    KEY_MAX_COST,
    KEY_PRICE_PROMPT,
    KEY_PRICE_ANSWER
};

static const struct argp_option server_options[] = {
    {NULL, 0, NULL, 0, "A model (docs/models.md):", 10},
    {"model", KEY_MODEL, "NAME", 0, "name of the model, as the server calls it", 11},
    {"int8", KEY_INT8, NULL, 0, "lm:DIR: round weights to int8: faster, and slightly another model", 11},
    {"api", KEY_API, WORD_CHOICE(GEN_APIS, ""), 0, "messages (default), or one text that the model goes on with", 11},
    {"stream", KEY_STREAM, NULL, 0, "answers come as they are made (default)", 11},
    {"no-stream", KEY_NO_STREAM, NULL, 0, "each answer comes whole", 11},
    {"key-file", KEY_KEY_FILE, "FILE", 0,
     "its first line is the key of the server (default: AKGEN_API_KEY, then OPENAI_API_KEY of the environment)", 11},
    {"key", KEY_KEY, "KEY", OPTION_HIDDEN, NULL, 11},
    {"api-key", KEY_KEY, "KEY", OPTION_HIDDEN, NULL, 11},
    {"apikey", KEY_KEY, "KEY", OPTION_HIDDEN, NULL, 11},
    {"openai-api-key", KEY_KEY, "KEY", OPTION_HIDDEN, NULL, 11},
    {"concurrency", KEY_CONCURRENCY, "N", 0, "requests at a time (default 8)", 11},
    {"retries", KEY_RETRIES, "N", 0, "tries of a request behind the first (default 5)", 11},
    {"backoff", KEY_BACKOFF, "SECONDS", 0, "before the first of them (default 1), doubled for each", 11},
    {"connect-timeout", KEY_CONNECT_TIMEOUT, "SECONDS", 0, "limit of connecting (default 20)", 11},
    {"idle-timeout", KEY_IDLE_TIMEOUT, "SECONDS", 0, "limit between two bytes of a stream (default 300)", 11},
    {"answer-timeout", KEY_ANSWER_TIMEOUT, "SECONDS", 0, "limit of a whole answer (default 1800)", 11},
    {"temperature", KEY_TEMPERATURE, "X", 0, "of sampling, 0 to 2 (default: the server's)", 12},
    {"top-p", KEY_TOP_P, "X", 0, "likeliest tokens of this probability in all (default: the server's)", 12},
    {"top-k", KEY_TOP_K, "N", 0, "so many likeliest tokens (default: the server's)", 12},
    {"min-p", KEY_MIN_P, "X", 0, "tokens of this probability beside the likeliest one's (default: the server's)", 12},
    {"max-answer-tokens", KEY_MAX_ANSWER_TOKENS, "N", 0, "limit of an answer (default: the server's)", 12},
    {"stop", KEY_STOP, "TEXT", CLI_SEVERAL, "the answer ends before this text; can be repeated", 12},
    {"answer-seed", KEY_ANSWER_SEED, "N", 0, "sample s is asked for with the seed N + s (default: no seed)", 12},
    {"max-tokens", KEY_MAX_TOKENS, "N", 0, "limit of the run, prompts and answers together (default: none)", 14},
    {"max-cost", KEY_MAX_COST, "X", 0, "limit of the run, in the currency of the prices (default: none)", 14},
    {"price-prompt", KEY_PRICE_PROMPT, "X", 0, "price of a million tokens of prompts", 14},
    {"price-answer", KEY_PRICE_ANSWER, "X", 0, "price of a million tokens of answers", 14},
    {0},
};

static const struct argp_option options[] = {
    {"samples", 'n', "N", 0, "answers of each task (default: the preset's, else 1)", 12},
    {"per-request", KEY_PER_REQUEST, "N", 0, "answers that one request asks for (default 1)", 12},
    {"preset", KEY_PRESET, "NAME", 0,
     "sampling as a paper did it: ascendkernelgen, multikernelbench, multikernelbench-5; other options override it",
     12},
    {"constrain", KEY_CONSTRAIN, WORD_CHOICE(GEN_CONSTRAINTS, ""), OPTION_ARG_OPTIONAL,
     "lm:DIR: the model writes answers alone that parse: by the grammar of --language dsl or graph, or by one of its "
     "own for each task, with the task's "
     "names (docs/lm.md). Default: task with --language graph, else off; without a word: language with dsl",
     12},
    {"grammar-tries", KEY_GRAMMAR_TRIES, "N", 0,
     "--constrain: draw an answer up to N times, until it is one that the model would write among those of the grammar "
     "(default 64 with task, else 1)",
     12},
    {NULL, 0, NULL, 0, "Prompts (docs/prompts.md):", 20},
    {"variant", KEY_VARIANT, WORD_CHOICE(GEN_VARIANTS, ""), 0, "what it is shown besides the task (default zero-shot)",
     21},
    {"templates", KEY_TEMPLATES, "DIR", 0, "a folder with changed copies of the template files", 21},
    {"documents", KEY_DOCUMENTS, "PATH", CLI_SEVERAL,
     "--variant retrieval: a file or folder (.md, .txt, .html) to look things up in besides; may be repeated", 21},
    {"tokenizer", KEY_TOKENIZER, "FILE", 0, "the model's tokenizer.json, to count tokens by (default: an estimate)",
     21},
    {"prompt-token-limit", KEY_PROMPT_TOKEN_LIMIT, "N", 0, "a prompt of more tokens is an error", 21},
    {0},
};

/* A number in [low, high]. */
static double parse_real(const struct argp_state *state, const char *option, const char *text, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        argp_error(state, "--%s: '%s' is not a number from %g to %g", option, text, low, high);
    return value;
}

/* Which of the words it is; a usage error otherwise. */
static int parse_word(const struct argp_state *state, const char *option, const char *text, const struct words *words)
{
    int value = words_find(words, text);
    char known[256] = "";
    for (int i = 0; i < words->count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", words->of[i]);
    if (value < 0)
        argp_error(state, "--%s: '%s' is none of %s", option, text, known);
    return value;
}

static void add_string(struct gen_model *model, const char *const **list, int *count, const char *text)
{
    const char **grown = arena_alloc(&model->arena, sizeof *grown * ((size_t)*count + 1));
    if (*count)
        memcpy(grown, *list, sizeof *grown * (size_t)*count);
    grown[(*count)++] = text;
    *list = grown;
}

static error_t parse_server(int key, char *text, struct argp_state *state)
{
    struct gen_endpoint *endpoint = &((struct gen_model *)state->input)->endpoint;
    switch (key) {
    case KEY_MODEL:
        endpoint->model = text;
        break;
    case KEY_API:
        endpoint->api = (enum gen_api)parse_word(state, "api", text, &gen_apis); // NOLINT: a word of the table
        break;
    case KEY_INT8:
        endpoint->int8 = true;
        break;
    case KEY_STREAM:
    case KEY_NO_STREAM:
        endpoint->stream = key == KEY_STREAM;
        break;
    case KEY_KEY_FILE:
        ((struct gen_model *)state->input)->key_file = text;
        break;
    case KEY_KEY: /* whatever stands there is not repeated */
        memset(text, '*', strlen(text));
        argp_error(state, "a key on the command line can be read by everybody on this machine; it belongs into "
                          "AKGEN_API_KEY or into a file (--key-file FILE)");
        break;
    case KEY_CONCURRENCY:
        endpoint->concurrency = (int)cli_parse_number(state, "concurrency", text, 1, 1024);
        break;
    case KEY_RETRIES:
        endpoint->retries = (int)cli_parse_number(state, "retries", text, 0, 100);
        break;
    case KEY_BACKOFF:
        endpoint->backoff_seconds = parse_real(state, "backoff", text, 0, 3600);
        break;
    case KEY_CONNECT_TIMEOUT:
        endpoint->connect_seconds = parse_real(state, "connect-timeout", text, 0.001, 86400);
        break;
    case KEY_IDLE_TIMEOUT:
        endpoint->idle_seconds = parse_real(state, "idle-timeout", text, 0.001, 86400);
        break;
    case KEY_ANSWER_TIMEOUT:
        endpoint->total_seconds = parse_real(state, "answer-timeout", text, 0.001, 86400);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Sampling, limits and prices. */
static error_t parse_sampling(int key, char *text, struct argp_state *state)
{
    struct gen_model *model = state->input;
    struct gen_sampling *sampling = &model->sampling;
    switch (key) {
    case KEY_TEMPERATURE:
        sampling->temperature = parse_real(state, "temperature", text, 0, 2);
        break;
    case KEY_TOP_P:
        sampling->top_p = parse_real(state, "top-p", text, 0, 1);
        break;
    case KEY_TOP_K:
        sampling->top_k = (int)cli_parse_number(state, "top-k", text, 1, INT32_MAX);
        break;
    case KEY_MIN_P:
        sampling->min_p = parse_real(state, "min-p", text, 0, 1);
        break;
    case KEY_MAX_ANSWER_TOKENS:
        sampling->max_tokens = cli_parse_number(state, "max-answer-tokens", text, 1, INT32_MAX);
        break;
    case KEY_STOP:
        add_string(model, &sampling->stop, &sampling->stop_count, text);
        break;
    case KEY_ANSWER_SEED:
        model->seeded = true;
        model->seed = (uint64_t)cli_parse_number(state, "answer-seed", text, 0, INT32_MAX);
        break;
    case KEY_MAX_TOKENS:
        model->token_limit = cli_parse_number(state, "max-tokens", text, 1, INT64_MAX);
        break;
    case KEY_MAX_COST:
        model->cost_limit = parse_real(state, "max-cost", text, 1e-9, 1e12);
        break;
    case KEY_PRICE_PROMPT:
        model->prompt_price = parse_real(state, "price-prompt", text, 0, 1e9);
        break;
    case KEY_PRICE_ANSWER:
        model->answer_price = parse_real(state, "price-answer", text, 0, 1e9);
        break;
    case ARGP_KEY_END:
        if (model->cost_limit > 0 && model->prompt_price == 0 && model->answer_price == 0)
            argp_error(state, "--max-cost needs --price-prompt and --price-answer, of a million tokens");
        break;
    default:
        return parse_server(key, text, state);
    }
    return 0;
}

const struct argp cli_server_argp = {.options = server_options, .parser = parse_sampling};

static error_t parse_samples(int key, char *text, struct argp_state *state)
{
    struct gen_model *model = state->input;
    switch (key) {
    case 'n':
        model->samples = (int)cli_parse_number(state, "samples", text, 1, 100000);
        break;
    case KEY_PER_REQUEST:
        model->per_request = (int)cli_parse_number(state, "per-request", text, 1, 1024);
        break;
    case KEY_PRESET:
        if (!(model->preset = gen_preset_find(text)))
            argp_error(state, "--preset: '%s' is none of ascendkernelgen, multikernelbench, multikernelbench-5", text);
        break;
    case KEY_CONSTRAIN:
        if (text)
            parse_word(state, "constrain", text, &gen_constraints);
        model->constrain = text ? text : "";
        break;
    case KEY_GRAMMAR_TRIES:
        model->grammar_tries = (int)cli_parse_number(state, "grammar-tries", text, 1, LM_MOST_TRIES);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct gen_model *model = state->input;
    struct gen_prompt_options *prompt = &model->prompt;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = model;
        break;
    case KEY_VARIANT:
        prompt->variant =
            (enum gen_variant)parse_word(state, "variant", text, &gen_variants); // NOLINT: a word of the table
        break;
    case KEY_TEMPLATES:
        prompt->templates = text;
        break;
    case KEY_DOCUMENTS:
        add_string(model, &prompt->documents, &prompt->document_count, text);
        break;
    case KEY_TOKENIZER:
        prompt->tokenizer = text;
        break;
    case KEY_PROMPT_TOKEN_LIMIT:
        prompt->token_limit = cli_parse_number(state, "prompt-token-limit", text, 1, INT32_MAX);
        break;
    default:
        return parse_samples(key, text, state);
    }
    return 0;
}

void cli_refuse_model_options(const struct argp_state *state, const char *why)
{
    cli_refuse_options(state, &cli_model_argp, why);
    cli_refuse_options(state, &cli_server_argp, why);
}

static const struct argp_child children[] = {{&cli_server_argp, 0, NULL, 10}, {0}};
const struct argp cli_model_argp = {.options = options, .parser = parse, .children = children};

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
