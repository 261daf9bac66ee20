#include "base/text.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->capacity) {
        text->capacity = (text->length + length + 1) * 2;
        text->bytes = memory_grow(text->bytes, text->capacity);
    }
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_addf(struct text *text, const char *format, ...)
{
    char *made = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&made, format, args);
    va_end(args);
    if (length < 0)
        memory_exhausted(0);
    text_append(text, made, (size_t)length);
    free(made);
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
