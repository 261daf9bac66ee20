/* The OpenAI protocol as text: the body of a request, and what a server sends back, whole or as a stream. */
#ifndef GEN_PROTOCOL_H
#define GEN_PROTOCOL_H

#include <stdbool.h>
#include "base/text.h"
#include "gen/client.h"

#include <jansson.h>

/* Server-sent events (WHATWG HTML, section 9.2.6), as far as the OpenAI protocol uses them: bytes in pieces of any size
 * become the data of events. A byte order mark is left to the caller. */
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

/* What a server was found not to take; what it cannot do is done in another way. */
struct gen_quirks {
    bool no_usage;          /* "stream_options" in a request for a stream */
    bool single;            /* "n" above 1 */
    bool completion_tokens; /* "max_tokens": it wants "max_completion_tokens" */
};
/* Looks in a server's complaint about a request for what it did not take. True if `quirks` has it now and had it not:
 * the request is worth another try. `n`: how many answers the request asked for. */
bool gen_quirks_learn(struct gen_quirks *quirks, const char *complaint, int n);

/* The body of a request for `n` answers, as JSON; released with free(). */
char *gen_protocol_body(const struct gen_endpoint *endpoint, const struct gen_request *request, int n, uint64_t seed,
                        const struct gen_quirks *quirks);
/* Messages as one text, for completions and commands: the texts with an empty line between them. Where the assistant has
 * spoken, "role:" stands on a line before each text, and "assistant:" at the end. Released with free(). */
char *gen_protocol_prompt(const struct gen_message *messages, int count);

/* An answer as it comes in. */
struct gen_partial {
    struct text text, reasoning;
    char *finish;  /* NULL: not said */
    bool reasoned; /* `reasoning` came, if only an empty one */
    bool seen;     /* something of this index came */
};
/* What a server sends back, read as it comes. Zero-initialise, then set `wanted` and, for a reply whose status says that
 * it is an error, `whole`. */
struct gen_incoming {
    int wanted; /* answers; those of a higher index are dropped */
    bool whole; /* no stream of events but one JSON text: found out by the first byte */
    bool begun;
    struct gen_partial *choices;
    int count;
    int64_t prompt_tokens, completion_tokens; /* meant where `counted` */
    bool counted;
    int totals;       /* how often they came for themselves, behind a stream */
    bool done;        /* data: [DONE] */
    char *error;      /* the server's own words; NULL: none */
    int code;         /* HTTP status that goes with `error`, where the body names one; 0 */
    char *problem;    /* why what came is no reply; NULL: it is one as far as it goes */
    json_t *frame;    /* what stands around the choices: id, model, ... */
    struct text body; /* of a reply that is `whole`, and the beginning of any */
    size_t length;    /* bytes that came */
    struct gen_sse sse;
};
void gen_incoming_add(struct gen_incoming *incoming, const char *bytes, size_t length);
/* Nothing more will come. */
void gen_incoming_end(struct gen_incoming *incoming);
/* NULL: all answers that came are whole, and there is one at least. Otherwise what is wrong or missing. After
 * gen_incoming_end. */
const char *gen_incoming_wrong(const struct gen_incoming *incoming);
/* What came, as JSON: a stream is put together to what the server would have sent at once; what is no JSON is the text
 * itself. Released with free(). */
char *gen_incoming_text(const struct gen_incoming *incoming);
void gen_incoming_free(struct gen_incoming *incoming);

#endif
