/* Models that are asked: by requests in the OpenAI protocol, by commands that take a prompt and print an answer, and a model that this process
 * runs; many requests at a time, tried again where that can help. */
#ifndef GEN_CLIENT_H
#define GEN_CLIENT_H

#include "base/arena.h"
#include "base/error.h"
#include "gen/prompt.h"

/* How a model samples; what is not set (NAN, 0, NULL) is not sent. */
struct gen_sampling {
    double temperature, top_p, min_p;
    int top_k;
    int64_t max_tokens; /* of an answer */
    const char *const *stop;
    int stop_count;
};

#define GEN_APIS(X) X(GEN_CHAT, "chat") X(GEN_COMPLETIONS, "completions")
enum gen_api { GEN_APIS(WORD_VALUE) };
extern const struct words gen_apis;

/* Where answers come from, and how patiently. */
struct lm_writer;
struct gen_endpoint {
    const char *url;          /* the protocol's base, "http://localhost:8000/v1"; NULL: `command` or `writer` */
    const char *folder;       /* of a model that this process runs; NULL: another's */
    bool int8;                /* its weights are rounded to int8 */
    struct lm_writer *writer; /* the folder's, once it is read (gen_model_read), for one client at a time */
    const char *command;      /* for /bin/sh: the prompt on standard input, the answer on standard output */
    const char *model;
    enum gen_api api;
    const char *key; /* NULL: none. Goes into the header of a request and nowhere else */
    bool stream;
    int concurrency;        /* requests at a time */
    int retries;            /* of a request, behind the first try */
    double backoff_seconds; /* before the first retry; doubled for each, with jitter; a longer Retry-After is kept to */
    double connect_seconds, idle_seconds, total_seconds; /* limits of one try: to connect, between two bytes, of all */
};

struct gen_request {
    const struct gen_message *messages;
    int message_count;
    const char *grammar; /* in GBNF, which answers follow; NULL: none. Of a folder's model alone */
    int grammar_tries;   /* how often an answer that follows it is drawn at most (lm/aligned.h); 0, 1: once */
    struct gen_sampling sampling;
    int n; /* answers wanted of this one request */
    bool seeded;
    uint64_t seed;
    void *closure; /* the caller's, handed back with the reply */
};

struct gen_choice {
    const char *text;
    const char *reasoning; /* what the server keeps apart as such; NULL: nothing */
    const char *finish;    /* "stop", "length", ...; NULL: not said */
};
struct gen_reply {
    void *closure;       /* of the request */
    const char *failure; /* NULL, or why there is no answer after all tries: the server's doing, not the model's */
    bool hopeless; /* of a failure: every other request would meet it too (no right, no such model, no such program) */
    struct gen_choice *choices; /* by index, n of them; of a failure those that had come before, if any */
    int count;
    int64_t prompt_tokens, completion_tokens; /* as the server counts; -1: it does not say */
    int tries;
    double seconds;       /* from the first try to the end */
    const char *request;  /* the body that was sent last, as JSON (a command's: the prompt), without the key */
    const char *response; /* what came back of the last try, a stream put together; cut at 1 MiB, never with the key */
    struct arena arena;   /* owns all of it: gen_reply_free */
};

/* One thread of its own does all the waiting. Thread-safe. */
struct gen_client;
struct akgen_error *gen_client_open(const struct gen_endpoint *endpoint, struct gen_client **client);
/* Queues a request, which is copied. */
void gen_client_submit(struct gen_client *client, const struct gen_request *request);
/* The next reply that has come; waits for one. NULL: nothing is under way (or the client was stopped). */
struct gen_reply *gen_client_next(struct gen_client *client);
/* Ends what is under way (the connections are closed, so that servers stop computing), and what is queued: those have no
 * reply, while those that have come can still be fetched; then gen_client_next returns NULL, also to who waits in it. Returns
 * when nothing is under way any more. */
void gen_client_stop(struct gen_client *client);
void gen_client_close(struct gen_client *client);
void gen_reply_free(struct gen_reply *reply);

/* A base URL in its one form: without a slash or the protocol's own paths at its end, which set *api; "/v1" where there is no
 * path. An error for what is no http or https, and for credentials in it, which it does not repeat. */
struct akgen_error *gen_client_url(struct arena *arena, const char *given, const char **url, enum gen_api *api);

/* The key of a server: the first line of `file`, else of the environment AKGEN_API_KEY, else OPENAI_API_KEY; NULL: none. */
struct akgen_error *gen_client_key(struct arena *arena, const char *file, const char **key);

#endif
