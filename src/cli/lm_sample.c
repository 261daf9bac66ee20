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
#include <string.h>

enum { MOST_PROMPTS = 256, MOST_STOPS = 16, LARGEST_PROMPT = 16 << 20 };

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

static void take_prompt(void *arguments, char *text, const struct argp_state *state)
{
    add_prompt(state, arguments, text, false);
}

static void take_prompt_file(void *arguments, char *text, const struct argp_state *state)
{
    add_prompt(state, arguments, text, true);
}

static void take_stop(void *sample, char *text, const struct argp_state *state)
{
    struct arguments *arguments = sample;
    if (!*text || arguments->stop_count == MOST_STOPS)
        argp_error(state, "--stop: an empty one, or more than %d", MOST_STOPS);
    arguments->stops[arguments->stop_count++] = text;
}

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"prompt", 0, "TEXT", CLI_CALL(take_prompt, .flags = CLI_SEVERAL), 1, "what the text begins with; several times"},
    {"prompt-file", 0, "FILE", CLI_CALL(take_prompt_file, .flags = CLI_SEVERAL), 1, "likewise, of a file"},
    {"chat", 0, NULL, CLI_FLAG(chat), 1,
     "a prompt is what a user says, and the model answers, by Qwen3's chat template"},
    {"no-thinking", 0, NULL, CLI_FLAG(no_thinking, CLI_ALSO(chat)), 1, "the same, and it answers without a thought"},
    {"samples", 'n', "N", CLI_NUMBER(samples, 1, 1 << 20), 1, "texts of each prompt (default 1)"},
    {"max-tokens", 0, "N", CLI_NUMBER(most, 1, 1 << 24), 2, "of an answer (default 256)"},
    {"stop", 0, "TEXT", CLI_CALL(take_stop, .flags = CLI_SEVERAL), 2, "answers end before it; several times"},
    {"grammar", 0, "FILE|dsl|formula|graph", CLI_TEXT(grammar), 2,
     "answers follow a grammar in GBNF, and end where it lets them; dsl, formula and graph are 'akgen lm grammar's"},
    {"grammar-tries", 0, "N", CLI_NUMBER(tries, 1, LM_MOST_TRIES), 2,
     "--grammar: draw an answer up to N times, until it is one that the model would write among those of the grammar "
     "(default 1: take out what does not follow it at each place)"},
    {"temperature", 0, "T", CLI_REAL(sampling.temperature, 0, 100), 2,
     "0: the most probable token, always (default 1)"},
    {"top-k", 0, "K", CLI_NUMBER(sampling.top_k, 0, 1 << 24), 2, "of the K most probable tokens; 0: of all (default)"},
    {"top-p", 0, "P", CLI_REAL(sampling.top_p, 1e-9, 1), 2, "of the fewest whose probabilities reach P (default 1)"},
    {"min-p", 0, "P", CLI_REAL(sampling.min_p, 0, 1), 2,
     "of those at least P times as probable as the first (default 0)"},
    {"seed", 0, "S", CLI_NUMBER(sampling.seed, 0, INT64_MAX), 2, "sample i of a prompt has seed S + i (default 0)"},
    {"threads", 0, "N", CLI_NUMBER(threads, 1, 1024), 3, "default: one for each processor"},
    {"int8", 0, NULL, CLI_FLAG(int8), 3, "round weights to int8: faster, and slightly another model"},
    {"json", 0, NULL, CLI_FLAG(json), 3,
     "a line of JSON for each text, as they end: prompt, sample, text, tokens, log_prob, finish"},
    {NULL, 0, "MODEL", CLI_TEXT(model, .needed = true), 0, NULL},
};

static void check_arguments(void *sample, const struct argp_state *state)
{
    const struct arguments *arguments = sample;
    if (!arguments->prompt_count)
        argp_error(state, "MODEL and --prompt TEXT are needed");
    if (!arguments->grammar && cli_given(state, "grammar-tries"))
        argp_error(state, "--grammar-tries is of --grammar");
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
        cli_print_json(row, JSON_COMPACT);
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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL and --prompt TEXT are needed",
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .args_doc = "MODEL --prompt TEXT",
        .doc = "Lets a model write on.\vOne text is printed as it is written, several when they end. The same seed "
               "gives the same text, on every "
               "run and beside any others.",
    };
    struct arguments arguments = {.samples = 1, .most = 256, .sampling = lm_sampling_defaults};
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = sample(&arguments);
    arena_free(&arguments.arena);
    return cli_end(error);
}
