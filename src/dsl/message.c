#include "dsl/message.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *demand;
} rules[] = {
#define RULE(name, text, demand) {text, demand},
#include "dsl/rules.def"
#undef RULE
};

const char *dsl_rule_name(enum dsl_rule rule)
{
    return rules[rule].name;
}

const char *dsl_rule_demand(enum dsl_rule rule)
{
    return rules[rule].demand;
}

static void add_message(struct dsl_messages *messages, struct dsl_message message, const char *format, va_list args)
{
    enum { LONGEST = 1024 };
    char text[LONGEST];
    vsnprintf(text, sizeof text, format, args);
    text_make_utf8(text); /* it may have been cut inside a character */
    message.text = arena_strdup(messages->arena, text);
    messages->items[messages->kept++] = message;
}

void dsl_complain(struct dsl_messages *messages, struct dsl_place place, enum dsl_rule rule, const char *remedy,
                  const char *format, ...)
{
    messages->count++;
    if (messages->kept == DSL_MESSAGES_MAX)
        return;
    va_list args;
    va_start(args, format);
    add_message(messages, (struct dsl_message){.place = place, .rule = rule, .remedy = remedy}, format, args);
    va_end(args);
}

void dsl_warn(struct dsl_messages *messages, struct dsl_place place, enum dsl_rule rule, const char *remedy,
              const char *format, ...)
{
    if (messages->kept == DSL_MESSAGES_MAX)
        return;
    va_list args;
    va_start(args, format);
    add_message(messages, (struct dsl_message){.place = place, .rule = rule, .remedy = remedy, .warning = true}, format,
                args);
    va_end(args);
}

/* The bytes of a line of the text, without its end. */
static const char *line_of(const char *text, int line, int *length)
{
    for (; line > 1 && *text; line--) {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : text + strlen(text);
    }
    *length = (int)strcspn(text, "\r\n");
    return text;
}

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* its second byte or a later one */
}

/* The part of the line around what the message points at, and at which of its columns that is: a line may be long. */
static const char *part_of(const char *line, int *length, int *column)
{
    enum { SHOWN = 160, BEFORE = 60 };
    int skipped = 0;
    if (*length <= SHOWN)
        return line;
    for (; *column > BEFORE && skipped < *length; skipped++)
        *column -= !inside_character(line[skipped]);
    while (skipped < *length && inside_character(line[skipped]))
        skipped++;
    *length = *length - skipped < SHOWN ? *length - skipped : SHOWN;
    while (inside_character(line[skipped + *length]))
        --*length;
    return line + skipped;
}

/* "    ^~~~" under what the message points at: as many places from the left as the line's characters take. */
static void add_caret(struct text *text, const char *line, int length, int column, int width)
{
    int at = 1, i = 0;
    for (; i < length && at < column; i++) {
        if (inside_character(line[i]))
            continue;
        text_add(text, line[i] == '\t' ? "\t" : " ");
        at++;
    }
    text_add(text, "^");
    for (i++; i < length && width > 1; i++) {
        if (inside_character(line[i]))
            continue;
        text_add(text, "~");
        width--;
    }
    text_add(text, "\n");
}

void dsl_messages_print(const struct dsl_messages *messages, struct text *text)
{
    for (int i = 0; i < messages->kept; i++) {
        const struct dsl_message *message = &messages->items[i];
        int length, column = message->place.column;
        const char *line = line_of(messages->source, message->place.line, &length);
        line = part_of(line, &length, &column);
        text_addf(text, "%s:%d:%d: %s: %s [%s]\n", messages->path, message->place.line, message->place.column,
                  message->warning ? "warning" : "error", message->text, dsl_rule_name(message->rule));
        text_addf(text, "    %.*s\n    ", length, line);
        add_caret(text, line, length, column, message->place.length);
        if (message->remedy)
            text_addf(text, "    fix: %s\n", message->remedy);
    }
    if (messages->count > messages->kept)
        text_addf(text, "%s: %d errors more\n", messages->path, messages->count - messages->kept);
}

void dsl_messages_show(const struct dsl_messages *messages)
{
    struct text text = {0};
    dsl_messages_print(messages, &text);
    fputs(text.bytes ? text.bytes : "", stderr);
    text_free(&text);
}

const struct dsl_message *dsl_messages_error(const struct dsl_messages *messages)
{
    const struct dsl_message *message = messages->items;
    while (message->warning)
        message++;
    return message;
}

const char *dsl_message_line(struct arena *arena, const struct dsl_messages *messages,
                             const struct dsl_message *message)
{
    int length, column = message->place.column;
    const char *line = line_of(messages->source, message->place.line, &length);
    line = part_of(line, &length, &column);
    return arena_strndup(arena, line, (size_t)length);
}

json_t *dsl_messages_json(const struct dsl_messages *messages)
{
    struct arena arena = {0};
    json_t *all = json_array();
    for (int i = 0; i < messages->kept; i++) {
        const struct dsl_message *message = &messages->items[i];
        const char *line = dsl_message_line(&arena, messages, message);
        json_array_append_new(all,
                              json_pack("{s:i, s:i, s:i, s:s, s:s, s:s, s:s?, s:s}", "line", message->place.line,
                                        "column", message->place.column, "length", message->place.length, "severity",
                                        message->warning ? "warning" : "error", "rule", dsl_rule_name(message->rule),
                                        "text", message->text, "remedy", message->remedy, "source", line));
    }
    arena_free(&arena);
    return all;
}
