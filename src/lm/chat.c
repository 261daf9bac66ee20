/* The template, message by message. */
#include "lm/chat.h"

#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/jsons.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct rendering {
    struct arena *arena;
    struct text text; /* of the part that is not complete */
    struct lm_part *parts;
    int count, capacity;
};

static void end_part(struct rendering *rendering, bool learned)
{
    struct text *text = &rendering->text;
    if (text->length) {
        struct lm_part part = {arena_strndup(rendering->arena, text->bytes, text->length), text->length, learned};
        ARRAY_ADD(rendering->arena, rendering->parts, rendering->count, rendering->capacity, part);
    }
    text_free(text);
}

static const char *text_of(const json_t *message, const char *name)
{
    return json_string_value(json_object_get(message, name));
}

static bool role_is(const json_t *message, const char *role)
{
    const char *own = text_of(message, "role");
    return own && strcmp(own, role) == 0;
}

/* JSON as the template's tojson writes it: ", " and ": " between, the keys as they come. */
static void add_json(struct text *text, const json_t *value)
{
    char *json = json_dumps(value, JSON_ENCODE_ANY);
    text_add(text, json);
    free(json);
}

static void add_tools(struct text *text, const json_t *tools, const json_t *first)
{
    const json_t *tool;
    size_t i;
    text_add(text, "<|im_start|>system\n");
    if (role_is(first, "system"))
        text_addf(text, "%s\n\n", text_of(first, "content"));
    text_add(text,
             "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
             "function signatures within <tools></tools> XML tags:\n<tools>");
    json_array_foreach((json_t *)tools, i, tool)
    {
        text_add(text, "\n");
        add_json(text, tool);
    }
    text_add(text, "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
                   "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
                   "<args-json-object>}\n</tool_call><|im_end|>\n");
}

/* What the user asks, and no tool's answer in its clothes. */
static bool is_question(const json_t *message)
{
    static const char begin[] = "<tool_response>", end[] = "</tool_response>";
    const char *content = text_of(message, "content");
    size_t length = content ? strlen(content) : 0;
    bool response = length >= sizeof end - 1 && strncmp(content, begin, sizeof begin - 1) == 0 &&
                    strcmp(content + length - (sizeof end - 1), end) == 0;
    return role_is(message, "user") && !response;
}

static const char *strip_left(const char *text)
{
    return text + strspn(text, "\n");
}

/* Without line ends on either side, in the arena. */
static const char *strip(struct arena *arena, const char *text, size_t length)
{
    while (length && *text == '\n')
        text++, length--;
    while (length && text[length - 1] == '\n')
        length--;
    return arena_strndup(arena, text, length);
}

/* An answer's thought and what it says, which may stand in one text. */
static void split_thought(struct arena *arena, const json_t *message, const char **thought, const char **content)
{
    static const char begin[] = "<think>", end[] = "</think>";
    const char *whole = text_of(message, "content"), *own = text_of(message, "reasoning_content"), *at;
    *content = whole ? whole : "";
    *thought = own ? own : "";
    if (own || !(at = strstr(*content, end)))
        return;
    const char *from = *content, *last = at;
    size_t before = (size_t)(at - *content);
    for (const char *next = from; (next = strstr(next, begin)) && next < at; next++)
        from = next + sizeof begin - 1;
    *thought = strip(arena, from, before - (size_t)(from - *content));
    for (const char *next = at; (next = strstr(next, end)); next++)
        last = next;
    *content = strip_left(last + sizeof end - 1);
}

static void add_calls(struct text *text, const json_t *message, bool behind_content)
{
    const json_t *call;
    size_t i;
    json_array_foreach(json_object_get(message, "tool_calls"), i, call)
    {
        const json_t *function = json_object_get(call, "function"), *of = function ? function : call,
                     *arguments = json_object_get(of, "arguments");
        text_addf(text, "%s<tool_call>\n{\"name\": \"%s\", \"arguments\": ", i || behind_content ? "\n" : "",
                  text_of(of, "name"));
        if (json_is_string(arguments))
            text_add(text, json_string_value(arguments));
        else
            add_json(text, arguments);
        text_add(text, "}\n</tool_call>");
    }
}

static void add_answer(struct rendering *rendering, const json_t *message, bool behind_question, bool last,
                       bool learned)
{
    const char *thought, *content;
    struct text *text = &rendering->text;
    split_thought(rendering->arena, message, &thought, &content);
    text_add(text, "<|im_start|>assistant\n");
    end_part(rendering, false);
    if (behind_question && (last || *thought))
        text_addf(text, "<think>\n%s\n</think>\n\n%s", strip(rendering->arena, thought, strlen(thought)),
                  strip_left(content));
    else
        text_add(text, content);
    add_calls(text, message, *content != '\0');
    text_add(text, "<|im_end|>");
    end_part(rendering, learned);
    text_add(text, "\n");
}

static void add_message(struct rendering *rendering, const json_t *messages, size_t i, size_t question,
                        const struct lm_chat_options *options)
{
    const json_t *message = json_array_get(messages, i);
    const char *role = text_of(message, "role"), *content = text_of(message, "content");
    struct text *text = &rendering->text;
    bool last = i + 1 == json_array_size(messages);
    if (role_is(message, "assistant")) {
        add_answer(rendering, message, i > question, last, (int)i >= options->learned_from);
    } else if (role_is(message, "tool")) {
        if (i == 0 || !role_is(json_array_get(messages, i - 1), "tool"))
            text_add(text, "<|im_start|>user");
        text_addf(text, "\n<tool_response>\n%s\n</tool_response>", content);
        if (last || !role_is(json_array_get(messages, i + 1), "tool"))
            text_add(text, "<|im_end|>\n");
    } else if (role_is(message, "user") || i > 0) { /* the first system message stands at the begin */
        text_addf(text, "<|im_start|>%s\n%s<|im_end|>\n", role, content);
    }
}

static struct akgen_error *check_calls(const json_t *message, size_t number)
{
    const json_t *calls = json_object_get(message, "tool_calls"), *call;
    size_t i;
    if (calls && !json_is_null(calls) && !json_is_array(calls))
        return error_new("message %zu: 'tool_calls' has to be a list", number);
    json_array_foreach((json_t *)calls, i, call)
    {
        const json_t *function = json_object_get(call, "function"), *of = function ? function : call;
        if (!text_of(of, "name") || !json_object_get(of, "arguments"))
            return error_new("message %zu: call %zu needs 'name' and 'arguments'", number, i);
    }
    return NULL;
}

static struct akgen_error *check(const json_t *messages)
{
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    const json_t *message;
    size_t i;
    if (!json_is_array(messages) || !json_array_size(messages))
        return error_new("'messages' has to be a list of at least one message");
    json_array_foreach((json_t *)messages, i, message)
    {
        const json_t *content = json_object_get(message, "content"),
                     *thought = json_object_get(message, "reasoning_content");
        bool known = false,
             may_lack = role_is(message, "assistant") && json_array_size(json_object_get(message, "tool_calls"));
        for (size_t role = 0; role < sizeof roles / sizeof *roles; role++)
            known |= role_is(message, roles[role]);
        if (!known)
            return error_new("message %zu: 'role' is '%.40s', expected system, user, assistant or tool", i,
                             text_of(message, "role") ? text_of(message, "role") : "missing");
        if (!json_is_string(content) && !(may_lack && (!content || json_is_null(content))))
            return error_new("message %zu: 'content' has to be a text", i);
        if (thought && !json_is_null(thought) && !json_is_string(thought))
            return error_new("message %zu: 'reasoning_content' has to be a text", i);
        struct akgen_error *error = check_calls(message, i);
        if (error)
            return error;
    }
    return NULL;
}

struct akgen_error *lm_chat_render(const json_t *messages, const struct lm_chat_options *options, struct arena *arena,
                                   struct lm_part **parts, int *count)
{
    struct rendering rendering = {.arena = arena};
    struct akgen_error *error = check(messages);
    *parts = NULL;
    *count = 0;
    if (error)
        return error;
    const json_t *first = json_array_get(messages, 0);
    size_t many = json_array_size(messages), question = many - 1;
    for (size_t i = many; i > 0; i--)
        if (is_question(json_array_get(messages, i - 1))) {
            question = i - 1;
            break;
        }
    if (json_array_size(options->tools))
        add_tools(&rendering.text, options->tools, first);
    else if (role_is(first, "system"))
        text_addf(&rendering.text, "<|im_start|>system\n%s<|im_end|>\n", text_of(first, "content"));
    for (size_t i = 0; i < many; i++)
        add_message(&rendering, messages, i, question, options);
    if (options->ask)
        text_addf(&rendering.text, "<|im_start|>assistant\n%s", options->no_thinking ? "<think>\n\n</think>\n\n" : "");
    end_part(&rendering, false);
    *parts = rendering.parts;
    *count = rendering.count;
    return NULL;
}

/* Digests of the template's text as Qwen3's models carry it, without white space at its ends. */
static const char *const known[] = {"0fab82ce8f4d5175c9e0155c80737cf2"};
enum { LARGEST_FILE = 64 << 20 };

static struct akgen_error *check_template(struct arena *arena, const char *path, const char *text, size_t length)
{
    static const char spaces[] = " \t\r\n";
    while (length && strchr(spaces, text[length - 1]))
        length--;
    while (length && strchr(spaces, *text))
        text++, length--;
    if (length == strlen(lm_chat_template) && memcmp(text, lm_chat_template, length) == 0)
        return NULL;
    struct digest *digest = digest_new();
    digest_bytes(digest, text, length);
    const char *found = digest_finish(digest, arena);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(found, known[i]) == 0)
            return NULL;
    return error_of_the_file(
        error_new("%s: this chat template (%s) is not Qwen3's, which is the one that is built in", path, found));
}

struct akgen_error *lm_chat_check(const char *folder)
{
    struct arena arena = {0};
    const char *path = arena_printf(&arena, "%s/chat_template.jinja", folder),
               *config = arena_printf(&arena, "%s/tokenizer_config.json", folder);
    char *bytes;
    size_t length;
    struct akgen_error *error = NULL;
    if (files_exists(path)) {
        error = files_read(&arena, path, LARGEST_FILE, &bytes, &length);
        if (!error)
            error = check_template(&arena, path, bytes, length);
    } else if (files_exists(config)) {
        error = files_read(&arena, config, LARGEST_FILE, &bytes, &length);
        json_error_t problem;
        json_t *root = error ? NULL : jsons_read(bytes, length, 0, &problem);
        const json_t *text = json_object_get(root, "chat_template");
        if (!error && !root)
            error = error_of_the_file(error_new("%s:%d: %s", config, problem.line, problem.text));
        else if (json_is_string(text))
            error = check_template(&arena, config, json_string_value(text), json_string_length(text));
        else if (text && !json_is_null(text))
            error = error_of_the_file(error_new("%s: 'chat_template' has to be a text", config));
        json_decref(root);
    }
    arena_free(&arena);
    return error;
}

const char *lm_chat_text(const struct lm_part *parts, int count, struct arena *arena)
{
    struct text text = {0};
    text_add(&text, "");
    for (int i = 0; i < count; i++)
        text_append(&text, parts[i].text, parts[i].length);
    const char *whole = arena_strndup(arena, text.bytes, text.length);
    text_free(&text);
    return whole;
}
