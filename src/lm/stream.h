/* Text of tokens that come one by one: whole characters, and nothing that may yet turn out to be a stop string. */
#ifndef LM_STREAM_H
#define LM_STREAM_H

#include "base/text.h"
#include "lm/tokenizer.h"

struct lm_stream {
    const struct lm_tokenizer *tokenizer;
    const char *const *stops;
    int stop_count;
    struct text text;  /* all of it; behind a stop string's begin nothing, once one is there */
    struct text piece; /* what lm_stream_next gave last */
    size_t given;      /* bytes that it gave in all */
    bool stopped;
};
/* `stops`: none may be empty; they have to stay. The caller frees. */
void lm_stream_begin(struct lm_stream *stream, const struct lm_tokenizer *tokenizer, const char *const *stops,
                     int count);
void lm_stream_free(struct lm_stream *stream);
/* One more token; true once a stop string is complete. */
bool lm_stream_add(struct lm_stream *stream, int32_t token);
/* What can be given on, NUL-terminated, until the next call; `end`: no token follows, what is left is given on too, with a '?' for each
 * byte that is no part of a character. */
const char *lm_stream_next(struct lm_stream *stream, bool end);

#endif
