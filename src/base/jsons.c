#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>

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
