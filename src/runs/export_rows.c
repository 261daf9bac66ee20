/* One row of an export in each loader's format. Every row of a file has the same keys with values of the same type: the
 * loaders take the columns of a file from its first rows.
 *
 * TRL (docs, "Dataset formats and types"): prompt, completion or chosen and rejected, each a text or a list of messages; or
 * `messages`, all of them. LLaMA-Factory (data/README.md there): alpaca's instruction, input, output, system, of a single
 * question; sharegpt's conversations of human and gpt, system apart. */
#include "runs/export_internal.h"
#include "base/text.h"
#include "candidate/answer.h"

#include <stdlib.h>
#include <string.h>

const struct words export_kinds = WORDS(EXPORT_KINDS), export_strategies = WORDS(EXPORT_STRATEGIES),
                   export_formats = WORDS(EXPORT_FORMATS);

const char *export_spoken(struct arena *arena, const char *answer)
{
    int open = 0;
    char *text = arena_strdup(arena, answer);
    return answer_take_thinking(arena, text, &open) ? text + strspn(text, " \t\r\n") : answer;
}

/* What the model is to say. */
static const char *completion(struct arena *arena, const struct export_answer *answer,
                              const struct export_options *options)
{
    if (!options->reasoning)
        return export_spoken(arena, answer->text);
    if (!answer->reasoning || !*answer->reasoning)
        return answer->text;
    /* The form of Qwen3's chat template. */
    return arena_printf(arena, "<think>\n%s\n</think>\n\n%s", answer->reasoning, answer->text);
}

static const char *role_of(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    return role ? role : "";
}

static json_t *content_of(const json_t *message)
{
    json_t *content = json_object_get(message, "content");
    return json_is_string(content) ? json_incref(content) : json_string("");
}

/* The contents of the messages of a role, with empty lines between them. */
static json_t *contents(const json_t *messages, const char *role)
{
    struct text text = {0};
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        const char *content = json_string_value(json_object_get(message, "content"));
        if (content && strcmp(role_of(message), role) == 0)
            text_addf(&text, "%s%s", text.length ? "\n\n" : "", content);
    }
    json_t *result = json_string(text.bytes ? text.bytes : "");
    text_free(&text);
    return result;
}

/* Messages of the keys and roles that a loader has; the system's are left out of sharegpt's, which has a column for them. */
static json_t *renamed(const json_t *messages, bool sharegpt)
{
    json_t *result = json_array();
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        const char *role = role_of(message);
        if (!sharegpt)
            json_array_append_new(result, json_pack("{s:s, s:o}", "role", role, "content", content_of(message)));
        else if (strcmp(role, "system") != 0)
            json_array_append_new(result,
                                  json_pack("{s:s, s:o}", "from", strcmp(role, "assistant") == 0 ? "gpt" : "human",
                                            "value", content_of(message)));
    }
    return result;
}

const char *export_misfit(const json_t *messages, enum export_format format)
{
    int spoken = 0;
    const char *last = "";
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        last = role_of(message);
        if (!*last || !json_is_string(json_object_get(message, "content")))
            return "the prompt is no list of messages";
        spoken += strcmp(last, "system") != 0;
    }
    if (strcmp(last, "user") != 0)
        return "the prompt does not end with a question";
    return format == EXPORT_ALPACA && spoken > 1 ? "alpaca's rows have one question, a repair's prompt has several"
                                                 : NULL;
}

static json_t *plain(const json_t *messages, const struct export_options *options)
{
    char *text = options->plain(messages);
    json_t *result = json_string(text);
    free(text);
    return result;
}

/* The columns of the question. */
static json_t *question(const json_t *messages, const struct export_options *options)
{
    switch (options->format) {
    case EXPORT_TRL:
        return json_pack("{s:o}", "prompt", renamed(messages, false));
    case EXPORT_TRL_TEXT:
        return json_pack("{s:o}", "prompt", plain(messages, options));
    case EXPORT_TRL_MESSAGES:
        return json_pack("{s:o}", "messages", renamed(messages, false));
    case EXPORT_ALPACA:
        return json_pack("{s:o, s:s, s:o}", "instruction", contents(messages, "user"), "input", "", "system",
                         contents(messages, "system"));
    default:
        return json_pack("{s:o, s:o}", "conversations", renamed(messages, true), "system",
                         contents(messages, "system"));
    }
}

/* An answer as the format has it beside the question. */
static json_t *answer_value(const char *text, enum export_format format, bool pair)
{
    if (format == EXPORT_TRL)
        return json_pack("[{s:s, s:s}]", "role", "assistant", "content", text);
    if (format == EXPORT_SHAREGPT && pair)
        return json_pack("{s:s, s:s}", "from", "gpt", "value", text);
    return json_string(text);
}

json_t *export_row_json(const struct export_row *row, const struct export_options *options)
{
    static const char *const places[] = {"chosen", "rejected"};
    bool pair = options->what == EXPORT_PREFERENCES;
    struct arena arena = {0};
    json_t *json = question(row->messages, options);
    json_t *provenance = json_pack("{s:s, s:s}", "task", row->task, "prompt", row->prompt_hash);
    for (int i = 0; i <= pair; i++) {
        const char *text = completion(&arena, &row->answers[i], options);
        if (pair)
            json_object_set_new(json, places[i], answer_value(text, options->format, true));
        else {
            /* Puts the only answer of a row in its place. */
            if (options->format == EXPORT_TRL_MESSAGES)
                json_array_append_new(json_object_get(json, "messages"),
                                      json_pack("{s:s, s:s}", "role", "assistant", "content", text));
            else if (options->format == EXPORT_SHAREGPT)
                json_array_append_new(json_object_get(json, "conversations"),
                                      json_pack("{s:s, s:s}", "from", "gpt", "value", text));
            else
                json_object_set_new(json, options->format == EXPORT_ALPACA ? "output" : "completion",
                                    answer_value(text, options->format, false));
        }
        json_object_set_new(provenance, pair ? places[i] : "answer",
                            json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "run", (json_int_t)row->answers[i].run,
                                      "sample", (json_int_t)row->answers[i].sample, "verdict", row->answers[i].verdict,
                                      "stage", row->answers[i].stage, "model", row->answers[i].model, "akgen",
                                      row->answers[i].akgen));
    }
    if (options->provenance)
        json_object_set(json, "provenance", provenance);
    json_decref(provenance);
    arena_free(&arena);
    return json;
}
