/* Replies: one JSON text, or a stream of events that each hold a piece of one. Both end in the same choices.
 *
 * The bytes are a server's: JSON that is nearly right is read (bytes that are no UTF-8, halves of surrogate pairs, zeros,
 * numbers of any size), since a model's text is not worth less for it. */
#include "base/jsons.h"
#include "base/memory.h"
#include "gen/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Server-sent events */

static const char field[] = "data";

static void dispatch(struct gen_sse *sse, gen_sse_take *take, void *closure)
{
    if (sse->event.length) /* without the last line feed */
        take(closure, sse->event.bytes, sse->event.length - 1);
    sse->event.length = 0;
}

/* A line without its end. Comments and other fields than data say nothing that the protocol needs. */
static void take_line(struct gen_sse *sse, gen_sse_take *take, void *closure)
{
    const char *line = sse->line.bytes;
    size_t length = sse->line.length, name = sizeof field - 1;
    if (!length)
        dispatch(sse, take, closure);
    if (length >= name && memcmp(line, field, name) == 0 && (length == name || line[name] == ':')) {
        size_t at = length == name ? name : name + 1;
        at += at < length && line[at] == ' ';
        text_append(&sse->event, line + at, length - at);
        text_append(&sse->event, "\n", 1);
    }
    sse->line.length = 0;
}

void gen_sse_add(struct gen_sse *sse, const char *bytes, size_t length, gen_sse_take *take, void *closure)
{
    for (size_t at = 0; at < length;) {
        if (sse->after_return && bytes[at] == '\n') {
            sse->after_return = false;
            at++;
            continue;
        }
        sse->after_return = false;
        size_t end = at;
        while (end < length && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        text_append(&sse->line, bytes + at, end - at);
        if (end < length) {
            sse->after_return = bytes[end] == '\r';
            take_line(sse, take, closure);
            end++;
        }
        at = end;
    }
}

void gen_sse_end(struct gen_sse *sse, gen_sse_take *take, void *closure)
{
    if (sse->line.length)
        take_line(sse, take, closure);
    dispatch(sse, take, closure);
}

void gen_sse_free(struct gen_sse *sse)
{
    text_free(&sse->line);
    text_free(&sse->event);
}

enum { BEGINNING = 4096, MOST_CHOICES = 1 << 16 };

static void set_string(char **to, const char *text)
{
    if (!*to)
        *to = memory_string(text);
}

/* The four digits behind "\u", or -1. */
static int escaped_unit(const char *at, size_t left)
{
    int value = 0;
    if (left < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef", *digit = at[i] ? strchr(digits, at[i] | 0x20) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int)(digit - digits);
    }
    return value;
}

/* Escapes that stand for no character become that of one that is not known, U+FFFD. */
static void mend_escapes(char *json, size_t length)
{
    static const char unknown[6] = {'\\', 'u', 'f', 'f', 'f', 'd'};
    for (size_t at = 0; at < length;) {
        if (json[at] != '\\') {
            at++;
            continue;
        }
        int unit = escaped_unit(json + at, length - at);
        bool high = unit >= 0xd800 && unit < 0xdc00, low = unit >= 0xdc00 && unit < 0xe000;
        int second = high ? escaped_unit(json + at + 6, length - at - 6) : -1;
        bool pair = high && second >= 0xdc00 && second < 0xe000;
        if (unit == 0 || low || (high && !pair))
            memcpy(json + at, unknown, sizeof unknown);
        at += pair ? 12 : unit >= 0 ? 6 : 2;
    }
}

/* What the text holds; NULL: it is no JSON, or does not end. */
static json_t *read_json(const char *text, size_t length, json_error_t *error)
{
    json_t *json = jsons_read(text, length, 0, error);
    if (json)
        return json;
    char *mended = memory_alloc(length + 1);
    for (size_t i = 0; i < length; i++)
        mended[i] = text[i] ? text[i] : '?';
    text_make_utf8(mended);
    mend_escapes(mended, length);
    json = jsons_read(mended, length, 0, NULL);
    free(mended);
    return json;
}

/* Choices. */
static struct gen_partial *choice_at(struct gen_incoming *incoming, json_int_t index)
{
    if (index < 0 || index >= incoming->wanted || index >= MOST_CHOICES)
        return NULL;
    if (index >= incoming->count) {
        incoming->choices = memory_grow(incoming->choices, ((size_t)index + 1) * sizeof *incoming->choices);
        memset(incoming->choices + incoming->count, 0,
               (size_t)(index + 1 - incoming->count) * sizeof *incoming->choices);
        incoming->count = (int)index + 1;
    }
    return &incoming->choices[index];
}

/* A string, or the parts of one ([{"type": "text", "text": ...}]). */
static bool add_text(struct text *text, const json_t *value)
{
    size_t i;
    json_t *part;
    if (json_is_string(value))
        text_append(text, json_string_value(value), json_string_length(value));
    json_array_foreach(value, i, part) add_text(text, json_is_object(part) ? json_object_get(part, "text") : part);
    return json_is_string(value) || json_is_array(value);
}

/* Reasoning has two names: DeepSeek's, which vLLM and llama.cpp took over, and OpenRouter's; a server that sends both
 * says the same twice. */
static void add_reasoning(struct gen_partial *choice, const json_t *message)
{
    static const char *const names[] = {"reasoning_content", "reasoning"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (add_text(&choice->reasoning, json_object_get(message, names[i]))) {
            choice->reasoned = true;
            return;
        }
}

static void add_choice(struct gen_incoming *incoming, const json_t *json, size_t place)
{
    const json_t *index = json_object_get(json, "index"), *finish = json_object_get(json, "finish_reason");
    struct gen_partial *choice =
        choice_at(incoming, json_is_number(index) ? (json_int_t)json_number_value(index) : (json_int_t)place);
    const json_t *message = json_object_get(json, "delta");
    if (!choice)
        return;
    choice->seen = true;
    if (!json_is_object(message))
        message = json_object_get(json, "message");
    if (json_is_object(message)) {
        add_reasoning(choice, message);
        if (!add_text(&choice->text, json_object_get(message, "content")))
            add_text(&choice->text, json_object_get(message, "refusal"));
    } else {
        add_reasoning(choice, json);
        add_text(&choice->text, json_object_get(json, "text"));
    }
    if (json_is_string(finish))
        set_string(&choice->finish, json_string_value(finish));
}

/* Everything around the choices. */
/* What the answers took so far, or, in an event of a stream without choices, in all; llama.cpp sends one of these for each answer of
 * several. */
static void add_usage(struct gen_incoming *incoming, const json_t *usage, bool alone)
{
    const json_t *prompt = json_object_get(usage, "prompt_tokens"),
                 *answer = json_object_get(usage, "completion_tokens");
    if (!json_is_number(prompt) && !json_is_number(answer))
        return;
    double values[] = {json_number_value(prompt), json_number_value(answer)};
    for (int i = 0; i < 2; i++)
        values[i] = values[i] >= 0 && values[i] < 1e15 ? values[i] : 0;
    bool more = alone && incoming->totals > 0 && incoming->totals < incoming->wanted;
    incoming->counted = true;
    incoming->prompt_tokens = (int64_t)values[0];
    incoming->completion_tokens = (int64_t)values[1] + (more ? incoming->completion_tokens : 0);
    incoming->totals += alone;
}

/* {"error": {"message": .., "code": ..}}, {"error": "..."}, {"detail": ..} (FastAPI's), {"message": ..}. */
static void add_error(struct gen_incoming *incoming, const json_t *json)
{
    const json_t *error = json_object_get(json, "error");
    const json_t *told = json_is_object(error) ? json_object_get(error, "message") : error;
    const json_t *names[] = {json_object_get(error, "code"), json_object_get(json, "code"),
                             json_object_get(error, "type")};
    if (!error || json_is_null(error))
        told = json_object_get(json, "detail") ? json_object_get(json, "detail") : json_object_get(json, "message");
    if (!told || json_is_null(told))
        told = error;
    if (!told || json_is_null(told) || incoming->error)
        return;
    char *dumped = json_is_string(told) ? NULL : json_dumps(told, JSON_COMPACT | JSON_ENCODE_ANY);
    struct text text = {0};
    text_add(&text, dumped ? dumped : json_is_string(told) ? json_string_value(told) : "an error without a message");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is_number(names[i]) && json_number_value(names[i]) >= 400 && json_number_value(names[i]) < 600)
            incoming->code = (int)json_number_value(names[i]);
        else if (json_is_string(names[i]) && !strstr(text.bytes, json_string_value(names[i])))
            text_addf(&text, " (%s)", json_string_value(names[i]));
    incoming->error = text.bytes;
    free(dumped);
}

/* A reply, or a piece of one. */
static void add_reply(struct gen_incoming *incoming, json_t *json)
{
    size_t i;
    json_t *choice, *choices = json_object_get(json, "choices");
    json_array_foreach(choices, i, choice) add_choice(incoming, choice, incoming->whole ? i : 0);
    if (json_object_get(json, "usage"))
        add_usage(incoming, json_object_get(json, "usage"), !incoming->whole && !json_array_size(choices));
    if (!json_is_array(choices) || json_object_get(json, "error"))
        add_error(incoming, json);
    if (!incoming->frame)
        incoming->frame = json_object();
    json_object_update_missing(incoming->frame, json);
    json_object_del(incoming->frame, "choices");
    json_object_del(incoming->frame, "usage");
}

static void take_event(void *closure, const char *event, size_t length)
{
    struct gen_incoming *incoming = closure;
    json_error_t error;
    while (length && strchr(" \t\n", *event)) {
        event++;
        length--;
    }
    if (incoming->done || incoming->problem || !length)
        return;
    if (length >= 6 && memcmp(event, "[DONE]", 6) == 0) {
        incoming->done = true;
        return;
    }
    json_t *json = read_json(event, length, &error);
    if (json_is_object(json))
        add_reply(incoming, json);
    else if (asprintf(&incoming->problem, "an event of the stream is no JSON object (%.60s)",
                      json ? "it is of another type" : error.text) < 0)
        memory_exhausted(0);
    json_decref(json);
}

/* Skips what may stand before a reply, a byte order mark too. Its first byte tells the form: a stream begins with a field or a
 * comment, JSON and pages of HTML with a bracket. Returns how many bytes were skipped. */
static size_t find_form(struct gen_incoming *incoming, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && !incoming->begun; i++)
        if (!bytes[i] || !strchr(" \t\r\n\xef\xbb\xbf", bytes[i])) {
            incoming->begun = true;
            incoming->whole |= bytes[i] && strchr("{[<", bytes[i]);
            return i;
        }
    return incoming->begun ? 0 : length;
}

void gen_incoming_add(struct gen_incoming *incoming, const char *bytes, size_t length)
{
    size_t skipped = find_form(incoming, bytes, length);
    incoming->length += length;
    bytes += skipped;
    length -= skipped;
    size_t room = incoming->body.length < BEGINNING ? BEGINNING - incoming->body.length : 0;
    text_append(&incoming->body, bytes, incoming->whole || length < room ? length : room);
    if (!incoming->whole)
        gen_sse_add(&incoming->sse, bytes, length, take_event, incoming);
}

void gen_incoming_end(struct gen_incoming *incoming)
{
    json_error_t error;
    if (!incoming->whole) {
        gen_sse_end(&incoming->sse, take_event, incoming);
        return;
    }
    json_t *json = read_json(incoming->body.bytes ? incoming->body.bytes : "", incoming->body.length, &error);
    json_t *reply = json_is_array(json) ? json_array_get(json, 0) : json; /* [{"error": ...}] is Google's */
    if (json_is_object(reply))
        add_reply(incoming, reply);
    else if (asprintf(&incoming->problem, "the reply is no JSON object (%.60s)",
                      json ? "it is of another type" : error.text) < 0)
        memory_exhausted(0);
    json_decref(json);
}

const char *gen_incoming_wrong(const struct gen_incoming *incoming)
{
    if (incoming->error)
        return incoming->error;
    if (!incoming->length)
        return "the reply is empty";
    bool finished = incoming->count > 0;
    for (int i = 0; i < incoming->count; i++)
        finished &= !incoming->choices[i].seen || incoming->choices[i].finish;
    if (finished || (incoming->done && incoming->count))
        return NULL;
    if (incoming->problem)
        return incoming->problem;
    if (!incoming->count)
        return incoming->whole ? "the reply has no choices" : "the stream has no choices";
    return incoming->whole ? NULL : "the stream ends without [DONE] and without a finish_reason";
}

/* What is kept. */
static json_t *text_json(const struct text *text)
{
    return json_stringn(text->bytes ? text->bytes : "", text->length);
}

static json_t *choice_json(const struct gen_partial *choice, int index)
{
    json_t *message = json_object(), *json = json_object();
    json_object_set_new(message, "role", json_string("assistant"));
    json_object_set_new(message, "content", text_json(&choice->text));
    if (choice->reasoned)
        json_object_set_new(message, "reasoning_content", text_json(&choice->reasoning));
    json_object_set_new(json, "index", json_integer(index));
    json_object_set_new(json, "message", message);
    json_object_set_new(json, "finish_reason", choice->finish ? json_string(choice->finish) : json_null());
    return json;
}

char *gen_incoming_text(const struct gen_incoming *incoming)
{
    if (!incoming->frame) {
        char *text = memory_alloc(incoming->body.length + 1);
        for (size_t i = 0; i < incoming->body.length; i++)
            text[i] = incoming->body.bytes[i] ? incoming->body.bytes[i] : '?';
        text_make_utf8(text);
        return text;
    }
    json_t *json = json_copy(incoming->frame), *choices = json_array();
    for (int i = 0; i < incoming->count; i++)
        if (incoming->choices[i].seen)
            json_array_append_new(choices, choice_json(&incoming->choices[i], i));
    json_object_set_new(json, "choices", choices);
    /* Pieces of a chat call themselves "chat.completion.chunk". */
    const char *object = json_string_value(json_object_get(json, "object")),
               *end = object ? strstr(object, ".chunk") : NULL;
    if (end)
        json_object_set_new(json, "object", json_stringn(object, (size_t)(end - object)));
    if (incoming->counted)
        json_object_set_new(json, "usage",
                            json_pack("{s:I,s:I}", "prompt_tokens", (json_int_t)incoming->prompt_tokens,
                                      "completion_tokens", (json_int_t)incoming->completion_tokens));
    char *text = json_dumps(json, JSON_COMPACT);
    if (!text)
        memory_exhausted(0);
    json_decref(json);
    return text;
}

void gen_incoming_free(struct gen_incoming *incoming)
{
    for (int i = 0; i < incoming->count; i++) {
        text_free(&incoming->choices[i].text);
        text_free(&incoming->choices[i].reasoning);
        free(incoming->choices[i].finish);
    }
    free(incoming->choices);
    free(incoming->error);
    free(incoming->problem);
    json_decref(incoming->frame);
    text_free(&incoming->body);
    gen_sse_free(&incoming->sse);
    *incoming = (struct gen_incoming){0};
}
