/* How a client asks: what the thread (client.c), one try of a server (client_http.c), one run of a command (client_command.c)
 * and one try of a model of this process (client_engine.c) share.
 *
 * A request becomes a job. Jobs wait in a queue until one of `concurrency` places is free, and keep the place until their
 * reply is there, also while they wait for another try: a server that is down is asked by as many jobs as may ask, not by all.
 * A job has tries. One ends with answers (fewer than wanted: the next try asks for the rest), or with a failure that
 * another try may mend, or with one that none will. */
#ifndef GEN_CLIENT_INTERNAL_H
#define GEN_CLIENT_INTERNAL_H

#include "base/random.h"
#include "gen/client.h"
#include "gen/curl.h"
#include "gen/protocol.h"
#include "lm/writer.h"

#include <pthread.h>
#include <sys/types.h>

enum { GEN_REPLY_LIMIT = 64 << 20, GEN_KEPT_LIMIT = 1 << 20, GEN_SHORTEST_SECRET = 8 };

/* How a try ended. */
enum gen_end {
    GEN_UNDER_WAY,
    GEN_ANSWERED,
    GEN_AGAIN,   /* at once, with what was learned of the server */
    GEN_RETRY,   /* after a while */
    GEN_REFUSED, /* another try would end the same way */
};
struct gen_outcome {
    enum gen_end end;
    char *why;     /* of GEN_RETRY and GEN_REFUSED: a line, released by the receiver */
    double wait;   /* GEN_RETRY: seconds that the server asks for; 0: it does not */
    bool hopeless; /* GEN_REFUSED: so would any other request */
};

struct gen_run {                      /* of a command */
    pid_t process;                    /* and group; 0: none */
    int input, output, errors, ended; /* pipes and a pidfd; -1: closed */
    size_t written, printed;
    char *prompt;
    struct text out, err;
};
struct gen_engine_try {
    struct arena arena; /* tokens of the prompt */
    struct lm_grammar *grammar;
    int ended; /* answers */
    bool no_number, left;
};
struct gen_job {
    struct gen_job *next;
    struct gen_client *client;
    struct gen_request request;
    struct gen_reply *reply; /* its arena has everything */
    int capacity;            /* of reply->choices */
    int failures;            /* tries that failed */
    bool trying;
    double first, due;   /* clock_seconds(): of the first try; when the next may begin */
    double began, heard; /* of this try: its begin, its last byte */
    double over;         /* after [DONE], when the end of the connection is waited for no more; 0 */
    CURL *easy;
    struct curl_slist *headers;
    char *body, curl_error[CURL_ERROR_SIZE];
    bool too_long;
    struct gen_quirks quirks; /* what was known of the server when this try began */
    bool uncounted;           /* an answer came without the tokens that it took */
    struct gen_incoming incoming;
    struct gen_run run;
    struct gen_engine_try engine;
};

/* One try over HTTP. */
void gen_http_begin(struct gen_job *job);
/* The transfer has ended. */
void gen_http_ended(struct gen_job *job, CURLcode code, struct gen_outcome *outcome);
/* Looks at the limits of time; *next becomes the earliest moment at which to look again. */
void gen_http_look(struct gen_job *job, double now, double *next, struct gen_outcome *outcome);
void gen_http_drop(struct gen_job *job);

/* One run of a command. */
void gen_command_begin(struct gen_job *job, struct gen_outcome *outcome);
enum { GEN_COMMAND_FDS = 4 };
/* What to wait for: fills up to GEN_COMMAND_FDS places and returns how many. */
int gen_command_fds(const struct gen_job *job, struct curl_waitfd *fds);
/* Moves bytes and looks whether it has ended. */
void gen_command_look(struct gen_job *job, double now, double *next, struct gen_outcome *outcome);
void gen_command_drop(struct gen_job *job);

/* One try of a model of this process. */
void gen_engine_begin(struct gen_job *job, struct gen_outcome *outcome);
/* Looks whether all answers are whole, or took too long. */
void gen_engine_look(struct gen_job *job, double now, struct gen_outcome *outcome);
/* The request as a server of the model would have it, and what came, as that would send it; released with free(). */
char *gen_engine_asked(const struct gen_job *job);
char *gen_engine_said(const struct gen_job *job);
void gen_engine_drop(struct gen_job *job);

/* Adds what came to the reply: all of it is answers. */
void gen_job_take(struct gen_job *job, struct gen_outcome *outcome);
/* Adds an answer to the reply; the text is copied, without the key. `reasoning` and `finish` may be NULL. */
void gen_job_answer(struct gen_job *job, const struct text *text, const struct text *reasoning, const char *finish);
/* A copy in which the key, should it stand there in plain or as JSON may write it, is "***". A key of fewer than GEN_SHORTEST_SECRET characters ("EMPTY", "none") is
 * no secret but a word that an answer may hold. */
char *gen_without_key(struct arena *arena, const char *text, const char *key);

struct gen_client {
    struct arena arena;
    struct gen_endpoint endpoint; /* a copy */
    const char *address;          /* the URL that is posted to */
    const char *no_proxy;
    int life[2]; /* a pipe whose writing end nobody else has: it ends with this process, however that ends; -1: none */
    pthread_t thread;

    /* Of the thread alone: */
    CURLM *multi; /* NULL: of a model of this process, which needs none */
    struct gen_quirks quirks;
    struct gen_job **places; /* `concurrency` of them; NULL: free */
    struct curl_waitfd *fds;
    double not_before; /* the server has asked all for silence until then */
    struct rng jitter;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct gen_job *queue, **queue_end;
    struct gen_job *done, **done_end; /* in the order of their coming */
    int under_way;                    /* submitted, and not handed over yet */
    bool stopping, stopped, closing;
};

#endif
