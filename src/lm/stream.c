/* Bytes held back until they are characters and no stop string. */
#include "lm/stream.h"

#include <stdlib.h>
#include <string.h>

void lm_stream_begin(struct lm_stream *stream, const struct lm_tokenizer *tokenizer, const char *const *stops,
                     int count)
{
    *stream = (struct lm_stream){.tokenizer = tokenizer, .stops = stops, .stop_count = count};
}

void lm_stream_free(struct lm_stream *stream)
{
    text_free(&stream->text);
    text_free(&stream->piece);
    *stream = (struct lm_stream){0};
}

bool lm_stream_add(struct lm_stream *stream, int32_t token)
{
    struct arena arena = {0};
    size_t length, before = stream->text.length, first = SIZE_MAX;
    uint32_t id = (uint32_t)token;
    const char *bytes = lm_tokenizer_decode(stream->tokenizer, &arena, &id, 1, &length);
    text_append(&stream->text, bytes, length);
    arena_free(&arena);
    for (int i = 0; i < stream->stop_count; i++) {
        size_t size = strlen(stream->stops[i]), from = before > size ? before - size : 0;
        const char *found = memmem(stream->text.bytes + from, stream->text.length - from, stream->stops[i], size);
        if (found && (size_t)(found - stream->text.bytes) < first)
            first = (size_t)(found - stream->text.bytes);
    }
    stream->stopped = first != SIZE_MAX;
    if (stream->stopped) {
        stream->text.length = first;
        stream->text.bytes[first] = '\0';
    }
    return stream->stopped;
}

/* Bytes at the end that may be the begin of a stop string. */
static size_t held_back(const struct lm_stream *stream)
{
    size_t held = 0;
    for (int i = 0; i < stream->stop_count && !stream->stopped; i++)
        for (size_t size = strlen(stream->stops[i]) - 1; size > held; size--)
            if (size <= stream->text.length &&
                memcmp(stream->text.bytes + stream->text.length - size, stream->stops[i], size) == 0)
                held = size;
    return held;
}

/* The bytes of [0, length) but for those of a character at the end that is not complete. */
static size_t whole_characters(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        if (byte >= 0xC0) {
            size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
            return back < needs ? length - back : length;
        }
        if (byte < 0x80)
            break;
    }
    return length;
}

const char *lm_stream_next(struct lm_stream *stream, bool end)
{
    if (!stream->text.bytes)
        return "";
    size_t length = stream->text.length;
    if (!end)
        length = whole_characters(stream->text.bytes, length - held_back(stream));
    if (length <= stream->given)
        return "";
    size_t from = stream->given;
    stream->given = length;
    stream->piece.length = 0;
    text_append(&stream->piece, stream->text.bytes + from, length - from);
    text_make_utf8(stream->piece.bytes);
    return stream->piece.bytes;
}
