#include "gen/sse.h"

#include <string.h>

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
