#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t *jsons_text(const char *text)
{
    json_t *json = text ? json_string(text) : json_null();
    if (json)
        return json;
    char *readable = memory_string(text);
    text_make_utf8(readable);
    json = json_string(readable);
    free(readable);
    return json;
}

/* The length of the number that the text begins with; `*huge`: it is an integer beyond 64 bits. */
static size_t jsons_number(const char *text, bool *huge)
{
    size_t length = strspn(text, "+-.eE0123456789");
    errno = 0;
    strtoll(text, NULL, 10);
    *huge = errno == ERANGE && length == strspn(text, "-0123456789");
    return length;
}

/* A copy in which each integer beyond 64 bits has an exponent, which makes it a real. */
static void jsons_add_reals(struct text *text, const char *bytes, size_t length)
{
    char *copy = memory_alloc(length + 1);
    bool string = false;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    for (size_t at = 0, width; at < length; at += width) {
        bool huge = false;
        width = 1;
        if (string && copy[at] == '\\' && at + 1 < length)
            width = 2;
        else if (copy[at] == '"')
            string = !string;
        else if (!string && (isdigit((unsigned char)copy[at]) || copy[at] == '-'))
            width = jsons_number(copy + at, &huge);
        text_append(text, copy + at, width);
        text_add(text, huge ? "e0" : "");
    }
    free(copy);
}

json_t *jsons_read(const char *bytes, size_t length, size_t flags, json_error_t *problem)
{
    json_error_t own;
    struct text text = {0};
    json_t *json = json_loadb(bytes, length, flags, problem ? problem : &own);
    if (json || json_error_code(problem ? problem : &own) != json_error_numeric_overflow)
        return json;
    jsons_add_reals(&text, bytes, length);
    json = json_loadb(text.bytes, text.length, flags, problem);
    text_free(&text);
    return json;
}
