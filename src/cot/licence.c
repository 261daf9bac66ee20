/* Licences by the tag that SPDX gives. */
#include "cot/licence.h"

#include <ctype.h>
#include <string.h>

const char *cot_licence_in(struct arena *arena, const char *text)
{
    static const char tag[] = "SPDX-License-Identifier:";
    const char *at = strstr(text, tag);
    if (!at)
        return NULL;
    at += sizeof tag - 1;
    at += strspn(at, " \t");
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr(".-+", at[length])))
        length++;
    return length ? arena_strndup(arena, at, length) : NULL;
}
