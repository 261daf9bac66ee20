#include "base/text.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for so many more bytes and the zero behind them. */
static void text_grow(struct text *text, size_t length)
{
    if (text->length + length + 1 > text->capacity) {
        text->capacity = (text->length + length + 1) * 2;
        text->bytes = memory_grow(text->bytes, text->capacity);
    }
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    text_grow(text, length);
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

static void add_number(struct text *text, int number)
{
    char digits[3 * sizeof number + 2], *at = digits + sizeof digits;
    unsigned left = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    text_append(text, at, (size_t)(digits + sizeof digits - at));
}

/* Appends as much of the format as has no other conversions than %s, %d, %c and %%, and yields the rest. OpenBLAS brings
 * libquadmath, which registers a conversion of its own, and with any of those printf is several times slower. */
static const char *add_plain(struct text *text, const char *format, va_list *args)
{
    for (const char *at = format; *at; at++)
        if (*at == '%' && !*strchrnul("sdc%", *++at))
            return format;
    while (*format) {
        size_t length = strcspn(format, "%");
        char kind = format[length] ? format[length + 1] : '\0', character = kind;
        text_append(text, format, length);
        format += length + (kind ? 2 : 0);
        if (kind == 's')
            text_add(text, va_arg(*args, const char *));
        else if (kind == 'd')
            add_number(text, va_arg(*args, int));
        else if (kind == 'c')
            character = (char)va_arg(*args, int);
        if (kind == 'c' || kind == '%')
            text_append(text, &character, 1);
    }
    return format;
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list args, again;
    size_t room = text->capacity - text->length;
    va_start(args, format);
    format = add_plain(text, format, &args);
    if (!*format) {
        va_end(args);
        return;
    }
    va_copy(again, args);
    int length = vsnprintf(room ? text->bytes + text->length : NULL, room, format, args);
    va_end(args);
    if (length < 0)
        memory_exhausted(0);
    if ((size_t)length >= room) {
        text_grow(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    text->length += (size_t)length;
}

/* Bytes of the character that begins at `at`; 0: none does. */
static size_t utf8_length(const unsigned char *at)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t length;
    } rows[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (*at < rows[i].low || *at > rows[i].high)
            continue;
        bool good = rows[i].length < 2 || (at[1] >= rows[i].second_low && at[1] <= rows[i].second_high);
        for (size_t k = 2; good && k < rows[i].length; k++)
            good = (at[k] & 0xc0) == 0x80;
        return good ? rows[i].length : 0;
    }
    return 0;
}

void text_make_utf8(char *string)
{
    for (char *at = string; *at;) {
        size_t length = utf8_length((const unsigned char *)at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
}

bool text_is_utf8(const char *string)
{
    size_t length = 1;
    for (; *string && length; string += length)
        length = utf8_length((const unsigned char *)string);
    return length;
}

/* Returns true for a character that changes the direction of text, which makes source read differently from what is compiled. */
static bool turns_direction(uint32_t character)
{
    return character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

size_t text_character(const char *at, bool *plain)
{
    const unsigned char *bytes = (const unsigned char *)at;
    const size_t length = utf8_length(bytes);
    uint32_t character = bytes[0];
    if (length == 2)
        character = (uint32_t)(bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
    else if (length == 3)
        character = (uint32_t)(bytes[0] & 0xf) << 12 | (uint32_t)(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
    *plain = length && character >= ' ' && (character < 0x7f || character >= 0xa0) && !turns_direction(character);
    return length ? length : 1;
}

void text_put_plain(FILE *out, const char *string)
{
    bool plain;
    for (size_t length; string && *string; string += length) {
        length = text_character(string, &plain);
        if (plain || *string == '\t')
            fwrite(string, 1, length, out);
        else
            fputc('?', out);
    }
}

const char *text_html_of(char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return ((unsigned char)byte < ' ' && byte != '\t' && byte != '\n') || byte == 0x7f ? "?" : NULL;
    }
}

void text_put_html(FILE *out, const char *string)
{
    bool plain;
    for (size_t length; string && *string; string += length) {
        length = text_character(string, &plain);
        const char *written = plain || isspace((unsigned char)*string) ? text_html_of(*string) : "?";
        if (written)
            fputs(written, out);
        else
            fwrite(string, 1, length, out);
    }
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

char *text_keep(struct text *text, struct arena *arena)
{
    char *kept = arena_strndup(arena, text->length ? text->bytes : "", text->length);
    text_free(text);
    return kept;
}
