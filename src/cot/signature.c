#include "cot/signature.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char *end_of_quote(const char *at)
{
    const char *end = strchr(at + 1, *at);
    return end && end[1] != 's' ? end : NULL; /* the chip's is no quotation */
}

const char *cot_signature(struct arena *arena, const char *message)
{
    struct text text = {0};
    size_t length = strcspn(message, "\n");
    const char *fix = strstr(message, "; fix:"), *end = message + length;
    if (fix && fix < end)
        end = fix;
    for (const char *at = message; at < end;) {
        bool in_word = at > message && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        const char *quote = *at == '\'' && !in_word ? end_of_quote(at) : NULL;
        if (quote && quote < end) {
            text_add(&text, "'_'");
            at = quote + 1;
        } else if (isdigit((unsigned char)*at) && !in_word) {
            text_add(&text, "N");
            at += strspn(at, "0123456789.");
        } else
            text_append(&text, at++, 1);
    }
    return text_keep(&text, arena);
}
