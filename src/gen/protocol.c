/* Requests. Fields and their meaning: OpenAI's API reference ("Create chat completion", "Create completion"); top_k and
 * min_p are extensions that vLLM, SGLang and llama.cpp share. */
#include "gen/protocol.h"
#include "base/jsons.h"
#include "base/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct words gen_apis = WORDS(GEN_APIS);

/* True if `word` stands in the text with no letter, digit or underscore beside it. */
static bool names_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[length]) || at[length] == '_'))
            return true;
    }
    return false;
}

bool gen_quirks_learn(struct gen_quirks *quirks, const char *complaint, int n)
{
    const struct {
        const char *word;
        bool *quirk, possible;
    } rows[] = {
        {"stream_options", &quirks->no_usage, true},
        {"max_completion_tokens", &quirks->completion_tokens, complaint && strstr(complaint, "instead")},
        {"n", &quirks->single, n > 1},
    };
    for (size_t i = 0; complaint && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].possible && !*rows[i].quirk && names_word(complaint, rows[i].word)) {
            *rows[i].quirk = true;
            return true;
        }
    return false;
}

char *gen_protocol_prompt(const struct gen_message *messages, int count)
{
    struct text prompt = {0};
    bool titled = false;
    for (int i = 0; i < count; i++)
        titled |= strcmp(messages[i].role, "assistant") == 0;
    text_add(&prompt, "");
    for (int i = 0; i < count; i++) {
        if (i)
            text_add(&prompt, "\n\n");
        if (titled)
            text_addf(&prompt, "%s:\n", messages[i].role);
        text_add(&prompt, messages[i].text);
    }
    if (titled)
        text_add(&prompt, "\n\nassistant:\n");
    return prompt.bytes;
}

static void set_number(json_t *body, const char *name, double value)
{
    if (!isnan(value))
        json_object_set_new(body, name, json_real(value));
}

char *gen_protocol_body(const struct gen_endpoint *endpoint, const struct gen_request *request, int n, uint64_t seed,
                        const struct gen_quirks *quirks)
{
    json_t *body = json_object();
    json_object_set_new(body, "model", jsons_text(endpoint->model ? endpoint->model : ""));
    if (endpoint->api == GEN_CHAT) {
        json_object_set_new(body, "messages", gen_messages_json(request->messages, request->message_count));
    } else {
        char *prompt = gen_protocol_prompt(request->messages, request->message_count);
        json_object_set_new(body, "prompt", jsons_text(prompt));
        free(prompt);
    }
    set_number(body, "temperature", request->sampling.temperature);
    set_number(body, "top_p", request->sampling.top_p);
    set_number(body, "min_p", request->sampling.min_p);
    if (request->sampling.top_k)
        json_object_set_new(body, "top_k", json_integer(request->sampling.top_k));
    if (request->sampling.max_tokens)
        json_object_set_new(body, quirks->completion_tokens ? "max_completion_tokens" : "max_tokens",
                            json_integer(request->sampling.max_tokens));
    if (request->sampling.stop_count) {
        json_t *stop = json_array();
        for (int i = 0; i < request->sampling.stop_count; i++)
            json_array_append_new(stop, jsons_text(request->sampling.stop[i]));
        json_object_set_new(body, "stop", stop);
    }
    if (n > 1)
        json_object_set_new(body, "n", json_integer(n));
    if (request->seeded) /* the protocol's integers have a sign */
        json_object_set_new(body, "seed", json_integer((json_int_t)(seed & INT64_MAX)));
    if (request->grammar) { /* which has no thought in it, so that the thought is given, and empty */
        json_object_set_new(body, "grammar", jsons_text(request->grammar));
        if (request->grammar_tries > 1)
            json_object_set_new(body, "grammar_tries", json_integer(request->grammar_tries));
        json_object_set_new(body, "chat_template_kwargs", json_pack("{s:b}", "enable_thinking", 0));
    }
    json_object_set_new(body, "stream", json_boolean(endpoint->stream));
    if (endpoint->stream && !quirks->no_usage)
        json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
    char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!text)
        memory_exhausted(0);
    json_decref(body);
    return text;
}
