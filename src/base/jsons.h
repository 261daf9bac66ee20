/* JSON of texts that may hold any bytes, which jansson's own functions refuse, and JSON that others wrote. */
#ifndef BASE_JSONS_H
#define BASE_JSONS_H

#include <jansson.h>

/* The text as a string, with what is no UTF-8 replaced (text_make_utf8); NULL is null. The caller's. */
json_t *jsons_text(const char *text);

/* Reads JSON that others wrote, as json_loadb does, which refuses integers beyond 64 bits. Python writes such ones: int(1e30) is
 * transformers' length of texts without a limit. They become reals; all other integers stay exact. `problem` may be NULL. */
json_t *jsons_read(const char *bytes, size_t length, size_t flags, json_error_t *problem);

#endif
