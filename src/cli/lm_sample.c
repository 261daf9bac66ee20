/* akgen lm sample: texts that a model writes. */
#include "base/arena.h"
#include "base/files.h"
#include "base/jsons.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/backend.h"
#include "lm/chat.h"
#include "lm/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_PROMPT = 0x500,
    KEY_PROMPT_FILE,
    KEY_CHAT,
    KEY_NO_THINKING,
    KEY_TEMPERATURE,
    KEY_TOP_K,
    KEY_TOP_P,
    KEY_MIN_P,
    KEY_SEED,
    KEY_MAX,
    KEY_STOP,
    KEY_GRAMMAR,
    KEY_GRAMMAR_TRIES,
    KEY_THREADS,
    KEY_INT8,
    KEY_JSON,
    MOST_PROMPTS = 256,
    MOST_STOPS = 16,
    LARGEST_PROMPT = 16 << 20
};

static const struct argp_option options[] = {
    {"prompt", KEY_PROMPT, "TEXT", CLI_SEVERAL, "what the text begins with; several times", 1},
    {"prompt-file", KEY_PROMPT_FILE, "FILE", CLI_SEVERAL, "likewise, of a file", 1},
    {"chat", KEY_CHAT, NULL, 0, "a prompt is what a user says, and the model answers, by Qwen3's chat template", 1},
    {"no-thinking", KEY_NO_THINKING, NULL, 0, "the same, and it answers without a thought", 1},
    {"samples", 'n', "N", 0, "texts of each prompt (default 1)", 1},
    {"max-tokens", KEY_MAX, "N", 0, "of an answer (default 256)", 2},
    {"stop", KEY_STOP, "TEXT", CLI_SEVERAL, "answers end before it; several times", 2},
    {"grammar", KEY_GRAMMAR, "FILE|dsl|formula|graph", 0,
     "answers follow a grammar in GBNF, and end where it lets them; dsl, formula and graph are 'akgen lm grammar's", 2},
    {"grammar-tries", KEY_GRAMMAR_TRIES, "N", 0,
     "--grammar: draw an answer up to N times, until it is one that the model would write among those of the grammar "
     "(default 1: take out what does not follow it at each place)",
     2},
    {"temperature", KEY_TEMPERATURE, "T", 0, "0: the most probable token, always (default 1)", 2},
    {"top-k", KEY_TOP_K, "K", 0, "of the K most probable tokens; 0: of all (default)", 2},
    {"top-p", KEY_TOP_P, "P", 0, "of the fewest whose probabilities reach P (default 1)", 2},
    {"min-p", KEY_MIN_P, "P", 0, "of those at least P times as probable as the first (default 0)", 2},
    {"seed", KEY_SEED, "S", 0, "sample i of a prompt has seed S + i (default 0)", 2},
    {"threads", KEY_THREADS, "N", 0, "default: one for each processor", 3},
    {"int8", KEY_INT8, NULL, 0, "round weights to int8: faster, and slightly another model", 3},
    {"json", KEY_JSON, NULL, 0,
     "a line of JSON for each text, as they end: prompt, sample, text, tokens, log_prob, finish", 3},
    {0},
};

struct prompt {
    const char *text;
    size_t length;
    int32_t *tokens;
    int64_t count;
};
struct arguments {
    const char *model;
    struct arena arena;
    struct prompt prompts[MOST_PROMPTS];
    int prompt_count, samples, most, threads;
    const char *stops[MOST_STOPS];
    int stop_count;
    const char *grammar; /* or NULL */
    struct lm_grammar *read;
    int tries;
    struct lm_sampling sampling;
    bool chat, no_thinking, int8, json;
};
/* A text that is written. */
struct answer {
    struct arguments *arguments;
    int prompt, sample;
    bool alone; /* printed as it comes */
    struct text text;
    json_t *tokens;
    double log_prob;
};

static void add_prompt(const struct argp_state *state, struct arguments *arguments, char *text, bool file)
{
    struct prompt *prompt = &arguments->prompts[arguments->prompt_count];
    char *bytes = text;
    if (arguments->prompt_count == MOST_PROMPTS)
        argp_error(state, "more than %d prompts", MOST_PROMPTS);
    prompt->length = strlen(text);
    struct akgen_error *error =
        file ? files_read(&arguments->arena, text, LARGEST_PROMPT, &bytes, &prompt->length) : NULL;
    if (error)
        argp_error(state, "%s", error->message);
    prompt->text = bytes;
    arguments->prompt_count++;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_PROMPT:
    case KEY_PROMPT_FILE:
        add_prompt(state, arguments, text, key == KEY_PROMPT_FILE);
        break;
    case KEY_NO_THINKING:
        arguments->no_thinking = true;
        __attribute__((fallthrough));
    case KEY_CHAT:
        arguments->chat = true;
        break;
    case 'n':
        arguments->samples = (int)cli_parse_number(state, "samples", text, 1, 1 << 20);
        break;
    case KEY_MAX:
        arguments->most = (int)cli_parse_number(state, "max-tokens", text, 1, 1 << 24);
        break;
    case KEY_STOP:
        if (!*text || arguments->stop_count == MOST_STOPS)
            argp_error(state, "--stop: an empty one, or more than %d", MOST_STOPS);
        arguments->stops[arguments->stop_count++] = text;
        break;
    case KEY_GRAMMAR:
        arguments->grammar = text;
        break;
    case KEY_GRAMMAR_TRIES:
        arguments->tries = (int)cli_parse_number(state, "grammar-tries", text, 1, LM_MOST_TRIES);
        break;
    case KEY_TEMPERATURE:
        arguments->sampling.temperature = cli_parse_real(state, "temperature", text, 0, 100);
        break;
    case KEY_TOP_K:
        arguments->sampling.top_k = (int)cli_parse_number(state, "top-k", text, 0, 1 << 24);
        break;
    case KEY_TOP_P:
        arguments->sampling.top_p = cli_parse_real(state, "top-p", text, 1e-9, 1);
        break;
    case KEY_MIN_P:
        arguments->sampling.min_p = cli_parse_real(state, "min-p", text, 0, 1);
        break;
    case KEY_SEED:
        arguments->sampling.seed = (uint64_t)cli_parse_number(state, "seed", text, 0, INT64_MAX);
        break;
    case KEY_THREADS:
        arguments->threads = (int)cli_parse_number(state, "threads", text, 1, 1024);
        break;
    case KEY_INT8:
        arguments->int8 = true;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->model = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num || !arguments->prompt_count)
            argp_error(state, "MODEL and --prompt TEXT are needed");
        if (!arguments->grammar && cli_given(state, KEY_GRAMMAR_TRIES))
            argp_error(state, "--grammar-tries is of --grammar");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print_answer(const struct answer *answer, enum lm_finish finish)
{
    static const char *const names[] = {
        [LM_AT_END] = "end",           [LM_AT_STOP] = "stop",           [LM_AT_LENGTH] = "length",
        [LM_AT_DEAD_END] = "dead end", [LM_AT_NO_NUMBER] = "no number",
    };
    const char *text = answer->text.bytes ? answer->text.bytes : "";
    if (answer->alone) {
        putchar('\n');
    } else if (answer->arguments->json) {
        json_t *row = json_pack("{s:i s:i s:o s:O s:f s:s}", "prompt", answer->prompt, "sample", answer->sample, "text",
                                jsons_text(text), "tokens", answer->tokens, "log_prob", answer->log_prob, "finish",
                                names[finish]);
        json_dumpf(row, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(row);
    } else {
        printf("--- prompt %d, sample %d\n", answer->prompt, answer->sample);
        cli_print_clean(stdout, text);
        putchar('\n');
    }
    fflush(stdout);
}

static bool on_token(void *closure, const struct lm_token *token)
{
    struct answer *answer = closure;
    text_add(&answer->text, token->text);
    if (token->token >= 0)
        json_array_append_new(answer->tokens, json_integer(token->token));
    answer->log_prob += token->log_prob;
    if (answer->alone) {
        cli_print_clean(stdout, token->text);
        fflush(stdout);
    }
    if (token->finish != LM_GOES_ON)
        print_answer(answer, token->finish);
    return true;
}

/* What the template makes of a question. */
static struct akgen_error *render(struct arguments *arguments, struct prompt *prompt)
{
    struct lm_part *parts;
    int count;
    json_t *messages = json_pack("[{s:s s:o}]", "role", "user", "content", jsons_text(prompt->text));
    const struct lm_chat_options how = {.ask = true, .no_thinking = arguments->no_thinking};
    struct akgen_error *error = lm_chat_render(messages, &how, &arguments->arena, &parts, &count);
    if (!error) {
        prompt->text = lm_chat_text(parts, count, &arguments->arena);
        prompt->length = strlen(prompt->text);
    }
    json_decref(messages);
    return error;
}

static struct akgen_error *encode(struct arguments *arguments, const struct lm_tokenizer *tokenizer)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < arguments->prompt_count && !error; i++) {
        struct prompt *prompt = &arguments->prompts[i];
        uint32_t *ids = NULL;
        if (arguments->chat)
            error = render(arguments, prompt);
        if (!error)
            error =
                lm_tokenizer_encode(tokenizer, &arguments->arena, prompt->text, prompt->length, &ids, &prompt->count);
        prompt->tokens = (int32_t *)ids;
    }
    return error;
}

static struct akgen_error *write_all(struct arguments *arguments, struct lm_engine *engine)
{
    int count = arguments->prompt_count * arguments->samples;
    struct answer *answers = arena_alloc(&arguments->arena, (size_t)count * sizeof *answers);
    struct akgen_error *error = NULL;
    for (int i = 0; i < count && !error; i++) {
        const struct prompt *prompt = &arguments->prompts[i / arguments->samples];
        answers[i] = (struct answer){.arguments = arguments,
                                     .prompt = i / arguments->samples,
                                     .sample = i % arguments->samples,
                                     .alone = count == 1 && !arguments->json,
                                     .tokens = json_array()};
        struct lm_request request = {.prompt = prompt->tokens,
                                     .prompt_count = (int)prompt->count,
                                     .most = arguments->most,
                                     .sampling = arguments->sampling,
                                     .stops = arguments->stops,
                                     .stop_count = arguments->stop_count,
                                     .grammar = arguments->read,
                                     .tries = arguments->tries,
                                     .on_token = on_token,
                                     .closure = &answers[i]};
        request.sampling.seed += (uint64_t)answers[i].sample;
        if ((error = lm_engine_add(engine, &request)))
            error = error_prefix(error, "prompt %d", answers[i].prompt);
    }
    while (!error && lm_engine_step(engine))
        ;
    if (!error)
        error = lm_engine_error(engine);
    for (int i = 0; i < count; i++) {
        text_free(&answers[i].text);
        json_decref(answers[i].tokens);
    }
    return error;
}

static struct akgen_error *sample(struct arguments *arguments)
{
    struct lm_model model = {0};
    struct lm_tokenizer *tokenizer = NULL;
    struct lm_engine *engine = NULL;
    int wanted = arguments->prompt_count * arguments->samples, longest = 0;
    struct akgen_error *error = arguments->chat ? lm_chat_check(arguments->model) : NULL;
    if (!error && arguments->grammar)
        error = cli_lm_read_grammar(arguments->grammar, &arguments->read);
    if (!error)
        error = lm_model_read(&model, arguments->model);
    if (!error)
        error = lm_tokenizer_read(arena_printf(&arguments->arena, "%s/tokenizer.json", arguments->model), &tokenizer);
    if (!error)
        error = encode(arguments, tokenizer);
    for (int i = 0; i < arguments->prompt_count && !error; i++) {
        int64_t length = arguments->prompts[i].count + arguments->most;
        longest = length > longest ? (int)(length < INT32_MAX ? length : INT32_MAX) : longest;
    }
    const struct lm_engine_options how = {.threads = arguments->threads,
                                          .texts = wanted < LM_FEW ? wanted : LM_FEW,
                                          .longest = longest,
                                          .int8 = arguments->int8};
    if (!error)
        error = lm_engine_new(&model, tokenizer, &how, &engine);
    if (!error)
        error = write_all(arguments, engine);
    lm_engine_free(engine);
    lm_grammar_free(arguments->read);
    lm_tokenizer_free(tokenizer);
    lm_model_free(&model);
    return error;
}

int cli_lm_sample(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL --prompt TEXT",
        .doc = "Lets a model write on.\vOne text is printed as it is written, several when they end. The same seed "
               "gives the same text, on every "
               "run and beside any others.",
    };
    struct arguments arguments = {.samples = 1, .most = 256, .sampling = lm_sampling_defaults};
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = sample(&arguments);
    arena_free(&arguments.arena);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
