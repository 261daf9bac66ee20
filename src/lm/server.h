/* A model behind the OpenAI protocol: GET /v1/models, /health; POST /v1/completions, /v1/chat/completions, whole or as a stream of events. All
 * requests share one engine. */
#ifndef LM_SERVER_H
#define LM_SERVER_H

#include "lm/engine.h"

#include <signal.h>

struct lm_server_options {
    const char *folder;                        /* the model */
    const char *name;                          /* what the protocol calls it; NULL: the folder's last part */
    const char *host;                          /* "127.0.0.1" */
    int port;                                  /* 0: any that is free */
    int threads, texts, longest;               /* as lm_engine_options has them */
    bool int8;                                 /* likewise */
    void (*on_ready)(void *closure, int port); /* or NULL */
    void *closure;
    const volatile sig_atomic_t *stop; /* the server ends when it is not 0 */
};
/* Serves until it is stopped. Errors: a file of the model, an address that cannot be had, not enough memory. */
struct akgen_error *lm_serve(const struct lm_server_options *options);

#endif
