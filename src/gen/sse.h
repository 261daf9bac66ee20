/* Server-sent events (WHATWG HTML, section 9.2.6), as far as the OpenAI protocol uses them: bytes in pieces of any size
 * become the data of events. A byte order mark is left to the caller. */
#ifndef GEN_SSE_H
#define GEN_SSE_H

#include "base/text.h"

#include <stdbool.h>

/* Zero-initialise before first use. */
struct gen_sse {
    struct text line;  /* as far as it has come */
    struct text event; /* the data lines of the event that is open, each with a line feed behind it */
    bool after_return; /* a line feed that follows belongs to the end of the line before */
};
/* Takes bytes; calls `take` with the data of each event that is whole. */
typedef void gen_sse_take(void *closure, const char *event, size_t length);
void gen_sse_add(struct gen_sse *sse, const char *bytes, size_t length, gen_sse_take *take, void *closure);
/* The stream has ended: an event whose empty line never came counts as whole (the standard drops it; servers forget the
 * line behind the last one). */
void gen_sse_end(struct gen_sse *sse, gen_sse_take *take, void *closure);
void gen_sse_free(struct gen_sse *sse);

#endif
