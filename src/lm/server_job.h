/* A request of the protocol: what it asks for, and what it is told. */
#ifndef LM_SERVER_JOB_H
#define LM_SERVER_JOB_H

#include "lm/writer.h"

#include <jansson.h>
#include <pthread.h>

enum { LM_MOST_CHOICES = 128, LM_MOST_STOPS = 16 };

/* One of its texts. */
struct lm_choice {
    struct lm_job *job;
    int index;
    struct text text;
    json_t *tokens; /* the protocol's logprobs, or NULL */
    int count;      /* tokens */
    enum lm_finish finish;
};
/* Made by the thread that serves, filled by the one that writes; what both look at is under the lock. */
struct lm_job {
    struct arena arena;
    bool chat, stream, usage;
    int likely; /* below 0: no log-probabilities */
    struct lm_request request; /* of each choice, but for seed and closure */
    const char *stops[LM_MOST_STOPS];
    const char *model; /* the server's name of it */
    const struct lm_tokenizer *tokenizer;
    char id[40];
    long created;
    struct lm_choice *choices;
    int choice_count;

    pthread_mutex_t *lock; /* the server's */
    int ended;             /* choices */
    bool abandoned;        /* nobody listens any more */
    bool no_number;        /* a text ended with LM_AT_NO_NUMBER */
    struct text out;       /* events, or the whole answer, that are not sent yet */
    size_t sent;
    void (*wake)(struct lm_job *job); /* there is more to send */
    void *connection;
    int socket; /* the connection's */
    bool sleeping;
    int holders; /* of the two threads; it is taken from the list by the last */
    struct lm_job *next, **before;
};

/* Reads a request's body for a writer, whose engine it leaves alone. Errors: what the client did wrong. The caller frees what it gets with
 * lm_job_free. */
struct akgen_error *lm_job_parse(const char *body, size_t length, bool chat, struct lm_writer *writer,
                                 struct lm_job **job);
void lm_job_free(struct lm_job *job);
/* One holder less, under the lock; true: it was the last, who frees it. */
bool lm_job_leave(struct lm_job *job);
/* lm_request.on_token and .wanted; the closure is the choice. */
bool lm_job_on_token(void *closure, const struct lm_token *token);
bool lm_job_wanted(void *closure);
/* An error as the protocol has it; the caller frees. */
char *lm_job_error(const char *message, const char *type);

#endif
